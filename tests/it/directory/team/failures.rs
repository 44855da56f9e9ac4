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

/// A directory whose tables were changed by this SQL; `None` without a server.
fn broken(text: &str) -> Option<(Opened, Directory)> {
    let installation = Opened::new();
    installation.team.as_ref()?;
    let directory = installation.open();
    place(&directory, "eu");
    installation.tamper(text);
    Some((installation, directory))
}

async fn try_write(directory: &Directory, record: Record) -> TeamFault {
    fault_of(directory.record(place(directory, "eu"), record).await)
}

#[tokio::test]
async fn a_value_that_cannot_be_sent_aborts_the_whole_record() {
    let narrow = "ALTER TABLE user_groups ALTER COLUMN team_id TYPE INTEGER";
    let Some((_kept, directory)) = broken(narrow) else {
        return;
    };
    let mut record = both("acme", 0);
    let observation = record.observation.as_mut().expect("one");
    observation.returned.as_mut().expect("an answer").team_id = Some(1 << 40);
    let fault = try_write(&directory, record).await;
    assert_is!(fault, TeamFault::Server(ServerFault::Other(_)));
    assert!(lines(&directory).await.is_empty(), "without its group");
}

/// It is refused before its COMMIT is sent.
#[tokio::test]
async fn the_connection_is_usable_after_a_syntax_error() {
    let renamed = "ALTER TABLE fingerprints RENAME COLUMN first_seen TO seen_first";
    let Some((installation, directory)) = broken(renamed) else {
        return;
    };
    let fault = try_write(&directory, both("acme", 0)).await;
    assert_eq!(fault, TeamFault::Server(ServerFault::Other("42703".into())));
    assert!(lines(&directory).await.is_empty());
    installation.tamper("ALTER TABLE fingerprints RENAME COLUMN seen_first TO first_seen");
    recorded(&directory, both("acme", 0)).await;
}

#[tokio::test]
async fn an_undecodable_answer_does_not_make_the_commit_fail() {
    let Some((installation, directory)) = broken("SELECT 1") else {
        return;
    };
    start(&directory, intent("acme", OLD)).await;
    installation.tamper("ALTER TABLE rotations ALTER COLUMN sent_at TYPE DOUBLE PRECISION");
    let fault = try_write(&directory, both("acme", 0)).await;
    assert_eq!(fault, TeamFault::Server(ServerFault::Unclear));
    assert_eq!(lines(&directory).await.len(), 1, "it was committed, once");
}

#[tokio::test]
async fn a_uniqueness_violation_is_reported_as_such() {
    let unique = "CREATE UNIQUE INDEX one_line ON history (user_group_id)";
    let Some((_kept, directory)) = broken(unique) else {
        return;
    };
    recorded(&directory, both("acme", 0)).await;
    let fault = try_write(&directory, both("acme", 1)).await;
    assert_eq!(fault, TeamFault::Server(ServerFault::Other("23505".into())));
    assert_eq!(lines(&directory).await.len(), 1);
}

/// Answers connections as a server that refuses them with this code, for so long; later ones get no answer.
async fn refuse_for(listener: UnixListener, time: Duration, code: &str) {
    let refusal = format!("SFATAL\0VFATAL\0C{code}\0Mrefused\0\0");
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
        let length = 4 + refusal.len() as u32;
        let answer = [b"E", &length.to_be_bytes()[..], refusal.as_bytes()].concat();
        stream.write_all(&answer).await.expect("written");
    }
}

/// An attempt that is left too little time says nothing about the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_answer_counts_when_the_time_for_a_connection_is_over() {
    let folder = crate::support::folder::temporary();
    let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("bound");
    // What is asked from then on has less than two seconds left, also if it is accepted somewhat late.
    let refusing = tokio::spawn(refuse_for(listener, Duration::from_millis(8_500), "53300"));
    let opened = Directory::open(&postgres::at(folder.path(), "crowded"));
    assert_eq!(fault_of(opened), TeamFault::Server(ServerFault::Crowded));
    refusing.abort();
}

/// The library tells only how the last one failed; and what one refuses is not waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_hosts_a_refusal_is_reported_at_once() {
    let folder = crate::support::folder::temporary();
    let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("bound");
    let refusing = tokio::spawn(refuse_for(listener, Duration::from_mins(1), "28P01"));
    let host = folder.path().display().to_string().replace('/', "%2F");
    for hosts in [
        format!("{host}:5432,{host}:5433"),
        format!("{host}:5433,{host}:5432"),
    ] {
        let url = format!("postgres://ana@{hosts}/postgres");
        let begun = Instant::now();
        let opened = Directory::open(&TeamLocation::parse(&url, "desk").expect("an address"));
        let refused = ServerFault::NotAllowed("28P01".into());
        assert_eq!(fault_of(opened), TeamFault::Server(refused), "{hosts}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{hosts}");
    }
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
    recorded(&directory, both("acme", 0)).await;
    let mut other = server.session(team.schema());
    other.say("BEGIN; SELECT FROM user_groups FOR UPDATE");
    let begun = || cutter.plan.begun.load(Ordering::SeqCst);
    let before = begun();
    let fault = try_write(&directory, both("acme", 1)).await;
    assert_eq!(fault, TeamFault::Server(ServerFault::Busy));
    let tries = begun() - before;
    assert!((1..=3).contains(&tries), "{tries} tries");
    other.say("COMMIT");
    recorded(&directory, both("acme", 1)).await;
}
