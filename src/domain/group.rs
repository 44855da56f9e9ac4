//! A user group and its parts, in the service's own terms, and what makes each of them valid (docs/design/service.md,
//! "The interface").

use std::{borrow::Borrow, fmt, str::FromStr};

use indexmap::IndexMap;
use serde_json::Value;

use super::{
    dash::{begins_long, is_long, what_is_wrong},
    proposal::quoted,
};

/// Schema id → data source id, in the order given by the operator.
pub type Mapping = IndexMap<String, String>;

/// Any JSON object; big numbers and key order are kept as written.
pub type Properties = serde_json::Map<String, Value>;

/// Maximum length of `user_group_id`, in characters.
pub const MAX_ID_LEN: usize = 255;

/// The caller's own id of a group: 1 to 255 characters, compared exactly.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserGroupId(String);

/// Why a text cannot be a `user_group_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    #[error("the user group ID is empty; type the ID your own system uses for this group")]
    Empty,
    #[error("the user group ID has {0} characters; at most {MAX_ID_LEN} are allowed")]
    TooLong(usize),
    #[error("the user group ID contains a NUL character; remove it")]
    Nul,
    #[error(
        "the user group ID {what}{}; remove it",
        if .what.contains("long dash") { ", which word processors write for -" } else { " before a dash" }
    )]
    Dash { what: &'static str },
    #[error(
        "the user group ID has a variable that only a shell or a template replaces; write the ID itself"
    )]
    Variable,
}

/// As a person types it. A known group may have a name with a variable; that no new one gets it is checked where ids are
/// looked up.
impl FromStr for UserGroupId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::written(text)
    }
}

impl UserGroupId {
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidId> {
        let text = text.into();
        let length = text.chars().count();
        if length == 0 {
            Err(InvalidId::Empty)
        } else if length > MAX_ID_LEN {
            Err(InvalidId::TooLong(length))
        } else if text.contains('\0') {
            Err(InvalidId::Nul)
        } else {
            Ok(Self(text))
        }
    }

    /// An id that a person typed, or wrote into a file. A long dash before it comes from an option or from a list of points
    /// that a word processor changed, a variable from a script that did not replace it, and a group of that name could never
    /// be deleted.
    pub fn typed(text: impl Into<String>) -> Result<Self, InvalidId> {
        let id = Self::written(text)?;
        id.check_unknown().map(|()| id)
    }

    /// Refuses what a person typed as an id that no group has, where it is a variable that was not replaced.
    pub fn check_unknown(&self) -> Result<(), InvalidId> {
        if super::text::has_variable(&self.0) {
            Err(InvalidId::Variable)
        } else {
            Ok(())
        }
    }

    /// An id in a file of groups, which has those of every name.
    pub fn written(text: impl Into<String>) -> Result<Self, InvalidId> {
        let id = Self::parse(text)?;
        if begins_long(id.as_str()) {
            let what = what_is_wrong(id.as_str());
            Err(InvalidId::Dash { what })
        } else {
            Ok(id)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A command for this group that a person copies, as `groupdesk get ID --exists`: the id quoted for a shell where that
    /// is needed, and behind `--` where it would be read as an option.
    pub fn command(&self, verb: &str, options: &str) -> String {
        let id = quoted(&self.0);
        let gap = if options.is_empty() { "" } else { " " };
        // Also an option inside it would be read as one that was meant.
        if self.0.starts_with('-') || self.0.contains("--") || self.0.contains(is_long) {
            format!("groupdesk {verb}{gap}{options} -- {id}")
        } else {
            format!("groupdesk {verb} {id}{gap}{options}")
        }
    }
}

impl AsRef<str> for UserGroupId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Allows lookups by text in maps and sets; the order is that of the texts.
impl Borrow<str> for UserGroupId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The id for display; hidden characters are escaped. For the exact id use [`UserGroupId::as_str`].
impl fmt::Display for UserGroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&super::text::visible(&self.0))
    }
}

/// `api_environment_tag`: distinguishes two groups that share an id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EnvironmentTag {
    Customer,
    Testing,
    /// A tag that the interface does not document; stored and shown, but no meaning is guessed.
    Other(String),
}

impl EnvironmentTag {
    pub fn parse(text: &str) -> Self {
        match text {
            "Customer" => Self::Customer,
            "Testing" => Self::Testing,
            other => Self::Other(other.to_owned()),
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Customer => "Customer",
            Self::Testing => "Testing",
            Self::Other(text) => text,
        }
    }
}

impl fmt::Display for EnvironmentTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&super::text::visible(self.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_counted_in_characters_not_bytes() {
        assert!(UserGroupId::parse("é".repeat(255)).is_ok());
        assert_eq!(
            UserGroupId::parse("é".repeat(256)),
            Err(InvalidId::TooLong(256))
        );
        assert_eq!(UserGroupId::parse(""), Err(InvalidId::Empty));
        assert_eq!(UserGroupId::parse("a\0b"), Err(InvalidId::Nul));
    }

    #[test]
    fn what_stands_before_a_dash_is_named_as_it_is() {
        for (id, what) in [
            (
                "—x",
                "begins with a long dash, which word processors write for -;",
            ),
            ("\u{a0}--x", "begins with a blank before a dash;"),
            ("\"--x", "begins with a quote before a dash;"),
        ] {
            let why = UserGroupId::typed(id).expect_err("refused").to_string();
            assert!(why.contains(what), "{why}");
        }
    }

    #[test]
    fn what_was_not_replaced_is_no_id_that_a_person_types() {
        for id in [
            "$ID",
            "${ID}",
            "acme-${ID}",
            "acme-$ID",
            "$(cat id)",
            "`cat id`",
            "%ID%",
            "{{ID}}",
            "$1",
        ] {
            assert_eq!(UserGroupId::typed(id), Err(InvalidId::Variable), "{id}");
            assert!(
                id.parse::<UserGroupId>().is_ok(),
                "{id}: a group may have it"
            );
        }
        for id in [
            "acme$",
            "5$",
            "US$E",
            "a$b1",
            "100%",
            "%",
            "%a b%",
            "a`b",
            "{ID}",
            "acme-$100",
        ] {
            assert!(UserGroupId::typed(id).is_ok(), "{id}");
        }
    }

    #[test]
    fn an_id_in_a_command_is_that_id() {
        for (id, options, words) in [
            ("acme-eu", "", "acme-eu"),
            ("a b", "--exists", "'a b' --exists"),
            ("-x", "", "-- -x"),
            ("--x y", "--exists", "--exists -- '--x y'"),
            ("\u{feff}acme", "", r"$'\xef\xbb\xbfacme'"),
            ("acme\r", "", r"$'acme\r'"),
        ] {
            let command = UserGroupId::parse(id)
                .expect("an ID")
                .command("get", options);
            assert_eq!(command, format!("groupdesk get {words}"));
        }
    }

    #[test]
    fn an_unknown_tag_is_kept_as_it_is() {
        for tag in ["Customer", "Testing", "customer", "Staging"] {
            assert_eq!(EnvironmentTag::parse(tag).as_str(), tag);
        }
    }
}
