//! The server stops at once, as if it had been killed, while several consoles write.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use groupdesk::directory::{ServerFault, TeamFault};

use super::*;
use crate::support::wait::eventually;

/// What a console was told about its writes, identified by their notes.
#[derive(Default)]
struct Answers {
    done: Vec<String>,
    /// Writes that may be there.
    unclear: Vec<String>,
    refused: Vec<String>,
    /// Errors with another reason than the server's absence.
    others: Vec<TeamFault>,
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_writes_are_there_once_and_refused_ones_are_not() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("crashing");
    let (stop, written) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let first = Directory::open(&team).expect("it opens");
    let place = place(&first, "eu");
    let consoles =
        (0..4).map(|console| {
            let directory = Directory::open(&team).expect("it opens");
            let (stop, written) = (Arc::clone(&stop), Arc::clone(&written));
            tokio::spawn(async move {
                let mut told_of = Answers::default();
                for number in 0.. {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let note = format!("{console}/{number}");
                    let mut line = entry("eu", "acme", number);
                    line.note = Some(note.clone());
                    let outcome = directory.record(place, history_record(line)).await;
                    written.fetch_add(1, Ordering::SeqCst);
                    match outcome {
                        Ok(_) => told_of.done.push(note),
                        Err(DirectoryError::Team {
                            fault: TeamFault::Server(ServerFault::Unclear),
                            ..
                        }) => told_of.unclear.push(note),
                        Err(DirectoryError::Team { fault, .. }) => {
                            told_of.refused.push(note);
                            told_of.others.extend(Some(fault).filter(|fault| {
                                *fault != TeamFault::Server(ServerFault::Unreachable)
                            }));
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
                told_of
            })
        });
    let consoles: Vec<_> = consoles.collect();
    for _ in 0..5 {
        let before = written.load(Ordering::SeqCst);
        eventually("more is written", || {
            written.load(Ordering::SeqCst) > before + 100
        })
        .await;
        tokio::task::block_in_place(|| server.crash());
    }
    let before = written.load(Ordering::SeqCst);
    eventually("more is written", || {
        written.load(Ordering::SeqCst) > before + 100
    })
    .await;
    stop.store(true, Ordering::SeqCst);
    let told_of = join_all(consoles).await;
    let told_of: Vec<_> = told_of
        .into_iter()
        .map(|one| one.expect("it ended"))
        .collect();
    let all = |of: fn(&Answers) -> &Vec<String>| -> Vec<&str> {
        told_of.iter().flat_map(of).map(String::as_str).collect()
    };
    let lines = first.history(HistoryFilter::default()).await.expect("read");
    let mut there: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.value.note.as_deref())
        .collect();
    let count = there.len();
    there.sort_unstable();
    there.dedup();
    assert_eq!(there.len(), count, "something was written twice");
    let is_there = |note: &&str| there.binary_search(note).is_ok();
    let done = all(|told_of| &told_of.done);
    assert!(done.len() > 600, "{} were written", done.len());
    assert!(
        done.iter().all(is_there),
        "something that was answered is lost"
    );
    assert!(
        !all(|told_of| &told_of.refused).iter().any(is_there),
        "a refused write is there"
    );
    let unclear = all(|told_of| &told_of.unclear)
        .iter()
        .filter(|note| is_there(note))
        .count();
    assert_eq!(there.len(), done.len() + unclear, "no other writes");
    let others: Vec<_> = told_of.iter().flat_map(|told_of| &told_of.others).collect();
    assert!(others.is_empty(), "{others:?}");
}
