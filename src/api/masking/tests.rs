//! Tests secrets in every form that an odd or hostile service could give them.

use serde_json::json;

use super::*;

const KEY: &str = "canary-key-77e1";
const OLD: &str = "canary-token-old";
const NEW: &str = "canary-token-new";

fn seen() -> SeenTokens {
    let mut seen = SeenTokens::default();
    seen.note(OLD);
    seen.note(NEW);
    seen
}

fn masked(body: &[u8]) -> Body {
    let mut seen = seen();
    seen.note_secrets_of(body);
    seen.mask(KEY, Some("acme")).mask_body(body)
}

#[track_caller]
fn clean(body: &[u8]) -> String {
    let kept = masked(body);
    assert!(
        !kept.text.to_lowercase().contains("canary"),
        "{}",
        kept.text
    );
    assert!(kept.is_masked, "{}", kept.text);
    kept.text
}

#[test]
fn a_good_answer_keeps_all_but_its_token() {
    let answer = json!({"success": 1, "user_group": {"name": "Acme", "token": NEW, "team_id": 7}});
    let text = clean(answer.to_string().as_bytes());
    assert!(text.contains("\"token\": \"****#2\""), "{text}");
    assert!(
        text.contains("\"name\": \"Acme\"") && text.contains("\"team_id\": 7"),
        "{text}"
    );
    let plain = masked(b"{\"name\":\"Acme\"}");
    assert!(!plain.is_masked && !plain.is_cut && plain.size == 15);
}

#[test]
fn an_encoded_secret_that_ends_with_hex_digits_is_hidden_as_a_whole() {
    let secret = "key~0123456789abcdef0123456789abcdef";
    let seen = SeenTokens::default();
    let body = secret.replacen('k', "%6b", 1);
    let kept = seen.mask(secret, None).mask_body(body.as_bytes());
    assert!(!kept.text.contains("ey~"), "{}", kept.text);
}

#[test]
fn a_secret_is_hidden_wherever_it_stands() {
    for body in [
        json!({"error": format!("no such token {OLD}")}),
        json!({"note": NEW, "list": [OLD, [KEY]]}),
        json!({(OLD): 1, "deep": {"x": {(NEW): {}}}}),
        json!({"message": format!("{{\"token\": \"{OLD}\"}}")}),
        json!({"shout": OLD.to_uppercase()}),
        json!({"token": {"value": "canary-token-unknown", "parts": ["canary-1"]}}),
        json!({"new": {"access_token": "canary-token-unknown"}, "again": "is canary-token-unknown"}),
        json!({"url": "https://x/?q=canary%2Dtoken%2Dold"}),
        json!({"page": "&#99;anary-token-old &#x63;anary-token-new"}),
        json!({"x": "a3".repeat(20) + "canary-key-77e1"}),
        json!({"password": "canary-1", "api_key": "canary-2", "Authorization": ["canary"]}),
    ] {
        clean(body.to_string().as_bytes());
    }
    assert_eq!(clean(format!("\"{OLD}\"").as_bytes()), "\"****#1\"");
}

#[test]
fn what_is_not_json_is_masked_as_well() {
    for body in [
        format!("<html><body>Authorization: Token {KEY}</body>{OLD}"),
        format!("{{\"success\": 1, \"token\": \"{NEW}"),
        "{\"success\": 1, \"token\": \"canary-token-unknown".to_owned(),
        "{\"success\": 1, \"user_token\" : 'canary-token-unknown', ".to_owned(),
        "{\"x\": \"{\\\"token\\\": \\\"canary-token-unknown\\\"}\", ".to_owned(),
        "token=canary-token-unknown-4&x=1".to_owned(),
        "{\"a\": \"\\u0063anary-token-old\", ".to_owned(),
        format!("\u{fffd}{OLD}\u{0}"),
    ] {
        clean(body.as_bytes());
    }
    let hex = "0123456789abcdefABCDEF0123456789";
    let text = masked(format!("at {hex} and {}", &hex[..31]).as_bytes()).text;
    assert_eq!(text, format!("at **** and {}", &hex[..31]));
    let refusal = b"current_token: this field is required";
    assert_eq!(masked(refusal).text.as_bytes(), refusal);
}

#[test]
fn a_number_that_is_a_secret_is_hidden() {
    let mut seen = SeenTokens::default();
    seen.note("8474001122");
    let kept = seen
        .mask(KEY, None)
        .mask_body(b"{\"count\": 8474001122, \"token\": 12}");
    assert!(
        !kept.text.contains("8474001122") && !kept.text.contains("12"),
        "{}",
        kept.text
    );
}

#[test]
fn the_id_that_was_asked_for_may_look_like_a_token() {
    let id = "0123456789abcdef0123456789abcdef";
    let seen = SeenTokens::default();
    let body = format!(
        "{{\"user_group_id\": \"{id}\", \"x\": \"{}\"}}",
        "f".repeat(40)
    );
    let kept = seen.mask(KEY, Some(id)).mask_body(body.as_bytes());
    assert!(
        kept.text.contains(id) && !kept.text.contains("ffff"),
        "{}",
        kept.text
    );
}

#[test]
fn what_is_kept_is_bounded_and_no_cut_leaves_half_a_secret() {
    for lead in WINDOW - 20..WINDOW + 4 {
        let body = format!("{}{OLD}{}", "x".repeat(lead), "y".repeat(100));
        let kept = masked(body.as_bytes());
        assert!(kept.is_cut && kept.size == body.len());
        assert!(kept.text.len() <= MAX_KEPT_BODY);
    }
    // Hidden runs shorten the text, so that the cut at the window's end becomes visible.
    for lead in 0..40 {
        let body = format!(
            "{} {}{OLD}{}",
            "a".repeat(WINDOW - 60),
            " x".repeat(lead),
            "y".repeat(100)
        );
        let text = masked(body.as_bytes()).text;
        assert!(
            !text.contains("canar"),
            "{lead}: {}",
            &text[text.len().saturating_sub(60)..]
        );
    }
    let pretty = json!({"rows": vec!["x".repeat(1000); 60]}).to_string();
    let kept = masked(pretty.as_bytes());
    assert!(kept.is_cut && kept.text.len() <= MAX_KEPT_BODY);
}

#[test]
fn tokens_are_remembered_up_to_a_bound_and_the_same_keeps_its_number() {
    let mut seen = seen();
    seen.note(OLD);
    assert_eq!(seen.count, 2);
    for number in 0..MAX_REMEMBERED {
        seen.note(&format!("token number {number}"));
    }
    assert_eq!(seen.tokens.len(), MAX_REMEMBERED);
}
