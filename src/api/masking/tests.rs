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
    let is_clean = !kept.text.to_lowercase().contains("canary");
    assert!(is_clean && kept.is_masked, "{}", kept.text);
    kept.text
}

#[test]
fn a_good_answer_keeps_all_but_its_token() {
    let answer = json!({"success": 1, "user_group": {"name": "Acme", "token": NEW, "team_id": 7}});
    let text = clean(answer.to_string().as_bytes());
    for kept in [
        "\"token\": \"****#2\"",
        "\"name\": \"Acme\"",
        "\"team_id\": 7",
    ] {
        assert!(text.contains(kept), "{text}");
    }
    let plain = masked(b"{\"name\":\"Acme\"}");
    assert!(!plain.is_masked && !plain.is_cut && plain.size == 15);
}

#[test]
fn odd_secrets_are_hidden_and_the_id_that_was_asked_for_may_look_like_a_token() {
    let secret = "key~0123456789abcdef0123456789abcdef";
    let body = secret.replacen('k', "%6b", 1);
    let seen = SeenTokens::default();
    let kept = seen.mask(secret, None).mask_body(body.as_bytes()).text;
    assert!(!kept.contains("ey~"), "{kept}");
    let mut seen = SeenTokens::default();
    seen.note("8474001122");
    let body = b"{\"count\": 8474001122, \"token\": 12}";
    let kept = seen.mask(KEY, None).mask_body(body).text;
    assert!(
        !kept.contains("8474001122") && !kept.contains("12"),
        "{kept}"
    );
    let id = "0123456789abcdef0123456789abcdef";
    let body = json!({"user_group_id": id, "x": "f".repeat(40)}).to_string();
    let kept = SeenTokens::default()
        .mask(KEY, Some(id))
        .mask_body(body.as_bytes())
        .text;
    assert!(kept.contains(id) && !kept.contains("ffff"), "{kept}");
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
fn what_is_kept_is_bounded_and_no_cut_leaves_half_a_secret() {
    let tail = "y".repeat(100);
    for lead in WINDOW - 20..WINDOW + 4 {
        let body = format!("{}{OLD}{tail}", "x".repeat(lead));
        let kept = masked(body.as_bytes());
        assert!(kept.is_cut && kept.size == body.len());
        assert!(kept.text.len() <= MAX_KEPT_BODY);
    }
    // Hidden runs shorten the text, so that the cut at the window's end becomes visible.
    for lead in 0..40 {
        let body = format!(
            "{} {}{OLD}{tail}",
            "a".repeat(WINDOW - 60),
            " x".repeat(lead)
        );
        let text = masked(body.as_bytes()).text;
        assert!(
            !text.contains("canar"),
            "{lead}: …{:?}",
            text.get(text.len() - 60..)
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

#[test]
fn a_secret_in_base64_is_not_shown() {
    let mask = || {
        Mask::of(
            std::iter::once(("0123456789abcdef0123", MASK.to_owned())),
            None,
        )
    };
    for text in [
        "bad token MDEyMzQ1Njc4OWFiY2RlZjAxMjM=",
        "Basic YXBpOjAxMjM0NTY3ODlhYmNkZWYwMTIz",
    ] {
        assert_eq!(mask().mask_text(text), ENCODED_SECRET, "{text}");
    }
    let plain = "bad token of an installation";
    assert_eq!(mask().mask_text(plain), plain);
}
