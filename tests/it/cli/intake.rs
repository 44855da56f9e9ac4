//! Files from elsewhere, through every command that reads one: what a person must know is said before anything is sent.

use std::fs;

use serde_json::json;

use super::{
    program::{Home, Ran, each, has},
    prompts::answer_with_line,
};
use crate::support::{
    assertions::{assert_has, assert_lacks},
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
    let undone = [
        "nothing was changed",
        "nothing was sent",
        "nothing was shown",
    ];
    let said = undone.iter().fold(ran.err.clone(), |said, undone| {
        said.replace(&format!("; {undone}. Save the"), "; save the")
    });
    assert_has(&said, words);
}

/// Every form in which a list of ids can be written: `intake::tests`.
#[tokio::test]
async fn a_list_of_ids_may_come_from_any_program() {
    let (home, _held) = Home::in_demo().await;
    bytes(&home, "ids", &utf16("acme-us\r\nacme-eu\r\n"));
    for command in ["show", "get", "rotate --dry-run"] {
        let ran = home.exits(0, &format!("{command} --from ids --json")).await;
        ran.shows("\"acme-us\"").shows("\"acme-eu\"");
        assert_lacks(&ran.err, "not known");
    }
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&b""[..], "it is empty (did the command before it fail?)"),
        (b"acme-us\nZo\xeb\n", "line 2, column 3: the byte 0xEB is not UTF-8"),
        (b"PK\x03\x04[Content_Types].xml", "a workbook: export it as CSV"),
    ];
    for (content, words) in table {
        bytes(&home, "ids", content);
        for command in ["show", "get", "rotate --yes"] {
            refused(&home.run(&format!("{command} --from ids")).await, words);
        }
    }
    // What looks like another sign is named with its line, and never taken for the group that it looks like.
    home.write("ids", "acme-us\nacme\u{200b}-eu\n");
    let ran = home.run("show --from ids").await;
    ran.says("line 2: character 5 of the ID: invisible \\u{200b}");
}

#[tokio::test]
async fn every_command_says_the_same_of_a_file_it_cannot_use() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("empty.csv", &b""[..], "it is empty (did the command before it fail?)"),
        ("book.csv", b"PK\x03\x04[Content_Types].xml", "a workbook: export it as CSV"),
        ("latin.csv", b"user_group_id,name\na,Zo\xeb\nb,Zo\xeb\n", "and 1 more place; save the file as UTF-8"),
        ("page.json", b"<!doctype html>", "a web page"),
    ];
    for (name, content, words) in table {
        bytes(&home, name, content);
        for command in [
            "import",
            "apply --yes",
            "diff",
            "create x --yes --mapping",
            "create x --yes --properties",
        ] {
            let ran = home.run(&format!("{command} {name}")).await;
            refused(&ran, words);
            ran.says(name);
        }
    }
    let nothing = home.run_with("import -", "").await;
    refused(&nothing, "standard input: it is empty");
    for nothing in ["[]", "user_group_id,name\n"] {
        let ran = home.exits_with(0, "import -", nothing).await;
        ran.says("! standard input: it has no rows: did the command before it fail?");
    }
    refused(&home.run(&["import", &home.at("")]).await, "it is a folder");
    // 200 faults of one kind are one line.
    let wrong: Vec<_> = (0..200)
        .map(|number| format!("g{number},[{number}]\n"))
        .collect();
    home.write(
        "wrong.csv",
        &format!("user_group_id,mapping\n{}", wrong.concat()),
    );
    let ran = home.run("import wrong.csv").await;
    refused(&ran, "(and 199 more rows like it: line 3, 4, 5");
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn a_folder_says_what_it_left_out_and_both_places_of_an_id() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    fs::create_dir_all(home.path("groups/old")).expect("a folder");
    for (name, content) in [
        ("a.csv", "user_group_id\nacme\n"),
        ("b.tsv", "user_group_id\tname\nacme\tx\n"),
        ("c.ndjson", "{\"user_group_id\":\"globex\"}\n"),
        ("notes.txt", "notes"),
        ("book.xlsx", "PK\u{3}\u{4}[Content_Types].xml"),
        (".hidden.csv", "nothing"),
    ] {
        home.write(&format!("groups/{name}"), content);
    }
    let ran = home.exits(2, "diff groups").await;
    ran.says("book.xlsx (a workbook: export it as CSV), notes.txt, old/ (a folder");
    assert_lacks(&ran.err, ".hidden");
    ran.says("b.tsv, row 2, line 2: the ID \"acme\" is already in");
    ran.says("a.csv, row 1, line 2");
    fs::remove_file(home.path("groups/b.tsv")).expect("removed");
    let ran = home.exits(10, "diff groups --json").await;
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
}

#[tokio::test]
async fn a_plan_says_first_what_a_person_must_know() {
    let (home, _held) = Home::in_demo().await;
    home.exits(0, "note acme-eu 'call first'").await;
    let new: Vec<_> = (0..60)
        .map(|number| format!("\"new-group-{number}-zz\",\"n\",\"\"\n"))
        .collect();
    let head =
        "\"user_group_id\",\"name\",\"note\"\n\"acme-eu\",\"\",\"\"\n\"acme-eux\",\"#REF!\",\"\"\n";
    home.write("quoted.csv", &format!("{head}{}", new.concat()));
    let import = "import quoted.csv --create --update --dry-run";
    let apply = "apply quoted.csv --dry-run";
    for command in [import, apply] {
        let ran = home.exits(0, command).await;
        let head: Vec<_> = ran.out.lines().take(4).collect();
        assert_has(head[0], "create 61, update 1");
        assert_eq!(head[1], "! 1 name becomes empty, 1 note is removed");
        assert_has(head[2], "new ID");
        assert_eq!(
            head[3],
            "! a spreadsheet or a program may have changed 1 cell"
        );
        ran.says("\"acme-eux\" is new and resembles known IDs: \"acme-eu\"");
        ran.says("the name \"#REF!\" is a spreadsheet error");
        ran.shows("42 rows more; --verbose shows all");
        assert!(ran.out.lines().count() < 60, "{}", ran.out);
        let ran = home.run(&format!("{command} --verbose")).await;
        ran.shows("create new-group-59-zz");
    }
    let annotate = "import quoted.csv --replace-notes --dry-run";
    for command in [import, apply, "diff quoted.csv", annotate] {
        let lines = home.run(&format!("{command} --json")).await.lines();
        let (sum, rows) = lines.split_last().expect("a sum");
        has!(sum["emptied"], {"names": u8::from(command != annotate), "notes": 1, "mappings": 0});
        assert_eq!(sum["spreadsheet_cells"], 1, "{sum}");
        assert!(sum["resembling"].as_u64() >= Some(1), "{sum}");
        assert_eq!(rows[1]["resembles"][0], "acme-eu", "{}", rows[1]);
        assert_eq!(rows[1]["spreadsheet_cells"], json!(["name"]));
        assert_eq!(rows[0].get("resembles"), None, "{}", rows[0]);
    }
    // Without sending anything, too.
    let ran = home.run("import quoted.csv --dry-run").await;
    ran.says("\"acme-eux\" is new and resembles known IDs");
}

#[tokio::test]
async fn single_rows_that_become_empty_are_counted_and_ask_one_level_more() {
    let (home, _held) = Home::in_demo().await;
    let table = "user_group_id,map: 7 ,prop:tier\nacme-eu,\"\",\"\"\n";
    let objects =
        "{\"user_group_id\":\"acme-eu\",\"mapping\":{\"7\":\"\"},\"properties\":{\"tier\":\"\"}}\n";
    let single = "! 1 mapping row becomes empty, 1 single property becomes empty";
    // Objects replace the known ones as a whole.
    let whole = "! 1 mapping row becomes empty, 3 mapping rows are removed, 1 single property becomes empty, 5 single properties \
                 are removed";
    for (content, words) in [(table, single), (objects, whole)] {
        home.write("rows", content);
        for command in ["import rows --update --dry-run", "apply rows --dry-run"] {
            let ran = home.exits(0, command).await;
            ran.shows(words);
            ran.shows("~ mapping 7: ");
        }
        let lines = home.run("apply rows --dry-run --json").await.lines();
        let sum = lines.last().expect("a sum");
        has!(sum["emptied"], {"mapping_rows": 1, "single_properties": 1});
    }
    // A cell counts once, and what the directory knows is not of the file.
    home.write("short.csv", "user_group_id,map:7\nacme-eu,1.2E+11\n");
    let ran = home.run("apply short.csv --dry-run").await;
    ran.shows("! a spreadsheet or a program may have changed 1 cell");
}

/// A mapping or properties of a file replace the known ones as a whole: what they lack is lost.
#[tokio::test]
async fn rows_and_properties_that_a_file_lacks_are_counted_and_ask_one_level_more() {
    let (home, _held) = Home::in_demo().await;
    let known = home.json(0, "show acme-eu").await;
    let [rows, properties] = ["mapping", "properties"].map(|field| {
        let keys = known[field].as_object().expect("an object");
        keys.len()
    });
    assert!(rows > 1 && properties > 1, "{known}");
    let table =
        "user_group_id,mapping,properties\nacme-eu,\"{\"\"99\"\":\"\"1\"\"}\",\"{\"\"x\"\":1}\"\n";
    home.write("other.csv", table);
    let words =
        format!("{rows} mapping rows are removed, {properties} single properties are removed");
    for command in ["import other.csv --update", "apply other.csv"] {
        home.exits(0, &format!("{command} --dry-run"))
            .await
            .shows(&format!("! {words}"));
        let lines = home
            .run(&format!("{command} --dry-run --json"))
            .await
            .lines();
        let sum = lines.last().expect("a sum");
        has!(sum["emptied"], {"mapping_rows": 0, "mapping_rows_removed": rows, "single_properties_removed": properties});
        let verb = command.split(' ').next().expect("a word");
        let (shown, code) = answer_with_line(&home, command, &format!("{verb} 1 in testing\n"));
        assert_eq!(code, Some(3), "{shown}");
        assert_has(&shown, "and lose values");
    }
    assert_eq!(home.json(0, "show acme-eu").await, known);
}

/// A header of one word is one, unless a group is called so.
#[tokio::test]
async fn a_list_of_one_column_selects_its_groups() {
    let (home, _held) = Home::in_demo().await;
    let listed = home.exits(0, "list -o csv --columns id").await;
    home.write("one.csv", &listed.out);
    let all = listed.out.lines().count() - 1;
    let show = "show --from one.csv --json";
    let shown = home.json(0, "show --from one.csv").await;
    assert_eq!(shown.as_array().map(Vec::len), Some(all), "{shown}");
    home.write(
        "one.csv",
        &listed.out.replacen("id\n", "USER_GROUP_ID\n", 1),
    );
    assert_eq!(home.exits(0, show).await.json(), shown);
    home.exits(0, "create ID --yes").await;
    home.write("one.csv", "ID\nacme-eu\n");
    assert_eq!(
        each(&home.exits(0, show).await.json(), "user_group_id"),
        ["ID", "acme-eu"]
    );
    // As jq writes them.
    home.write("new.csv", "id\n$HOME\n");
    home.exits(0, "import new.csv --create --yes").await;
    home.write("one.csv", "\"$HOME\"\n\"acme-eu\"\n");
    assert_eq!(
        each(&home.exits(0, show).await.json(), "user_group_id"),
        ["$HOME", "acme-eu"]
    );
}

#[tokio::test]
async fn what_a_spreadsheet_may_have_changed_is_counted() {
    let (home, _held) = Home::in_demo().await;
    home.exits(
        0,
        "create Mar-25 --map 40=1 --property sso=true --property seats=5 --yes",
    )
    .await;
    home.write(
        "new.csv",
        "ID,map:40\nMar-26,213\n#WERT!,1\nMar-25,12-Mar\nTRUE,213.0\n",
    );
    let ran = home.run("import new.csv --create --update --dry-run").await;
    ran.shows("! a spreadsheet or a program may have changed 5 cells")
        .says("row 1: the ID \"Mar-26\" is a date that a spreadsheet may have created")
        .says("row 2: the ID \"#WERT!\" is a spreadsheet error")
        .says("row 3: the mapping \"12-Mar\" is a date")
        .says("row 4: the mapping \"213.0\" is a number");
    // True and false in capitals stay what they are; a text in their place is counted.
    home.write(
        "types.csv",
        "id,prop:sso,prop:seats\nMar-25,FALSE,\"0,5\"\n",
    );
    let ran = home.exits(0, "apply types.csv --dry-run").await;
    ran.shows("! a spreadsheet or a program may have changed 1 cell")
        .says("the property \"0,5\" is not a number, unlike the known value");
    let lines = home.run("apply types.csv --dry-run --json").await.lines();
    // Whatever brings it.
    home.write(
        "pairs.csv",
        "id,mapping,prop:d\nMar-25,\"{\"\"40 \"\":\"\"7\u{200b}\"\"}\",{“x”:1}\n",
    );
    home.exits(0, "apply pairs.csv --dry-run")
        .await
        .shows("! a spreadsheet or a program may have changed 3 cells")
        .says("the mapping \"40 \" is a text that begins or ends with a blank")
        .says("the mapping \"7\\u{200b}\" is a text with an invisible character")
        .says("is a string, although it begins like JSON");
    home.exits(0, "update Mar-25 --map 40=７ --map '7=$DS' --dry-run")
        .await
        .says("the mapping \"７\" is a text with digits that are not 0 to 9")
        .says("the mapping \"$DS\" is a text with a variable");
    home.write("heading.csv", "id,map:40\u{200b}\nMar-25,1\n");
    home.exits(2, "apply heading.csv --dry-run")
        .await
        .says("U+200B is a zero-width space: remove it");
    assert_eq!(lines[0]["request"]["properties"]["sso"], json!(false));
    assert_eq!(lines[0]["spreadsheet_cells"], json!(["property"]));
}

#[tokio::test]
async fn what_a_list_writes_can_be_imported_again() {
    let (home, _held) = Home::in_demo().await;
    let before = home.json(0, "show acme-eu").await;
    let list = "list -o csv --columns id,name,map:40,prop:tier";
    let listed = home.exits(0, list).await;
    home.exits_with(0, "diff /dev/stdin", &listed.out).await;
    home.write("one.csv", "id,map:40\nacme-eu,999\n");
    home.exits(0, "apply one.csv --yes").await;
    let mut expected = before["mapping"].clone();
    expected["40"] = json!("999");
    let after = home.json(0, "show acme-eu").await;
    assert_eq!(after["mapping"], expected);
    // Where others write, the other rows may have changed.
    home.exits(0, "profile behaviour testing --sole-writer no")
        .await;
    home.write("one.csv", "id,map:40\nacme-eu,998\n");
    let plan = home.exits(3, "apply one.csv --dry-run").await.all();
    assert_has(&plan, "1 group cannot be updated");
    assert_has(&plan, "--replace-mapping");
    home.exits(3, "apply one.csv --yes").await;
    let blind = "apply one.csv --replace-mapping --dry-run";
    let plan = home.exits(0, blind).await.all();
    assert_has(&plan, "the last known values (mapping) of 1 group are sent");
    let lone = home.run("import one.csv --create --replace-mapping").await;
    refused(&lone, "--replace-properties need --update");
    let diff = home.exits(10, "diff one.csv").await.all();
    assert!(!diff.contains("--replace-mapping"), "{diff}");
    home.write("all.csv", "id,age,read\nacme-eu,,\n");
    let ran = home.run("import all.csv").await;
    let words = "the columns \"age\", \"read\" of a list cannot be imported";
    refused(&ran, words);
}

#[tokio::test]
async fn a_list_keeps_characters_that_nobody_sees() {
    let (home, _held) = Home::in_demo().await;
    let id = "a\u{200b}b \u{1f469}\u{200d}\u{1f467}";
    let name = "I \u{2764}\u{fe0f} it\u{ad}";
    home.exits(0, &["create", id, "--name", name, "--yes"])
        .await;
    home.exits(0, &["create", "x\nacme-us", "--yes"]).await;
    let listed = home.run("list -o csv --columns id,name").await;
    home.write("listed.csv", &listed.out);
    home.exits(0, "diff listed.csv").await;
    let listed = home.run("list -o name").await;
    let ids: Vec<_> = listed.out.lines().collect();
    assert!(ids.contains(&id), "{ids:?}");
    assert!(ids.contains(&"x\\nacme-us"), "never two IDs: {ids:?}");
    home.write("one.txt", &format!("{id}\n"));
    home.exits(0, "show --from one.txt").await;
}

#[tokio::test]
async fn an_error_never_stands_where_a_program_reads_a_result() {
    let home = Home::new();
    for command in ["list", "show acme", "history", "rotations"] {
        for form in ["name", "csv"] {
            let ran = home.run(&format!("{command} -o {form}")).await;
            assert_ne!(ran.code, 0, "{ran:?}");
            ran.prints("").says("error: ");
        }
    }
}

/// All that can be written wrongly: `intake::tests`.
#[tokio::test]
async fn ages_pairs_and_addresses_say_what_to_write() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    let curly = "“ (U+201C) is a curly quote: use \"";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "rotate --older-than 3m --yes", "3 months are 90d"),
        (2, "rotate --older-than 90 --yes", "write 90d"),
        (2, "history --since 3m", "minutes or months"),
        (2, "history --until 6months", "write 180d"),
        (2, "audit --since 3m", "minutes or months"),
        (2, "list --filter age>3m", "may mean months"),
        (2, "serve keys create --environment x --expires 3m", "minutes or months"),
        (2, "create x --map 40＝213 --yes", "＝ (U+FF1D) is a wide equals sign: use ="),
        (2, "create x --property tier=“gold” --dry-run", curly),
        (2, "serve --listen :8474", "write 127.0.0.1:8474 for this machine only"),
        (2, "serve --metrics 127.0.0.1", "no port"),
        (0, "create x --map '40 = 213' --dry-run --json", "\"40\": \"213\""),
        (0, "create x --property ' tier = \"gold\" ' --dry-run --json", "\"tier\": \"gold\""),
    ]).await;
    assert_eq!(service.connections(), 0);
}

/// One level more than for a file that loses nothing: the usual phrase is not enough.
#[tokio::test]
async fn a_file_that_empties_values_asks_for_a_longer_phrase() {
    let (home, _held) = Home::in_demo().await;
    home.write("empty.csv", "user_group_id,properties\nacme-eu,{}\n");
    let kept = home.json(0, "show acme-eu").await;
    assert_ne!(kept["properties"], json!({}));
    let apply = "apply empty.csv";
    let (shown, code) = answer_with_line(&home, apply, "apply 1 in testing\n");
    assert_eq!(code, Some(3), "{shown}");
    assert_has(&shown, "the properties of 1 group become empty");
    assert_eq!(home.json(0, "show acme-eu").await, kept);
    let (shown, code) = answer_with_line(&home, apply, "apply 1 in testing and lose values\n");
    assert_eq!(code, Some(0), "{shown}");
    let now = home.json(0, "show acme-eu").await;
    assert_eq!(now["properties"], json!({}));
}
