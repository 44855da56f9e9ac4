//! Parses a filter word by word.

use std::time::Duration;

use super::{Condition, FilterError, FilterErrorKind, Flag, Number, Query, Side, Views, Word};
use crate::{
    domain::{
        age::{self, AgeFilter, InvalidAge, USUAL_LIMIT},
        annotation::Label,
        rotation::State,
    },
    search::normalize::{letters, lowered},
};

/// Anything shorter is similar to everything.
const LEAST_TYPED: usize = 3;

/// Tests with a colon.
const NAMED: [&str; 8] = [
    "tag:", "map:", "prop:", "state:", "label:", "note:", "flag:", "by:",
];

/// Tests with a comparison.
const COMPARED: [&str; 6] = ["age>", "age<", "due<", "read>", "map>", "props>"];

/// How the tests of a filter begin.
pub fn filter_tests() -> impl Iterator<Item = &'static str> {
    NAMED.into_iter().chain(COMPARED)
}

struct Reader<'r> {
    limit: Duration,
    views: &'r Views,
}

pub(super) fn query(text: &str, limit: Option<Duration>, views: &Views) -> Query {
    let limit = limit.unwrap_or(USUAL_LIMIT);
    Reader { limit, views }.query(text, &mut Vec::new())
}

/// A part between spaces.
struct Piece {
    text: String,
    /// It began with a quote.
    quoted: bool,
    /// It was preceded by a minus.
    negated: bool,
}

/// Splits at spaces outside of quotes. A quote that is not closed extends to the end of the text.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let bare = rest
            .strip_prefix('-')
            .filter(|bare| bare.starts_with(|c: char| !c.is_whitespace()));
        let negated = bare.is_some();
        rest = bare.unwrap_or(rest);
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
            negated,
        });
        rest = rest[end..].trim_start();
    }
    pieces
}

/// A mapping row or a property, with its value as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedRow {
    Mapping(String, String),
    Property(String, String),
}

/// The first mapping row with a value that a filter asks for, otherwise the first such property. Parts that are
/// negated, compared, or quoted as a whole do not count.
pub fn asked_row(text: &str) -> Option<AskedRow> {
    let mut property = None;
    let asked = pieces(text).into_iter();
    for piece in asked.filter(|piece| !piece.quoted && !piece.negated) {
        let lower = lowered(&piece.text);
        let test = match lower.split_once(':') {
            Some(("prop", property)) => property_test(property),
            Some(("map", row)) => match named("map", row) {
                Some(test) => test,
                None => continue,
            },
            _ => continue,
        };
        // Lower-casing keeps the number of characters, so the colon is at the same place.
        let typed = piece
            .text
            .split_once(':')
            .and_then(|(_, typed)| typed.split_once('='));
        let Some((key, value)) = typed else { continue };
        let (key, value) = (key.to_owned(), value.to_owned());
        match test {
            Ok(Condition::MapRow(..)) => return Some(AskedRow::Mapping(key, value)),
            Ok(Condition::Property(_, Some(_))) if property.is_none() => {
                property = Some(AskedRow::Property(key, value));
            }
            _ => {}
        }
    }
    property
}

/// A filter that matches this text, no part of which is read as a test.
pub fn quoted(text: &str) -> String {
    // Quotes cannot be escaped inside quotes.
    let parts = text.split('"').filter(|part| !part.is_empty());
    let parts = parts.map(|part| format!("\"{part}\""));
    parts.collect::<Vec<_>>().join(" ")
}

impl Reader<'_> {
    /// `inside` contains the names of the views being expanded.
    fn query(&self, text: &str, inside: &mut Vec<String>) -> Query {
        let mut query = Query::default();
        for piece in pieces(text) {
            let error = |why| FilterError {
                word: if piece.negated {
                    format!("-{}", piece.text)
                } else {
                    piece.text.clone()
                },
                why,
            };
            let mut part = match self.piece(&piece, inside) {
                Ok(part) => part,
                Err(why) => {
                    query.wrong.push(error(why));
                    continue;
                }
            };
            query.wrong.append(&mut part.wrong);
            query.doubtful.append(&mut part.doubtful);
            if !piece.quoted && !part.words.is_empty() && looks_like_a_test(&piece.text) {
                query.doubtful.push(error(FilterErrorKind::NoTest));
            }
            if !piece.negated {
                query.take_in(part);
            } else if !part.is_empty() {
                // Scattered letters match too much for an exclusion.
                part.words.iter_mut().for_each(|word| word.quoted = true);
                query.without.push(part);
            }
        }
        query
    }

    fn piece(&self, piece: &Piece, inside: &mut Vec<String>) -> Result<Query, FilterErrorKind> {
        let mut query = Query::default();
        if !piece.quoted {
            if let Some(name) = piece.text.strip_prefix('@') {
                let name = lowered(name);
                let text = self.views.get(&name).ok_or(FilterErrorKind::NoView)?;
                if inside.contains(&name) {
                    return Err(FilterErrorKind::Circle);
                }
                inside.push(name);
                let view = self.query(text, inside);
                inside.pop();
                return Ok(view);
            }
            let lower = lowered(&piece.text);
            if let Some(test) = self.test(&lower).transpose()? {
                query.tests.push(test);
                return Ok(query);
            }
            if let Some(test) = meant(&lower) {
                return Err(FilterErrorKind::Meant(test));
            }
        }
        let word = Word {
            text: letters(&piece.text),
            quoted: piece.quoted,
        };
        // An empty pair of quotes asks for nothing.
        query.words.extend((!word.text.is_empty()).then_some(word));
        Ok(query)
    }

    /// Returns `None` if the text is not a test.
    fn test(&self, lower: &str) -> Option<Result<Condition, FilterErrorKind>> {
        if let Some(age) = AgeFilter::parse(lower) {
            return Some(age.map(Condition::Age).map_err(why));
        }
        let limit = self.limit;
        match lower {
            "old" => return Some(Ok(Condition::Old(limit))),
            "fav" => return Some(Ok(Condition::Favourite)),
            "draft" => return Some(Ok(Condition::Draft)),
            _ => {}
        }
        match lower.split_once(':') {
            Some(("prop", property)) => return Some(property_test(property)),
            Some((name, value)) => return named(name, value),
            None => {}
        }
        let (name, side, value) = compared(lower)?;
        let count = || value.parse().map_err(|_| FilterErrorKind::NoCount);
        let span = || age::parse(value).map_err(why);
        let test = match name {
            "map" => count().map(|count| Condition::Rows(side, count)),
            "props" => count().map(|count| Condition::Keys(side, count)),
            "read" => span().map(|span| Condition::Read(side, span)),
            "due" => span().map(|within| Condition::Due {
                side,
                within,
                limit,
            }),
            _ => return None,
        };
        Some(test)
    }
}

/// Parses a test with a name, a colon and a value.
fn named(name: &str, value: &str) -> Option<Result<Condition, FilterErrorKind>> {
    let text = value.to_owned();
    let test = match (name, value) {
        ("tag", "") => Err(FilterErrorKind::NoTag),
        ("tag", "?") => Ok(Condition::TagUnknown),
        ("tag", _) => Ok(Condition::Tag(text)),
        ("map", "" | "=") => Err(FilterErrorKind::NoMapping),
        ("map", row) => Ok(match row.split_once('=') {
            Some((schema, source)) if !schema.is_empty() && !source.is_empty() => {
                Condition::MapRow(schema.to_owned(), source.to_owned())
            }
            Some(("", one) | (one, _)) => Condition::Map(one.to_owned()),
            None => Condition::Map(text),
        }),
        ("state", "open") => Ok(Condition::Rotation(None)),
        ("state", state) => match State::parse(state).filter(|state| state.is_open()) {
            Some(state) => Ok(Condition::Rotation(Some(state))),
            None => Err(FilterErrorKind::NoState),
        },
        ("label", "") => Ok(Condition::Label(None)),
        ("label", label) => Label::parse(label)
            .map(|label| Condition::Label(Some(label.as_str().to_owned())))
            .map_err(|_| FilterErrorKind::NoLabel),
        ("note", "") => Ok(Condition::Note(None)),
        ("note", note) => Ok(Condition::Note(Some(Word {
            text: letters(note),
            quoted: true,
        }))),
        ("flag", "changed") => Ok(Condition::Flag(Flag::Changed)),
        ("flag", "new") => Ok(Condition::Flag(Flag::New)),
        ("flag", _) => Err(FilterErrorKind::NoFlag),
        ("by", "") => Err(FilterErrorKind::NoOperator),
        ("by", _) => Ok(Condition::By(text)),
        _ => return None,
    };
    Some(test)
}

/// Parses the text after `prop:`.
fn property_test(property: &str) -> Result<Condition, FilterErrorKind> {
    match (property.split_once('='), compared(property)) {
        // A value may contain any sign; only the first one is the comparison.
        (_, Some((key, side, number))) if side != Side::Equal && !key.contains('=') => {
            if key.is_empty() {
                return Err(FilterErrorKind::NoProperty);
            }
            let number = Number::parse(number).ok_or(FilterErrorKind::NoNumber)?;
            Ok(Condition::PropertyNumber(key.to_owned(), side, number))
        }
        (None, _) if !property.is_empty() => Ok(Condition::Property(property.to_owned(), None)),
        (Some((key, "")), _) if !key.is_empty() => Ok(Condition::Property(key.to_owned(), None)),
        (Some((key, value)), _) if !key.is_empty() => {
            Ok(Condition::Property(key.to_owned(), Some(value.to_owned())))
        }
        _ => Err(FilterErrorKind::NoProperty),
    }
}

/// Splits into the text before a comparison sign, the sign, and the text after it.
fn compared(text: &str) -> Option<(&str, Side, &str)> {
    let at = text.find(['<', '>', '='])?;
    let (name, rest) = text.split_at(at);
    let signs = [
        ("<=", Side::AtMost),
        (">=", Side::AtLeast),
        ("<", Side::Less),
        (">", Side::More),
        ("=", Side::Equal),
    ];
    let mut signs = signs.into_iter();
    signs.find_map(|(sign, side)| Some((name, side, rest.strip_prefix(sign)?)))
}

/// Whether the text is a name of letters, a colon, and a value. Half of the ids that look like this are not mistakes.
fn looks_like_a_test(text: &str) -> bool {
    text.split_once(':').is_some_and(|(name, value)| {
        !name.is_empty() && !value.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic())
    })
}

/// The test that a word begins with, except for one mistake.
fn meant(word: &str) -> Option<&'static str> {
    let (name, _) = word.split_once([':', '<', '>'])?;
    let is_near = |test: &str| strsim::damerau_levenshtein(name, test) == 1;
    let tests = if word[name.len()..].starts_with(':') {
        &NAMED[..]
    } else {
        &COMPARED
    };
    let mut tests = tests.iter().copied();
    tests.find(|test| name.len() >= LEAST_TYPED && is_near(&test[..test.len() - 1]))
}

fn why(invalid: InvalidAge) -> FilterErrorKind {
    match invalid {
        InvalidAge::Unreadable => FilterErrorKind::NoAge,
        InvalidAge::Zero => FilterErrorKind::NoAgeAtAll,
        InvalidAge::TooLong => FilterErrorKind::LongAge,
    }
}
