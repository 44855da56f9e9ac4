//! What an operator has typed about a group and not sent: stored as typed, even if it does not parse.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{
    change::DesiredFields,
    fields::Texts,
    group::UserGroupId,
    pasted::{Shape, has_cut_token, shape, words},
};

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
    /// Words that look like a part of a token and were not typed: they come from another group or an earlier state.
    pub taken_over: BTreeSet<String>,
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

    /// Whether another group or an earlier state may have the word: it looks like a part of a token, not like a whole or a cut
    /// one.
    pub fn may_be_taken_over(word: &str) -> bool {
        shape(word) == Some(Shape::Fragment) && !has_cut_token(word)
    }

    /// The field of a word that looks like a token or a part of one and was not there before: it is neither kept nor sent.
    pub fn suspicious(&self) -> Option<&'static str> {
        let before = Texts::of(&self.base);
        let is_taken_over =
            |word: &str| self.taken_over.contains(word) && Self::may_be_taken_over(word);
        // The quickest first: a form may have thousands of words, and most were there before.
        let is_suspicious = |word: &str| {
            !before.have_word(word)
                && shape(word).is_some()
                && !before.contain(word)
                && !self.user_group_id.as_str().contains(word)
                && !is_taken_over(word)
        };
        let mut fields = self.texts();
        fields.find_map(|(field, text)| words(text).any(is_suspicious).then_some(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::fields;

    const PART: &str = "507f1f77bcf86cd799439011";

    /// What a group has is filled in from it, but no token that it was given by mistake.
    #[test]
    fn a_token_is_never_taken_over() {
        let whole = PART.repeat(3);
        for (word, expected) in [(PART, true), (&whole[..64], false), (&whole[..45], false)] {
            assert_eq!(Draft::may_be_taken_over(word), expected, "{word}");
        }
    }

    fn draft(name: &str, taken_over: &str, base: DesiredFields) -> Draft {
        Draft {
            user_group_id: UserGroupId::parse("acme").expect("an ID"),
            creating: false,
            typed: DraftFields {
                name: name.to_owned(),
                ..DraftFields::default()
            },
            loaded_from: None,
            taken_over: BTreeSet::from([taken_over.to_owned()]),
            base,
            base_at: Timestamp::UNIX_EPOCH,
            changed_at: Timestamp::UNIX_EPOCH,
            continues: Vec::new(),
        }
    }

    #[test]
    fn a_part_that_was_not_typed_is_none_of_a_token_and_a_token_always_is_one() {
        let (cut, whole) = ("0f3a9c".repeat(8), "0f3a9c21".repeat(8));
        let nothing = DesiredFields::default();
        for (text, taken_over, is_suspicious) in [
            (PART, PART, false),
            (PART, "", true),
            (&PART[1..], PART, true),
            (&cut, &cut, true),
            (&whole, &whole, true),
        ] {
            let draft = draft(&format!("for {text}"), taken_over, nothing.clone());
            let expected = is_suspicious.then_some("name");
            assert_eq!(draft.suspicious(), expected, "{text}, {taken_over}");
        }
        let known = draft(PART, "", fields(PART, &[], "{}"));
        assert_eq!(known.suspicious(), None);
    }

    /// At every change of the form: if each value were looked for among all, this would take minutes.
    #[test]
    fn a_form_of_thousands_of_hex_values_is_judged_at_once() {
        let value = |at: u32| format!("{at:05}f1f77bcf86cd7994390");
        let rows: Vec<_> = (0..20_000).map(|at| (at.to_string(), value(at))).collect();
        let pairs = rows
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()));
        let base = fields("Acme", &pairs.collect::<Vec<_>>(), "{}");
        let mut draft = draft("Acme", "", base);
        draft.typed.mapping = rows
            .into_iter()
            .map(|(key, value)| DraftRow {
                key,
                value,
                ..DraftRow::default()
            })
            .collect();
        assert_eq!(draft.suspicious(), None);
    }
}
