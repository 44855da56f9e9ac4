//! `doctor` and the service: its findings about the connection, and that it sends nothing that could create a group.

use serde_json::{Value, json};

use super::{finding, findings_of, refusal, says};
use crate::{
    cli::{
        guards::{group, knowing_acme, methods},
        program::Home,
    },
    support::faults::{Fault, Faults, http, json as answer},
};

#[tokio::test]
async fn service_problems_have_their_codes_and_no_request_could_create_a_group() {
    let html = ["Content-Type: text/html"];
    let page = http("200 OK", &html, "<html>log in</html>");
    let to = |place: &str| http("301 Moved", &[&format!("Location: {place}")], "");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (refusal(), 0, "ok: ", "service", "the API key is accepted"),
        (says("403 Forbidden", "read_only_key"), 0, "note: ", "service", "may not change anything"),
        (says("401 Unauthorized", "no"), 4, "problem: ", "key", "does not accept the API key"),
        (says("404 Not Found", "no"), 1, "problem: ", "service", "with a slash at its end"),
        (says("503 Service Unavailable", "no"), 1, "problem: ", "service", "the service failed"),
        (Fault::Answer(page), 1, "problem: ", "service", "The response is a web page instead of JSON"),
        (Fault::Answer(to("/api/user/")), 1, "problem: ", "service", "end the profile's `path` with a slash"),
        (Fault::Answer(to("https://elsewhere.example/x")), 1, "problem: ", "service", "points to https://elsewhere.example/x"),
        (Fault::Close, 5, "problem: ", "network", "Connected, but"),
    ];
    for (fault, code, severity, area, words) in table {
        let mut home = Home::new();
        let service = Faults::always(fault).await;
        home.connect(&service.base_url(), "key-of-the-desk");
        let report = home.json(code, "doctor --id acme").await;
        let found = findings_of(&report, area);
        let is_there = |found: &String| found.starts_with(severity) && found.contains(words);
        assert!(found.iter().any(is_there), "{words}: {report:#}");
        assert_eq!(methods(&service), ["PUT"], "{words}");
        assert_eq!(service.requests()[0].body(), b"{}");
        assert!(!home.path(".local").exists(), "no directory is made");
    }
    let mut home = Home::new();
    home.connect("http://127.0.0.1:1", "key-of-the-desk");
    let report = home.json(5, "doctor").await;
    let refused = finding(&report, "No connection to 127.0.0.1, port 1: refused");
    assert_eq!(refused.0, "problem");
    home.set("LIVE_KEY", "");
    let keyless = home.json(4, "doctor").await;
    finding(&keyless, "environment variable LIVE_KEY: it is not set");
    assert_eq!(
        findings_of(&keyless, "network"),
        [""; 0],
        "nothing was sent"
    );
}

#[tokio::test]
async fn a_get_with_a_body_is_tried_only_with_a_known_id() {
    let (home, service) = knowing_acme(vec![refusal()]).await;
    let without = home.json(0, "doctor").await;
    let (severity, advice) = finding(&without, "was not tested");
    assert!(severity == "note" && advice.contains("--id ID"), "{advice}");
    let unknown = home.json(0, "doctor --id acmee").await;
    let words = "\"acmee\" is not in the directory of this profile";
    assert_eq!(finding(&unknown, words).0, "warning");
    assert!(!unknown.to_string().contains("\"acme\\\""), "{unknown:#}");
    assert_eq!(methods(&service), ["GET", "PUT", "PUT"]);
}

#[tokio::test]
async fn a_get_whose_body_was_dropped_is_recognized() {
    let other = json!({"provided_id": "secret-customer"});
    let created = answer(
        "200 OK",
        &json!({"success": 1, "new_user_group": true, "user_group":
            {"team_id": 9, "token": "token-9", "name": "Acme", "provided_id": "acme", "properties": null}}),
    );
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (group("token-0", &Value::Null), 0, "ok", "a GET body reaches the service"),
        (refusal(), 1, "problem", "a proxy may drop the body of a GET"),
        (group("token-1", &other), 1, "problem", "it is for another ID"),
        (created, 1, "problem", "CREATED the group"),
        (Fault::Close, 5, "problem", "no response to a get of \"acme\""),
        (group("token-0", &json!({"api_environment_tag": "Testing"})), 1, "problem", "is tagged Testing"),
    ];
    for (fault, code, severity, words) in table {
        let (home, service) = knowing_acme(vec![refusal(), fault]).await;
        let report = home.json(code, &["doctor", "--id", "acme"]).await;
        assert_eq!(finding(&report, words).0, severity, "{report:#}");
        let is_named = report.to_string().contains("secret-customer");
        assert!(!is_named, "{report:#}");
        assert_eq!(methods(&service), ["GET", "PUT", "GET"], "{words}");
    }
}

#[tokio::test]
async fn a_clock_that_is_off_is_a_warning() {
    let dated = |date: &str| {
        let headers = [
            "Content-Type: application/json",
            &format!("Date: {date}"),
            "Via: 1.1 squid",
        ];
        Fault::Answer(http("400 Bad Request", &headers, r#"{"success": 0}"#))
    };
    let in_an_hour = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    let in_an_hour = jiff::fmt::rfc2822::to_string(&in_an_hour.to_zoned(jiff::tz::TimeZone::UTC));
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (dated(&in_an_hour.expect("a date")), "warning", " s behind that of the service"),
        (dated("Mon, 02 Jan 2006 15:04:05 GMT"), "warning", " s ahead of that of the service"),
        (refusal(), "note", "the response has no Date"),
    ];
    for (fault, severity, words) in table {
        let mut home = Home::new();
        let service = Faults::always(fault).await;
        home.connect(&service.base_url(), "key-of-the-desk");
        let report = home.json(0, "doctor").await;
        assert_eq!(finding(&report, words).0, severity);
        assert!(!findings_of(&report, "clock").is_empty(), "{report:#}");
        let has_via = report.to_string().contains("Via 1.1 squid");
        assert_eq!(severity == "warning", has_via);
    }
}
