//! What a filter asks for: words, and tests like `tag:customer` or `age>90d`. A word that begins like a test but cannot
//! be parsed is reported, never taken for something else.

mod parse;
mod rows;
#[cfg(test)]
mod tests;

pub use parse::{RowCondition, filter_tests, quoted, row_condition};
pub use rows::{RowFacts, RowQuery, RowRules, RowTest};

use std::{cmp::Ordering, collections::BTreeMap, ops::RangeInclusive, time::Duration};

use crate::{
    domain::{age::AgeFilter, rotation::State},
    search::normalize::is_accent,
};

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

/// A number in a property. It is never NaN, so that any two can be compared.
#[derive(Debug, Clone, Copy)]
pub struct Number(f64);

impl Number {
    /// Parses a decimal number as written in JSON or by a person; `None` for everything else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let number = text.bytes().all(is_number).then(|| text.parse().ok())??;
        Some(Self(number))
    }

    /// Bits that sort like the numbers.
    pub(super) fn in_order(self) -> u64 {
        let bits = (self.0 + 0.0).to_bits();
        if bits >> 63 == 1 {
            !bits
        } else {
            bits | 1 << 63
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        // Positive and negative zero are the same here.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

/// What others did to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// Another console changed it while this one was open.
    Changed,
    /// It was added in the meantime.
    New,
}

/// A condition. Texts are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The start of the environment tag.
    Tag(String),
    TagUnknown,
    Age(AgeFilter),
    /// The token is older than the limit of this profile.
    Old(Duration),
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
    Flag(Flag),
    /// The group has a draft.
    Draft,
    /// The start of the name of an operator who sent a value of the group or rotated its token.
    By(String),
}

impl Condition {
    /// Whether the condition is about annotations, drafts or flags, not about values of the group.
    fn uses_extras(&self) -> bool {
        matches!(
            self,
            Self::Label(_) | Self::Favourite | Self::Note(_) | Self::Flag(_) | Self::Draft
        )
    }

    fn depends_on_time(&self) -> bool {
        matches!(
            self,
            Self::Age(_) | Self::Old(_) | Self::Due { .. } | Self::Read(..)
        )
    }
}

/// Why a word of a filter is ignored; short enough for line 2 of an 80-column screen, followed by the counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", crate::domain::text::visible(.word))]
pub struct FilterError {
    pub word: String,
    pub why: FilterErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FilterErrorKind {
    #[error("write an age as 90d, 12w or 36h")]
    NoAge,
    /// Or months.
    #[error("m may mean months: write 90d, 12w or 36h")]
    Minutes,
    #[error("zero is not an age")]
    NoAgeAtAll,
    #[error("3650d at most")]
    LongAge,
    #[error("write tag:customer")]
    NoTag,
    #[error("write map:213 or map:40=213")]
    NoMapping,
    #[error("write prop:tier or prop:tier=gold")]
    NoProperty,
    #[error("open, intended, sent, rotated or unknown")]
    NoState,
    #[error("write a count, as map>3 or props>=10")]
    NoCount,
    #[error("write a number, as prop:seats>100")]
    NoNumber,
    #[error("write flag:changed or flag:new")]
    NoFlag,
    #[error("write label:vip")]
    NoLabel,
    #[error("write by:li")]
    NoOperator,
    #[error("no saved view of this name")]
    NoView,
    /// The view refers to itself, directly or indirectly.
    #[error("this view contains itself")]
    Circle,
    /// No test begins like this. It is still searched as a word.
    #[error("not a test, searched as a word")]
    NoTest,
    /// A comparison that a blank separates from its test.
    #[error("a test has no spaces: age>90d; put words before it")]
    Torn,
    /// It differs by one mistake from this test.
    #[error("did you mean {0}? In quotes it is a word")]
    Meant(&'static str),
}

/// A parsed filter. A group must match all words and tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub words: Vec<Word>,
    pub tests: Vec<Condition>,
    /// A group must match none of these.
    pub without: Vec<Self>,
    /// Parts that were ignored.
    pub wrong: Vec<FilterError>,
    /// Words that look like a test but are not. Worth mentioning if nothing matches.
    pub doubtful: Vec<FilterError>,
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
        parse::query(text, limit, views)
    }

    /// Whether nothing is asked, so that everything matches.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.tests.is_empty() && self.without.is_empty()
    }

    /// Whether the result depends on the time.
    pub fn depends_on_time(&self) -> bool {
        self.any_condition(&Condition::depends_on_time)
    }

    /// Whether the result depends on notes, labels, drafts or flags.
    pub fn uses_extras(&self) -> bool {
        self.any_condition(&Condition::uses_extras)
    }

    /// Whether it asks for flags, which only a console has.
    pub fn is_flagged(&self) -> bool {
        self.any_condition(&|test| matches!(test, Condition::Flag(_)))
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
    fn add(&mut self, mut part: Self, negated: bool) {
        if !negated {
            self.take_in(part);
        } else if !part.is_empty() {
            // Scattered letters match too much for an exclusion.
            part.words.iter_mut().for_each(|word| word.quoted = true);
            self.without.push(part);
        }
    }

    /// Adds all the conditions of another query.
    fn take_in(&mut self, other: Self) {
        self.words.extend(other.words);
        self.tests.extend(other.tests);
        self.without.extend(other.without);
        self.wrong.extend(other.wrong);
        self.doubtful.extend(other.doubtful);
    }
}
