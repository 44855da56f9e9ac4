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
        let parts = self.plain.split([',', ';', '\t', ' ']).map(bare);
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

/// Without quotes of any kind around it; empty if it is the sign of an entry: `-`, `*`, `>`, `1.`.
fn bare(part: &str) -> &str {
    let is_quote = |c: char| "\"'`“”„‟‘’‚«»".contains(c);
    let inner = plain(part).trim_matches(is_quote);
    let is_number =
        |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_sign = matches!(inner, "-" | "*" | "+" | ">" | "•" | "–")
        || inner.strip_suffix(['.', ')']).is_some_and(is_number);
    if is_sign { "" } else { inner }
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
