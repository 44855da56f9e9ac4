//! `show`, `get` and `update` of several groups: by arguments, from a list, by a filter. And the batch of a bulk edit.

use serde_json::{Value, json};

use super::{
    guards::knowing_acme,
    program::{Background, Home, each, has},
};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    faults::Fault,
};

/// A production profile with three groups, two of them with a mapping.
async fn three() -> (Home, Background) {
    let (home, serving) = Home::served().await;
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (0, "create acme-eu --yes --map 7=40 --map 8=1", ""),
        (0, "create acme-us --yes --map 7=41", ""),
        (0, "create globex --yes --property tier=\"gold\"", ""),
    ]).await;
    (home, serving)
}

#[tokio::test]
async fn several_groups_are_shown_in_the_order_they_were_named() {
    let (home, _serving) = three().await;
    let one = home.json(0, "show globex").await;
    assert_eq!(one["user_group_id"], "globex", "one alone is an object");
    let shown = home.json(0, "show globex acme-eu").await;
    assert_eq!(each(&shown, "user_group_id"), ["globex", "acme-eu"]);
    assert_eq!(shown[1]["mapping"], json!({"7": "40", "8": "1"}));
    // As they are copied from a list.
    home.write("ids.txt", "* 'acme-us',\n\n`globex`\n");
    let ran = home.run("show --from ids.txt -o name").await;
    ran.prints("acme-us\nglobex\n");
    let ran = home.run_with("show --from - -o name", "globex\n").await;
    ran.prints("globex\n");
    let ran = home
        .run("show --filter acme --sort id --reverse -o name")
        .await;
    ran.prints("acme-us\nacme-eu\n");
    let human = home.run("show acme-eu globex").await;
    human.shows("acme-eu").shows("globex").shows("gold");
    home.exits(0, "show --filter nothing-of-it")
        .await
        .prints("");
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        // All or none of the groups named by a person.
        (2, "show acme-eu globx", "did you mean \"globex\"?"),
        (2, "show", ""),
        (2, "show acme-eu --from ids.txt", ""),
        (2, "show --from ids.txt --filter acme", ""),
        (2, "show acme-eu --sort id", ""),
    ]).await;
    home.exits(2, &["show", "--filter", ""]).await;
    home.exits(2, &["rotate", "--filter", " -\"\"", "--dry-run"])
        .await;
}

#[tokio::test]
async fn several_groups_are_read_and_their_tokens_go_to_one_file() {
    let (home, _serving) = three().await;
    let get = "get acme-us globex --token-out tokens.jsonl --json";
    let ran = home.exits(0, get).await;
    let read = ran.lines();
    let (sum, read) = read.split_last().expect("a sum");
    assert!(read.iter().all(|one| one["outcome"] == "found"), "{read:?}");
    has!(sum, {"planned": 2, "unchanged": 2});
    let kept = std::fs::read_to_string(home.path("tokens.jsonl")).expect("written");
    assert_eq!(kept.lines().count(), 2);
    for line in kept.lines() {
        let token: Value = serde_json::from_str(line).expect("JSON");
        ran.hides(token["token"].as_str().expect("a token"));
    }
    let ran = home.exits(0, "get --filter acme").await;
    assert_lacks(&ran.shows("acme-eu").shows("acme-us").out, "globex");
    assert_eq!(home.json(0, "get acme-eu --dry-run").await["to_read"], 1);
    home.exits(2, "get acme-eu globex --reveal")
        .await
        .says("--token-out");
}

/// In a file they are listed and skipped.
#[tokio::test]
async fn nothing_is_done_if_one_of_several_typed_ids_is_unknown() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    home.write("more.csv", "user_group_id\nbeta\n");
    home.exits(0, "import more.csv").await;
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
        let ran = home.exits(2, line).await;
        ran.prints("").says("did you mean \"acme\"?");
    }
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "rotations check 1 2", "rotation 1 not found"),
        (2, "rotations handoff 1 2", "rotation 1 not found"),
    ]).await;
    assert_eq!(service.connections(), 1, "only the meeting");
    assert_eq!(home.json(0, "label acme").await[0]["labels"], json!([]));
    home.write("ids.txt", "acme\nacmee\n");
    let dry = "rotate --from ids.txt --dry-run --json";
    home.exits(6, dry).await.shows("acmee");
}

/// For every dash and every place: `cli::input::dashes`.
#[tokio::test]
async fn a_word_with_a_long_dash_is_never_an_id_a_name_or_a_file() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    home.write("ids.txt", "acme\n\u{2013} beta\n");
    home.write("rows.csv", "user_group_id\nacme\n\u{2014}beta\n");
    let meant = "dry-run begins with a long dash; did you mean --dry-run?";
    let begins = "begins with a long dash";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "rotate acme —dry-run --yes", meant),
        (2, "rotate acme --reason –dry-run --yes", meant),
        (2, "update acme --name x ——dry-run --yes", meant),
        (2, "create −dry-run --yes", meant),
        (2, "get new --exists ﹘dry-run", meant),
        (2, "import rows.csv --create －dry-run --yes", meant),
        (2, "apply . ‐dry-run --yes", meant),
        (2, "create -- —x", begins),
        (2, "get acme --token-out=—f", begins),
        (2, "export -- —f", begins),
        (2, "rotate --from ids.txt --yes", begins),
        (2, "import rows.csv --create --yes", begins),
    ]).await;
    let failure = home.json(2, "rotate acme —dry-run").await;
    assert_has(&failure["error"].to_string(), "did you mean --dry-run?");
    assert_eq!(service.connections(), 1, "only the meeting");
    let ran = home.run("note acme -- '— call first'").await;
    ran.prints("— call first\n");
}

/// For every form of it: `domain::group`.
#[tokio::test]
async fn a_variable_that_a_script_did_not_replace_is_no_id_and_no_name() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    home.write("ids.txt", "acme\n$ID\n");
    let variable = "a variable that only a shell";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "create $ID --yes", variable),
        (2, "get ${ID} --exists", variable),
        (2, "rotate $(id) --yes", variable),
        (2, "copy acme --to live --as-id {{ID}}", variable),
        (2, "rotate --from ids.txt --yes", variable),
        (2, "environment rename live $ENV", variable),
        (2, "serve keys create --environment $ENV", variable),
        (2, "profile add $NAME --base-url https://a.example --api-key-env K --no-check", variable),
        (2, "show acme $ID", variable),
        (2, "edit $ID", variable),
        (2, "note $ID x", variable),
    ]).await;
    assert_eq!(service.connections(), 1, "only the meeting");
    assert_eq!(home.run("list -o name").await.out, "acme\n");
    // A known group may have it: a script created it, and it can never be deleted.
    home.write("known.csv", "user_group_id\n$ID\n");
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (0, "import known.csv", ""),
        (0, "show $ID", "$ID"),
        (0, "show acme $ID", "$ID"),
        (0, "note $ID x", ""),
        (0, "label $ID acme --add vip", ""),
        (0, "history $ID", ""),
        (2, "create $ID --yes", variable),
        (3, "get $ID", "comes from a file"),
    ]).await;
    assert_eq!(service.connections(), 1, "only the meeting");
}

#[tokio::test]
async fn one_change_is_applied_to_many_groups_and_reversed() {
    let (home, _serving) = three().await;
    let edit = "update --filter acme --map 7=213";
    let dry = home.json(0, &format!("{edit} --dry-run")).await;
    let both = ["acme-eu", "acme-us"];
    assert_eq!(each(&dry["changing"], "user_group_id"), both);
    has!(dry["changing"][0], {"before": "40", "after": "213"});
    let human = home.run(&format!("{edit} --dry-run")).await;
    human.shows("~ acme-eu: 40 -> 213");
    human.shows("2 to change, 0 already set, 0 skipped");
    // Nobody can type the words.
    home.exits(3, edit).await;
    assert_eq!(home.json(0, "show acme-eu").await["mapping"]["7"], "40");

    let yes = format!("{edit} --yes --json --reason moved");
    let ended = home.exits(0, &yes).await.lines();
    let (sum, items) = ended.split_last().expect("a sum");
    let is_done = items.iter().all(|item| item["outcome"] == "updated");
    assert!(is_done, "{items:?}");
    has!(sum, {"planned": 2, "confirmed": 2});
    let shown = home.json(0, "show acme-eu").await;
    assert_eq!(
        shown["mapping"],
        json!({"7": "213", "8": "1"}),
        "the rest stays"
    );
    let batch = &home.json(0, "batches list").await[0];
    has!(batch, {"operation": "edit", "reason": "moved"});
    let number = &batch["batch"];
    let checked = home.json(0, &format!("batches check {number}")).await;
    assert_eq!(checked["items"].as_array().map(Vec::len), Some(2));

    // Once more: nothing differs.
    let ran = home.exits(0, &format!("{edit} --yes --json")).await;
    assert_eq!(ran.lines()[0]["batch"], Value::Null);
    ran.says("all groups already have this value");
    // One of them has another value meanwhile: only the other one is reversed.
    home.exits(0, &format!("batches retry {number} --yes"))
        .await;
    home.exits(0, "update acme-us --map 7=99 --replace-mapping --yes")
        .await;
    let reverse = format!("batches reverse {number}");
    let dry = home.json(6, &format!("{reverse} --dry-run")).await;
    assert_eq!(each(&dry["changing"], "user_group_id"), ["acme-eu"]);
    assert_eq!(dry["skipped"][0]["user_group_id"], "acme-us");
    home.exits(6, &format!("{reverse} --yes")).await;
    for (id, value) in [("acme-eu", "40"), ("acme-us", "99")] {
        let shown = home.json(0, &format!("show {id}")).await;
        assert_eq!(shown["mapping"]["7"], value);
    }
}

#[tokio::test]
async fn a_bulk_edit_changes_one_row_and_only_where_it_has_the_value() {
    let (home, _serving) = three().await;
    home.write("ids.txt", "acme-eu\nacme-us\nnobody\n");
    let update = |options: &str| format!("update --from ids.txt {options}");
    // One named group is not known.
    let plan = home
        .json(6, &update("--map 7=213 --if-value 41 --dry-run"))
        .await;
    assert_eq!(each(&plan["changing"], "user_group_id"), ["acme-us"]);
    assert_eq!(plan["skipped"][0]["why"], "another value");
    assert_eq!(plan["skipped"][1]["user_group_id"], "nobody");
    let plan = home.json(6, &update("--unmap 8 --dry-run")).await;
    assert_eq!(plan["changing"][0]["after"], Value::Null);
    assert_eq!(plan["same"], json!(["acme-us"]));
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, &update("--map 7=1 --map 8=2 --yes"), "changes one row"),
        (2, &update("--name x --yes"), "changes one row"),
        (2, &update("--yes"), "needs a change"),
        (2, &update("--property tier=gold --yes"), "strings need quotes"),
        (2, &update("--map 7=1 --if-unchanged --yes"), "work for one group only"),
        (2, &update("--map 7=1 --token-out t --yes"), "work for one group only"),
        (2, "update nobody no-one --map 7=1 --yes", "\"nobody\", \"no-one\" are not in the directory"),
        (2, "update acme-eu acme-us --unmap ' ' --yes", "none of the groups has a row \" \""),
        (2, "update acme-eu acme-us --unmap '7 8' --yes", "has a row \"7 8\"; nothing was changed; did you mean \"7\", \"8\"?"),
        (2, "update acme-eu --unmap '7 8' --yes", "has no row \"7 8\"; nothing was changed; did you mean \"7\", \"8\"?"),
    ]).await;
    assert_eq!(home.json(0, "batches list").await, json!([]));
}

/// As for a single update: blanks around a key count only where a group has the key with exactly these blanks.
#[tokio::test]
async fn a_key_with_blanks_is_removed_from_many_groups_as_from_one() {
    let (home, _serving) = three().await;
    home.write("blank.json", r#"{" 7 ": "1", "a": "2"}"#);
    for id in ["acme-eu", "acme-us"] {
        let update = format!("update {id} --mapping blank.json --replace-mapping --yes");
        home.exits(0, &update).await;
    }
    let unmap = "update acme-eu acme-us --unmap";
    for (key, count) in [("' 7 '", 2), ("' a '", 2)] {
        let dry = home.json(0, &format!("{unmap} {key} --dry-run")).await;
        assert_eq!(
            each(&dry["changing"], "user_group_id").len(),
            count,
            "{key}"
        );
    }
    // One of them has both keys, and each group of a batch loses the same row.
    home.write("two.json", r#"{" a ": "1", "a": "2"}"#);
    let both = "with these blanks, others without; nothing was sent";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, &format!("{unmap} 7 --dry-run"), "none of the groups has a row \"7\"; nothing was changed"),
        (0, &format!("{unmap} ' 7 ' --yes"), "2 updated of 2"),
        // As after a finished run that is repeated.
        (0, &format!("{unmap} 7 --yes"), "none of the groups has a row \"7\""),
        (0, "update acme-eu --mapping two.json --replace-mapping --yes", ""),
        (3, &format!("{unmap} ' a ' --yes"), both),
    ]).await;
}

/// Where reading the groups helps, the refusal names the command.
#[tokio::test]
async fn properties_that_were_not_read_are_read_with_the_command_that_is_named() {
    let (home, _serving) = Home::served().await;
    for group in ["one", "two"] {
        home.exits(0, &format!("create {group} --name {group} --yes"))
            .await;
    }
    home.write("p.csv", "user_group_id,prop:k\none,8\ntwo,8\n");
    let edit = "update one two --property k=8";
    let named = "groupdesk get one two";
    home.exits(3, &format!("{edit} --yes")).await.says(named);
    home.exits(3, &format!("{edit} --dry-run"))
        .await
        .shows(named);
    home.exits(2, "apply p.csv --yes").await.says(named);
    home.exits(0, "get one two").await;
    home.exits(0, "apply p.csv --dry-run").await;
    home.exits(0, &format!("{edit} --yes")).await;
}
