//! Concurrent writers, and which values an update may send: real processes against the real service.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::program::{Background, Home, Ran};
use crate::support::{assertions::assert_has, bare::args};

const GROUP: &str = "w02";
const FACTS: [&str; 3] = ["profile", "behaviour", "live"];

/// A service with one group, made by this installation, and whether the profile states the facts about the service.
async fn home(states_facts: bool) -> (Home, Background) {
    let mut home = Home::new();
    let database = home.database();
    let key = home
        .key(&args("--environment production --tag Customer"))
        .await;
    let mut serve = vec!["serve", "--listen", "127.0.0.1:0", "--database", &database];
    if !states_facts {
        serve.push("--no-facts-header");
    }
    let mut serving = Background::start(home.command(&serve));
    let line = serving.line().await;
    let url = line
        .strip_prefix("listening on ")
        .and_then(|url| url.strip_suffix("/api/user"))
        .expect("an address");
    home.connect(url, &key);
    let create = [
        "create",
        GROUP,
        "--name",
        "W",
        "--map",
        "7=1",
        "--property",
        "tier=\"gold\"",
        "--yes",
    ];
    assert_eq!(home.run(&create).await.code, 0);
    (home, serving)
}

/// Name, mapping and properties of the group in the service's own database.
fn stored(home: &Home) -> (String, Value, Value) {
    let database = Connection::open(home.database()).expect("a database");
    let json = |text: String| serde_json::from_str(&text).expect("stored JSON");
    database
        .query_row(
            "SELECT name, mapping, properties FROM groups WHERE user_group_id = ?1",
            [GROUP],
            |row| Ok((row.get(0)?, json(row.get(1)?), json(row.get(2)?))),
        )
        .expect("the group")
}

fn keys(value: &Value) -> Vec<String> {
    let object = value.as_object().expect("an object");
    let mut keys: Vec<_> = object.keys().cloned().collect();
    keys.sort();
    keys
}

/// Runs this many updates at the same time, each in its own process.
async fn at_once(home: &Home, count: usize, option: &str, pair: &str) -> Vec<Ran> {
    let updates = (1..=count).map(|number| {
        let pair = pair.replace('N', &number.to_string());
        async move { home.run(&["update", GROUP, option, &pair, "--yes"]).await }
    });
    futures_util::future::join_all(updates).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_concurrent_property_changes_all_reach_the_service_and_the_directory() {
    let (home, _serving) = home(true).await;
    for ran in at_once(&home, 8, "--property", "pN=N").await {
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let (_, _, properties) = stored(&home);
    assert_eq!(
        keys(&properties),
        ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "tier"]
    );
    let known = home.json(0, &["show", GROUP]).await;
    assert_eq!(keys(&known["properties"]), keys(&properties));
    let open = home.json(0, &["history", "--open"]).await;
    assert_eq!(open, json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn six_concurrent_mapping_changes_of_a_sole_writer_are_all_kept() {
    let (home, _serving) = home(true).await;
    let tell = [&FACTS[..], &["--sole-writer", "yes"]].concat();
    let told = home.json(0, &tell).await;
    let sole = told.as_array().expect("facts").last().expect("one").clone();
    assert_eq!(sole["fact"], "sole_writer");
    assert_eq!(
        (&sole["value"], &sole["source"]),
        (&json!("yes"), &json!("told"))
    );
    for ran in at_once(&home, 6, "--map", "10N=N").await {
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let (_, mapping, _) = stored(&home);
    assert_eq!(
        keys(&mapping),
        ["101", "102", "103", "104", "105", "106", "7"]
    );
}

/// By default nothing is assumed about a service that states no facts, and others may write, too.
#[tokio::test]
async fn unknown_values_are_not_sent_and_the_refusal_says_what_helps() {
    let (home, _serving) = home(false).await;
    let before = stored(&home);
    let facts = home.json(0, &FACTS).await;
    for fact in facts.as_array().expect("facts") {
        assert_eq!(
            (&fact["source"], &fact["by"]),
            (&json!("unknown"), &Value::Null)
        );
    }
    for (options, helps) in [
        (["--property", "p=1"], "--replace-properties"),
        (["--map", "8=2"], "--replace-mapping"),
        (["--name", "Other"], "--omitted-fields"),
    ] {
        for more in [&["--yes"][..], &["--dry-run"]] {
            let update = [&["update", GROUP][..], &options, more].concat();
            let ran = home.run(&update).await;
            assert_eq!(ran.code, 3, "{options:?} {more:?}: {}{}", ran.out, ran.err);
            assert!(ran.err.contains(helps), "{}", ran.err);
        }
        assert_eq!(stored(&home), before, "{options:?}");
    }
    let told = [&FACTS[..], &["--omitted-fields", "unknown"]].concat();
    assert_eq!(home.run(&told).await.code, 0);
    let name = home
        .run(&["update", GROUP, "--name", "Other", "--yes"])
        .await;
    assert_eq!(name.code, 0, "{}", name.err);
    assert_eq!(stored(&home).0, "Other");
    let map = ["update", GROUP, "--map", "8=2", "--yes"];
    let refused = home.run(&map).await;
    assert_eq!(refused.code, 3, "{}", refused.err);
    let said = [&map[..], &["--replace-mapping"]].concat();
    let ran = home.run(&said).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(stored(&home).1, json!({"7": "1", "8": "2"}));
    let tell = [&FACTS[..], &["--omitted-fields", "mapping=clear"]].concat();
    assert!(home.run(&tell).await.out.contains("clear"));
}

/// A second installation, which knows nothing of the first.
fn second_installation(home: &Home) -> Home {
    let mut li = Home::new();
    let config = std::fs::read_to_string(home.path("config.toml")).expect("readable");
    let url = config.split('"').nth(1).expect("an address").to_owned();
    li.connect(&url, &home.variable("LIVE_KEY"));
    li.set("USER", "li");
    li
}

#[tokio::test]
async fn values_set_by_another_installation_are_not_erased() {
    let (home, _serving) = home(true).await;
    let li = second_installation(&home);
    assert_eq!(li.run(&["get", GROUP, "--exists"]).await.code, 0);
    let theirs = ["update", GROUP, "--property", "theirs=1", "--yes"];
    assert_eq!(li.run(&theirs).await.code, 0);
    let ours = ["update", GROUP, "--property", "ours=1", "--yes"];
    let ran = home.run(&ours).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(keys(&stored(&home).2), ["ours", "theirs", "tier"]);
    // Nor is it sent when somebody states, wrongly, that nobody else writes.
    let sole = [&FACTS[..], &["--sole-writer", "yes"]].concat();
    assert_eq!(home.run(&sole).await.code, 0);
    assert_eq!(
        li.run(&["update", GROUP, "--name", "Theirs", "--yes"])
            .await
            .code,
        0
    );
    let alarm = home.run(&["update", GROUP, "--map", "8=2", "--yes"]).await;
    assert_eq!(alarm.code, 3, "{}{}", alarm.out, alarm.err);
    assert!(
        alarm.err.contains("somebody else also changes"),
        "{}",
        alarm.err
    );
    let facts = home.json(0, &FACTS).await;
    let last = facts
        .as_array()
        .expect("facts")
        .last()
        .expect("one")
        .clone();
    assert_eq!(
        (&last["value"], &last["source"]),
        (&json!("no"), &json!("proven"))
    );
    assert_eq!(stored(&home).1, json!({"7": "1"}));
}

#[tokio::test]
async fn a_row_that_changed_since_the_plan_is_not_sent_and_both_values_are_named() {
    let (home, _serving) = home(true).await;
    let li = second_installation(&home);
    assert_eq!(li.run(&["get", GROUP, "--exists"]).await.code, 0);
    let same = home.write(
        "same.jsonl",
        "{\"user_group_id\": \"w02\", \"name\": \"W\"}\n",
    );
    let other = home.write(
        "other.jsonl",
        "{\"user_group_id\": \"w02\", \"name\": \"Ours\"}\n",
    );
    let lines = |ran: &Ran| -> Vec<Value> {
        let lines = ran.out.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    let dry = home.run(&["apply", &same, "--dry-run", "--json"]).await;
    let planned = lines(&dry);
    assert_eq!(
        (&planned[0]["plan"], &planned[0]["read_at"]),
        (&json!("unchanged"), &Value::Null)
    );
    let people = home.run(&["apply", &same, "--dry-run"]).await;
    assert!(
        !people.out.contains("unchanged"),
        "it was not read: {}",
        people.out
    );
    // The service's copy is changed by somebody else, and this installation does not know.
    assert_eq!(
        li.run(&["update", GROUP, "--name", "Theirs", "--yes"])
            .await
            .code,
        0
    );
    for command in [&["import", "--update", "--yes"][..], &["apply", "--yes"]] {
        let file = if command[0] == "import" {
            &same
        } else {
            &other
        };
        let send = [&command[..1], &[file.as_str()], &command[1..], &["--json"]].concat();
        let ran = home.run(&send).await;
        assert_eq!(ran.code, 6, "{command:?}: {}{}", ran.out, ran.err);
        let note = lines(&ran)
            .into_iter()
            .find_map(|line| line["note"].as_str().map(str::to_owned));
        let note = note.expect("the row is named");
        assert_has(&note, "\"W\"");
        assert_has(&note, "\"Theirs\"");
        assert_eq!(stored(&home).0, "Theirs", "{command:?}");
        // That refusal recorded the new value: the directory is made to forget it for the second command.
        assert_eq!(
            li.run(&["update", GROUP, "--name", "W", "--yes"])
                .await
                .code,
            0
        );
        assert_eq!(home.run(&["get", GROUP]).await.code, 0);
        assert_eq!(
            li.run(&["update", GROUP, "--name", "Theirs", "--yes"])
                .await
                .code,
            0
        );
    }
    // After a read the plan shows the value, and what the plan shows is sent.
    let fresh = home
        .run(&["apply", &same, "--refresh", "--yes", "--json"])
        .await;
    assert_eq!(fresh.code, 0, "{}{}", fresh.out, fresh.err);
    let told = lines(&fresh);
    assert_eq!(told[0]["plan"], "update");
    assert_eq!(told[0]["changes"]["name"], json!(["Theirs", "W"]));
    assert!(told[0]["read_at"].is_string(), "{}", told[0]);
    assert_eq!(stored(&home).0, "W");
}
