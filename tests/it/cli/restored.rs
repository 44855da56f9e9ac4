//! A directory that was restored from an older copy: what it knows of fields that cannot be read counts as old.

use super::{doctor::finding, program::Home, prompts::answer_with_line};

#[tokio::test(flavor = "multi_thread")]
async fn old_values_are_sent_after_a_restore_only_by_whoever_sees_them() {
    let (home, _serving) = Home::served().await;
    home.exits(0, "create acme --name Acme --map 40=213 --map 7=1 --yes")
        .await;
    home.exits(0, "profile behaviour live --sole-writer yes")
        .await;
    // The copy lacks this.
    restored_without(&home, "update acme --map 7=2 --yes").await;
    let change = "update acme --map 40=5";
    // An option that a script always passes is no consent.
    for more in ["--yes", "--replace-mapping --yes"] {
        let refused = home.exits(3, &format!("{change} {more}")).await;
        refused
            .says("the directory was restored from an older copy")
            .says("update acme --mapping FILE")
            .hides("add --replace-mapping");
    }
    home.write("one.csv", "id,map:40\nacme,5\n");
    home.exits(3, "apply one.csv --dry-run")
        .await
        .shows("1 group cannot be updated: the directory was restored from an older copy");
    let (shown, code) = answer_with_line(&home, change, "n\n");
    assert_eq!(code, Some(3), "{shown}");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("the directory was restored from an older copy"),
        "{shown}"
    );
    assert!(shown.contains("7 = 1"), "what is sent: {shown}");
    let noticed =
        "environment live: the directory was restored from an older copy, or copied (noticed 2";
    let report = home.json(0, "doctor").await;
    let (severity, advice) = finding(&report, noticed);
    assert_eq!(severity, "warning");
    for words in [
        "groupdesk -P live update ID --mapping FILE",
        "groupdesk profile behaviour live --sole-writer yes",
    ] {
        assert!(advice.contains(words), "{advice}");
    }
    // Sent anew, it is known; and what was said is said again.
    let whole = home.write("mapping.json", r#"{"40": "213", "7": "2"}"#);
    home.exits(0, &format!("update acme --mapping {whole} --yes"))
        .await;
    home.exits(0, &format!("{change} --replace-mapping --yes"))
        .await;
    // Restored once more, it lacks what was sent in between.
    restored_without(&home, "update acme --map 7=3 --replace-mapping --yes").await;
    let refused = home.exits(3, "update acme --map 40=6 --replace-mapping --yes");
    refused
        .await
        .says("the directory was restored from an older copy");
    home.exits(0, "profile behaviour live --sole-writer yes")
        .await;
    home.exits(0, "update acme --map 40=6 --yes").await;
    home.exits(0, "doctor --json").await.hides("restored from");
}

/// Replaces the directory by a copy of before this command.
async fn restored_without(home: &Home, command: &str) {
    let copy = home.at("copy.db");
    home.exits(0, &format!("directory backup {copy}")).await;
    home.exits(0, command).await;
    let directory = home.at(".local/share/groupdesk/directory.db");
    for log in ["-wal", "-shm"] {
        drop(std::fs::remove_file(format!("{directory}{log}")));
    }
    std::fs::rename(&copy, &directory).expect("restored");
}
