//! `export`: tokens are written only when asked for, into a file of their own. What is exported can be imported again:
//! `exchange::files`.

use std::os::unix::fs::FileExt;

use rusqlite::Connection;

use super::program::{Home, files, mode};
use crate::support::assertions::assert_lacks;

#[tokio::test]
async fn tokens_come_from_the_service_into_a_private_file() {
    let (home, _held) = Home::in_demo().await;
    home.exits(2, "export --reveal-tokens").await;
    let one = home.json(0, "get acme-eu --reveal").await;
    let token = one["token"].as_str().expect("a token");
    home.exits(0, "export --file all.CSV").await;
    let by_name = std::fs::read_to_string(home.path("all.CSV")).expect("readable");
    assert!(by_name.starts_with("user_group_id,name"), "{by_name}");
    // An id known only from a file is not read, because a read could create it.
    home.exits_with(0, "import -", "user_group_id\nhearsay\n")
        .await;
    let export = "export --reveal-tokens --token-out tokens.jsonl";
    let ran = home.exits(0, export).await;
    ran.says("skipped 1 group that was never seen").hides(token);
    assert_eq!(mode(home.path("tokens.jsonl")), 0o600);
    let lines = std::fs::read_to_string(home.path("tokens.jsonl")).expect("readable");
    assert!(lines.contains(token) && !lines.contains("hearsay"));
    assert_eq!(lines.lines().count(), ran.out.lines().count() - 1);
    // An existing file is not overwritten, nor by the groups.
    home.exits(2, export).await;
    for tokens in ["./all.jsonl", "all.jsonl"] {
        let both = format!("export --reveal-tokens --token-out {tokens} --output all.jsonl");
        home.exits(2, &both).await.says("must be different files");
        assert!(!home.path("all.jsonl").exists());
    }
}

#[tokio::test]
async fn a_file_of_tokens_that_was_not_written_is_reported_so() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    let ran = home
        .exits(0, "export --reveal-tokens --token-out none.jsonl")
        .await;
    ran.says("none.jsonl was not created");
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
    home.connect("http://127.0.0.1:9", "key");
    let rows = (0..3000).map(|at| format!("group-{at:05},Group {at}\n"));
    let rows: String = rows.collect();
    home.write("all.csv", &format!("user_group_id,name\n{rows}"));
    home.exits(0, "import all.csv --directory broken.db").await;
    let broken = home.at("broken.db");
    let page = last_leaf(&broken, "user_groups");
    let file = std::fs::File::options().write(true).open(&broken);
    let written =
        file.and_then(|file| file.write_all_at(&[0xff; 4096], u64::from(page - 1) * 4096));
    written.expect("written");
    let part = home.exits(2, "export --directory broken.db").await;
    assert!(part.out.lines().count() > 1000, "it breaks in the middle");
    std::fs::create_dir(home.path("out")).expect("a folder");
    home.exits(2, "export --directory broken.db --output out/all.jsonl")
        .await;
    assert_eq!(files(&home.path("out")), Vec::<std::path::PathBuf>::new());
}

/// Annotations are exported when asked for, and arrive in another installation unchanged.
#[tokio::test]
async fn notes_and_labels_go_into_another_installation_as_they_were() {
    let (home, _held) = Home::in_demo().await;
    let note = "SSO until 1 Dec, \"call\" first; \u{e9}";
    home.exits(0, &["note", "acme-eu", note]).await;
    home.exits(0, "label acme-us --add vip --add sso").await;
    let plain = home.run("export").await.out;
    assert!(!plain.contains("call"), "only where it is asked for");
    for format in ["jsonl", "json", "csv"] {
        let export = format!("export --columns +note,+labels,+favourite --format {format}");
        home.exits(0, &format!("{export} -o out.{format}")).await;
        let first = std::fs::read_to_string(home.path(&format!("out.{format}")));
        let first = first.expect("readable");
        assert!(first.contains("SSO until"), "{first}");
        let there = format!("--directory {format}.db");
        let ran = home.exits(0, &format!("import out.{format} {there}")).await;
        ran.shows("annotated        2");
        home.run(&format!("{export} {there}")).await.prints(&first);
        let kept = home.json(0, &format!("note acme-eu {there}")).await;
        assert_eq!(kept[0]["note"], note);
    }
    home.exits(2, "export --columns prop:tier").await;
    let names = home.run("export --columns name").await;
    assert_lacks(&names.out, "mapping");
    assert_eq!(names.out.lines().count(), plain.lines().count());
}

#[tokio::test]
async fn a_note_of_somebody_else_is_replaced_only_after_it_was_shown() {
    let (home, _held) = Home::in_demo().await;
    let got = home.json(0, "get acme-eu --reveal").await;
    let token = got["token"].as_str().expect("a token");
    let history = home.json(0, "history").await;
    home.exits(0, "note acme-eu mine").await;
    home.write("notes.csv", "user_group_id,note\nacme-eu,theirs\n");
    let ran = home.exits(0, "import notes.csv").await;
    ran.says("note: \"mine\" -> \"theirs\": the existing value is kept");
    let note = async || home.json(0, "note acme-eu").await[0]["note"].clone();
    // The plan shows the change, and asks for confirmation although nothing is sent.
    let dry = home.run("apply notes.csv --dry-run").await;
    dry.shows("annotate acme-eu").shows("annotate 1");
    dry.shows("~ note: \"mine\" -> \"theirs\"");
    home.exits(3, "apply notes.csv").await;
    assert_eq!(note().await, "mine");
    let ran = home.exits(0, "apply notes.csv --yes").await;
    ran.shows("acme-eu unchanged, annotated");
    assert_eq!(note().await, "theirs");
    let again = home.run("apply notes.csv --yes").await;
    assert_lacks(&again.out, "annotated");

    home.write("back.csv", "user_group_id,note\nacme-eu,\"\"\n");
    let ran = home.run("import back.csv --replace-notes").await;
    ran.says("\"theirs\" -> none");
    assert_eq!(note().await, serde_json::Value::Null);
    assert_eq!(home.json(0, "history").await, history, "nothing was sent");
    home.write(
        "secret.csv",
        &format!("user_group_id,note\nacme-eu,token={token}\n"),
    );
    for command in [
        "import secret.csv",
        "import secret.csv --dry-run",
        "apply secret.csv --yes",
        "import secret.csv --update --yes",
    ] {
        let ran = home.exits(2, command).await;
        ran.says("note of \"acme-eu\"").hides(token);
    }
    assert_eq!(note().await, serde_json::Value::Null);
}
