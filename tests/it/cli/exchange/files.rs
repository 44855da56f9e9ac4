//! Unusual folders and targets, values that are hard to write down, and a service that gives no token.

use std::{os::unix::fs::symlink, path::PathBuf};

use super::{CREATE, ids, import, made};
use crate::{
    cli::program::{Home, files},
    support::faults::{Fault, Faults},
};

#[tokio::test]
async fn a_folder_with_something_else_in_it_is_refused_as_a_whole() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    std::fs::create_dir(home.path("groups")).expect("made");
    home.write("groups/a.jsonl", "{\"user_group_id\":\"in-a\"}\n");
    // A link to a file counts as the file.
    home.write("elsewhere", "user_group_id\nin-b\n");
    symlink(home.path("elsewhere"), home.path("groups/b.CSV")).expect("linked");
    let ran = home.exits(0, "apply groups --dry-run").await;
    ran.shows("create in-a").shows("create in-b");

    let odd = home.path("groups/c.json");
    let fifo = || {
        let made = std::process::Command::new("mkfifo").arg(&odd).status();
        assert!(made.expect("mkfifo runs").success());
    };
    let nowhere = || symlink("/nowhere/at-all", &odd).expect("linked");
    // Larger than any file of groups, and a hole.
    let huge = || {
        let file = std::fs::File::create(&odd).expect("made");
        file.set_len(3 << 30).expect("sparse");
    };
    for (make, why) in [
        (&fifo as &dyn Fn(), "not a regular file"),
        (&nowhere, "there is no such file"),
        (&huge, "c.json"),
    ] {
        make();
        let ran = home.exits(2, "apply groups --yes").await;
        ran.prints("").says("c.json").says(why);
        std::fs::remove_file(&odd).expect("removed");
    }
}

/// Links, FIFOs and folders in its place: `cli::files`.
#[tokio::test]
async fn an_export_writes_only_its_target() {
    let (home, _held) = Home::in_demo().await;
    let out = home.exits(0, "export -o -").await;
    out.shows("acme-eu");
    assert!(!home.path("-").exists());
    let before = r#"{"user_group_id":"before"}"#;
    home.write("real.jsonl", before);
    let refused = "already exists; nothing was saved. To replace it, add --force";
    home.exits(2, "export -o real.jsonl").await.says(refused);
    let real = || std::fs::read_to_string(home.path("real.jsonl")).expect("readable");
    assert_eq!(real(), before);
    home.exits(0, "export -o real.jsonl --force").await;
    assert_eq!(real(), out.out);
    for form in ["csv", "json"] {
        let again = format!("export -o old --format {form} --force");
        home.exits(0, &again).await;
        home.exits(0, &again).await;
    }
    // A property of that name is no token.
    let property = "update acme-eu --property token=1 --yes";
    home.exits(0, property).await;
    for _ in 0..2 {
        let again = "export --columns properties --file old --force";
        home.exits(0, again).await;
    }
    // Nothing else is replaced: the directory, the configuration, a key, tokens.
    let tokens = "export --reveal-tokens --token-out tokens --file real.jsonl --force";
    home.exits(0, tokens).await;
    home.write("key", "a key");
    let all = files(home.folder.path());
    let named = |name: &str| all.iter().find(|file| file.ends_with(name)).cloned();
    for name in ["directory.db", "key", "tokens"] {
        let file = named(name).unwrap_or_else(|| panic!("{name} in {all:?}"));
        let kept = std::fs::read(&file).expect("readable");
        let ran = home
            .exits(2, &format!("export --file {} --force", file.display()))
            .await;
        ran.says(
            "already exists and is not an export of groups; nothing was saved. Use a new file",
        );
        assert_eq!(std::fs::read(&file).expect("readable"), kept, "{name}");
    }
    for (option, format) in [("--file", "json"), ("--file", "table"), ("-o", "yaml")] {
        let ran = home.exits(2, &format!("export {option} {format}")).await;
        ran.says("name of a format");
        assert!(!home.path(format).exists());
    }
    let other = "written as JSON lines, not as tsv";
    home.exits(0, "export --file groups.tsv").await.says(other);
    let chosen = home.exits(0, "export --file g.tsv --format jsonl").await;
    chosen.hides("written as");
    let other = home.exits(0, "export --file g.json --format csv").await;
    other.says("written as CSV, not as json");
    home.exits(2, "export -o /dev/null")
        .await
        .says("nothing was saved");
    let left = files(home.folder.path());
    let is_left = |file: &PathBuf| {
        file.file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b".tmp"))
    };
    assert!(!left.iter().any(is_left), "{left:?}");
}

#[tokio::test]
async fn hostile_values_come_out_as_they_went_in() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    let rows = [
        r#"{"user_group_id":" =cmd|'/C calc'!A0 ","name":"a\"b,c\r\nd; e\t","mapping":{"40":"","":"x, \"y\""},"properties":{}}"#,
        r#"{"user_group_id":"big","properties":{"n":9007199254740993,"huge":123456789012345678901234567890,"f":1.10,"e":1e+400,"z":-0.0,"deep":{"a":[{"b":null},[],{}]},"null":null}}"#,
        r#"{"user_group_id":"empty","name":"","mapping":{},"properties":{}}"#,
        r#"{"user_group_id":"nothing"}"#,
        r#"{"user_group_id":"東京\u202egpj","name":"\u202e\u0007 x\ufeff","mapping":{"\u200b":"\u2028"}}"#,
    ];
    let text = rows.map(|row| format!("{row}\n")).concat();
    home.write("hostile.jsonl", &text);
    let ran = home.exits(0, "import hostile.jsonl").await;
    assert!(!ran.err.contains('\u{202e}'), "{}", ran.err);
    // A value is exported as it was imported, and comes back from each format: `texts`.
    home.run("export").await.prints(&text);
}

#[tokio::test]
async fn exporting_tokens_gives_up_after_repeated_failures() {
    let mut script: Vec<_> = (1..=5).map(|row| made(&format!("g{row}"), true)).collect();
    script.push(Fault::Close);
    let service = Faults::start(script).await;
    let home = Home::of(&service);
    let file = ids(&home, 5);
    home.exits(0, &import(&file, CREATE)).await;
    let export = "export --reveal-tokens --token-out tokens.jsonl --concurrency 1";
    let ran = home.exits(6, export).await;
    ran.says("3 failures in a row").says("0 of 5 tokens");
    assert_eq!(service.requests().len(), 8, "the other two are not tried");
    assert_eq!(ran.out.lines().count(), 5, "the groups are still exported");
}
