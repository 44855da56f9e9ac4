//! The common filter of the command line, the order of groups, `--limit`, and columns.

use serde_json::Value;

use super::program::{Home, each, has};

/// Every order and every test of a filter: `search::tests`, `directory::lists`.
#[tokio::test]
async fn a_list_is_filtered_sorted_and_limited() {
    let (home, _held) = Home::in_demo().await;
    home.exits(0, "label acme-us --add vip").await;
    let list = async |options: &str| {
        let found = home.json(0, &format!("list {options}")).await;
        let ids = each(&found, "user_group_id").into_iter();
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    let all = list("").await;
    let acme = list("--filter 'acme -label:vip'").await;
    assert!(acme.iter().all(|id| id.contains("acme")), "{acme:?}");
    assert!(acme.contains(&"acme-eu".into()) && !acme.contains(&"acme-us".into()));
    assert_eq!(list("--filter label:vip").await, ["acme-us"]);
    assert_eq!(list("--filter -label:vip").await.len(), all.len() - 1);
    // A fuzzy match is no reason to act on a group.
    assert_eq!(list("--filter acu").await, [""; 0]);
    let by_name = list("--sort name").await;
    let backwards = list("--sort name --reverse --limit 2").await;
    assert_eq!(
        backwards[..],
        [&*by_name[all.len() - 1], &*by_name[all.len() - 2]]
    );
    // A column without an index: unknown values come last in either direction.
    let aged = home.json(0, "list --sort age").await;
    let times = each(&aged, "last_rotated");
    let known: Vec<_> = times.iter().filter(|time| **time != "null").collect();
    assert!(known.is_sorted() && known.len() > 3, "{times:?}");
    assert!(times[known.len()..].iter().all(|time| *time == "null"));
    assert_eq!(list("--sort token").await.len(), all.len());
}

#[tokio::test]
async fn a_wrong_filter_or_column_is_a_usage_error() {
    let (home, _held) = Home::in_demo().await;
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "list --filter age>x", "age>x: write an age as 90d"),
        (2, "list --filter tga:customer", "did you mean tag:?"),
        (2, "list --filter flag:new", "flag: works only in the console"),
        (2, "export --filter map:", "nothing was saved"),
        (2, "history --filter map:", "nothing was listed"),
        (2, "get --refresh-all --filter map:", "nothing was sent"),
        (2, "rotate --filter map: --yes", "nothing was sent"),
        (2, "list --sort size", "prop:KEY"),
        (2, "list --columns size", "unknown column \"size\""),
        (2, "list --columns +id,name", "prefix all of them"),
        (2, "list --columns ''", "no column is named"),
        (2, "export --columns ''", "no column is named"),
        (2, "list --limit 0", "limit"),
        (2, "rotate acme-eu --limit 1 --yes", "need --filter"),
    ]).await;
    let ran = home.exits(0, "list --filter foo:bar").await;
    ran.prints("").says("not a test").says("matches the filter");
}

#[tokio::test]
async fn columns_are_chosen_in_their_order_or_added() {
    let (home, _held) = Home::in_demo().await;
    home.exits(0, "note acme-eu 'call first'").await;
    home.exits(0, "label acme-eu --add vip").await;
    let list = "list --filter acme-eu --columns id,prop:tier,map:40,note,labels";
    let ran = home.run(list).await;
    let lines: Vec<Vec<&str>> = ran
        .out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0], ["ID", "tier", "map:40", "NOTE", "LABELS"]);
    let found = lines.iter().find(|line| line[0] == "acme-eu");
    let found = found.expect("its line");
    assert!(found.contains(&"213"), "{found:?}");
    assert_eq!(found[found.len() - 3..], ["call", "first", "#vip"]);

    let usual = home.run("list").await;
    let more = home.run("list --columns +labels").await;
    let head = more.out.lines().next().expect("a line");
    let is_added = head.starts_with("NAME ") && head.ends_with("LABELS");
    assert!(is_added, "{head}");
    let cut = more.out.replace("#vip", "").replace("LABELS", "");
    let cut = cut.lines().map(str::trim_end);
    assert!(cut.eq(usual.out.lines()), "{}", more.out);
    // In JSON, columns add annotations of a group and remove nothing.
    let plain = home.json(0, "list --columns id").await;
    assert_eq!(plain, home.json(0, "list").await);
    let more = "list --filter acme-eu --columns +note,+labels";
    let more = home.json(0, more).await;
    has!(more[0], {"note": "call first", "labels": ["vip"]});
}

#[tokio::test]
async fn every_bulk_command_takes_the_same_filter() {
    let (home, _held) = Home::in_demo().await;
    let found = home.json(0, "list --filter acme").await;
    let found = each(&found, "user_group_id");
    assert!(found.len() > 1);

    let exported = home.json(0, "export --filter acme --reverse").await;
    let mut backwards = each(&exported, "user_group_id");
    backwards.reverse();
    assert_eq!(backwards, found);
    let tokens = "export --filter acme-eu --reveal-tokens --token-out t.jsonl";
    home.exits(0, tokens).await;
    let kept = std::fs::read_to_string(home.path("t.jsonl")).expect("written");
    assert_eq!(kept.lines().count(), 1);

    let dry = home
        .json(0, "get --refresh-all --filter acme --dry-run")
        .await;
    let seen = found.len() as u64 - dry["never_seen"].as_u64().expect("a number");
    assert_eq!(dry["to_read"].as_u64(), Some(seen), "{dry}");
    home.exits(0, "get --refresh-all --filter acme").await;
    // A refresh of some groups is not a refresh of all.
    home.exits(3, "get --refresh-all --resume").await;

    home.write("one.csv", &format!("user_group_id\n{}\n", found[0]));
    let pruned = home
        .run("apply one.csv --dry-run --prune-report --filter acme")
        .await;
    let left_out = pruned.out.lines().filter(|line| line.starts_with("not in"));
    assert_eq!(left_out.count(), found.len() - 1, "{}", pruned.out);
    home.exits(2, "apply one.csv --filter acme").await;

    let lines = home.json(0, "history --filter acme").await;
    let ids = each(&lines, "user_group_id");
    let are_found = ids.iter().all(|id| found.contains(id)) && !ids.is_empty();
    assert!(are_found, "{lines}");
    let oldest = home
        .json(0, "history --filter acme --limit 2 --reverse")
        .await;
    assert_eq!([&oldest[0], &oldest[1]], [&lines[1], &lines[0]]);

    let oldest = "rotate --filter acme --include-recent --dry-run --sort age --limit 1";
    let plan = home.run(&format!("{oldest} --json")).await.json();
    assert_eq!(each(&plan["ready"], "user_group_id").len(), 1, "{plan}");
}

#[tokio::test]
async fn a_result_has_the_requested_format() {
    let (home, _held) = Home::in_demo().await;
    home.exits(0, "label acme-eu --add vip").await;
    let out = async |line: &str| home.exits(0, line).await.out;
    for command in [
        "list",
        "list --filter prop:nothing",
        "show acme-eu",
        "history --limit 3",
    ] {
        let form = async |form: &str| out(&format!("{command} -o {form}")).await;
        let value = home.json(0, command).await;
        let as_form: Value = serde_json::from_str(&form("json").await).expect("JSON");
        assert_eq!(as_form, value, "{command}");
        let items = match value {
            Value::Array(items) => items,
            one => vec![one],
        };
        let lines = home.run(&format!("{command} -o jsonl")).await.lines();
        assert_eq!(lines, items, "{command}");
        let names = form("name").await;
        assert_eq!(names.lines().count(), items.len(), "{command}: {names}");
        let csv = form("csv").await;
        // A list without lines has its header, too.
        assert_eq!(csv.lines().count(), items.len() + 1, "{command}: {csv}");
    }
    for (command, header) in [
        (
            "list --filter prop:nothing --columns id,prop:tier",
            "id,prop:tier",
        ),
        ("history --by zoe", "number,at,by,"),
        ("history --by zoe --by-operation", "number,at,by,"),
        ("rotations --open", "rotation,user_group_id,"),
    ] {
        let csv = out(&format!("{command} -o csv")).await;
        assert!(csv.starts_with(header), "{command}: {csv}");
        assert_eq!(csv.lines().count(), 1, "{command}: {csv}");
    }
    let all = home.json(0, "list").await;
    let names = out("list -o name").await;
    assert!(names.lines().eq(each(&all, "user_group_id")), "{names}");
    let csv = "list --filter acme-eu --limit 1 -o csv --columns id,age,prop:tier,labels,due";
    let csv = out(csv).await;
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0], ["id", "age", "prop:tier", "labels", "due"]);
    assert_eq!((lines[1][0], lines[1][3]), ("acme-eu", "#vip"));
    assert!(lines[1][1].parse::<jiff::Timestamp>().is_ok(), "{csv}");
    // Every command takes -o, before or after its name, in the forms that its JSON can have.
    let before = home.run("-o jsonl get acme-eu").await.lines();
    assert_eq!(before[0]["user_group_id"], "acme-eu");
    for form in ["json", "jsonl", "csv"] {
        let exported = out(&format!("export -o {form}")).await;
        assert_eq!(exported, out(&format!("export --format {form}")).await);
    }
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "list --json -o csv", ""),
        (2, "get acme-eu -o csv", "`get` cannot print csv; use --output json or jsonl"),
        (2, "export -o name", "`export` cannot print name; use --output json, jsonl or csv"),
        (2, "config validate -o wide", "`config validate` cannot print wide"),
        (2, "export -o csv --format json", ""),
        (2, "list -o yaml", "jsonl"),
    ]).await;
}

#[tokio::test]
async fn single_results_have_the_formats_of_a_list() {
    let (home, _demo) = Home::in_demo().await;
    for (command, field) in [
        ("profile show testing", "profile"),
        ("environment show testing", "environment"),
        ("note acme-eu", "user_group_id"),
        ("label acme-eu", "user_group_id"),
        ("favourite acme-eu", "user_group_id"),
    ] {
        let shown = home.exits(0, &format!("{command} -o jsonl")).await.lines();
        assert_eq!(shown.len(), 1, "{command}: {shown:?}");
        let named = home.exits(0, &format!("{command} -o name")).await;
        assert_eq!(named.out.trim_end(), shown[0][field], "{command}");
    }
    let rotate = "rotate acme-eu globex-retail --include-recent --yes";
    home.exits(0, rotate).await;
    // A wide table is kept and sent on: an age would soon be wrong.
    for command in ["history", "rotations", "batches list"] {
        let wide = home.run(&format!("{command} -o wide")).await.out;
        let mut rows = wide.lines().skip(1);
        let row = rows.find(|row| command.starts_with("batches") || row.contains("acme-eu"));
        let row = row.unwrap_or_else(|| panic!("{command}: {wide}"));
        assert!(row.contains(" UTC"), "{command}: {wide}");
        assert!(!wide.contains(" ago") && !wide.contains("AGE"), "{wide}");
    }
}

#[tokio::test]
async fn a_table_obeys_columns_and_colour_options() {
    let (mut home, _held) = Home::in_demo().await;
    let plain = home.run("list").await.out;
    let wide = home.run("list -o wide").await.out;
    let head = wide.lines().next().expect("a line");
    for name in ["NAME", "READ", "DUE", "BY", "LABELS", "NOTE"] {
        assert!(head.contains(name), "{head}");
    }
    home.set("COLUMNS", "60");
    let narrow = home.run("list").await.out;
    let cells = |text: &str| {
        let lines = text.lines();
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    };
    assert!(cells(&plain) > 60 && cells(&narrow) <= 60, "{narrow}");
    assert_eq!(home.run("list -o wide").await.out, wide);

    let never = home.run("list --color never").await.out;
    assert_eq!(never, narrow);
    let always = home.run("list --color always").await.out;
    assert!(always.contains("\u{1b}[") && !narrow.contains('\u{1b}'));
    home.exits(2, "list --color sometimes").await;
}
