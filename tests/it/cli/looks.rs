//! Results for people: tables that fit the terminal and are complete in a pipe, colour only where it is wanted, wide
//! and combining characters aligned, hostile text escaped.

use groupdesk::{
    domain::change::DesiredFields,
    operations::{Operations, UnknownIdPolicy},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::program::{DEADLINE, Home};
use crate::support::{
    at_once::AtOnce as _,
    pty::Program,
    snapshots::assert_snapshot,
    world::{ANA, Side, World, id},
};

/// How many days ago everything happened, so that ages are the same in each run.
const AGO: i64 = 30;
/// A width at which no table is folded.
const WIDE: u16 = 180;

/// The person who did it all, that many days ago.
fn ana(world: &World) -> Operations {
    let then = Timestamp::now() - SignedDuration::from_hours(24 * AGO + 1);
    world
        .installation(Side::Testing)
        .by(ANA)
        .at(then)
        .operations()
}

/// An installation with some data of every kind, all of it `AGO` days old. Returns also the token of `acme-eu`.
async fn scene() -> (World, Home, String) {
    let world = World::new().await;
    let ana = ana(&world);
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("acme-eu", "Acme Europe", json!({"tier": "gold"})),
        ("tokyo-shoji", "東京商事株式会社 関西支社", json!({"場所": "大阪"})),
        ("zoe", "Brasserie Zoe\u{301} 👩‍👩‍👧", json!({})),
        ("evil", "a\u{1b}[31mred\u{202e}back\nline", json!({"\u{1b}]0;x\u{7}": "\u{200b}"})),
    ];
    for (group, name, properties) in table {
        create(&ana, group, name, &properties).await;
    }
    rotate(
        &ana,
        "acme-eu",
        "leaked in a log that everybody could read, for a week at least",
    )
    .await;
    rotate(&ana, "evil", "\u{1b}[2Jgone").await;
    let token = world.stored(Side::Testing, "acme-eu").token;
    let mut home = Home::new();
    let config = "default_profile = \"testing\"\n\n\
        [profiles.production]\nbase_url = \"https://eu.example.com\"\napi_key = { env = \"LIVE_KEY\" }\n\
        environment = \"Customer\"\n\n\
        [profiles.testing]\nbase_url = \"https://test.example.com\"\napi_key = { command = [\"pass\", \"show\", \"test\"] }\n\
        environment = \"Testing\"\nproduction = false\nmax_token_age = \"10d\"\n";
    for url in ["https://eu.example.com", "https://test.example.com"] {
        world.at(url);
    }
    let file = home.write("config.toml", config);
    home.set("GROUPDESK_CONFIG", file);
    home.set(
        "GROUPDESK_DIRECTORY",
        world.directory_file().display().to_string(),
    );
    home.set("LC_ALL", "C.UTF-8");
    (world, home, token)
}

async fn create(operations: &Operations, group: &str, name: &str, properties: &Value) {
    let wanted = DesiredFields {
        name: Some(name.into()),
        mapping: Some([("40".to_owned(), "213".to_owned())].into_iter().collect()),
        properties: properties.as_object().cloned(),
    };
    let made = Box::pin(operations.create(&id(group), &wanted)).await;
    made.expect("created");
}

async fn rotate(operations: &Operations, group: &str, reason: &str) {
    let group = id(group);
    let rotated = operations.rotate(&group, Some(reason.into()), UnknownIdPolicy::KnownOnly);
    Box::pin(rotated).await.expect("rotated");
}

/// The output on a terminal of this many columns.
fn on_terminal(home: &Home, line: &str, columns: u16) -> String {
    let program = Program::of(home.command(line).as_std());
    let mut session = program.size(24, columns).start();
    session.exit_status(DEADLINE);
    let shown = String::from_utf8(session.raw_output().to_vec());
    shown.expect("UTF-8").replace("\r\n", "\n")
}

/// Replaces fingerprints, which differ in each run.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let hex = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_fingerprint = hex.len() == 8
            && hex
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if is_fingerprint {
            steady.push_str("ffffffff");
            steady.push_str(&word[8..]);
        } else {
            steady.push_str(word);
        }
    }
    steady
}

fn width(line: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(line)
}

const ALL: [(&str, &str); 6] = [
    ("list", "list"),
    ("show", "show evil"),
    ("history", "history"),
    ("rotations", "rotations"),
    ("profiles", "profile list"),
    ("show_wide", "show tokyo-shoji"),
];

#[tokio::test(flavor = "multi_thread")]
async fn tables_fit_the_terminal_and_are_complete_in_a_pipe() {
    let (world, home, token) = scene().await;
    for (name, arguments) in ALL {
        let mut story = on_terminals(&home, name, arguments);
        let piped = home.exits(0, arguments).await;
        piped.warns("");
        story = format!("{story}-- pipe\n{}", steady(&piped.out));
        for c in story.chars().filter(|c| *c != '\n') {
            assert!(
                !c.is_control() && !"\u{202e}\u{200b}".contains(c),
                "{name}: {c:?}"
            );
        }
        picture(&format!("looks_{name}"), &story);
    }
    let ran = home.exits_with(0, "whose", &token).await;
    picture("looks_whose", &ran.out);
    // An id is never cut, however long it is.
    let long =
        "a-group-whose-id-is-longer-than-most-terminals-are-wide-and-goes-on-and-on-to-the-end";
    let name = "Long Name Incorporated, Department of Long Names and Longer Words, Building 7";
    create(&ana(&world), long, name, &json!({})).await;
    for (name, arguments) in [
        ("list_long", "list -q"),
        ("history_long", "history --limit=2"),
    ] {
        let story = on_terminals(&home, name, arguments);
        assert!(story.replace(['\n', ' '], "").contains(long), "{story}");
        picture(&format!("looks_{name}"), &story);
    }
}

/// The output at 80 and at 40 columns, after checking that no line is longer.
fn on_terminals(home: &Home, name: &str, line: &str) -> String {
    let of = |columns: u16| {
        let shown = on_terminal(home, line, columns);
        for line in shown.lines() {
            assert!(width(line) <= columns.into(), "{name}: {line}");
        }
        format!("-- {columns} columns\n{}\n", steady(&shown))
    };
    [of(80), of(40)].concat()
}

fn picture(name: &str, text: &str) {
    assert_snapshot("cli/snapshots", name.to_owned(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_of_the_doctor_fits_too() {
    let (world, mut home, _) = scene().await;
    home.set(
        "GROUPDESK_CONFIG",
        world.config_file().display().to_string(),
    );
    for columns in [80, 40] {
        let shown = on_terminal(&home, "doctor", columns);
        assert!(shown.contains("ok") && shown.contains("clock"), "{shown}");
        for line in shown.lines() {
            assert!(width(line) <= columns.into(), "{line}");
        }
    }
    let ran = home.exits(0, "doctor").await;
    assert!(ran.out.lines().all(|line| width(line) <= 80), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'));
}

#[tokio::test(flavor = "multi_thread")]
async fn colour_is_only_where_it_is_wanted() {
    let (_world, mut home, _) = scene().await;
    // Not without TERM.
    let shown = on_terminal(&home, "list", WIDE);
    assert!(!shown.contains("\u{1b}["), "{shown:?}");
    for (term, no_colour, coloured) in [
        ("xterm-256color", "1", false),
        ("dumb", "", false),
        ("", "", false),
        ("xterm-256color", "", true),
    ] {
        home.set("TERM", term);
        home.set("NO_COLOR", no_colour);
        // The last one has the line that names the environment, and an error after it.
        let all = [
            "list",
            "create acme-9 -P production --read-only --dry-run",
            "history",
            "rotations",
            "profile list",
        ];
        let count = if coloured { all.len() } else { 2 };
        for line in &all[..count] {
            let shown = on_terminal(&home, line, WIDE);
            // Never text from a name.
            assert!(!shown.contains("\u{1b}[31mred"), "{shown:?}");
            let seen = shown.contains("\u{1b}[");
            assert_eq!(seen, coloured, "TERM={term} NO_COLOR={no_colour} {line}");
        }
    }
    let shown = on_terminal(&home, "list", WIDE);
    assert!(shown.contains("\u{1b}[1mNAME"), "{shown:?}");
    let shown = on_terminal(&home, "create acme-9 -P production --dry-run", 100);
    let line = "\u{1b}[1;7mPRODUCTION\u{1b}[0m production https://";
    assert!(shown.starts_with(line), "{shown:?}");
    for line in ["list", "history", "list --json", "help list"] {
        home.run(line).await.warns("").hides("\u{1b}");
    }
}
