//! The hand-off on the command line: right after a rotation, after a failure, and after a crash in the middle of it.

use rustix::process::Signal;

use super::desk::{Background, Desk};
use crate::support::until::eventually;

/// A desk with a service, a group `acme`, and a profile that hands off to a script.
pub(super) async fn scene(script: &str) -> (Desk, Background) {
    let mut desk = Desk::new();
    let key = desk
        .key(&["--environment", "live", "--tag", "Customer"])
        .await;
    let (serving, url) = desk.serve().await;
    desk.connect(&url, &key);
    does(&desk, script);
    let folder = desk.path("").display().to_string();
    let config = std::fs::read_to_string(desk.path("config.toml")).expect("there");
    desk.write(
        "config.toml",
        &format!(
            "{config}handoff = {{ command = [\"/bin/sh\", \"{folder}/script\", \"{folder}\"] }}\n"
        ),
    );
    desk.json(0, &["create", "acme", "--name", "Acme", "--yes"])
        .await;
    (desk, serving)
}

/// What the command does from now on; `$1` is the folder of the desk.
pub(super) fn does(desk: &Desk, script: &str) {
    desk.write("script", script);
}

async fn exists(desk: &Desk, name: &str) {
    eventually(name, || desk.path(name).exists()).await;
}

async fn token(desk: &Desk) -> String {
    let ran = desk.run(&["get", "acme", "--reveal"]).await;
    ran.out.trim_end().to_owned()
}

const WAITS: &str = "cat > $1/in.new; mv $1/in.new $1/in; touch $1/started; \
                     while [ ! -e $1/go ] && [ -d $1 ]; do sleep 0.02; done";

#[tokio::test]
async fn a_rotation_hands_off_and_says_so() {
    let (desk, _serving) = scene("cat > $1/in; echo stored >&2").await;
    let rotated = desk.json(0, &["rotate", "acme", "--yes"]).await;
    assert_eq!(rotated["outcome"], "confirmed");
    assert_eq!(
        rotated["handoff"],
        serde_json::json!({"state": "done", "exit": 0, "note": "stored"})
    );
    let got = std::fs::read_to_string(desk.path("in")).expect("taken");
    let token = token(&desk).await;
    assert!(got.contains(&token) && !rotated.to_string().contains(&token));
    let ran = desk.run(&["rotate", "acme", "--yes"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("handing the new token to /bin/sh"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("\"acme\" handed off: stored"),
        "{}",
        ran.err
    );
    let ran = desk.run(&["rotations", "handoff", "--pending"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(ran.err.contains("nothing waits"), "{}", ran.err);
}

#[tokio::test]
async fn a_hand_off_that_fails_is_exit_6_and_can_be_done_again() {
    let (desk, _serving) = scene("cat >&2; exit 3").await;
    let ran = desk.run(&["rotate", "acme", "--yes"]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.out.contains("confirmed"), "{}", ran.out);
    for words in [
        "HAND-OFF FAILED (exit 3)",
        "has not arrived",
        "groupdesk rotations handoff 1",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let token = token(&desk).await;
    assert!(!ran.err.contains(&token) && !ran.out.contains(&token));

    let again = desk.json(6, &["rotations", "handoff", "1"]).await;
    assert_eq!(again[0]["handoff"]["exit"], 3);
    does(&desk, "cat > $1/in");
    let none = desk.json(0, &["rotations", "handoff"]).await;
    assert_eq!(
        none,
        serde_json::json!([]),
        "a failed one waits for a person"
    );
    let again = desk.json(0, &["rotations", "handoff", "--failed"]).await;
    assert_eq!(again[0]["rotation"], 1);
    assert_eq!(again[0]["handoff"]["state"], "done");
    let got = std::fs::read_to_string(desk.path("in")).expect("taken");
    assert!(got.contains(&token));
    let history = desk.json(0, &["history", "acme"]).await;
    assert_eq!(history[0]["operation"], "handoff");
    assert_eq!(history[0]["outcome"], "handed_off");
    assert_eq!(history[1]["outcome"], "not_handed_off");
    let unknown = desk.json(6, &["rotations", "handoff", "77"]).await;
    assert!(
        unknown[0]["error"]
            .as_str()
            .is_some_and(|error| error.contains("no rotation"))
    );
}

#[tokio::test]
async fn a_crash_in_the_middle_leaves_it_pending_and_the_next_run_does_it() {
    let (desk, _serving) = scene(WAITS).await;
    let mut rotating = Background::start(desk.command(&["rotate", "acme", "--yes"]));
    exists(&desk, "started").await;
    rotating.signal(Signal::KILL);
    assert_eq!(rotating.code().await, None);
    let taken = std::fs::read_to_string(desk.path("in")).expect("taken");
    std::fs::remove_file(desk.path("in")).expect("removed");
    does(&desk, "cat > $1/in");
    let again = desk.json(0, &["rotations", "handoff", "--pending"]).await;
    assert_eq!(again[0]["handoff"]["state"], "done");
    let got = std::fs::read_to_string(desk.path("in")).expect("taken");
    assert_eq!(got, taken, "the same token, read again");
    let none = desk.json(0, &["rotations", "handoff", "--pending"]).await;
    assert_eq!(none, serde_json::json!([]));
    // The orphan of the crash may end now.
    desk.write("go", "");
}

#[tokio::test]
async fn a_signal_waits_for_the_hand_off_and_a_second_one_ends_it() {
    let (desk, _serving) = scene(WAITS).await;
    let mut rotating = Background::start(desk.command(&["rotate", "acme", "--yes"]));
    exists(&desk, "started").await;
    rotating.signal(Signal::INT);
    rotating.says("finishing what is in flight").await;
    rotating.signal(Signal::INT);
    assert_eq!(rotating.code().await, Some(130));
    does(&desk, "cat > $1/in");
    let again = desk.json(0, &["rotations", "handoff"]).await;
    assert_eq!(again[0]["handoff"]["state"], "done", "it was pending");
    desk.write("go", "");
}

#[tokio::test]
async fn no_token_file_is_made_inside_a_git_work_tree() {
    let (desk, _serving) = scene("cat > $1/in").await;
    std::fs::create_dir(desk.path(".git")).expect("made");
    let before = token(&desk).await;
    let ran = desk
        .run(&["rotate", "acme", "--yes", "--token-out", "acme.token"])
        .await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("git work tree"), "{}", ran.err);
    assert!(!desk.path("acme.token").exists());
    assert_eq!(token(&desk).await, before, "nothing was sent");
}

#[tokio::test]
async fn the_doctor_counts_what_has_not_arrived() {
    let (desk, _serving) = scene("exit 3").await;
    assert_eq!(desk.run(&["rotate", "acme", "--yes"]).await.code, 6);
    let service = desk.path(".local/share/groupdesk/service.db");
    std::fs::write(&service, "tokens").expect("written");
    let wide = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&service, wide).expect("set");
    let report = desk.json(0, &["doctor"]).await;
    for (words, advice) in [
        (
            "0 pending, 1 failed hand-offs",
            "groupdesk rotations handoff",
        ),
        (
            "other users may use ~/.local/share/groupdesk/service.db (mode 0644)",
            "chmod 600 ~/.local/share/groupdesk/service.db",
        ),
    ] {
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
