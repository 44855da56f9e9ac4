//! The hand-off on the command line: right after a rotation, after a failure, and after a crash in the middle.

use rustix::process::Signal;

use super::{
    doctor::finding,
    program::{Background, Home, has},
};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    wait::eventually,
};

/// An installation with a service, a group `acme`, and a profile that hands off to a script.
pub(super) async fn scene(script: &str) -> (Home, Background) {
    let (home, serving) = Home::served().await;
    set_script(&home, script);
    let folder = home.at("");
    home.add_config(&format!(
        "handoff = {{ command = [\"/bin/sh\", \"{folder}/script\", \"{folder}\"] }}\n"
    ));
    home.exits(0, "create acme --name Acme --yes").await;
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
    let ran = home.run("get acme --reveal").await;
    ran.out.trim_end().to_owned()
}

/// The profile of its environment shows it, not the selected one of another environment.
#[tokio::test]
async fn a_hand_off_of_a_removed_profile_is_looked_at_in_its_environment() {
    let (home, _serving) = scene("exit 3").await;
    home.exits(6, "rotate acme --yes").await;
    let config = home.config();
    let second = config.replace("[profiles.live]", "[profiles.second]");
    home.write("config.toml", &format!("{config}{second}"));
    let bind = "-P second profile bind second --same-environment live";
    home.exits(0, bind).await;
    let other =
        "[profiles.other]\nbase_url = \"http://127.0.0.1:9\"\napi_key = { env = \"OTHER_KEY\" }\n";
    home.write("config.toml", &format!("{other}{second}"));
    let found = home.json(7, "-P other attention --all").await;
    let next = "groupdesk -P second history acme";
    assert_eq!(found[0]["next"], next, "{found:#}");
}

const WAITS: &str = "cat > $1/in.new; mv $1/in.new $1/in; touch $1/started; \
                     while [ ! -e $1/go ] && [ -d $1 ]; do sleep 0.02; done";

#[tokio::test]
async fn a_rotation_hands_off_and_says_so() {
    let (home, _serving) = scene("cat > $1/in; echo stored >&2").await;
    let rotated = home.json(0, "rotate acme --yes").await;
    assert_eq!(rotated["outcome"], "confirmed");
    assert_eq!(
        rotated["handoff"],
        serde_json::json!({"state": "done", "exit": 0, "note": "stored"})
    );
    let got = std::fs::read_to_string(home.path("in")).expect("taken");
    let token = token(&home).await;
    assert!(got.contains(&token) && !rotated.to_string().contains(&token));
    let refused = home.exits(3, "rotate acme --yes").await;
    let again = "rotate acme --yes --include-recent";
    let ran = home.exits(0, again).await;
    assert_has(&refused.err, "--include-recent");
    assert_has(&ran.err, "handing the new token to /bin/sh");
    assert_has(&ran.err, "\"acme\" handed off: stored");
    home.exits(0, "rotations handoff --pending")
        .await
        .prints("")
        .says("no hand-offs are pending");
}

#[tokio::test]
async fn a_failed_hand_off_ends_with_6_and_can_be_repeated() {
    let (home, _serving) = scene("cat >&2; exit 3").await;
    let ran = home.exits(6, "rotate acme --yes").await;
    ran.shows("confirmed");
    for words in [
        "HAND-OFF FAILED (exit 3)",
        "was not delivered",
        "groupdesk rotations handoff 1",
    ] {
        ran.says(words);
    }
    let token = token(&home).await;
    ran.hides(&token);

    let again = home.json(6, "rotations handoff 1").await;
    assert_eq!(again[0]["handoff"]["exit"], 3);
    set_script(&home, "cat > $1/in");
    for waits in ["rotations handoff", "rotations handoff --pending"] {
        let ran = home.exits(6, waits).await;
        ran.says("1 failed hand-off was skipped").says("--failed");
        let left = home.json(6, waits).await;
        assert_eq!(left[0]["handoff"]["state"], "failed", "it is only told");
    }
    assert!(!home.path("in").exists());
    let again = home.json(0, "rotations handoff --failed").await;
    assert_eq!(again[0]["rotation"], 1);
    assert_eq!(again[0]["handoff"]["state"], "done");
    let got = std::fs::read_to_string(home.path("in")).expect("taken");
    assert!(got.contains(&token));
    let history = home.json(0, "history acme").await;
    has!(history[0], {"operation": "handoff", "outcome": "handed_off"});
    assert_eq!(history[1]["outcome"], "not_handed_off");
    let unknown = home.exits(2, "rotations handoff 77").await;
    unknown.says("rotation 77 not found");
}

#[tokio::test]
async fn a_crash_in_the_middle_leaves_the_hand_off_pending_for_the_next_run() {
    let (home, _serving) = scene(WAITS).await;
    let mut rotating = Background::start(home.command("rotate acme --yes"));
    exists(&home, "started").await;
    rotating.signal(Signal::KILL);
    assert_eq!(rotating.code().await, None);
    let taken = std::fs::read_to_string(home.path("in")).expect("taken");
    std::fs::remove_file(home.path("in")).expect("removed");
    set_script(&home, "cat > $1/in");
    let again = home.json(0, "rotations handoff --pending").await;
    assert_eq!(again[0]["handoff"]["state"], "done");
    let got = std::fs::read_to_string(home.path("in")).expect("taken");
    assert_eq!(got, taken, "the same token, read again");
    let none = home.json(0, "rotations handoff --pending").await;
    assert_eq!(none, serde_json::json!([]));
    // The orphaned command of the crashed process may end now.
    home.write("go", "");
}

#[tokio::test]
async fn a_signal_waits_for_the_hand_off_and_a_second_one_ends_it() {
    let (home, _serving) = scene(WAITS).await;
    let mut rotating = Background::start(home.command("rotate acme --yes"));
    exists(&home, "started").await;
    rotating.signal(Signal::INT);
    rotating.says("finishing running requests").await;
    rotating.signal(Signal::INT);
    assert_eq!(rotating.code().await, Some(130));
    set_script(&home, "cat > $1/in");
    let again = home.json(0, "rotations handoff").await;
    assert_eq!(again[0]["handoff"]["state"], "done", "it was pending");
    home.write("go", "");
}

#[tokio::test]
async fn doctor_counts_undelivered_tokens() {
    let (home, _serving) = scene("exit 3").await;
    home.exits(6, "rotate acme --yes").await;
    let report = home.json(0, "doctor").await;
    let (severity, advice) = finding(&report, "0 pending, 1 failed hand-offs");
    assert_eq!(severity, "warning");
    assert_has(advice, "groupdesk rotations handoff");
    let read_only = home.json(0, "--read-only doctor").await.to_string();
    assert_has(&read_only, "hand them off: this profile is read-only");
    assert_lacks(&read_only, "rotations handoff");
    assert!(!report.to_string().contains("acme"), "{report:#}");
}

#[tokio::test]
async fn a_guard_against_handing_off_is_told_and_no_command_is_proposed_that_it_refuses() {
    let (home, _serving) = scene("cat > $1/in").await;
    home.json(0, "create globex --yes").await;
    let config = home.config();
    let guard = "guard = [{ operation = \"handoff\", forbid = true, reason = \"not on Fridays\" }]";
    home.write("config.toml", &format!("{config}{guard}\n"));
    for arguments in [
        &["rotate", "acme", "--yes"][..],
        &["rotate", "acme", "globex", "--yes", "--include-recent"],
    ] {
        let ran = home.exits(6, arguments).await;
        assert_has(&ran.err, "not on Fridays; the command was not run");
        assert_has(&ran.err, "once its guard is removed");
        for lie in ["handing the new token", "to retry", "nothing was sent"] {
            assert_lacks(&ran.err, lie);
        }
    }
    assert!(!home.path("in").exists());
}
