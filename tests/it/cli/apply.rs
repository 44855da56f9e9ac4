//! `apply`: missing groups are created, differing ones updated, and a second run sends nothing.

use serde_json::json;

use super::program::{Home, has};

#[tokio::test]
async fn a_second_run_changes_nothing() {
    let (home, _held) = Home::in_demo().await;
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
    let apply = format!("apply {folder} --yes");

    let before = home.json(0, "history").await;
    let dry = home
        .exits(
            0,
            &format!("apply {folder} --dry-run --prune-report --json"),
        )
        .await;
    dry.says("TESTING testing http");
    let lines = dry.lines();
    let plans: Vec<_> = lines.iter().map(|line| line["plan"].as_str()).collect();
    assert_eq!(plans[..2], [Some("update"), Some("create")]);
    assert_eq!(lines[0]["request"]["mapping"], json!({"40": "999"}));
    assert_eq!(
        lines[0]["changes"]["mapping"]["7"],
        json!(["acme_orders", null])
    );
    assert!(plans.contains(&Some("not_in_files")), "{plans:?}");
    let sum = lines.last().expect("a sum");
    has!(sum, {"create": 1, "update": 1, "rows": 3});
    assert_eq!(home.json(0, "history").await, before, "nothing was sent");

    home.exits(3, &format!("apply {folder}")).await;
    home.exits(0, &apply)
        .await
        .shows("1 created, 1 updated, 1 without difference; 3 rows");
    let made = home.json(0, "get new-1").await;
    assert_eq!(made["name"], "New 1");
    let changed = home.json(0, "show acme-eu").await;
    assert_eq!(changed["mapping"], json!({"40": "999"}));

    let before = home.json(0, "history").await;
    home.exits(0, &apply)
        .await
        .shows("3 without difference; 3 rows");
    assert_eq!(home.json(0, "history").await, before, "nothing was sent");
}
