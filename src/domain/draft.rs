//! What a person has typed about a group and not sent: kept as it was typed, also where it does not parse.

use jiff::Timestamp;

use super::{change::DesiredFields, group::UserGroupId};

/// One row of the mapping as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedRow {
    /// Schema id.
    pub key: String,
    /// Data source id.
    pub value: String,
    /// Key and value when the edit began; `None`: added since.
    pub before: Option<(String, String)>,
    /// Marked for removal.
    pub is_dropped: bool,
}

/// The fields of a form, letter by letter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed {
    pub name: String,
    pub mapping: Vec<TypedRow>,
    /// JSON, or what is to become JSON.
    pub properties: String,
    /// A mapping that came back from an outside editor and cannot be read.
    pub mapping_text: Option<String>,
    /// The whole group as it came back from an outside editor, where that cannot be read.
    pub group_text: Option<String>,
}

/// An unsent form. It holds no token and no API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub user_group_id: UserGroupId,
    /// The group was not known when it was begun: it ends in a create.
    pub creating: bool,
    pub typed: Typed,
    /// What was known of the group when the edit began.
    pub base: DesiredFields,
    /// How old that is: when the service last spoke of the group.
    pub base_at: Timestamp,
    /// In whole microseconds, as it is kept.
    pub changed_at: Timestamp,
}

impl Draft {
    /// Whether both say the same, whenever they were typed.
    pub fn says_the_same(&self, other: &Self) -> bool {
        (self.creating, &self.typed, &self.base, self.base_at)
            == (other.creating, &other.typed, &other.base, other.base_at)
    }
}
