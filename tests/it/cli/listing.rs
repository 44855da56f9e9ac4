//! The common filter of the command line, the order of groups, `--limit`, and columns.

use serde_json::Value;

use super::program::Home;
use crate::support::bare::args;

fn ids(groups: &Value) -> Vec<&str> {
    let groups = groups.as_array().expect("an array").iter();
    let ids = groups.map(|group| group["user_group_id"].as_str());
    ids.collect::<Option<_>>().expect("ids")
}

#[tokio::test]
async fn a_list_is_filtered_sorted_and_limited() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    home.json(0, &["label", "acme-us", "--add", "vip"]).await;
    let all = home.json(0, &["list"]).await;
    let list = async |options: &[&str]| home.json(0, &[&["list"][..], options].concat()).await;

    let acme = list(&["--filter", "acme -label:vip"]).await;
    assert!(ids(&acme).contains(&"acme-eu") && !ids(&acme).contains(&"acme-us"));
    assert!(ids(&acme).iter().all(|id| id.contains("acme")), "{acme}");
    assert_eq!(ids(&list(&["--filter", "label:vip"]).await), ["acme-us"]);
    let others = list(&["--filter", "-label:vip"]).await;
    assert_eq!(ids(&others).len(), ids(&all).len() - 1);
    // A fuzzy match is no reason to act on a group.
    assert_eq!(ids(&list(&["--filter", "acu"]).await), [""; 0]);

    let titles = |groups: &Value| -> Vec<String> {
        let groups = groups.as_array().expect("an array").iter();
        let title = |group: &Value| {
            let name = group["name"].as_str().filter(|name| !name.is_empty());
            let title = name.or(group["user_group_id"].as_str());
            title.expect("a title").to_lowercase()
        };
        groups.map(title).collect()
    };
    let mut sorted = titles(&all);
    sorted.sort();
    assert_eq!(titles(&list(&["--sort", "name"]).await), sorted);
    sorted.reverse();
    let backwards = list(&["--sort", "name", "--reverse"]).await;
    assert_eq!(titles(&backwards), sorted);
    let two = list(&["--sort", "name", "--reverse", "--limit", "2"]).await;
    assert_eq!(titles(&two), sorted[..2]);
    let mut backwards = ids(&all);
    backwards.reverse();
    assert_eq!(ids(&list(&["--reverse"]).await), backwards);

    // A column without an index: unknown values come last in either direction.
    let aged = list(&["--sort", "age"]).await;
    let times = aged.as_array().expect("an array").iter();
    let times: Vec<_> = times
        .map(|group| group["last_rotated"].as_str().map(ToOwned::to_owned))
        .collect();
    let known: Vec<_> = times.iter().flatten().collect();
    assert!(known.is_sorted() && known.len() > 3, "{times:?}");
    assert!(times[known.len()..].iter().all(Option::is_none));
    let oldest = list(&["--sort", "age", "--limit", "1"]).await;
    assert_eq!(ids(&oldest), ids(&aged)[..1]);
    let tiers = list(&["--filter", "prop:tier", "--sort", "prop:tier"]).await;
    let tiers = tiers.as_array().expect("an array").iter();
    let tiers: Vec<_> = tiers
        .map(|group| group["properties"]["tier"].as_str().map(ToOwned::to_owned))
        .collect();
    assert!(tiers.is_sorted() && tiers.len() > 1, "{tiers:?}");
    let all_of_them = list(&["--sort", "token"]).await;
    assert_eq!(ids(&all_of_them).len(), ids(&all).len());
}

#[tokio::test]
async fn a_wrong_filter_or_column_is_a_usage_error() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["list", "--filter", "age>x"][..], "age>x: write an age as 90d"),
        (&["list", "--filter", "tga:customer"], "did you mean tag:?"),
        (&["list", "--filter", "flag:new"], "flag: works only in the console"),
        (&["export", "--filter", "map:"], "nothing was written"),
        (&["history", "--filter", "map:"], "nothing was listed"),
        (&["get", "--refresh-all", "--filter", "map:"], "nothing was sent"),
        (&["rotate", "--filter", "map:", "--yes"], "nothing was sent"),
        (&["list", "--sort", "size"], "prop:KEY"),
        (&["list", "--columns", "size"], "unknown column \"size\""),
        (&["list", "--columns", "+id,name"], "prefix all of them"),
        (&["list", "--limit", "0"], "limit"),
        (&["rotate", "acme-eu", "--limit", "1", "--yes"], "need --filter"),
    ];
    for (command, words) in table {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 2, "{command:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{command:?}: {}", ran.err);
    }
    let ran = home.run(&["list", "--filter", "foo:bar"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(ran.err.contains("not a test"), "{}", ran.err);
    assert!(ran.err.contains("matches the filter"), "{}", ran.err);
}

#[tokio::test]
async fn columns_are_chosen_in_their_order_or_added() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    home.json(0, &["note", "acme-eu", "call first"]).await;
    home.json(0, &["label", "acme-eu", "--add", "vip"]).await;
    let map = home.json(0, &["show", "acme-eu"]).await["mapping"].clone();
    let (schema, source) = map
        .as_object()
        .expect("known")
        .iter()
        .next()
        .expect("a row");
    let columns = format!("id,prop:tier,map:{schema},note,labels");
    let list = ["list", "--filter", "acme-eu", "--columns", &columns];
    let ran = home.run(&list).await;
    let lines: Vec<Vec<&str>> = ran
        .out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let row = format!("map:{schema}");
    assert_eq!(lines[0], ["ID", "tier", &row, "NOTE", "LABELS"]);
    let found = lines.iter().find(|line| line[0] == "acme-eu");
    let found = found.expect("its line");
    let source = source.as_str().expect("a text");
    assert!(found.contains(&source), "{found:?}");
    assert_eq!(found[found.len() - 3..], ["call", "first", "#vip"]);

    let usual = home.run(&["list"]).await;
    let more = home.run(&["list", "--columns", "+labels"]).await;
    let head = more.out.lines().next().expect("a line");
    assert!(
        head.starts_with("NAME ") && head.ends_with("LABELS"),
        "{head}"
    );
    let cut: Vec<_> = more
        .out
        .lines()
        .map(|line| line.replace("#vip", ""))
        .collect();
    let cut: Vec<_> = cut.iter().map(|line| line.replace("LABELS", "")).collect();
    let cut: Vec<_> = cut.iter().map(|line| line.trim_end()).collect();
    assert_eq!(cut, usual.out.lines().collect::<Vec<_>>());

    // In JSON, columns add annotations of a group and remove nothing.
    let plain = home.json(0, &["list", "--columns", "id"]).await;
    assert_eq!(plain, home.json(0, &["list"]).await);
    let more = home.json(0, &["list", "--columns", "+note,+labels"]).await;
    let more = more.as_array().expect("an array").iter();
    let more: Vec<_> = more
        .filter(|group| group["user_group_id"] == "acme-eu")
        .collect();
    assert_eq!(more[0]["note"], "call first");
    assert_eq!(more[0]["labels"][0], "vip");
}

#[tokio::test]
async fn every_bulk_command_takes_the_same_filter() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let found = home.json(0, &["list", "--filter", "acme"]).await;
    let found = ids(&found);
    assert!(found.len() > 1);

    let exported = home.json(0, &args("export --filter acme --reverse")).await;
    let mut backwards = found.clone();
    backwards.reverse();
    assert_eq!(ids(&exported), backwards);
    let tokens = args("export --filter acme-eu --reveal-tokens --token-out t.jsonl");
    let ran = home.run(&tokens).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let kept = std::fs::read_to_string(home.path("t.jsonl")).expect("written");
    assert_eq!(kept.lines().count(), 1);

    let refresh = ["get", "--refresh-all", "--filter", "acme"];
    let dry = home.json(0, &[&refresh[..], &["--dry-run"]].concat()).await;
    let seen = found.len() as u64 - dry["never_seen"].as_u64().expect("a number");
    assert_eq!(dry["to_read"].as_u64(), Some(seen), "{dry}");
    let ran = home.run(&refresh).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    // A refresh of some groups is not a refresh of all.
    let ran = home.run(&["get", "--refresh-all", "--resume"]).await;
    assert_eq!(ran.code, 3, "{}", ran.err);

    let file = home.write("one.csv", &format!("user_group_id\n{}\n", found[0]));
    let prune = ["apply", &file, "--dry-run", "--prune-report"];
    let pruned = home
        .run(&[&prune[..], &["--filter", "acme"]].concat())
        .await;
    let left_out = pruned.out.lines().filter(|line| line.starts_with("not in"));
    assert_eq!(left_out.count(), found.len() - 1, "{}", pruned.out);
    let alone = home.run(&["apply", &file, "--filter", "acme"]).await;
    assert_eq!(alone.code, 2, "{}", alone.err);

    let lines = home.json(0, &["history", "--filter", "acme"]).await;
    let of_found = ids(&lines).iter().all(|id| found.contains(id));
    assert!(of_found && !ids(&lines).is_empty(), "{lines}");
    let numbers = |lines: &Value| -> Vec<i64> {
        let lines = lines.as_array().expect("an array").iter();
        lines
            .map(|line| line["number"].as_i64().expect("a number"))
            .collect()
    };
    let oldest = ["history", "--filter", "acme", "--limit", "2", "--reverse"];
    let mut newest = numbers(&lines)[..2].to_vec();
    newest.reverse();
    assert_eq!(numbers(&home.json(0, &oldest).await), newest);

    let rotate = args("rotate --filter acme --include-recent --dry-run");
    let oldest = [&rotate[..], &["--sort", "age", "--limit", "1"]].concat();
    let ran = home.run(&[&oldest[..], &["--json"]].concat()).await;
    let plan: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(plan["ready"].as_array().map(Vec::len), Some(1), "{plan}");
}

#[tokio::test]
async fn a_result_has_the_requested_format() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    home.json(0, &["label", "acme-eu", "--add", "vip"]).await;
    let out = async |home: &Home, command: &[&str]| {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 0, "{command:?}: {}", ran.err);
        ran.out
    };
    for command in [
        &["list"][..],
        &["list", "--filter", "prop:nothing"],
        &["show", "acme-eu"],
        &["history", "--limit", "3"],
        &["rotations"],
        &["batches", "list"],
    ] {
        let json = out(&home, &[command, &["--json"]].concat()).await;
        let as_form = out(&home, &[command, &["-o", "json"]].concat()).await;
        assert_eq!(as_form, json, "{command:?}");
        let value: Value = serde_json::from_str(&json).expect("JSON");
        let items = match value {
            Value::Array(items) => items,
            one => vec![one],
        };
        let lines = out(&home, &[command, &["-o", "jsonl"]].concat()).await;
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("one object per line"))
            .collect();
        assert_eq!(lines, items, "{command:?}");
        let names = out(&home, &[command, &["-o", "name"]].concat()).await;
        assert_eq!(names.lines().count(), items.len(), "{command:?}: {names}");
        let csv = out(&home, &[command, &["-o", "csv"]].concat()).await;
        let rows = if items.is_empty() { 0 } else { items.len() + 1 };
        assert_eq!(csv.lines().count(), rows, "{command:?}: {csv}");
    }
    let all = home.json(0, &["list"]).await;
    let names = out(&home, &["list", "-o", "name"]).await;
    assert_eq!(names.lines().collect::<Vec<_>>(), ids(&all));
    let csv = ["list", "--filter", "acme-eu", "--limit", "1", "-o", "csv"];
    let csv = [&csv[..], &["--columns", "id,age,prop:tier,labels,due"]].concat();
    let csv = out(&home, &csv).await;
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0], ["id", "age", "prop:tier", "labels", "due"]);
    assert_eq!((lines[1][0], lines[1][3]), ("acme-eu", "#vip"));
    assert!(lines[1][1].parse::<jiff::Timestamp>().is_ok(), "{csv}");

    let both = home.run(&["list", "--json", "-o", "csv"]).await;
    assert_eq!(both.code, 2, "{}", both.err);
    // Every command takes -o, before or after its name, in the forms that its JSON can have.
    let before = out(&home, &["-o", "jsonl", "get", "acme-eu"]).await;
    let answer: Value = serde_json::from_str(&before).expect("one line");
    assert_eq!(answer["user_group_id"], "acme-eu");
    for form in ["json", "jsonl", "csv"] {
        let exported = out(&home, &["export", "-o", form]).await;
        assert_eq!(exported, out(&home, &["export", "--format", form]).await);
    }
    for (command, form, refused) in [
        (
            "get acme-eu",
            "csv",
            "`get` cannot print csv; use --output json or jsonl",
        ),
        (
            "export",
            "name",
            "`export` cannot print name; use --output json, jsonl or csv",
        ),
        (
            "config validate",
            "wide",
            "`config validate` cannot print wide",
        ),
    ] {
        let ran = home
            .run(&[&args(command)[..], &["-o", form]].concat())
            .await;
        assert_eq!((ran.code, &*ran.out), (2, ""), "{command}");
        assert!(ran.err.contains(refused), "{command}: {}", ran.err);
    }
    let both = home.run(&["export", "-o", "csv", "--format", "json"]).await;
    assert_eq!(both.code, 2, "{}", both.err);

    let wrong = home.run(&["list", "-o", "yaml"]).await;
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("jsonl"), "{}", wrong.err);
}

#[tokio::test]
async fn single_results_have_the_formats_of_a_list() {
    let mut home = Home::new();
    let _demo = home.start_demo().await;
    let lines = async |command: &[&str]| {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 0, "{command:?}: {}", ran.err);
        ran.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let profiles = lines(&["profile", "list", "-o", "name"]).await;
    assert!(profiles.contains(&"testing".to_owned()), "{profiles:?}");
    assert_eq!(
        lines(&["environment", "list", "-o", "csv"]).await.len(),
        profiles.len() + 1
    );
    for (command, field) in [
        (&["profile", "show", "testing"][..], "profile"),
        (&["environment", "show", "testing"], "environment"),
        (&["note", "acme-eu"], "user_group_id"),
        (&["label", "acme-eu"], "user_group_id"),
        (&["favourite", "acme-eu"], "user_group_id"),
    ] {
        let shown = lines(&[command, &["-o", "jsonl"]].concat()).await;
        assert_eq!(shown.len(), 1, "{command:?}: {shown:?}");
        let shown: Value = serde_json::from_str(&shown[0]).expect("one object");
        let named = lines(&[command, &["-o", "name"]].concat()).await;
        assert_eq!(
            named,
            [shown[field].as_str().expect("a text")],
            "{command:?}"
        );
    }
    let rotate = args("rotate acme-eu globex-retail --include-recent --yes");
    lines(&rotate).await;
    let batches = lines(&["batches", "list", "-o", "name"]).await;
    let show = ["batches", "show", batches[0].as_str(), "-o", "jsonl"];
    let shown: Value = serde_json::from_str(&lines(&show).await[0]).expect("one object");
    assert_eq!(shown["batch"].to_string(), batches[0]);

    // A wide table is kept and sent on: an age would soon be wrong.
    for command in ["history", "rotations", "batches", "list"] {
        let wide = home.run(&[command, "-o", "wide"]).await.out;
        let mut rows = wide.lines().skip(1);
        let row = rows.find(|row| command == "batches" || row.contains("acme-eu"));
        let row = row.unwrap_or_else(|| panic!("{command}: {wide}"));
        assert!(row.contains(" UTC"), "{command}: {wide}");
        assert!(!wide.contains(" ago") && !wide.contains("AGE"), "{wide}");
    }
}

#[tokio::test]
async fn a_table_obeys_columns_and_colour_options() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let plain = home.run(&["list"]).await.out;
    let wide = home.run(&["list", "-o", "wide"]).await.out;
    let head = wide.lines().next().expect("a line");
    for name in ["NAME", "READ", "DUE", "BY", "LABELS", "NOTE"] {
        assert!(head.contains(name), "{head}");
    }
    home.set("COLUMNS", "60");
    let narrow = home.run(&["list"]).await.out;
    let cells = |text: &str| {
        let lines = text.lines();
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    };
    assert!(cells(&plain) > 60 && cells(&narrow) <= 60, "{narrow}");
    assert_eq!(home.run(&["list", "-o", "wide"]).await.out, wide);

    let never = home.run(&["list", "--color", "never"]).await.out;
    assert_eq!(never, narrow);
    let always = home.run(&["list", "--color", "always"]).await.out;
    assert!(always.contains("\u{1b}[") && !narrow.contains('\u{1b}'));
    let wrong = home.run(&["list", "--color", "sometimes"]).await;
    assert_eq!(wrong.code, 2, "{}", wrong.err);
}
