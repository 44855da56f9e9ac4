//! Two hundred rotations over a network that loses three of ten requests or answers, reads included.

use std::collections::{BTreeMap, HashSet};

use groupdesk::{
    directory::RotationFilter,
    domain::{batch::Counts, rotation::State, token::Token},
    operations::batch::{BatchEvent, RunLimits},
};

use crate::support::{
    long,
    proxy::{ProxyFault, Then},
    random::Random,
    stage::{Stage, Task},
    world::{Side, id},
};

const GROUPS: usize = 200;
/// The number of prepared faults for each method; there are fewer requests.
const REQUESTS: usize = 4_000;

/// Three of ten are lost, half of them before they reach the service.
fn random_fault(dice: &mut Random) -> ProxyFault {
    if dice.below(10) >= 3 {
        return ProxyFault::passed();
    }
    match dice.below(6) {
        0 | 1 => ProxyFault::swallowed(Then::Drop),
        2 => ProxyFault::swallowed(Then::Reset),
        3 => ProxyFault::applied(Then::Drop),
        4 => ProxyFault::applied(Then::Reset),
        _ => ProxyFault::applied(Then::Half),
    }
}

async fn run_all(stage: &Stage, dice: &mut Random, ids: &[String]) -> Counts {
    let ids: Vec<_> = ids.iter().map(|group| id(group)).collect();
    let plan = stage.ana.plan_batch(&ids, false).await.expect("readable");
    let batch = stage.ana.begin_batch(&plan, None).await.expect("durable");
    for method in ["GET", "POST"] {
        for _ in 0..REQUESTS {
            stage.proxy.next(method, random_fault(dice));
        }
    }
    let pace = RunLimits {
        concurrency: 8,
        stop_after: 0,
        ..RunLimits::default()
    };
    let mut run = stage
        .ana
        .run_batch(batch, pace, None)
        .await
        .expect("it begins");
    let report = loop {
        if let BatchEvent::Finished(report) = run.progress.recv().await.expect("news") {
            break report;
        }
    };
    for method in ["GET", "POST"] {
        stage.proxy.calm(method);
    }
    let items = stage.ana.batch_items(batch).await.expect("readable");
    let counted = Counts::of(items.iter().map(groupdesk::operations::BatchItem::status));
    assert_eq!(counted, report.counts, "the counts add up");
    assert_eq!(report.counts.planned(), plan.ready.len());
    assert_eq!(report.counts.not_started, 0, "{}", report.counts);
    report.counts
}

async fn rotate_all(seed: u64) {
    let stage = Stage::new(GROUPS).await;
    let fingerprinter = stage.ana.directory().fingerprinter();
    let mut dice = Random::new(seed);
    let mut rounds = Vec::new();
    let mut left = stage.groups.clone();
    while !left.is_empty() {
        assert!(rounds.len() < 20, "it never ends: {rounds:?}");
        let counts = run_all(&stage, &mut dice, &left).await;
        assert_eq!(counts.conflict, 0, "{counts}");
        rounds.push(counts.to_string());
        let batch = stage.ana.batches().await.expect("readable")[0].id;
        let failed = stage.ana.not_applied_groups(batch).await.expect("readable");
        left = failed.iter().map(|id| id.as_str().to_owned()).collect();
    }
    // What this installation sent: no token twice, and every rotation has its intent.
    let sent: Vec<_> = stage
        .proxy
        .bodies("POST")
        .iter()
        .map(|body| body["current_token"].as_str().expect("a token").to_owned())
        .collect();
    let distinct: HashSet<_> = sent.iter().collect();
    assert_eq!(distinct.len(), sent.len(), "a token was sent twice");
    let filter = RotationFilter {
        place: Some(stage.ana.place().await.expect("readable")),
        ..RotationFilter::default()
    };
    let rows = stage
        .ana
        .directory()
        .rotations(filter.clone())
        .await
        .expect("readable");
    for token in &sent {
        let fingerprint = fingerprinter.of(&Token::new(token.clone()));
        let intents = rows
            .iter()
            .filter(|row| row.rotation.previous == fingerprint);
        assert!(
            intents.filter(|row| row.sent_at.is_some()).count() == 1,
            "one intent each"
        );
    }
    // The state of the service, and what the journal says once the network is healthy again.
    for group in &stage.groups {
        let read = Task::Get.run(&stage.ana, group).await;
        read.expect("the network is healthy");
    }
    let rows = stage
        .ana
        .directory()
        .rotations(filter)
        .await
        .expect("readable");
    let mut states: BTreeMap<String, Vec<State>> = BTreeMap::new();
    for row in &rows {
        let of_group = states
            .entry(row.user_group_id.as_str().to_owned())
            .or_default();
        of_group.push(row.rotation.state);
    }
    let mut tally: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for group in &stage.groups {
        let rotated = stage.world.rotations(Side::Testing, group);
        assert!(rotated <= 1, "{group} was rotated {rotated} times");
        let of_group = states.get(group).map_or(&[][..], Vec::as_slice);
        let done = |state: &State| matches!(state, State::Confirmed | State::Recovered);
        let ended = of_group.iter().filter(|state| done(state)).count();
        assert_eq!(ended, rotated, "{group}: {of_group:?}");
        let rest = of_group.iter().filter(|state| !done(state));
        let open = rest.clone().any(|state| *state == State::Unknown);
        let settled = rest
            .clone()
            .all(|state| matches!(state, State::Unknown | State::NotApplied));
        assert!(settled, "{group}: {of_group:?}");
        *tally
            .entry((rotated, if open { "open" } else { "settled" }))
            .or_default() += 1;
    }
    assert!(!tally.contains_key(&(1, "open")), "{tally:?}");
    assert!(!tally.contains_key(&(0, "settled")), "left out: {tally:?}");
    println!(
        "seed {seed}: {} requests, rounds {rounds:?}, {tally:?}",
        sent.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_rotations_over_a_network_that_loses_three_of_ten() {
    let seeds = if long::all() { 20 } else { 1 };
    for seed in 1..=seeds {
        rotate_all(seed).await;
    }
}
