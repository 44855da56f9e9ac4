//! Parses text into properties. A problem is described by its position and never quotes the text (trap 9 of
//! docs/design/dependencies.md).

use std::collections::HashMap;

use serde_json::{Value, error::Category};

use super::lex::{Kind, tokens};
use crate::{
    domain::group::Properties,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        parse(text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn problems_have_a_place_in_characters() {
        assert_eq!(
            wrong("{\n  \"tier\": \"gold\"\n  \"x\": 1}"),
            "line 3, column 3: expected `,` or `}`"
        );
        assert_eq!(wrong("{\"é\": 東}"), "line 1, column 7: expected value");
        assert_eq!(
            wrong("{\"a\": \"b\n}"),
            "line 1, column 9: control character (\\u0000-\\u001F) found while parsing a string"
        );
        assert_eq!(wrong("{\"a\": 1,}"), "line 1, column 9: trailing comma");
        assert_eq!(
            wrong("{\n\"a\": {"),
            "line 2, column 6: unclosed bracket or quote"
        );
        assert_eq!(
            wrong("\n  [1]"),
            "line 2, column 3: properties are an object: { ... }"
        );
        assert_eq!(
            wrong(" \n"),
            "line 1, column 1: empty; {} means no properties"
        );
    }

    #[test]
    fn equal_keys_are_refused_at_any_depth_however_they_are_spelt() {
        assert_eq!(
            wrong("{\"a\": 1,\n \"b\": 2, \"\\u0061\": 3}"),
            "line 2, column 10: this key is in line 1 already"
        );
        assert_eq!(
            wrong("{\"l\": [{\"x\": {}},\n{\"x\": 1, \"x\": 2}]}"),
            "line 2, column 10: this key is in line 2 already"
        );
        assert!(parse(r#"{"a": {"a": [{"a": 1}, {"a": 1}]}, "b": "a:"}"#).is_ok());
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

    #[test]
    fn numbers_and_order_survive() {
        let text = r#"{"z":12345678901234567890123,"a":1.10,"m":1e400}"#;
        let properties = parse(text).expect("properties");
        assert_eq!(
            Value::Object(properties).to_string(),
            text.replace("1e400", "1e+400")
        );
    }

    #[test]
    fn depth_is_bounded() {
        assert!(wrong(&"{\"a\":".repeat(100_000)).contains("recursion limit"));
    }
}
