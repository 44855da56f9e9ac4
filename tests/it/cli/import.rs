//! `import`: ids are recorded without a request, wrong rows are named, and each row is sent once however often the
//! import is started.

use std::{fmt::Write, time::Duration};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::program::{Background, Home};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    bare::args,
    clock::TestClock,
    faults::{Fault, Faults, json as answer},
    proxy::{FaultyProxy, Gate, ProxyFault},
};

fn objects(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("one object per line"))
        .collect()
}

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
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = home.write(
        "groups.csv",
        "user_group_id,name,mapping,properties\r\nacme,\"Acme, Inc.\",\"{\"\"40\"\":\"\"213\"\"}\",\r\nglobex,,,\r\n",
    );
    let dry = home.run(&["import", &file, "--dry-run", "--json"]).await;
    let lines = objects(&dry.out);
    assert_eq!(
        (&lines[2]["added"], &lines[2]["dry_run"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(home.json(0, &["list"]).await, json!([]));

    let human = home.run(&["import", &file]).await;
    assert_eq!((human.code, human.err.as_str()), (0, ""));
    assert_has(
        &human.out,
        "2 rows; nothing was sent. In the directory of live",
    );
    assert!(
        human.out.lines().all(|line| line.len() <= 80),
        "{}",
        human.out
    );
    let acme = home.json(0, &["show", "acme"]).await;
    assert_eq!(
        (&acme["name"], &acme["mapping"]),
        (&json!("Acme, Inc."), &json!({"40": "213"}))
    );
    let shown = home.run(&["show", "acme"]).await;
    assert!(shown.out.contains("imported"), "{}", shown.out);

    // From standard input: the same rows spelled differently, and one more.
    let more = r#"[{"user_group_id":"acme","name":"Acme, Inc."},{"user_group_id":"globex","name":"Globex"},{"user_group_id":"x"}]"#;
    let ran = home.run_with(&["import", "-", "--json"], more).await;
    let lines = objects(&ran.out);
    let outcomes: Vec<_> = lines.iter().map(|line| &line["outcome"]).collect();
    assert_eq!(outcomes[..3], ["unchanged", "filled", "added"]);
    assert_eq!(sum_of(&lines[3]), (3, 3));
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn values_from_the_service_are_not_replaced_by_the_file() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let before = home.json(0, &["show", "acme-eu"]).await;
    let file = home.write(
        "g.jsonl",
        "{\"user_group_id\":\"acme-eu\",\"name\":\"Other\"}\n",
    );
    let ran = home.run(&["import", &file]).await;
    assert_eq!(ran.code, 0);
    assert_has(&ran.err, "row 1: \"acme-eu\" differs");
    assert_eq!(home.json(0, &["show", "acme-eu"]).await, before);
}

#[tokio::test]
async fn every_wrong_row_is_named_and_nothing_is_done() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    let wrong = home.write(
        "wrong.csv",
        "user_group_id,mapping\ngood,\n,{}\ngood,\nother,[]\n",
    );
    for command in [
        &["import", &wrong][..],
        &["import", &wrong, "--create", "--yes"],
    ] {
        let ran = home.run(command).await;
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        for said in [
            "x row 3, line 4: the ID \"good\" is already in row 1",
            "x row 4, line 5: mapping: ",
            "3 of 4 rows are invalid; nothing was done",
        ] {
            assert!(ran.err.contains(said), "{said}: {}", ran.err);
        }
    }
    let ran = home.run(&["import", &wrong, "--json"]).await;
    let lines = objects(&ran.out);
    assert_eq!((ran.code, lines.len()), (2, 4));
    assert_eq!(
        (&lines[0]["row"], &lines[0]["line"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(lines[3]["bad"], 3);
    for (text, why) in [
        ("user_group_id,nmae\na,b\n", "did you mean name?"),
        ("user_group_id,token\na,canary\n", "a token does not belong"),
        ("[{\"user_group_id\":\"a\"}", "not closed"),
    ] {
        let ran = home.run_with(&["import", "-"], text).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert_has(&ran.err, why);
        assert_lacks(&ran.err, "canary");
    }
    assert_eq!(home.run(&["import", "no-such-file"]).await.code, 2);
    assert_eq!(home.json(0, &["list"]).await, json!([]));
    assert_eq!(service.connections(), 0);
}

#[tokio::test]
async fn create_and_update_send_only_what_is_needed() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let file = home.write(
        "g.jsonl",
        "{\"user_group_id\":\"new-1\",\"name\":\"New 1\",\"mapping\":{\"1\":\"2\"}}\n\
         {\"user_group_id\":\"acme-eu\",\"name\":\"Acme Renamed\"}\n",
    );
    let asked = home.run(&["import", &file, "--create"]).await;
    assert_eq!(asked.code, 3, "{}", asked.err);
    let forbidden = home
        .run(&["import", &file, "--create", "--yes", "--read-only"])
        .await;
    assert_eq!(forbidden.code, 3, "{}", forbidden.err);
    let dry = home
        .run(&["import", &file, "--create", "--update", "--dry-run"])
        .await;
    assert_has(&dry.out, "create new-1\n");
    assert_has(&dry.out, "update acme-eu\n");

    // An update alone creates nothing, and goes on with the other rows.
    let ran = home
        .run(&[
            "import",
            &file,
            "--update",
            "--yes",
            "--json",
            "--concurrency",
            "1",
        ])
        .await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.starts_with("TESTING testing http"), "{}", ran.err);
    let lines = objects(&ran.out);
    assert_eq!(
        (&lines[0]["outcome"], &lines[1]["outcome"]),
        (&json!("not_known"), &json!("updated"))
    );
    assert_eq!(sum_of(&lines[2]), (2, 2));

    let ran = home
        .run(&[
            "import",
            &file,
            "--create",
            "--yes",
            "--json",
            "--concurrency",
            "1",
        ])
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = objects(&ran.out);
    assert_eq!(
        (&lines[0]["outcome"], &lines[1]["outcome"]),
        (&json!("created"), &json!("existed"))
    );
    assert_eq!(sum_of(&lines[2]), (2, 2));
    let made = home.json(0, &["get", "new-1"]).await;
    assert_eq!(
        (&made["name"], &made["mapping"]),
        (&json!("New 1"), &json!({"1": "2"}))
    );
    assert_eq!(
        home.json(0, &["get", "acme-eu"]).await["name"],
        "Acme Renamed"
    );
}

#[tokio::test]
async fn lost_answers_and_refusals_have_their_exit_codes() {
    let refuse = || {
        answer(
            "422 Unprocessable Entity",
            &json!({"success": 0, "error": {"message": "no such schema"}}),
        )
    };
    for (fault, code, outcome) in [(Fault::Close, 7, "unknown"), (refuse(), 1, "refused")] {
        let service = Faults::always(fault).await;
        let mut home = Home::new();
        home.connect(&service.base_url(), "key");
        let file = home.write("ids.csv", "user_group_id\na\nb\nc\nd\ne\n");
        let import = [
            "import",
            &file,
            "--create",
            "--yes",
            "--json",
            "--concurrency",
            "1",
        ];
        let ran = home.run(&import).await;
        assert_eq!(ran.code, code, "{}", ran.err);
        let lines = objects(&ran.out);
        assert_eq!((lines.len(), &lines[0]["outcome"]), (4, &json!(outcome)));
        assert_eq!(
            (&lines[3]["not_started"], &lines[3]["stopped"]),
            (&json!(2), &json!("stopped after 3 failures in a row"))
        );
        assert_eq!(sum_of(&lines[3]), (5, 5));
        // Rows that are not done are tried again.
        let again = home.run(&import).await;
        assert_eq!(objects(&again.out)[3]["done_before"], 0);
    }
}

#[tokio::test]
async fn a_killed_import_resumes_and_sends_no_row_twice() {
    const ROWS: usize = 120;
    let mut home = Home::new();
    let clock = TestClock::new(home.folder.path());
    let (name, value) = clock.variable();
    home.set(name, value);
    let (_serving, url) = home.serve().await;
    let key = home
        .key(&args("--environment production --tag Customer"))
        .await;
    let address = url.strip_prefix("http://").expect("an address");
    let proxy = FaultyProxy::before(address.parse().expect("an address")).await;
    home.connect(&proxy.base_url(), &key);
    let mut text = String::from("user_group_id,name\n");
    for row in 1..=ROWS {
        writeln!(text, "group-{row},Group {row}").expect("a String takes it");
    }
    let file = home.write("groups.csv", &text);
    let import = [
        "import",
        &file,
        "--create",
        "--yes",
        "--json",
        "--concurrency",
        "1",
    ];
    // The service has done one more, and its answer does not arrive.
    let gate = Gate::new();
    for _ in 0..10 {
        proxy.next("GET", ProxyFault::passed());
    }
    proxy.next("GET", ProxyFault::passed().behind(&gate));
    let mut killed = Background::start(home.command(&import));
    let mut before = Vec::new();
    for _ in 0..10 {
        before.extend(objects(&killed.line().await));
    }
    gate.reached().await;
    killed.signal(Signal::KILL);
    killed.code().await;
    gate.open();
    // The row in flight may still take effect for a while.
    clock.forward(Duration::from_mins(2));

    let ran = home.run(&import).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&ran.err, "resuming the import started");
    let mut lines = objects(&ran.out);
    let sum = lines.pop().expect("a sum");
    assert_eq!(sum_of(&sum), (ROWS as u64, ROWS as u64));
    assert!(sum["done_before"].as_u64() >= Some(10), "{sum}");
    for done in &before {
        assert!(
            lines.iter().all(|line| line["row"] != done["row"]),
            "{done}"
        );
    }
    let groups = home.json(0, &["list"]).await;
    assert_eq!(groups.as_array().map(Vec::len), Some(ROWS));
    let history = home.json(0, &["history"]).await;
    // The row in flight at the kill has more history lines; it was created once.
    let lines = history.as_array().expect("lines").iter();
    let created = lines.filter(|line| line["outcome"] == "created").count();
    assert_eq!(created, ROWS);

    let third = home.run(&import).await;
    let sum = objects(&third.out).pop().expect("a sum");
    assert_eq!(
        (&sum["existed"], &sum["done_before"]),
        (&json!(ROWS), &json!(0))
    );
}
