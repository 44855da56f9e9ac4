//! Tests of the texts of verdicts, and of cases in which one field decides. Whole answers are in
//! `tests/golden/verdicts.json`.

use super::*;
use crate::domain::testing::id;

fn judged_with(status: u16, not_done: bool, asked: &Expected<'_>, body: &str) -> Verdict {
    let exchange = Exchange {
        status,
        url: "https://api.example.com/api/user",
        content_type: Some("application/json"),
        location: None,
        retry_after: (!not_done).then_some(Duration::from_secs(7)),
        not_done,
        via: None,
        body: body.as_bytes(),
    };
    judge(&exchange, asked, Scrub::of(&["the-api-key"]))
}

fn judged(status: u16, asked: &Expected<'_>, body: &str) -> Verdict {
    judged_with(status, false, asked, body)
}

fn rotation<'a>(expected: Option<&'a UserGroupId>, old: &'a Token) -> Expected<'a> {
    Expected::Rotation { expected, old }
}

fn refused(status: u16, body: &str) -> Verdict {
    judged(status, &Expected::Group(&id("acme")), body)
}

fn what(verdict: &Verdict) -> String {
    verdict.what().expect("words")
}

fn explained(verdict: &Verdict) -> String {
    verdict.explain().expect("words")
}

#[test]
fn every_status_has_its_own_advice() {
    let wait = Some(Duration::from_secs(7));
    for (status, stated, wait, words) in [
        (401, true, None, "missing, wrong or revoked"),
        (403, true, None, "read-write key"),
        (404, false, None, "`base_url` and `path`"),
        (404, true, None, "this environment does not know it"),
        (405, true, None, "whether a proxy changes requests"),
        (415, true, None, "whether a proxy changes requests"),
        (407, false, None, "http://USER:PASSWORD@HOST:PORT"),
        (409, true, None, "read the group again"),
        (413, true, None, "send less"),
        (429, true, None, "wait a while"),
        (429, true, wait, "wait 7 s"),
        (503, true, wait, "wait 7 s"),
        (400, true, None, "fix what it reports"),
        (422, true, None, "fix what it reports"),
        (418, false, None, "read the group before"),
    ] {
        let advice = advice(status, stated, wait);
        assert!(advice.contains(words), "{status}: {advice}");
    }
}

#[test]
fn a_refusal_says_who_refused_and_what_to_do() {
    let stated = refused(409, r#"{"success":0,"error":{"code":"c","message":"m"}}"#);
    let refusal = "the service refused (HTTP 409, c): m";
    let advice = "read the group again, then decide: it conflicts with what the service has";
    assert_eq!(what(&stated), refusal);
    assert_eq!(explained(&stated), format!("{refusal}; {advice}"));
    let page = refused(403, "<html>");
    assert_eq!(what(&page), "the service or a proxy refused (HTTP 403)");
    let slow = explained(&refused(429, "{}"));
    assert!(slow.ends_with("wait 7 s, then try again"), "{slow}");
    let unclear = refused(500, "{}");
    let (what, explained) = (what(&unclear), explained(&unclear));
    assert!(
        what.contains("500") && explained.contains(&what),
        "{explained}"
    );
    // A refusal that no service stated may come from the way.
    for status in [400, 403, 409, 422] {
        let unstated = super::advice(status, false, None);
        assert!(unstated.contains("proxy or a firewall"), "{status}");
        assert_ne!(super::advice(status, true, None), unstated, "{status}");
    }
}

#[test]
fn the_old_token_again_is_told_and_a_success_says_nothing() {
    let (acme, old) = (id("acme"), Token::new("the-old-token".into()));
    let answer = |token: &str| {
        let body =
            format!(r#"{{"success":1,"user_group":{{"provided_id":"acme","token":"{token}"}}}}"#);
        judged(200, &rotation(Some(&acme), &old), &body)
    };
    let same = answer("the-old-token");
    let words = "the service reports success but returned the old token";
    assert_eq!(what(&same), words);
    let explained = explained(&same);
    assert!(
        explained.starts_with(words) && explained.contains("nothing was rotated"),
        "{explained}"
    );
    let new = answer("another-token");
    assert_eq!((new.what(), new.explain()), (None, None));
}

#[test]
fn only_a_503_that_says_so_twice_was_not_done_and_never_a_rotation() {
    let no = r#"{"success":0,"error":{"code":"overloaded","message":"later"}}"#;
    let (acme, old) = (id("acme"), Token::new("the-old-token".into()));
    let group = Expected::Group(&acme);
    let refused = judged_with(503, true, &group, no);
    let is_refused = matches!(&refused, Verdict::Refused { status: 503, stated: true, code: Some(code), .. } if code == "overloaded");
    assert!(is_refused, "{refused:?}");
    let end = "later; wait a while, then try again";
    assert!(explained(&refused).ends_with(end), "{refused:?}");
    for (status, not_done, asked, body) in [
        (503, false, group, no),
        (500, true, group, no),
        (502, true, group, no),
        (503, true, group, r#"{"success":1}"#),
        (503, true, group, "{}"),
        (503, true, group, "[]"),
        (503, true, group, "<html>"),
        (503, true, group, ""),
        (503, true, rotation(None, &old), no),
        (503, true, rotation(Some(&acme), &old), no),
    ] {
        let verdict = judged_with(status, not_done, &asked, body);
        let is_open = |kind: &AmbiguousKind| matches!(kind, AmbiguousKind::ServerError { .. });
        let is_open = matches!(&verdict, Verdict::Unclear(it) if is_open(&it.kind));
        assert!(is_open, "{status} {not_done} {asked:?} {body}: {verdict:?}");
    }
}

#[test]
fn only_the_statuses_of_the_interface_are_the_service_saying_no() {
    let known = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429];
    for status in 400..500 {
        // A list is not an answer of the interface.
        for (body, is_known) in [("{}", known.contains(&status)), ("[]", false)] {
            let verdict = refused(status, body);
            let as_known = matches!(verdict, Verdict::Refused { stated, .. } if stated == is_known);
            assert!(as_known, "{status} {body}: {verdict:?}");
        }
    }
}

#[test]
fn numbers_beyond_what_a_float_can_count_are_no_team() {
    for (text, team) in [
        ("7", Some(7)),
        ("7.0", Some(7)),
        ("-7", Some(-7)),
        ("7.5", None),
        ("9007199254740992.0", Some(9_007_199_254_740_992)),
        ("9007199254740994.0", None),
        ("-9007199254740994.0", None),
        ("1e300", None),
        ("\" 7 \"", Some(7)),
        ("\"x\"", None),
        ("true", None),
    ] {
        let value: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(whole_number(&value), team, "{text}");
    }
}

#[test]
fn a_token_beside_a_refusal_is_hidden_in_its_words() {
    let body =
        r#"{"success":0,"user_group":{"token":"so-secret"},"error":{"message":"not so-secret"}}"#;
    let what = what(&refused(409, body));
    assert!(what.ends_with(": not ****"), "{what}");
}

#[test]
fn an_empty_id_is_none_and_new_may_be_a_text() {
    let judge = |given: &str, new: &str| {
        let group = format!(r#"{{"provided_id":"{given}","token":"t-o-k-e-n"}}"#);
        let body = format!(r#"{{"success":1,"new_user_group":{new},"user_group":{group}}}"#);
        judged(200, &Expected::Group(&id("acme")), &body)
    };
    let without = Ambiguous {
        status: 200,
        kind: AmbiguousKind::NoId,
        via: None,
    };
    assert_eq!(judge("", "true"), Verdict::Unclear(without));
    for (new, expected) in [
        ("true", Some(true)),
        ("\"true\"", Some(true)),
        ("\"false\"", Some(false)),
        ("\"maybe\"", None),
        ("0", Some(false)),
        ("null", None),
    ] {
        let Verdict::Success(group) = judge("acme", new) else {
            panic!("{new}: a success");
        };
        assert_eq!(group.new_user_group, expected, "{new}");
    }
}

/// Also with a status that says no: an answer that says both yes and no is not believed.
#[test]
fn a_refusal_that_can_be_read_in_two_ways_is_unclear() {
    for body in [
        r#"{"success":1,"error":{"message":"a","message":"b"}}"#,
        r#"{"success":0,"success":1}"#,
        r#"{"success":0,"success":0}"#,
    ] {
        let verdict = refused(400, body);
        let twice = |kind: &AmbiguousKind| {
            matches!(kind, AmbiguousKind::Json(JsonError::DuplicateKey { .. }))
        };
        let is_twice = matches!(&verdict, Verdict::Unclear(it) if twice(&it.kind));
        assert!(is_twice, "{body}: {verdict:?}");
    }
}
