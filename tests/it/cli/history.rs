//! The history by time, person and operation, one line per operation; showing and undoing what a line changed. Saved
//! views and favourites.

use serde_json::{Value, json};

use super::program::{Background, Home};
use crate::support::{assertions::assert_has, bare::args};

async fn demo() -> (Home, Background) {
    let mut home = Home::new();
    let held = home.start_demo().await;
    (home, held)
}

fn lines(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

#[tokio::test]
async fn the_history_is_filtered_by_time_person_and_operation() {
    let (home, _held) = demo().await;
    let all = home.json(0, &["history"]).await;
    let history =
        async |options: &[&str]| home.json(0, &[&["history"][..], options].concat()).await;
    let by_li = history(&["--by", "li"]).await;
    let li = |line: &&Value| line["by"].as_str().is_some_and(|by| by.starts_with("li@"));
    let expected: Vec<_> = lines(&all).iter().filter(li).collect();
    assert!(expected.len() > 2 && expected.len() < lines(&all).len());
    assert_eq!(lines(&by_li).iter().collect::<Vec<_>>(), expected);
    assert_eq!(history(&["--by", "li@desk"]).await, by_li);
    assert_eq!(history(&["--by", "l"]).await, json!([]), "a whole name");

    let updates = history(&["--operation", "update"]).await;
    assert!(
        lines(&updates)
            .iter()
            .all(|line| line["operation"] == "update")
    );
    let two = history(&["--operation", "update", "--operation", "rotate"]).await;
    assert!(lines(&two).len() > lines(&updates).len());
    // The entries of the demo are years old.
    let young = history(&["--since", "30d"]).await;
    let old = history(&["--until", "30d"]).await;
    assert!(!lines(&young).is_empty() && !lines(&old).is_empty());
    let both: Vec<_> = lines(&young).iter().chain(lines(&old)).collect();
    assert_eq!(both, lines(&all).iter().collect::<Vec<_>>());
    let at = lines(&all)[3]["at"].as_str().expect("a time");
    assert_eq!(lines(&history(&["--since", at]).await).len(), 4);
    assert_eq!(
        lines(&history(&["--until", at, "--limit", "2"]).await)[..],
        lines(&all)[4..6]
    );
    assert_eq!(history(&["--until", "1999-01-01"]).await, json!([]));
    let ran = home.run(&["history", "--until", "1999-01-01"]).await;
    assert!(
        ran.code == 0 && ran.err.contains("no matching entries"),
        "{}",
        ran.err
    );
    for wrong in [
        &["history", "--since", "yesterday"][..],
        &["history", "--operation", "delete"],
        &["history", "--limit", "0"],
        &["history", "--open", "--by", "li"],
    ] {
        assert_eq!(home.run(wrong).await.code, 2, "{wrong:?}");
    }
    let wrong = home.run(&["history", "acme-eux", "--by", "li"]).await;
    assert_eq!(wrong.code, 3, "{}", wrong.err);
}

#[tokio::test]
async fn an_operation_is_one_line_with_its_steps() {
    let (home, _held) = demo().await;
    let rotate = ["rotate", "acme-eu", "--reason", "leaked", "--yes"];
    assert_eq!(home.json(0, &rotate).await["outcome"], "confirmed");
    let plain = home.json(0, &["history"]).await;
    let operations = home.json(0, &["history", "--by-operation"]).await;
    let operation = &lines(&operations)[0];
    assert_eq!(
        (&operation["outcome"], &operation["reason"]),
        (&json!("confirmed"), &json!("leaked"))
    );
    let steps = operation["steps"].as_array().expect("steps");
    let words: Vec<_> = steps.iter().map(|step| &step["outcome"]).collect();
    assert_eq!(words, ["rotated", "confirmed"]);
    assert_eq!(operation["at"], steps[0]["at"]);
    assert_eq!(operation["ended_at"], steps[1]["at"]);
    let told: usize = lines(&operations)
        .iter()
        .map(|operation| operation["steps"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(told, lines(&plain).len(), "no line is lost");
    assert!(lines(&operations).len() < lines(&plain).len());

    let ran = home
        .run(&args("history --by-operation -o jsonl --limit 1"))
        .await;
    assert_eq!(ran.out.lines().count(), 1);
    assert_eq!(
        serde_json::from_str::<Value>(&ran.out).expect("JSON"),
        *operation
    );
    let csv = home.run(&["history", "--by-operation", "-o", "csv"]).await;
    let head = csv.out.lines().next().expect("a line");
    assert!(
        head.starts_with("number,at,by,") && head.ends_with("ended_at,handoff,steps"),
        "{head}"
    );
    let human = home
        .run(&args("history acme-eu --by-operation --limit 1"))
        .await;
    assert_has(&human.out, "confirmed");
    assert_has(&human.out, "leaked");
    let back = home
        .json(0, &args("history --by-operation --reverse --limit 3"))
        .await;
    assert_eq!(lines(&back)[2], *operation);
}

#[tokio::test]
async fn the_change_of_a_line_is_shown_and_undone() {
    let (home, _held) = demo().await;
    let update = [
        "update",
        "acme-eu",
        "--name",
        "Acme 2",
        "--property",
        "seats=7",
        "--yes",
    ];
    let before = home.json(0, &["show", "acme-eu"]).await;
    assert_eq!(home.json(0, &update).await["outcome"], "updated");
    let number = home.json(0, &["history", "--limit", "1"]).await[0]["number"].to_string();
    let changed = home.json(0, &["history", "diff", &number]).await;
    assert_eq!(
        changed["changes"]["name"],
        json!([before["name"], "Acme 2"])
    );
    assert_eq!(home.json(0, &["history", "diff", "acme-eu"]).await, changed);
    let now = home.json(0, &["history", "diff", &number, "--now"]).await;
    assert_eq!(now["changes"], Value::Null, "now it has this value");

    let dry = home
        .json(0, &["history", "restore", &number, "--dry-run"])
        .await;
    assert_eq!(dry["changes"]["name"], json!(["Acme 2", before["name"]]));
    let back = home.json(0, &args("history restore acme-eu --yes")).await;
    assert_eq!(back["outcome"], "updated");
    assert_eq!(
        (&back["name"], &back["properties"]),
        (&before["name"], &before["properties"])
    );
    let now = home.json(10, &["history", "diff", &number, "--now"]).await;
    assert_eq!(now["changes"]["name"], json!(["Acme 2", before["name"]]));

    let read = home
        .json(0, &args("history --operation rotate --limit 1"))
        .await;
    let rotated = read[0]["number"].to_string();
    for (command, code, words) in [
        (["history", "diff", &rotated], 3, "it changed no name"),
        (
            ["history", "restore", &rotated],
            3,
            "only an update that took effect",
        ),
        (["history", "diff", "999999"], 2, "entry 999999 not found"),
        (["history", "restore", "acme-eux"], 3, "did you mean"),
    ] {
        let ran = home.run(&command).await;
        assert_eq!(ran.code, code, "{command:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{command:?}: {}", ran.err);
    }
}

#[tokio::test]
async fn favourites_are_stored_and_found_by_the_filter() {
    let (home, _held) = demo().await;
    let fav = home.json(0, &args("favourite acme-eu acme-us --add")).await;
    assert!(lines(&fav).iter().all(|one| one["favourite"] == true));
    assert_eq!(
        lines(&home.json(0, &["list", "--filter", "fav acme"]).await).len(),
        2
    );
    assert_eq!(
        home.json(0, &["favourite", "acme-eu", "--remove"]).await[0]["favourite"],
        false
    );
    assert_eq!(
        home.json(0, &["favourite", "acme-us"]).await[0]["favourite"],
        true
    );
    assert_eq!(home.run(&["favourite", "nobody", "--add"]).await.code, 3);
}
