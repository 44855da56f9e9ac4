//! `show`, `get` and `update` of several groups: by arguments, from a list, by a filter. And the batch of a bulk edit.

use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme, methods},
    program::{Background, Home, Ran},
};
use crate::support::faults::{Fault, json as faulty};
use crate::support::{assertions::assert_has, bare::args};

/// A production profile with three groups, two of them with a mapping.
async fn three() -> (Home, Background) {
    let mut home = Home::new();
    let (serving, url) = home.serve().await;
    let environment = ["--environment", "production", "--tag", "Customer"];
    let key = home.key(&environment).await;
    home.connect(&url, &key);
    for (id, rows) in [
        ("acme-eu", &["--map", "7=40", "--map", "8=1"][..]),
        ("acme-us", &["--map", "7=41"]),
        ("globex", &["--property", "tier=\"gold\""]),
    ] {
        let create = [&["create", id, "--yes"][..], rows].concat();
        assert_eq!(home.json(0, &create).await["outcome"], "created");
    }
    (home, serving)
}

/// The lines of a run; the last one is its sum.
fn lines(ran: &Ran) -> Vec<Value> {
    let lines = ran.out.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON lines")
}

fn ids(values: &[Value]) -> Vec<&str> {
    let ids = values.iter().map(|value| value["user_group_id"].as_str());
    ids.collect::<Option<_>>().expect("ids")
}

#[tokio::test]
async fn several_groups_are_shown_in_the_order_they_were_named() {
    let (home, _serving) = three().await;
    let one = home.json(0, &["show", "globex"]).await;
    assert_eq!(one["user_group_id"], "globex", "one alone is an object");
    let shown = home.json(0, &["show", "globex", "acme-eu"]).await;
    let shown = shown.as_array().expect("an array");
    assert_eq!(ids(shown), ["globex", "acme-eu"]);
    assert_eq!(shown[1]["mapping"], json!({"7": "40", "8": "1"}));
    let list = home.write("ids.txt", "acme-us\n\nglobex\n");
    let ran = home.run(&["show", "--from", &list, "-o", "name"]).await;
    assert_eq!(ran.out, "acme-us\nglobex\n");
    let ran = home
        .run_with(&["show", "--from", "-", "-o", "name"], "globex\n")
        .await;
    assert_eq!(ran.out, "globex\n");
    let found = args("show --filter acme --sort id --reverse -o name");
    assert_eq!(home.run(&found).await.out, "acme-us\nacme-eu\n");
    let human = home.run(&["show", "acme-eu", "globex"]).await;
    for words in ["acme-eu", "globex", "gold"] {
        assert!(human.out.contains(words), "{}", human.out);
    }
    // All or none of the groups named by a person.
    let ran = home.run(&["show", "acme-eu", "globx"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("did you mean \"globex\"?"), "{}", ran.err);
    let ran = home.run(&["show", "--filter", "nothing-of-it"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    for wrong in [
        &["show"][..],
        &["show", "acme-eu", "--from", &list],
        &["show", "--from", &list, "--filter", "acme"],
        &["show", "acme-eu", "--sort", "id"],
    ] {
        assert_eq!(home.run(wrong).await.code, 2, "{wrong:?}");
    }
}

#[tokio::test]
async fn several_groups_are_read_and_their_tokens_go_to_one_file() {
    let (home, _serving) = three().await;
    let tokens = home.path("tokens.jsonl").display().to_string();
    let get = ["get", "acme-us", "globex", "--token-out", &tokens, "--json"];
    let ran = home.run(&get).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let read = lines(&ran);
    let (sum, read) = read.split_last().expect("a sum");
    let mut found = ids(read);
    found.sort_unstable();
    assert_eq!(found, ["acme-us", "globex"]);
    assert!(read.iter().all(|one| one["outcome"] == "found"), "{read:?}");
    assert_eq!((&sum["planned"], &sum["unchanged"]), (&json!(2), &json!(2)));
    let kept = std::fs::read_to_string(&tokens).expect("written");
    assert_eq!(kept.lines().count(), 2);
    for line in kept.lines() {
        let token: Value = serde_json::from_str(line).expect("JSON");
        let secret = token["token"].as_str().expect("a token");
        assert!(!ran.out.contains(secret) && !ran.err.contains(secret));
    }
    let ran = home.run(&["get", "--filter", "acme"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&ran.out, "acme-eu");
    assert_has(&ran.out, "acme-us");
    assert!(!ran.out.contains("globex"), "{}", ran.out);
    let dry = ["get", "acme-eu", "--dry-run"];
    assert_eq!(home.json(0, &dry).await["to_read"], 1);
    let ran = home.run(&["get", "acme-eu", "globex", "--reveal"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--token-out"), "{}", ran.err);
}

/// In a file they are listed and skipped.
#[tokio::test]
async fn nothing_is_done_if_one_of_several_typed_ids_is_unknown() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    let import = home.write("more.csv", "user_group_id\nbeta\n");
    assert_eq!(home.run(&["import", &import]).await.code, 0);
    for line in [
        "get acme acmee",
        "get acmee acme --exists --yes",
        "show acme acmee",
        "rotate acme acmee --yes",
        "rotate acme beta acmee --yes",
        "rotate acmee acmee --yes",
        "rotate acme acmee --dry-run",
        "update acme acmee --map 7=1 --yes",
        "update acme acmee --map 7=1 --dry-run",
        "label acme acmee --add vip",
        "label acme acmee",
        "favourite acme acmee --add",
    ] {
        let ran = home.run(&args(line)).await;
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {}", ran.err);
        assert!(
            ran.err.contains("did you mean \"acme\"?"),
            "{line}: {}",
            ran.err
        );
    }
    for line in ["rotations check 1 2", "rotations handoff 1 2"] {
        let ran = home.run(&args(line)).await;
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert_has(&ran.err, "rotation 1 not found");
    }
    assert_eq!(service.connections(), 1, "only the meeting");
    assert_eq!(
        home.json(0, &["label", "acme"]).await[0]["labels"],
        json!([])
    );
    let list = home.write("ids.txt", "acme\nacmee\n");
    let dry = ["rotate", "--from", &list, "--dry-run", "--json"];
    let ran = home.run(&dry).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert_has(&ran.out, "acmee");
}

#[tokio::test]
async fn a_word_with_a_long_dash_is_never_an_id_a_name_or_a_file() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    let list = home.write("ids.txt", "acme\n\u{2013} beta\n");
    let rows = home.write("rows.csv", "user_group_id\nacme\n\u{2014}beta\n");
    for dash in [
        '\u{2010}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{fe58}', '\u{ff0d}',
    ] {
        for line in [
            "rotate acme ~dry-run --yes",
            "rotate ~dry-run acme --yes",
            "rotate acme --reason ~dry-run --yes",
            "update acme --name x ~~dry-run --yes",
            "create new ~dry-run --yes",
            "create ~dry-run --yes",
            "get acme ~dry-run",
            "get new --exists ~dry-run",
            "import rows.csv --create ~dry-run --yes",
            "apply . ~dry-run --yes",
        ] {
            let line = line.replace('~', &dash.to_string());
            let ran = home.run(&args(&line)).await;
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {}", ran.err);
            assert_has(
                &ran.err,
                "dry-run begins with a long dash; did you mean --dry-run?",
            );
        }
        for line in [
            "create -- ~x",
            "rotate -- acme ~x",
            "get acme --token-out=~f",
            "export -- ~f",
        ] {
            let line = line.replace('~', &dash.to_string());
            let ran = home.run(&args(&line)).await;
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {}", ran.err);
            assert_has(&ran.err, "begins with a long dash");
        }
    }
    let failure = home.json(2, &["rotate", "acme", "—dry-run"]).await;
    let error = failure["error"].as_str().expect("a text");
    assert_has(error, "did you mean --dry-run?");
    for line in [
        ["rotate", "--from", &list, "--yes"],
        ["import", &rows, "--create", "--yes"],
    ] {
        let ran = home.run(&line).await;
        assert_eq!(ran.code, 2, "{line:?}: {}", ran.err);
        assert_has(&ran.err, "begins with a long dash");
    }
    assert_eq!(service.connections(), 1, "only the meeting");
    let text = ["note", "acme", "--", "— call first"];
    assert_eq!(home.run(&text).await.out, "— call first\n");
}

#[tokio::test]
async fn a_group_that_had_vanished_stops_a_read_of_several() {
    let mut made = group("token-9", &Value::Null);
    if let Fault::Answer(bytes) = &mut made {
        let text = String::from_utf8(bytes.clone()).expect("UTF-8");
        // Of the same length as before.
        *bytes = text
            .replace("_group\":false", "_group\": true")
            .into_bytes();
    }
    let (home, service) = knowing_acme(vec![made]).await;
    let import = home.write("more.csv", "user_group_id\nbeta\n");
    assert_eq!(home.run(&["import", &import]).await.code, 0);
    let ran = home.run(&args("get acme beta --exists --yes")).await;
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("CREATED by reading"), "{}", ran.err);
    assert_eq!(methods(&service), ["GET", "GET"], "the second was not read");
}

#[tokio::test]
async fn one_change_is_applied_to_many_groups_and_reversed() {
    let (home, _serving) = three().await;
    let edit = ["update", "--filter", "acme", "--map", "7=213"];
    let dry = home.json(0, &[&edit[..], &["--dry-run"]].concat()).await;
    let changing = dry["changing"].as_array().expect("groups");
    assert_eq!(ids(changing), ["acme-eu", "acme-us"]);
    assert_eq!(
        (&changing[0]["before"], &changing[0]["after"]),
        (&json!("40"), &json!("213"))
    );
    assert_eq!(
        home.json(0, &["show", "acme-eu"]).await["mapping"]["7"],
        "40"
    );
    let human = home.run(&[&edit[..], &["--dry-run"]].concat()).await;
    assert!(human.out.contains("~ acme-eu: 40 -> 213"), "{}", human.out);
    assert_has(&human.out, "2 to change, 0 already set, 0 skipped");
    // Nobody can type the words.
    let ran = home.run(&edit).await;
    assert_eq!(ran.code, 3, "{}", ran.err);

    let ran = home
        .run(&[&edit[..], &["--yes", "--json", "--reason", "moved"]].concat())
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ended = lines(&ran);
    let (sum, items) = ended.split_last().expect("a sum");
    assert!(
        items.iter().all(|item| item["outcome"] == "updated"),
        "{items:?}"
    );
    assert_eq!((&sum["planned"], &sum["confirmed"]), (&json!(2), &json!(2)));
    let shown = home.json(0, &["show", "acme-eu"]).await;
    assert_eq!(
        shown["mapping"],
        json!({"7": "213", "8": "1"}),
        "the rest stays"
    );
    let batch = &home.json(0, &["batches", "list"]).await[0];
    assert_eq!(
        (&batch["operation"], &batch["reason"]),
        (&json!("edit"), &json!("moved"))
    );
    let number = batch["batch"].to_string();
    let checked = home.json(0, &["batches", "check", &number]).await;
    assert_eq!(checked["items"].as_array().map(Vec::len), Some(2));

    // Once more: nothing differs.
    let ran = home.run(&[&edit[..], &["--yes", "--json"]].concat()).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(lines(&ran)[0]["batch"], Value::Null);
    assert!(
        ran.err.contains("all groups already have this value"),
        "{}",
        ran.err
    );
    let retry = ["batches", "retry", &number, "--yes"];
    assert_eq!(home.run(&retry).await.code, 0, "no part failed");

    // One of them has another value meanwhile: only the other one is reversed.
    let other = args("update acme-us --map 7=99 --replace-mapping --yes");
    assert_eq!(home.run(&other).await.code, 0);
    let reverse = ["batches", "reverse", &number];
    let dry = home.json(0, &[&reverse[..], &["--dry-run"]].concat()).await;
    assert_eq!(
        ids(dry["changing"].as_array().expect("groups")),
        ["acme-eu"]
    );
    assert_eq!(dry["skipped"][0]["user_group_id"], "acme-us");
    let ran = home.run(&[&reverse[..], &["--yes"]].concat()).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    for (id, value) in [("acme-eu", "40"), ("acme-us", "99")] {
        assert_eq!(home.json(0, &["show", id]).await["mapping"]["7"], value);
    }
}

#[tokio::test]
async fn a_bulk_edit_changes_one_row_and_only_where_it_has_the_value() {
    let (home, _serving) = three().await;
    let list = home.write("ids.txt", "acme-eu\nacme-us\nnobody\n");
    let update = async |options: &[&str]| {
        let all = [&["update", "--from", &list][..], options].concat();
        home.run(&all).await
    };
    let where_it_is = args("--map 7=213 --if-value 41 --dry-run --json");
    let ran = update(&where_it_is).await;
    assert_eq!(ran.code, 6, "one named group is not known: {}", ran.err);
    let plan: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        ids(plan["changing"].as_array().expect("groups")),
        ["acme-us"]
    );
    let why: Vec<_> = plan["skipped"].as_array().expect("some").iter().collect();
    assert_eq!(why[0]["why"], "another value");
    assert_eq!(why[1]["user_group_id"], "nobody");

    let ran = update(&["--unmap", "8", "--dry-run", "--json"]).await;
    let plan: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(plan["changing"][0]["after"], Value::Null);
    assert_eq!(plan["same"], json!(["acme-us"]));
    for (options, words) in [
        (&["--map", "7=1", "--map", "8=2"][..], "changes one row"),
        (&["--name", "x"], "changes one row"),
        (&[], "needs a change"),
        (&["--property", "tier=gold"], "strings need quotes"),
        (
            &["--map", "7=1", "--if-unchanged"],
            "work for one group only",
        ),
        (
            &["--map", "7=1", "--token-out", "t"],
            "work for one group only",
        ),
    ] {
        let ran = update(&[options, &["--yes"]].concat()).await;
        assert_eq!(ran.code, 2, "{options:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{options:?}: {}", ran.err);
    }
    assert_eq!(home.json(0, &["batches", "list"]).await, json!([]));
    let none = ["update", "nobody", "no-one", "--map", "7=1", "--yes"];
    let ran = home.run(&none).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_has(&ran.err, "\"nobody\", \"no-one\" are not in the directory");
}

#[tokio::test]
async fn items_not_applied_are_retried_and_a_rotation_is_not_reversed() {
    let refused = || faulty("400 Bad Request", &json!({}));
    let known = || group("token-0", &Value::Null);
    let next = || group("token-1", &Value::Null);
    let (home, service) =
        knowing_acme(vec![known(), refused(), known(), known(), next(), next()]).await;
    let rotate = ["rotate", "acme", "--max-failures", "1", "--yes"];
    let ran = home.run(&rotate).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    let reverse = ["batches", "reverse", "1", "--dry-run"];
    let ran = home.run(&reverse).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(
        ran.err.contains("batch 1 is a bulk rotation"),
        "{}",
        ran.err
    );
    let out = home.path("new.jsonl").display().to_string();
    let retry = ["batches", "retry", "1", "--yes", "--token-out", &out];
    let ran = home.run(&retry).await;
    assert_eq!(ran.code, 0, "{} {:?}", ran.err, methods(&service));
    let kept = std::fs::read_to_string(out).expect("written");
    assert!(kept.contains("token-1"), "{kept}");
}

/// As for a single update: blanks around a key count only where a group has the key with exactly these blanks.
#[tokio::test]
async fn a_key_with_blanks_is_removed_from_many_groups_as_from_one() {
    let (home, _serving) = three().await;
    let file = home.write("blank.json", r#"{" 7 ": "1", "a": "2"}"#);
    for id in ["acme-eu", "acme-us"] {
        let fields = ["--mapping", &file, "--properties", &file];
        let update = [&["update", id, "--replace-mapping", "--yes"], &fields[..]].concat();
        let ran = home.run(&update).await;
        assert_eq!(ran.code, 0, "{id}: {}", ran.err);
    }
    let plan = async |options: &[&str]| {
        let all = [&["update", "acme-eu", "acme-us", "--dry-run"], options].concat();
        let dry = home.json(0, &all).await;
        ids(dry["changing"].as_array().expect("groups")).len()
    };
    for option in ["--unmap", "--remove-property"] {
        assert_eq!(plan(&[option, " 7 "]).await, 2, "{option}");
        assert_eq!(plan(&[option, " a "]).await, 2, "{option}");
        assert_eq!(plan(&[option, "7"]).await, 0, "{option}");
        let all = ["update", "acme-eu", "acme-us", option, " 7 ", "--yes"];
        let ran = home.run(&all).await;
        assert_eq!(ran.code, 0, "{option}: {}", ran.err);
        assert_has(&ran.err, "2 updated of 2");
    }
    let shown = home.json(0, &["show", "acme-us"]).await;
    for field in ["mapping", "properties"] {
        assert_eq!(shown[field], json!({"a": "2"}), "{field}");
    }
    // One of them has both keys, and each group of a batch loses the same row.
    let two = home.write("two.json", r#"{" a ": "1", "a": "2"}"#);
    let both = [
        "update",
        "acme-eu",
        "--mapping",
        &two,
        "--replace-mapping",
        "--yes",
    ];
    assert_eq!(home.run(&both).await.code, 0);
    let ran = home
        .run(&["update", "acme-eu", "acme-us", "--unmap", " a ", "--yes"])
        .await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_has(
        &ran.err,
        "with these blanks, others without; nothing was sent",
    );
    let ran = home
        .run(&["update", "acme-eu", "acme-us", "--unmap", " ", "--yes"])
        .await;
    assert_eq!(ran.code, 2, "{}", ran.err);
}
