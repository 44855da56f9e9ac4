//! Which values an update may send. Concurrent writers: `operations::claims`.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::program::{Background, Home, has};
use crate::support::assertions::{assert_has, assert_lacks};

/// A service with one group, made by this installation, and whether the profile states the facts about the service.
async fn home(states_facts: bool) -> (Home, Background) {
    let mut home = Home::new();
    let key = home.key("--environment production --tag Customer").await;
    let more = if states_facts {
        ""
    } else {
        "--no-facts-header"
    };
    let (serving, url) = home.serve_with(more).await;
    home.connect(&url, &key);
    let create = "create w02 --name W --map 7=1 --property tier=\"gold\" --yes";
    home.exits(0, create).await;
    (home, serving)
}

/// Name, mapping and properties of the group in the service's own database.
fn stored(home: &Home) -> (String, Value, Value) {
    let database = Connection::open(home.database()).expect("a database");
    let json = |text: String| serde_json::from_str(&text).expect("stored JSON");
    let select = "SELECT name, mapping, properties FROM groups";
    let group = database.query_row(select, [], |row| {
        Ok((row.get(0)?, json(row.get(1)?), json(row.get(2)?)))
    });
    group.expect("the group")
}

/// By default nothing is assumed about a service that states no facts, and others may write, too.
#[tokio::test]
async fn unknown_values_are_not_sent_and_the_refusal_says_what_helps() {
    let (home, _serving) = home(false).await;
    let before = stored(&home);
    let facts = home.json(0, "profile behaviour live").await;
    for fact in facts.as_array().expect("facts") {
        has!(fact, {"source": "unknown", "by": null});
    }
    for (options, helps) in [
        ("--property p=1", "--replace-properties"),
        ("--map 8=2", "--replace-mapping"),
        ("--name Other", "--omitted-fields"),
    ] {
        for more in ["--yes", "--dry-run"] {
            let update = format!("update w02 {options} {more}");
            home.exits(3, &update).await.says(helps);
        }
        assert_eq!(stored(&home), before, "{options}");
    }
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (0, "profile behaviour live --omitted-fields unknown", ""),
        (0, "update w02 --name Other --yes", ""),
        (3, "update w02 --map 8=2 --yes", ""),
        (0, "update w02 --map 8=2 --yes --replace-mapping", ""),
        (0, "profile behaviour live --omitted-fields mapping=clear", "clear"),
    ]).await;
    let (name, mapping, _) = stored(&home);
    assert_eq!((&*name, mapping), ("Other", json!({"7": "1", "8": "2"})));
}

#[tokio::test]
async fn a_row_that_changed_since_the_plan_is_not_sent_and_both_values_are_named() {
    let (home, _serving) = home(true).await;
    let li = home.another();
    li.exits(0, "get w02 --exists").await;
    home.write(
        "same.jsonl",
        "{\"user_group_id\": \"w02\", \"name\": \"W\"}\n",
    );
    home.write(
        "other.jsonl",
        "{\"user_group_id\": \"w02\", \"name\": \"Ours\"}\n",
    );
    let planned = home.run("apply same.jsonl --dry-run --json").await.lines();
    has!(planned[0], {"plan": "unchanged", "read_at": null});
    let people = home.run("apply same.jsonl --dry-run").await;
    assert_lacks(&people.out, "unchanged");
    // The service's copy is changed by somebody else, and this installation does not know.
    li.exits(0, "update w02 --name Theirs --yes").await;
    for command in [
        "import same.jsonl --update --yes",
        "apply other.jsonl --yes",
    ] {
        let ran = home.exits(6, &format!("{command} --json")).await;
        let lines = ran.lines();
        let note = lines.iter().find_map(|line| line["note"].as_str());
        let note = note.expect("the row is named");
        assert_has(note, "\"W\"");
        assert_has(note, "\"Theirs\"");
        assert_eq!(stored(&home).0, "Theirs", "{command}");
        // That refusal recorded the new value: the directory is made to forget it for the second command.
        li.exits(0, "update w02 --name W --yes").await;
        home.exits(0, "get w02").await;
        li.exits(0, "update w02 --name Theirs --yes").await;
    }
    // After a read the plan shows the value, and what the plan shows is sent.
    let fresh = home
        .exits(0, "apply same.jsonl --refresh --yes --json")
        .await;
    let told = &fresh.lines()[0];
    has!(told, {"plan": "update", "changes": {"name": ["Theirs", "W"]}});
    assert!(told["read_at"].is_string(), "{told}");
    assert_eq!(stored(&home).0, "W");
}
