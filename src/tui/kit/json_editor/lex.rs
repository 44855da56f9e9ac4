//! Splits JSON into coloured tokens. Never fails: anything that is not JSON becomes a token as well, and the parser
//! reports it.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A string followed by a colon.
    Key,
    Text,
    /// A number, `true`, `false`, `null`, or an invalid word.
    Value,
    /// One of `{}[]:,`.
    Sign,
}

/// A range of the text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The tokens in order, without the white space between them. A string ends at the end of its line at the latest.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let (kind, length) = match first {
            '"' => {
                let length = string_length(rest);
                let is_key = rest[length..].trim_start().starts_with(':');
                (if is_key { Kind::Key } else { Kind::Text }, length)
            }
            '{' | '}' | '[' | ']' | ':' | ',' => (Kind::Sign, 1),
            _ => (Kind::Value, rest.find(ends_value).unwrap_or(rest.len())),
        };
        let from = at;
        at += length;
        Some(Token { kind, from, to: at })
    })
}

fn ends_value(c: char) -> bool {
    c.is_whitespace() || matches!(c, '{' | '}' | '[' | ']' | ':' | ',' | '"')
}

/// Length of the string that the text begins with, in bytes, including its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_texts_values_and_signs_are_told_apart() {
        let text = r#"{ "a\"" : "b:", "c": [-1.5, true]} "open"#;
        let kinds: Vec<_> = tokens(text)
            .filter(|token| token.kind != Kind::Sign)
            .map(|token| (token.kind, &text[token.from..token.to]))
            .collect();
        assert_eq!(
            kinds,
            [
                (Kind::Key, r#""a\"""#),
                (Kind::Text, "\"b:\""),
                (Kind::Key, "\"c\""),
                (Kind::Value, "-1.5"),
                (Kind::Value, "true"),
                (Kind::Text, "\"open"),
            ]
        );
    }

    proptest! {
        #[test]
        fn pieces_are_in_order_and_between_characters(text in "[\\PC\n\"\\\\:{}é東 ]{0,40}") {
            let mut end = 0;
            for token in tokens(&text) {
                prop_assert!(end <= token.from && token.from < token.to);
                prop_assert!(text.is_char_boundary(token.to));
                end = token.to;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
    }
}
