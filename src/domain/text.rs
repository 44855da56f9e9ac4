//! Makes hostile text visible. Everything that a service or a person wrote passes through here before it is shown:
//! control, bidi and zero-width characters become escapes. They are never shown raw (they act) and never dropped (that
//! hides them).

use std::{
    borrow::{Borrow, Cow},
    fmt::{self, Write as _},
};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Whether a character would act on the terminal or vanish from it.
pub fn is_hidden(c: char) -> bool {
    c.is_control() || (!c.is_ascii() && is_invisible(u32::from(c)))
}

/// Characters that take no room or steer the ones around them (Unicode `Cf`, separators, fillers, selectors). Every sign of
/// a screen is asked about, also where nothing is inlined.
#[rustfmt::skip] // A table of code points.
fn is_invisible(code: u32) -> bool {
    matches!(
        code,
        0x00AD | 0x034F | 0x0600..=0x0605 | 0x061C | 0x06DD | 0x070F | 0x0890..=0x0891 | 0x08E2 | 0x115F..=0x1160
            | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800
            | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x110BD | 0x110CD | 0x13430..=0x1343F
            | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF
    )
}

/// Whether each of its characters is one sign of one column and shown as it is: the common case, which a text of a megabyte
/// must not pay more for. Letters of Europe, frames and `…` are in it.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || text.chars().all(is_plain_sign)
}

fn is_plain_sign(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '…' | '\u{2500}'..='\u{257f}')
}

/// The text for display, with hidden characters as `\n`, `\t`, `\r`, `\0` or `\u{202e}`.
///
/// Of the combining marks on one character, as many are shown as any script uses, and the others as their number,
/// because all of them would be redrawn with every change next to them. A backslash stays a single backslash, so the
/// result is for reading, not for parsing back.
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let is_long = |text: &str| text.chars().nth(MARKS + 1).is_some();
    let is_heaped = |text: &str| is_long(text) && text.graphemes(true).any(is_long);
    if !text.chars().any(is_hidden) && (text.is_ascii() || !is_heaped(text)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len().min(1 << 16) + 8);
    for sign in text.graphemes(true) {
        let mut raw = 0;
        for c in sign.chars() {
            if is_hidden(c) {
                shown.push_str(&escape(c));
                continue;
            }
            raw += 1;
            if raw <= MARKS + 1 {
                shown.push(c);
            }
        }
        if raw > MARKS + 1 {
            let _ = write!(shown, "\\u{{+{} marks}}", raw - MARKS - 1);
        }
    }
    Cow::Owned(shown)
}

/// The same as a value beside others: in quotes if it is empty or has a blank at an edge, because nobody would see that.
pub fn bounded(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.trim() != text {
        return format!("\"{}\"", visible(text)).into();
    }
    visible(text)
}

/// Number of combining marks per character that are shown.
const MARKS: usize = 8;

fn escape(c: char) -> String {
    match c {
        '\n' => "\\n".into(),
        '\t' => "\\t".into(),
        '\r' => "\\r".into(),
        '\0' => "\\0".into(),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    }
}

/// Something about an id that is easily overlooked (hazard 1 of docs/design/service.md).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// Index of the character, counted from 1.
    pub position: usize,
    /// What to tell the operator, e.g. `U+0430 looks like "a"`.
    pub what: String,
}

/// Reports the invisible characters, unusual spaces and look-alikes of an id, in order.
pub fn oddities(text: &str) -> Vec<Oddity> {
    let last = text.chars().count();
    text.chars()
        .enumerate()
        .filter_map(|(index, c)| {
            let position = index + 1;
            let what = if is_hidden(c) {
                format!("invisible {}", escape(c))
            } else if c == ' ' && (position == 1 || position == last) {
                "space at the edge".to_owned()
            } else if c.is_whitespace() && c != ' ' {
                format!("U+{:04X} is not the usual space", u32::from(c))
            } else {
                let twin = ascii_twin(c)?;
                format!("U+{:04X} \"{c}\" looks like \"{twin}\"", u32::from(c))
            };
            Some(Oddity { position, what })
        })
        .collect()
}

/// Whether a name has what a shell or a template would have replaced: `$ID`, `${ID}`, `acme-$ID`, `$(cat id)`, `%ID%`,
/// `{{ID}}`.
pub fn has_variable(name: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || c == '_';
    let mut behind = name.split('$').skip(1);
    let is_inside = |rest: &str| {
        let mut two = rest.chars().map(|c| is_capital(c) || c.is_ascii_digit());
        let is_name = two.next() == Some(true) && two.next() == Some(true);
        rest.starts_with(['{', '(']) || is_name && rest.starts_with(is_capital)
    };
    let between = |sign| name.strip_prefix(sign)?.strip_suffix(sign);
    let is_word =
        |word: &str| !word.is_empty() && !word.contains(|c: char| !c.is_alphanumeric() && c != '_');
    name.starts_with('$')
        || name.contains("{{")
        || between('`').is_some()
        || between('%').is_some_and(is_word)
        || behind.any(is_inside)
}

/// The ASCII text that a non-ASCII character is easily mistaken for.
fn ascii_twin(c: char) -> Option<String> {
    if c.is_ascii() {
        return None;
    }
    let mut buffer = [0; 4];
    let skeleton: String = unicode_security::skeleton(c.encode_utf8(&mut buffer)).collect();
    (!skeleton.is_empty() && skeleton.is_ascii()).then_some(skeleton)
}

/// A form in which texts that look alike are equal; for comparing ids, never for display.
pub fn skeleton(text: &str) -> String {
    unicode_security::skeleton(text)
        .filter(|c| !is_hidden(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// [`skeleton`] for many texts: Unicode's table is slow, and most ids are ASCII.
#[derive(Debug)]
pub struct Skeletons {
    ascii: Vec<String>,
    buffer: String,
}

impl Default for Skeletons {
    fn default() -> Self {
        let ascii = (0..128_u8).map(|byte| skeleton(char::from(byte).encode_utf8(&mut [0; 4])));
        Self {
            ascii: ascii.collect(),
            buffer: String::new(),
        }
    }
}

impl Skeletons {
    /// The skeleton of this text, valid until the next call.
    pub fn of(&mut self, text: &str) -> &str {
        self.buffer.clear();
        if text.is_ascii() {
            for byte in text.bytes() {
                self.buffer.push_str(&self.ascii[usize::from(byte)]);
            }
        } else {
            self.buffer.push_str(&skeleton(text));
        }
        &self.buffer
    }
}

/// The text with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter();
    first.flat_map(char::to_uppercase).chain(letters).collect()
}

/// `1 row`, `2 rows`.
pub fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// `1 failed, 7 unchanged`: the counts that are not zero.
pub fn listed<W: fmt::Display>(counts: impl IntoIterator<Item = (usize, W)>) -> String {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let texts = counts.map(|(count, word)| format!("{count} {word}"));
    joined(texts, ", ")
}

/// `a, b or c`.
pub fn alternatives(texts: &[&str]) -> String {
    match texts.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The texts, with this between them.
pub fn joined<T: Borrow<str>>(texts: impl IntoIterator<Item = T>, between: &str) -> String {
    texts.into_iter().collect::<Vec<_>>().join(between)
}

/// A cause and its advice (`cause; advice`) with the state between them: `cause; nothing was sent. Advice`.
pub fn with_state(text: &str, state: &str) -> String {
    if text.ends_with('?') {
        return format!("{text} {}", capitalised(state));
    }
    // The last one outside quotes, because IDs, names and paths may contain it.
    let mut is_quoted = false;
    let ends = text.char_indices().filter(|(at, c)| {
        is_quoted ^= *c == '"';
        !is_quoted && text[*at..].starts_with("; ")
    });
    let advised = ends.last().map(|(at, _)| (&text[..at], &text[at + 2..]));
    // A suggestion belongs to its cause.
    let Some((cause, advice)) = advised.filter(|(_, advice)| !advice.starts_with("did you mean"))
    else {
        return format!("{text}; {state}");
    };
    format!("{cause}; {state}. {}", capitalised(advice))
}

/// The cause of a failure without its advice to try again, for what was sent: doing it again could do it twice.
pub fn without_retry(text: &str) -> Cow<'_, str> {
    const RETRY: &str = "try again";
    let Some(at) = text.find(RETRY) else {
        return text.into();
    };
    let mut cause = text[..at].trim_end_matches([' ', ',', ':', ';']);
    for word in [" then", " and", " or"] {
        cause = cause.strip_suffix(word).unwrap_or(cause);
    }
    let cause = cause.trim_end_matches([' ', ',', ':', ';']);
    match text[at + RETRY.len()..].strip_prefix(", and ") {
        Some(rest) => format!("{cause}; {rest}").into(),
        None => cause.into(),
    }
}

/// The person of `ana@bastion2`, without the machine.
pub fn person(by: &str) -> &str {
    by.split('@').next().unwrap_or(by)
}

/// Whether both are the same person, on whichever machine.
pub fn is_same_person(one: &str, other: &str) -> bool {
    person(one) == person(other)
}

/// Number of terminal columns of a text.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Shortens a text in the middle to at most `room` columns; beginning and end stay readable.
pub fn cut_middle(text: &str, room: usize, ellipsis: &str) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mark = width(ellipsis);
    if room <= mark {
        return take_front(text, room);
    }
    let left = (room - mark).div_ceil(2);
    let front = take_front(text, left);
    let back = take_back(text, room - mark - width(&front));
    format!("{front}{ellipsis}{back}")
}

/// As much of the beginning as fits into `room` columns.
pub fn take_front(text: &str, room: usize) -> String {
    if is_plain(text) {
        return text.chars().take(room).collect();
    }
    let mut used = 0;
    text.graphemes(true)
        .take_while(|g| {
            used += width(g);
            used <= room
        })
        .collect()
}

/// As much of the end as fits into `room` columns.
pub fn take_back(text: &str, room: usize) -> String {
    let mut used = 0;
    let kept: Vec<&str> = text
        .graphemes(true)
        .rev()
        .take_while(|g| {
            used += width(g);
            used <= room
        })
        .collect();
    kept.into_iter().rev().collect()
}

/// Wraps a text into lines of at most `room` columns, at spaces if possible.
///
/// Our own implementation, because wrapping in ratatui 0.30.2 panics on some Unicode (trap 1 of
/// docs/design/dependencies.md).
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(1);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let words = paragraph.trim_start_matches(' ');
        // The indentation of a line is kept, as long as it leaves room for words.
        let indent = (paragraph.len() - words.len()).min(room / 2);
        let mut line = " ".repeat(indent);
        let mut is_begun = false;
        for word in words.split(' ') {
            let gap = usize::from(is_begun);
            if width(&line) + gap + width(word) <= room {
                if is_begun {
                    line.push(' ');
                }
                line.push_str(word);
                is_begun = true;
                continue;
            }
            if is_begun {
                lines.push(std::mem::take(&mut line));
            }
            is_begun = true;
            let mut rest = word;
            while width(rest) > room {
                let piece = take_front(rest, room);
                // A grapheme wider than the room is left out, because it would never end.
                if piece.is_empty() {
                    rest = "";
                    break;
                }
                rest = &rest[piece.len()..];
                lines.push(piece);
            }
            line.push_str(rest);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::testing::table;

    #[test]
    fn a_value_that_nobody_would_see_is_in_quotes() {
        let shown = ["Acme", "", "  ", " Acme", "Acme\u{a0}", "a b", "\t"].map(bounded);
        let wanted = [
            "Acme",
            "\"\"",
            "\"  \"",
            "\" Acme\"",
            "\"Acme\u{a0}\"",
            "a b",
            "\"\\t\"",
        ];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn what_was_sent_is_not_advised_to_be_tried_again() {
        for [text, said] in table(
            "
            gone. Check the network, then try again | gone. Check the network
            is full; free some space and try again | is full; free some space
            was busy (40001): try again; nothing was recorded | was busy (40001)
            was shut down: try again when it is back | was shut down
            is newer: run `x`, or try again in 5 min | is newer: run `x`
            failed: try again, and ask its administrator | failed; ask its administrator
            is a link; use the file itself | is a link; use the file itself
            ",
        ) {
            assert_eq!(without_retry(&text), said);
        }
    }

    #[test]
    fn the_state_stands_between_cause_and_advice() {
        for [text, said] in table(
            r#"
            empty                     | empty; nothing was sent
            too long; use it          | too long; nothing was sent. Use it
            no "x"; did you mean y?   | no "x"; did you mean y? Nothing was sent
            is for "a; b"             | is for "a; b"; nothing was sent
            for "a; b"; use it        | for "a; b"; nothing was sent. Use it
            "#,
        ) {
            assert_eq!(with_state(&text, "nothing was sent"), said);
        }
    }

    proptest! {
        #[test]
        fn an_ascii_text_looks_as_the_table_of_unicode_says(texts in proptest::collection::vec("[ -~]{0,12}", 2)) {
            let mut looks = Skeletons::default();
            for text in texts {
                prop_assert_eq!(looks.of(&text), skeleton(&text));
            }
        }
    }

    /// Whatever is beside it, but what is not plain.
    #[test]
    fn a_plain_sign_is_one_sign_of_one_column_and_not_hidden() {
        let plain: Vec<char> = (char::MIN..=char::MAX)
            .filter(|c| is_plain_sign(*c))
            .collect();
        assert!(plain.len() > 800);
        for c in plain {
            assert!(!is_hidden(c), "{c:?}");
            for beside in [c, 'a', 'é', '│', '…'] {
                let text = format!("{beside}{c}");
                assert_eq!(text.graphemes(true).count(), 2, "{text:?}");
                assert_eq!(width(&text), 2, "{text:?}");
            }
        }
    }

    #[test]
    fn hidden_characters_become_escapes_and_nothing_is_dropped() {
        let marks = |count: usize| format!("e{}x", "\u{301}".repeat(count));
        let counted = |rest: usize| format!("e{}\\u{{+{rest} marks}}x", "\u{301}".repeat(8));
        for (text, shown) in [
            ("adm\u{1b}in".into(), "adm\\u{1b}in".into()),
            (
                "a\u{202e}b\u{200b}c\n".into(),
                "a\\u{202e}b\\u{200b}c\\n".into(),
            ),
            // Of a heap of marks eight are shown and the rest counted.
            (marks(8), marks(8)),
            (marks(9), counted(1)),
            (marks(100_000), counted(99_992)),
        ] {
            assert_eq!(visible(&text), shown);
        }
        assert!(matches!(visible("Größe 東京"), Cow::Borrowed(_)));
        let codes = (0..0x20).chain(0x7f..0xa0).chain(0x202a..=0x202e);
        for code in codes.chain(0x2066..=0x2069) {
            let c = char::from_u32(code).expect("a scalar value");
            assert!(visible(&c.to_string()).starts_with('\\'), "U+{code:04X}");
        }
    }

    #[test]
    fn look_alikes_are_named_by_position() {
        let found = oddities("\u{0430}cme-eu ");
        assert_eq!(found[0].position, 1);
        assert!(found[0].what.contains("looks like \"a\""), "{found:?}");
        assert_eq!(found[1].what, "space at the edge");
        assert!(oddities("acme-eu").is_empty());
        assert_eq!(skeleton("\u{0430}cme"), skeleton("acme"));
    }

    #[test]
    fn cutting_in_the_middle_keeps_both_ends_and_counts_columns() {
        assert_eq!(cut_middle("globex-retail", 9, "…"), "glob…tail");
        assert_eq!(cut_middle("short", 9, "…"), "short");
        assert!(width(&cut_middle("東京都庁舎前", 7, "…")) <= 7);
        assert_eq!(cut_middle("abc", 0, "…"), "");
    }

    #[test]
    fn wrapping_keeps_the_indentation_and_runs_of_spaces_and_never_exceeds_the_room() {
        for (text, room, lines) in [
            ("  \"a\": 1,", 20, "  \"a\": 1,"),
            ("  a b", 4, "  a|b"),
            ("a  b", 9, "a  b"),
            ("abcdef", 3, "abc|def"),
            ("", 3, ""),
        ] {
            assert_eq!(wrap(text, room).join("|"), lines);
        }
        for room in 1..12 {
            for line in wrap("a group named 東京 and averyveryverylongword\nnext", room) {
                assert!(width(&line) <= room.max(2), "{line:?} in {room}");
            }
        }
    }
}
