//! Unusual folders and targets, values that are hard to write down, and a service that gives no token.

use std::os::unix::fs::PermissionsExt;

use super::{CREATE, ids, import, made};
use crate::support::assertions::assert_has;
use crate::{
    cli::program::{Home, files},
    support::faults::{Fault, Faults},
};

#[tokio::test]
async fn a_folder_with_something_else_in_it_is_refused_as_a_whole() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    let folder = home.path("groups");
    std::fs::create_dir(&folder).expect("made");
    let path = folder.display().to_string();
    let dry = ["apply", &path, "--dry-run"];
    let row = "{\"user_group_id\":\"in-a\"}\n";
    std::fs::write(folder.join("a.jsonl"), row).expect("written");
    // Hidden files are left by editors and skipped; a link to a file counts as the file.
    std::fs::write(folder.join(".a.jsonl.swp.json"), "canary").expect("written");
    home.write("elsewhere", "user_group_id\nin-b\n");
    std::os::unix::fs::symlink(home.path("elsewhere"), folder.join("b.CSV")).expect("linked");
    let ran = home.run(&dry).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&ran.out, "create in-a");
    assert_has(&ran.out, "create in-b");

    let odd = folder.join("c.json");
    let fifo = || {
        let made = std::process::Command::new("mkfifo").arg(&odd).status();
        assert!(made.expect("mkfifo runs").success());
    };
    let nowhere = || std::os::unix::fs::symlink("/nowhere/at-all", &odd).expect("linked");
    let a_folder = || std::fs::create_dir(&odd).expect("made");
    for (make, why) in [
        (&fifo as &dyn Fn(), "not a regular file"),
        (&nowhere, "there is no such file"),
        (&a_folder, "not a regular file"),
    ] {
        make();
        let ran = home.run(&["apply", &path, "--yes"]).await;
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert_has(&ran.err, "c.json");
        assert_has(&ran.err, why);
        if odd.is_dir() {
            std::fs::remove_dir(&odd).expect("removed");
        } else {
            std::fs::remove_file(&odd).expect("removed");
        }
    }
    // Larger than any file of groups, and a hole.
    let huge = std::fs::File::create(&odd).expect("made");
    huge.set_len(3 << 30).expect("sparse");
    let ran = home.run(&["apply", &path, "--yes"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn an_export_writes_only_its_target() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let out = home.run(&["export", "-o", "-"]).await;
    assert_eq!(out.code, 0, "{}", out.err);
    assert!(out.out.contains("acme-eu"), "{}", out.out);
    assert!(!home.path("-").exists());

    let real = home.write("real.jsonl", "before");
    let link = home.path("link.jsonl");
    std::os::unix::fs::symlink(&real, &link).expect("linked");
    let linked = link.display().to_string();
    let ran = home.run(&["export", "-o", &linked]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    let refused = "already exists; nothing was written. To replace it, add --force";
    assert!(ran.err.contains(refused), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&real).expect("readable"), "before");
    let ran = home.run(&["export", "-o", &linked, "--force"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(link.is_symlink());
    for (option, format) in [("--file", "json"), ("--file", "table"), ("-o", "yaml")] {
        let ran = home.run(&["export", option, format]).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("name of a format"), "{}", ran.err);
        assert!(!home.path(format).exists());
    }
    assert_eq!(std::fs::read_to_string(&real).expect("readable"), out.out);
    let mode = std::fs::metadata(&real)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    let fifo = home.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    for place in [fifo.as_path(), "/dev/null".as_ref(), home.folder.path()] {
        let ran = home
            .run(&["export", "-o", &place.display().to_string()])
            .await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("nothing was written"), "{}", ran.err);
    }
    assert!(fifo.symlink_metadata().is_ok_and(|found| !found.is_file()));
    let left = files(home.folder.path());
    assert!(
        left.iter().all(|file| {
            let name = file.file_name().unwrap_or_default();
            !name.to_string_lossy().starts_with(".tmp")
        }),
        "{left:?}"
    );
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
    let file = home.write("hostile.jsonl", &text);
    let ran = home.run(&["import", &file]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.err.contains('\u{202e}'), "{}", ran.err);
    let first = home.run(&["export"]).await;
    assert_eq!(first.out, text, "a value is exported as it was imported");
    for format in ["jsonl", "json", "csv"] {
        let out = home.run(&["export", "--format", format]).await.out;
        let file = home.write("again", &out);
        let empty = home.path(&format!("{format}.db")).display().to_string();
        let ran = home.run(&["import", &file, "--directory", &empty]).await;
        assert_eq!(ran.code, 0, "{format}: {}", ran.err);
        let again = ["export", "--format", format, "--directory", &empty];
        assert_eq!(home.run(&again).await.out, out, "{format}");
        let lines = home.run(&["export", "--directory", &empty]).await;
        assert_eq!(lines.out, text, "nothing is lost by way of {format}");
    }
}

#[tokio::test]
async fn exporting_tokens_gives_up_after_repeated_failures() {
    let mut script: Vec<_> = (1..=5).map(|row| made(&format!("g{row}"), true)).collect();
    script.push(Fault::Close);
    let service = Faults::start(script).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 5);
    assert_eq!(home.run(&import(&file, &CREATE)).await.code, 0);
    let out = home.path("tokens.jsonl").display().to_string();
    let ran = home
        .run(&[
            "export",
            "--reveal-tokens",
            "--token-out",
            &out,
            "--concurrency",
            "1",
        ])
        .await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("3 failures in a row"), "{}", ran.err);
    assert!(ran.err.contains("0 of 5 tokens"), "{}", ran.err);
    assert_eq!(service.requests().len(), 8, "the other two are not tried");
    assert_eq!(ran.out.lines().count(), 5, "the groups are still exported");
}
