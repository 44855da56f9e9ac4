//! `update` with a whole group from a file, and `update` only if nobody else changed the group; options that exclude
//! each other.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::program::{Background, Home};
use crate::support::{assertions::assert_has, bare::args};

/// The demo's testing profile as a configuration, so that a second installation can reach the same service.
async fn served() -> (Home, Home, Background) {
    let mut ana = Home::new();
    let (serving, url) = ana.serve().await;
    let environment = ["--environment", "production", "--tag", "Customer"];
    let key = ana.key(&environment).await;
    ana.connect(&url, &key);
    let mut li = Home::new();
    li.connect(&url, &key);
    li.set("USER", "li");
    let create =
        args("create acme --name Acme --map 40=213 --map 7=1 --property tier=\"gold\" --yes");
    assert_eq!(ana.json(0, &create).await["outcome"], "created");
    assert_eq!(li.run(&["get", "acme", "--exists"]).await.code, 0);
    (ana, li, serving)
}

#[tokio::test]
async fn a_whole_group_is_applied_as_export_writes_it() {
    let (home, _, _serving) = served().await;
    for format in ["jsonl", "json", "csv"] {
        let file = home.path("acme.out").display().to_string();
        let export = ["export", "--format", format, "--output", &file, "--force"];
        assert_eq!(home.run(&export).await.code, 0);
        let text = std::fs::read_to_string(&file).expect("readable");
        assert!(text.contains("213"), "{text}");
        let same = home
            .run(&["update", "acme", "--apply", &file, "--yes"])
            .await;
        assert_eq!(same.code, 0, "{format}: {}", same.err);
        assert!(
            same.err.contains("no changes; no update was sent"),
            "{}",
            same.err
        );
        let other = format!("9{}", format.len());
        let text = text.replace("213", &other);
        let apply = ["update", "acme", "--apply", "-", "--yes", "--json"];
        let ran = home.run_with(&apply, &text).await;
        assert_eq!(ran.code, 0, "{format}: {}", ran.err);
        let updated: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(updated["mapping"], json!({"40": other, "7": "1"}));
        assert_eq!(updated["properties"], json!({"tier": "gold"}));
        let back = home
            .run(&args("update acme --map 40=213 --replace-mapping --yes"))
            .await;
        assert_eq!(back.code, 0, "{}", back.err);
    }
}

#[tokio::test]
async fn fields_not_in_the_file_stay() {
    let (home, _, _serving) = served().await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("{\n  \"user_group_id\": \"acme\",\n  \"name\": \"Acme 2\",\n  \"mapping\": null\n}\n", json!({"name": "Acme 2"})),
        ("[{\"user_group_id\": \"acme\", \"properties\": {}}]", json!({"properties": {}})),
        ("user_group_id,name,mapping\nacme,,\"{\"\"8\"\":\"\"2\"\"}\"\n", json!({"mapping": {"8": "2"}})),
    ];
    for (text, expected) in table {
        let file = home.write("one", text);
        let dry = home
            .json(0, &["update", "acme", "--apply", &file, "--dry-run"])
            .await;
        for key in ["name", "mapping", "properties"] {
            // The service keeps omitted fields, and the profile states so.
            assert_eq!(dry["request"].get(key), expected.get(key), "{text}");
        }
    }
    assert_eq!(home.json(0, &["show", "acme"]).await["name"], "Acme");
}

#[tokio::test]
async fn an_update_without_a_change_is_refused_before_anything_is_sent() {
    let (home, _, _serving) = served().await;
    let before = home.json(0, &["history"]).await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["update", "acme", "--yes"][..], "update needs a change, for example --name NAME; nothing was sent"),
        (&["update", "acme", "--dry-run"], "update needs a change, for example --name NAME; nothing was sent"),
        (&["update", "acme", "globex", "--yes"], "update needs a change, for example --map 7=213; nothing was sent"),
        (&["update", "acme", "--name", "x", "--if-value", "y", "--yes"], "--if-value needs one of --map, --unmap, --property or --remove-property"),
    ];
    for (command, words) in table {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 2, "{command:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{command:?}: {}", ran.err);
    }
    let missing = ["rotations", "abandon", "m99", "--reason", "x"];
    let ran = home.run(&missing).await;
    assert!(!ran.err.contains("confirmation required"), "{}", ran.err);
    assert_eq!(home.json(0, &["history"]).await, before);
}

/// As `list -o csv --columns` writes them.
#[tokio::test]
async fn columns_of_single_rows_and_keys_change_these_and_nothing_else() {
    let (home, _, _serving) = served().await;
    let columns = ["list", "-o", "csv", "--columns", "id,name,map:7,prop:tier"];
    let listed = home.run(&columns).await;
    let same = home
        .run_with(&["update", "acme", "--apply", "-", "--yes"], &listed.out)
        .await;
    assert_eq!(same.code, 0, "{}", same.err);
    assert!(
        same.err.contains("no changes; no update was sent"),
        "{}",
        same.err
    );
    let file = home.write("one", "id;map:7;prop:tier;prop:seats\nacme;9;;25\n");
    let dry = [
        "update",
        "acme",
        "--apply",
        &file,
        "--replace-mapping",
        "--dry-run",
    ];
    let dry = home.json(0, &dry).await;
    assert_eq!(dry["request"]["mapping"], json!({"40": "213", "7": "9"}));
    let wanted = json!({"tier": "gold", "seats": 25});
    assert_eq!(dry["request"]["properties"], wanted);
}

#[tokio::test]
async fn a_file_that_is_not_of_this_one_group_is_refused() {
    let (home, _, _serving) = served().await;
    let before = home.json(0, &["history"]).await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("{\"user_group_id\": \"acme-2\"}", "is for \"acme-2\", not for \"acme\""),
        ("", "it is empty"),
        ("[]", "contains no group"),
        ("user_group_id\nacme\nglobex\n", "contains 2 groups instead of one; for several groups, use `groupdesk apply`"),
        ("{\"user_group_id\": \"acme\", \"nmae\": \"x\"}", "did you mean name?"),
        ("{\"user_group_id\": \"acme\", \"mapping\": {\"1\": 2}}", "line 1: mapping must be"),
        ("{\"user_group_id\": \"acme\", \"token\": \"canary\"}", "a token does not belong"),
        ("{\"name\": \"x\"}", "user_group_id is missing"),
        ("[{\"user_group_id\": \"acme\"}", "not closed"),
    ];
    for (text, words) in table {
        let file = home.write("one", text);
        let ran = home
            .run(&["update", "acme", "--apply", &file, "--yes"])
            .await;
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{text}: {}", ran.err);
        assert!(ran.err.contains(words), "{text}: {}", ran.err);
        assert!(!ran.err.contains("canary"), "{}", ran.err);
    }
    let missing = ["update", "acme", "--apply", "missing.json", "--yes"];
    assert_eq!(home.run(&missing).await.code, 2);
    assert_eq!(home.json(0, &["history"]).await, before);
}

#[tokio::test]
async fn options_that_contradict_each_other_are_refused() {
    let (home, _, mut serving) = served().await;
    // None of this needs the service.
    serving.signal(Signal::TERM);
    serving.code().await;
    let file = home.write("one.json", "{\"user_group_id\": \"acme\", \"name\": \"x\"}");
    let map = home.write("map.json", "{}");
    for more in [
        &["--apply", file.as_str(), "--name", "x"][..],
        &["--apply", &file, "--map", "7=1"],
        &["--apply", &file, "--unmap", "7"],
        &["--apply", &file, "--mapping", &map],
        &["--apply", &file, "--property", "a=1"],
        &["--apply", &file, "--remove-property", "tier"],
        &["--apply", &file, "--properties", &map],
        &["--map", "7=1", "--map", "7=2"],
        &["--map", "7=1", "--unmap", "7"],
        &["--unmap", "7", "--unmap", "7"],
        &["--property", "a=1", "--remove-property", "a"],
        &["--mapping", "-", "--properties", "-"],
        &["--name", "x", "--if-unchanged", "--exists"],
    ] {
        let all = [&["update", "acme", "--yes"], more].concat();
        let ran = home.run(&all).await;
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (2, ""),
            "{more:?}: {}",
            ran.err
        );
    }
}

#[tokio::test]
async fn rows_are_laid_over_the_group_of_the_file() {
    let (home, _, _serving) = served().await;
    let mapping = home.write("map.json", "{\"1\": \"a\", \"2\": \"b\"}");
    let properties = home.write("props.json", "{\"x\": 1, \"y\": 2}");
    let update = [
        "update",
        "acme",
        "--mapping",
        &mapping,
        "--map",
        "3=c",
        "--unmap",
        "1",
        "--properties",
        &properties,
        "--property",
        "z=3",
        "--remove-property",
        "x",
        "--dry-run",
    ];
    let dry = home.json(0, &update).await;
    assert_eq!(dry["request"]["mapping"], json!({"2": "b", "3": "c"}));
    assert_eq!(dry["request"]["properties"], json!({"y": 2, "z": 3}));
    // A row of the known mapping that is not in the file.
    let more = [
        "update",
        "acme",
        "--mapping",
        &mapping,
        "--unmap",
        "40",
        "--yes",
    ];
    let ran = home.run(&more).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("has no row \"40\""), "{}", ran.err);
}

#[tokio::test]
async fn a_group_changed_by_somebody_else_is_not_updated() {
    let (ana, li, _serving) = served().await;
    let insist = args("update acme --map 7=2 --replace-mapping --if-unchanged --yes");
    let done = ana.json(0, &insist).await;
    assert_eq!(
        (&done["outcome"], &done["mapping"]["7"]),
        (&json!("updated"), &json!("2"))
    );

    let rename = ["update", "acme", "--name", "Acme of Li", "--yes"];
    assert_eq!(li.run(&rename).await.code, 0);
    let known = ana.json(0, &["show", "acme"]).await;
    let again = args("update acme --map 7=3 --replace-mapping --if-unchanged --yes");
    let ran = ana.run(&again).await;
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    assert!(
        ran.err.contains(
            "\"acme\" was changed elsewhere since it was last seen here (name); your change was not sent"
        ),
        "{}",
        ran.err
    );
    let there = li.json(0, &["get", "acme"]).await;
    assert_eq!(there["name"], "Acme of Li", "no update was sent");
    let now = ana.json(0, &["show", "acme"]).await;
    assert_eq!(
        (&now["name"], &now["mapping"]),
        (&json!("Acme of Li"), &known["mapping"])
    );

    // The change has been shown now: whoever still wants the update repeats it.
    let done = ana.json(0, &again).await;
    assert_eq!(
        (&done["name"], &done["mapping"]["7"]),
        (&json!("Acme of Li"), &json!("3"))
    );
    // A dry run is refused in the same way.
    let rename = ["update", "acme", "--name", "Acme of Li 2", "--yes"];
    assert_eq!(li.run(&rename).await.code, 0);
    let dry = args("update acme --map 7=4 --if-unchanged --dry-run");
    let failure = ana.json(3, &dry).await;
    assert!(
        failure["error"]
            .as_str()
            .is_some_and(|error| error.contains("(name)")),
        "{failure}"
    );
}

#[tokio::test]
async fn properties_are_compared_if_the_service_returns_them() {
    let (ana, li, _serving) = served().await;
    let config = ana.path("config.toml");
    let text = std::fs::read_to_string(&config).expect("readable");
    std::fs::write(&config, format!("{text}read_properties = true\n")).expect("written");
    let set = ["update", "acme", "--properties", "-", "--yes"];
    let ran = li
        .run_with(&set, "{\"tier\": \"iron\", \"beta\": true}")
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let insist = ["update", "acme", "--map", "7=2", "--if-unchanged", "--yes"];
    let ran = ana.run(&insist).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_has(&ran.err, "(properties tier, properties beta)");
}

#[tokio::test]
async fn a_group_never_seen_cannot_be_called_unchanged() {
    let (ana, _, _serving) = served().await;
    let file = ana.write("ids.csv", "user_group_id,name\nimported,Imported\n");
    assert_eq!(ana.run(&["import", &file]).await.code, 0);
    let insist = args("update imported --name x --if-unchanged --yes");
    let ran = ana.run(&insist).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_has(&ran.err, "was never seen in the service");
    assert!(ran.err.contains("nothing was sent"), "{}", ran.err);
    let listed = ana.json(0, &["show", "imported"]).await;
    assert_eq!(listed["last_seen"], Value::Null);
    let unknown = ["update", "acmee", "--name", "x", "--if-unchanged", "--yes"];
    let ran = ana.run(&unknown).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("did you mean \"acme\"?"), "{}", ran.err);
}

#[tokio::test]
async fn a_mistyped_row_or_key_gets_the_nearest_one() {
    let (home, _, _serving) = served().await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("--unmap", "400", "has no row \"400\"; nothing was changed; did you mean \"40\"?"),
        ("--remove-property", "teir", "have no key \"teir\"; nothing was changed; did you mean \"tier\"?"),
    ];
    for (option, typed, words) in table {
        let ran = home.run(&["update", "acme", option, typed, "--yes"]).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}
