//! What a filter asks for: words, and tests like `tag:customer` or `age>90d`. A word that begins like a test but cannot
//! be parsed is reported, never taken for something else.

mod parse;
mod rows;
#[cfg(test)]
mod tests;

use parse::{Piece, Reader};
pub use parse::{RowCondition, filter_tests, quoted, row_condition};
pub use rows::{RowFacts, RowQuery, RowRules, RowTest};

use std::{cmp::Ordering, collections::BTreeMap, ops::RangeInclusive, time::Duration};

use crate::{domain::rotation::State, search::normalize::is_accent};

/// A text to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In searchable form: see [`letters`](crate::search::normalize::letters).
    pub text: String,
    /// Written in quotes: it must occur exactly, not as scattered letters.
    pub quoted: bool,
}

/// Lengths of words that are also searched as scattered letters. Two letters occur in almost everything; more than 1000
/// were pasted, and their score would be too large.
const SCATTERED: RangeInclusive<usize> = 3..=1000;

impl Word {
    /// Whether the word is also searched as scattered letters, with others in between.
    pub fn is_scattered(&self) -> bool {
        let letters = || self.text.chars().filter(|c| !is_accent(*c)).count();
        !self.quoted && SCATTERED.contains(&letters())
    }

    /// Whether everything that matches this word matches `other` too.
    fn is_within(&self, other: &Self) -> bool {
        if other.is_scattered() {
            self.text.starts_with(&other.text)
        } else {
            !self.is_scattered() && self.text.contains(&other.text)
        }
    }
}

/// How a number must compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

impl Side {
    pub fn admits(self, compared: Ordering) -> bool {
        match self {
            Self::Less => compared.is_lt(),
            Self::AtMost => compared.is_le(),
            Self::Equal => compared.is_eq(),
            Self::AtLeast => compared.is_ge(),
            Self::More => compared.is_gt(),
        }
    }
}

/// A number in a property, as bits that sort like the numbers. It is never NaN, so that any two can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(u64);

impl Number {
    /// Parses a decimal number as written in JSON or by a person; `None` for everything else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let number: f64 = text.bytes().all(is_number).then(|| text.parse().ok())??;
        // Positive and negative zero are the same here.
        let bits = (number + 0.0).to_bits();
        let is_negative = bits >> 63 == 1;
        Some(Self(if is_negative { !bits } else { bits | 1 << 63 }))
    }

    /// Bytes that sort like the numbers.
    pub(super) fn in_order(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }
}

/// A condition. Texts are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The start of the environment tag.
    Tag(String),
    TagUnknown,
    /// The age of the token.
    Age(Side, Duration),
    /// A schema id or a data source id.
    Map(String),
    /// A schema id with its data source id.
    MapRow(String, String),
    /// A property with this key and, if given, this value.
    Property(String, Option<String>),
    /// A property with this key whose value is a number.
    PropertyNumber(String, Side, Number),
    /// The number of rows of the mapping.
    Rows(Side, u32),
    /// The number of properties.
    Keys(Side, u32),
    /// The time until the token is as old as `limit`; negative if it is older.
    Due {
        side: Side,
        within: Duration,
        limit: Duration,
    },
    /// The time since the service last reported the group.
    Read(Side, Duration),
    /// The group has a rotation in this state, or in any open state.
    Rotation(Option<State>),
    /// The group has this label, or any label.
    Label(Option<String>),
    Favourite,
    /// The group has a note, which contains the text if one is given.
    Note(Option<Word>),
    /// Another console changed the group while this one was open.
    Changed,
    /// The group was added in the meantime.
    New,
    /// The group has a draft.
    Draft,
    /// The start of the name of an operator who rotated its token or sent its mapping.
    By(String),
}

/// A parsed filter. A group must match all words and tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub words: Vec<Word>,
    pub tests: Vec<Condition>,
    /// A group must match none of these.
    pub without: Vec<Self>,
    /// Each of them as it was typed.
    pub excluded: Vec<String>,
    /// Parts that were ignored, each with the reason; short enough for line 2 of an 80-column screen, followed by the
    /// counts.
    pub wrong: Vec<String>,
    /// Words that look like a test but are not. Worth mentioning if nothing matches.
    pub doubtful: Vec<String>,
}

/// Saved filters by name.
pub type Views = BTreeMap<String, String>;

impl Query {
    /// Parses a filter. `limit` is the token age limit of the profile, or the usual one if it has none.
    pub fn parse(text: &str, limit: Option<Duration>) -> Self {
        Self::parse_with(text, limit, &Views::new())
    }

    /// Like [`Self::parse`], but `@name` stands for a saved filter.
    pub fn parse_with(text: &str, limit: Option<Duration>, views: &Views) -> Self {
        Reader::new(limit, views).query(text, &mut Vec::new())
    }

    /// Whether nothing is asked, so that everything matches.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.tests.is_empty() && self.without.is_empty()
    }

    /// Whether the result depends on the time.
    pub fn depends_on_time(&self) -> bool {
        use Condition::{Age, Due, Read};
        self.any_condition(&|test| matches!(test, Age(..) | Due { .. } | Read(..)))
    }

    /// Whether the result depends on notes, labels, drafts or flags.
    pub fn uses_extras(&self) -> bool {
        use Condition::{Draft, Favourite, Label, Note};
        let is_annotation = |test: &_| matches!(test, Label(_) | Favourite | Note(_) | Draft);
        // What a word that excludes nothing meant may be a label.
        let excludes_word = self.without.iter().any(|query| !query.words.is_empty());
        self.is_flagged() || excludes_word || self.any_condition(&is_annotation)
    }

    /// Whether it asks for flags, which only a console has.
    pub fn is_flagged(&self) -> bool {
        self.any_condition(&|test| matches!(test, Condition::Changed | Condition::New))
    }

    fn any_condition(&self, is_one: &dyn Fn(&Condition) -> bool) -> bool {
        self.tests.iter().any(is_one)
            || self.without.iter().any(|query| query.any_condition(is_one))
    }

    /// Whether everything that matches this query matches `other` too.
    pub fn is_within(&self, other: &Self) -> bool {
        let has_word = |old: &Word| self.words.iter().any(|word| word.is_within(old));
        other.words.iter().all(has_word)
            && other.tests.iter().all(|test| self.tests.contains(test))
            && other.without.iter().all(|not| self.without.contains(not))
    }

    /// Adds a part of a filter, which may be negated.
    fn add(&mut self, mut part: Self, piece: &Piece) {
        if !piece.negated {
            self.take_in(part);
        } else if !part.is_empty() {
            // Scattered letters match too much for an exclusion.
            part.words.iter_mut().for_each(|word| word.quoted = true);
            self.without.push(part);
            // In quotes it is a word and no view.
            let is_word = piece.quoted && piece.text.starts_with('@');
            let text = &piece.text;
            let typed = is_word.then(|| format!("\"{text}\""));
            self.excluded.push(typed.unwrap_or_else(|| text.clone()));
        }
    }

    /// Adds all the conditions of another query.
    fn take_in(&mut self, other: Self) {
        self.words.extend(other.words);
        self.tests.extend(other.tests);
        self.without.extend(other.without);
        self.excluded.extend(other.excluded);
        self.wrong.extend(other.wrong);
        self.doubtful.extend(other.doubtful);
    }
}
