//! Proof by killing (rotation.md, "Where to kill it"): every fault, every point, and again during recovery. The spread runs
//! always; `GROUPDESK_CRASH=all` runs every combination.

mod desk;
mod faults;
mod full;
mod order;
mod run;
mod stage;
mod together;
mod wrong;

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use futures_util::{StreamExt, stream};
use jiff::Timestamp;

use run::{Case, Played, play};
use stage::Stage;
use wrong::Variant;

/// Runs at once; most of the time a run waits for a disk, a process or a time-out.
const AT_ONCE: usize = 8;

/// When every rotation here happens.
fn noon() -> Timestamp {
    "2026-11-02T12:00:00Z".parse().expect("a time")
}

/// Every pair of a fault and a point, half of them, with the places of recovery going round.
fn spread() -> Vec<Case> {
    Case::all()
        .enumerate()
        .filter(|(index, _)| {
            let (again, kill) = (index % 5, index / 5 % 12);
            let fault = index / 60;
            (fault + kill).is_multiple_of(2) && again == (fault / 2 + kill) % 5
        })
        .map(|(_, case)| case)
        .collect()
}

async fn play_all(cases: Vec<Case>, variant: Variant) -> Vec<(Case, Played)> {
    let stage = Arc::new(Stage::new().await);
    stream::iter(cases)
        .map(|case| {
            let stage = stage.clone();
            async move {
                let played = tokio::spawn(async move { play(&stage, case, variant).await });
                (case, played.await.expect("a run ends"))
            }
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await
}

#[track_caller]
fn must_hold(played: &[(Case, Played)]) {
    let wrong: Vec<_> = played
        .iter()
        .filter(|(_, played)| !played.wrong.is_empty())
        .map(|(case, played)| format!("{case:?}: {:?}", played.wrong))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} runs:\n{}",
        wrong.len(),
        played.len(),
        wrong.join("\n")
    );
}

/// The points were really passed and the faults really met, so that a run that proves nothing is noticed.
#[track_caller]
fn must_prove_something(played: &[(Case, Played)]) {
    let mut requests = BTreeMap::new();
    let mut kills = BTreeMap::new();
    for (case, played) in played {
        *requests.entry(format!("{:?}", case.fault)).or_insert(0) += played.requests;
        *kills.entry(case.kill).or_insert(0) += usize::from(played.died);
    }
    assert!(requests.values().all(|count| *count > 0), "{requests:?}");
    assert!(
        kills
            .iter()
            .all(|(kill, count)| (*count > 0) == kill.is_some()),
        "{kills:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_dies_whenever_the_journal_says_what_the_service_says() {
    let cases = match std::env::var("GROUPDESK_CRASH") {
        Ok(how) if how == "all" => Case::all().collect(),
        _ => spread(),
    };
    let begun = Instant::now();
    let played = play_all(cases, Variant::Shipped).await;
    let kills: usize = played.iter().map(|(_, played)| played.kills).sum();
    let requests: usize = played.iter().map(|(_, played)| played.requests).sum();
    println!(
        "{} runs, {kills} processes killed, {requests} rotations sent, {:?}",
        played.len(),
        begun.elapsed()
    );
    must_hold(&played);
    must_prove_something(&played);
}

/// The same rotation with one mistake each: what is looked at after a run would notice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_mistake_is_caught_and_the_same_code_without_one_is_not() {
    must_hold(&play_all(spread(), Variant::Careful).await);
    for (variant, symptom) in Variant::WRONG {
        let mut caught = Vec::new();
        for cases in spread().chunks(AT_ONCE * 2) {
            let played = play_all(cases.to_vec(), variant).await;
            caught.extend(played.into_iter().flat_map(|(_, played)| played.wrong));
            if !caught.is_empty() {
                break;
            }
        }
        assert!(
            caught.iter().any(|wrong| wrong.contains(symptom)),
            "{variant:?}: {caught:?}"
        );
    }
}
