//! Rotations whose process is killed (docs/design/rotation.md, "Where to kill it"): with every fault, at every point,
//! and again during recovery. A selection of the cases always runs, part of it on a database; `GROUPDESK_CRASH=all`
//! runs every combination on both.

mod batch;
mod case;
mod checks;
mod child;
mod concurrent;
mod edit;
mod faults;
mod full_disk;
mod mistakes;
mod run;
mod shipped;
mod sink;
mod stage;
mod system_calls;
mod team;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    pin::pin,
    process::{Command, Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{Stream, StreamExt, future::join_all, stream};
use groupdesk::{
    api::{
        answer::{Verdict, rotation::rotation_answer},
        client::Client,
    },
    config::{
        Environment, HandOffCommand,
        profile::{KeySource, Profile},
    },
    directory::{
        BatchItem, BatchOptions, BeginResult, Directory, RotationFilter, RotationId, RotationRow,
        TeamLocation, replay,
    },
    domain::{
        batch::{BulkChange, Counts, ItemStatus},
        change::DesiredFields,
        group::EnvironmentTag,
        handoff::HandOffState,
        history::Ending,
        rotation::{Event, RotateOutcome, Rotation, State, settle_window},
        token::{Fingerprint, Token},
    },
    operations::{
        Clock, Done, Failpoint, Operations, UnknownIdPolicy,
        batch::{BatchEvent, Run, RunLimits, TokenSink},
    },
    platform::private_files::private_folder,
};
use jiff::Timestamp;
use rusqlite::Connection;
use rustix::process::{Pid, Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    io::{BufReader, Lines},
    process::ChildStdout,
};

use crate::support::{
    at_once::AtOnce as _,
    clock,
    faults::http,
    fields, postgres,
    proxy::{FaultyProxy, Gate, ProxyFault, Then},
    stderr::says,
    wait::eventually,
    world::{ANA, Side, World, files_below, holding_one_of, id, place},
};
use batch::resume;
use case::{BYTES_OUT, Case, HANDING_OFF, RecoveryKind};
use child::{Child, MARK, ORDER, Order, Task, Watch, hand_off_operations, hex, say};
use faults::{Ends, Fault, INVENTED};
use mistakes::Variant;
use run::{RunResult, play};
use shipped::groupdesk;
use sink::Sink;
use stage::{Process, Scene, Stage, file_with_secret, opened};

/// Parallel runs; each mostly waits for a disk, a process or a timeout.
const AT_ONCE: usize = 8;

/// The time of every rotation in these tests.
fn noon() -> Timestamp {
    "2026-11-02T12:00:00Z".parse().expect("a time")
}

/// Plays the cases, some in parallel; dropping the stream ends what is under way.
fn play_cases(
    stage: &Stage,
    cases: Vec<Case>,
    variant: Variant,
) -> impl Stream<Item = (Case, RunResult)> {
    stream::iter(cases)
        .map(move |case| async move { (case, play(stage, case, variant).await) })
        .buffer_unordered(AT_ONCE)
}

#[track_caller]
fn assert_nothing_wrong(played: &[(Case, RunResult)]) {
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

/// The points were really passed and the faults really happened: a run that proves nothing is noticed.
#[track_caller]
fn assert_meaningful(played: &[(Case, RunResult)]) {
    let mut requests = BTreeMap::new();
    let mut kills = BTreeMap::new();
    let mut again = BTreeMap::new();
    for (case, played) in played {
        *requests.entry(format!("{:?}", case.fault)).or_insert(0) += played.requests;
        *kills.entry(case.kill).or_insert(0) += usize::from(played.died);
        *again.entry((case.way, case.again)).or_insert(0) += played.died_again;
    }
    assert!(requests.values().all(|count| *count > 0), "{requests:?}");
    let kills_only_there = |(kill, count): (&Option<u8>, &usize)| (*count > 0) == kill.is_some();
    assert!(kills.iter().all(kills_only_there), "{kills:?}");
    let mut places = again.iter().map(|((_, kill), count)| (kill, count));
    assert!(places.all(kills_only_there), "{again:?}");
    assert_eq!(kills.len(), Case::KILLS.len());
    assert_eq!(again.len(), RecoveryKind::ALL.len() * Case::AGAIN.len());
}

/// All cases when asked for, otherwise these.
fn cases(else_these: impl FnOnce() -> Vec<Case>) -> Vec<Case> {
    match std::env::var("GROUPDESK_CRASH") {
        Ok(how) => {
            assert_eq!(how, "all", "the only value of GROUPDESK_CRASH is all");
            Case::all().collect()
        }
        Err(_) => else_these(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_any_death_the_journal_agrees_with_the_service() {
    let played = play_and_check(cases(Case::spread)).await;
    assert_meaningful(&played);
}

async fn play_and_check(cases: Vec<Case>) -> Vec<(Case, RunResult)> {
    let begun = Instant::now();
    let stage = Stage::new().await;
    let played: Vec<_> = play_cases(&stage, cases, Variant::Shipped).collect().await;
    let killed = |played: &RunResult| usize::from(played.died) + played.died_again;
    let kills: usize = played.iter().map(|(_, played)| killed(played)).sum();
    let requests: usize = played.iter().map(|(_, played)| played.requests).sum();
    println!(
        "{} runs, {kills} processes killed, {requests} rotations sent, {:?}",
        played.len(),
        begun.elapsed()
    );
    assert_nothing_wrong(&played);
    played
}

/// The same rotation with one mistake each: the checks after a run must notice every one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_mistake_is_caught_and_the_same_code_without_one_is_not() {
    let stage = Stage::new().await;
    let spread = || {
        let cases = Case::spread().into_iter();
        // A mistake in the rotation shows however it is recovered.
        cases
            .map(|case| Case {
                way: RecoveryKind::LookUp,
                ..case
            })
            .collect::<Vec<_>>()
    };
    // Each fault and each point of both kinds is among them.
    let some = spread().into_iter().step_by(6).collect();
    let careful: Vec<_> = play_cases(&stage, some, Variant::Careful).collect().await;
    assert_nothing_wrong(&careful);
    for (variant, fault, symptom) in Variant::WRONG {
        let mut cases = spread();
        // Cases that wait for a timeout come last, unless the mistake is about them.
        cases.sort_by_key(|case| (case.fault != fault, case.fault.hangs()));
        let mut playing = pin!(play_cases(&stage, cases, variant));
        let mut said = Vec::new();
        while let Some((_, played)) = playing.next().await {
            said.extend(played.wrong);
            if said.iter().any(|wrong| wrong.contains(symptom)) {
                break;
            }
        }
        let is_caught = said.iter().any(|wrong| wrong.contains(symptom));
        assert!(is_caught, "{variant:?}: {said:?}");
    }
}

/// Builds for users have no points to kill at.
#[test]
fn failpoints_are_compiled_for_tests_only() {
    let manifest: toml::Table = include_str!("../../Cargo.toml").parse().expect("TOML");
    let features = manifest["features"].as_table().expect("features");
    let defaults = features["default"].as_array().expect("defaults");
    assert_eq!(
        defaults,
        &[toml::Value::from("keyring")],
        "no points by default"
    );
    let dependencies = manifest["dependencies"].as_table().expect("a table");
    assert!(!dependencies.contains_key("groupdesk"));
    let here = manifest["dev-dependencies"]["groupdesk"]["features"].as_array();
    assert_eq!(here.map(Vec::len), Some(1), "only tests switch it on");
}
