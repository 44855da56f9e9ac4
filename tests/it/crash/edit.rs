//! A bulk edit killed at every point of an update and between two, and resumed: each group is sent at most once, an
//! edit not known to have arrived is reported so, and the rest is done.

use super::*;

const SENT_DURABLE: u8 = 3;
const ANSWERED: u8 = 5;
const OUTCOME_DURABLE: u8 = 6;
const BETWEEN: u8 = 12;
/// In seconds; follows from the short timeouts used here.
const HORIZON: u64 = 60;

/// Runs an installation's bulk edit of these groups.
pub(super) async fn begin(installation: &Child, groups: &[String]) {
    let operations = installation.operations(Clock::Fixed(installation.at(0)));
    let ids: Vec<_> = groups.iter().map(|group| id(group)).collect();
    let change = BulkChange::mapping("40", Some("214"), Some("213")).expect("a change");
    let plan = operations.plan_edit(change, &ids, true).await;
    let begun = operations
        .begin_edit(&plan.expect("readable"), None, BatchOptions::default())
        .await;
    begun.expect("durable");
    resume(installation, installation.at(0)).await;
}

/// Their mapping is known, because it was sent from here.
async fn make_known(scene: &Scene<'_>, directory: &Directory, groups: &[String]) {
    let operations = hand_off_operations(scene.order(Task::Rotate), Vec::new(), directory);
    for group in groups.iter().map(|group| id(group)) {
        let exists = UnknownIdPolicy::Exists;
        operations.look_up(&group, exists).await.expect("known now");
        let wanted = DesiredFields {
            name: Some(group.as_str().to_owned()),
            mapping: Some([("40".to_owned(), "213".to_owned())].into_iter().collect()),
            properties: Some(serde_json::Map::new()),
        };
        let known = UnknownIdPolicy::KnownOnly;
        let sent = operations.update(&group, &wanted, &wanted, known).await;
        sent.expect("updated");
    }
}

async fn work(order: &Order) -> bool {
    let mut installation = Process::start(order);
    while installation.next_report().await.is_some() {}
    installation.is_killed().await
}

/// Kills the run at a point the second time it is passed, then resumes it. Checks what must hold; returns the counts.
async fn play(stage: &Stage, kill: u8) -> Counts {
    let scene = stage.scene().await;
    let groups: Vec<_> = ["a", "b", "c"].map(|name| scene.and(name)).into();
    let directory = Directory::open(&scene.directory).expect("a directory");
    make_known(&scene, &directory, &groups).await;
    let before = scene.proxy.count("PUT");
    let order = |task, kill| Order {
        kill,
        passes: 1,
        timeout: Duration::from_secs(20),
        ..scene.order(task)
    };
    assert!(
        work(&order(Task::Edit(groups.clone()), Some(kill))).await,
        "{kill}"
    );
    let place = place(&directory, Side::Testing.name());
    let batches = directory.batches(place).await.expect("readable");
    assert_eq!(batches[0].ended_at, None, "{kill}");
    // First too early to settle what was on its way, then late enough.
    let rest = Task::Resume(vec![1, 3 * HORIZON, 5 * HORIZON]);
    assert!(!work(&order(rest, None)).await);
    let items = directory.batch_items(place, batches[0].id).await;
    let items = items.expect("readable");
    let bodies = scene.proxy.bodies("PUT").split_off(before);
    for item in &items {
        let group = item.user_group_id.as_str();
        let sent = bodies.iter().filter(|body| body["user_group_id"] == group);
        let sent = sent.count();
        assert!(sent <= 1, "{kill}: {group} was sent {sent} times");
        let row = stage.world.stored(Side::Testing, group).mapping["40"].clone();
        match item.status() {
            ItemStatus::Confirmed => assert_eq!((sent, row), (1, json!("214")), "{kill}"),
            ItemStatus::Unknown => assert_eq!(sent == 1, row == json!("214"), "{kill}"),
            other => panic!("{kill}: {other:?} {item:?}"),
        }
    }
    let batch = directory.batches(place).await.expect("readable");
    assert!(batch[0].ended_at.is_some(), "{kill}: {:?}", batch[0]);
    Counts::of(items.iter().map(BatchItem::status))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_bulk_edit_is_resumed() {
    let stage = Stage::new().await;
    for (kill, unknown) in [
        (SENT_DURABLE, 1),
        (ANSWERED, 1),
        (OUTCOME_DURABLE, 0),
        (BETWEEN, 0),
    ] {
        let counts = play(&stage, kill).await;
        let expected = Counts {
            confirmed: 3 - unknown,
            unknown,
            ..Counts::default()
        };
        assert_eq!(counts, expected, "{kill}");
    }
}
