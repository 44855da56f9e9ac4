//! `import`: ids are recorded without a request, wrong rows are named, and each row is sent once however often the
//! import is started.

use std::{fmt::Write, time::Duration};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::program::{Background, Home, has};
use crate::support::{
    assertions::assert_has,
    faults::{Fault, Faults},
    proxy::{FaultyProxy, Gate, ProxyFault},
};

/// The sum of all counts of the last line, and its `rows`.
fn sum_of(line: &Value) -> (u64, u64) {
    let object = line.as_object().expect("an object");
    let counts = object.iter().filter(|(key, _)| *key != "rows");
    (
        counts.filter_map(|(_, value)| value.as_u64()).sum(),
        line["rows"].as_u64().expect("rows"),
    )
}

#[tokio::test]
async fn ids_are_recorded_and_nothing_is_sent() {
    let service = Faults::always(Fault::Close).await;
    let home = Home::of(&service);
    home.write(
        "groups.csv",
        "user_group_id,name,mapping,properties\r\nacme,\"Acme, Inc.\",\"{\"\"40\"\":\"\"213\"\"}\",\r\nglobex,,,\r\n",
    );
    let dry = home.run("import groups.csv --dry-run --json").await.lines();
    has!(dry[2], {"added": 2, "dry_run": true});
    assert_eq!(home.json(0, "list").await, json!([]));

    let human = home.exits(0, "import groups.csv").await;
    human
        .warns("")
        .shows("2 rows; nothing was sent. Result in the directory of live");
    let is_narrow = human.out.lines().all(|line| line.len() <= 80);
    assert!(is_narrow, "{}", human.out);
    let acme = home.json(0, "show acme").await;
    has!(acme, {"name": "Acme, Inc.", "mapping": {"40": "213"}});
    home.run("show acme").await.shows("imported");

    // From standard input: the same rows spelled differently, and one more.
    let more = r#"[{"user_group_id":"acme","name":"Acme, Inc."},{"user_group_id":"globex","name":"Globex"},{"user_group_id":"x"}]"#;
    let lines = home.run_with("import - --json", more).await.lines();
    let outcomes: Vec<_> = lines.iter().map(|line| &line["outcome"]).collect();
    assert_eq!(outcomes[..3], ["unchanged", "filled", "added"]);
    assert_eq!(sum_of(&lines[3]), (3, 3));
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn values_from_the_service_are_not_replaced_by_the_file() {
    let (home, _held) = Home::in_demo().await;
    let before = home.json(0, "show acme-eu").await;
    let row = "{\"user_group_id\":\"acme-eu\",\"name\":\"Other\"}\n";
    let ran = home.exits_with(0, "import -", row).await;
    ran.says("row 1: \"acme-eu\" differs");
    assert_eq!(home.json(0, "show acme-eu").await, before);
}

#[tokio::test]
async fn every_wrong_row_is_named_and_nothing_is_done() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    let wrong = "user_group_id,mapping\ngood,\n,{}\ngood,\nother,[]\n";
    home.write("wrong.csv", wrong);
    for command in ["import wrong.csv", "import wrong.csv --create --yes"] {
        let ran = home.exits(2, command).await;
        ran.prints("");
        ran.says("x row 3, line 4: the ID \"good\" is already in row 1");
        ran.says("x row 4, line 5: mapping: ");
        ran.says("3 of 4 rows are invalid; nothing was changed");
    }
    let lines = home.exits(2, "import wrong.csv --json").await.lines();
    has!(lines[0], {"row": 2, "line": 3});
    assert_eq!(lines[3]["bad"], 3);
    for (text, why) in [
        ("user_group_id,nmae\na,b\n", "did you mean name?"),
        ("user_group_id,token\na,canary\n", "a token does not belong"),
        ("[{\"user_group_id\":\"a\"}", "not closed"),
    ] {
        let ran = home.exits_with(2, "import -", text).await;
        ran.says(why).hides("canary");
    }
    assert_eq!(home.json(0, "list").await, json!([]));
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn create_and_update_send_only_what_is_needed() {
    let (home, _held) = Home::in_demo().await;
    home.write(
        "g.jsonl",
        "{\"user_group_id\":\"new-1\",\"name\":\"New 1\",\"mapping\":{\"1\":\"2\"}}\n\
         {\"user_group_id\":\"acme-eu\",\"name\":\"Acme Renamed\"}\n",
    );
    home.exits(3, "import g.jsonl --create").await;
    home.exits(3, "import g.jsonl --create --yes --read-only")
        .await;
    let dry = home.run("import g.jsonl --create --update --dry-run").await;
    dry.shows("create new-1\n").shows("update acme-eu\n");
    // What was not asked for is neither in the plan nor in the request.
    let lines = home
        .run("import g.jsonl --create --dry-run --json")
        .await
        .lines();
    let plans: Vec<_> = lines[..2].iter().map(|line| &line["plan"]).collect();
    assert_eq!(plans, ["create", "exists"]);
    assert!(lines[1]["request"].is_null(), "{}", lines[1]);

    // An update alone creates nothing, and goes on with the other rows.
    let alone = "--yes --json --concurrency 1";
    let ran = home
        .exits(6, &format!("import g.jsonl --update {alone}"))
        .await;
    assert!(ran.err.starts_with("TESTING testing http"), "{}", ran.err);
    let lines = ran.lines();
    assert_eq!(lines[0]["outcome"], "not_known");
    assert_eq!(lines[1]["outcome"], "updated");
    assert_eq!(sum_of(&lines[2]), (2, 2));
    let ran = home
        .exits(0, &format!("import g.jsonl --create {alone}"))
        .await;
    let lines = ran.lines();
    assert_eq!(lines[0]["outcome"], "created");
    assert_eq!(lines[1]["outcome"], "existed");
    assert_eq!(sum_of(&lines[2]), (2, 2));
    let made = home.json(0, "get new-1").await;
    has!(made, {"name": "New 1", "mapping": {"1": "2"}});
    assert_eq!(home.json(0, "get acme-eu").await["name"], "Acme Renamed");
}

#[tokio::test]
async fn a_killed_import_resumes_and_sends_no_row_twice() {
    const ROWS: usize = 40;
    let mut home = Home::new();
    let clock = home.clock();
    let (_serving, url) = home.serve().await;
    let key = home.key("--environment production --tag Customer").await;
    let address = url.strip_prefix("http://").expect("an address");
    let proxy = FaultyProxy::before(address.parse().expect("an address")).await;
    home.connect(&proxy.base_url(), &key);
    let mut text = String::from("user_group_id,name\n");
    for row in 1..=ROWS {
        writeln!(text, "group-{row},Group {row}").expect("a String takes it");
    }
    let file = home.write("groups.csv", &text);
    let import = format!("import {file} --create --yes --json --concurrency 1");
    // The service has done one more, and its answer does not arrive.
    let gate = Gate::new();
    for _ in 0..10 {
        proxy.next("GET", ProxyFault::passed());
    }
    proxy.next("GET", ProxyFault::passed().behind(&gate));
    let mut killed = Background::start(home.command(&import));
    let mut before = Vec::new();
    for _ in 0..10 {
        before.push(serde_json::from_str::<Value>(&killed.line().await).expect("JSON"));
    }
    gate.reached().await;
    killed.signal(Signal::KILL);
    killed.code().await;
    gate.open();
    // The row in flight may still take effect for a while.
    clock.forward(Duration::from_mins(2));

    let ran = home.exits(0, &import).await;
    assert_has(&ran.err, "resuming the import started");
    let mut lines = ran.lines();
    let sum = lines.pop().expect("a sum");
    assert_eq!(sum_of(&sum), (ROWS as u64, ROWS as u64));
    assert!(sum["done_before"].as_u64() >= Some(10), "{sum}");
    for done in &before {
        assert!(
            lines.iter().all(|line| line["row"] != done["row"]),
            "{done}"
        );
    }
    let groups = home.json(0, "list").await;
    assert_eq!(groups.as_array().map(Vec::len), Some(ROWS));
    let history = home.json(0, "history").await;
    // The row in flight at the kill has more history lines; it was created once.
    let lines = history.as_array().expect("lines").iter();
    let created = lines.filter(|line| line["outcome"] == "created").count();
    assert_eq!(created, ROWS);

    let third = home.run(&import).await;
    let sum = third.lines().pop().expect("a sum");
    has!(sum, {"existed": ROWS, "done_before": 0});
}
