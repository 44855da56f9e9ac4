//! What the exclusions of a filter exclude, with all known groups at hand. One that excludes nothing leaves everything
//! selected: a word, a typing mistake and signs of a word processor are refused. A test whose value no group has today is
//! only told, so that the standing exclusions of scheduled jobs go on working.

use std::collections::BTreeSet;

use super::{
    Entry, SearchRequest,
    conditions::QueryMatcher,
    normalize::{is_same, lowered},
    query::{Condition, Number, Query},
    row::RowMaker,
};
use crate::domain::{
    annotation::Label,
    dash::is_quote,
    known::KnownGroup,
    text::{is_hidden, skeleton, visible},
};

/// Longer values are not compared.
const LONGEST_NEAR: usize = 64;

/// What is to be said of exclusions that exclude no known group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExclusionRemarks {
    /// Mistakes: nothing may be sent or marked by this filter.
    pub refused: Vec<String>,
    /// What may be meant so.
    pub told: Vec<String>,
}

/// The exclusions that have not excluded a group so far.
pub struct Exclusions<'q> {
    request: &'q SearchRequest,
    left: Vec<Exclusion<'q>>,
    maker: RowMaker,
    /// There are groups at all.
    has_groups: bool,
}

struct Exclusion<'q> {
    typed: &'q str,
    query: &'q Query,
    matcher: QueryMatcher<'q>,
    near: Near,
}

/// What groups have that is spelt nearly alike, as tests.
#[derive(Default)]
struct Near {
    /// The same key with another value, or a value alone.
    values: BTreeSet<String>,
    /// Other keys. They are not meant if a group has the very key.
    keys: BTreeSet<String>,
    has_key: bool,
}

impl Near {
    fn first(&self) -> Option<&String> {
        let key = || self.keys.first().filter(|_| !self.has_key);
        self.values.first().or_else(key)
    }
}

impl<'q> Exclusions<'q> {
    pub fn of(request: &'q SearchRequest) -> Self {
        let Query {
            without, excluded, ..
        } = &request.query;
        let left = excluded.iter().zip(without);
        let left = left.map(|(typed, query)| Exclusion {
            typed,
            query,
            matcher: QueryMatcher::of(query),
            near: Near::default(),
        });
        Self {
            request,
            left: left.collect(),
            maker: RowMaker::default(),
            has_groups: false,
        }
    }

    /// Takes a group into account. Returns whether another one can change anything.
    pub fn see(&mut self, group: &KnownGroup) -> bool {
        let row = self.maker.row(group);
        self.see_row(&row)
    }

    pub(super) fn see_row(&mut self, entry: Entry<'_>) -> bool {
        self.has_groups = true;
        let request = self.request;
        self.left
            .retain_mut(|one| one.matcher.fit(entry, request).is_none());
        for one in &mut self.left {
            if let [test] = &one.query.tests[..] {
                add_near(test, entry, &mut one.near);
            }
        }
        !self.left.is_empty()
    }

    /// Adds what was seen of other groups with the same request.
    pub(super) fn join(&mut self, other: Self) {
        self.has_groups |= other.has_groups;
        let mut others = other.left;
        self.left.retain_mut(|one| {
            let same = others
                .iter()
                .position(|other| std::ptr::eq(other.query, one.query));
            let Some(same) = same else {
                return false;
            };
            let near = others.swap_remove(same).near;
            one.near.values.extend(near.values);
            one.near.keys.extend(near.keys);
            one.near.has_key |= near.has_key;
            true
        });
    }

    pub fn remarks(self) -> ExclusionRemarks {
        let mut remarks = ExclusionRemarks::default();
        let request = self.request;
        for one in self.left.iter().filter(|_| self.has_groups) {
            let typed = visible(one.typed);
            match one.mistake(request) {
                None => remarks
                    .told
                    .push(format!("-{typed}: excludes no known group")),
                Some(Mistake::Unknown) => remarks
                    .refused
                    .push(format!("-{typed}: no known group matches this word")),
                Some(Mistake::Meant(meant)) => remarks
                    .refused
                    .push(format!("-{typed}: did you mean -{}?", visible(&meant))),
            }
        }
        remarks
    }
}

/// Why an exclusion is not what was meant.
enum Mistake {
    /// No group has this word.
    Unknown,
    /// What is probably meant.
    Meant(String),
}

impl Exclusion<'_> {
    /// `None` if it may be meant so.
    fn mistake(&self, request: &SearchRequest) -> Option<Mistake> {
        let plain = in_plain_signs(self.typed);
        let plain = (plain != self.typed && !plain.is_empty()).then_some(plain);
        let Query { words, tests, .. } = self.query;
        let is_one = tests.len() + words.len() == 1 && !self.typed.starts_with('@');
        if !is_one {
            return None;
        }
        let labels = || {
            let annotations = request.extras.annotations.values();
            annotations.flat_map(|annotation| &annotation.labels)
        };
        let Some(test) = tests.first() else {
            let word = lowered(plain.as_deref().unwrap_or(self.typed));
            let label = || {
                let is_label = labels().any(|label| label.as_str() == word);
                is_label.then(|| format!("label:{word}"))
            };
            let test = || test_of(&word).map(str::to_owned);
            let meant = label().or_else(test).or(plain);
            return Some(meant.map_or(Mistake::Unknown, Mistake::Meant));
        };
        let label = match test {
            Condition::Label(Some(typed)) => {
                let mut labels = labels().map(Label::as_str);
                labels.find(|label| is_near(label, typed))
            }
            _ => None,
        };
        // The rest of a comparison of numbers.
        let rest = match test {
            Condition::PropertyNumber(..) => {
                let at = self.typed.find(['<', '>', '=']);
                at.and_then(|at| self.typed.get(at..)).unwrap_or_default()
            }
            _ => "",
        };
        let near = label.map(|label| format!("label:{label}"));
        let near = near.or_else(|| Some(format!("{}{rest}", self.near.first()?)));
        plain.or(near).map(Mistake::Meant)
    }
}

/// Adds what a group has that is spelt nearly like what a test asks for.
fn add_near(test: &Condition, entry: Entry<'_>, near: &mut Near) {
    match test {
        Condition::Tag(typed) => {
            let tag = entry.tag().filter(|tag| is_near(tag, typed));
            near.values.extend(tag.map(|tag| format!("tag:{tag}")));
        }
        Condition::By(typed) => {
            let by = entry.operators().filter(|by| is_near(by, typed));
            near.values.extend(by.map(|by| format!("by:{by}")));
        }
        Condition::Map(typed) => {
            let ids = entry
                .mapping()
                .flat_map(|(schema, source)| [schema, source]);
            let ids = ids.filter(|id| is_near(id, typed));
            near.values.extend(ids.map(|id| format!("map:{id}")));
        }
        Condition::MapRow(schema, source) => {
            for row in entry.mapping() {
                add_near_pair("map", row, (schema, source), near);
            }
        }
        Condition::Property(typed, None) | Condition::PropertyNumber(typed, ..) => {
            for key in entry.property_keys() {
                if is_same(key, typed) {
                    near.has_key = true;
                } else if is_near(key, typed) {
                    near.keys.insert(format!("prop:{key}"));
                }
            }
        }
        Condition::Property(typed, Some(value)) => {
            for property in entry.properties() {
                add_near_pair("prop", property, (typed, value), near);
            }
        }
        _ => {}
    }
}

fn add_near_pair(
    test: &str,
    (key, value): (&str, &str),
    (typed, asked): (&str, &str),
    near: &mut Near,
) {
    if is_same(key, typed) {
        near.has_key = true;
        if is_near(value, asked) {
            near.values.insert(format!("{test}:{key}={value}"));
        }
    } else if is_near(key, typed) {
        near.keys.insert(format!("{test}:{key}={asked}"));
    }
}

/// Whether a text is probably what was meant by another one in lower case. Texts that differ only in a number are often
/// both meant: `eu-1` and `eu-2`, `21` and `213`.
fn is_near(known: &str, typed: &str) -> bool {
    let number = Number::parse(known);
    if number.is_some() && number == Number::parse(typed) {
        return !is_same(known, typed);
    }
    if known.len().max(typed.len()) > LONGEST_NEAR || is_same(known, typed) {
        return false;
    }
    let known = lowered(known);
    let (one, other) = (known.chars().count(), typed.chars().count());
    if one.abs_diff(other) > 2 || one.min(other) < 2 {
        return false;
    }
    let names = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let name = names(&known);
    if name == names(typed) {
        let plain = |text: &str| text.trim_start_matches('0').to_owned();
        return name.is_empty() && plain(&known) == plain(typed);
    }
    let sorted = |text: &str| {
        let mut letters: Vec<_> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let mistakes = strsim::damerau_levenshtein(&known, typed);
    let is_swapped = mistakes == 1 && sorted(&known) == sorted(typed);
    let begins_alike = known.chars().next() == typed.chars().next();
    let is_long = one.min(other) >= 8;
    // `region-eu` and `region-us` are two.
    let end = |text: &str| text.rsplit(['-', '_', '.']).next().map(str::to_owned);
    let ends_alike = end(&known) == end(typed);
    one.min(other) >= 3
        && (is_swapped
            || mistakes == 1 && (begins_alike || one.min(other) > 4)
            || mistakes == 2 && is_long && ends_alike
            || skeleton(&known) == skeleton(typed))
}

/// The test that is meant by the word of a column or of the console.
fn test_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "favourite" | "favorite" | "favourites" | "favorites" | "favs" => "fav",
        "note" | "notes" => "note:",
        "label" | "labels" | "labelled" => "label:",
        "due" => "due<14d",
        "overdue" | "expired" => "old",
        "open" | "state" => "state:open",
        "read" | "seen" => "read>7d",
        "age" | "rotated" => "age>90d",
        "drafts" => "draft",
        "production" | "prod" | "customer" | "tag" | "tags" => "tag:customer",
        "testing" => "tag:testing",
        "by" => "by:li",
        "changed" => "flag:changed",
        "new" => "flag:new",
        "map" | "mapping" => "map:40",
        "prop" | "property" | "properties" => "prop:tier",
        _ => return None,
    })
}

/// The first digits of scripts in which numbers are typed.
const ZEROS: [u32; 8] = [
    0x0660, 0x06F0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0E50, 0xFF10,
];

/// A text as the keyboard of a terminal writes it: without the quotes, digits, dashes and invisible signs of word
/// processors and other scripts.
fn in_plain_signs(text: &str) -> String {
    let plain = |c: char| {
        let code = u32::from(c);
        let zero = ZEROS
            .iter()
            .find(|zero| (**zero..**zero + 10).contains(&code));
        match (code, zero) {
            _ if is_hidden(c) || is_quote(c) && !c.is_ascii() => None,
            (_, Some(zero)) => char::from_digit(code - zero, 10),
            (0x2010..=0x2015 | 0x2212 | 0xFE58 | 0xFE63, _) => Some('-'),
            (0xFF01..=0xFF5E, _) => char::from_u32(code - 0xFEE0),
            _ => Some(c),
        }
    };
    let text: String = text.chars().filter_map(plain).collect();
    let value = text.rfind([':', '<', '>', '=']).map_or(0, |at| at + 1);
    let (test, value) = text.split_at(value);
    let inner = ['\'', '`'].into_iter().find_map(|quote| {
        let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.is_empty()).then_some(inner)
    });
    match inner {
        Some(inner) => format!("{test}{inner}"),
        None => text,
    }
}
