//! The history by time, person and operation, one line per operation; showing and undoing what a line changed. Saved
//! views and favourites.

use serde_json::{Value, json};

use super::program::{Home, each, has};

fn lines(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

#[tokio::test]
async fn the_history_is_filtered_by_time_person_and_operation() {
    let (home, _held) = Home::in_demo().await;
    let all = home.json(0, "history").await;
    let all = lines(&all);
    let history = async |options: &str| {
        let found = home.json(0, &format!("history {options}")).await;
        lines(&found).clone()
    };
    let of = |person: &str| {
        let is_by = |line: &&Value| line["by"].as_str().is_some_and(|by| by.starts_with(person));
        all.iter().filter(is_by).cloned().collect::<Vec<_>>()
    };
    let by_li = history("--by li").await;
    assert!(by_li.len() > 2 && by_li == of("li@"), "{by_li:?}");
    assert_eq!(history("--by li@desk").await, by_li);
    assert_eq!(history("--by l").await, Vec::<Value>::new(), "a whole name");
    let updates = history("--operation update").await;
    assert!(updates.iter().all(|line| line["operation"] == "update"));
    let two = history("--operation update --operation rotate").await;
    assert!(two.len() > updates.len());
    // The entries of the demo are years old.
    let young = history("--since 30d").await;
    let old = history("--until 30d").await;
    assert!(!young.is_empty() && !old.is_empty());
    assert_eq!([young, old].concat(), *all);
    let at = all[3]["at"].as_str().expect("a time");
    assert_eq!(history(&format!("--since {at}")).await.len(), 4);
    assert_eq!(history(&format!("--until {at} --limit 2")).await, all[4..6]);
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (0, "history --until 1999-01-01", "no matching entries"),
        (2, "history --since yesterday", ""),
        (2, "history --operation delete", ""),
        (2, "history --limit 0", ""),
        (2, "history --open --by li", ""),
        (3, "history acme-eux --by li", ""),
    ]).await;
}

#[tokio::test]
async fn an_operation_is_one_line_with_its_steps() {
    let (home, _held) = Home::in_demo().await;
    home.exits(0, "rotate acme-eu --reason leaked --yes").await;
    let plain = home.json(0, "history").await;
    let operations = home.json(0, "history --by-operation").await;
    let operation = &operations[0];
    has!(operation, {"outcome": "confirmed", "reason": "leaked"});
    let steps = &operation["steps"];
    assert_eq!(each(steps, "outcome"), ["rotated", "confirmed"]);
    has!(operation, {"at": steps[0]["at"], "ended_at": steps[1]["at"]});
    let told = lines(&operations).iter();
    let told: usize = told.map(|one| lines(&one["steps"]).len()).sum();
    assert_eq!(told, lines(&plain).len(), "no line is lost");
    assert!(lines(&operations).len() < lines(&plain).len());

    let ran = home.run("history --by-operation -o jsonl --limit 1").await;
    assert_eq!(ran.lines(), std::slice::from_ref(operation));
    let csv = home.run("history --by-operation -o csv").await;
    let head = csv.out.lines().next().expect("a line");
    let is_whole = head.starts_with("number,at,by,") && head.ends_with("ended_at,handoff,steps");
    assert!(is_whole, "{head}");
    let human = home.run("history acme-eu --by-operation --limit 1").await;
    human.shows("confirmed").shows("leaked");
    let back = home
        .json(0, "history --by-operation --reverse --limit 3")
        .await;
    assert_eq!(back[2], *operation);
}

#[tokio::test]
async fn the_change_of_a_line_is_shown_and_undone() {
    let (home, _held) = Home::in_demo().await;
    let before = home.json(0, "show acme-eu").await;
    home.exits(0, "update acme-eu --name 'Acme 2' --property seats=7 --yes")
        .await;
    let number = &home.json(0, "history --limit 1").await[0]["number"];
    let diff = format!("history diff {number}");
    let changed = home.json(0, &diff).await;
    assert_eq!(
        changed["changes"]["name"],
        json!([before["name"], "Acme 2"])
    );
    assert_eq!(home.json(0, "history diff acme-eu").await, changed);
    let now = home.json(0, &format!("{diff} --now")).await;
    assert_eq!(now["changes"], Value::Null, "now it has this value");

    let dry = home
        .json(0, &format!("history restore {number} --dry-run"))
        .await;
    let undone = json!(["Acme 2", before["name"]]);
    assert_eq!(dry["changes"]["name"], undone);
    let back = home.json(0, "history restore acme-eu --yes").await;
    has!(back, {"outcome": "updated", "name": before["name"], "properties": before["properties"]});
    let now = home.json(10, &format!("{diff} --now")).await;
    assert_eq!(now["changes"]["name"], undone);
    let rotated = home.json(0, "history --operation rotate --limit 1").await;
    let rotated = &rotated[0]["number"];
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (3, &format!("history diff {rotated}"), "it changed no name"),
        (3, &format!("history restore {rotated}"), "only an update that took effect"),
        (2, "history diff 999999", "entry 999999 not found"),
        (3, "history restore acme-eux", "did you mean"),
    ]).await;
}

#[tokio::test]
async fn favourites_are_stored_and_found_by_the_filter() {
    let (home, _held) = Home::in_demo().await;
    let fav = home.json(0, "favourite acme-eu acme-us --add").await;
    assert!(lines(&fav).iter().all(|one| one["favourite"] == true));
    let found = home.json(0, "list --filter 'fav acme'").await;
    assert_eq!(lines(&found).len(), 2);
    let removed = home.json(0, "favourite acme-eu --remove").await;
    assert_eq!(removed[0]["favourite"], false);
    let kept = home.json(0, "favourite acme-us").await;
    assert_eq!(kept[0]["favourite"], true);
    home.exits(3, "favourite nobody --add").await;
}
