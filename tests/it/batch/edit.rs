//! One change to many groups: what was reviewed is sent, once, and nothing else; and it can be reversed.

use std::time::Duration;

use groupdesk::{
    directory::{BatchId, BatchItem},
    domain::{
        batch::{
            BatchKind, BulkChange, Counts, EditPlan, EditSkip, Halt, ItemStatus, StopCause, Verdict,
        },
        change::DesiredFields,
        draft::{Draft, DraftFields},
        history::Ending,
        rotation::settle_window,
    },
    operations::{Failure, Operations, UnknownIdPolicy, batch::RunLimits},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Scene, binary::wait, one_at_a_time, watch};
use crate::support::{
    faults::http,
    proxy::{Gate, ProxyFault, Then},
    world::{Side, id},
};

fn set(to: &str) -> BulkChange {
    BulkChange::mapping("40", Some(to), None).expect("a change")
}

/// Groups whose mapping was sent from here: row 40 is 213.
async fn scene(count: usize) -> Scene {
    let scene = Scene::new(count).await;
    scene.world.alone(true);
    for group in &scene.groups {
        let there = scene.world.operations(Side::Testing);
        send(&there, group, group, &[("7", "1"), ("40", "213")]).await;
    }
    scene
}

async fn send(operations: &Operations, group: &str, name: &str, mapping: &[(&str, &str)]) {
    let rows = mapping.iter();
    let wanted = DesiredFields {
        name: Some(name.to_owned()),
        mapping: Some(rows.map(|(k, v)| ((*k).into(), (*v).into())).collect()),
        properties: Some(serde_json::Map::new()),
    };
    let known = UnknownIdPolicy::KnownOnly;
    let sent = operations.update(&id(group), &wanted, &wanted, known).await;
    assert_eq!(sent.expect("updated").ending, Ending::Updated);
}

impl Scene {
    async fn plan_edit(&self, change: BulkChange) -> EditPlan {
        let ids: Vec<_> = self.groups.iter().map(|group| id(group)).collect();
        let plan = self.ana.plan_edit(change, &ids, false).await;
        plan.expect("readable")
    }

    async fn begin_edit(&self, plan: &EditPlan) -> BatchId {
        let begun = self.ana.begin_edit(plan, Some("a new source".into())).await;
        begun.expect("durable")
    }

    fn row(&self, group: &str) -> Value {
        let stored = self.world.stored(Side::Testing, group);
        stored.mapping.get("40").cloned().unwrap_or_default()
    }

    async fn statuses(&self, batch: BatchId) -> Vec<ItemStatus> {
        let items = self.items(batch).await;
        items.iter().map(BatchItem::status).collect()
    }
}

#[tokio::test]
async fn each_group_is_sent_once_with_its_whole_mapping_and_reversed() {
    let scene = scene(3).await;
    let known = scene.world.operations(Side::Testing);
    send(&known, "g001", "g001", &[("40", "214"), ("9", "2")]).await;
    let plan = scene.plan_edit(set("214")).await;
    assert_eq!(plan.counts(), (2, 1, 0));
    let batch = scene.begin_edit(&plan).await;
    let (ended, report) = watch(scene.run(batch, RunLimits::default()).await).await;
    assert_eq!((report.halt, report.counts.confirmed), (None, 2));
    assert!(
        ended.iter().all(|one| one.outcome == "updated"),
        "{ended:?}"
    );
    // Each is read before, and its answer confirms it.
    assert_eq!((scene.proxy.count("GET"), scene.proxy.count("PUT")), (2, 2));
    for body in scene.proxy.bodies("PUT") {
        assert_eq!(body["mapping"], json!({"7": "1", "40": "214"}));
    }
    let found = scene.ana.batch(batch).await.expect("readable");
    assert_eq!(found.kind, BatchKind::Edit(set("214")));
    assert!(found.ended_at.is_some());
    let history = scene.ana.history(Some(id("g000")), Some(1)).await;
    let line = &history.expect("readable")[0].value;
    assert_eq!(
        line.changes,
        Some(json!({"mapping": {"40": ["213", "214"]}}))
    );
    let (ended, _) = watch(scene.run(batch, RunLimits::default()).await).await;
    assert_eq!((ended.len(), scene.proxy.count("PUT")), (0, 2));

    // Values set by others since then stay, and rows that already had the wanted value are not touched.
    send(&known, "g002", "g002", &[("7", "1"), ("40", "999")]).await;
    let reverse = scene.ana.plan_reverse_edit(batch, false).await;
    let reverse = reverse.expect("readable").expect("it edits");
    assert_eq!(reverse.counts(), (1, 0, 1));
    assert_eq!(reverse.rows[0].after.as_deref(), Some("213"));
    assert_eq!(reverse.rows[1].verdict, Verdict::Skipped(EditSkip::Other));
    let back = scene.begin_edit(&reverse).await;
    let (_, report) = watch(scene.run(back, RunLimits::default()).await).await;
    assert_eq!(report.counts.confirmed, 1);
    let rows = ["g000", "g001", "g002"].map(|group| scene.row(group));
    assert_eq!(rows, [json!("213"), json!("214"), json!("999")]);
    let kind = scene.ana.batch(back).await.expect("readable").kind;
    assert_eq!(kind, BatchKind::Edit(reverse.change));
}

#[tokio::test]
async fn a_group_that_changed_since_the_review_is_skipped() {
    let scene = scene(4).await;
    // Otherwise another name would be an alarm, because the world states that nobody else writes.
    scene.world.alone(false);
    let plan = scene.plan_edit(set("214")).await;
    let batch = scene.begin_edit(&plan).await;
    // Changed since: a name by somebody unseen, a row from here, and one row that already has the new value.
    let bob = scene.world.other_directory("bob");
    let bob = scene.world.installation(Side::Testing).on(&bob).by("bob");
    let bob = bob.operations();
    let read = bob.look_up(&id("g000"), UnknownIdPolicy::Exists).await;
    read.expect("it is there");
    send(&bob, "g000", "Renamed", &[("40", "213")]).await;
    let known = scene.world.operations(Side::Testing);
    send(&known, "g001", "g001", &[("7", "2"), ("40", "213")]).await;
    let (ended, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    let expected = [
        ItemStatus::NotApplied,
        ItemStatus::NotApplied,
        ItemStatus::Confirmed,
        ItemStatus::Confirmed,
    ];
    assert_eq!(scene.statuses(batch).await, expected);
    assert_eq!(report.halt, None, "this says nothing about the service");
    let note = ended[0].note.as_deref().expect("why");
    assert!(
        note.starts_with("skipped: ") && note.contains("name"),
        "{note}"
    );
    assert_eq!(scene.proxy.count("PUT"), 2);
    // What was not applied can be planned again, with a new review.
    let again = scene.ana.plan_edit_again(batch, false).await;
    let again = again.expect("readable").expect("it edits");
    assert_eq!(again.counts(), (2, 0, 0));
    assert_eq!(again.rows[0].name.as_deref(), Some("Renamed"));
}

#[tokio::test]
async fn a_stopped_edit_is_resumed_and_sends_the_rest() {
    let scene = scene(3).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let gate = Gate::new();
    scene.proxy.next("PUT", ProxyFault::passed().held(&gate));
    let run = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    run.control.stop(StopCause::TerminalLost);
    gate.open();
    let (_, report) = watch(run).await;
    assert_eq!(report.halt, Some(Halt::Asked(StopCause::TerminalLost)));
    assert_eq!((report.counts.confirmed, report.counts.not_started), (1, 2));
    let left = scene.ana.batch(batch).await.expect("readable");
    assert_eq!(left.ended_at, None);
    let both = tokio::join!(
        scene.run(batch, one_at_a_time()),
        scene.run(batch, one_at_a_time())
    );
    tokio::join!(watch(both.0), watch(both.1));
    let counts = scene.ana.batch(batch).await.expect("readable").counts;
    let all = Counts {
        confirmed: 3,
        ..Counts::default()
    };
    assert_eq!(counts, all);
    assert_eq!(scene.proxy.count("PUT"), 3, "two runs, each group once");
}

#[tokio::test]
async fn two_runs_report_each_group_as_the_journal_does() {
    let scene = scene(2).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let gate = Gate::new();
    scene.proxy.next("PUT", ProxyFault::passed().held(&gate));
    let slow = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    let fast = scene.run(batch, one_at_a_time()).await;
    let (of_fast, _) = watch(fast).await;
    gate.open();
    let (of_slow, _) = watch(slow).await;
    let confirmed = [ItemStatus::Confirmed, ItemStatus::Confirmed];
    assert_eq!(scene.statuses(batch).await, confirmed);
    let told: Vec<_> = of_slow.iter().map(|ended| ended.status).collect();
    assert_eq!(told, confirmed, "{of_slow:?}");
    assert_eq!(
        of_slow[1].note.as_deref(),
        Some("sent by another run of this batch")
    );
    let skipped = of_fast
        .iter()
        .find(|ended| ended.status == ItemStatus::NotApplied);
    assert!(skipped.is_none(), "it is being sent: {skipped:?}");
    assert_eq!(scene.proxy.count("PUT"), 2);
}

#[tokio::test]
async fn the_rest_of_an_edit_is_checked_by_the_rules_of_edits() {
    let scene = scene(4).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let known = scene.world.operations(Side::Testing);
    send(&known, "g000", "g000", &[("7", "1"), ("40", "999")]).await;
    send(&known, "g001", "g001", &[("7", "1"), ("40", "214")]).await;
    let resumption = scene
        .ana
        .plan_resumption(batch, true)
        .await
        .expect("readable");
    assert_eq!(resumption.left(), 4);
    assert_eq!(resumption.ready, [id("g002"), id("g003")]);
    assert_eq!(resumption.unverified, None, "nobody else writes");
    scene.world.alone(false);
    let unread = scene
        .ana
        .plan_resumption(batch, true)
        .await
        .expect("readable");
    let (blind, oldest) = unread
        .unverified
        .expect("others may have changed it unseen");
    assert_eq!((blind, oldest.field.as_str()), (2, "mapping"));
    scene.world.alone(true);
    let [(changed, why), (same, already)] = &resumption.refused[..] else {
        panic!("{:?}", resumption.refused);
    };
    assert_eq!((changed, same), (&id("g000"), &id("g001")));
    assert!(why.starts_with("changed since its review: "), "{why}");
    assert_eq!(already, "already set, not sent");
    // And that is what the run does.
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    let rows = ["g000", "g001", "g002"].map(|group| scene.row(group));
    assert_eq!(rows, [json!("999"), json!("214"), json!("214")]);
    assert_eq!(report.counts.not_started, 0);
    assert_eq!(scene.proxy.count("PUT"), 2);
}

#[tokio::test]
async fn stale_groups_are_left_out_of_a_resumption_unless_included() {
    let scene = scene(2).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    scene.world.alone(false);
    let later = Timestamp::now() + Duration::from_hours(24 * 31);
    let later = scene.world.installation(Side::Testing).at(later);
    let later = later.through(scene.proxy.base_url()).operations();
    let without = later.plan_resumption(batch, false).await.expect("readable");
    assert_eq!(without.old, [id("g000"), id("g001")]);
    assert_eq!((without.left(), without.ready.len()), (0, 0));
    let run = later.run_batch_without(batch, &without.old[..1], one_at_a_time(), None);
    let (_, report) = watch(run.await.expect("it begins")).await;
    assert_eq!(report.counts.not_started, 1);
    assert_eq!(scene.proxy.count("PUT"), 1);
    let with = later.plan_resumption(batch, true).await.expect("readable");
    assert_eq!(
        (&with.old[..], &with.ready[..]),
        (&[][..], &[id("g000")][..])
    );
}

#[tokio::test]
async fn a_value_that_an_open_change_may_have_set_is_not_replaced() {
    let scene = scene(2).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let bob = scene.world.installation(Side::Testing).by("bob");
    let bob = bob.through(scene.proxy.base_url()).operations();
    scene.proxy.next("PUT", ProxyFault::applied(Then::Drop));
    let wanted = DesiredFields {
        mapping: Some([("40".into(), "999".into())].into()),
        ..DesiredFields::default()
    };
    let known = UnknownIdPolicy::KnownOnly;
    let lost = bob.update(&id("g000"), &wanted, &wanted, known).await;
    assert!(matches!(lost, Err(Failure::Unknown { .. })), "{lost:?}");
    let later = Timestamp::now() + settle_window(scene.ana.profile().timeout);
    let later = scene.world.installation(Side::Testing).at(later);
    let later = later.through(scene.proxy.base_url()).operations();
    let resumption = later.plan_resumption(batch, true).await.expect("readable");
    assert_eq!(resumption.ready, [id("g001")]);
    let run = later.run_batch(batch, one_at_a_time(), None).await;
    let (ended, report) = watch(run.expect("it begins")).await;
    let expected = [ItemStatus::NotApplied, ItemStatus::Confirmed];
    assert_eq!(scene.statuses(batch).await, expected);
    assert_eq!(report.halt, None);
    let note = ended[0].note.as_deref().expect("why");
    assert!(
        note.starts_with("skipped: ") && note.contains("may have taken effect"),
        "{note}"
    );
    let rows = ["g000", "g001"].map(|group| scene.row(group));
    assert_eq!(rows, [json!("999"), json!("214")]);
    assert_eq!(scene.proxy.count("PUT"), 2, "one of bob, one of the batch");
}

#[tokio::test]
async fn a_busy_service_is_asked_again_and_a_refusal_ends_the_item() {
    let scene = scene(2).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let answer = |status| {
        let headers = ["Content-Type: application/json", "Retry-After: 0"];
        let body = json!({"success": 0, "error": "no"}).to_string();
        ProxyFault::swallowed(Then::Instead(http(status, &headers, body)))
    };
    scene.proxy.next("PUT", answer("429 Too Many Requests"));
    scene.proxy.next("PUT", ProxyFault::passed());
    scene.proxy.next("PUT", answer("403 Forbidden"));
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    let expected = [ItemStatus::Confirmed, ItemStatus::NotApplied];
    assert_eq!(scene.statuses(batch).await, expected);
    assert_eq!(report.counts.planned(), 2);
    assert_eq!(scene.proxy.count("PUT"), 3);
}

#[tokio::test]
async fn an_unknown_edit_is_settled_by_reading_and_never_sent_again() {
    let scene = scene(2).await;
    let change = BulkChange::property("tier", Some("\"gold\""), None).expect("a change");
    let batch = scene.begin_edit(&scene.plan_edit(change).await).await;
    scene.proxy.next("PUT", ProxyFault::applied(Then::Drop));
    scene.proxy.next("PUT", ProxyFault::swallowed(Then::Drop));
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert_eq!(report.counts.unknown, 2);
    let later = Timestamp::now() + settle_window(scene.ana.profile().timeout);
    let later = scene.world.installation(Side::Testing).at(later);
    let later = later.with(|profile| profile.read_properties = true);
    let later = later.through(scene.proxy.base_url()).operations();
    let run = later.run_batch(batch, one_at_a_time(), None).await;
    let (ended, report) = watch(run.expect("it begins")).await;
    assert!(ended.iter().all(|one| one.settled), "{ended:?}");
    let expected = [ItemStatus::Confirmed, ItemStatus::NotApplied];
    assert_eq!(scene.statuses(batch).await, expected);
    assert_eq!(report.counts.unknown, 0);
    assert_eq!(scene.proxy.count("PUT"), 2);
}

#[tokio::test]
async fn groups_with_drafts_and_unknown_groups_are_left_out_and_limits_hold() {
    let scene = scene(2).await;
    scene
        .world
        .seed(Side::Testing, "met", "met", &[], &json!({}));
    let known = scene.world.operations(Side::Testing);
    let met = known.look_up(&id("met"), UnknownIdPolicy::Exists).await;
    met.expect("known now");
    let draft = Draft {
        user_group_id: id("g001"),
        creating: false,
        loaded_from: None,
        typed: DraftFields::default(),
        base: DesiredFields::default(),
        base_at: Timestamp::now(),
        changed_at: Timestamp::now(),
    };
    known.keep_draft(draft, None).await.expect("kept");
    let ids = ["g000", "g001", "met", "nobody"].map(id);
    let plan = known.plan_edit(set("214"), &ids, false).await;
    let plan = plan.expect("readable");
    assert_eq!(plan.counts(), (1, 0, 3));
    let said = plan.rows.iter().map(|row| match &row.verdict {
        Verdict::Skipped(why) => why.to_string(),
        _ => String::new(),
    });
    let said: Vec<_> = said.collect();
    let expected = [
        "",
        "it has a draft (yours, <1d)",
        "mapping unknown",
        "not in the directory",
    ];
    assert_eq!(said, expected);

    let installation = scene.world.installation(Side::Testing);
    let plan = scene.plan_edit(set("214")).await;
    let read_only = installation
        .clone()
        .with(|profile| profile.read_only = true);
    let refused = read_only.operations().begin_edit(&plan, None).await;
    assert!(
        matches!(refused, Err(Failure::ReadOnly { .. })),
        "{refused:?}"
    );
    let none = installation
        .with(|profile| profile.max_bulk = 0)
        .operations();
    let refused = none.begin_edit(&plan, None).await;
    assert!(
        matches!(refused, Err(Failure::Forbidden { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn the_command_line_lists_shows_and_resumes_a_batch_of_edits() {
    let scene = scene(3).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let number = batch.0.to_string();
    let run = async |arguments: &[&str]| {
        let child = scene.program(arguments).spawn().expect("it starts");
        let ended = wait(child).await;
        let values = serde_json::Deserializer::from_slice(&ended.stdout).into_iter::<Value>();
        let values = values.collect::<Result<Vec<_>, _>>().expect("JSON");
        let err = String::from_utf8(ended.stderr).expect("UTF-8");
        (ended.status.code(), values, err)
    };
    let (code, listed, _) =
        run(&["batches", "list", "--unfinished", "--json", "-P", "testing"]).await;
    let listed = &listed[0][0];
    assert_eq!((code, &listed["operation"]), (Some(0), &json!("edit")));
    assert_eq!(listed["not_started"], 3);
    assert_eq!(scene.row("g000"), "213");
    let resume = [
        "batches", "resume", &number, "--yes", "--json", "-P", "testing",
    ];
    let (code, lines, err) = run(&resume).await;
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(lines.last().expect("a sum")["confirmed"], 3);
    for group in &scene.groups {
        assert_eq!(scene.row(group), "214", "{group}");
    }
    let sent = scene.proxy.count("PUT");
    let (code, ..) = run(&resume).await;
    assert_eq!(
        (code, scene.proxy.count("PUT")),
        (Some(0), sent),
        "nothing is sent twice"
    );
    let (_, shown, _) = run(&["batches", "show", &number, "--json", "-P", "testing"]).await;
    assert_eq!(shown[0]["items"][2]["outcome"], "updated");
}
