//! `update` with a whole group from a file, and `update` only if nobody else changed the group; options that exclude
//! each other.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::program::{Background, Home, has};
use crate::support::assertions::assert_lacks;

/// Two installations that know a group.
async fn served() -> (Home, Home, Background) {
    let (ana, serving) = Home::served().await;
    let li = ana.another();
    let create = "create acme --name Acme --map 40=213 --map 7=1 --property tier=\"gold\" --yes";
    ana.exits(0, create).await;
    li.exits(0, "get acme --exists").await;
    (ana, li, serving)
}

#[tokio::test]
async fn a_whole_group_is_applied_as_export_writes_it() {
    let (home, _, _serving) = served().await;
    // The forms of a file: `formats::tests`.
    for format in ["jsonl", "csv"] {
        let file = home.at("acme.out");
        let export = format!("export --format {format} --output {file} --force");
        home.exits(0, &export).await;
        let text = std::fs::read_to_string(&file).expect("readable");
        assert!(text.contains("213"), "{text}");
        home.exits(0, &format!("update acme --apply {file} --yes"))
            .await
            .says("no changes; no update was sent");
        let other = format!("9{}", format.len());
        let text = text.replace("213", &other);
        let apply = "update acme --apply - --yes --json";
        let ran = home.exits_with(0, apply, &text).await;
        let updated = ran.json();
        has!(updated, {"mapping": {"40": other, "7": "1"}, "properties": {"tier": "gold"}});
        home.exits(0, "update acme --map 40=213 --replace-mapping --yes")
            .await;
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
            .json(0, &format!("update acme --apply {file} --dry-run"))
            .await;
        for key in ["name", "mapping", "properties"] {
            // The service keeps omitted fields, and the profile states so.
            assert_eq!(dry["request"].get(key), expected.get(key), "{text}");
        }
    }
    assert_eq!(home.json(0, "show acme").await["name"], "Acme");
}

#[tokio::test]
async fn an_update_without_a_change_is_refused_before_anything_is_sent() {
    let (home, _, _serving) = served().await;
    let before = home.json(0, "history").await;
    let needs = "update needs a change, for example --name NAME; nothing was sent";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "update acme --yes", needs),
        (2, "update acme --dry-run", needs),
        (2, "update acme globex --yes", "update needs a change, for example --map 7=213; nothing was sent"),
        (2, "update acme name=Acme --yes", "update needs a change; nothing was sent. Write it as --name TEXT"),
        (2, "update acme --name x --if-value y --yes", "--if-value needs one of --map, --unmap, --property or --remove-property"),
        (2, "update acme --unmap 400 --yes", "has no row \"400\"; nothing was changed; did you mean \"40\"?"),
        (2, "update acme --remove-property teir --yes", "have no key \"teir\"; nothing was changed; did you mean \"tier\"?"),
    ]).await;
    let missing = home.run("rotations abandon m99 --reason x").await;
    assert_lacks(&missing.err, "confirmation required");
    assert_eq!(home.json(0, "history").await, before);
}

#[tokio::test]
async fn a_file_that_is_not_of_this_one_group_is_refused() {
    let (home, _, _serving) = served().await;
    let before = home.json(0, "history").await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("{\"user_group_id\": \"acme-2\"}", "is for \"acme-2\", not for \"acme\""),
        ("[]", "contains no group"),
        ("user_group_id\nacme\nglobex\n", "contains 2 groups instead of one; for several groups, use `groupdesk apply`"),
        ("{\"user_group_id\": \"acme\", \"token\": \"canary\"}", "a token does not belong"),
    ];
    for (text, words) in table {
        home.write("one", text);
        let ran = home.exits(2, "update acme --apply one --yes").await;
        ran.prints("").says(words).hides("canary");
    }
    home.exits(2, "update acme --apply missing.json --yes")
        .await;
    assert_eq!(home.json(0, "history").await, before);
}

#[tokio::test]
async fn options_that_contradict_each_other_are_refused() {
    let (home, _, mut serving) = served().await;
    // None of this needs the service.
    serving.signal(Signal::TERM);
    serving.code().await;
    home.write("one.json", "{\"user_group_id\": \"acme\", \"name\": \"x\"}");
    home.write("map.json", "{}");
    for more in [
        "--apply one.json --name x",
        "--apply one.json --map 7=1",
        "--apply one.json --unmap 7",
        "--apply one.json --mapping map.json",
        "--apply one.json --property a=1",
        "--apply one.json --remove-property tier",
        "--apply one.json --properties map.json",
        "--map 7=1 --map 7=2",
        "--map 7=1 --unmap 7",
        "--unmap 7 --unmap 7",
        "--property a=1 --remove-property a",
        "--mapping - --properties -",
        "--name x --if-unchanged --exists",
    ] {
        let ran = home.exits(2, &format!("update acme --yes {more}")).await;
        ran.prints("");
    }
}

#[tokio::test]
async fn a_group_changed_by_somebody_else_is_not_updated() {
    let (ana, li, _serving) = served().await;
    let insist = "--replace-mapping --if-unchanged --yes";
    let done = ana
        .json(0, &format!("update acme --map 7=2 {insist}"))
        .await;
    has!(done, {"outcome": "updated", "mapping": {"40": "213", "7": "2"}});

    li.exits(0, "update acme --name 'Acme of Li' --yes").await;
    let again = format!("update acme --map 7=3 {insist}");
    let told = "\"acme\" was changed elsewhere since it was last seen here (name); your change was not sent";
    ana.exits(3, &again).await.prints("").says(told);
    let there = li.json(0, "get acme").await;
    assert_eq!(there["name"], "Acme of Li", "no update was sent");
    let now = ana.json(0, "show acme").await;
    has!(now, {"name": "Acme of Li", "mapping": {"40": "213", "7": "2"}});
    // The change has been shown now: whoever still wants the update repeats it.
    let done = ana.json(0, &again).await;
    has!(done, {"name": "Acme of Li", "mapping": {"40": "213", "7": "3"}});
    // A dry run is refused in the same way.
    li.exits(0, "update acme --name 'Acme of Li 2' --yes").await;
    let dry = "update acme --map 7=4 --if-unchanged --dry-run";
    ana.exits(3, dry).await.says("(name)");
}

#[tokio::test]
async fn a_group_never_seen_cannot_be_called_unchanged() {
    let (ana, _, _serving) = served().await;
    ana.write("ids.csv", "user_group_id,name\nimported,Imported\n");
    ana.exits(0, "import ids.csv").await;
    let ran = ana
        .exits(3, "update imported --name x --if-unchanged --yes")
        .await;
    ran.says("was never seen in the service")
        .says("nothing was sent");
    let listed = ana.json(0, "show imported").await;
    assert_eq!(listed["last_seen"], Value::Null);
}
