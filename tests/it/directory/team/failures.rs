//! What a server refuses, and what fails on the client's side: reported truly, and nothing is written partly.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use groupdesk::directory::{ServerFault, TeamFault};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixListener,
};

use super::*;
use crate::support::cutter::Cutter;

fn fault_of<T: std::fmt::Debug>(refused: Result<T, DirectoryError>) -> TeamFault {
    match refused {
        Err(DirectoryError::Team { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

/// A record with a group and a history line.
fn both(group: &str, at: i64) -> Record {
    Record {
        observation: Some(observation(group, OLD, at)),
        ..history_record(entry("eu", group, at))
    }
}

async fn lines(directory: &Directory) -> usize {
    let lines = directory.history(HistoryFilter::default()).await;
    lines.expect("read").len()
}

#[tokio::test]
async fn a_value_that_cannot_be_sent_aborts_the_whole_record() {
    let installation = Opened::new();
    if installation.team.is_none() {
        return;
    }
    let directory = installation.open();
    let place = place(&directory, "eu");
    installation.tamper("ALTER TABLE user_groups ALTER COLUMN team_id TYPE INTEGER");
    let mut record = both("acme", 0);
    let observation = record.observation.as_mut().expect("one");
    let returned = observation.returned.as_mut().expect("an answer");
    returned.team_id = Some(1 << 40);
    let refused = directory.record(place, record).await;
    assert!(matches!(
        fault_of(refused),
        TeamFault::Server(ServerFault::Other(_))
    ));
    assert_eq!(lines(&directory).await, 0, "without its group");
}

/// It is refused before its COMMIT is sent.
#[tokio::test]
async fn the_connection_is_usable_after_a_syntax_error() {
    let installation = Opened::new();
    if installation.team.is_none() {
        return;
    }
    let directory = installation.open();
    let place = place(&directory, "eu");
    installation.tamper("ALTER TABLE fingerprints RENAME COLUMN first_seen TO seen_first");
    let refused = directory.record(place, both("acme", 0)).await;
    assert_eq!(
        fault_of(refused),
        TeamFault::Server(ServerFault::Other("42703".into()))
    );
    assert_eq!(lines(&directory).await, 0);
    installation.tamper("ALTER TABLE fingerprints RENAME COLUMN seen_first TO first_seen");
    let written = directory.record(place, both("acme", 0)).await;
    written.expect("written");
}

#[tokio::test]
async fn an_undecodable_answer_does_not_make_the_commit_fail() {
    let installation = Opened::new();
    if installation.team.is_none() {
        return;
    }
    let directory = installation.open();
    let place = place(&directory, "eu");
    start(&directory, intent("acme", OLD)).await;
    installation.tamper("ALTER TABLE rotations ALTER COLUMN sent_at TYPE DOUBLE PRECISION");
    let told = directory.record(place, both("acme", 0)).await;
    assert_eq!(fault_of(told), TeamFault::Server(ServerFault::Unclear));
    assert_eq!(lines(&directory).await, 1, "it was committed, once");
}

#[tokio::test]
async fn a_uniqueness_violation_is_reported_as_such() {
    let installation = Opened::new();
    if installation.team.is_none() {
        return;
    }
    let directory = installation.open();
    let place = place(&directory, "eu");
    installation.tamper("CREATE UNIQUE INDEX one_line ON history (user_group_id)");
    let first = directory.record(place, both("acme", 0)).await;
    first.expect("written");
    let second = directory.record(place, both("acme", 1)).await;
    assert_eq!(
        fault_of(second),
        TeamFault::Server(ServerFault::Other("23505".into()))
    );
    assert_eq!(lines(&directory).await, 1);
}

/// Answers connections as a server that accepts no more of them, for so long; later ones get no answer.
async fn refuse_for(listener: UnixListener, time: Duration) {
    const CROWDED: &[u8] = b"SFATAL\0VFATAL\0C53300\0Mtoo many connections\0\0";
    let mut begun = None;
    let mut silent = Vec::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        if begun.get_or_insert_with(Instant::now).elapsed() > time {
            silent.push(stream);
            continue;
        }
        // The startup message.
        let read = stream.read(&mut [0; 1024]).await;
        assert!(read.is_ok_and(|read| read > 0));
        let length = 4 + CROWDED.len() as u32;
        let answer = [b"E", &length.to_be_bytes()[..], CROWDED].concat();
        stream.write_all(&answer).await.expect("written");
    }
}

/// An attempt that is left too little time says nothing about the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_answer_counts_when_the_time_for_a_connection_is_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("bound");
    // What is asked from then on has less than two seconds left, also if it is accepted somewhat late.
    let refusing = tokio::spawn(refuse_for(listener, Duration::from_millis(8_500)));
    let opened = Directory::open(&postgres::at(folder.path(), "crowded"));
    assert_eq!(fault_of(opened), TeamFault::Server(ServerFault::Crowded));
    refusing.abort();
}

/// Each attempt waits 3 s for a lock, and all of them together 10 s.
#[tokio::test(flavor = "multi_thread")]
async fn a_locked_row_is_not_waited_for_repeatedly() {
    let installation = Opened::new();
    let (Some(team), Some(server)) = (&installation.team, postgres::server()) else {
        return;
    };
    let cutter = Cutter::new(server.folder());
    let directory =
        Directory::open(&postgres::at(cutter.folder.path(), team.schema())).expect("it opens");
    let place = place(&directory, "eu");
    let first = directory.record(place, both("acme", 0)).await;
    first.expect("written");
    let mut other = server.session(team.schema());
    other.say("BEGIN; SELECT FROM user_groups FOR UPDATE");
    let begun = || cutter.plan.begun.load(Ordering::SeqCst);
    let before = begun();
    let refused = directory.record(place, both("acme", 1)).await;
    assert_eq!(fault_of(refused), TeamFault::Server(ServerFault::Busy));
    let tries = begun() - before;
    assert!((1..=3).contains(&tries), "{tries} tries");
    other.say("COMMIT");
    let written = directory.record(place, both("acme", 1)).await;
    written.expect("written");
}
