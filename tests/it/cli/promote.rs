//! From one environment to another: `copy`, `diff`, and a group in the editor.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::program::{Background, Home};
use crate::support::{assertions::assert_has, bare::args};

/// Two environments of one service, and a group in the testing one. The editor changes its name.
pub(super) async fn two() -> (Home, Background) {
    let mut home = Home::new();
    let (serving, url) = home.serve().await;
    let live = home.key(&args("--environment live --tag Customer")).await;
    let testing = home.key(&args("--environment testing --tag Testing")).await;
    let profile = |name: &str, tag: &str| {
        format!(
            "[profiles.{name}]\nbase_url = \"{url}\"\napi_key = {{ env = \"{}_KEY\" }}\nenvironment = \"{tag}\"\n",
            name.to_uppercase()
        )
    };
    let config = [profile("testing", "Testing"), profile("live", "Customer")].concat();
    let config = home.write(
        "config.toml",
        &format!("default_profile = \"testing\"\n{config}"),
    );
    home.set("GROUPDESK_CONFIG", config);
    home.set("LIVE_KEY", live);
    home.set("TESTING_KEY", testing);
    for name in ["testing", "live"] {
        home.json(0, &["profile", "bind", name, "--new-environment"])
            .await;
    }
    let create =
        args("create acme --name Acme --map 40=213 --map 7=x --property tier=\"gold\" --yes");
    assert_eq!(home.json(0, &create).await["outcome"], "created");
    editor(&mut home, "sed -i 's/Acme/Acme Edited/' \"$1\"");
    (home, serving)
}

/// Sets the script of the editor; `$1` is its file.
pub(super) fn editor(home: &mut Home, does: &str) {
    let file = home.write("editor", &format!("#!/bin/sh\n{does}\n"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("set");
    home.set("EDITOR", file);
    home.set("PATH", "/usr/bin:/bin");
}

#[tokio::test]
async fn a_group_is_copied_into_another_profile_and_compared() {
    let (home, _serving) = two().await;
    let copy = ["copy", "acme", "--to", "live"];
    let dry = home
        .json(
            0,
            &[&copy[..], &["--map", "40=9", "--unmap", "7", "--dry-run"]].concat(),
        )
        .await;
    assert_eq!(dry["request"]["mapping"], json!({"40": "9"}));
    assert_eq!(dry["method"], "GET", "it is not there yet");
    let ran = home.run(&copy).await;
    assert_eq!(ran.code, 3, "nobody confirmed it: {}", ran.err);
    let made = home
        .json(
            0,
            &[&copy[..], &["--map", "40=9", "--unmap", "7", "--yes"]].concat(),
        )
        .await;
    assert_eq!(made["outcome"], "created");
    let there = home.json(0, &["-P", "live", "show", "acme"]).await;
    assert_eq!(
        (&there["name"], &there["mapping"]),
        (&json!("Acme"), &json!({"40": "9"}))
    );
    assert_eq!(there["properties"], json!({"tier": "gold"}));
    assert_eq!(
        home.json(0, &["show", "acme"]).await["mapping"]["40"],
        "213",
        "here nothing changed"
    );

    let diff = ["diff", "acme", "--with", "live"];
    let found = home.json(10, &diff).await;
    assert_eq!(found["same"], false);
    assert_eq!(
        found["changes"],
        json!({"mapping": {"40": ["213", "9"], "7": ["x", null]}})
    );
    let human = home.run(&diff).await;
    assert_eq!(human.code, 10);
    assert_has(&human.out, "~ mapping 40: 213 -> 9");
    assert!(human.out.contains("- mapping 7: x"), "{}", human.out);

    // The group exists there now: only differing values are laid over it.
    let again = home.json(0, &[&copy[..], &["--yes"]].concat()).await;
    assert_eq!(again["outcome"], "updated");
    let same = home.json(0, &diff).await;
    assert_eq!(
        (&same["same"], &same["changes"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(
        home.json(0, &[&diff[..], &["--refresh"]].concat()).await["same"],
        true
    );

    // No answer has mapping and properties, so they are unknown for a group that was only read here.
    for profile in ["testing", "live"] {
        // The get created the group, which is an alarm.
        let get = ["-P", profile, "get", "bare", "--exists", "--yes"];
        assert_eq!(home.json(3, &get).await["outcome"], "created_by_get");
    }
    let bare = ["diff", "bare", "--with", "live"];
    let found = home.json(0, &bare).await;
    assert_eq!(found["same"], true);
    assert_eq!(found["not_known"], json!(["mapping"]));
    let human = home.run(&bare).await;
    assert_has(&human.err, "! mapping is known on neither side");
    assert!(
        human.err.contains("according to the directory"),
        "{}",
        human.err
    );

    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["copy", "acme", "--to", "lvie", "--yes"][..], 2, "did you mean \"live\"?"),
        (&["copy", "acme", "--to", "testing", "--yes"], 2, "the same environment"),
        (&["copy", "acmee", "--to", "live", "--yes"], 3, "did you mean \"acme\"?"),
        (&["diff", "acme", "other", "--with", "live"], 2, "pass one ID"),
        (&["diff", "acme", "--with", "testing"], 2, "are one environment"),
        (&["diff", "acmee", "--with", "live"], 3, "did you mean \"acme\"?"),
    ];
    for (command, code, words) in table {
        let ran = home.run(command).await;
        assert_eq!(ran.code, code, "{command:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{command:?}: {}", ran.err);
    }
    let other = [
        "copy", "acme", "--to", "testing", "--as-id", "acme-2", "--yes",
    ];
    assert_eq!(home.json(0, &other).await["outcome"], "created");
}

#[tokio::test]
async fn files_are_compared_with_the_directory_and_the_exit_code_says_so() {
    let (home, _serving) = two().await;
    let same = home.write(
        "same.json",
        r#"[{"user_group_id": "acme", "name": "Acme"}]"#,
    );
    let other = home.write("other.csv", "user_group_id,name\nnew-one,New\n");
    assert_eq!(home.run(&["diff", &same]).await.code, 0);
    let ran = home.run(&["diff", &same, &other]).await;
    assert_eq!(ran.code, 10, "{}", ran.err);
    assert!(ran.out.contains("new-one"), "{}", ran.out);
    for (file, code) in [(&same, 0), (&other, 10)] {
        let dry = ["apply", file, "--dry-run", "--detailed-exitcode"];
        assert_eq!(home.run(&dry).await.code, code, "{file}");
        assert_eq!(home.run(&dry[..3]).await.code, 0, "{file}: not asked for");
    }
    assert_eq!(
        home.run(&["apply", &same, "--detailed-exitcode"])
            .await
            .code,
        2
    );
    assert_eq!(home.run(&["diff", "nowhere.json"]).await.code, 2);
    assert_eq!(
        home.json(0, &["list"]).await.as_array().map(Vec::len),
        Some(1),
        "nothing was made"
    );
}

#[tokio::test]
async fn a_group_is_changed_in_the_editor() {
    let (mut home, _serving) = two().await;
    let dry = home.json(0, &["edit", "acme", "--dry-run"]).await;
    assert_eq!(dry["changes"], json!({"name": ["Acme", "Acme Edited"]}));
    assert_eq!(home.json(0, &["show", "acme"]).await["name"], "Acme");
    let done = home.json(0, &["edit", "acme", "--yes"]).await;
    assert_eq!(
        (&done["outcome"], &done["name"]),
        (&json!("updated"), &json!("Acme Edited"))
    );
    assert_eq!(
        done["properties"],
        json!({"tier": "gold"}),
        "the rest stays"
    );

    editor(&mut home, "true");
    let ran = home.run(&["edit", "acme", "--yes"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("no changes; no update was sent"),
        "{}",
        ran.err
    );

    // A text that is not a group is kept, and its path is named.
    editor(
        &mut home,
        "echo '{\"user_group_id\": \"acme\", \"nam\": \"x\"}' > \"$1\"",
    );
    let ran = home.run(&["edit", "acme", "--yes"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("did you mean name?"), "{}", ran.err);
    let (_, kept) = ran
        .err
        .split_once("your text is in ")
        .expect("its environment");
    let (kept, _) = kept
        .split_once(": groupdesk update acme --apply")
        .expect("what to do");
    let text = std::fs::read_to_string(kept).expect("kept");
    assert!(text.contains("\"nam\""), "{text}");

    editor(
        &mut home,
        "echo '{\"user_group_id\": \"acme\", \"token\": \"canary-token\"}' > \"$1\"",
    );
    let ran = home.run(&["edit", "acme", "--yes"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("without the token"), "{}", ran.err);
    for file in super::program::files(home.folder.path()) {
        if file.ends_with("editor") {
            continue;
        }
        let bytes = std::fs::read(&file).expect("readable");
        let found = bytes.windows(12).any(|piece| piece == b"canary-token");
        assert!(!found, "{}", file.display());
    }
    // However the editor ends, and with whatever end of the command, the text is kept.
    for (script, more) in [
        ("echo typed > \"$1\"; exit 3", "--yes"),
        ("echo typed > \"$1\"; kill -9 $$", "--yes"),
        ("printf 'typed\\377' > \"$1\"", "--yes"),
        ("echo typed > \"$1~\"; rm \"$1\"", "--yes"),
        ("sed -i s/Acme/typed/ \"$1\"", "--dry-run"),
        ("sed -i s/Acme/typed/ \"$1\"", "--read-only"),
    ] {
        editor(&mut home, script);
        let ran = home.run(&["edit", "acme", more]).await;
        if more == "--read-only" {
            assert_eq!(ran.code, 3, "nothing was typed: {}", ran.err);
            continue;
        }
        let (_, kept) = ran.err.split_once("your text is in ").expect(script);
        let kept = kept.split([':', '\n']).next().expect("a path");
        let text = std::fs::read(kept).expect("kept");
        assert!(text.windows(5).any(|piece| piece == b"typed"), "{script}");
    }
    editor(&mut home, ": > \"$1\"");
    let ran = home.run(&["edit", "acme", "--yes"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    let said = "error: the editor left an empty file; nothing was sent\n";
    assert!(
        ran.err.ends_with(said) && !ran.err.contains("your text"),
        "{}",
        ran.err
    );
    editor(&mut home, "printf '{\\n\"name\": \"x\",\\n}' > \"$1\"");
    let ran = home.run(&["edit", "acme", "--yes"]).await;
    assert!(
        ran.err.contains("is not used: line 3, column 1: not JSON"),
        "{}",
        ran.err
    );
    editor(&mut home, "exit 3");
    let ran = home.run(&["edit", "acme", "--yes"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        !ran.err.contains("your text is in"),
        "nothing was typed: {}",
        ran.err
    );
    home.set("EDITOR", "");
    let ran = home.run(&["edit", "acme", "--yes"]).await;
    assert!(
        ran.code == 2 && ran.err.contains("export EDITOR"),
        "{}",
        ran.err
    );
}
