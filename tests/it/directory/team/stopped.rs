//! The server stops at once, as if it had been killed, at each of the four commits of a rotation: before it, during it,
//! after it. `GROUPDESK_LONG=all` repeats all of them many times.

use std::{
    sync::{Arc, Mutex, atomic::Ordering},
    time::Instant,
};

use groupdesk::directory::{ServerFault, TeamFault};

use super::*;
use crate::support::{
    cutter::{BEFORE, BEHIND, Cutter, DURING, STOP},
    long,
};

/// Intent, sending, outcome, confirmation.
const COMMITS: usize = 4;

/// The results of the writes of one rotation.
#[derive(Debug, Default)]
struct Answers {
    /// How many were acknowledged.
    written: usize,
    /// The error of the first one that was not.
    failed: Option<TeamFault>,
}

/// Notes the result of a write; after a failure nothing follows.
fn note<T>(told_of: &mut Answers, answer: Result<T, DirectoryError>) -> Option<T> {
    match answer {
        Ok(answer) => {
            told_of.written += 1;
            Some(answer)
        }
        Err(DirectoryError::Team { fault, .. }) => {
            told_of.failed = Some(fault);
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Rotates as far as possible; the server stops at one commit.
async fn rotate(directory: &Directory, group: &str, stop_at: &dyn Fn(usize)) -> Answers {
    let (place, mut told_of) = (place(directory, "eu"), Answers::default());
    stop_at(0);
    let begun = directory.begin_rotation(place, intent(group, OLD)).await;
    let Some(BeginResult::Started(id)) = note(&mut told_of, begun) else {
        return told_of;
    };
    let mut rotation = Rotation::intended(OLD);
    let read = Event::Read {
        fingerprint: NEW,
        since_sent: Duration::from_secs(1),
    };
    let answered = Event::Answered(RotateOutcome::NewToken(NEW));
    for (commit, event) in (1..).zip([Event::Sending, answered, read]) {
        stop_at(commit);
        let step = step(id, rotation, event, commit as i64);
        rotation = step.after;
        let written = directory.record(place, step_record(step)).await;
        if note(&mut told_of, written).is_none() {
            break;
        }
    }
    told_of
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_is_stored_as_acknowledged_at_whichever_commit_the_server_stops() {
    let Some(server) = postgres::own() else {
        return;
    };
    server.set_up("stopping");
    // A commit takes some time, so that the server can stop during it.
    server.configure(&["SET commit_delay = 100000", "SET commit_siblings = 0"]);
    let cutter = Cutter::new(server.folder());
    let (folder, plan) = (server.folder().to_owned(), cutter.plan.clone());
    let restarting = Arc::new(Mutex::new(()));
    let held = Arc::clone(&restarting);
    let stops = plan.stop.set(Box::new(move || {
        let _held = held.lock().expect("nobody panicked");
        server.crash();
    }));
    assert!(stops.is_ok(), "once");
    let directory = Directory::open(&postgres::at(cutter.folder.path(), "stopping"));
    let directory = directory.expect("it opens");

    let rounds = if long::all() { 20 } else { 1 };
    let hows = [BEFORE, DURING, BEHIND];
    let cases = (0..COMMITS).flat_map(|commit| hows.map(|how| (commit, how)));
    let cases = long::spread(cases, 5).repeat(rounds);
    let (begun, mut told_of) = (Instant::now(), Vec::new());
    for (number, &(commit, how)) in cases.iter().enumerate() {
        let stop_at = |at| {
            if at == commit {
                plan.commit.store(how | STOP, Ordering::SeqCst);
            }
        };
        let group = format!("g{number}");
        told_of.push(rotate(&directory, &group, &stop_at).await);
    }
    assert_eq!(plan.cuts.load(Ordering::SeqCst), cases.len(), "each stop");

    // As another console sees it. A write may have given up before the server was back.
    drop(restarting.lock().expect("nobody panicked"));
    let other = Directory::open(&postgres::at(&folder, "stopping")).expect("it opens");
    let rows = other.rotations(RotationFilter::default()).await;
    let rows = rows.expect("read");
    let (mut written, mut lost, mut wrong) = (0, 0, 0);
    for (number, told_of) in told_of.iter().enumerate() {
        let group = format!("g{number}");
        let row = rows.iter().find(|row| row.user_group_id.as_str() == group);
        let there = match row {
            Some(row) => other.journal_events(row.id).await.expect("read").len(),
            None => 0,
        };
        let is_right = match told_of.failed {
            None => told_of.written == COMMITS && there == COMMITS,
            Some(TeamFault::Server(ServerFault::Unclear)) => {
                (told_of.written..=told_of.written + 1).contains(&there)
            }
            Some(TeamFault::Server(ServerFault::Unreachable)) => there == told_of.written,
            Some(_) => false,
        };
        written += told_of.written;
        lost += told_of.written.saturating_sub(there);
        wrong += usize::from(!is_right);
    }
    let failed: Vec<_> = told_of
        .iter()
        .filter_map(|told_of| told_of.failed.as_ref())
        .collect();
    println!(
        "{} stops, {written} writes answered, {} not answered with success; {lost} lost, {wrong} told wrongly, {:?}",
        cases.len(),
        failed.len(),
        begun.elapsed()
    );
    assert_eq!((lost, wrong), (0, 0), "{cases:?}: {told_of:?}");
    // On a busy machine the server may be back too late for some.
    assert!(failed.len() < cases.len(), "{failed:?}");
}
