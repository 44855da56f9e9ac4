//! Finds the lines of a profile in the text of the configuration file. Whatever this makes of a strange file, the caller
//! reads the result by the usual rules before it is written.

use crate::config::new_profile::{key, quoted};

/// A line of the file.
pub(super) struct Line<'t> {
    pub(super) text: &'t str,
    /// It is the header of the profile's table, or of a table inside it.
    pub(super) is_header: bool,
    /// It is such a header or follows one.
    pub(super) is_inside: bool,
    /// It names the default profile.
    pub(super) is_default: bool,
}

/// The lines of a text, as they stand to this profile.
pub(super) fn of<'t>(text: &'t str, name: &str) -> impl Iterator<Item = Line<'t>> {
    let (mut is_at_top, mut is_inside) = (true, false);
    text.split_inclusive('\n').map(move |text| {
        let plain = text.trim();
        let is_header = plain.starts_with('[') && is_table_of(plain, name);
        if plain.starts_with('[') {
            (is_at_top, is_inside) = (false, is_header);
        }
        let key = plain.split('=').next().unwrap_or_default().trim();
        Line {
            text,
            is_header,
            is_inside,
            is_default: is_at_top && key == "default_profile",
        }
    })
}

/// Splits the text into the part without the profile's tables, and the part that was removed. Comments above the next
/// table belong to that table.
pub(super) fn without(text: &str, name: &str, is_default: bool) -> (String, String) {
    let (mut kept, mut gone) = (String::new(), String::new());
    let mut waiting = String::new();
    let mut was_inside = false;
    for line in of(text, name) {
        let plain = line.text.trim();
        if line.is_inside && (plain.is_empty() || plain.starts_with('#')) {
            waiting.push_str(line.text);
            continue;
        }
        // Comments and blank lines in between belong to the table that follows.
        let is_between = was_inside && line.is_inside;
        let place = if is_between { &mut gone } else { &mut kept };
        place.push_str(&std::mem::take(&mut waiting));
        let goes = line.is_inside || line.is_default && is_default;
        let place = if goes { &mut gone } else { &mut kept };
        place.push_str(line.text);
        was_inside = line.is_inside;
    }
    kept.push_str(&waiting);
    (kept, gone)
}

/// Whether a line is the header of the profile's table or of a table inside it.
fn is_table_of(line: &str, name: &str) -> bool {
    let inner = line.trim_start_matches('[').trim_start();
    let rest = inner.strip_prefix("profiles").map(str::trim_start);
    let Some(rest) = rest.and_then(|rest| rest.strip_prefix('.')) else {
        return false;
    };
    ways(name).iter().any(|way| {
        let after = rest.trim_start().strip_prefix(way.as_str());
        after.is_some_and(|after| after.trim_start().starts_with([']', '.']))
    })
}

/// How a person may have written the name: as a key, or quoted.
pub(super) fn ways(name: &str) -> [String; 3] {
    [key(name), quoted(name), format!("'{name}'")]
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
