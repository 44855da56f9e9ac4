//! Places on the command line: the hint of an empty list, the findings of `doctor`, the question about a new profile,
//! and which profile runs a hand-off.

use super::{
    doctor::finding,
    guards::knowing_acme,
    handoff::scene,
    program::{Background, Home, each, set_mode},
};
use crate::support::assertions::{assert_has, assert_lacks};

/// An installation with a service and a group `acme` in the profile `live`, and the address.
pub(super) async fn served() -> (Home, Background, String) {
    let (home, serving) = Home::served().await;
    home.exits(0, "create acme --yes").await;
    let url = home.url();
    (home, serving, url)
}

async fn new_key(home: &Home, environment: &str) -> String {
    home.key(&format!("--environment {environment} --tag Customer"))
        .await
}

#[tokio::test]
async fn an_empty_list_says_that_the_profile_had_another_address() {
    let (home, _serving, url) = served().await;
    let moved = url.replace("127.0.0.1", "localhost");
    home.write("config.toml", &home.config().replace(&url, &moved));
    for command in ["list", "list --json", "history"] {
        let ran = home.exits(0, command).await;
        assert_lacks(&ran.out, "acme");
        for words in [
            "is not bound with this URL",
            &url,
            "groupdesk profile bind live --same-environment live",
            "groupdesk profile bind live --new-environment",
        ] {
            ran.says(words);
        }
        assert_eq!(ran.err.trim().lines().count(), 1, "{}", ran.err);
    }
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (4, "show acme", "--same-environment"),
        (0, "profile bind live --same-environment live", ""),
    ]).await;
    let ran = home.run("list").await;
    assert_lacks(&ran.shows("acme").err, "not bound");
}

/// Commands about the group of another key, and how each ends with a profile of variables and with one of a file; `get`
/// would create it in the other environment.
#[rustfmt::skip] // A table: one command a line.
const UNKNOWN: [(&str, [i32; 2]); 28] = [
    ("list", [0, 0]),
    ("history", [0, 0]),
    ("rotations", [0, 0]),
    ("batches list", [0, 0]),
    ("export -o out.jsonl", [0, 4]),
    ("export --file old.jsonl --force", [0, 4]),
    ("rotations check", [0, 4]),
    ("rotations handoff --pending --failed", [0, 4]),
    ("show only-live", [3, 4]),
    ("get only-live", [3, 4]),
    ("get --refresh-all --yes", [0, 4]),
    ("update only-live --name x --yes", [3, 4]),
    ("rotate only-live --yes", [3, 4]),
    ("rotate only-live other --yes", [2, 4]),
    ("rotate --filter only-live --yes", [0, 4]),
    ("rotate --older-than 90d --yes", [0, 4]),
    ("update --filter only-live --property a=1 --yes", [0, 4]),
    ("show --filter only-live", [0, 0]),
    ("create another --dry-run", [0, 0]),
    ("label only-live --add x", [3, 3]),
    ("note only-live text", [3, 3]),
    ("favourite only-live", [3, 3]),
    ("batches show 1", [2, 2]),
    ("batches resume 1 --yes", [2, 4]),
    ("batches retry 1 --yes", [2, 4]),
    ("rotations abandon 1 --reason x --yes", [2, 2]),
    ("history only-live", [3, 4]),
    ("attention", [0, 0]),
];

/// With a key that is unknown at the address nothing is known, whatever the name of the profile was bound to.
#[tokio::test]
async fn an_unknown_key_knows_nothing_and_sends_nothing_by_id() {
    for from_variables in [true, false] {
        let mut home = Home::new();
        let (old, new) = (new_key(&home, "live").await, new_key(&home, "other").await);
        let (_serving, url) = home.serve().await;
        let name = if from_variables {
            home.set("GROUPDESK_BASE_URL", &url);
            home.set("GROUPDESK_ENVIRONMENT", "Customer");
            "GROUPDESK_API_KEY"
        } else {
            home.configure(&url, &old);
            "LIVE_KEY"
        };
        home.set(name, &old);
        home.exits(0, "create only-live --name Acme --yes").await;
        home.set(name, &new);
        for (command, codes) in UNKNOWN {
            let code = codes[usize::from(!from_variables)];
            let ran = home.exits(code, command).await;
            assert_lacks(&ran.out, "only-live");
            let told = ran.err.matches("--same-environment").count();
            assert!(told == 1 || told > 1 && !from_variables, "{ran:?}");
        }
        assert_eq!(stored_groups(&home), 1, "nothing was created");
        // What waits at the place of the other key is not of this one.
        leave_open(&home);
        for command in ["attention", "attention --all"] {
            let ran = home
                .exits(if from_variables { 0 } else { 7 }, command)
                .await;
            assert_lacks(&ran.out, "only-live");
            if !from_variables {
                ran.shows("groupdesk profile bind live --same-environment");
                ran.says("its API key (fingerprint");
            }
        }
        home.set(name, &old);
        home.run("attention").await.shows("only-live");
        home.exits(0, "get only-live").await;
    }
}

/// An update whose answer was lost.
fn leave_open(home: &Home) {
    let directory = home.path(".local/share/groupdesk/directory.db");
    let raw = rusqlite::Connection::open(directory).expect("a directory");
    let begun = "INSERT INTO mutations (place, user_group_id, operation, state, by, profile, started_at, sent_at) \
         SELECT place, user_group_id, 'update', 'unknown', 'li@desk', 'live', last_seen, last_seen FROM user_groups \
         WHERE user_group_id = 'only-live'";
    assert_eq!(raw.execute(begun, []).expect("SQL"), 1);
}

fn stored_groups(home: &Home) -> i64 {
    let database = rusqlite::Connection::open(home.database()).expect("a database");
    let count = database.query_row("SELECT count(*) FROM groups", [], |row| row.get(0));
    count.expect("a number")
}

#[tokio::test]
async fn doctor_reports_places_and_everything_that_waits() {
    let (mut home, _serving, _) = served().await;
    let report = home.json(0, "doctor").await;
    let live = "environment live: 1 group, 0 open";
    assert_eq!(finding(&report, live).0, "ok", "{report}");
    // A key on trial, then proven, then undone.
    let renewed = new_key(&home, "live").await;
    home.set("LIVE_KEY", &renewed);
    let bind = "profile bind live --same-environment";
    let refused = home
        .exits(2, &format!("{bind} --verify-with no-such"))
        .await;
    refused.says("its token was never seen there");
    let unbound = home.exits(4, "show acme").await;
    unbound.says("its API key (fingerprint");
    home.exits(0, bind).await;
    let report = home.json(0, "doctor").await;
    let (severity, advice) = finding(&report, "not verified");
    assert_eq!(severity, "warning");
    assert_has(
        advice,
        "groupdesk profile bind live --same-environment --verify-with ID",
    );
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (0, "profile bind live --same-environment --verify-with acme", ""),
        (0, "update acme --name Acme --exists --yes", ""),
        (0, "profile unbind live", ""),
    ]).await;
    let report = home.json(4, "doctor").await;
    // Once undone, the profile is bound to no place, and its place has no profile.
    #[rustfmt::skip] // A table: one finding a line.
    let table = [
        ("Known environments: live (1 group)", "problem", "--new-environment"),
        ("was withdrawn", "warning", "groupdesk -P NAME get --refresh-all"),
        ("no profile of the configuration is bound to environment live", "warning", "profile bind NAME --same-environment live"),
    ];
    for (words, severity, advice) in table {
        let found = finding(&report, words);
        assert_eq!(found.0, severity, "{words}");
        let is_told = found.1.contains(advice) || report.to_string().contains(advice);
        assert!(is_told, "{advice}: {report}");
    }
    assert!(!report.to_string().contains("on trial"), "{report}");
    let ran = home.run("doctor").await;
    ran.shows("environment merge live").hides(&renewed);
    assert_lacks(&ran.out, "acme");
    // An environment would be chosen for a key that is wrong.
    home.set("LIVE_KEY", &renewed[..renewed.len() - 4]);
    let report = home.json(4, "doctor").await;
    assert_eq!(finding(&report, "is not chosen yet").0, "note", "{report}");
    assert_lacks(&report.to_string(), "--new-environment");
}

#[tokio::test]
async fn a_new_profile_of_a_known_address_asks_which_place_it_is() {
    let (home, _serving, url) = served().await;
    for (name, environment) in [("renewed", "live"), ("other", "other")] {
        home.write(name, &new_key(&home, environment).await);
        set_mode(home.path(name), 0o600);
    }
    let add = |name: &str, more: &str| {
        format!("profile add {name} --base-url {url} --environment Customer --api-key-file {more}")
    };
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        // Nobody can be asked: the profile is written, and the command to type is printed.
        (0, &add("later", "renewed"), "groupdesk profile bind later --same-environment"),
        (4, "--profile later get acme", ""),
        (0, &add("renewed", "renewed --same-environment live"), "bound renewed to environment live; its API key is not verified yet"),
        (0, &add("other", "other --new-environment"), "other is bound to environment other"),
    ]).await;
    let places = home.json(0, "environment list").await;
    assert_eq!(each(&places, "environment"), ["live", "other"]);
}

#[tokio::test]
async fn a_hand_off_is_run_by_its_profile_or_where_a_person_says_so() {
    let (home, _serving) = scene("touch $1/ran; exit 3").await;
    let second = home
        .config()
        .replace("[profiles.live]", "[profiles.second]");
    home.add_config(&second);
    home.exits(6, "-P live rotate acme --yes").await;
    std::fs::remove_file(home.path("ran")).expect("it was run");
    let listed = home.json(0, "-P second rotations handoff --failed").await;
    assert_eq!(listed[0]["due_in"], "live", "{listed}");
    assert_eq!(listed[0]["handoff"]["state"], "failed");
    let ran = home.run("-P second rotations handoff --failed").await;
    ran.says("waits for its hand-off in profile live");
    ran.says("--profile second rotations handoff 1");
    assert!(!home.path("ran").exists(), "not run by itself");
    // With its number it is run, and from then on belongs to the second profile.
    home.exits(6, "-P second rotations handoff 1").await;
    assert!(home.path("ran").exists());
    let listed = home.json(0, "-P live rotations handoff --failed").await;
    assert_eq!(listed[0]["due_in"], "second", "{listed}");
}

/// A profile made of variables goes to a new place with each new key.
#[tokio::test]
async fn an_empty_list_with_a_new_key_says_what_other_keys_know() {
    let (home, _serving, url) = served().await;
    let mut other = Home::new();
    let directory = home.at(".local/share/groupdesk/directory.db");
    other.set("GROUPDESK_DIRECTORY", directory);
    other.set("GROUPDESK_BASE_URL", &url);
    other.set("GROUPDESK_API_KEY", new_key(&home, "live").await);
    let bind = "groupdesk profile bind --variables --same-environment live";
    for line in ["list", "list --quiet"] {
        let listed = other.exits(0, line).await;
        assert_eq!(listed.err.matches(bind).count(), 1, "{}", listed.err);
        assert_lacks(&listed.err, "knows no group");
    }
    let told = "the same URL has environment live with 1 group";
    other.run("list").await.says(told);
}

#[tokio::test]
async fn a_profile_without_a_key_is_told_that_it_needs_one_and_not_to_bind_it() {
    let (home, _serving, url) = served().await;
    home.add_config(&format!("\n[profiles.keyless]\nbase_url = \"{url}\"\n"));
    for command in ["list", "history", "show acme"] {
        let ran = home.run(&format!("{command} -P keyless")).await;
        assert_lacks(
            &ran.says("profile keyless has no API key").err,
            "profile bind",
        );
    }
    let shown = home.run("profile show keyless").await;
    assert_lacks(&shown.shows("no API key").out, "read-write");
}

#[tokio::test]
async fn a_profile_whose_key_cannot_be_read_is_told_so_and_not_to_bind_it() {
    let (home, _serving, url) = served().await;
    for (number, key) in [
        "{ command = [\"false\"] }",
        "{ env = \"NO_SUCH_KEY\" }",
        "{ file = \"/nowhere/key\" }",
    ]
    .into_iter()
    .enumerate()
    {
        home.add_config(&format!(
            "\n[profiles.keyless{number}]\nbase_url = \"{url}\"\napi_key = {key}\n"
        ));
        for command in ["list", "history", "get acme"] {
            let ran = home.run(&format!("{command} -P keyless{number}")).await;
            let told = format!("profile keyless{number} has no readable API key");
            assert_lacks(&ran.says(&told).err, "profile bind");
        }
    }
}

#[tokio::test]
async fn an_empty_list_of_an_undecided_profile_proposes_nothing_that_is_refused() {
    let (home, _serving, url) = served().await;
    let elsewhere = home
        .config()
        .replace("[profiles.live]", "[profiles.moved]")
        .replace(&url, "http://127.0.0.1:1");
    home.write("key", &home.variable("LIVE_KEY"));
    let command = format!("{{ command = [\"cat\", \"{}\"] }}", home.at("key"));
    let of_command = elsewhere
        .replace("[profiles.moved]", "[profiles.told]")
        .replace("{ env = \"LIVE_KEY\" }", &command);
    home.add_config(&format!("{elsewhere}\n{of_command}"));
    for profile in ["moved", "told"] {
        let in_it = |line: &str| format!("{line} -P {profile}");
        home.exits(4, &in_it("create other --yes")).await;
        for command in ["list", "get nobody", "show nobody"] {
            let ran = home.run(&in_it(command)).await;
            ran.says(&format!("profile bind {profile} --same-environment"));
            assert_lacks(&ran.err, "groupdesk create");
        }
    }
}

#[tokio::test]
async fn a_plan_with_an_unknown_key_says_that_its_groups_look_new() {
    let (home, _serving) = knowing_acme(vec![]).await;
    home.write("g.csv", "user_group_id,name\nacme,Acme\n");
    home.exits(0, "profile unbind live").await;
    for option in ["--refresh", "--restart"] {
        let line = format!("import g.csv {option} --dry-run");
        let needs = format!("{option} needs --create or --update");
        home.exits(2, &line).await.says(&needs);
    }
    for line in [
        "import g.csv --dry-run",
        "import g.csv --create --dry-run",
        "import g.csv --update --dry-run",
        "apply g.csv --dry-run",
        "diff g.csv",
    ] {
        home.run(line).await.says(
            "! no group is known with this API key; another key for the same URL has 1 group",
        );
    }
    // As for `get`.
    let ran = home.exits(4, "diff acme --with live").await;
    assert_lacks(&ran.err, "profile live: profile live");
}

#[tokio::test]
async fn no_option_that_decides_what_is_opened_takes_a_token() {
    let (mut home, _service) = knowing_acme(vec![]).await;
    let token = "3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8551";
    for option in ["--config", "--directory", "--profile"] {
        let ran = home.exits(2, &["list", option, token]).await;
        ran.says(&format!("{option}: this looks like a token"));
        ran.hides(token);
    }
    home.set("GROUPDESK_DIRECTORY", token);
    home.exits(2, "list").await.hides(token);
    let here = std::env::current_dir().expect("a folder");
    for folder in [home.path(""), here] {
        assert!(!folder.join(token).exists(), "a directory of that name");
    }
}
