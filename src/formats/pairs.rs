//! Pairs in a text: one on each line, a table of two columns with or without a header, or a JSON object. Line ends, the
//! mark and tables are read as everywhere (`intake::text`, `formats::csv`).

use std::{collections::HashMap, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::{csv, drawn, table};
use crate::intake::{
    json_key::RESERVED,
    pairs::{is_torn, key_behind_word, second_key},
    text,
};

/// Separators between the two ids of a line; the first one in the line counts, and at the same position the one that is
/// first in this list.
const SEPARATORS: [&str; 8] = ["\t", "=>", "=", "->", "→", ": ", ",", ";"];

/// Why a paste cannot be parsed as rows. Never quotes the paste: it may be a secret on its way to another window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPairs {
    #[error("nothing to paste")]
    Nothing,
    #[error("line {0} of the paste is not \"schema ID = data source ID\"; nothing was added")]
    Line(usize),
    #[error(
        "line {0} of the paste looks like column titles, not like IDs; nothing was added: remove the line"
    )]
    Titles(usize),
    #[error(
        "line {0} of the paste has more than one pair; nothing was added: write one on each line, or one value as JSON"
    )]
    Several(usize),
    #[error("the paste begins like JSON, but is not an object of strings; nothing was added")]
    Object,
    #[error("entry {0} of the pasted object is not a string or a number; nothing was added")]
    Entry(usize),
    #[error("pasted pairs {0} and {1} have the same schema ID; nothing was added")]
    Duplicate(usize, usize),
}

impl NoPairs {
    /// Whether the paste is an object: one with an invalid entry is still an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Entry(_))
    }
}

/// Parses pairs of texts; a duplicate schema id is an error.
///
/// # Errors
///
/// The first line or entry that is no pair; nothing of it is quoted.
pub fn read(text: &str) -> Result<Vec<(String, String)>, NoPairs> {
    let text = text::unmarked(text).trim();
    let pairs = if text.is_empty() {
        return Err(NoPairs::Nothing);
    } else if let Some(object) = read_object(text) {
        object?
    } else {
        read_lines(text)?
    };
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, (key, _)) in pairs.iter().enumerate() {
        if let Some(first) = seen.insert(key, index) {
            return Err(NoPairs::Duplicate(first + 1, index + 1));
        }
    }
    Ok(pairs)
}

/// Parses a JSON object, or lines cut out of one.
fn read_object(text: &str) -> Option<Result<Vec<(String, String)>, NoPairs>> {
    let parsed = if text.starts_with(['{', '[']) {
        serde_json::from_str(text).map_err(|_| NoPairs::Object)
    } else {
        Ok(serde_json::from_str(&format!("{{{}}}", text.trim_end_matches(','))).ok()?)
    };
    let entries = match parsed {
        Ok(Entries(entries)) => entries,
        Err(problem) => return Some(Err(problem)),
    };
    let pairs = entries
        .into_iter()
        .enumerate()
        .map(|(index, (key, value))| match value {
            Value::String(value) => Ok((key, value)),
            Value::Number(value) => Ok((key, value.to_string())),
            _ => Err(NoPairs::Entry(index + 1)),
        });
    Some(pairs.collect())
}

fn read_lines(text: &str) -> Result<Vec<(String, String)>, NoPairs> {
    let mut lines = text::lines(text)
        .enumerate()
        .filter(|(at, line)| !is_nothing(*at, line))
        .peekable();
    let is_drawn = lines.peek().is_some_and(|(_, line)| is_between_bars(line));
    let read_line = |line: &str| {
        if is_drawn {
            drawn_line(line)
        } else {
            read_line(line)
        }
    };
    let first = lines.peek().and_then(|(_, line)| read_line(line));
    if first.is_some_and(|(key, value)| is_header(&key, &value)) {
        lines.next();
    }
    let first = lines.peek().map_or(0, |(index, _)| *index);
    let pair = |(index, line): (usize, &str)| {
        let pair = read_line(line).ok_or(NoPairs::Line(index + 1))?;
        // The cells of a row of a table, each a pair.
        if pair.1.contains('\t') && !line.contains('"') {
            return Err(NoPairs::Several(index + 1));
        }
        // Of several pairs the first value is one plain word, no address and no text.
        let value = pair.1.split([',', ';']).next().unwrap_or_default().trim();
        let is_word = key_behind_word(&pair.1).is_some()
            || !value.contains(|c: char| c.is_whitespace() || "/?=".contains(c));
        let is_plain = is_word && !is_drawn && !line.contains(['"', '\t']);
        match second_key(&pair.1, &["=", ": ", "->", "→"]).filter(|_| is_plain) {
            Some(_) => Err(NoPairs::Several(index + 1)),
            None => Ok(pair),
        }
    };
    let pairs: Vec<_> = lines.map(pair).collect::<Result<_, _>>()?;
    if are_titles(&pairs) {
        return Err(NoPairs::Titles(first + 1));
    }
    if pairs.is_empty() {
        return Err(NoPairs::Nothing);
    }
    Ok(pairs)
}

/// Whether a line is one of a drawn table. Without bars around it, it is one only if it is no other pair: a value may have a
/// bar in it.
fn is_between_bars(line: &str) -> bool {
    let has_outer = line.trim().starts_with('|') && line.trim().ends_with('|');
    drawn::cells(line).is_some() && (has_outer || read_line(line).is_none())
}

/// The two cells of a line between vertical bars.
fn drawn_line(line: &str) -> Option<(String, String)> {
    match drawn::cells(line)?[..] {
        [key, value] if !key.is_empty() && !key.starts_with(RESERVED) && !value.is_empty() => {
            Some((key.to_owned(), value.to_owned()))
        }
        _ => None,
    }
}

/// An empty line, a comment, a line of a table without a row, and the separator that a spreadsheet names in the first line.
fn is_nothing(at: usize, line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line.starts_with('#')
        || drawn::is_rule(line)
        || drawn::is_count(line)
        || at == 0 && table::named_separator(line).is_some()
}

/// Whether these are the titles of two columns, as this console, the service and spreadsheets write them.
fn is_header(key: &str, value: &str) -> bool {
    let plain = |title: &str| -> String {
        let letters = title.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    matches!(plain(key).as_str(), "schemaid" | "schema" | "key")
        && matches!(
            plain(value).as_str(),
            "datasourceid" | "datasource" | "sourceid" | "source" | "value"
        )
}

/// Whether the first of several pairs has no digits while the schema ids of all others are numbers: probably titles,
/// but it may be a row, so it is neither accepted nor skipped.
fn are_titles(pairs: &[(String, String)]) -> bool {
    let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    match pairs {
        [(key, value), rest @ ..] if !rest.is_empty() => {
            !has_digit(key) && !has_digit(value) && rest.iter().all(|(key, _)| is_number(key))
        }
        _ => false,
    }
}

fn read_line(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    // A separator within quotes does not count.
    let start = quoted_cell(line).map_or(0, |(_, rest)| line.len() - rest.len());
    let separated = SEPARATORS
        .into_iter()
        .filter_map(|separator| Some((start + line[start..].find(separator)?, separator)))
        .min_by_key(|(at, _)| *at);
    let (key, value) = match separated {
        Some((_, separator @ ("," | ";" | "\t"))) => {
            let cells = csv::cells(line, separator.as_bytes()[0])?;
            let mut cells = cells.into_iter();
            let pair = (cells.next()?, cells.next()?);
            // Spreadsheets write empty cells behind the last column.
            cells.all(|more| more.is_empty()).then_some(pair)?
        }
        Some((at, separator)) => {
            let (key, value) = (line[..at].trim(), line[at + separator.len()..].trim());
            (!is_torn(key, value)).then(|| (unquoted(key), unquoted(value)))?
        }
        None => {
            let (key, value) = line.split_once(char::is_whitespace)?;
            (unquoted(key), unquoted(value))
        }
    };
    let is_pair = !key.is_empty()
        && !key.starts_with(RESERVED)
        && !value.is_empty()
        && (separated.is_some() || !value.contains(char::is_whitespace));
    is_pair.then_some((key, value))
}

/// The quoted text at the beginning of a line, in which two quotes stand for one, and the rest of the line.
fn quoted_cell(line: &str) -> Option<(String, &str)> {
    let mut rest = line.strip_prefix('"')?;
    let mut cell = String::new();
    loop {
        let (before, after) = rest.split_once('"')?;
        cell.push_str(before);
        let Some(more) = after.strip_prefix('"') else {
            return Some((cell, after));
        };
        cell.push('"');
        rest = more;
    }
}

/// Removes the quotes of a table that was saved as text.
fn unquoted(cell: &str) -> String {
    let cell = cell.trim();
    match quoted_cell(cell) {
        Some((cell, "")) => cell,
        Some(_) | None => cell.to_owned(),
    }
}

/// The entries of a JSON object in order; a map would silently keep only the last of two with the same key.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    /// As Markdown and psql draw a table.
    #[test]
    fn rows_between_bars_are_pairs() {
        let pairs = [("40", "213"), ("7", "a b")];
        let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        for text in [
            "| schema | source |\n|---|---|\n| 40 | 213 |\n| 7 | a b |\n",
            " schema_id | source_id \n-----------+-----------\n        40 | 213\n         7 | a b\n(2 rows)\n",
            "+----+-----+\n| 40 | 213 |\n|  7 | a b |\n+----+-----+",
        ] {
            assert_eq!(read(text), Ok(pairs.to_vec()), "{text}");
        }
    }

    #[test]
    fn a_value_may_have_bars_and_signs() {
        for (text, key, value) in [
            ("40 = a | b", "40", "a | b"),
            ("title: Acme | Europe", "title", "Acme | Europe"),
            ("url: https://x/?a=1;b=2", "url", "https://x/?a=1;b=2"),
            (
                "address: Street 5, City: Berlin",
                "address",
                "Street 5, City: Berlin",
            ),
        ] {
            assert_eq!(read(text), Ok(owned(&[(key, value)])), "{text}");
        }
    }

    #[test]
    fn pairs_are_read_in_many_spellings() {
        for text in [
            "40 213\n41 214\n",
            "40=213\r\n41 = 214",
            "40,213\n\n41, 214",
            "40\t213\n41\t214",
            "\u{feff}40,213\n41,214",
            "40 -> 213\n41 -> 214",
            "\"40\",\"213\"\n\"41\",\"214\"",
            "schema_id,data_source_id\n40,213\n41,214\n",
            "\u{feff}Schema ID;Data source ID;\n40;213;\n41;214;\n",
            "sep=;\r# of the wiki\rschema_id;data_source_id\r40;213\r41;214\r",
            "\"40\" ; \"213\"\n41 ; 214",
            "SCHEMA ID\tDATA SOURCE ID\n40\t213\t\t\n41\t214",
            "\"schema\",\"source\"\n\"40\",\"213\"\n\"41\",\"214\",",
            r#"{"40": "213", "41": 214}"#,
            "\"40\": \"213\",\n\"41\": \"214\",",
        ] {
            let wanted = owned(&[("40", "213"), ("41", "214")]);
            assert_eq!(read(text), Ok(wanted), "{text}");
        }
    }

    /// A header is one only in the first line.
    #[test]
    fn cells_in_quotes_keep_what_is_in_them() {
        let wanted = owned(&[("a,b", "say \"x\""), ("c=d", "e,f"), ("key", "value")]);
        let text = "\"a,b\",\"say \"\"x\"\"\"\n\"c=d\" = e,f\nkey\tvalue\n";
        assert_eq!(read(text), Ok(wanted));
    }

    #[test]
    fn arrows_and_colons_part_two_ids_and_are_part_of_none() {
        for text in "52 => 502|52=>502|52: 502|52 : 502|52 -> 502|52 → 502".split('|') {
            assert_eq!(read(text), Ok(owned(&[("52", "502")])), "{text}");
        }
        for text in ["==", "-->", ":=", "<=", "|", ">>"] {
            let text = format!("40 = 213\n52 {text} 502");
            assert_eq!(read(&text), Err(NoPairs::Line(2)), "{text}");
        }
    }

    #[test]
    fn titles_of_columns_that_nobody_knows_are_no_row() {
        for titles in ["Schema,Target", "from\tto", "id;source"] {
            let text = format!("{titles}\n40,213\n134,386");
            assert_eq!(read(&text), Err(NoPairs::Titles(1)), "{text}");
        }
        for rows in [
            "main,acme_core\nother,213",
            "main,acme_core",
            "40,213\nmain,acme",
        ] {
            assert!(read(rows).is_ok(), "{rows}");
        }
    }

    #[test]
    fn what_is_no_pairs_says_where() {
        for (text, why) in [
            ("40 213\nhello\n", NoPairs::Line(2)),
            ("40=213,41=5", NoPairs::Several(1)),
            ("40=213 41=5", NoPairs::Several(1)),
            ("7=50\t8=60", NoPairs::Several(1)),
            ("1\t2\n7: 50\t8: 60", NoPairs::Several(2)),
            ("7=1\n40: 213; 41: 5", NoPairs::Several(2)),
            ("| 40 | 213 | x |", NoPairs::Line(1)),
            ("Acme Europe GmbH", NoPairs::Line(1)),
            ("=213", NoPairs::Line(1)),
            ("$serde_json::private::Number = 5", NoPairs::Line(1)),
            ("40,213,Orders", NoPairs::Line(1)),
            ("schema_id,data_source_id\n40,\n", NoPairs::Line(2)),
            ("schema_id,data_source_id\n", NoPairs::Nothing),
            ("  \n", NoPairs::Nothing),
            (r#"{"a": [1]}"#, NoPairs::Entry(1)),
            (r#"{"a": "1", "b": 2"#, NoPairs::Object),
            (r#"{"a": "1", "a": "2"}"#, NoPairs::Duplicate(1, 2)),
            ("a=1\nb=2\na=3", NoPairs::Duplicate(1, 3)),
            ("url: 5,b=2", NoPairs::Several(1)),
        ] {
            assert_eq!(read(text), Err(why), "{text}");
        }
    }
}
