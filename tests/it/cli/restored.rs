//! A directory that was restored from an older copy: what it knows of fields that cannot be read counts as old.

use super::{doctor::finding, program::Home, prompts::answer_with_line};

#[tokio::test(flavor = "multi_thread")]
async fn old_values_are_sent_after_a_restore_only_by_whoever_sees_them() {
    let (home, _serving) = Home::served().await;
    home.exits(0, "create acme --name Acme --map 40=213 --map 7=1 --yes")
        .await;
    home.exits(0, "profile behaviour live --sole-writer yes")
        .await;
    let copy = home.at("copy.db");
    home.exits(0, &format!("directory backup {copy}")).await;
    // The copy lacks this.
    home.exits(0, "update acme --map 7=2 --yes").await;
    let directory = home.at(".local/share/groupdesk/directory.db");
    for log in ["-wal", "-shm"] {
        drop(std::fs::remove_file(format!("{directory}{log}")));
    }
    std::fs::rename(&copy, &directory).expect("restored");
    let change = "update acme --map 40=5";
    // An option that a script always passes is no consent.
    for more in ["--yes", "--replace-mapping --yes"] {
        let refused = home.exits(3, &format!("{change} {more}")).await;
        refused
            .says("the directory was restored from an older copy")
            .says("update acme --mapping FILE")
            .hides("add --replace-mapping");
    }
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
    home.exits(0, "profile behaviour live --sole-writer yes")
        .await;
    home.exits(0, "update acme --map 40=6 --yes").await;
    home.exits(0, "doctor --json").await.hides("restored from");
}
