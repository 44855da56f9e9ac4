//! The tables of the file. A table is declared once, by `table!`: each key with its kind of value, its default and its
//! meaning. From that come the struct, which serde fills, the checks with the place of each problem, and
//! docs/reference/configuration.md. Values are never quoted.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, de::DeserializeOwned};
use toml::{
    Spanned, Table, Value,
    de::{DeTable, DeValue, ValueDeserializer},
};

use super::{
    error::{Problem, meant},
    key_source::KEY_SOURCES,
    kind::{Declared, DefaultValue, Inside, Setting},
    name::nearest,
    scrub::{looks_like_a_key, shown},
};
use crate::domain::age;

/// Declares a table: `field: type, kind, default, "meaning";`, or `field = "key": …`. Fields after `and` are not in the file.
macro_rules! table {
    (
        $(#[$about:meta])*
        $seen:vis struct $name:ident of $table:literal {
            $($(#[$of_one:meta])* $field:ident $(= $key:literal)?: $type:ty, $kind:expr, $usual:expr, $meaning:literal;)+
        }
        $(and { $($(#[$of_other:meta])* $other:ident: $other_type:ty,)+ })?
    ) => {
        $(#[$about])*
        #[derive(serde::Deserialize)]
        $seen struct $name {
            $($(#[$of_one])* $(#[serde(rename = $key)])? $seen $field: $type,)+
            $($($(#[$of_other])* #[serde(skip)] $seen $other: $other_type,)+)?
        }

        impl $crate::config::kind::Declared for $name {
            const SETTINGS: &'static [$crate::config::kind::Setting] = &[$(
                $crate::config::kind::setting($table, [$($key,)? stringify!($field)][0], $kind, $usual, $meaning),
            )+];
        }
    };
}
pub(super) use table;

/// A longer list of problems helps nobody.
const MAX_PROBLEMS: usize = 20;

/// A position in the file. Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    /// In characters.
    pub column: usize,
}

/// All problems found so far, with byte offsets that are converted to lines at the end.
pub(super) struct Problems<'t> {
    text: &'t str,
    found: Vec<(usize, String)>,
}

impl<'t> Problems<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            found: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, at: usize, what: impl Into<String>) {
        self.found.push((at, what.into()));
    }

    /// The line and column of a byte offset.
    pub(super) fn position(&self, at: usize) -> Position {
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The problems in file order.
    pub(super) fn into_list(mut self) -> Vec<Problem> {
        self.found.sort();
        self.found.truncate(MAX_PROBLEMS);
        let found = std::mem::take(&mut self.found).into_iter();
        let told = found.map(|(at, what)| {
            let Position { line, column } = self.position(at);
            Problem { line, column, what }
        });
        told.collect()
    }
}

/// A key and its value, with their places.
pub(super) struct Entry<'d> {
    pub(super) key: &'d str,
    pub(super) key_at: usize,
    pub(super) value: &'d Spanned<DeValue<'d>>,
}

impl Entry<'_> {
    pub(super) fn value_at(&self) -> usize {
        self.value.span().start
    }
}

/// In file order.
pub(super) fn entries<'d>(table: &'d DeTable<'d>) -> Vec<Entry<'d>> {
    let entries = table.iter().map(|(key, value)| Entry {
        key: key.get_ref(),
        key_at: key.span().start,
        value,
    });
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|entry| entry.key_at);
    entries
}

/// The table that a value must be; `None` and the problem if it is none.
pub(super) fn table_of<'d>(
    entry: &Entry<'d>,
    otherwise: &str,
    problems: &mut Problems,
) -> Option<&'d DeTable<'d>> {
    let DeValue::Table(table) = entry.value.get_ref() else {
        problems.add(entry.value_at(), otherwise);
        return None;
    };
    Some(table)
}

/// The entries of a table that has no fixed keys, or nothing and the problem.
pub(super) fn entries_of<'d>(
    entry: &Entry<'d>,
    otherwise: &str,
    problems: &mut Problems,
) -> Vec<Entry<'d>> {
    let table = table_of(entry, otherwise, problems);
    table.map(entries).unwrap_or_default()
}

/// A value without its places.
pub(super) fn plain(value: &Spanned<DeValue>) -> Value {
    // A number beyond 64 bits is none that a setting accepts.
    Value::deserialize(ValueDeserializer::from(value.clone())).unwrap_or(Value::Integer(-1))
}

/// What is right in a table, with the defaults of everything else; and where its values stand.
pub(super) struct Checked {
    values: Table,
    places: HashMap<&'static str, usize>,
}

impl Checked {
    /// Where the value of a key stands, if it is given and right.
    pub(super) fn place(&self, key: &str) -> Option<usize> {
        self.places.get(key).copied()
    }

    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Gives a value to a key that has none.
    pub(super) fn otherwise(&mut self, key: &str, value: impl Into<Value>) {
        self.values.entry(key).or_insert_with(|| value.into());
    }

    /// `None` if something required is missing or wrong, which [`check`] has told.
    pub(super) fn read<T: DeserializeOwned>(
        &self,
        at: usize,
        problems: &mut Problems,
    ) -> Option<T> {
        let read = Value::Table(self.values.clone()).try_into();
        if read.is_err() && problems.is_empty() {
            problems.add(at, "cannot be read; compare it with the example");
        }
        read.ok()
    }
}

/// What else is known in a table.
#[derive(Clone, Copy, Default)]
pub(super) struct Others {
    /// Keys that are read elsewhere.
    pub(super) tables: &'static [&'static str],
    /// What belongs in a profile.
    pub(super) of_a_profile: &'static [Setting],
}

/// Checks a table: which keys it has, and the value of each. `name` is for what is missing.
pub(super) fn check(
    settings: &'static [Setting],
    (name, at): (&str, usize),
    table: &DeTable,
    others: Others,
    problems: &mut Problems,
) -> Checked {
    let (mut values, mut places) = (Table::new(), HashMap::new());
    let mut seen = Vec::new();
    for entry in entries(table) {
        let (key, at) = (entry.key, entry.value_at());
        if others.tables.contains(&key) {
            continue;
        }
        let is_meant = |setting: &&Setting| {
            setting.key == key || (setting.key, key) == ("environment", "environment_tag")
        };
        let Some(setting) = settings.iter().find(is_meant) else {
            problems.add(entry.key_at, unknown(&entry, settings, others));
            continue;
        };
        let key = setting.key;
        if seen.contains(&key) {
            problems.add(entry.key_at, format!("{key} is set twice; keep one"));
            continue;
        }
        seen.push(key);
        let so_far = problems.found.len();
        let value = nested(setting, entry.value, problems);
        if problems.found.len() == so_far {
            places.insert(key, at);
            values.insert(key.to_owned(), value);
        }
    }
    for setting in settings {
        let key = setting.key;
        match setting.usual {
            DefaultValue::Required if !seen.contains(&key) => {
                let example = setting.kind.example;
                problems.add(
                    at,
                    format!("{name} has no {key}; add for example {key} = {example}"),
                );
            }
            _ if !values.contains_key(key) => values.extend(default_of(setting)),
            _ => {}
        }
    }
    Checked { values, places }
}

/// A table of this value alone; an empty one if no value in the file can express it.
fn default_of(setting: &Setting) -> Table {
    match setting.usual {
        DefaultValue::Value(usual) => {
            let text = format!("{} = {usual}", setting.key);
            text.parse().unwrap_or_default()
        }
        DefaultValue::Required | DefaultValue::Words(_) => Table::new(),
    }
}

/// What a table with these values alone becomes.
pub(super) fn with_defaults<T: Declared + DeserializeOwned, const N: usize>(
    given: [(&str, Value); N],
) -> T {
    let mut values: Table = T::SETTINGS.iter().flat_map(default_of).collect();
    values.extend(given.map(|(key, value)| (key.to_owned(), value)));
    let read = Value::Table(values).try_into();
    read.expect("each default is of its kind")
}

/// The value of a setting, with everything inside it checked.
fn nested(setting: &Setting, value: &Spanned<DeValue>, problems: &mut Problems) -> Value {
    let Setting { key, kind, .. } = setting;
    let (at, example) = (value.span().start, kind.example);
    match (kind.inside, value.get_ref()) {
        (Inside::Table(settings), DeValue::Table(table)) => {
            Value::Table(check(settings(), (key, at), table, Others::default(), problems).values)
        }
        (Inside::Table(_), value) => {
            let kind = value.type_str();
            problems.add(
                at,
                format!("{key} must be a table, but is of type {kind}; write {example}"),
            );
            Value::Boolean(false)
        }
        (Inside::List(settings), DeValue::Array(items)) => {
            let mut rules = Vec::new();
            for item in items {
                let at = item.span().start;
                let DeValue::Table(table) = item.get_ref() else {
                    problems.add(at, format!("a {key} is a table: {example}"));
                    continue;
                };
                let so_far = problems.found.len();
                let name = format!("the {key}");
                let checked = check(settings(), (&name, at), table, Others::default(), problems);
                let rule = Value::Table(checked.values);
                if problems.found.len() == so_far
                    && let Err(what) = (kind.check)(kind, &rule)
                {
                    problems.add(at, what);
                }
                rules.push(rule);
            }
            Value::Array(rules)
        }
        (Inside::List(_), _) => {
            problems.add(at, format!("{key} must be a list of rules: [{example}]"));
            Value::Boolean(false)
        }
        (Inside::Nothing, _) => {
            let value = plain(value);
            if let Err(what) = (kind.check)(kind, &value) {
                // Keys of a table that has one line in a profile are told with its name.
                let of = match setting.table.rsplit('.').next() {
                    Some(of @ ("directory" | "handoff")) => format!("{of}."),
                    _ => String::new(),
                };
                problems.add(at, about(&format!("{of}{key}"), &what));
            }
            value
        }
    }
}

/// What is wrong with a setting; a text that begins with a dot is about a key inside it.
pub(super) fn about(key: &str, what: &str) -> String {
    let gap = if what.starts_with('.') { "" } else { " " };
    format!("{key}{gap}{what}")
}

fn unknown(entry: &Entry, settings: &[Setting], others: Others) -> String {
    let mut of_a_profile = others.of_a_profile.iter();
    if of_a_profile.any(|setting| setting.key == entry.key) {
        let key = entry.key;
        return format!("\"{key}\" belongs in a profile; put it below a line [profiles.NAME]");
    }
    let known = settings.iter().map(|setting| setting.key);
    let mut known: Vec<_> = known.chain(others.tables.iter().copied()).collect();
    let mut listed = HashSet::new();
    known.retain(|key| listed.insert(*key));
    let near = nearest(entry.key, known.iter().copied());
    let near = near.or_else(|| {
        is_age(entry)
            .then_some(AGE_LIMIT)
            .filter(|key| known.contains(key))
    });
    let is_of_colours = settings.iter().any(|setting| setting.table == "theme");
    if !is_of_colours && is_secret(entry, near) {
        return format!(
            "an API key or token must not be in this file; remove it, then write api_key = with one of {KEY_SOURCES}"
        );
    }
    let choice = match near {
        Some(_) => meant(near),
        None => format!("; known keys: {}", known.join(", ")),
    };
    format!("unknown key \"{}\"{choice}", shown(entry.key))
}

/// The setting whose name has "token" and whose value is an age.
const AGE_LIMIT: &str = "max_token_age";

/// Whether the value is an age such as `90d`, and so no secret.
fn is_age(entry: &Entry) -> bool {
    let text = entry.value.get_ref().as_str();
    text.is_some_and(|text| age::parse(text).is_ok())
}

/// Whether an unknown key has, or seems to have, an API key as its value.
fn is_secret(entry: &Entry, near: Option<&str>) -> bool {
    const WORDS: [&str; 7] = [
        "key",
        "token",
        "secret",
        "password",
        "authorization",
        "bearer",
        "credential",
    ];
    if is_age(entry) {
        return looks_like_a_key(entry.key);
    }
    let text = entry.value.get_ref().as_str();
    let plain = entry.key.to_lowercase();
    let is_named_so = WORDS.iter().any(|word| plain.contains(word)) || near == Some("api_key");
    text.is_some() && is_named_so || looks_like_a_key(entry.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let text = "a\nböse x";
        let problems = Problems::of(text);
        let Position { line, column } = problems.position(text.find('x').expect("it is there"));
        assert_eq!((line, column), (2, 6));
        assert_eq!(problems.position(999).line, 2, "beyond the end");
    }
}
