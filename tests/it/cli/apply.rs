//! `apply`: missing groups are created, differing ones updated, and a second run sends nothing.

use serde_json::{Value, json};

use super::program::Home;
use crate::support::assertions::assert_has;

fn objects(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("one object per line"))
        .collect()
}

#[tokio::test]
async fn a_second_run_changes_nothing() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let folder = home.path("groups");
    std::fs::create_dir(&folder).expect("made");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    write(
        "acme.json",
        "{\n  \"user_group_id\": \"acme-eu\",\n  \"mapping\": {\"40\": \"999\"}\n}\n",
    );
    write(
        "more.jsonl",
        "{\"user_group_id\":\"new-1\",\"name\":\"New 1\"}\n{\"user_group_id\":\"acme-us\"}\n",
    );
    write("notes.txt", "not read");
    let folder = folder.display().to_string();
    let apply = ["apply", &folder, "--yes"];

    let before = home.json(0, &["history"]).await;
    let dry = home
        .run(&["apply", &folder, "--dry-run", "--prune-report", "--json"])
        .await;
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert!(dry.err.contains("TESTING testing http"), "{}", dry.err);
    let lines = objects(&dry.out);
    let plans: Vec<_> = lines.iter().map(|line| line["plan"].as_str()).collect();
    assert_eq!(plans[..2], [Some("update"), Some("create")]);
    assert_eq!(lines[0]["request"]["mapping"], json!({"40": "999"}));
    assert_eq!(
        lines[0]["changes"]["mapping"]["7"],
        json!(["acme_orders", null])
    );
    assert!(plans.contains(&Some("not_in_files")), "{plans:?}");
    let sum = lines.last().expect("a sum");
    assert_eq!(
        (&sum["create"], &sum["update"], &sum["rows"]),
        (&json!(1), &json!(1), &json!(3))
    );
    assert_eq!(home.json(0, &["history"]).await, before, "nothing was sent");

    let asked = home.run(&["apply", &folder]).await;
    assert_eq!(asked.code, 3, "{}", asked.err);
    let human = home.run(&apply).await;
    assert_eq!(human.code, 0, "{}{}", human.out, human.err);
    assert_has(
        &human.out,
        "1 created, 1 updated, 1 without difference; 3 rows",
    );
    let made = home.json(0, &["get", "new-1"]).await;
    assert_eq!(made["name"], "New 1");
    let changed = home.json(0, &["show", "acme-eu"]).await;
    assert_eq!(changed["mapping"], json!({"40": "999"}));

    let before = home.json(0, &["history"]).await;
    let again = home.run(&apply).await;
    assert_eq!(again.code, 0, "{}", again.err);
    assert_has(&again.out, "3 without difference; 3 rows");
    assert_eq!(home.json(0, &["history"]).await, before, "nothing was sent");
}

#[tokio::test]
async fn a_file_that_cannot_be_parsed_is_refused_as_a_whole() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let folder = home.path("groups");
    std::fs::create_dir(&folder).expect("made");
    let path = folder.display().to_string();
    let empty = home.run(&["apply", &path, "--yes"]).await;
    assert_eq!(empty.code, 2, "{}", empty.err);
    std::fs::write(folder.join("a.json"), "{\"user_group_id\":\"new-1\"}").expect("written");
    std::fs::write(folder.join("b.json"), "{\"user_group_id\":\"new-1\"}").expect("written");
    let twice = home.run(&["apply", &path, "--yes"]).await;
    assert_eq!(twice.code, 2, "{}", twice.err);
    let told = "b.json, row 2, line 1: the ID \"new-1\" is already in ";
    assert_has(&twice.err, told);
    assert_has(&twice.err, "a.json, row 1, line 1");
    let forbidden = home.run(&["apply", &path, "--yes", "--read-only"]).await;
    assert_eq!(forbidden.code, 2);
    std::fs::remove_file(folder.join("b.json")).expect("removed");
    let forbidden = home.run(&["apply", &path, "--yes", "--read-only"]).await;
    assert_eq!(forbidden.code, 3, "{}", forbidden.err);
}
