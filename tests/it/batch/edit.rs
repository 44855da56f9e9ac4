//! One change to many groups: what was reviewed is sent, once, and nothing else; and it can be reversed.

use super::*;

pub(super) fn set(to: &str) -> BulkChange {
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

pub(super) async fn send(
    operations: &Operations,
    group: &str,
    name: &str,
    mapping: &[(&str, &str)],
) {
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
        let begun = self
            .ana
            .begin_edit(plan, Some("a new source".into()), BatchOptions::default())
            .await;
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
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    // Changed since: a name by somebody unseen, and a row from here.
    let bob = scene.world.other_directory("bob");
    let bob = scene.world.installation(Side::Testing).on(&bob).by("bob");
    let bob = bob.operations();
    let read = bob.look_up(&id("g000"), UnknownIdPolicy::Exists).await;
    read.expect("it is there");
    send(&bob, "g000", "Renamed", &[("40", "213")]).await;
    let known = scene.world.operations(Side::Testing);
    send(&known, "g001", "g001", &[("7", "2"), ("40", "213")]).await;
    let (ended, report) = scene.finish(batch).await;
    let (left, done) = (ItemStatus::NotApplied, ItemStatus::Confirmed);
    assert_eq!(scene.statuses(batch).await, [left, left, done, done]);
    assert_eq!(report.halt, None, "this says nothing about the service");
    assert_skipped(&ended[0], "name");
    assert_eq!(scene.proxy.count("PUT"), 2);
    // What was not applied can be planned again, with a new review.
    let again = scene.ana.plan_edit_again(batch, false).await;
    let again = again.expect("readable").expect("it edits");
    assert_eq!(again.counts(), (2, 0, 0));
    assert_eq!(again.rows[0].name.as_deref(), Some("Renamed"));
}

fn assert_skipped(one: &Ended, why: &str) {
    let note = one.note.as_deref().expect("why");
    assert!(note.starts_with("skipped: "), "{note}");
    assert_has(note, why);
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
    tokio::join!(scene.finish(batch), scene.finish(batch));
    let counts = scene.ana.batch(batch).await.expect("readable").counts;
    assert_eq!((counts.confirmed, counts.planned()), (3, 3));
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
    let (of_fast, _) = scene.finish(batch).await;
    gate.open();
    let (of_slow, _) = watch(slow).await;
    let confirmed = [ItemStatus::Confirmed, ItemStatus::Confirmed];
    assert_eq!(scene.statuses(batch).await, confirmed);
    let told: Vec<_> = of_slow.iter().map(|ended| ended.status).collect();
    assert_eq!(told, confirmed, "{of_slow:?}");
    let note = of_slow[1].note.as_deref();
    assert_eq!(note, Some("sent by another run of this batch"));
    let is_skipped = |one: &Ended| one.status == ItemStatus::NotApplied;
    assert!(
        !of_fast.iter().any(is_skipped),
        "it is being sent: {of_fast:?}"
    );
    assert_eq!(scene.proxy.count("PUT"), 2);
}

#[tokio::test]
async fn the_rest_of_an_edit_is_checked_by_the_rules_of_edits() {
    let scene = scene(4).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let known = scene.world.operations(Side::Testing);
    send(&known, "g000", "g000", &[("7", "1"), ("40", "999")]).await;
    send(&known, "g001", "g001", &[("7", "1"), ("40", "214")]).await;
    let plan = async || {
        let resumption = scene.ana.plan_resumption(batch, true).await;
        resumption.expect("readable")
    };
    let resumption = plan().await;
    assert_eq!(resumption.left(), 4);
    assert_eq!(resumption.ready, [id("g002"), id("g003")]);
    assert_eq!(resumption.unverified, None, "nobody else writes");
    scene.world.alone(false);
    let unread = plan().await.unverified;
    let (blind, oldest) = unread.expect("others may have changed it unseen");
    assert_eq!((blind, oldest.field.as_str()), (2, "mapping"));
    scene.world.alone(true);
    let [(changed, why), (same, already)] = &resumption.refused[..] else {
        panic!("{:?}", resumption.refused);
    };
    assert_eq!((changed, same), (&id("g000"), &id("g001")));
    assert!(why.starts_with("changed since its review: "), "{why}");
    assert_eq!(already, "already set, not sent");
    // And that is what the run does.
    let (_, report) = scene.finish(batch).await;
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
    assert_is!(lost, Err(Failure::Unknown { .. }));
    let later = scene.after_the_window().operations();
    let resumption = later.plan_resumption(batch, true).await.expect("readable");
    assert_eq!(resumption.ready, [id("g001")]);
    let (ended, report) = finish_by(&later, batch).await;
    let expected = [ItemStatus::NotApplied, ItemStatus::Confirmed];
    assert_eq!(scene.statuses(batch).await, expected);
    assert_eq!(report.halt, None);
    assert_skipped(&ended[0], "may have taken effect");
    let rows = ["g000", "g001"].map(|group| scene.row(group));
    assert_eq!(rows, [json!("999"), json!("214")]);
    assert_eq!(scene.proxy.count("PUT"), 2, "one of bob, one of the batch");
}

#[tokio::test]
async fn a_busy_service_is_asked_again_and_a_refusal_ends_the_item() {
    let scene = scene(2).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let (busy, refused) = (answered("429 Too Many Requests"), answered("403 Forbidden"));
    scene.next("PUT", [busy, ProxyFault::passed(), refused]);
    let (_, report) = scene.finish(batch).await;
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
    scene.next("PUT", [ProxyFault::applied(Then::Drop), lost()]);
    let (_, report) = scene.finish(batch).await;
    assert_eq!(report.counts.unknown, 2);
    let later = scene.after_the_window();
    let later = later.with(|profile| profile.read_properties = true);
    let (ended, report) = finish_by(&later.operations(), batch).await;
    assert!(ended.iter().all(|one| one.settled), "{ended:?}");
    let expected = [ItemStatus::Confirmed, ItemStatus::NotApplied];
    assert_eq!(scene.statuses(batch).await, expected);
    assert_eq!(report.counts.unknown, 0);
    assert_eq!(scene.proxy.count("PUT"), 2);
}

#[tokio::test]
async fn groups_with_drafts_and_unknown_groups_are_left_out_and_limits_hold() {
    let scene = scene(2).await;
    let none = json!({});
    scene.world.seed(Side::Testing, "met", "met", &[], &none);
    let known = scene.world.operations(Side::Testing);
    let met = known.look_up(&id("met"), UnknownIdPolicy::Exists).await;
    met.expect("known now");
    let draft = fields::draft("g001", Timestamp::now());
    known.keep_draft(draft, None).await.expect("kept");
    let ids = ["g000", "g001", "met", "nobody"].map(id);
    let plan = known.plan_edit(set("214"), &ids, false).await;
    let plan = plan.expect("readable");
    assert_eq!(plan.counts(), (1, 0, 3));
    let said = plan.rows.iter().map(|row| match &row.verdict {
        Verdict::Skipped(why) => why.to_string(),
        _ => String::new(),
    });
    let expected = [
        "",
        "it has a draft (yours, <1d)",
        "mapping unknown",
        "not in the directory",
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected);
    let installation = || scene.world.installation(Side::Testing);
    let plan = scene.plan_edit(set("214")).await;
    let read_only = installation().with(|profile| profile.read_only = true);
    let refused = read_only
        .operations()
        .begin_edit(&plan, None, BatchOptions::default())
        .await;
    assert_is!(refused, Err(Failure::ReadOnly { .. }));
    let none = installation().with(|profile| profile.max_bulk = 0);
    let refused = none
        .operations()
        .begin_edit(&plan, None, BatchOptions::default())
        .await;
    assert_is!(refused, Err(Failure::Forbidden { .. }));
}

#[tokio::test]
async fn the_command_line_lists_shows_and_resumes_a_batch_of_edits() {
    let scene = scene(3).await;
    scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let list = args("list --unfinished --json");
    let (code, listed, err) = scene.batches(&list).await;
    let listed = &listed[0];
    assert_eq!(
        (code, &listed[0]["operation"]),
        (0, &json!("edit")),
        "{err}"
    );
    assert_eq!(listed[0]["not_started"], 3);
    let resume = args("resume 1 --yes --json");
    let (code, lines, err) = scene.batches(&resume).await;
    assert_eq!(code, 0, "{err}");
    assert_eq!(lines.last().expect("a sum")["confirmed"], 3);
    for group in &scene.groups {
        assert_eq!(scene.row(group), "214", "{group}");
    }
    let sent = scene.proxy.count("PUT");
    assert_eq!(scene.batches(&resume).await.0, 0);
    assert_eq!(scene.proxy.count("PUT"), sent, "nothing is sent twice");
    let (_, shown, _) = scene.batches(&args("show 1 --json")).await;
    assert_eq!(shown[0]["items"][2]["outcome"], "updated");
}

/// Nothing is left out unsaid: the reverse and the retry name each group whose result is unknown. What is the same change of the
/// same person is sent again once it cannot take effect any more.
#[tokio::test]
async fn groups_without_a_result_are_named_and_the_same_edit_can_be_sent_again() {
    let scene = scene(3).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    let unanswered = || ProxyFault::applied(Then::Drop);
    scene.next("PUT", [unanswered(), lost()]);
    let (_, report) = scene.finish(batch).await;
    assert_eq!((report.counts.unknown, report.counts.confirmed), (2, 1));
    let skipped = |plan: &EditPlan| {
        let skips = plan.rows.iter().filter_map(|row| match &row.verdict {
            Verdict::Skipped(why) => Some(why.to_string()),
            Verdict::Change | Verdict::Same => None,
        });
        skips.collect::<Vec<_>>()
    };
    let reverse = async |operations: &Operations, batch| {
        let plan = operations.plan_reverse_edit(batch, false).await;
        plan.expect("readable").expect("an edit")
    };
    let retry = async |operations: &Operations| {
        let plan = operations.plan_edit_again(batch, false).await;
        plan.expect("readable").expect("an edit")
    };
    // With this limit, what has no result may still take effect for 20 minutes.
    let patient = scene.world.installation(Side::Testing);
    let patient = patient.timeout(Duration::from_mins(10)).operations();
    let plan = reverse(&patient, batch).await;
    assert_eq!(plan.counts(), (1, 0, 2));
    for why in skipped(&plan) {
        assert_has(&why, "may still take effect until");
    }
    assert_eq!(retry(&patient).await.counts(), (0, 0, 2));
    let number = batch.0;
    let dry = format!("reverse {number} --dry-run --json");
    let (code, lines, err) = scene.batches(&args(&dry)).await;
    assert_eq!(
        (code, &lines[0]["skipped"][1]["user_group_id"]),
        (6, &json!("g001")),
        "{err}"
    );

    let later = scene.after_the_window().operations();
    let plan = reverse(&later, batch).await;
    assert_eq!(plan.counts(), (1, 0, 2));
    for why in skipped(&plan) {
        assert_has(&why, &format!("groupdesk batches check {number}"));
    }
    assert_eq!(retry(&later).await.counts(), (2, 0, 0));
    let ids: Vec<_> = scene.groups.iter().map(|group| id(group)).collect();
    let planned = async |operations: &Operations, to| {
        let plan = operations.plan_edit(set(to), &ids, false).await;
        plan.expect("readable")
    };
    assert_eq!(
        planned(&later, "215").await.counts(),
        (1, 0, 2),
        "another value"
    );
    let bob = scene.after_the_window().by("bob").operations();
    assert_eq!(
        planned(&bob, "214").await.counts(),
        (0, 1, 2),
        "not that of another"
    );
    let plan = planned(&later, "214").await;
    assert_eq!(plan.counts(), (2, 1, 0));
    let again = later
        .begin_edit(&plan, None, BatchOptions::default())
        .await
        .expect("durable");
    let (_, report) = finish_by(&later, again).await;
    assert_eq!(report.counts.confirmed, 2, "{report:?}");
    for group in &scene.groups {
        assert_eq!(scene.row(group), "214", "{group}");
    }
    let expected = [
        ItemStatus::Abandoned,
        ItemStatus::Abandoned,
        ItemStatus::Confirmed,
    ];
    assert_eq!(scene.statuses(batch).await, expected);
    let plan = reverse(&later, batch).await;
    assert_eq!(plan.counts(), (1, 0, 2));
    assert_has(&skipped(&plan)[0], "was abandoned");
    assert_eq!(reverse(&later, again).await.counts(), (2, 0, 0));
}

/// A group that the batch did not change is as before, or somebody else's business.
#[tokio::test]
async fn a_group_that_the_batch_did_not_change_is_not_reversed() {
    let scene = scene(3).await;
    let batch = scene.begin_edit(&scene.plan_edit(set("214")).await).await;
    scene.next(
        "PUT",
        [answered("403 Forbidden"), answered("403 Forbidden")],
    );
    let (_, report) = scene.finish(batch).await;
    assert_eq!((report.counts.not_applied, report.counts.confirmed), (2, 1));
    let there = scene.world.operations(Side::Testing);
    send(&there, "g000", "g000", &[("7", "1"), ("40", "214")]).await;
    let plan = scene.ana.plan_reverse_edit(batch, false).await;
    let plan = plan.expect("readable").expect("an edit");
    assert_eq!(plan.counts(), (1, 1, 1));
    assert_eq!(plan.rows[1].id, id("g000"));
    let Verdict::Skipped(why) = &plan.rows[1].verdict else {
        panic!("{plan:?}");
    };
    assert_has(&why.to_string(), "did not change it");
}
