//! The corpus of unusual texts in words of the service: its errors, its environment, its tokens, redirects, and a name
//! of 16 KiB, in a long run of 64.

use super::{NOW, a_world, open_with, prelude::*};
use crate::support::{
    faults::json as answered,
    texts::{framed, holds},
};

const ROOMY: (u16, u16) = (300, 60);
const USUAL: (u16, u16) = (80, 24);

#[track_caller]
fn assert_harmless_screen(console: &mut Console, at: &str) {
    for size in [USUAL, ROOMY] {
        console.resize(size);
        assert_screen(console, at);
        assert_harmless(&console.screen(), at);
        if size != ROOMY || long::all() {
            assert_in_columns(console.buffer(), at);
        }
    }
}

/// What the service does with a text, the key that causes it, and whether its words are quoted.
type Saying = (&'static str, &'static str, fn(&str) -> ProxyFault, bool);

fn instead(status: &str, headers: &[&str], body: String) -> ProxyFault {
    ProxyFault::swallowed(Then::Instead(http(status, headers, body)))
}

fn in_json(status: &str, body: &Value) -> ProxyFault {
    let headers = ["Content-Type: application/json"];
    instead(status, &headers, body.to_string())
}

/// The text in a field of a good answer.
fn in_field(field: &'static str, text: &str) -> ProxyFault {
    let text = framed('E', text);
    ProxyFault::change(move |body| body["user_group"][field] = text.clone().into())
}

const REDIRECT: &str = "a redirect";

#[rustfmt::skip] // A table: one saying per line.
const SAYINGS: [Saying; 8] = [
    ("an error", "<enter>", |text| in_json("400 Bad Request", &json!({"error": {"code": 17, "message": framed('E', text)}})), true),
    ("a refusal", "<enter>", |text| in_json("200 OK", &json!({"success": 0, "error": framed('E', text)})), true),
    ("its key", "<enter>", |text| in_json("401 Unauthorized", &json!({"errors": {framed('E', text): ["no"]}})), true),
    ("a page", "<enter>", |text| instead("502 Bad Gateway", &["Content-Type: text/html"], format!("<html>{text}")), false),
    ("another environment", "<enter>", |text| in_field("api_environment_tag", text), true),
    ("another id", "<enter>", |text| in_field("provided_id", text), true),
    ("a token", "tv", |text| in_field("token", text), true),
    (REDIRECT, "<enter>", |text| instead("302 Found", &[&format!("Location: http://evil.example/{text}")], String::new()), false),
];

#[tokio::test(flavor = "multi_thread")]
async fn words_of_the_service_are_shown_escaped() {
    let mut cases = Vec::new();
    for (what, text) in CORPUS {
        for (saying, script, fault, is_quoted) in SAYINGS {
            // A header accepts no ASCII control character except TAB.
            if saying != REDIRECT || !text.chars().any(|c| c.is_ascii_control()) {
                cases.push((what, text, saying, script, fault, is_quoted));
            }
        }
    }
    let all = cases.len();
    let mut count = 0;
    let world = a_world().await;
    for (what, text, saying, script, fault, is_quoted) in long::spread(cases, 17) {
        let at = format!("{what} as {saying}");
        let (proxy, operations) = through_a_proxy(&world).await;
        let mut console = open_with(vec![operations]).await;
        console.resize(ROOMY);
        // The same in every later read.
        for _ in 0..4 {
            proxy.next("GET", fault(text));
        }
        console.keys(script).await;
        // An alarm raised by one case must not block the next.
        crate::support::world::acknowledge(world.directory());
        if is_quoted {
            let screen = console.screen();
            assert!(holds(&screen, 'E', text), "{at}:\n{screen}");
        }
        assert_harmless_screen(&mut console, &at);
        // In the list of messages, as a single message, and as the exchange that it came with.
        for (place, script) in [
            ("messages", "m"),
            ("message", "<enter>"),
            ("requests", "<esc><esc>4"),
            ("request", "<enter>"),
        ] {
            console.keys(script).await;
            assert_harmless_screen(&mut console, &format!("{at}, {place}"));
            count += 1;
        }
    }
    println!("{count} of {} cases of the service's words", 4 * all);
    assert!(count >= 4 * 14);
}

/// Longer than any screen: narrow and wide letters, escapes, and combining marks.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_many_kib_fits_every_place() {
    let length = if long::all() { 64 } else { 16 } * 1024;
    let mut count = 0;
    let world = World::new().await;
    for text in long::spread(
        [
            "n",
            "東",
            "\u{202e}",
            "z\u{301}",
            "\u{1b}]0;",
            "👩\u{200d}👩 ",
        ],
        4,
    ) {
        let long = text.repeat(length / text.len());
        let properties = json!({long.as_str(): long, "deep": [long]});
        let answer = json!({"success": 1, "new_user_group": false, "user_group": {
            "team_id": 7, "token": "0123456789abcdef0123456789abcdef", "name": long, "provided_id": "g",
            "properties": properties, "api_environment_tag": "Testing"}});
        let server = Faults::always(answered("200 OK", &answer)).await;
        let directory = world.other_directory(&format!("long-{count}"));
        let installation = world.installation(Side::Testing).at(NOW).on(&directory);
        let operations = installation.through(server.base_url()).operations();
        let sent = groupdesk::domain::change::DesiredFields {
            name: Some(long.clone()),
            mapping: Some([(long.clone(), long.clone())].into_iter().collect()),
            properties: properties.as_object().cloned(),
        };
        let group = crate::support::world::id("g");
        operations.create(&group, &sent).await.expect("taken");
        for script in long::spread(
            [
                "",
                "<enter>",
                "e",
                "e<tab>",
                "e<tab><tab>",
                "e<tab><tab><f3>",
                "e<end> 2<ctrl-s>",
                "x",
                "t",
                "2",
                "m",
                "4",
                "y",
                "/n",
                "?",
            ],
            5,
        ) {
            let mut console = open_with(vec![operations.clone()]).await;
            console.resize(ROOMY);
            console.keys(script).await;
            assert_harmless_screen(
                &mut console,
                &format!("{length} bytes of {text:?} in {script:?}"),
            );
            let first = &shown(text)[0];
            assert!(
                text_of(console.buffer()).contains(first)
                    || !["", "<enter>", "e"].contains(&script)
            );
            count += 1;
        }
    }
    println!("{count} long names");
    assert!(count >= 3);
}
