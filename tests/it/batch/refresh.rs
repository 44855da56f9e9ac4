//! The shipped binary reads all known groups again: what others changed, what had vanished, and that no group is
//! created needlessly.

use super::*;

mod running;

impl Scene {
    /// Runs `get --refresh-all --json` with more options. Returns the exit code, the lines of the groups, the sum, and
    /// standard error.
    async fn refresh(&self, more: &[&str]) -> (i32, Vec<Value>, Value, String) {
        let all = [&["get", "--refresh-all", "--json"], more].concat();
        let child = self.program(&all).spawn().expect("it starts");
        let (code, mut lines, err) = read(wait(child).await);
        let sum = lines.pop().unwrap_or_default();
        (code, lines, sum, err)
    }

    async fn human(&self, more: &[&str]) -> (i32, String, String) {
        let all = [&["get", "--refresh-all"], more].concat();
        let output = wait(self.program(&all).spawn().expect("it starts")).await;
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let (out, err) = (text(output.stdout), text(output.stderr));
        (output.status.code().expect("it ended"), out, err)
    }

    /// Somebody with another installation and a directory of their own.
    fn li(&self) -> Operations {
        let directory = self.world.other_directory("li");
        let installation = self.world.installation(Side::Testing).on(&directory).by(LI);
        installation.operations()
    }

    /// Somebody else renames the group.
    async fn rename_elsewhere(&self, group: &str, name: &str) {
        let li = self.li();
        let there = li.look_up(&id(group), UnknownIdPolicy::Exists).await;
        let base = DesiredFields::of(&there.expect("found").group);
        let wanted = DesiredFields {
            name: Some(name.into()),
            ..base.clone()
        };
        let done = li
            .update(&id(group), &base, &wanted, UnknownIdPolicy::KnownOnly)
            .await;
        done.expect("updated");
    }

    /// Makes the answer to the next read say that it created the group.
    fn vanished(&self) {
        let created = |answer: &mut Value| answer["new_user_group"] = true.into();
        self.proxy.next("GET", ProxyFault::change(created));
    }
}

const COUNTS: [&str; 9] = [
    "unchanged",
    "changed",
    "first_seen",
    "created_again",
    "created",
    "wrong_environment",
    "failed",
    "done_before",
    "not_started",
];

/// Checks that the counts add up, that the named ones have these values, and that all others are zero.
fn assert_sum(sum: &Value, named: &[(&str, u64)]) {
    let count = |key: &str| sum[key].as_u64().unwrap_or_else(|| panic!("{key}: {sum}"));
    let all: u64 = COUNTS.into_iter().map(count).sum();
    assert_eq!(all, count("planned"), "{sum}");
    for key in COUNTS {
        let expected = named.iter().find(|(name, _)| *name == key);
        assert_eq!(count(key), expected.map_or(0, |(_, n)| *n), "{key}: {sum}");
    }
}

fn line_of<'a>(lines: &'a [Value], group: &str) -> &'a Value {
    let mut lines = lines.iter();
    lines
        .find(|line| line["user_group_id"] == group)
        .unwrap_or_else(|| panic!("{group} has a line"))
}

#[tokio::test]
async fn changes_by_others_are_reported_by_field() {
    let scene = Scene::new(5).await;
    scene.rename_elsewhere("g001", "Renamed").await;
    let (li, group) = (scene.li(), id("g002"));
    let rotated = li.rotate(&group, None, UnknownIdPolicy::Exists);
    Box::pin(rotated).await.expect("rotated");
    let (code, lines, sum, err) = scene.refresh(&[]).await;
    assert_eq!(code, 0, "{err}");
    assert!(err.starts_with("TESTING testing http"), "{err}");
    assert_has(&err, "5 to read");
    assert_sum(&sum, &[("unchanged", 3), ("changed", 2)]);
    assert_eq!(
        (&sum["never_seen"], &sum["stopped"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(lines.len(), 5);
    for (group, outcome, changed) in [
        ("g000", "unchanged", json!([])),
        ("g001", "changed", json!(["name"])),
        ("g002", "changed", json!(["token"])),
    ] {
        let line = line_of(&lines, group);
        assert_eq!(
            (&line["outcome"], &line["changed"]),
            (&json!(outcome), &changed)
        );
    }
    let other = line_of(&lines, "g002");
    assert_ne!(other["previous_fingerprint"], other["fingerprint"]);
    // The change is known now; only a differing group is a line for a person.
    scene.rename_elsewhere("g004", "Again").await;
    let (code, out, err) = scene.human(&[]).await;
    assert_eq!(code, 0, "{err}");
    let [group, why, sum] = out.lines().collect::<Vec<_>>()[..] else {
        panic!("{out}");
    };
    assert_eq!(group, "g004 changed: name");
    assert_has(why, "the name was changed elsewhere");
    assert_eq!(sum, "4 unchanged, 1 changed of 5");
    assert!(err.lines().any(|line| line == "5 of 5"), "{err}");
    assert!(!err.contains(['\r', '\u{1b}']), "{err:?}");
    assert!(scene.proxy.methods().iter().all(|method| method == "GET"));
}

#[tokio::test]
async fn a_vanished_group_stops_the_read_and_the_first_is_read_alone() {
    let scene = Scene::new(6).await;
    for group in ["g000", "g001"] {
        scene.world.vanish(Side::Testing, group);
    }
    let (code, lines, sum, err) = scene.refresh(&["--concurrency", "6"]).await;
    assert_eq!(code, 3, "{err}");
    assert_eq!(scene.proxy.count("GET"), 1, "no second one is created");
    assert_sum(&sum, &[("created_again", 1), ("not_started", 5)]);
    assert_eq!(lines[0]["outcome"], "created_again");
    assert_has(lines[0]["warnings"][0].as_str().expect("one"), "ALARM");
    assert_has(sum["stopped"].as_str().expect("why"), "g000");
    assert_has(&err, "CREATED");
    assert_has(&err, "--resume");
    let history = scene.ana.history(Some(id("g000")), None).await;
    let last = &history.expect("readable")[0].value;
    assert_eq!(last.ending.as_str(), "created_by_get");
    // After resolving the alarm the read goes on; the next group had vanished, too.
    let (code, lines, sum, _) = scene.refresh(&["--resume"]).await;
    assert_eq!((code, scene.proxy.count("GET")), (3, 2));
    assert_eq!(lines[0]["user_group_id"], "g001");
    let expected = [("created_again", 1), ("done_before", 1), ("not_started", 4)];
    assert_sum(&sum, &expected);
    let (code, _, sum, err) = scene.refresh(&["--resume"]).await;
    assert_eq!(code, 0, "{err}");
    assert_has(&err, "resuming the refresh started");
    assert_sum(&sum, &[("unchanged", 4), ("done_before", 2)]);
    let (code, out, err) = scene.human(&["--resume"]).await;
    assert_eq!((code, &*out), (3, ""), "nothing is unfinished: {err}");
    assert_eq!(scene.proxy.count("GET"), 6);
}

#[tokio::test]
async fn in_a_wrong_environment_at_most_one_group_is_created() {
    let mut scene = Scene::new(8).await;
    let other = World::new().await;
    let key = other.new_key("testing", Some("Testing"));
    let file = scene.world.folder().join("keys/testing");
    std::fs::write(file, key).expect("written");
    scene.proxy = FaultyProxy::before(other.address()).await;
    let (code, _, sum, err) = scene.refresh(&["--concurrency", "8"]).await;
    assert_eq!(code, 3, "{err}");
    assert_sum(&sum, &[("created_again", 1), ("not_started", 7)]);
    assert_eq!(scene.proxy.methods(), ["GET"]);
    assert_eq!(other.stored(Side::Testing, "g000").name, "g000");
}

#[tokio::test]
async fn continuing_past_vanished_groups_must_be_confirmed() {
    let scene = Scene::new(4).await;
    let (code, _, err) = scene.human(&["--keep-going"]).await;
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("add --yes"), "{err}");
    assert_eq!(scene.proxy.count("GET"), 0);
    scene.vanished();
    scene.proxy.next("GET", ProxyFault::passed());
    scene.vanished();
    let (code, _, sum, err) = scene
        .refresh(&args("--keep-going --yes --concurrency 1"))
        .await;
    assert_eq!(code, 3, "{err}");
    assert_sum(&sum, &[("unchanged", 2), ("created_again", 2)]);
    assert_eq!(sum["stopped"], Value::Null);
}

#[tokio::test]
async fn another_environment_stops_the_read_whatever_the_options() {
    let scene = Scene::new(3).await;
    // Of the first read nothing is learned, so that group is read again.
    for (is_new, options) in [(true, "--keep-going --yes"), (false, "--resume")] {
        let customer = move |answer: &mut Value| {
            answer["new_user_group"] = is_new.into();
            answer["user_group"]["api_environment_tag"] = "Customer".into();
        };
        scene.proxy.next("GET", ProxyFault::change(customer));
        let (code, lines, sum, err) = scene.refresh(&args(options)).await;
        assert_eq!((code, lines.len()), (3, 1), "{err}");
        assert_eq!(sum["not_started"], 2, "{sum}");
        if !is_new {
            assert_sum(&sum, &[("wrong_environment", 1), ("not_started", 2)]);
        }
    }
}

#[tokio::test]
async fn ids_known_only_from_a_file_are_left_out_unless_asked_for() {
    let scene = Scene::new(2).await;
    std::fs::write(
        scene.world.folder().join("ids.csv"),
        "user_group_id\nnever-1\nnever-2\n",
    )
    .expect("written");
    let import = scene.program(&["import", "ids.csv"]).spawn();
    assert!(wait(import.expect("it starts")).await.status.success());
    let (code, lines, sum, err) = scene.refresh(&[]).await;
    assert_eq!((code, lines.len()), (0, 2), "{err}");
    assert_has(&err, "never seen in the service, known only from files: 2");
    assert_sum(&sum, &[("unchanged", 2)]);
    assert_eq!(sum["never_seen"], 2);

    let (code, _, err) = scene.human(&["--exists"]).await;
    assert_eq!(code, 3, "it could create them: {err}");
    let near = "\"never-1\" was never seen in the service; similar known IDs: \"never-2\"";
    assert_has(&err, near);
    let (code, _, err) = scene.human(&["--exists", "--yes", "--read-only"]).await;
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("read-only"), "{err}");
    assert_eq!(scene.proxy.count("GET"), 2);
    scene
        .world
        .seed(Side::Testing, "never-1", "There", &[], &json!({}));
    let more = ["--exists", "--yes", "--concurrency", "1"];
    let (code, lines, sum, err) = scene.refresh(&more).await;
    assert_eq!(code, 3, "{err}");
    assert_sum(&sum, &[("unchanged", 2), ("first_seen", 1), ("created", 1)]);
    assert_eq!(line_of(&lines, "never-1")["outcome"], "first_seen");
    assert_eq!(line_of(&lines, "never-2")["outcome"], "created");
    // A read-only profile may read, and nothing that may create.
    assert_eq!(scene.refresh(&["--read-only"]).await.0, 0);
    let (code, _, err) = scene.human(&["--read-only", "--keep-going", "--yes"]).await;
    assert_eq!(code, 3, "{err}");
}

#[tokio::test]
async fn the_command_that_resumes_a_filtered_read_has_its_filter() {
    let scene = Scene::new(2).await;
    scene.vanished();
    let (code, _, err) = scene.human(&["--filter", "g0 g00"]).await;
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("--resume --filter 'g0 g00'"), "{err}");
}

#[tokio::test]
async fn contradicting_options_are_refused_and_a_dry_run_sends_nothing() {
    let scene = Scene::new(2).await;
    for (line, code) in [
        ("get", 2),
        ("get --resume", 2),
        ("get g000 --refresh-all", 2),
        ("get g000 --resume", 2),
        ("get --filter g --resume", 2),
        ("get --refresh-all --reveal", 2),
        ("get --refresh-all --token-out x", 2),
        ("get --refresh-all --concurrency 0", 2),
        ("get --refresh-all --rate 0/s", 2),
        ("get --refresh-all --resume", 3),
    ] {
        let (got, said) = run(scene.program(&args(line))).await;
        assert_eq!(got, code, "{line}: {said}");
    }
    let (code, out, err) = scene.human(&["--dry-run", "--keep-going"]).await;
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("would send 2 GET http"), "{out}");
    let (_, out, _) = scene.human(&["--dry-run", "--json"]).await;
    let plan: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&plan["to_read"], &plan["dry_run"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(scene.proxy.methods(), [""; 0]);
    let open = scene.ana.open_refresh("").await.expect("readable");
    assert!(open.is_none());
}
