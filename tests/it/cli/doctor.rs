//! `doctor`: its findings and its advice, its exit codes, that it changes nothing, and that its report can be shared
//! safely.

mod rights;
mod service;
mod tls;

use std::{fs, time::Duration};

use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme, methods},
    program::{Background, Home, files, mode, set_mode},
};
use crate::support::{
    assertions::assert_has,
    faults::{Fault, Faults, http, json as answer},
};

/// The answer of a service to an update that names no group.
fn refusal() -> Fault {
    says("400 Bad Request", "invalid_request")
}

/// A refusal with this code.
pub(super) fn says(status: &str, code: &str) -> Fault {
    answer(
        status,
        &json!({"success": 0, "error": {"code": code, "message": "no"}}),
    )
}

fn findings(report: &Value) -> &Vec<Value> {
    report["findings"].as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The findings of an area, as `severity: found`.
fn findings_of(report: &Value, area: &str) -> Vec<String> {
    let of_area = findings(report).iter().filter(|one| one["area"] == area);
    let line = |one: &Value| format!("{}: {}", text(&one["severity"]), text(&one["found"]));
    of_area.map(line).collect()
}

/// The finding that contains these words: its severity and its advice.
#[track_caller]
pub(super) fn finding<'a>(report: &'a Value, words: &str) -> (&'a str, &'a str) {
    let mut all = findings(report).iter();
    let found = all.find(|one| text(&one["found"]).contains(words));
    let found = found.unwrap_or_else(|| panic!("{words:?} is not in {report:#}"));
    (text(&found["severity"]), text(&found["advice"]))
}

#[tokio::test]
async fn the_demo_is_clean_for_people_and_for_programs() {
    let (home, _held) = Home::in_demo().await;
    let report = home.json(0, "doctor --id acme-eu").await;
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["worst"], "note", "{report:#}");
    for finding in findings(&report)
        .iter()
        .filter(|one| one["severity"] != "ok")
    {
        assert!(finding["advice"].is_string(), "{finding}");
        assert_eq!(finding["area"], "terminal", "{finding}");
    }
    for words in [
        "profile testing: http://127.0.0.1:",
        "can be read from file ",
        "connection to port ",
        "the API key is accepted",
        "a get of \"acme-eu\" returned that ID: a GET body reaches the service",
        "agrees with the service's clock to within a minute",
        "passed the integrity check, version ",
        "23 groups known, in all profiles",
        "no open rotations",
    ] {
        assert_eq!(finding(&report, words).0, "ok", "{words}");
    }
    let human = home.exits(0, "doctor").await;
    human.warns("").shows(" 0 warnings, 0 problems\n");
    human.shows("-> To test it, run `groupdesk doctor --id ID`");
}

#[tokio::test]
async fn without_any_profile_doctor_says_how_to_begin_and_writes_no_file() {
    let home = Home::new();
    let report = home.json(2, "doctor --id acme").await;
    assert_eq!(report["worst"], "problem");
    assert_eq!(finding(&report, "there is no file ~/.config/").0, "note");
    finding(&report, "groupdesk profile add NAME");
    finding(&report, "none yet at ~/.local/share/groupdesk/");
    assert_eq!(files(home.folder.path()), Vec::<std::path::PathBuf>::new());
    // What it proposes changes the file that was checked.
    home.write("empty.toml", "");
    let report = home.json(2, "doctor --config empty.toml").await;
    let (_, advice) = finding(&report, "`groupdesk --config empty.toml profile add NAME`");
    assert_has(advice, "`groupdesk --config empty.toml profile add NAME`");
}

#[tokio::test]
async fn a_broken_configuration_is_reported_by_line_and_the_rest_is_still_checked() {
    let (home, service) = knowing_acme(vec![refusal()]).await;
    home.write(
        "config.toml",
        "defualt_profile = \"live\"\n[profiles.live]\nbase_url = \"api.example.com\"\n\
         api_key = \"canary-5up3r53cr3t-canary\"\n[keys]\nopen = [\"no such key\"]\n",
    );
    let report = home.json(2, "doctor").await;
    for place in ["config.toml:1:", "config.toml:3:", "config.toml:4:"] {
        finding(&report, place);
    }
    let advice = "Fix line 4; until then only completions, demo, help, man and serve work.";
    assert_eq!(finding(&report, "config.toml:4:").1, advice);
    assert!(!report.to_string().contains("canary"), "{report:#}");
    assert_eq!(finding(&report, "1 group known").0, "ok");
    assert_eq!(methods(&service), ["GET"], "only the one before");

    // A part of the configuration that only the console uses.
    home.write(
        "config.toml",
        "[profiles.live]\nbase_url = \"https://127.0.0.1:1\"\napi_key = { env = \"LIVE_KEY\" }\n\
         [keys]\nopen = [\"no such key\"]\n",
    );
    let report = home.json(2, "doctor").await;
    let advice = "Fix line 5; until then the console does not start; the commands work.";
    let found = finding(&report, "~/config.toml:5:");
    assert_eq!(found, ("problem", advice));
    let unknown = home.json(2, "doctor --profile lvie").await;
    finding(&unknown, "did you mean \"live\"?");
}

/// Its report about a wrong line matches what really happens.
#[tokio::test]
async fn a_wrong_line_stops_only_what_doctor_says_it_stops() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:1", "key-of-the-desk");
    let sound = home.config();
    let without_file = ["completions bash", "man", "serve keys list"];
    let with_file = ["list", "export", "profile show"];
    for (wrong, code) in [
        ("[keys]\nno_such_action = [\"x\"]\n", 0),
        ("[profiles.other]\nbase_url = 3\n", 2),
        ("no equals sign\n", 2),
    ] {
        home.write("config.toml", &format!("{sound}{wrong}"));
        let with_file = with_file.iter().map(|line| (code, *line, ""));
        let all = with_file.chain(without_file.iter().map(|line| (0, *line, "")));
        home.each(&all.collect::<Vec<_>>()).await;
        let mut demo = Background::start(home.command("demo --hold"));
        assert!(demo.line().await.starts_with("export "), "{wrong}");
    }
}

#[tokio::test]
async fn the_directory_is_checked_and_not_changed() {
    let (mut home, _service) = knowing_acme(vec![refusal()]).await;
    let file = home.path(".local/share/groupdesk/directory.db");
    let before = fs::read(&file).expect("there");
    home.write(".local/share/groupdesk/service.db", "tokens");
    set_mode(home.path(".local/share/groupdesk/service.db"), 0o644);
    set_mode(&file, 0o640);
    set_mode(file.parent().expect("a folder"), 0o777);
    set_mode(home.path("config.toml"), 0o664);
    let report = home.json(0, "doctor").await;
    assert_eq!(report["worst"], "warning");
    for words in [
        "other users may use ~/.local/share/groupdesk/directory.db (mode 0640)",
        "other users may use ~/.local/share/groupdesk/service.db (mode 0644)",
        "other users can put files into ~/.local/share/groupdesk (mode 0777)",
        "other users can write to the file ~/config.toml (mode 0664)",
    ] {
        let (severity, advice) = finding(&report, words);
        assert_eq!(severity, "warning");
        assert!(advice.starts_with("chmod "), "{advice}");
    }
    assert_eq!(mode(&file), 0o640, "looking narrows nothing");
    let now = fs::read(&file).expect("there");
    assert!(now == before, "looking writes nothing");

    let mut damaged = before.clone();
    damaged[4096..].fill(0xff);
    fs::write(&file, &damaged).expect("written");
    let report = home.json(2, "doctor --id acme").await;
    let found = findings_of(&report, "directory").join("\n");
    let is_found = found.contains("integrity check found ") || found.contains("is damaged");
    assert!(is_found, "{found}");
    assert_eq!(report["worst"], "problem");
    let now = fs::read(&file).expect("there");
    assert!(now == damaged, "and mends nothing");

    fs::write(&file, &before[..20_000]).expect("written");
    let report = home.json(2, "doctor").await;
    let (_, advice) = finding(
        &report,
        &format!("is damaged: only 20000 of {} bytes are left", before.len()),
    );
    assert!(advice.starts_with("Restore a backup"), "{advice}");

    let notes = home.write("notes.txt", &"not a database\n".repeat(100));
    let mut marked = before.clone();
    marked[68..72].copy_from_slice(b"gdgS");
    let service = home.path("served.db");
    fs::write(&service, &marked).expect("written");
    let service = service.display().to_string();
    for (foreign, what) in [
        (notes, "not an SQLite database"),
        (service, "the database of `groupdesk serve`"),
    ] {
        home.set("GROUPDESK_DIRECTORY", foreign);
        let report = home.json(2, "doctor").await;
        let words = format!("is not a directory of groupdesk: it is {what}");
        let (_, advice) = finding(&report, &words);
        assert!(
            !advice.contains("doctor") && advice.contains("--directory"),
            "{advice}"
        );
    }
}

#[tokio::test]
async fn doctor_reads_the_clipboard_settings_of_tmux() {
    let mut home = Home::new();
    let tmux = home.write(
        "tmux",
        "#!/bin/sh\n[ \"$*\" = 'show-options -sv set-clipboard' ] && echo external\n",
    );
    set_mode(tmux, 0o755);
    home.set("TMUX", "/tmp/tmux-0/default,1,0");
    home.set("PATH", home.at(""));
    let report = home.json(2, "doctor").await;
    let (_, advice) = finding(&report, "inside tmux");
    finding(&report, "set-clipboard is external");
    assert!(advice.contains("set -g set-clipboard on"), "{advice}");
}

#[tokio::test]
async fn concerns_are_counted_without_names() {
    let old = group("token-0", &Value::Null);
    let lost = vec![old, Fault::Close, Fault::Close, refusal()];
    let (home, _service) = knowing_acme(lost).await;
    home.exits(7, "rotate acme --yes").await;
    let report = home.json(0, "doctor").await;
    let (severity, advice) = finding(&report, "1 open rotation: result unknown, or in conflict");
    assert_eq!(severity, "warning");
    assert!(advice.contains("rotations check"), "{advice}");
    assert!(!report.to_string().contains("acme"), "{report:#}");

    // One that may be at work is nothing to look after, unless its process has ended.
    let at_work = "1 change in progress";
    let ended = if cfg!(target_os = "linux") {
        "1 open rotation: result unknown, or in conflict"
    } else {
        at_work
    };
    let mut all = files(home.folder.path()).into_iter();
    let file = all.find(|file| file.ends_with("directory.db"));
    let file = file.expect("a directory");
    for (process, found) in [("process", ended), ("NULL", at_work)] {
        let sent = format!(
            "UPDATE rotations SET state = 'sent', process = {process}, boot_clock = NULL, sent_at = 9000000000000000"
        );
        let directory = rusqlite::Connection::open(&file).expect("open");
        assert_eq!(directory.execute(&sent, []).expect("done"), 1);
        drop(directory);
        finding(&home.json(0, "doctor").await, found);
    }

    // A hand-off is in progress for as long as its profile lets it run.
    let directory = rusqlite::Connection::open(&file).expect("open");
    let rotated = "UPDATE rotations SET state = 'confirmed', handoff = 'pending', sent_at = ?1";
    let sent = jiff::Timestamp::now() - Duration::from_secs(90);
    let changed = directory.execute(rotated, [sent.as_microsecond()]);
    assert_eq!(changed.expect("done"), 1);
    drop(directory);
    finding(&home.json(0, "doctor").await, "1 pending, 0 failed");
    home.add_config("handoff = { command = [\"true\"], timeout = \"5m\" }\n");
    finding(&home.json(0, "doctor").await, at_work);
}

#[tokio::test]
async fn the_report_is_safe_to_paste() {
    const KEY: &str = "canary-k3y-5up3r53cr3t";
    let words =
        json!({"success": 0, "error": {"code": "bad", "message": format!("bad key {KEY}")}});
    let elsewhere = format!("Location: https://canary:{KEY}@elsewhere.example/?key={KEY}");
    let redirect = http("302 Found", &[&elsewhere, &format!("Via: {KEY}")], "");
    let statuses = [
        "401 Unauthorized",
        "403 Forbidden",
        "400 Bad Request",
        "500 Oh",
    ];
    let faults = statuses.map(|status| answer(status, &words)).into_iter();
    for fault in faults.chain([Fault::Answer(redirect)]) {
        let named = json!({"name": "canary-name-of-a-customer", "provided_id": "acme"});
        let first = group("canary-token-0f-acme", &named);
        let service = Faults::start(vec![first, fault]).await;
        let mut home = Home::new();
        home.connect(&service.base_url(), KEY);
        home.json(0, "get acme --exists").await;
        for line in ["doctor --id acme", "doctor --json --id acme"] {
            home.run(line).await.hides("canary");
        }
    }
    // A command that silently leaks what it should hand over.
    let home = Home::new();
    home.write(
        "config.toml",
        &format!(
            "[profiles.live]\nbase_url = \"http://127.0.0.1:1\"\n\
             api_key = {{ command = [\"sh\", \"-c\", \"echo {KEY} >&2; exit 3\"] }}\n"
        ),
    );
    let ran = home.exits(4, "doctor --config config.toml").await;
    ran.shows("from command sh: it ended").hides("canary");
}

#[tokio::test]
async fn a_place_that_cannot_be_written_and_an_empty_directory_are_problems() {
    let mut home = Home::new();
    // Not even root can create files below a file.
    home.write("file", "x");
    home.set("XDG_DATA_HOME", home.at("file/below"));
    let report = home.json(2, "doctor").await;
    assert_eq!(finding(&report, "nothing can be written to").0, "problem");

    let mut home = Home::new();
    let file = home.write("directory.db", "");
    home.set("GROUPDESK_DIRECTORY", file);
    let report = home.json(2, "doctor").await;
    assert_eq!(finding(&report, "is empty (0 bytes)").0, "problem");
}

#[tokio::test]
async fn times_in_the_future_are_told_and_count_as_an_unknown_age() {
    let (home, _service) = knowing_acme(vec![refusal()]).await;
    let rotated = |seconds: i64| {
        let directory = home.path(".local/share/groupdesk/directory.db");
        let connection = rusqlite::Connection::open(directory).expect("a directory");
        let set = "UPDATE user_groups SET last_rotated_at = (unixepoch('now') + ?1) * 1000000";
        assert_eq!(connection.execute(set, [seconds]), Ok(1));
    };
    for (seconds, listed) in [(-3_600, "acme\n"), (86_400, "")] {
        rotated(seconds);
        let young = home.exits(0, "list --filter age<1d -o name").await;
        young.prints(listed);
    }
    rotated(3 * 86_400 + 3_600);
    home.exits(0, "list --columns id,age")
        .await
        .shows("acme  -");
    home.exits(0, "show acme").await.shows("in the future: 2");
    let report = home.run("doctor --json").await.json();
    assert_eq!(finding(&report, "times in the future").0, "problem");
}
