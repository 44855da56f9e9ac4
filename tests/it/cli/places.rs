//! Places on the command line: the hint of an empty list, the findings of `doctor`, the question about a new profile,
//! and which profile runs a hand-off.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::Value;

use super::{
    handoff::scene,
    program::{Background, Home},
};
use crate::support::assertions::assert_has;

/// An installation with a service and a group `acme` in the profile `live`, and the key of that environment.
pub(super) async fn served() -> (Home, Background, String) {
    let mut home = Home::new();
    let key = new_key(&home, "live").await;
    let (serving, url) = home.serve().await;
    home.connect(&url, &key);
    home.json(0, &["create", "acme", "--yes"]).await;
    (home, serving, url)
}

async fn new_key(home: &Home, environment: &str) -> String {
    home.key(&["--environment", environment, "--tag", "Customer"])
        .await
}

fn findings(report: &Value, words: &str) -> Vec<String> {
    let all = report["findings"].as_array().expect("a list");
    let text = |finding: &Value| {
        format!(
            "{}: {} -> {}",
            finding["severity"].as_str().expect("a word"),
            finding["found"].as_str().expect("a text"),
            finding["advice"].as_str().unwrap_or_default()
        )
    };
    let all = all.iter().map(text);
    all.filter(|line| line.contains(words)).collect()
}

#[track_caller]
fn assert_one_finding(report: &Value, words: &str, parts: &[&str]) {
    let found = findings(report, words);
    assert_eq!(found.len(), 1, "{words}: {found:?} in {report}");
    for part in parts {
        assert!(found[0].contains(part), "{part}: {}", found[0]);
    }
}

#[tokio::test]
async fn an_empty_list_says_that_the_profile_had_another_address() {
    let (home, _serving, url) = served().await;
    let file = home.path("config.toml");
    let text = fs::read_to_string(&file).expect("readable");
    let moved = url.replace("127.0.0.1", "localhost");
    fs::write(&file, text.replace(&url, &moved)).expect("written");
    for command in [&["list"][..], &["list", "--json"], &["history"]] {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.out.contains("acme"), "{}", ran.out);
        for words in [
            "is not bound with this address",
            &url,
            "groupdesk profile bind live --same-environment live",
            "groupdesk profile bind live --new-environment",
        ] {
            assert!(ran.err.contains(words), "{command:?}: {words}: {}", ran.err);
        }
        assert_eq!(ran.err.trim().lines().count(), 1, "{}", ran.err);
    }
    let ran = home.run(&["show", "acme"]).await;
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("--same-environment"), "{}", ran.err);
    let bound = ["profile", "bind", "live", "--same-environment", "live"];
    assert_eq!(home.run(&bound).await.code, 0);
    let ran = home.run(&["list"]).await;
    assert!(ran.out.contains("acme"), "{}{}", ran.out, ran.err);
    assert!(!ran.err.contains("not bound"), "{}", ran.err);
}

/// Commands about the group of another key, and how each ends; `get` would create it in the other environment.
const UNKNOWN: [(&[&str], [i32; 2]); 25] = [
    (&["list"], [0, 0]),
    (&["history"], [0, 0]),
    (&["rotations"], [0, 0]),
    (&["batches", "list"], [0, 0]),
    (&["export", "-o", "out.jsonl"], [0, 0]),
    (&["show", "only-live"], [3, 4]),
    (&["get", "only-live"], [3, 4]),
    (&["get", "--refresh-all", "--yes"], [0, 4]),
    (&["update", "only-live", "--name", "x", "--yes"], [3, 4]),
    (&["rotate", "only-live", "--yes"], [3, 4]),
    (&["rotate", "only-live", "other", "--yes"], [2, 4]),
    (&["rotate", "--filter", "only-live", "--yes"], [0, 4]),
    (&["rotate", "--older-than", "90d", "--yes"], [0, 4]),
    (
        &[
            "update",
            "--filter",
            "only-live",
            "--property",
            "a=1",
            "--yes",
        ],
        [0, 4],
    ),
    (&["show", "--filter", "only-live"], [0, 0]),
    (&["create", "another", "--dry-run"], [0, 0]),
    (&["label", "only-live", "--add", "x"], [3, 3]),
    (&["note", "only-live", "text"], [3, 3]),
    (&["favourite", "only-live"], [3, 3]),
    (&["batches", "show", "1"], [2, 2]),
    (&["batches", "resume", "1", "--yes"], [2, 4]),
    (&["batches", "retry", "1", "--yes"], [2, 4]),
    (
        &["rotations", "abandon", "1", "--reason", "x", "--yes"],
        [2, 2],
    ),
    (&["history", "only-live"], [3, 4]),
    (&["attention"], [0, 0]),
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
        home.json(0, &["create", "only-live", "--name", "Acme", "--yes"])
            .await;
        home.set(name, &new);
        for (command, codes) in UNKNOWN {
            let ran = home.run(command).await;
            let code = codes[usize::from(!from_variables)];
            assert_eq!(ran.code, code, "{command:?}: {}{}", ran.out, ran.err);
            assert!(!ran.out.contains("only-live"), "{command:?}: {}", ran.out);
            assert_has(&ran.err, "--same-environment");
            let told = ran.err.matches("--same-environment").count();
            assert!(told == 1 || !from_variables, "{command:?}: {}", ran.err);
        }
        assert_eq!(stored_groups(&home), 1, "nothing was created");
        // What waits at the place of the other key is not of this one.
        leave_open(&home);
        for command in [&["attention"][..], &["attention", "--all"]] {
            let ran = home.run(command).await;
            assert_eq!(ran.code, 0, "{command:?}: {}{}", ran.out, ran.err);
            assert!(!ran.out.contains("only-live"), "{command:?}: {}", ran.out);
        }
        home.set(name, &old);
        let ran = home.run(&["attention"]).await;
        assert!(ran.out.contains("only-live"), "{}{}", ran.out, ran.err);
        home.json(0, &["get", "only-live"]).await;
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
    let report = home.json(0, &["doctor"]).await;
    assert_one_finding(
        &report,
        "environment live",
        &["ok: ", "1 group, 0 open", "profiles live"],
    );
    // A key on trial, then proven, then undone.
    let renewed = new_key(&home, "live").await;
    home.set("LIVE_KEY", &renewed);
    let same = ["profile", "bind", "live", "--same-environment"];
    home.json(0, &same).await;
    let report = home.json(0, &["doctor"]).await;
    let proof = "groupdesk profile bind live --same-environment --verify-with ID";
    assert_one_finding(
        &report,
        "not verified",
        &["warning: ", "environment live", proof],
    );
    home.json(0, &[&same[..], &["--verify-with", "acme"]].concat())
        .await;
    home.json(
        0,
        &["update", "acme", "--name", "Acme", "--exists", "--yes"],
    )
    .await;
    home.json(0, &["profile", "unbind", "live"]).await;
    let report = home.json(4, &["doctor"]).await;
    assert_one_finding(
        &report,
        "Known environments: live (1 group)",
        &["problem: ", "--new-environment"],
    );
    assert_one_finding(
        &report,
        "was withdrawn",
        &[
            "warning: ",
            "of environment live",
            "groupdesk -P NAME get --refresh-all",
        ],
    );
    assert!(findings(&report, "on trial").is_empty(), "{report}");
    // Once undone, the profile is bound to no place, and its place has no profile.
    assert_one_finding(
        &report,
        "no profile of the configuration is bound to environment live",
        &[
            "warning: ",
            "1 group",
            "profile bind NAME --same-environment live",
        ],
    );
    let ran = home.run(&["doctor"]).await;
    for words in [
        "environment live: 1 group",
        "was withdrawn",
        "environment merge live",
    ] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    assert!(!ran.out.contains("acme") && !ran.out.contains(&renewed));
}

#[tokio::test]
async fn a_new_profile_of_a_known_address_asks_which_place_it_is() {
    let (home, _serving, url) = served().await;
    let add = |name: &'static str, file: String| {
        let mut all: Vec<String> = ["profile", "add", name, "--base-url", &url]
            .map(str::to_owned)
            .into();
        all.extend(["--environment", "Customer", "--api-key-file", &file].map(str::to_owned));
        all
    };
    let key_file = |name: &str, key: &str| {
        let file = home.write(name, key);
        let only_me = fs::Permissions::from_mode(0o600);
        fs::set_permissions(home.path(name), only_me).expect("set");
        file
    };
    let renewed = key_file("renewed", &new_key(&home, "live").await);
    let other = key_file("other", &new_key(&home, "other").await);
    let run = async |arguments: &[String], more: &[&str]| {
        let mut all: Vec<&str> = arguments.iter().map(String::as_str).collect();
        all.extend(more);
        home.run(&all).await
    };
    // Nobody can be asked: the profile is written, and the command to type is printed.
    let ran = run(&add("later", renewed.clone()), &[]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let line = "groupdesk profile bind later --same-environment";
    assert!(ran.err.contains(line), "{}", ran.err);
    let ran = home.run(&["--profile", "later", "get", "acme"]).await;
    assert_eq!(ran.code, 4, "{}", ran.err);
    let ran = run(&add("renewed", renewed), &["--same-environment", "live"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(
        &ran.err,
        "bound renewed to environment live; its API key is not verified yet",
    );
    let ran = run(&add("other", other), &["--new-environment"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&ran.err, "other is bound to environment other");
    let places = home.json(0, &["environment", "list"]).await;
    let places = places.as_array().expect("a list").iter();
    let names: Vec<_> = places.map(|place| place["environment"].as_str()).collect();
    assert_eq!(names, [Some("live"), Some("other")]);
}

#[tokio::test]
async fn a_hand_off_is_run_by_its_profile_or_where_a_person_says_so() {
    let (home, _serving) = scene("touch $1/ran; exit 3").await;
    let file = home.path("config.toml");
    let text = fs::read_to_string(&file).expect("readable");
    let second = text.replace("[profiles.live]", "[profiles.second]");
    fs::write(&file, format!("{text}{second}")).expect("written");
    let live = ["--profile", "live"];
    let second = ["--profile", "second"];
    let ran = home
        .run(&[&live[..], &["rotate", "acme", "--yes"]].concat())
        .await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    fs::remove_file(home.path("ran")).expect("it was run");
    let failed = ["rotations", "handoff", "--failed"];
    let listed = home.json(0, &[&second[..], &failed].concat()).await;
    assert_eq!(listed[0]["due_in"], "live", "{listed}");
    assert_eq!(listed[0]["handoff"]["state"], "failed");
    let ran = home.run(&[&second[..], &failed].concat()).await;
    assert_has(&ran.err, "waits for its hand-off in profile live");
    assert_has(&ran.err, "--profile second rotations handoff 1");
    assert!(!home.path("ran").exists(), "not run by itself");
    // With its number it is run, and from then on belongs to the second profile.
    let moved = ["rotations", "handoff", "1"];
    home.json(6, &[&second[..], &moved].concat()).await;
    assert!(home.path("ran").exists());
    let listed = home.json(0, &[&live[..], &failed].concat()).await;
    assert_eq!(listed[0]["due_in"], "second", "{listed}");
}

#[tokio::test]
async fn a_key_in_place_of_a_name_is_refused_and_not_repeated() {
    const KEY: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b";
    let (home, _serving, _) = served().await;
    for arguments in [
        ["environment", "rename", "live", KEY],
        ["environment", "rename", KEY, "live"],
        ["environment", "merge", KEY, "live"],
        ["profile", "bind", KEY, "--new-environment"],
    ] {
        let ran = home.run(&arguments).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(
            !ran.err.contains(KEY) && !ran.out.contains(KEY),
            "{}",
            ran.err
        );
    }
    let ran = home.run(&["environment", "show", KEY]).await;
    assert!(ran.code == 2 && !ran.err.contains(KEY), "{}", ran.err);
    home.json(0, &["environment", "rename", "live", "europe"])
        .await;
    let listed = home.json(0, &["environment", "list"]).await;
    assert_eq!(listed[0]["environment"], "europe", "{listed}");
}

/// A profile made of variables goes to a new place with each new key.
#[tokio::test]
async fn an_empty_list_with_a_new_key_says_what_other_keys_know() {
    let (home, _serving, url) = served().await;
    let directory = home.path(".local/share/groupdesk/directory.db");
    let mut other = Home::new();
    other.set("GROUPDESK_DIRECTORY", directory.display().to_string());
    other.set("GROUPDESK_BASE_URL", &url);
    other.set("GROUPDESK_API_KEY", new_key(&home, "live").await);
    let listed = other.run(&["list"]).await;
    assert_eq!(listed.code, 0, "{}", listed.err);
    let told = "the same address has environment live with 1 group";
    assert_has(&listed.err, told);
    let bind = "groupdesk profile bind --variables --same-environment live";
    assert_eq!(listed.err.matches(bind).count(), 1, "{}", listed.err);
    let quiet = other.run(&["list", "--quiet"]).await;
    assert_eq!(quiet.err.matches(bind).count(), 1, "{}", quiet.err);
    assert!(!listed.err.contains("knows no group"), "{}", listed.err);
}

#[tokio::test]
async fn a_profile_without_a_key_is_told_that_it_needs_one_and_not_to_bind_it() {
    let mut home = Home::new();
    let key = new_key(&home, "live").await;
    let (_serving, url) = home.serve().await;
    home.configure(&url, &key);
    home.json(0, &["create", "acme", "--name", "Acme", "--yes"])
        .await;
    let config = std::fs::read_to_string(home.path("config.toml")).expect("read");
    let keyless = format!("{config}\n[profiles.keyless]\nbase_url = \"{url}\"\n");
    home.write("config.toml", &keyless);
    for command in [&["list"][..], &["history"], &["show", "acme"]] {
        let ran = home.run(&[command, &["-P", "keyless"]].concat()).await;
        assert_has(&ran.err, "profile keyless has no API key");
        assert!(
            !ran.err.contains("profile bind"),
            "{command:?}: {}",
            ran.err
        );
    }
    let shown = home.run(&["profile", "show", "keyless"]).await;
    assert_has(&shown.out, "no API key");
    assert!(!shown.out.contains("read-write"), "{}", shown.out);
    let shown = home
        .run(&["environment", "show", "live", "-P", "live"])
        .await;
    assert_has(&shown.out, "created by ");
}

#[tokio::test]
async fn an_empty_list_of_an_undecided_profile_proposes_nothing_that_is_refused() {
    let mut home = Home::new();
    let key = new_key(&home, "live").await;
    let (_serving, url) = home.serve().await;
    home.configure(&url, &key);
    home.json(0, &["create", "acme", "--yes"]).await;
    let config = fs::read_to_string(home.path("config.toml")).expect("read");
    let elsewhere = config
        .replace("[profiles.live]", "[profiles.moved]")
        .replace(&url, "http://127.0.0.1:1");
    home.write("key", &key);
    let file = home.path("key").display().to_string();
    let of_command = elsewhere
        .replace("[profiles.moved]", "[profiles.told]")
        .replace(
            "{ env = \"LIVE_KEY\" }",
            &format!("{{ command = [\"cat\", \"{file}\"] }}"),
        );
    home.write(
        "config.toml",
        &format!("{config}\n{elsewhere}\n{of_command}"),
    );
    for profile in ["moved", "told"] {
        let refused = home.run(&["create", "other", "--yes", "-P", profile]).await;
        assert_eq!(refused.code, 4, "{}", refused.err);
        for command in [&["list"][..], &["get", "nobody"], &["show", "nobody"]] {
            let ran = home.run(&[command, &["-P", profile]].concat()).await;
            let bind = format!("profile bind {profile} --same-environment");
            assert_has(&ran.err, &bind);
            assert!(!ran.err.contains("groupdesk create"), "{}", ran.err);
        }
    }
}

#[tokio::test]
async fn a_plan_with_an_unknown_key_says_that_its_groups_look_new() {
    let (home, _serving) = super::guards::knowing_acme(vec![]).await;
    home.write("g.csv", "user_group_id,name\nacme,Acme\n");
    home.json(0, &["profile", "unbind", "live"]).await;
    for option in ["--refresh", "--restart"] {
        let ran = home.run(&["import", "g.csv", option, "--dry-run"]).await;
        assert_eq!(ran.code, 2, "it would do nothing: {}", ran.err);
        assert_has(&ran.err, &format!("{option} needs --create or --update"));
    }
    for arguments in [
        &["import", "g.csv", "--dry-run"][..],
        &["import", "g.csv", "--create", "--dry-run"],
        &["import", "g.csv", "--update", "--dry-run"],
        &["apply", "g.csv", "--dry-run"],
        &["diff", "g.csv"],
    ] {
        let ran = home.run(arguments).await;
        let told =
            "! no group is known with this API key; another key of the same address knows 1 group";
        assert_has(&ran.err, told);
    }
    let ran = home.run(&["diff", "acme", "--with", "live"]).await;
    assert_eq!(ran.code, 4, "as for `get`: {}", ran.err);
    assert!(
        !ran.err.contains("profile live: profile live"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn no_option_that_decides_what_is_opened_takes_a_token() {
    let (mut home, _service) = super::guards::knowing_acme(vec![]).await;
    let token = "3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8551";
    for option in ["--config", "--directory", "--profile"] {
        let ran = home.run(&["list", option, token]).await;
        assert_eq!(ran.code, 2, "{option}: {}", ran.err);
        assert_has(&ran.err, &format!("{option}: this looks like a token"));
        let said = ran.out + &ran.err;
        assert!(!said.contains(token), "{option} repeats it: {said}");
    }
    home.set("GROUPDESK_DIRECTORY", token);
    let ran = home.run(&["list"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(!ran.err.contains(token), "{}", ran.err);
    let here = std::env::current_dir().expect("a folder");
    for folder in [home.path(""), here] {
        assert!(!folder.join(token).exists(), "a directory of that name");
    }
}
