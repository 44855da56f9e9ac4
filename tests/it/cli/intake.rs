//! Files from elsewhere, through every command that reads one: what a person must know is said before anything is sent.

use std::fs;

use serde_json::{Value, json};

use super::{
    program::{Home, Ran},
    prompts::answer_with_line,
};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    bare::args,
    faults::{Fault, Faults},
};

fn bytes(home: &Home, name: &str, bytes: &[u8]) -> String {
    fs::write(home.path(name), bytes).expect("written");
    home.path(name).display().to_string()
}

fn utf16(text: &str) -> Vec<u8> {
    let units = format!("\u{feff}{text}");
    units.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn refused(ran: &Ran, words: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    // Between cause and advice stands what was not done.
    let undone = ["nothing was done", "nothing was sent", "nothing was shown"];
    let said = undone.iter().fold(ran.err.clone(), |said, undone| {
        said.replace(&format!("; {undone}. Save the"), "; save the")
    });
    assert_has(&said, words);
}

#[tokio::test]
async fn a_list_of_ids_may_come_from_any_program() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    for (name, content) in [
        ("mark.txt", b"\xef\xbb\xbfacme-us\nacme-eu\n".to_vec()),
        ("utf16.txt", utf16("acme-us\r\nacme-eu\r\n")),
        ("mac.txt", b"acme-us\racme-eu\r".to_vec()),
        ("blanks.txt", b"  acme-us \n\n\tacme-eu\n".to_vec()),
        ("quoted.txt", b"\"acme-us\"\n\"acme-eu\"\n".to_vec()),
        ("comment.txt", b"# leaked\nacme-us\nacme-eu\n".to_vec()),
        (
            "list.csv",
            b"id,name,age\nacme-us,x,1\nacme-eu,y,2\n".to_vec(),
        ),
        (
            "german.csv",
            b"user_group_id;name\nacme-us;x\nacme-eu;y\n".to_vec(),
        ),
        ("one-line.txt", b"acme-us, acme-eu,\n".to_vec()),
        ("ids.json", b"[\"acme-us\",\"acme-eu\"]".to_vec()),
        (
            "groups.ndjson",
            b"{\"user_group_id\":\"acme-us\"}\n{\"user_group_id\":\"acme-eu\"}\n".to_vec(),
        ),
    ] {
        let file = bytes(&home, name, &content);
        for command in [&["show"][..], &["get"], &["rotate", "--dry-run"]] {
            let mut all = command.to_vec();
            all.extend(["--from", &file, "--json"]);
            let ran = home.run(&all).await;
            assert_eq!(ran.code, 0, "{name} {command:?}: {}", ran.err);
            for id in ["acme-us", "acme-eu"] {
                assert_has(&ran.out, &format!("\"{id}\""));
            }
            assert_lacks(&ran.err, "not known");
        }
    }
    for (name, content, words) in [
        (
            "empty.txt",
            &b""[..],
            "it is empty (did the command before it fail?)",
        ),
        ("nothing.txt", b"# nothing\n", "it is empty"),
        (
            "latin.txt",
            b"acme-us\nZo\xeb\n",
            "line 2, column 3: the byte 0xEB is not UTF-8",
        ),
        (
            "book.xlsx",
            b"PK\x03\x04[Content_Types].xml",
            "a workbook: export it as CSV",
        ),
    ] {
        let file = bytes(&home, name, content);
        for command in [&["show"][..], &["get"], &["rotate", "--yes"]] {
            let mut all = command.to_vec();
            all.extend(["--from", &file]);
            refused(&home.run(&all).await, words);
        }
    }
    // What looks like another sign is named with its line, and never taken for the group that it looks like.
    let file = bytes(&home, "odd.txt", "acme-us\nacme\u{200b}-eu\n".as_bytes());
    let ran = home.run(&["show", "--from", &file]).await;
    assert_has(
        &ran.err,
        "line 2: character 5 of the id: invisible \\u{200b}",
    );
}

#[tokio::test]
async fn every_command_says_the_same_of_a_file_it_cannot_use() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    for (name, content, words) in [
        (
            "empty.csv",
            &b""[..],
            "it is empty (did the command before it fail?)",
        ),
        (
            "book.csv",
            b"PK\x03\x04[Content_Types].xml",
            "a workbook: export it as CSV",
        ),
        (
            "latin.csv",
            b"user_group_id,name\na,Zo\xeb\nb,Zo\xeb\n",
            "and 1 more place; save the file as UTF-8",
        ),
        ("page.json", b"<!doctype html>", "a web page"),
    ] {
        let file = bytes(&home, name, content);
        for command in [&["import"][..], &["apply", "--yes"], &["diff"]] {
            let mut all = command.to_vec();
            all.push(&file);
            let ran = home.run(&all).await;
            refused(&ran, words);
            assert_has(&ran.err, name);
        }
        for option in ["--mapping", "--properties"] {
            refused(
                &home.run(&["create", "x", option, &file, "--yes"]).await,
                words,
            );
        }
    }
    refused(
        &home.run_with(&["import", "-"], "").await,
        "standard input: it is empty",
    );
    for nothing in ["[]", "user_group_id,name\n"] {
        let ran = home.run_with(&["import", "-"], nothing).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_has(
            &ran.err,
            "! standard input: it has no rows: did the command before it fail?",
        );
    }
    let folder = home.path("").display().to_string();
    refused(&home.run(&["import", &folder]).await, "it is a folder");
    // 200 faults of one kind are one line.
    let wrong: Vec<_> = (0..200)
        .map(|number| format!("g{number},[{number}]"))
        .collect();
    let file = home.write(
        "wrong.csv",
        &format!("user_group_id,mapping\n{}\n", wrong.join("\n")),
    );
    let ran = home.run(&["import", &file]).await;
    refused(&ran, "(and 199 more rows like it: line 3, 4, 5");
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn a_folder_says_what_it_left_out_and_both_places_of_an_id() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    fs::create_dir_all(home.path("groups/old")).expect("a folder");
    for (name, content) in [
        ("a.csv", &b"user_group_id\nacme\n"[..]),
        ("b.tsv", b"user_group_id\tname\nacme\tx\n"),
        ("c.ndjson", b"{\"user_group_id\":\"globex\"}\n"),
        ("notes.txt", b"notes"),
        ("book.xlsx", b"PK\x03\x04[Content_Types].xml"),
        (".hidden.csv", b"nothing"),
    ] {
        fs::write(home.path("groups").join(name), content).expect("written");
    }
    let folder = home.path("groups").display().to_string();
    let ran = home.run(&["diff", &folder]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_has(
        &ran.err,
        "book.xlsx (a workbook: export it as CSV), notes.txt, old/ (a folder",
    );
    assert_lacks(&ran.err, ".hidden");
    assert_has(
        &ran.err,
        "b.tsv, row 2, line 2: the ID \"acme\" is already in",
    );
    assert_has(&ran.err, "a.csv, row 1, line 2");
    fs::remove_file(home.path("groups/b.tsv")).expect("removed");
    let ran = home.run(&["diff", &folder, "--json"]).await;
    assert_eq!(ran.code, 10, "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
}

#[tokio::test]
async fn a_plan_says_first_what_a_person_must_know() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let acme = home.json(0, &["show", "acme-eu"]).await;
    assert_ne!(acme["name"], json!(""));
    assert_eq!(home.run(&["note", "acme-eu", "call first"]).await.code, 0);
    let new: Vec<_> = (0..200)
        .map(|number| format!("\"new-group-{number}-zz\",\"n\",\"\""))
        .collect();
    let head =
        "\"user_group_id\",\"name\",\"note\"\n\"acme-eu\",\"\",\"\"\n\"acme-eux\",\"#REF!\",\"\"\n";
    let file = home.write("quoted.csv", &format!("{head}{}\n", new.join("\n")));
    for command in [
        &["import", &file, "--create", "--update", "--dry-run"][..],
        &["apply", &file, "--dry-run"],
    ] {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let head: Vec<_> = ran.out.lines().take(4).collect();
        assert_has(head[0], "create 201, update 1");
        assert_eq!(head[1], "! 1 name becomes empty, 1 note is removed");
        assert_has(head[2], "new ID");
        assert_eq!(head[3], "! 1 cell contains what only a spreadsheet writes");
        assert_has(
            &ran.err,
            "\"acme-eux\" is new and resembles known IDs: \"acme-eu\"",
        );
        assert_has(&ran.err, "the name \"#REF!\" is an error of a spreadsheet");
        assert!(ran.out.lines().count() < 100, "{}", ran.out);
        assert_has(&ran.out, "182 rows more; --verbose shows all");
        let mut all = command.to_vec();
        all.push("--verbose");
        let ran = home.run(&all).await;
        assert_has(&ran.out, "create new-group-199-zz");
    }
    for command in [
        &["import", &file, "--create", "--update", "--dry-run"][..],
        &["apply", &file, "--dry-run"],
        &["diff", &file],
        &["import", &file, "--replace-notes", "--dry-run"],
    ] {
        let mut all = command.to_vec();
        all.push("--json");
        let ran = home.run(&all).await;
        let lines: Vec<Value> = ran
            .out
            .lines()
            .map(|line| line.parse().expect("JSON"))
            .collect();
        let (sum, rows) = lines.split_last().expect("a sum");
        let is_sent = !command.contains(&"--replace-notes");
        assert_eq!(sum["emptied"]["names"], u8::from(is_sent), "{sum}");
        assert_eq!(sum["emptied"]["notes"], 1, "{sum}");
        assert_eq!(sum["emptied"]["mappings"], 0, "{sum}");
        assert_eq!(sum["spreadsheet_cells"], 1, "{sum}");
        assert!(sum["resembling"].as_u64() >= Some(1), "{sum}");
        assert_eq!(rows[1]["resembles"][0], "acme-eu", "{}", rows[1]);
        assert_eq!(rows[1]["spreadsheet_cells"], json!(["name"]));
        assert_eq!(rows[0].get("resembles"), None, "{}", rows[0]);
    }
    // Without sending anything, too.
    let ran = home.run(&["import", &file, "--dry-run"]).await;
    assert_has(&ran.err, "\"acme-eux\" is new and resembles known IDs");
    let ran = home.run(&["diff", &file]).await;
    assert_has(&ran.out, "create new-group-199-zz");
}

#[tokio::test]
async fn single_rows_that_become_empty_are_counted_and_ask_one_level_more() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let table = "user_group_id,map: 7 ,prop:tier\nacme-eu,\"\",\"\"\n";
    let objects =
        "{\"user_group_id\":\"acme-eu\",\"mapping\":{\"7\":\"\"},\"properties\":{\"tier\":\"\"}}\n";
    for (name, content) in [("rows.csv", table), ("rows.jsonl", objects)] {
        let file = home.write(name, content);
        for command in [
            &["import", &file, "--update", "--dry-run"][..],
            &["apply", &file, "--dry-run"],
        ] {
            let ran = home.run(command).await;
            assert_eq!(ran.code, 0, "{}", ran.err);
            assert_has(
                &ran.out,
                "! 1 mapping row becomes empty, 1 single property becomes empty",
            );
            assert_has(&ran.out, "~ mapping 7: ");
        }
        let ran = home.run(&["apply", &file, "--dry-run", "--json"]).await;
        let sum: Value = ran
            .out
            .lines()
            .last()
            .expect("a sum")
            .parse()
            .expect("JSON");
        assert_eq!(sum["emptied"]["mapping_rows"], 1, "{sum}");
        assert_eq!(sum["emptied"]["single_properties"], 1, "{sum}");
    }
    // A cell counts once, and what the directory knows is not of the file.
    let file = home.write("short.csv", "user_group_id,map:7\nacme-eu,1.2E+11\n");
    let ran = home.run(&["apply", &file, "--dry-run"]).await;
    assert_has(&ran.out, "! 1 cell contains what only a spreadsheet writes");
}

#[tokio::test]
async fn what_a_list_writes_can_be_imported_again() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let before = home.json(0, &["show", "acme-eu"]).await;
    let schema = before["mapping"]
        .as_object()
        .and_then(|rows| rows.keys().next());
    let schema = schema.expect("a row").clone();
    let columns = format!("id,name,map:{schema},prop:tier");
    let listed = home
        .run(&["list", "-o", "csv", "--columns", &columns])
        .await;
    assert_eq!(listed.code, 0, "{}", listed.err);
    let same = home.run_with(&["diff", "/dev/stdin"], &listed.out).await;
    assert_eq!(same.code, 0, "{}{}", same.out, same.err);
    let file = home.write("one.csv", &format!("id,map:{schema}\nacme-eu,999\n"));
    let ran = home.run(&["apply", &file, "--yes"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let after = home.json(0, &["show", "acme-eu"]).await;
    let mut expected = before["mapping"].clone();
    expected[&schema] = json!("999");
    assert_eq!(after["mapping"], expected);
    let file = home.write("all.csv", "id,age,read\nacme-eu,,\n");
    let ran = home.run(&["import", &file]).await;
    refused(&ran, "the column \"age\" of a list cannot be imported");
    assert_has(&ran.err, "the column \"read\" of a list");
}

#[tokio::test]
async fn a_list_keeps_characters_that_nobody_sees() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let (id, name) = (
        "a\u{200b}b \u{1f469}\u{200d}\u{1f467}",
        "I \u{2764}\u{fe0f} it\u{ad}",
    );
    assert_eq!(
        home.run(&["create", id, "--name", name, "--yes"])
            .await
            .code,
        0
    );
    assert_eq!(home.run(&["create", "x\nacme-us", "--yes"]).await.code, 0);
    let listed = home
        .run(&["list", "-o", "csv", "--columns", "id,name"])
        .await;
    let file = home.write("listed.csv", &listed.out);
    let ran = home.run(&["diff", &file]).await;
    assert_eq!(
        ran.code, 0,
        "as last known, all of it: {}{}",
        ran.out, ran.err
    );
    let listed = home.run(&["list", "-o", "name"]).await;
    let ids: Vec<_> = listed.out.lines().collect();
    assert!(ids.contains(&id), "{ids:?}");
    assert!(ids.contains(&"x\\nacme-us"), "never two IDs: {ids:?}");
    let file = home.write("one.txt", &format!("{id}\n"));
    assert_eq!(home.run(&["show", "--from", &file]).await.code, 0);
}

#[tokio::test]
async fn an_error_never_stands_where_a_program_reads_a_result() {
    let home = Home::new();
    for form in ["name", "csv"] {
        for command in ["list", "show acme", "history", "rotations"] {
            let mut all = args(command);
            all.extend(["-o", form]);
            let ran = home.run(&all).await;
            assert_ne!(ran.code, 0, "{all:?}");
            assert_eq!(ran.out, "", "{all:?}");
            assert_has(&ran.err, "error: ");
        }
    }
}

#[tokio::test]
async fn ages_pairs_and_addresses_say_what_to_write() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    for (command, words) in [
        ("rotate --older-than 3m --yes", "3 months are 90d"),
        ("rotate --older-than 90 --yes", "write 90d"),
        ("history --since 3m", "minutes or months"),
        ("history --until 6months", "write 180d"),
        ("audit --since 3m", "minutes or months"),
        ("list --filter age>3m", "may mean months"),
        (
            "serve keys create --environment x --expires 3m",
            "minutes or months",
        ),
        (
            "create x --map 40＝213 --yes",
            "＝ (U+FF1D) is a wide equals sign: use =",
        ),
        (
            "serve --listen :8474",
            "write 127.0.0.1:8474 for this machine only",
        ),
        (
            "serve --listen example.com:8474",
            "127.0.0.1:8474 or [::1]:8474",
        ),
        ("serve --metrics 127.0.0.1", "no port"),
    ] {
        let ran = home.run(&args(command)).await;
        assert_eq!(ran.code, 2, "{command}: {}{}", ran.out, ran.err);
        assert_has(&ran.err, words);
    }
    let ran = home
        .run(&[
            "create",
            "x",
            "--map",
            "40 = 213",
            "--property",
            " tier = \"gold\" ",
            "--dry-run",
            "--json",
        ])
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&ran.out, "\"40\": \"213\"");
    assert_has(&ran.out, "\"tier\": \"gold\"");
    let property = "tier=\u{201c}gold\u{201d}";
    let ran = home
        .run(&["create", "x", "--property", property, "--dry-run"])
        .await;
    refused(&ran, "“ (U+201C) is a curly quote: use \"");
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn a_key_may_come_from_any_editor() {
    let mut home = Home::new();
    let (_serving, url) = home.serve().await;
    let key = home.key(&args("--environment live --tag Customer")).await;
    let config = |file: &str| {
        format!(
            "[profiles.live]\nbase_url = \"{url}\"\napi_key = {{ file = \"{file}\" }}\nenvironment = \"Customer\"\n"
        )
    };
    home.set(
        "GROUPDESK_CONFIG",
        home.path("config.toml").display().to_string(),
    );
    for content in [
        format!("\u{feff}{key}\r\n").into_bytes(),
        format!("{key}\rsecond line").into_bytes(),
        utf16(&format!("{key}\r\n")),
    ] {
        let file = bytes(&home, "key", &content);
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("private");
        home.write("config.toml", &config(&file));
        let ran = home.run(&["profile", "check"]).await;
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
    // The configuration itself, as an old Mac or Windows writes it.
    let file = home.path("key").display().to_string();
    for content in [
        utf16(&config(&file).replace('\n', "\r\n")),
        format!("\u{feff}{}", config(&file).replace('\n', "\r")).into_bytes(),
    ] {
        bytes(&home, "config.toml", &content);
        let ran = home.run(&["profile", "check"]).await;
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
    bytes(&home, "key", format!("{}\u{a0}x\n", &key[..8]).as_bytes());
    home.write("config.toml", &config(&file));
    let ran = home.run(&["profile", "check"]).await;
    assert_has(&ran.err, "(column 9: U+00A0)");
    assert_lacks(&ran.err, &key[..8]);
}

/// One level more than for a file that loses nothing: the usual phrase is not enough.
#[tokio::test]
async fn a_file_that_empties_values_asks_for_a_longer_phrase() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let file = home.write("empty.csv", "user_group_id,properties\nacme-eu,{}\n");
    let kept = home.json(0, &["show", "acme-eu"]).await;
    assert_ne!(kept["properties"], json!({}));
    let apply = ["apply", &file];
    let (shown, code) = answer_with_line(&home, &apply, "apply 1 in testing\n");
    assert_eq!(code, Some(3), "{shown}");
    assert_has(&shown, "the properties of 1 group become empty");
    assert_eq!(home.json(0, &["show", "acme-eu"]).await, kept);
    let (shown, code) = answer_with_line(&home, &apply, "apply 1 in testing and lose values\n");
    assert_eq!(code, Some(0), "{shown}");
    let now = home.json(0, &["show", "acme-eu"]).await;
    assert_eq!(now["properties"], json!({}));
}
