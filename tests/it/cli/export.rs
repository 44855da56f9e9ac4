//! `export`: an export can be imported again unchanged, and tokens are written only when asked for, into a file of
//! their own.

use std::os::unix::fs::{FileExt, PermissionsExt};

use rusqlite::Connection;

use super::program::{Home, files};
use crate::support::{assertions::assert_has, bare::args};

#[tokio::test]
async fn export_import_export_is_byte_identical() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    for format in ["jsonl", "json", "csv"] {
        let out = home.path(&format!("out.{format}")).display().to_string();
        let ran = home
            .run(&["export", "--format", format, "--output", &out])
            .await;
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        let mode = std::fs::metadata(&out).expect("made").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let first = std::fs::read_to_string(&out).expect("readable");
        assert!(
            first.contains("globex") || first.contains("acme"),
            "{first}"
        );
        assert!(
            first.contains("東京商事") || !first.contains("tokyo"),
            "{first}"
        );

        let empty = home.path(&format!("{format}.db")).display().to_string();
        let ran = home.run(&["import", &out, "--directory", &empty]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let again = home
            .run(&["export", "--format", format, "--directory", &empty])
            .await;
        assert_eq!(again.out, first, "{format}");
    }
    let array = home.json(0, &["export"]).await;
    let group = &array.as_array().expect("an array")[0];
    let keys: Vec<_> = group.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["user_group_id", "name", "mapping", "properties"]);
}

#[tokio::test]
async fn tokens_come_from_the_service_into_a_private_file() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let refused = home.run(&["export", "--reveal-tokens"]).await;
    assert_eq!(refused.code, 2, "{}", refused.err);
    let one = home.json(0, &["get", "acme-eu", "--reveal"]).await;
    let token = one["token"].as_str().expect("a token");

    // An id known only from a file is not read, because a read could create it.
    let hearsay = home.write("more.csv", "user_group_id\nhearsay\n");
    assert_eq!(home.run(&["import", &hearsay]).await.code, 0);
    let file = home.path("tokens.jsonl").display().to_string();
    let ran = home
        .run(&["export", "--reveal-tokens", "--token-out", &file])
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("skipped 1 group that was never seen"),
        "{}",
        ran.err
    );
    assert!(!ran.out.contains(token) && !ran.err.contains(token));
    let mode = std::fs::metadata(&file).expect("made").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let lines = std::fs::read_to_string(&file).expect("readable");
    assert!(lines.contains(token));
    let seen = ran.out.lines().count() - 1;
    assert_eq!(lines.lines().count(), seen, "{}", ran.err);
    assert!(!lines.contains("hearsay"));
    let again = home
        .run(&["export", "--reveal-tokens", "--token-out", &file])
        .await;
    assert_eq!(again.code, 2, "an existing file is not overwritten");
}

#[tokio::test]
async fn groups_do_not_overwrite_the_file_of_tokens() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    for (output, tokens) in [("all.jsonl", "./all.jsonl"), ("all.jsonl", "all.jsonl")] {
        let ran = home
            .run(&[
                "export",
                "--reveal-tokens",
                "--token-out",
                tokens,
                "--output",
                output,
            ])
            .await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("must be different files"), "{}", ran.err);
        assert!(!home.path("all.jsonl").exists());
    }
}

#[tokio::test]
async fn a_file_of_tokens_that_was_not_written_is_reported_so() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    let ran = home
        .run(&args("export --reveal-tokens --token-out none.jsonl"))
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("none.jsonl was not created"),
        "{}",
        ran.err
    );
    assert!(!home.path("none.jsonl").exists());
}

/// The page with the last rows of a table: the rightmost child at every level, by SQLite's file format.
fn last_leaf(file: &str, table: &str) -> u32 {
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let mut page: u32 = {
        let database = Connection::open(file).expect("a database");
        database
            .query_row(root, [table], |row| row.get(0))
            .expect("a table")
    };
    let bytes = std::fs::read(file).expect("readable");
    loop {
        let head = &bytes[(page as usize - 1) * 4096..];
        // Interior pages of an index or a table have the rightmost child at byte 8.
        let (2 | 5) = head[0] else { return page };
        page = u32::from_be_bytes(head[8..12].try_into().expect("four bytes"));
    }
}

#[tokio::test]
async fn a_directory_error_in_the_middle_leaves_no_partial_file() {
    let mut home = Home::new();
    let held = home.hold(&["demo", "--hold", "--groups", "3000"]).await;
    let rows = home.write("all.jsonl", &home.run(&["export"]).await.out);
    let broken = home.path("broken.db").display().to_string();
    let taken = home.run(&["import", &rows, "--directory", &broken]).await;
    assert_eq!(taken.code, 0, "{}", taken.err);
    let page = last_leaf(&broken, "user_groups");
    let file = std::fs::File::options().write(true).open(&broken);
    let file = file.expect("there");
    file.write_all_at(&[0xff; 4096], u64::from(page - 1) * 4096)
        .expect("written");
    let part = home.run(&["export", "--directory", &broken]).await;
    assert_eq!(part.code, 2, "{}", part.err);
    assert!(part.out.lines().count() > 1000, "it breaks in the middle");
    std::fs::create_dir(home.path("out")).expect("a folder");
    for _ in 0..5 {
        let ran = home
            .run(&[
                "export",
                "--directory",
                &broken,
                "--output",
                "out/all.jsonl",
            ])
            .await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert_eq!(files(&home.path("out")), Vec::<std::path::PathBuf>::new());
    }
    drop(held);
}

/// Annotations are exported when asked for, and arrive in another installation unchanged.
#[tokio::test]
async fn notes_and_labels_go_into_another_installation_as_they_were() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let note = "SSO until 1 Dec, \"call\" first; \u{e9}";
    home.json(0, &["note", "acme-eu", note]).await;
    home.json(0, &["label", "acme-us", "--add", "vip", "--add", "sso"])
        .await;
    let plain = home.run(&["export"]).await.out;
    assert!(!plain.contains("call"), "only where it is asked for");
    for format in ["jsonl", "json", "csv"] {
        let out = home.path(&format!("out.{format}")).display().to_string();
        let export = ["export", "--columns", "+note,+labels,+favourite"];
        let export = [&export[..], &["--format", format]].concat();
        let ran = home.run(&[&export[..], &["-o", &out]].concat()).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let first = std::fs::read_to_string(&out).expect("readable");
        assert!(first.contains("SSO until"), "{first}");

        let other = home.path(&format!("{format}.db")).display().to_string();
        let there = ["--directory", &other];
        let ran = home.run(&[&["import", &out][..], &there].concat()).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("annotated        2"), "{}", ran.out);
        let again = home.run(&[&export[..], &there].concat()).await;
        assert_eq!(again.out, first, "{format}");
        let kept = [&["note", "acme-eu"][..], &there].concat();
        assert_eq!(home.json(0, &kept).await[0]["note"], note);
    }
    let ran = home.run(&["export", "--columns", "prop:tier"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    let names = home.run(&["export", "--columns", "name"]).await;
    assert!(!names.out.contains("mapping"), "{}", names.out);
    assert_eq!(names.out.lines().count(), plain.lines().count());
}

#[tokio::test]
async fn a_note_of_somebody_else_is_replaced_only_after_it_was_shown() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let got = home.json(0, &["get", "acme-eu", "--reveal"]).await;
    let token = got["token"].as_str().expect("a token").to_owned();
    let history = home.json(0, &["history"]).await;
    home.json(0, &["note", "acme-eu", "mine"]).await;
    let rows = home.write("notes.csv", "user_group_id,note\nacme-eu,theirs\n");
    let ran = home.run(&["import", &rows]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(
        &ran.err,
        "note: \"mine\" -> \"theirs\": the existing value is kept",
    );
    let note = async || home.json(0, &["note", "acme-eu"]).await[0]["note"].clone();
    assert_eq!(note().await, "mine");

    // The plan shows the change, and asks for confirmation although nothing is sent.
    let dry = home.run(&["apply", &rows, "--dry-run"]).await;
    for words in [
        "annotate acme-eu",
        "~ note: \"mine\" -> \"theirs\"",
        "annotate 1",
    ] {
        assert!(dry.out.contains(words), "{words}: {}", dry.out);
    }
    let refused = home.run(&["apply", &rows]).await;
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert_eq!(note().await, "mine");
    let ran = home.run(&["apply", &rows, "--yes"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&ran.out, "acme-eu unchanged, annotated");
    assert_eq!(note().await, "theirs");
    let again = home.run(&["apply", &rows, "--yes"]).await;
    assert!(!again.out.contains("annotated"), "{}", again.out);

    let back = home.write("back.csv", "user_group_id,note\nacme-eu,\"\"\n");
    let ran = home.run(&["import", &back, "--replace-notes"]).await;
    assert!(ran.err.contains("\"theirs\" -> none"), "{}", ran.err);
    assert_eq!(note().await, serde_json::Value::Null);
    assert_eq!(
        home.json(0, &["history"]).await,
        history,
        "nothing was sent"
    );

    let secret = home.write(
        "secret.csv",
        &format!("user_group_id,note\nacme-eu,token={token}\n"),
    );
    for command in [
        &["import", &secret][..],
        &["import", &secret, "--dry-run"],
        &["apply", &secret, "--yes"],
        &["import", &secret, "--update", "--yes"],
    ] {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 2, "{command:?}: {}", ran.err);
        assert!(ran.err.contains("note of \"acme-eu\""), "{}", ran.err);
        assert!(!ran.err.contains(&token) && !ran.out.contains(&token));
    }
    assert_eq!(note().await, serde_json::Value::Null);
}
