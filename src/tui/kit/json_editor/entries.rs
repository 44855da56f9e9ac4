//! The positions of the entries of a JSON object in its text, so that one can be changed without touching the others.

use std::ops::Range;

use super::lex::{Kind, tokens};

/// The ranges of key and value in the text, in bytes, including quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// The outermost object of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) entries: Vec<Entry>,
    /// The range between its braces.
    pub(crate) inner: Range<usize>,
}

/// Finds the entries of a text that is known to be valid JSON; `None` if it is not an object.
pub(crate) fn object(text: &str) -> Option<Object> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut depth = 0_usize;
    let mut start = None;
    for token in tokens(text) {
        let content = &text[token.from..token.to];
        match (token.kind, content) {
            (Kind::Sign, "{" | "[") => {
                if depth == 0 {
                    start = (content == "{").then_some(token.to);
                    start?;
                }
                depth += 1;
            }
            (Kind::Sign, "}" | "]") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            let inner = start?..token.from;
            return Some(Object { entries, inner });
        }
        match (token.kind, entries.last_mut()) {
            (Kind::Key, _) if depth == 1 => entries.push(Entry {
                key: token.from..token.to,
                value: token.to..token.to,
            }),
            (Kind::Sign, _) if depth == 1 && matches!(content, ":" | "," | "{") => {}
            (_, Some(entry)) => {
                if entry.value.is_empty() {
                    entry.value.start = token.from;
                }
                entry.value.end = token.to;
            }
            (_, None) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(&str, &str)> {
        let object = object(text).expect("an object");
        let entries = object.entries.into_iter();
        entries
            .map(|entry| (&text[entry.key], &text[entry.value]))
            .collect()
    }

    #[test]
    fn entries_are_found_with_their_exact_text() {
        let text =
            "{ \"a\":1.10 ,\n\"b\" : [ {\"a\": 1}, [] ],\"c\":\"x:{\",\"d\":{}, \"e\":null}\n";
        let wanted = [
            ("\"a\"", "1.10"),
            ("\"b\"", "[ {\"a\": 1}, [] ]"),
            ("\"c\"", "\"x:{\""),
            ("\"d\"", "{}"),
            ("\"e\"", "null"),
        ];
        assert_eq!(parts(text), wanted);
        assert_eq!(parts(" {} "), []);
        assert_eq!(object(" { } ").map(|object| object.inner), Some(2..3));
        for text in ["", "[1]", "1", "{", "}"] {
            assert_eq!(object(text), None, "{text}");
        }
    }
}
