//! The hand-off on the command line: right after a rotation, after a failure, and after a crash in the middle.

use rustix::process::Signal;

use super::program::{Background, Home};
use crate::support::{assertions::assert_has, bare::args, wait::eventually};

/// An installation with a service, a group `acme`, and a profile that hands off to a script.
pub(super) async fn scene(script: &str) -> (Home, Background) {
    let mut home = Home::new();
    let key = home.key(&args("--environment live --tag Customer")).await;
    let (serving, url) = home.serve().await;
    home.connect(&url, &key);
    set_script(&home, script);
    let folder = home.path("").display().to_string();
    let config = std::fs::read_to_string(home.path("config.toml")).expect("there");
    home.write(
        "config.toml",
        &format!(
            "{config}handoff = {{ command = [\"/bin/sh\", \"{folder}/script\", \"{folder}\"] }}\n"
        ),
    );
    home.json(0, &["create", "acme", "--name", "Acme", "--yes"])
        .await;
    (home, serving)
}

/// Replaces the hand-off script; `$1` is the folder of the installation.
pub(super) fn set_script(home: &Home, script: &str) {
    home.write("script", script);
}

async fn exists(home: &Home, name: &str) {
    eventually(name, || home.path(name).exists()).await;
}

async fn token(home: &Home) -> String {
    let ran = home.run(&["get", "acme", "--reveal"]).await;
    ran.out.trim_end().to_owned()
}

/// The profile of its environment shows it, not the selected one of another environment.
#[tokio::test]
async fn a_hand_off_of_a_removed_profile_is_looked_at_in_its_environment() {
    let (home, _serving) = scene("exit 3").await;
    let ran = home.run(&["rotate", "acme", "--yes"]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    let config = std::fs::read_to_string(home.path("config.toml")).expect("there");
    let second = config.replace("[profiles.live]", "[profiles.second]");
    home.write("config.toml", &format!("{config}{second}"));
    let bind = [
        "-P",
        "second",
        "profile",
        "bind",
        "second",
        "--same-environment",
        "live",
    ];
    let bound = home.run(&bind).await;
    assert_eq!(bound.code, 0, "{}", bound.err);
    let other =
        "[profiles.other]\nbase_url = \"http://127.0.0.1:9\"\napi_key = { env = \"OTHER_KEY\" }\n";
    home.write("config.toml", &format!("{other}{second}"));
    let found = home.json(7, &["-P", "other", "attention", "--all"]).await;
    let next = "groupdesk -P second history acme";
    assert_eq!(found[0]["next"], next, "{found:#}");
}

const WAITS: &str = "cat > $1/in.new; mv $1/in.new $1/in; touch $1/started; \
                     while [ ! -e $1/go ] && [ -d $1 ]; do sleep 0.02; done";

#[tokio::test]
async fn a_rotation_hands_off_and_says_so() {
    let (home, _serving) = scene("cat > $1/in; echo stored >&2").await;
    let rotated = home.json(0, &["rotate", "acme", "--yes"]).await;
    assert_eq!(rotated["outcome"], "confirmed");
    assert_eq!(
        rotated["handoff"],
        serde_json::json!({"state": "done", "exit": 0, "note": "stored"})
    );
    let got = std::fs::read_to_string(home.path("in")).expect("taken");
    let token = token(&home).await;
    assert!(got.contains(&token) && !rotated.to_string().contains(&token));
    let refused = home.run(&["rotate", "acme", "--yes"]).await;
    assert_eq!(refused.code, 3, "it was rotated a moment ago");
    let again = ["rotate", "acme", "--yes", "--include-recent"];
    let ran = home.run(&again).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&refused.err, "--include-recent");
    assert_has(&ran.err, "handing the new token to /bin/sh");
    assert_has(&ran.err, "\"acme\" handed off: stored");
    let ran = home.run(&["rotations", "handoff", "--pending"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(ran.err.contains("nothing waits"), "{}", ran.err);
}

#[tokio::test]
async fn a_failed_hand_off_ends_with_6_and_can_be_repeated() {
    let (home, _serving) = scene("cat >&2; exit 3").await;
    let ran = home.run(&["rotate", "acme", "--yes"]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.out.contains("confirmed"), "{}", ran.out);
    for words in [
        "HAND-OFF FAILED (exit 3)",
        "was not delivered",
        "groupdesk rotations handoff 1",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let token = token(&home).await;
    assert!(!ran.err.contains(&token) && !ran.out.contains(&token));

    let again = home.json(6, &["rotations", "handoff", "1"]).await;
    assert_eq!(again[0]["handoff"]["exit"], 3);
    set_script(&home, "cat > $1/in");
    let none = home.json(0, &["rotations", "handoff"]).await;
    assert_eq!(
        none,
        serde_json::json!([]),
        "a failed one waits for a person"
    );
    let again = home.json(0, &["rotations", "handoff", "--failed"]).await;
    assert_eq!(again[0]["rotation"], 1);
    assert_eq!(again[0]["handoff"]["state"], "done");
    let got = std::fs::read_to_string(home.path("in")).expect("taken");
    assert!(got.contains(&token));
    let history = home.json(0, &["history", "acme"]).await;
    assert_eq!(history[0]["operation"], "handoff");
    assert_eq!(history[0]["outcome"], "handed_off");
    assert_eq!(history[1]["outcome"], "not_handed_off");
    let unknown = home.json(6, &["rotations", "handoff", "77"]).await;
    assert!(
        unknown[0]["error"]
            .as_str()
            .is_some_and(|error| error.contains("no rotation"))
    );
}

#[tokio::test]
async fn a_crash_in_the_middle_leaves_the_hand_off_pending_for_the_next_run() {
    let (home, _serving) = scene(WAITS).await;
    let mut rotating = Background::start(home.command(&["rotate", "acme", "--yes"]));
    exists(&home, "started").await;
    rotating.signal(Signal::KILL);
    assert_eq!(rotating.code().await, None);
    let taken = std::fs::read_to_string(home.path("in")).expect("taken");
    std::fs::remove_file(home.path("in")).expect("removed");
    set_script(&home, "cat > $1/in");
    let again = home.json(0, &["rotations", "handoff", "--pending"]).await;
    assert_eq!(again[0]["handoff"]["state"], "done");
    let got = std::fs::read_to_string(home.path("in")).expect("taken");
    assert_eq!(got, taken, "the same token, read again");
    let none = home.json(0, &["rotations", "handoff", "--pending"]).await;
    assert_eq!(none, serde_json::json!([]));
    // The orphaned command of the crashed process may end now.
    home.write("go", "");
}

#[tokio::test]
async fn a_signal_waits_for_the_hand_off_and_a_second_one_ends_it() {
    let (home, _serving) = scene(WAITS).await;
    let mut rotating = Background::start(home.command(&["rotate", "acme", "--yes"]));
    exists(&home, "started").await;
    rotating.signal(Signal::INT);
    rotating.says("finishing running requests").await;
    rotating.signal(Signal::INT);
    assert_eq!(rotating.code().await, Some(130));
    set_script(&home, "cat > $1/in");
    let again = home.json(0, &["rotations", "handoff"]).await;
    assert_eq!(again[0]["handoff"]["state"], "done", "it was pending");
    home.write("go", "");
}

#[tokio::test]
async fn no_token_file_is_made_inside_a_git_work_tree() {
    let (home, _serving) = scene("cat > $1/in").await;
    std::fs::create_dir(home.path(".git")).expect("made");
    let before = token(&home).await;
    let ran = home
        .run(&args("rotate acme --yes --token-out acme.token"))
        .await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("git work tree"), "{}", ran.err);
    assert!(!home.path("acme.token").exists());
    assert_eq!(token(&home).await, before, "nothing was sent");
}

#[tokio::test]
async fn doctor_counts_undelivered_tokens() {
    let (home, _serving) = scene("exit 3").await;
    assert_eq!(home.run(&["rotate", "acme", "--yes"]).await.code, 6);
    let service = home.path(".local/share/groupdesk/service.db");
    std::fs::write(&service, "tokens").expect("written");
    let wide = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&service, wide).expect("set");
    let report = home.json(0, &["doctor"]).await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("0 pending, 1 failed hand-offs", "groupdesk rotations handoff"),
        ("other users may use ~/.local/share/groupdesk/service.db (mode 0644)", "chmod 600 ~/.local/share/groupdesk/service.db"),
    ];
    for (words, advice) in table {
        let findings = report["findings"].as_array().expect("a list").iter();
        let found = |finding: &&serde_json::Value| {
            let found = finding["found"].as_str();
            found.is_some_and(|found| found.contains(words))
        };
        let finding = findings.clone().find(found);
        let finding = finding.unwrap_or_else(|| panic!("{words}: {report:#}"));
        assert_eq!(finding["severity"], "warning");
        let said = finding["advice"].as_str().unwrap_or_default();
        assert!(said.contains(advice), "{said}");
    }
    assert!(!report.to_string().contains("acme"), "{report:#}");
}

#[tokio::test]
async fn a_guard_against_handing_off_is_told_and_no_command_is_proposed_that_it_refuses() {
    let (home, _serving) = scene("cat > $1/in").await;
    home.json(0, &["create", "globex", "--yes"]).await;
    let config = std::fs::read_to_string(home.path("config.toml")).expect("there");
    let guard = "guard = [{ operation = \"handoff\", forbid = true, reason = \"not on Fridays\" }]";
    home.write("config.toml", &format!("{config}{guard}\n"));
    for arguments in [
        &["rotate", "acme", "--yes"][..],
        &["rotate", "acme", "globex", "--yes", "--include-recent"],
    ] {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, 6, "{}", ran.err);
        assert_has(&ran.err, "not on Fridays; the command was not run");
        assert_has(&ran.err, "once its guard is removed");
        for lie in ["handing the new token", "to retry", "nothing was sent"] {
            assert!(!ran.err.contains(lie), "{lie}: {}", ran.err);
        }
    }
    assert!(!home.path("in").exists());
}
