//! What an operator has typed about a group and not sent: stored as typed, even if it does not parse.

use jiff::Timestamp;

use super::{change::DesiredFields, group::UserGroupId, pasted::suspicious_words};

/// One row of the mapping as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftRow {
    /// Schema id.
    pub key: String,
    /// Data source id.
    pub value: String,
    /// Key and value when the edit began; `None` if the row was added since.
    pub before: Option<(String, String)>,
    /// Marked for removal.
    pub is_dropped: bool,
}

/// The fields of a form, exactly as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftFields {
    pub name: String,
    pub mapping: Vec<DraftRow>,
    /// JSON, or text that is to become JSON.
    pub properties: String,
    /// A mapping from an external editor that cannot be parsed.
    pub mapping_text: Option<String>,
    /// The whole group from an external editor, if it cannot be parsed.
    pub group_text: Option<String>,
}

/// An unsent form. Contains no token and no API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub user_group_id: UserGroupId,
    /// The group was unknown when the draft was started: it will be created.
    pub creating: bool,
    pub typed: DraftFields,
    /// The other person whose draft was loaded into the form; what was typed since is one's own.
    pub loaded_from: Option<String>,
    /// What was known of the group when the edit began.
    pub base: DesiredFields,
    /// The age of that state: when the service last returned the group.
    pub base_at: Timestamp,
    /// In whole microseconds, as stored.
    pub changed_at: Timestamp,
    /// Versions of the same person that this one goes on from, by when they were changed. Their console may still be
    /// open, so they stay beside it until this one is sent or discarded.
    pub continues: Vec<Timestamp>,
}

impl Draft {
    /// Whether both contain the same, whenever they were typed.
    pub fn has_same_content(&self, other: &Self) -> bool {
        (self.creating, &self.typed, &self.base, self.base_at)
            == (other.creating, &other.typed, &other.base, other.base_at)
    }

    /// All that was typed, each text with its field.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let typed = &self.typed;
        let rows = typed.mapping.iter();
        [("name", typed.name.as_str())]
            .into_iter()
            .chain(rows.flat_map(|row| [("mapping", row.key.as_str()), ("mapping", &row.value)]))
            .chain([("properties", typed.properties.as_str())])
            .chain(typed.mapping_text.as_deref().map(|text| ("mapping", text)))
            .chain(typed.group_text.as_deref().map(|text| ("group", text)))
    }

    /// The words that look like a token or a part of one and were not there before, each with its field: neither kept nor sent.
    pub fn suspicious(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let words = self
            .texts()
            .flat_map(|(field, text)| suspicious_words(text).map(move |word| (field, word)));
        words.filter(|(_, word)| {
            !self.base.contains_text(word) && !self.user_group_id.as_str().contains(word)
        })
    }
}
