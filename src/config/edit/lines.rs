//! Finds the lines of a profile in the text of the configuration file. Whatever this makes of a strange file, the caller
//! reads the result by the usual rules before it is written.

use std::ops::Range;

use crate::config::new_profile::key;

/// Splits the text into the part without the profile's tables, and the part that was removed. Comments above the next
/// table belong to that table.
pub(super) fn without(text: &str, name: &str, is_default: bool) -> (String, String) {
    let (mut kept, mut gone) = (String::new(), String::new());
    let mut waiting = String::new();
    let mut inside = false;
    let mut at_top = true;
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        if plain.starts_with('[') {
            at_top = false;
            let is_meant = is_table_of(plain, name);
            // Comments and blank lines in between belong to the table that follows.
            let place = if is_meant && inside {
                &mut gone
            } else {
                &mut kept
            };
            place.push_str(&std::mem::take(&mut waiting));
            inside = is_meant;
        } else if inside && (plain.is_empty() || plain.starts_with('#')) {
            waiting.push_str(line);
            continue;
        } else if inside {
            gone.push_str(&std::mem::take(&mut waiting));
        }
        let is_default_line = at_top && is_default && {
            let key = plain.split('=').next().unwrap_or_default().trim();
            key == "default_profile"
        };
        let place = if inside || is_default_line {
            &mut gone
        } else {
            &mut kept
        };
        place.push_str(line);
    }
    kept.push_str(&waiting);
    (kept, gone)
}

/// Whether a line is the header of the profile's table or of a table inside it.
pub(super) fn is_table_of(line: &str, name: &str) -> bool {
    let inner = line.trim_start_matches('[').trim_start();
    let Some(rest) = inner.strip_prefix("profiles") else {
        return false;
    };
    let Some(rest) = rest.trim_start().strip_prefix('.') else {
        return false;
    };
    let rest = rest.trim_start();
    let ways = [key(name), quoted(name), format!("'{name}'")];
    ways.iter().any(|way| {
        rest.strip_prefix(way.as_str())
            .is_some_and(|after| after.trim_start().starts_with([']', '.']))
    })
}

/// From the first table of a profile to its last line that is not blank or a comment; `None` if other tables are in
/// between.
pub(super) fn range(text: &str, name: &str) -> Option<Range<usize>> {
    let mut found: Option<Range<usize>> = None;
    let (mut at, mut is_inside) = (0, false);
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        if plain.starts_with('[') {
            let was_inside = std::mem::replace(&mut is_inside, is_table_of(plain, name));
            if is_inside && !was_inside && found.is_some() {
                return None;
            }
        }
        let end = at + line.len();
        if is_inside && !plain.is_empty() && !plain.starts_with('#') {
            let start = found.as_ref().map_or(at, |found| found.start);
            found = Some(start..end);
        }
        at = end;
    }
    found
}

/// Replaces the first of `words` that follows the character `behind`; `None` if none of them does.
pub(super) fn in_place(line: &str, words: &[String], to: &str, behind: char) -> Option<String> {
    let (head, rest) = line.split_at(line.find(behind)? + 1);
    let gap = rest.len() - rest.trim_start().len();
    let (gap, rest) = rest.split_at(gap);
    let rest = words
        .iter()
        .find_map(|word| rest.strip_prefix(word.as_str()))?;
    Some(format!("{head}{gap}{to}{rest}"))
}

pub(super) fn quoted(name: &str) -> String {
    toml::Value::from(name).to_string()
}
