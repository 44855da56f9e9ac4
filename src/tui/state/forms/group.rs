//! The form of a group: name, mapping as rows and properties as JSON, and the update they describe. Its pane is
//! `panes::edit`; when the person leaves it, it is kept as part of a draft.

mod data_source_usage;
mod last_updates;

use std::sync::OnceLock;

use jiff::Timestamp;

use self::{data_source_usage::DataSourceUsage, last_updates::LastUpdates};
use crate::{
    domain::{
        change::{Change, DesiredFields},
        draft::{Draft, DraftFields, DraftRow},
        group::{Mapping, UserGroupId},
        pasted::{Shape, shape, suspicious_words},
        size::check_size,
    },
    tui::{
        kit::{
            mapping_table::{MappingRow, MappingTable},
            properties::PropertiesField,
            text_field::TextField,
        },
        state::message::{Pending, Ticket},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Name,
    Mapping,
    Properties,
}

impl Section {
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Name => Self::Mapping,
            Self::Mapping => Self::Properties,
            Self::Properties => Self::Name,
        }
    }

    pub(crate) fn previous(self) -> Self {
        self.next().next()
    }
}

#[derive(Debug, Clone)]
pub struct GroupForm {
    pub id: UserGroupId,
    /// The known values when the form was opened.
    pub base: DesiredFields,
    /// The group is not in the directory, so the form creates it.
    pub creating: bool,
    /// When `base` was known; shown with a draft.
    pub base_at: Timestamp,
    pub(crate) name: TextField,
    pub(crate) mapping: MappingTable,
    pub(crate) properties: PropertiesField,
    pub(crate) section: Section,
    /// Other groups that use the data source under the cursor.
    pub(crate) data_source_usage: DataSourceUsage,
    /// The resulting change, computed at the first drawing after a message, because many keys can arrive before it.
    pub(crate) cached_change: OnceLock<FormChange>,
    /// Text from an external editor that cannot be parsed yet.
    pub(crate) group_text: Option<String>,
    /// The group is open in an external editor, which was given this text.
    pub(crate) external_edit: Option<(Ticket, String)>,
    /// The service's copy is being read again.
    pub(crate) reading: Pending,
    /// The other person whose draft was loaded into the form.
    pub(crate) loaded_from: Option<String>,
    /// The question is whether to replace the input by the draft of this person.
    pub(crate) loading: Option<String>,
    /// A sentence about what others changed in the group while the form was open.
    pub(crate) meanwhile: Option<String>,
    /// Recent changes of the group.
    pub(crate) updates: LastUpdates,
    /// Values that were filled in to revert an update; until something is typed, they are no draft.
    pub(crate) prefilled: Option<DesiredFields>,
}

/// The resulting change, or the field that cannot be parsed and the reason.
pub(crate) type FormChange = Result<Change, (String, &'static str)>;

/// Maximum length of the name field, in characters.
const MAX_NAME_LEN: usize = 1_000;

impl GroupForm {
    /// Creates a form from known values, or an empty one.
    pub(crate) fn new(
        id: UserGroupId,
        base: DesiredFields,
        base_at: Timestamp,
        creating: bool,
    ) -> Self {
        let name = base.name.clone().unwrap_or_default();
        Self {
            name: TextField::new("name", name)
                .for_data()
                .with_longest(MAX_NAME_LEN),
            // A group that is being created has an empty mapping, not an unknown one.
            mapping: if creating {
                MappingTable::new(Some(&Mapping::new()))
            } else {
                MappingTable::new(base.mapping.as_ref())
            },
            properties: PropertiesField::new(base.properties.as_ref()),
            section: Section::Name,
            data_source_usage: DataSourceUsage::default(),
            cached_change: OnceLock::new(),
            base_at,
            group_text: None,
            external_edit: None,
            reading: Pending::default(),
            updates: LastUpdates::default(),
            prefilled: None,
            loaded_from: None,
            loading: None,
            meanwhile: None,
            id,
            base,
            creating,
        }
    }

    /// Creates the form from a stored draft.
    pub fn of_draft(draft: Draft) -> Self {
        let Draft {
            user_group_id,
            creating,
            typed,
            base,
            base_at,
            loaded_from,
            ..
        } = draft;
        let rows = typed.mapping.into_iter().map(|row| MappingRow {
            key: row.key,
            value: row.value,
            before: row.before,
            is_dropped: row.is_dropped,
        });
        // Version 0.2.0 could also edit the mapping alone.
        let mapping = typed.mapping_text;
        let mapping = mapping.map(|text| format!("{{\n  \"mapping\": {text}\n}}"));
        let empty = Mapping::new();
        let before = base.mapping.as_ref().or(creating.then_some(&empty));
        let mut properties = PropertiesField::new(base.properties.as_ref());
        if properties.text() != typed.properties {
            properties.set_text(&typed.properties);
        }
        Self {
            id: user_group_id,
            name: TextField::new("name", typed.name)
                .for_data()
                .with_longest(MAX_NAME_LEN),
            mapping: MappingTable::restored(before, rows.collect()),
            properties,
            section: Section::Name,
            data_source_usage: DataSourceUsage::default(),
            cached_change: OnceLock::new(),
            base,
            creating,
            base_at,
            group_text: typed.group_text.or(mapping),
            external_edit: None,
            reading: Pending::default(),
            loaded_from,
            loading: None,
            meanwhile: None,
            updates: LastUpdates::default(),
            prefilled: None,
        }
    }

    pub(crate) fn draft(&self, now: Timestamp) -> Draft {
        let rows = self.mapping.rows().into_iter().map(|row| DraftRow {
            key: row.key,
            value: row.value,
            before: row.before,
            is_dropped: row.is_dropped,
        });
        let whole = |at: Timestamp| Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at);
        Draft {
            user_group_id: self.id.clone(),
            creating: self.creating,
            typed: DraftFields {
                name: self.name.text().to_owned(),
                mapping: rows.collect(),
                properties: self.properties.text(),
                mapping_text: None,
                group_text: self.group_text.clone(),
            },
            loaded_from: self.loaded_from.clone(),
            base: self.base.clone(),
            base_at: whole(self.base_at),
            changed_at: whole(now),
        }
    }

    /// Whether a typed text looks like a token that was not there before.
    pub(crate) fn typed_a_secret(&self) -> bool {
        let typed = self.draft(Timestamp::UNIX_EPOCH).typed;
        let rows = typed.mapping.iter();
        let rows = rows.flat_map(|row| [row.key.as_str(), row.value.as_str()]);
        let all = rows.chain([typed.name.as_str(), typed.properties.as_str()]);
        let words = all.flat_map(suspicious_words);
        let secrets = words.filter(|word| shape(word) == Some(Shape::Token));
        let mut new = secrets.filter(|word| !self.base.contains_text(word));
        new.next().is_some()
    }

    /// Returns the fields that the form asks for. Leaves out a field that is unknown and in which nothing was typed.
    /// `Err` holds the reason and the field that cannot be parsed.
    pub fn wanted(&self) -> Result<DesiredFields, (String, &'static str)> {
        let name = self.name.text();
        let name = (self.base.name.is_some() || !name.is_empty()).then(|| name.to_owned());
        let mapping = self
            .mapping
            .value()
            .map_err(|problem| (problem.text, "mapping"))?;
        let mapping = (self.base.mapping.is_some() || !mapping.is_empty()).then_some(mapping);
        let untouched = self.base.properties.is_none() && self.properties.is_blank();
        let properties = if untouched {
            None
        } else {
            let value = self.properties.value().map_err(|problem| {
                let text = format!(
                    "line {}, column {}: {}",
                    problem.line, problem.column, problem.text
                );
                (text, "properties")
            })?;
            Some(value.clone())
        };
        Ok(DesiredFields {
            name,
            mapping,
            properties,
        })
    }

    /// Whether nothing was typed since the form was filled in.
    pub(crate) fn is_only_prefilled(&self) -> bool {
        let prefilled = self.prefilled.as_ref();
        prefilled.is_some_and(|prefilled| self.wanted().as_ref() == Ok(prefilled))
    }

    /// Like [`GroupForm::wanted`], but fails when the result must not be sent.
    pub(crate) fn sendable(&self) -> Result<DesiredFields, (String, &'static str)> {
        let wanted = self.wanted()?;
        check_size(&wanted).map_err(|why| (why.to_string(), why.field()))?;
        Ok(wanted)
    }

    /// Returns the resulting change; `None` when the form cannot be parsed.
    pub(crate) fn change(&self) -> Option<Change> {
        Some(Change::between(&self.base, &self.wanted().ok()?))
    }

    /// Like [`GroupForm::change`], cached for drawing.
    pub(crate) fn cached_change(&self) -> &FormChange {
        let judge = || Ok(Change::between(&self.base, &self.sendable()?));
        self.cached_change.get_or_init(judge)
    }

    /// Called when the content of the form was sent and accepted.
    pub fn is_sent(&mut self, wanted: &DesiredFields) {
        self.base = wanted.clone();
        self.creating = false;
        self.meanwhile = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_that_an_older_version_could_not_read_is_in_the_text_of_the_group() {
        let id = UserGroupId::parse("acme").expect("an ID");
        let form = GroupForm::new(id, DesiredFields::default(), Timestamp::UNIX_EPOCH, false);
        let mut draft = form.draft(Timestamp::UNIX_EPOCH);
        draft.typed.mapping_text = Some("7 = 41".into());
        let typed = GroupForm::of_draft(draft)
            .draft(Timestamp::UNIX_EPOCH)
            .typed;
        assert_eq!(typed.mapping_text, None);
        let kept = typed.group_text.expect("kept");
        assert_eq!(kept, "{\n  \"mapping\": 7 = 41\n}");
    }
}
