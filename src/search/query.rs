//! What a filter asks for: words, and tests like `tag:customer` or `age>90d`. A word that begins like a test and cannot
//! be read is named, never taken for something else.

mod read;
#[cfg(test)]
mod tests;

pub use read::{AskedRow, asked_row, filter_tests, quoted};

use std::{cmp::Ordering, collections::BTreeMap, fmt, ops::RangeInclusive, time::Duration};

use crate::{
    domain::{age::AgeFilter, rotation::State},
    search::normalize::is_accent,
};

/// A text to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it is searched: see [`letters`](crate::search::normalize::letters).
    pub text: String,
    /// Written in quotes: only as it stands, never letter by letter.
    pub quoted: bool,
}

/// Two letters, scattered, are in everything; so many are pasted, and their score could not be counted.
const SCATTERED: RangeInclusive<usize> = 3..=1000;

impl Word {
    /// Its letters are also looked for one by one, with others between them.
    pub fn is_scattered(&self) -> bool {
        let letters = || self.text.chars().filter(|c| !is_accent(*c)).count();
        !self.quoted && SCATTERED.contains(&letters())
    }

    /// Whether all that this finds, `other` finds too.
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

/// A number of a property; never NaN, so that any two compare.
#[derive(Debug, Clone, Copy)]
pub struct Number(f64);

impl Number {
    /// A decimal number as JSON or a person writes it; `None` for everything else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let number = text.bytes().all(is_number).then(|| text.parse().ok())??;
        Some(Self(number))
    }

    /// Bits that stand in the order of the numbers.
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
        // Zero has two signs, which are the same here.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

/// What others did to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// Another console changed it while this one looked.
    Changed,
    /// It was added meanwhile.
    New,
}

/// A condition; texts are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// How the environment tag begins.
    Tag(String),
    TagUnknown,
    Age(AgeFilter),
    /// Older than this profile allows.
    Old(Duration),
    /// A schema id or a data source id.
    Map(String),
    /// A schema id and its data source id.
    MapRow(String, String),
    /// A key of the properties, and its value where one is given.
    Property(String, Option<String>),
    /// A key of the properties whose value is a number.
    PropertyNumber(String, Side, Number),
    /// How many rows the mapping has.
    Rows(Side, u32),
    /// How many properties there are.
    Keys(Side, u32),
    /// How long it is until the token is as old as `limit`; less than nothing where it is older.
    Due {
        side: Side,
        within: Duration,
        limit: Duration,
    },
    /// How long ago the service last spoke of the group.
    Read(Side, Duration),
    /// The group has a rotation in this state, or in any that is open.
    Rotation(Option<State>),
    /// It has this label, or any.
    Label(Option<String>),
    Favourite,
    /// It has a note, and this text is in it.
    Note(Option<Word>),
    Flag(Flag),
    /// It has a draft.
    Draft,
    /// How the name of an operator begins who sent a value of it, or rotated its token.
    By(String),
}

impl Condition {
    /// It asks for what stands beside the groups, not in them.
    fn is_beside(&self) -> bool {
        matches!(
            self,
            Self::Label(_) | Self::Favourite | Self::Note(_) | Self::Flag(_) | Self::Draft
        )
    }

    fn is_timed(&self) -> bool {
        matches!(
            self,
            Self::Age(_) | Self::Old(_) | Self::Due { .. } | Self::Read(..)
        )
    }
}

/// Why a word of a filter is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    pub word: String,
    pub why: FilterErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterErrorKind {
    NoAge,
    NoAgeAtAll,
    LongAge,
    NoTag,
    NoMapping,
    NoProperty,
    NoState,
    NoCount,
    NoNumber,
    NoFlag,
    NoLabel,
    NoOperator,
    NoView,
    /// A view that leads back to itself.
    Circle,
    /// No test begins like this; it is searched as a word all the same.
    NoTest,
    /// It begins almost like a test, with this word.
    Meant(&'static str),
}

/// Short enough for line 2 of 80 columns, with the counts behind it.
impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = crate::domain::text::visible(&self.word);
        let what = match self.why {
            FilterErrorKind::NoAge => "write an age as 90d, 12w or 36h",
            FilterErrorKind::NoAgeAtAll => "zero is no age",
            FilterErrorKind::LongAge => "3650d at most",
            FilterErrorKind::NoTag => "write tag:customer",
            FilterErrorKind::NoMapping => "write map:213 or map:40=213",
            FilterErrorKind::NoProperty => "write prop:tier or prop:tier=gold",
            FilterErrorKind::NoState => "open, intended, sent, rotated or unknown",
            FilterErrorKind::NoCount => "write a count, as map>3 or props>=10",
            FilterErrorKind::NoNumber => "write a number, as prop:seats>100",
            FilterErrorKind::NoFlag => "write flag:changed or flag:new",
            FilterErrorKind::NoLabel => "write label:vip",
            FilterErrorKind::NoOperator => "write by:li",
            FilterErrorKind::NoView => "no saved view of this name",
            FilterErrorKind::Circle => "this view contains itself",
            FilterErrorKind::NoTest => "not a test, searched as a word",
            FilterErrorKind::Meant(test) => {
                return write!(f, "{word}: did you mean {test}? In quotes it is a word");
            }
        };
        write!(f, "{word}: {what}")
    }
}

/// A filter as it was understood. All words and tests must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub words: Vec<Word>,
    pub tests: Vec<Condition>,
    /// None of these may hold.
    pub without: Vec<Self>,
    /// Left out of the search.
    pub wrong: Vec<FilterError>,
    /// Words that look like a test and are none. Worth a remark where nothing is found.
    pub doubtful: Vec<FilterError>,
}

/// Saved filters by their names.
pub type Views = BTreeMap<String, String>;

impl Query {
    /// Reads a filter; `limit` is the age from which a token is old in this profile, the usual one where it has none.
    pub fn parse(text: &str, limit: Option<Duration>) -> Self {
        Self::parse_with(text, limit, &Views::new())
    }

    /// As [`Self::parse`], where `@name` stands for a saved filter.
    pub fn parse_with(text: &str, limit: Option<Duration>, views: &Views) -> Self {
        read::query(text, limit, views)
    }

    /// Nothing is asked, so that everything is let through.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.tests.is_empty() && self.without.is_empty()
    }

    /// What it finds depends on the time.
    pub fn is_timed(&self) -> bool {
        self.asks(&Condition::is_timed)
    }

    /// What it finds depends on notes, labels, drafts or flags.
    pub fn is_beside(&self) -> bool {
        self.asks(&Condition::is_beside)
    }

    /// It asks for flags, which only a console sees.
    pub fn is_flagged(&self) -> bool {
        self.asks(&|test| matches!(test, Condition::Flag(_)))
    }

    fn asks(&self, is_one: &dyn Fn(&Condition) -> bool) -> bool {
        self.tests.iter().any(is_one) || self.without.iter().any(|query| query.asks(is_one))
    }

    /// Whether it finds nothing that `other` does not find.
    pub fn is_within(&self, other: &Self) -> bool {
        let has_word = |old: &Word| self.words.iter().any(|word| word.is_within(old));
        other.words.iter().all(has_word)
            && other.tests.iter().all(|test| self.tests.contains(test))
            && other.without.iter().all(|not| self.without.contains(not))
    }

    /// With all that another asks for, too.
    fn take_in(&mut self, other: Self) {
        self.words.extend(other.words);
        self.tests.extend(other.tests);
        self.without.extend(other.without);
        self.wrong.extend(other.wrong);
        self.doubtful.extend(other.doubtful);
    }
}
