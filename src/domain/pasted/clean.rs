//! Removes what interrupts a text without being part of it: colours, tags, invisible signs.

use unicode_width::UnicodeWidthChar;
use zeroize::Zeroizing;

use super::decode::{BREAK, ESC};
use crate::domain::text::is_hidden;

/// Stands where something was removed: a token may end there, or go on.
pub(super) const CUT: char = '\u{1}';
/// In characters: longer ones are no tag and no sequence.
const LONGEST_TAG: usize = 512;
const LONGEST_TAG_NAME: usize = 12;
const LONGEST_TITLE: usize = 4096;

/// What is removed besides invisible signs and colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removing {
    /// Nothing: a link or a bracket may have the token.
    Little,
    /// Colours without their escape character.
    Colours,
    /// And tags and links.
    Tags,
}

/// The text with `\n`, [`BREAK`], blanks, visible signs and [`CUT`] only.
pub(super) fn cleaned(text: &str, removing: Removing) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(text.len() + 4));
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let removed = match c {
            ESC => Some(sequence(after, removing)),
            '\u{9b}' => Some(control_sequence(after)),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => Some(title(after, removing)),
            '[' if removing != Removing::Little => bare_colour(after),
            '<' if removing == Removing::Tags => tag(after),
            '"' | '\'' | '`' if removing == Removing::Tags => joint(c, after),
            _ => None,
        };
        if let Some(length) = removed {
            out.push(CUT);
            rest = &after[length..];
            continue;
        }
        rest = after;
        match c {
            '\n' | BREAK => out.push(c),
            '\u{85}' | '\u{2029}' => out.push(BREAK),
            // Bold type of manual pages.
            '\u{8}' => drop(out.pop()),
            c if c.is_whitespace() => out.push(' '),
            // Also signs that strike through or underline.
            c if is_hidden(c) || c == '\u{fffd}' || c.width() == Some(0) => out.push(CUT),
            c => out.push(c),
        }
    }
    out
}

/// The length of what follows an escape character.
fn sequence(after: &str, removing: Removing) -> usize {
    let mut signs = after.chars();
    match signs.next() {
        Some('[') => 1 + control_sequence(&after[1..]),
        Some(']' | 'P' | '_' | '^' | 'X') => 1 + title(&after[1..], removing),
        Some('\\' | '(' | ')') => 1,
        Some(c) if removing == Removing::Tags && c.is_ascii_punctuation() => 1,
        _ => 0,
    }
}

/// A link, a title or another text for the terminal, with its end.
fn title(text: &str, removing: Removing) -> usize {
    let begins = |c: char| matches!(c, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}');
    let ends = |(_, c): &(usize, char)| matches!(*c, '\u{7}' | ESC | '\u{9c}' | '\n') || begins(*c);
    match text.char_indices().take(LONGEST_TITLE).find(ends) {
        Some((end, ESC)) if removing == Removing::Tags => {
            end + 1 + usize::from(text[end + 1..].starts_with('\\'))
        }
        Some((end, sign @ ('\u{7}' | '\u{9c}'))) if removing == Removing::Tags => {
            end + sign.len_utf8()
        }
        _ => 0,
    }
}

/// Parameters and the final letter.
fn control_sequence(text: &str) -> usize {
    let inner = text
        .find(|c: char| !matches!(c, ' '..='?'))
        .unwrap_or(text.len());
    let has_end = text[inner..].starts_with(|c: char| matches!(c, '@'..='~'));
    inner.min(64) + usize::from(has_end && inner <= 64)
}

/// `[36m` of a colour whose escape character was lost.
fn bare_colour(after: &str) -> Option<usize> {
    let end = after.find(|c: char| !matches!(c, '0'..='9' | ';'))?;
    (end <= 12 && after[end..].starts_with(['m', 'K'])).then_some(end + 1)
}

/// What programs join strings with, the longer signs first.
const JOINTS: [&str; 8] = ["||", "..", "++", "<>", "+", ".", "&", ","];

/// What is between two strings that a program joins, `" + "`, and between characters in a list, `', '`.
fn joint(quote: char, after: &str) -> Option<usize> {
    let sign = after.trim_start();
    let rest = JOINTS.iter().find_map(|joint| sign.strip_prefix(joint))?;
    let rest = rest.trim_start().strip_prefix(quote)?;
    let is_character = rest.chars().nth(1) == Some(quote);
    let length = after.len() - rest.len();
    (length <= LONGEST_TAG && (is_character || !sign.starts_with(','))).then_some(length)
}

fn tag(after: &str) -> Option<usize> {
    if let Some(comment) = after.strip_prefix("!--") {
        return comment
            .find("-->")
            .filter(|end| *end <= LONGEST_TAG)
            .map(|end| 3 + end + 3);
    }
    let inner = after.strip_prefix('/').unwrap_or(after);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == ':';
    let name = inner.find(|c| !is_of_name(c))?;
    let is_name = (1..=LONGEST_TAG_NAME).contains(&name)
        && inner.starts_with(|c: char| c.is_ascii_alphabetic())
        && inner[name..].starts_with(|c: char| c.is_whitespace() || c == '/' || c == '>');
    let end = after
        .find(['>', '<'])
        .filter(|end| is_name && *end <= LONGEST_TAG)?;
    after[end..].starts_with('>').then_some(end + 1)
}
