//! Names signs that are easily overlooked or taken for others: with code point, and what to write instead.

/// Signs that word processors and web pages put in the place of others.
#[rustfmt::skip] // A table: one sign per line.
const MISTAKEN: [(char, &str, &str); 21] = [
    ('“', "a curly quote", "\""), ('”', "a curly quote", "\""), ('„', "a low quote", "\""), ('‟', "a curly quote", "\""),
    ('«', "an angle quote", "\""), ('»', "an angle quote", "\""), ('＂', "a wide quote", "\""),
    ('‘', "a curly quote", "'"), ('’', "a curly quote", "'"), ('‚', "a low quote", "'"), ('´', "an accent", "'"),
    ('–', "an en dash", "-"), ('—', "an em dash", "-"), ('−', "a minus sign", "-"), ('‐', "another hyphen", "-"), ('‑', "another hyphen", "-"),
    ('，', "a wide comma", ","), ('；', "a wide semicolon", ";"), ('：', "a wide colon", ":"), ('＝', "a wide equals sign", "="),
    ('…', "an ellipsis", "..."),
];

/// Names a sign that does not belong where it is, such as `“ (U+201C) is a curly quote: use "`; `None` for others.
pub fn named(sign: char) -> Option<String> {
    let code = u32::from(sign);
    if let Some((_, is, instead)) = MISTAKEN.iter().find(|(known, ..)| *known == sign) {
        return Some(format!("{sign} (U+{code:04X}) is {is}: use {instead}"));
    }
    let is = match sign {
        '\u{feff}' => "a byte order mark",
        '\u{a0}' | '\u{202f}' | '\u{2007}' => "a no-break space",
        '\u{200b}' => "a zero-width space",
        '\u{200c}' | '\u{200d}' | '\u{2060}' => "an invisible joiner",
        '\u{ad}' => "an invisible hyphen",
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            "an invisible mark of direction"
        }
        '\0' => "a NUL character",
        sign if sign.is_control() && !"\t\r\n".contains(sign) => "a control character",
        sign if sign.is_whitespace() && !sign.is_ascii() => "an unusual space",
        _ => return None,
    };
    Some(format!("U+{code:04X} is {is}: remove it"))
}

/// The first of these signs in a text, with its column, counted from 1.
pub fn first(text: &str) -> Option<(usize, String)> {
    let mut signs = text.chars().enumerate();
    signs.find_map(|(at, sign)| Some((at + 1, named(sign)?)))
}

/// Where a parser of JSON stopped, as a person counts: line and column from 1, in characters. It counts bytes, and a
/// line break as column 0 of the next line.
pub fn position(text: &str, line: usize, column: usize) -> (usize, usize) {
    let content = |line: usize| text.split('\n').nth(line - 1).unwrap_or_default();
    match (line.max(1), column) {
        (1, 0) => (1, 1),
        (line, 0) => (line - 1, content(line - 1).chars().count() + 1),
        (line, bytes) => {
            let before = content(line).char_indices();
            (
                line,
                before.take_while(|(at, _)| at + 1 < bytes).count() + 1,
            )
        }
    }
}

/// The first of these signs on a line, at or near where a parser stopped: at this column of bytes, counted from 1, or
/// one before it.
pub fn at(text: &str, line: usize, column: usize) -> Option<String> {
    let line = super::text::lines(text).nth(line.checked_sub(1)?)?;
    let near = line.char_indices().filter(|(at, sign)| {
        let end = at + sign.len_utf8();
        *at <= column && end + 1 >= column
    });
    let mut near = near.map(|(_, sign)| sign);
    near.find_map(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_characters_and_has_no_column_0() {
        for (text, at) in [
            ("{\"a\": 1,\n}", (2, 1)),
            ("{\"a\": 1,\n\n}", (3, 1)),
            ("[1,\n", (1, 4)),
            ("[1,\n\n", (2, 1)),
            ("[\"é\" x]", (1, 6)),
            ("", (1, 1)),
            ("[1\n2]", (2, 1)),
            ("\n\n,", (3, 1)),
        ] {
            let wrong = serde_json::from_str::<serde_json::Value>(text).expect_err(text);
            assert_eq!(position(text, wrong.line(), wrong.column()), at, "{text:?}");
        }
    }
}
