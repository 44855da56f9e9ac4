//! The service's own words, whatever the shape of its error bodies, made fit for display: visible, short, and free of
//! secrets. Nothing else of a body may get into an error text.

use serde_json::{Map, Value};

use crate::{
    api::{
        masking::{Mask, SeenTokens},
        secret_text::MASK,
    },
    domain::text,
};

/// Maximum length of a text quoted from the service, in characters.
pub const LONGEST_QUOTE: usize = 300;
/// Maximum length of an error code quoted from the service, in characters.
const MAX_CODE: usize = 60;
/// Maximum number of errors quoted.
const MAX_ERRORS: usize = 5;

/// Removes secrets from texts: the given ones, and those that were sent or received.
#[derive(Clone, Default)]
pub struct Scrub<'a> {
    named: Vec<&'a str>,
    /// Hundreds of them: they are only gone through where there is a text to be shown.
    seen: Option<&'a SeenTokens>,
}

impl<'a> Scrub<'a> {
    pub fn of(secrets: &[&'a str]) -> Self {
        let (named, seen) = (secrets.to_vec(), None);
        Self { named, seen }
    }

    pub fn add(&mut self, secret: &'a str) {
        self.named.push(secret);
    }

    /// And all of these.
    pub(in crate::api) fn with_seen(mut self, seen: &'a SeenTokens) -> Self {
        self.seen = Some(seen);
        self
    }

    fn secrets(&self) -> impl Iterator<Item = &str> {
        let seen = self.seen.into_iter().flat_map(SeenTokens::tokens);
        self.named.iter().copied().chain(seen)
    }

    /// The text as it may be shown: without secrets, hidden characters escaped, at most [`LONGEST_QUOTE`] characters.
    pub fn clean(&self, quoted: &str) -> String {
        self.cut(quoted, LONGEST_QUOTE)
    }

    fn cut(&self, quoted: &str, most: usize) -> String {
        // Remove secrets first: cutting could leave half of one, and escaping could disguise it.
        let secrets = self.secrets().map(|text| (text, MASK.to_owned()));
        let safe = Mask::of(secrets, None).mask_text(quoted.trim());
        let shown = text::visible(&safe);
        if shown.chars().count() <= most {
            return shown.into_owned();
        }
        let mut short: String = shown.chars().take(most - 1).collect();
        short.push('…');
        short
    }
}

/// What a body says about a failure. Both texts are clean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorMessage {
    pub code: Option<String>,
    pub words: Option<String>,
}

impl ErrorMessage {
    /// Searches the known shapes of error bodies (undocumented, docs/design/service.md "Unknown"); the first match
    /// counts.
    pub fn of(body: &Value, scrub: &Scrub<'_>) -> Self {
        let (code, words) = match body {
            Value::Object(map) => (code(map), words(map)),
            Value::String(text) => (None, Some(text.clone())),
            _ => (None, None),
        };
        let filled = |text: &String| !text.trim().is_empty();
        Self {
            code: code.filter(filled).map(|code| scrub.cut(&code, MAX_CODE)),
            words: words.filter(filled).map(|words| scrub.clean(&words)),
        }
    }
}

fn code(map: &Map<String, Value>) -> Option<String> {
    let of = |map: &Map<String, Value>| map.get("code").and_then(scalar);
    let error = map.get("error").and_then(Value::as_object);
    let first = map.get("errors").and_then(|errors| errors.get(0));
    error
        .and_then(of)
        .or_else(|| of(map))
        .or_else(|| first.and_then(Value::as_object).and_then(of))
}

fn words(map: &Map<String, Value>) -> Option<String> {
    map.get("error")
        .and_then(|error| match error {
            Value::String(error) => Some(match sentence(map) {
                Some(more) => format!("{error}: {more}"),
                None => error.clone(),
            }),
            other => error_text(other),
        })
        .or_else(|| sentence(map))
        .or_else(|| map.get("errors").and_then(error_text))
        .or_else(|| fields(map))
}

/// `message`, `error_description`, or `detail` with its `title`.
fn sentence(map: &Map<String, Value>) -> Option<String> {
    let text = |key: &str| map.get(key).and_then(scalar);
    let title = text("title");
    text("message")
        .or_else(|| text("error_description"))
        .or_else(|| {
            let detail = map.get("detail").and_then(error_text);
            match (&title, detail) {
                (Some(title), Some(detail)) => Some(format!("{title}: {detail}")),
                (_, detail) => detail,
            }
        })
        .or(title)
}

/// A text, a list of errors, an error object, or an object of fields with their errors.
fn error_text(value: &Value) -> Option<String> {
    let one = |error: &Value| match error {
        Value::Object(map) => sentence(map).or_else(|| fields(map)),
        other => scalar(other),
    };
    match value {
        Value::Array(errors) => joined(errors.iter().filter_map(one)),
        value => one(value),
    }
}

/// `{field: ["text", …]}`, as many web frameworks answer.
fn fields(map: &Map<String, Value>) -> Option<String> {
    joined(map.iter().filter_map(|(field, errors)| {
        let texts = joined(errors.as_array()?.iter().filter_map(|error| match error {
            Value::Object(map) => sentence(map),
            other => scalar(other),
        }))?;
        Some(format!("{field}: {texts}"))
    }))
}

fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    let texts: Vec<String> = texts.take(MAX_ERRORS).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{api::secret_text::ENCODED_SECRET, domain::testing::table};
    use serde_json::json;

    fn message_in(body: &Value) -> (Option<String>, Option<String>) {
        let ErrorMessage { code, words } = ErrorMessage::of(body, &Scrub::of(&["canary-key"]));
        (code, words)
    }

    #[test]
    fn an_answer_that_is_quoted_shows_no_token() {
        for quoted in [
            r#"{"user_group":{"token":"canary"}}"#,
            r#"upstream said {"current_token": "canary", "a": 1}"#,
            "body was token=canary4711canary4711&x=1",
        ] {
            for body in [
                json!(quoted),
                json!({"error": quoted}),
                json!({"message": quoted}),
            ] {
                let error_text = message_in(&body).1.expect("words");
                assert!(!error_text.contains("canary"), "{error_text}");
            }
        }
        let prose = "current_token: this field is required";
        let found = message_in(&json!({"error": prose})).1;
        assert_eq!(found.as_deref(), Some(prose));
    }

    /// The body, its code, and its words.
    #[test]
    fn every_known_shape_gives_its_words() {
        for [body, code, words] in table(
            r#"
            {"error": {"code": "not_found", "message": "no such group"}} | not_found | no such group
            {"error": {"code": 17, "detail": "no"}}               | 17 | no
            {"error": "Invalid token."}                           |    | Invalid token.
            {"error": "Bad Request", "message": "name is long"}   |    | Bad Request: name is long
            {"message": "Forbidden"}                              |    | Forbidden
            {"detail": "Not found."}                              |    | Not found.
            {"errors": ["one", {"message": "two"}]}               |    | one; two
            {"errors": {"name": ["too long", "odd"], "mapping": ["empty"]}} | | name: too long; odd; mapping: empty
            {"title": "Gone", "detail": "retired"}                |    | Gone: retired
            {"name": ["This field is required."]}                 |    | name: This field is required.
            "plain"                                               |    | plain
            {} | |
            null | |
            [1, 2] | |
            {"error": null} | |
            {"error": {}} | |
            "#,
        ) {
            let some = |text: String| (!text.is_empty()).then_some(text);
            let json = serde_json::from_str(&body).expect("JSON");
            assert_eq!(message_in(&json), (some(code), some(words)), "{body}");
        }
    }

    #[test]
    fn secrets_hidden_characters_and_length_are_dealt_with() {
        let clean = |text: &str| Scrub::of(&["canary-key"]).clean(text);
        let hex = "0123456789abcdefABCDEF0123456789";
        let long = format!(
            "key CANARY-key, token {hex}ff, \u{202e}end {}",
            "x".repeat(400)
        );
        let shown = clean(&long);
        let start = "key ****, token ****, \\u{202e}end xxx";
        assert!(shown.starts_with(start), "{shown}");
        assert_eq!(shown.chars().count(), LONGEST_QUOTE);
        for disguised in "c%61nary%2Dkey canar\\u0079-key &#x63;anary-key &#99;anary-key".split(' ')
        {
            let shown = clean(&format!("no {disguised} here"));
            assert!(shown.contains("in disguise"), "{shown}");
        }
        let encoded = Scrub::of(&["a\"canary"]).clean(r#"no a\"canary"#);
        assert_eq!(encoded, ENCODED_SECRET);
        for harmless in ["100%25 of it", "id 0123456789abcdef é"] {
            assert_eq!(clean(harmless), harmless);
        }
        let straddling = format!("{}canary-key", "x".repeat(LONGEST_QUOTE - 5));
        assert!(!clean(&straddling).contains("can"));
    }
}
