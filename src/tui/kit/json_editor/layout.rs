//! Formats JSON: over several lines, or on one. Only the white space between tokens changes, so that big numbers,
//! escapes and the order of keys stay as they were written.

use super::lex::{Kind, tokens};

/// One entry per line, two spaces per level; empty objects and arrays stay on one line. The text must be valid JSON.
pub(super) fn pretty(text: &str) -> String {
    let mut laid = String::with_capacity(text.len() + text.len() / 4);
    let mut depth = 0_usize;
    // Whether nothing has followed the opening bracket yet.
    let mut is_opened = false;
    let break_line = |laid: &mut String, depth: usize| {
        laid.push('\n');
        laid.extend(std::iter::repeat_n("  ", depth));
    };
    for token in tokens(text) {
        let content = &text[token.from..token.to];
        let closes = token.kind == Kind::Sign && matches!(content, "}" | "]");
        if closes {
            depth = depth.saturating_sub(1);
        }
        if is_opened != closes {
            break_line(&mut laid, depth);
        }
        laid.push_str(content);
        is_opened = false;
        match (token.kind, content) {
            (Kind::Sign, "{" | "[") => {
                depth += 1;
                is_opened = true;
            }
            (Kind::Sign, ",") => break_line(&mut laid, depth),
            (Kind::Sign, ":") => laid.push(' '),
            _ => {}
        }
    }
    laid
}

/// Everything on one line, as a person would write it.
pub(crate) fn one_line(text: &str) -> String {
    let mut laid = String::with_capacity(text.len());
    for token in tokens(text) {
        laid.push_str(&text[token.from..token.to]);
        if token.kind == Kind::Sign && matches!(&text[token.from..token.to], "," | ":") {
            laid.push(' ');
        }
    }
    laid
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn nothing_but_white_space_changes() {
        let text =
            r#"{"z":12345678901234567890.10,"a":{"x":[1e400,-0.0,[]],"y":{ }},"s":"\u00e9\/ : {"}"#;
        let laid = pretty(text);
        let expected = r#"{
  "z": 12345678901234567890.10,
  "a": {
    "x": [
      1e400,
      -0.0,
      []
    ],
    "y": {}
  },
  "s": "\u00e9\/ : {"
}"#;
        assert_eq!(laid, expected);
        assert_eq!(
            one_line(&laid),
            r#"{"z": 12345678901234567890.10, "a": {"x": [1e400, -0.0, []], "y": {}}, "s": "\u00e9\/ : {"}"#
        );
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[\\PC\n\"\\\\]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c\"{:]{0,2}", inner), 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_looks_as_the_library_would_print_it(value in json()) {
            let wanted = serde_json::to_string_pretty(&value).expect("JSON");
            prop_assert_eq!(pretty(&value.to_string()), wanted.clone());
            prop_assert_eq!(pretty(&wanted), wanted.clone());
            prop_assert_eq!(pretty(&one_line(&wanted)), wanted);
        }
    }
}
