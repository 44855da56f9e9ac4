//! The form of a group: name, mapping as rows and properties as JSON, and the update they describe. Its pane is
//! `panes::edit`; when the person leaves it, it is kept as part of a draft.
//!
//! Finds the other groups that use a data source. All groups are searched once for all rows of the form, when the
//! cursor reaches a source that was not searched for yet, and not at every key or drawing.
//!
//! The recent changes of a group as its form lists them: when, who, and what.

use std::{
    collections::{BTreeSet, HashMap},
    sync::OnceLock,
};

use jiff::Timestamp;

use crate::{
    domain::{
        Change, DesiredFields, Draft, Ending, Entry, Mapping, Operation, UserGroupId,
        draft::DraftFields, fields::Texts, pasted::LOOKS_SECRET, size::check_size, visible,
    },
    operations::Numbered,
    tui::{
        kit::{MappingTable, PropertiesField, TextField},
        state::{Groups, Pending, Ticket},
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
    /// The last key has moved the cursor and changed nothing.
    pub(crate) is_only_moved: bool,
    /// Text from an external editor that cannot be parsed yet.
    pub(crate) group_text: Option<String>,
    /// The group is open in an external editor, which was given this text.
    pub(crate) external_edit: Option<(Ticket, String)>,
    /// The service's copy is being read again.
    pub(crate) reading: Pending,
    /// The other person whose draft was loaded into the form.
    pub(crate) loaded_from: Option<String>,
    /// When the draft that was loaded last had been changed: the key for it goes on with the one before.
    pub(crate) loaded: Option<Timestamp>,
    /// The question is whether to replace the input by this draft: who typed it, and when.
    pub(crate) loading: Option<(String, Timestamp)>,
    /// A sentence about what others changed in the group while the form was open.
    pub(crate) meanwhile: Option<String>,
    /// Recent changes of the group.
    pub(crate) updates: LastUpdates,
    /// What was filled in to revert an update, or from the draft of somebody else; until something is typed, it is no
    /// draft of one's own.
    pub(crate) prefilled: Option<FormContent>,
    /// As in [`Draft::taken_over`].
    pub(crate) taken_over: BTreeSet<String>,
}

/// A text of the external editor that cannot be parsed yet, and the values, or what was typed if they cannot be parsed.
pub(crate) type FormContent = (Option<String>, Result<DesiredFields, DraftFields>);

/// The resulting change, or the field that cannot be parsed and the reason.
pub(crate) type FormChange = Result<Change, (String, &'static str)>;

/// Maximum length of the name field, in characters.
const MAX_NAME_LEN: usize = 1_000;

fn name_field(name: String) -> TextField {
    let field = TextField::new("name", name);
    field.for_value().with_longest(MAX_NAME_LEN)
}

impl GroupForm {
    /// Creates a form from known values, or an empty one.
    pub(crate) fn new(
        id: UserGroupId,
        base: DesiredFields,
        base_at: Timestamp,
        creating: bool,
    ) -> Self {
        let name = base.name.clone().unwrap_or_default();
        // A group that is being created has an empty mapping, not an unknown one.
        let empty = Mapping::new();
        let mapping = base.mapping.as_ref().or(creating.then_some(&empty));
        Self {
            name: name_field(name),
            mapping: MappingTable::new(mapping),
            properties: PropertiesField::new(base.properties.as_ref()),
            section: Section::Name,
            data_source_usage: DataSourceUsage::default(),
            cached_change: OnceLock::new(),
            is_only_moved: false,
            base_at,
            group_text: None,
            external_edit: None,
            reading: Pending::default(),
            updates: LastUpdates::default(),
            prefilled: None,
            taken_over: BTreeSet::new(),
            loaded_from: None,
            loaded: None,
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
            taken_over,
            ..
        } = draft;
        // Version 0.2.0 could also edit the mapping alone.
        let mapping = typed.mapping_text;
        let mapping = mapping.map(|text| format!("{{\n  \"mapping\": {text}\n}}"));
        let mut form = Self {
            name: name_field(typed.name),
            group_text: typed.group_text.or(mapping),
            loaded_from,
            taken_over,
            ..Self::new(user_group_id, base, base_at, creating)
        };
        form.mapping.restore(typed.mapping);
        if form.properties.text() != typed.properties {
            form.properties.set_text(&typed.properties);
        }
        form
    }

    pub(crate) fn draft(&self, now: Timestamp) -> Draft {
        let whole = |at: Timestamp| Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at);
        Draft {
            user_group_id: self.id.clone(),
            creating: self.creating,
            typed: DraftFields {
                name: self.name.text().to_owned(),
                mapping: self.mapping.rows(),
                properties: self.properties.text(),
                mapping_text: None,
                group_text: self.group_text.clone(),
            },
            loaded_from: self.loaded_from.clone(),
            taken_over: self.taken_over.clone(),
            base: self.base.clone(),
            base_at: whole(self.base_at),
            changed_at: whole(now),
            continues: Vec::new(),
        }
    }

    /// Notes that the form was filled in from another group or an earlier state.
    pub(crate) fn take_over(&mut self, from: &DesiredFields) {
        let texts = Texts::of(from);
        let words = texts.words().filter(|word| Draft::may_be_taken_over(word));
        self.taken_over = words.map(str::to_owned).collect();
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
        prefilled.is_some_and(|prefilled| self.content() == *prefilled)
    }

    pub(crate) fn content(&self) -> FormContent {
        let typed = |_| self.draft(Timestamp::UNIX_EPOCH).typed;
        (self.group_text.clone(), self.wanted().map_err(typed))
    }

    /// Like [`GroupForm::wanted`], but fails when the result must not be sent.
    pub(crate) fn sendable(&self) -> Result<DesiredFields, (String, &'static str)> {
        let wanted = self.wanted()?;
        check_size(&wanted).map_err(|why| (why.to_string(), why.field()))?;
        match self.draft(Timestamp::UNIX_EPOCH).suspicious() {
            Some(field) => Err((LOOKS_SECRET.into(), field)),
            None => Ok(wanted),
        }
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

/// Maximum number of ids that are named.
const NAMED: usize = 3;

/// The other groups with one data source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OtherUsers {
    first: Vec<UserGroupId>,
    count: usize,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct DataSourceUsage {
    /// The generation of the groups that was searched.
    generation: u64,
    found: HashMap<String, OtherUsers>,
    /// The text about the row under the cursor.
    line: Option<String>,
}

impl DataSourceUsage {
    pub(crate) fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// Updates the text for the row under the cursor.
    pub(crate) fn update(&mut self, own: &UserGroupId, table: &MappingTable, groups: &Groups) {
        if self.generation != groups.generation {
            self.generation = groups.generation;
            self.found.clear();
        }
        // While a cell is typed, the text would be about its former value.
        let Some(here) = table.source_here().filter(|_| !table.is_editing()) else {
            self.line = None;
            return;
        };
        if !self.found.contains_key(here) {
            self.search(own, table.sources(), groups);
        }
        self.line = self.found.get(here).map(|users| {
            let described = users.describe(here);
            match (groups.is_whole(), users.count) {
                (true, _) => described,
                (false, 0) => format!("{}: other groups are not all read yet", visible(here)),
                (false, _) => format!("{described}; others are not all read yet"),
            }
        });
    }

    fn search<'a>(
        &mut self,
        own: &UserGroupId,
        sources: impl Iterator<Item = &'a str>,
        groups: &Groups,
    ) {
        let mut wanted: HashMap<&str, OtherUsers> = sources
            .filter(|source| !self.found.contains_key(*source))
            .map(|source| (source, OtherUsers::default()))
            .collect();
        let sources: Vec<&str> = wanted.keys().copied().collect();
        groups.index().each_use_of(&sources, |group, source| {
            if group.id() != own.as_str()
                && let Some(users) = wanted.get_mut(source)
            {
                users.count += 1;
                if users.first.len() < NAMED {
                    users.first.extend(UserGroupId::parse(group.id()));
                }
            }
        });
        let found = wanted.into_iter();
        self.found
            .extend(found.map(|(source, users)| (source.to_owned(), users)));
    }
}

impl OtherUsers {
    fn describe(&self, source: &str) -> String {
        let source = visible(source);
        let named = if self.count > NAMED { NAMED - 1 } else { NAMED };
        let ids: Vec<String> = self
            .first
            .iter()
            .take(named)
            .map(ToString::to_string)
            .collect();
        match (ids.as_slice(), self.count.saturating_sub(ids.len())) {
            ([], _) => format!("{source}: used by no other known group"),
            ([only], 0) => format!("{source}: also in {only}"),
            ([most @ .., last], 0) => {
                format!("{source}: also in {} and {last}", most.join(", "))
            }
            (ids, more) => format!("{source}: also in {} and {more} more", ids.join(", ")),
        }
    }
}

/// Recent history of the group, once it was requested.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastUpdates {
    pub(crate) reading: Pending,
    was_asked: bool,
    /// Newest first.
    entries: Vec<Entry>,
}

impl LastUpdates {
    /// Whether the history has yet to be requested; marks it as requested.
    pub(crate) fn must_request(&mut self) -> bool {
        !std::mem::replace(&mut self.was_asked, true)
    }

    /// Makes the next [`Self::must_request`] return true, because the history may have changed.
    pub(crate) fn invalidate(&mut self) {
        self.was_asked = false;
    }

    /// Keeps the successful changes of these history entries.
    pub(crate) fn take(&mut self, entries: &[Numbered<Entry>]) {
        let entries = entries.iter().map(|numbered| &numbered.value);
        let done = entries.filter(|entry| {
            matches!(
                (entry.operation, entry.ending),
                (Operation::Create, Ending::Created)
                    | (Operation::Update, Ending::Updated)
                    | (
                        Operation::Rotate,
                        Ending::Confirmed
                            | Ending::Rotated
                            | Ending::Recovered
                            | Ending::Superseded
                    )
            )
        });
        let mut kept: Vec<Entry> = done.cloned().collect();
        // A rotation has an entry for its answer and one for its confirmation: the newer one is enough.
        kept.dedup_by(|older, newer| {
            older.operation == Operation::Rotate
                && newer.operation == Operation::Rotate
                && older.fingerprint == newer.fingerprint
        });
        kept.truncate(KEPT);
        self.entries = kept;
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Maximum number of entries that are shown.
const KEPT: usize = 20;

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

#[cfg(test)]
mod data_source_usage_tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        domain::{Known, KnownGroup, Mapping, known::Source},
        search::Index,
    };

    fn id(text: &str) -> UserGroupId {
        UserGroupId::parse(text).expect("a valid ID")
    }

    fn group(name: &str, mapping: &[(&str, &str)]) -> KnownGroup {
        KnownGroup {
            mapping: Some(Known {
                value: self::mapping(mapping),
                source: Source::Sent,
                at: Timestamp::UNIX_EPOCH,
                by: "ana".into(),
            }),
            ..KnownGroup::new(id(name))
        }
    }

    fn mapping(pairs: &[(&str, &str)]) -> Mapping {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn other_groups_are_named_counted_and_looked_for_again() {
        let mut groups = Groups::default();
        let all = ["acme-us", "globex", "initech", "wayne"];
        let mut known: Vec<_> = all.map(|name| group(name, &[("7", "213")])).into();
        known.push(group("acme-eu", &[("7", "213"), ("8", "1"), ("9", "77")]));
        known.push(group("hooli", &[("1", "1"), ("2", "1")]));
        known.push(KnownGroup::new(id("unknown")));
        known.sort_by(|a, b| a.id.cmp(&b.id));
        let listing = Index::of(&known).into();
        groups.replace(listing, Timestamp::UNIX_EPOCH, false);

        let mut elsewhere = DataSourceUsage::default();
        let mut look = |pairs: &[(&str, &str)], groups: &Groups| {
            let table = MappingTable::new(Some(&mapping(pairs)));
            elsewhere.update(&id("acme-eu"), &table, groups);
            elsewhere.line().map(str::to_owned)
        };
        let expected = "213: also in acme-us, globex and 2 more";
        assert_eq!(
            look(&[("7", "213"), ("8", "1")], &groups).as_deref(),
            Some(expected)
        );
        assert_eq!(
            look(&[("8", "1")], &groups).as_deref(),
            Some("1: also in hooli")
        );
        let expected = "77: used by no other known group";
        assert_eq!(look(&[("9", "77")], &groups).as_deref(), Some(expected));
        assert_eq!(look(&[("9", "")], &groups), None);
        assert_eq!(look(&[], &groups), None);
        let mut table = MappingTable::new(Some(&mapping(&[("9", "77")])));
        table.edit();
        let mut typed = DataSourceUsage::default();
        typed.update(&id("acme-eu"), &table, &groups);
        assert_eq!(typed.line(), None, "a value that is being typed over");

        groups.upsert(&group("globex", &[("7", "1")]));
        let expected = "213: also in acme-us, initech and wayne";
        assert_eq!(look(&[("7", "213")], &groups).as_deref(), Some(expected));
        assert_eq!(
            look(&[("8", "1")], &groups).as_deref(),
            Some("1: also in globex and hooli")
        );
    }
}
