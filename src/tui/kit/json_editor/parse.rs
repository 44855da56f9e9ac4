//! Parses text into properties. A problem is described by its position and never quotes the text (trap 9 of
//! docs/design/dependencies.md).
//!
//! Splits JSON into coloured tokens. Never fails: anything that is not JSON becomes a token as well, and the parser
//! reports it.
//!
//! The positions of the entries of a JSON object in its text, so that one can be changed without touching the others.

use std::{collections::HashMap, ops::Range};

use serde_json::{Value, error::Category};

use crate::{
    domain::Properties,
    intake::{json_key::RESERVED, signs},
};

/// Why a text is not valid, and where. Line and column count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {text}")]
pub struct JsonProblem {
    pub line: usize,
    pub column: usize,
    pub text: String,
}

/// Parses properties. Duplicate keys in an object are rejected: it is not defined which of them counts.
pub fn parse(text: &str) -> Result<Properties, JsonProblem> {
    parse_object(text, "properties are an object: { ... }")
}

/// Parses a JSON object by the same rules; `no_object` is the message for any other value.
pub fn parse_object(text: &str, no_object: &'static str) -> Result<Properties, JsonProblem> {
    if text.trim().is_empty() {
        return Err(problem(1, 1, "empty; {} means no properties"));
    }
    let value = parse_value(text)?;
    if let Value::Object(properties) = value {
        return Ok(properties);
    }
    let start = &text[..text.len() - text.trim_start().len()];
    let line = start.matches('\n').count();
    let column = start.chars().rev().take_while(|c| *c != '\n').count();
    Err(problem(line + 1, column + 1, no_object))
}

/// Parses any JSON value by the same rules.
pub(crate) fn parse_value(text: &str) -> Result<Value, JsonProblem> {
    let value = serde_json::from_str(text).map_err(|error| syntax(text, &error))?;
    check_keys(text)?;
    Ok(value)
}

fn problem(line: usize, column: usize, text: impl Into<String>) -> JsonProblem {
    JsonProblem {
        line,
        column,
        text: text.into(),
    }
}

fn syntax(text: &str, error: &serde_json::Error) -> JsonProblem {
    let what = match error.classify() {
        Category::Eof => "unclosed bracket or quote".to_owned(),
        // Messages of this category are fixed; they name what was expected, never what was found.
        Category::Syntax => {
            let whole = error.to_string();
            let what = whole.split(" at line ").next().unwrap_or_default();
            what.to_owned()
        }
        Category::Data | Category::Io => "not valid JSON".to_owned(),
    };
    let (line, column) = signs::position(text, error.line(), error.column());
    problem(line, column, what)
}

/// Finds duplicate keys in an object. The text must be valid JSON.
fn check_keys(text: &str) -> Result<(), JsonProblem> {
    let mut open: Vec<HashMap<String, usize>> = Vec::new();
    let (mut line, mut line_start, mut seen) = (1, 0, 0);
    for token in tokens(text) {
        for (at, _) in text[seen..token.from].match_indices('\n') {
            line += 1;
            line_start = seen + at + 1;
        }
        seen = token.from;
        let content = &text[token.from..token.to];
        match (token.kind, content) {
            (Kind::Sign, "{" | "[") => open.push(HashMap::new()),
            (Kind::Sign, "}" | "]") => drop(open.pop()),
            (Kind::Key, _) => {
                let key: String = serde_json::from_str(content).unwrap_or_default();
                // Computed only when needed: the whole text can be one line.
                let column = || text[line_start..token.from].chars().count() + 1;
                if key.starts_with(RESERVED) {
                    return Err(problem(
                        line,
                        column(),
                        "this key cannot be sent; use another name",
                    ));
                }
                let first = open.last_mut().and_then(|keys| keys.insert(key, line));
                if let Some(first) = first {
                    let what = format!("this key is in line {first} already");
                    return Err(problem(line, column(), what));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

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

    fn wrong(text: &str) -> String {
        parse(text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn problems_have_a_place_in_characters() {
        for (text, words) in [
            (
                "{\n  \"a\": \"b\"\n  \"x\": 1}",
                "line 3, column 3: expected `,` or `}`",
            ),
            ("{\"é\": 東}", "line 1, column 7: expected value"),
            (
                "{\"a\": \"b\n}",
                "line 1, column 9: control character (\\u0000-\\u001F) found",
            ),
            ("{\"a\": 1,}", "line 1, column 9: trailing comma"),
            ("{\n\"a\": {", "line 2, column 6: unclosed bracket or quote"),
            (
                "\n  [1]",
                "line 2, column 3: properties are an object: { ... }",
            ),
            (" \n", "line 1, column 1: empty; {} means no properties"),
            // Equal keys at any depth, however they are spelt.
            (
                "{\"a\": 1,\n \"b\": 2, \"\\u0061\": 3}",
                "line 2, column 10: this key is in line 1 already",
            ),
            (
                "{\"l\": [{\"x\": {}},\n{\"x\": 1, \"x\": 2}]}",
                "line 2, column 10: this key is in line 2",
            ),
            (&"{\"a\":".repeat(100_000), "recursion limit"),
        ] {
            let found = wrong(text);
            assert!(found.contains(words), "{found}");
        }
        assert!(parse(r#"{"a": {"a": [{"a": 1}, {"a": 1}]}, "b": "a:"}"#).is_ok());
        let text = r#"{"z":12345678901234567890123,"a":1.10,"m":1e400}"#;
        let kept = Value::Object(parse(text).expect("properties")).to_string();
        assert_eq!(
            kept,
            text.replace("1e400", "1e+400"),
            "numbers and order survive"
        );
    }

    #[test]
    fn nothing_of_the_text_is_quoted() {
        for text in [
            "{\"t\": canary}",
            "{canary: 1}",
            "\"canary\"",
            "{\"canary\": 1, \"canary\": 2}",
            "{\"$serde_json::private::Number\": \"canary\"}",
        ] {
            assert!(!wrong(text).contains("canary"), "{text}");
        }
    }
}

#[cfg(test)]
mod lex_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_texts_values_and_signs_are_told_apart() {
        let text = r#"{ "a\"" : "b:", "c": [-1.5, true]} "open"#;
        let kinds = tokens(text).filter(|token| token.kind != Kind::Sign);
        let kinds = kinds.map(|token| (token.kind, &text[token.from..token.to]));
        let expected = [
            (Kind::Key, r#""a\"""#),
            (Kind::Text, "\"b:\""),
            (Kind::Key, "\"c\""),
            (Kind::Value, "-1.5"),
            (Kind::Value, "true"),
            (Kind::Text, "\"open"),
        ];
        assert!(kinds.eq(expected));
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

#[cfg(test)]
mod entries_tests {
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
