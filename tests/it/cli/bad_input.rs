//! Mistyped input: exit 2 with what to do, and no possible secret is repeated.

use super::program::Home;
use crate::support::faults::{Fault, Faults};

#[tokio::test]
async fn bad_arguments_and_files_end_with_two_and_send_nothing() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    let twice = home.write("twice.json", "{\"40\": \"canary\",\n \"40\": \"canary\"}");
    let broken = home.write("broken.json", "{\"a\":\n  canary}");
    let numbers = home.write("numbers.json", "{\"40\": 213}");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["create", "a", "--map", "40", "--yes"][..], "--map 40=213"),
        (&["create", "a", "--map", "40=1", "--map", "40=2", "--yes"], "given twice"),
        (&["create", "a", "--property", "tier=canary", "--yes"], "need quotes"),
        (&["create", "a", "--mapping", &twice, "--yes"], "line 2, column"),
        (&["create", "a", "--properties", &twice, "--yes"], "a key appears twice"),
        (&["create", "a", "--properties", &broken, "--yes"], "line 2, column 3"),
        (&["create", "a", "--mapping", &numbers, "--yes"], "object of strings"),
        (&["create", "a", "--mapping", "missing.json", "--yes"], "missing.json"),
        (&["create", "a", "--mapping", "-", "--properties", "-", "--yes"], "standard input"),
        (&["create", "", "--yes"], "is empty"),
        (&["get", "a", "--tokn"], "--tokn"),
        (&["lst"], "list"),
        (&["history", "--limit", "x"], "--limit"),
        (&["list", "--profile", "lvie"], "did you mean \"live\"?"),
        (&["list", "--config", "missing.toml"], "--config"),
        (&["serve", "--listen", "here"], "--listen"),
        (&["serve", "keys", "create", "--environment", "x", "--tag", "Live", "--database", "s.db"], "Customer"),
        (&["serve", "keys", "revoke", "7", "--database", "s.db"], "API key 7 not found"),
        (&["demo", "--groups=-1"], "--groups"),
        (&[], "needs a terminal"),
        (&["demo"], "needs a terminal"),
    ];
    for (arguments, words) in table {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
        assert!(
            !ran.err.contains("canary") && ran.out.is_empty(),
            "{arguments:?}: {}",
            ran.err
        );
    }
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn a_row_or_key_to_remove_must_exist() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    for drop in [["--unmap", "nope"], ["--remove-property", "nope"]] {
        let ran = home
            .run(&["update", "acme-eu", drop[0], drop[1], "--yes"])
            .await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("\"nope\""), "{}", ran.err);
    }
}

#[tokio::test]
async fn help_and_version_are_results() {
    let home = Home::new();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["rotate", "--help"],
        &["serve", "keys", "--help"],
    ] {
        let ran = home.run(arguments).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
        assert!(!ran.out.is_empty());
    }
}

#[tokio::test]
async fn without_a_profile_the_error_says_how_to_add_one() {
    let home = Home::new();
    let ran = home.run(&["list"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("GROUPDESK_BASE_URL"), "{}", ran.err);
    let json = home.json(2, &["list"]).await;
    assert!(json["error"].is_string() && json["outcome"].is_null());
}

#[tokio::test]
async fn a_list_of_ids_that_is_too_long_is_refused_not_cut() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    // The size counts, not the content: this file is entirely a hole.
    let list = std::fs::File::create(home.path("ids")).expect("made");
    list.set_len(64 * 1024 * 1024 + 1).expect("long");
    let ran = home.run(&["rotate", "--from", "ids", "--yes"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("more than 64 MiB"), "{}", ran.err);
}

/// "No such file or directory (os error 2)" says neither what was looked for nor what to do.
#[tokio::test]
async fn errors_of_the_system_are_said_in_plain_words() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    let file = home.write("file", "x");
    let below = format!("{file}/below");
    let missing = "there is no such file or folder (check the path)";
    let through = "a part of the path is a file, not a folder (check the path)";
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["import", "missing.csv"][..], missing),
        (&["apply", "missing"], missing),
        (&["diff", "missing"], missing),
        (&["show", "--from", "missing"], missing),
        (&["create", "a", "--mapping", "missing", "--yes"], missing),
        (&["list", "--config", "missing"], missing),
        (&["import", &below], through),
        (&["list", "--config", &below], through),
        (&["man", &below], through),
        (&["export", "--file", &below], through),
        (&["directory", "backup", &below], through),
        (&["serve", "--listen", "192.0.2.1:0", "--insecure-http", "--database", "s.db"], "this machine does not have that address"),
    ];
    for (arguments, words) in table {
        for json in [&[][..], &["--json"]] {
            let ran = home.run(&[arguments, json].concat()).await;
            let all = format!("{}{}", ran.out, ran.err);
            assert_ne!(ran.code, 0, "{arguments:?}: {all}");
            assert!(!all.contains("os error"), "{arguments:?}: {all}");
            let is_said = ran.err.contains(words) && (json.is_empty() || ran.out.contains(words));
            assert!(is_said, "{arguments:?}: {all}");
        }
    }
}
