//! `doctor`: its findings and its advice, its exit codes, that it changes nothing, and that its report can be shared
//! safely.

mod rights;
mod service;
mod tls;

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme, methods},
    program::{Background, Home, files},
};
use crate::support::{
    assertions::assert_has,
    faults::{Fault, Faults, http, json as answer},
};

/// The answer of a service to an update that names no group.
fn refusal() -> Fault {
    says("400 Bad Request", "invalid_request")
}

fn says(status: &str, code: &str) -> Fault {
    answer(
        status,
        &json!({"success": 0, "error": {"code": code, "message": "no"}}),
    )
}

/// The findings of an area, as `severity: found`.
fn findings_of<'a>(report: &'a Value, area: &str) -> Vec<String> {
    let findings = report["findings"].as_array().expect("a list");
    let of_area = findings.iter().filter(|finding| finding["area"] == area);
    let text = |value: &'a Value| value.as_str().expect("a text");
    of_area
        .map(|finding| {
            format!(
                "{}: {}",
                text(&finding["severity"]),
                text(&finding["found"])
            )
        })
        .collect()
}

/// The complete finding that contains these words.
fn finding_with<'a>(report: &'a Value, words: &str) -> &'a Value {
    let findings = report["findings"].as_array().expect("a list");
    let has = |finding: &&Value| {
        finding["found"]
            .as_str()
            .is_some_and(|found| found.contains(words))
    };
    findings
        .iter()
        .find(has)
        .unwrap_or_else(|| panic!("{words:?} is not in {report:#}"))
}

fn set_mode(path: &std::path::Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

#[tokio::test]
async fn the_demo_is_clean_for_people_and_for_programs() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let report = home.json(0, &["doctor", "--id", "acme-eu"]).await;
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["worst"], "note", "{report:#}");
    for finding in report["findings"].as_array().expect("a list") {
        let keys: Vec<_> = finding.as_object().expect("one").keys().collect();
        assert_eq!(keys, ["area", "severity", "found", "advice"]);
        if finding["severity"] != "ok" {
            assert!(finding["advice"].is_string(), "{finding}");
            assert_eq!(finding["area"], "terminal", "{finding}");
        }
    }
    for words in [
        "profile testing: http://127.0.0.1:",
        "can be read from file ",
        "connection to port ",
        "the API key is accepted",
        "a get of \"acme-eu\" returned that ID: a GET body reaches the service",
        "agrees with the service's clock to within a minute",
        "passed the integrity check, version ",
        "23 groups known, over all profiles",
        "no open rotation",
    ] {
        assert_eq!(finding_with(&report, words)["severity"], "ok", "{words}");
    }
    let human = home.run(&["doctor"]).await;
    assert_eq!((human.code, human.err.as_str()), (0, ""));
    assert!(
        human.out.lines().all(|line| line.chars().count() <= 80),
        "{}",
        human.out
    );
    assert_has(&human.out, " 0 warnings, 0 problems\n");
    assert_has(&human.out, "-> To test it, run `groupdesk doctor --id ID`");
}

#[tokio::test]
async fn without_any_profile_doctor_says_how_to_begin_and_writes_no_file() {
    let home = Home::new();
    let report = home.json(2, &["doctor", "--id", "acme"]).await;
    assert_eq!(report["worst"], "problem");
    let configuration = findings_of(&report, "configuration");
    assert!(
        configuration[0].starts_with("note: there is no file ~/.config/"),
        "{configuration:?}"
    );
    assert!(
        configuration[1].contains("groupdesk profile add NAME"),
        "{configuration:?}"
    );
    assert!(findings_of(&report, "directory")[0].contains("none yet at ~/.local/share/groupdesk/"));
    assert_eq!(files(home.folder.path()), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn a_broken_configuration_is_reported_by_line_and_the_rest_is_still_checked() {
    let (home, service) = knowing_acme(vec![refusal()]).await;
    home.write(
        "config.toml",
        "defualt_profile = \"live\"\n[profiles.live]\nbase_url = \"api.example.com\"\n\
         api_key = \"canary-5up3r53cr3t-canary\"\n[keys]\nopen = [\"no such key\"]\n",
    );
    let report = home.json(2, &["doctor"]).await;
    let found = findings_of(&report, "configuration").join("\n");
    for place in ["config.toml:1:", "config.toml:3:", "config.toml:4:"] {
        assert!(found.contains(place), "{place}: {found}");
    }
    assert_eq!(
        finding_with(&report, "config.toml:4:")["advice"],
        "Fix line 4; until then only completions, demo, help, man and serve work."
    );
    assert!(!report.to_string().contains("canary"), "{report:#}");
    assert_eq!(finding_with(&report, "1 group known")["severity"], "ok");
    assert_eq!(methods(&service), ["GET"], "only the one before");

    // A part of the configuration that only the console uses.
    home.write(
        "config.toml",
        "[profiles.live]\nbase_url = \"https://127.0.0.1:1\"\napi_key = { env = \"LIVE_KEY\" }\n\
         [keys]\nopen = [\"no such key\"]\n",
    );
    let report = home.json(2, &["doctor"]).await;
    let found = findings_of(&report, "configuration").join("\n");
    assert!(found.contains("problem: ~/config.toml:5:"), "{found}");
    assert_eq!(
        finding_with(&report, "config.toml:5:")["advice"],
        "Fix line 5; until then the console does not start; the commands work."
    );
    let unknown = home.json(2, &["doctor", "--profile", "lvie"]).await;
    finding_with(&unknown, "did you mean \"live\"?");
}

/// Its report about a wrong line matches what really happens.
#[tokio::test]
async fn a_wrong_line_stops_only_what_doctor_says_it_stops() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:1", "key-of-the-desk");
    let sound = fs::read_to_string(home.path("config.toml")).expect("readable");
    let database = home.database();
    let without_file: [&[&str]; 4] = [
        &["completions", "bash"],
        &["help", "json"],
        &["man"],
        &["serve", "keys", "list", "--database", &database],
    ];
    let with_file: [&[&str]; 6] = [
        &["list"],
        &["history"],
        &["rotations"],
        &["export"],
        &["profile", "list"],
        &["profile", "show"],
    ];
    for (wrong, code) in [
        ("[keys]\nno_such_action = [\"x\"]\n", 0),
        ("[keys]\ntoken = 3\n", 2),
        ("[profiles.other]\nbase_url = 3\n", 2),
        ("no equals sign\n", 2),
    ] {
        home.write("config.toml", &format!("{sound}{wrong}"));
        for arguments in with_file {
            let ran = home.run(arguments).await;
            assert_eq!(ran.code, code, "{wrong}: {arguments:?}: {}", ran.err);
        }
        for arguments in without_file {
            let ran = home.run(arguments).await;
            assert_eq!(ran.code, 0, "{wrong}: {arguments:?}: {}", ran.err);
        }
        let mut demo = Background::start(home.command(&["demo", "--hold"]));
        assert!(demo.line().await.starts_with("export "), "{wrong}");
    }
}

#[tokio::test]
async fn the_directory_is_checked_and_not_changed() {
    let (mut home, _service) = knowing_acme(vec![refusal()]).await;
    let file = home.path(".local/share/groupdesk/directory.db");
    let before = fs::read(&file).expect("there");
    set_mode(&file, 0o640);
    set_mode(file.parent().expect("a folder"), 0o777);
    set_mode(&home.path("config.toml"), 0o664);
    let report = home.json(0, &["doctor"]).await;
    assert_eq!(report["worst"], "warning");
    for words in [
        "other users may use ~/.local/share/groupdesk/directory.db (mode 0640)",
        "other users can put files into ~/.local/share/groupdesk (mode 0777)",
        "other users can write to the file ~/config.toml (mode 0664)",
    ] {
        let finding = finding_with(&report, words);
        assert_eq!(finding["severity"], "warning");
        assert!(
            finding["advice"]
                .as_str()
                .is_some_and(|advice| advice.starts_with("chmod "))
        );
    }
    let mode = fs::metadata(&file).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640, "looking narrows nothing");
    assert!(
        fs::read(&file).expect("there") == before,
        "looking writes nothing"
    );

    let mut damaged = before.clone();
    damaged[4096..].fill(0xff);
    fs::write(&file, &damaged).expect("written");
    let report = home.json(2, &["doctor", "--id", "acme"]).await;
    let found = findings_of(&report, "directory").join("\n");
    assert!(
        found.contains("integrity check found ") || found.contains("is damaged"),
        "{found}"
    );
    assert_eq!(report["worst"], "problem");
    assert!(
        fs::read(&file).expect("there") == damaged,
        "and mends nothing"
    );

    let foreign = home.write("notes.txt", &"not a database\n".repeat(100));
    home.set("GROUPDESK_DIRECTORY", foreign);
    let report = home.json(2, &["doctor"]).await;
    finding_with(&report, "~/notes.txt is not a directory of groupdesk");
}

#[tokio::test]
async fn doctor_reads_the_clipboard_settings_of_tmux() {
    let mut home = Home::new();
    let tmux = home.write(
        "tmux",
        "#!/bin/sh\n[ \"$*\" = 'show-options -sv set-clipboard' ] && echo external\n",
    );
    set_mode(tmux.as_ref(), 0o755);
    home.set("TMUX", "/tmp/tmux-0/default,1,0");
    home.set("PATH", home.folder.path().display().to_string());
    let report = home.json(2, &["doctor"]).await;
    let finding = finding_with(&report, "inside tmux");
    assert!(
        finding["found"]
            .as_str()
            .is_some_and(|found| found.ends_with("set-clipboard is external"))
    );
    assert!(
        finding["advice"]
            .as_str()
            .is_some_and(|advice| advice.contains("set -g set-clipboard on"))
    );
}

#[tokio::test]
async fn concerns_are_counted_without_names() {
    let lost = vec![
        group("token-0", &Value::Null),
        Fault::Close,
        Fault::Close,
        refusal(),
    ];
    let (home, _service) = knowing_acme(lost).await;
    let rotated = home.run(&["rotate", "acme", "--yes"]).await;
    assert_eq!(rotated.code, 7, "{}", rotated.err);
    let report = home.json(0, &["doctor"]).await;
    let finding = finding_with(&report, "1 open rotation: result unknown");
    assert_eq!(finding["severity"], "warning");
    assert!(
        finding["advice"]
            .as_str()
            .is_some_and(|advice| advice.contains("rotations check"))
    );
    assert!(!report.to_string().contains("acme"), "{report:#}");
}

#[tokio::test]
async fn the_report_is_safe_to_paste() {
    const KEY: &str = "canary-k3y-5up3r53cr3t";
    let words =
        json!({"success": 0, "error": {"code": "bad", "message": format!("bad key {KEY}")}});
    let told = |status: &str| answer(status, &words);
    let redirect = Fault::Answer(http(
        "302 Found",
        &[
            &format!("Location: https://canary:{KEY}@elsewhere.example/?key={KEY}"),
            &format!("Via: {KEY}"),
        ],
        "",
    ));
    let wide = "canary-name-of-a-customer";
    for fault in [
        told("401 Unauthorized"),
        told("403 Forbidden"),
        told("400 Bad Request"),
        told("500 Oh"),
        redirect,
    ] {
        let first = group(
            "canary-token-0f-acme",
            &json!({"name": wide, "provided_id": "acme"}),
        );
        let service = Faults::start(vec![first, fault]).await;
        let mut home = Home::new();
        home.connect(&service.base_url(), KEY);
        home.json(0, &["get", "acme", "--exists"]).await;
        for arguments in [
            &["doctor"][..],
            &["doctor", "--id", "acme"],
            &["doctor", "--json", "--id", "acme"],
        ] {
            let ran = home.run(arguments).await;
            assert!(
                !format!("{ran:?}").contains("canary"),
                "{arguments:?}: {}{}",
                ran.out,
                ran.err
            );
        }
    }
    // A command that silently leaks what it should hand over.
    let home = Home::new();
    let config = home.write(
        "config.toml",
        &format!(
            "[profiles.live]\nbase_url = \"http://127.0.0.1:1\"\n\
             api_key = {{ command = [\"sh\", \"-c\", \"echo {KEY} >&2; exit 3\"] }}\n"
        ),
    );
    let ran = home.run(&["doctor", "--config", &config]).await;
    assert_eq!(ran.code, 4, "{}", ran.out);
    assert!(ran.out.contains("from command sh: it ended"), "{}", ran.out);
    assert!(
        !format!("{ran:?}").contains("canary"),
        "{}{}",
        ran.out,
        ran.err
    );
}

#[tokio::test]
async fn a_profile_with_a_doubtful_place_is_named_and_nothing_is_written() {
    let mut home = Home::new();
    let (_serving, url) = home.serve().await;
    let arguments = ["--environment", "production", "--tag", "Customer"];
    let key = home.key(&arguments).await;
    home.connect(&url, &key);
    home.json(0, &["create", "acme", "--yes"]).await;
    home.json(0, &["doctor"]).await;
    let other = home.key(&["--environment", "other"]).await;
    home.configure(&url, &other);
    let file = home.path(".local/share/groupdesk/directory.db");
    let before = fs::read(&file).expect("there");
    let report = home.json(4, &["doctor"]).await;
    let found = finding_with(&report, "is new for its URL");
    assert_eq!(found["severity"], "problem");
    let words = found["found"].as_str().expect("a text");
    assert!(words.contains("(1 group)"), "{words}");
    assert!(words.contains("profile bind"), "{words}");
    assert!(fs::read(&file).expect("there") == before);
    home.json(4, &["get", "acme"]).await;
}

#[tokio::test]
async fn a_place_that_cannot_be_written_and_an_empty_directory_are_problems() {
    let mut home = Home::new();
    // Not even root can create files below a file.
    home.write("file", "x");
    home.set(
        "XDG_DATA_HOME",
        home.path("file/below").display().to_string(),
    );
    let ran = home.run(&["doctor", "--json"]).await;
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    let found = finding_with(&report, "nothing can be written to");
    assert_eq!(found["severity"], "problem");

    let mut home = Home::new();
    std::fs::create_dir_all(home.path("data")).expect("a folder");
    let file = home.write("data/directory.db", "");
    home.set("GROUPDESK_DIRECTORY", file);
    let ran = home.run(&["doctor", "--json"]).await;
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    let found = finding_with(&report, "is empty (0 bytes)");
    assert_eq!(found["severity"], "problem");
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
        let young = home
            .run(&["list", "--filter", "age<1d", "-o", "name"])
            .await;
        assert_eq!(
            (young.code, young.out.as_str()),
            (0, listed),
            "{}",
            young.err
        );
    }
    rotated(3 * 86_400 + 3_600);
    let ran = home.run(&["list", "--columns", "id,age"]).await;
    assert_has(&ran.out, "acme  -");
    let ran = home.run(&["show", "acme"]).await;
    assert_has(&ran.out, "in the future: 2");
    let ran = home.run(&["doctor", "--json"]).await;
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        finding_with(&report, "times in the future")["severity"],
        "problem"
    );
}
