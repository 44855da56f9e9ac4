//! Lists of ids: one per line, as people and other programs write them. A line is taken as it stands if there is such a
//! group; else without what only a list has: blanks and quotes around it.

use super::text;

/// A line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'t> {
    /// Counted from 1.
    pub number: usize,
    /// As it stands.
    pub raw: &'t str,
    /// Without blanks, quotes and invisible marks around it.
    pub plain: &'t str,
}

impl<'t> Line<'t> {
    /// What would be the ids if separators divided them.
    pub fn parts(&self) -> impl Iterator<Item = &'t str> {
        let parts = self.plain.split([',', ';', '\t', ' ']).map(plain);
        parts.filter(|part| !part.is_empty())
    }

    /// Whether it is a comment, if there is no such group.
    pub fn is_comment(&self) -> bool {
        self.raw.starts_with("# ") || self.raw.starts_with("#\t") || self.raw == "#"
    }
}

/// The lines of a list that are not empty.
pub fn lines(list: &str) -> impl Iterator<Item = Line<'_>> {
    text::lines(list).enumerate().filter_map(|(at, raw)| {
        let plain = plain(raw);
        let number = at + 1;
        (!plain.is_empty()).then_some(Line { number, raw, plain })
    })
}

fn plain(raw: &str) -> &str {
    let bare = text::trimmed(raw);
    let quoted = bare
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match quoted {
        Some(inside) if !inside.is_empty() && !inside.contains('"') => inside,
        _ => bare,
    }
}
