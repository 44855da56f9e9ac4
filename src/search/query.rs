//! What a filter asks for: words, and tests like `tag:customer` or `age>90d`. A word that begins like a test and cannot
//! be read is named, never taken for something else.

use std::{fmt, ops::RangeInclusive, time::Duration};

use crate::{
    domain::{
        age::{self, AgeFilter, InvalidAge},
        rotation::State,
    },
    search::normalize::{is_accent, letters, lowered},
};

/// A text to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Folded: its [`letters`].
    pub text: String,
    /// Written in quotes: only as it stands, never letter by letter.
    pub quoted: bool,
}

/// Two letters, scattered, are in everything; so many are pasted, and their score could not be counted.
const SCATTERED: RangeInclusive<usize> = 3..=1000;

/// What is shorter is near to everything.
const LEAST_TYPED: usize = 3;

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
    /// The group has a rotation in this state, or in any that is open.
    Rotation(Option<State>),
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
    NoLimit,
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
            FilterErrorKind::NoLimit => "no max_token_age here; write age>90d",
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
    /// Left out of the search.
    pub wrong: Vec<FilterError>,
}

impl Query {
    /// Reads a filter; `limit` is the age from which a token is old in this profile.
    pub fn parse(text: &str, limit: Option<Duration>) -> Self {
        let mut query = Self::default();
        for piece in pieces(text) {
            match read(&piece, limit) {
                Ok(Part::Word(word)) => query.words.extend(word),
                Ok(Part::Test(test)) => query.tests.push(test),
                Err(why) => query.wrong.push(FilterError {
                    word: piece.text,
                    why,
                }),
            }
        }
        query
    }

    /// Nothing is asked, so that everything is let through.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.tests.is_empty()
    }

    /// What it finds depends on the time.
    pub fn is_timed(&self) -> bool {
        let timed = |test: &Condition| matches!(test, Condition::Age(_) | Condition::Old(_));
        self.tests.iter().any(timed)
    }

    /// Whether it finds nothing that `other` does not find.
    pub fn is_within(&self, other: &Self) -> bool {
        let has_word = |old: &Word| self.words.iter().any(|word| word.is_within(old));
        other.words.iter().all(has_word) && other.tests.iter().all(|test| self.tests.contains(test))
    }
}

/// A piece between spaces.
struct Piece {
    text: String,
    /// It began with a quote.
    quoted: bool,
}

/// Splits at spaces outside of quotes. A quote that is not closed ends with the text.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let quoted = rest.starts_with('"');
        let mut inside = false;
        let mut piece = String::new();
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            if c == '"' {
                inside = !inside;
            } else if c.is_whitespace() && !inside {
                end = at;
                break;
            } else {
                piece.push(c);
            }
        }
        pieces.push(Piece {
            text: piece,
            quoted,
        });
        rest = rest[end..].trim_start();
    }
    pieces
}

enum Part {
    /// `None` for a pair of quotes around nothing.
    Word(Option<Word>),
    Test(Condition),
}

fn read(piece: &Piece, limit: Option<Duration>) -> Result<Part, FilterErrorKind> {
    let lower = lowered(&piece.text);
    if piece.quoted {
        let word = Word {
            text: letters(&piece.text),
            quoted: true,
        };
        return Ok(Part::Word((!word.text.is_empty()).then_some(word)));
    }
    if let Some(age) = AgeFilter::parse(&lower) {
        return age.map(|age| Part::Test(Condition::Age(age))).map_err(why);
    }
    let test = match lower.split_once(':') {
        None if lower == "old" => Condition::Old(limit.ok_or(FilterErrorKind::NoLimit)?),
        Some(("tag", "")) => return Err(FilterErrorKind::NoTag),
        Some(("tag", "?")) => Condition::TagUnknown,
        Some(("tag", tag)) => Condition::Tag(tag.to_owned()),
        Some(("map", "" | "=")) => return Err(FilterErrorKind::NoMapping),
        Some(("map", row)) => match row.split_once('=') {
            Some((schema, source)) if !schema.is_empty() && !source.is_empty() => {
                Condition::MapRow(schema.to_owned(), source.to_owned())
            }
            Some(("", one) | (one, _)) => Condition::Map(one.to_owned()),
            None => Condition::Map(row.to_owned()),
        },
        Some(("prop", property)) => match property.split_once('=') {
            None if !property.is_empty() => Condition::Property(property.to_owned(), None),
            Some((key, "")) if !key.is_empty() => Condition::Property(key.to_owned(), None),
            Some((key, value)) if !key.is_empty() => {
                Condition::Property(key.to_owned(), Some(value.to_owned()))
            }
            _ => return Err(FilterErrorKind::NoProperty),
        },
        Some(("state", "open")) => Condition::Rotation(None),
        Some(("state", state)) => match State::parse(state).filter(|state| state.is_open()) {
            Some(state) => Condition::Rotation(Some(state)),
            None => return Err(FilterErrorKind::NoState),
        },
        _ => {
            if let Some(test) = meant(&lower) {
                return Err(FilterErrorKind::Meant(test));
            }
            let word = Word {
                text: letters(&piece.text),
                quoted: false,
            };
            return Ok(Part::Word((!word.text.is_empty()).then_some(word)));
        }
    };
    Ok(Part::Test(test))
}

/// The test that a word begins like but for one mistake.
fn meant(word: &str) -> Option<&'static str> {
    let (name, _) = word.split_once([':', '<', '>'])?;
    let is_near = |test: &str| strsim::damerau_levenshtein(name, test) == 1;
    let tests = if word[name.len()..].starts_with(':') {
        &["tag:", "map:", "prop:", "state:"][..]
    } else {
        &["age>", "age<"]
    };
    let mut tests = tests.iter().copied();
    tests.find(|test| name.len() >= LEAST_TYPED && is_near(&test[..test.len() - 1]))
}

fn why(invalid: InvalidAge) -> FilterErrorKind {
    match invalid {
        age::InvalidAge::Unreadable => FilterErrorKind::NoAge,
        age::InvalidAge::Zero => FilterErrorKind::NoAgeAtAll,
        age::InvalidAge::TooLong => FilterErrorKind::LongAge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Query {
        Query::parse(text, Some(Duration::from_secs(90)))
    }

    fn word(text: &str, quoted: bool) -> Word {
        Word {
            text: text.into(),
            quoted,
        }
    }

    #[test]
    fn words_and_tests_are_told_apart() {
        let query = parse(
            "Acme tag:Cust age>90d MAP:213 map:40=213 prop:Tier=Gold prop:tier state:unknown state:open old tag:? \
             \"two words\"",
        );
        assert_eq!(query.words, [word("acme", false), word("two words", true)]);
        let age = AgeFilter::parse("age>90d")
            .expect("about age")
            .expect("valid");
        assert_eq!(
            query.tests,
            [
                Condition::Tag("cust".into()),
                Condition::Age(age),
                Condition::Map("213".into()),
                Condition::MapRow("40".into(), "213".into()),
                Condition::Property("tier".into(), Some("gold".into())),
                Condition::Property("tier".into(), None),
                Condition::Rotation(Some(State::Unknown)),
                Condition::Rotation(None),
                Condition::Old(Duration::from_secs(90)),
                Condition::TagUnknown,
            ]
        );
        assert_eq!(query.wrong, []);
        assert!(query.is_timed());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, why) in [
            ("age>xx", FilterErrorKind::NoAge),
            ("age>", FilterErrorKind::NoAge),
            ("age<0d", FilterErrorKind::NoAgeAtAll),
            ("age>9999w", FilterErrorKind::LongAge),
            ("tag:", FilterErrorKind::NoTag),
            ("map:", FilterErrorKind::NoMapping),
            ("map:=", FilterErrorKind::NoMapping),
            ("prop:", FilterErrorKind::NoProperty),
            ("prop:=gold", FilterErrorKind::NoProperty),
            ("state:", FilterErrorKind::NoState),
            ("state:confirmed", FilterErrorKind::NoState),
            ("tga:customer", FilterErrorKind::Meant("tag:")),
            ("maps:40=213", FilterErrorKind::Meant("map:")),
            ("props:tier", FilterErrorKind::Meant("prop:")),
            ("stat:open", FilterErrorKind::Meant("state:")),
            ("aeg>90d", FilterErrorKind::Meant("age>")),
        ] {
            let query = parse(&format!("acme {text}"));
            let wrong = FilterError {
                word: text.into(),
                why,
            };
            assert!(wrong.to_string().len() < 60, "{wrong}");
            assert_eq!(query.wrong, [wrong]);
            assert_eq!(query.words, [word("acme", false)], "the rest still holds");
        }
        assert_eq!(
            Query::parse("old", None).wrong[0].why,
            FilterErrorKind::NoLimit
        );
    }

    #[test]
    fn ids_that_resemble_tests_are_words() {
        for text in [
            "eu:acme", "team:7", "a>b", "tg:x", "oldtown", "agent", "mapped", "age=9", ":", "=",
        ] {
            let query = parse(text);
            assert_eq!(query.words, [word(text, false)]);
            assert!(query.tests.is_empty() && query.wrong.is_empty(), "{text}");
        }
        assert_eq!(parse("\"tag:x\"").words, [word("tag:x", true)]);
        assert_eq!(parse("\"open end").words, [word("open end", true)]);
        assert!(parse("  \"\"  ").is_empty());
        assert_eq!(
            parse("prop:city=\"New York\"").tests,
            [Condition::Property("city".into(), Some("new york".into()))]
        );
    }

    #[test]
    fn more_letters_and_more_words_only_take_away() {
        for (narrow, wide, is_within) in [
            ("acme", "acm", true),
            ("acme", "ac", false),
            ("ac", "a", true),
            ("acme eu", "acme", true),
            ("acme tag:test", "tag:test", true),
            ("\"acme\"", "ac", true),
            ("\"acme\"", "acm", true),
            ("\"xacme\"", "acm", false),
            ("\"acme\"", "\"cm\"", true),
            ("acme", "\"ac\"", false),
            ("ac", "acme", false),
            ("tag:test", "tag:tes", false),
            ("map:21", "map:2", false),
            ("x", "", true),
            ("", "x", false),
        ] {
            let found = parse(narrow).is_within(&parse(wide));
            assert_eq!(found, is_within, "{narrow} in {wide}");
        }
    }
}
