//! The connection to the server breaks at a commit, before the COMMIT arrives or before its answer does. Each write is
//! there once, and its caller is told so.

use std::{sync::atomic::Ordering, time::Instant};

use futures_util::FutureExt;
use groupdesk::directory::{ServerFault, TeamFault};

use super::*;
use crate::support::cutter::{
    BEFORE, BEHIND, CUT_BEHIND, Cutter, ERROR_BEFORE, ERROR_BEHIND, SILENT, SILENT_BEHIND, WHOLE,
};

/// A directory behind a connection that can be cut; `None` without a server.
fn behind_cutter(installation: &Opened) -> Option<(Cutter, Directory)> {
    let (team, server) = (installation.team.as_ref()?, postgres::server()?);
    let cutter = Cutter::new(server.folder());
    let behind = postgres::at(cutter.folder.path(), team.schema());
    let directory = Directory::open(&behind).expect("it opens");
    Some((cutter, directory))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_commit_was_cut_off_is_there_once_and_acknowledged() {
    let installation = Opened::new();
    let Some((cutter, directory)) = behind_cutter(&installation) else {
        return;
    };
    let commit = |how| cutter.plan.commit.store(how, Ordering::SeqCst);
    for n in 0..60_i64 {
        commit([WHOLE, BEFORE, BEHIND][n as usize % 3]);
        let written = recorded(&directory, both("acme", n)).await;
        assert_eq!(written.group.expect("a group").last_seen, Some(second(n)));
    }
    assert_eq!(cutter.plan.cuts.load(Ordering::SeqCst), 40);
    let lines = lines(&directory).await;
    let times = lines.iter().rev().map(|line| line.value.at);
    assert!(times.eq((0..60).map(second)), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_whose_commits_were_cut_off_completes() {
    let installation = Opened::new();
    let Some((cutter, directory)) = behind_cutter(&installation) else {
        return;
    };
    for cut in [WHOLE, BEFORE, BEHIND] {
        let group = format!("g{cut}");
        cutter.plan.commit.store(cut, Ordering::SeqCst);
        let id = start(&directory, intent(&group, OLD)).await;
        let mut rotation = Rotation::intended(OLD);
        let answered = Event::Answered(RotateOutcome::NewToken(NEW));
        for (event, at) in [(Event::Sending, 1), (answered, 2)] {
            cutter.plan.commit.store(cut, Ordering::SeqCst);
            let step = step(id, rotation, event, at);
            rotation = step.after;
            recorded(&directory, step_record(step)).await;
        }
        let events = directory.journal_events(id).await.expect("read");
        assert_eq!(events.len(), 3, "the intent and two steps");
        assert_eq!(replay(&events), Some(rotation));
    }
    assert_eq!(cutter.plan.cuts.load(Ordering::SeqCst), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_gets_the_answer_of_the_first() {
    let installation = Opened::new();
    let Some((cutter, directory)) = behind_cutter(&installation) else {
        return;
    };
    for (cut, count) in [(BEFORE, 1), (BEHIND, 2)] {
        cutter.plan.commit.store(cut, Ordering::SeqCst);
        cutter.plan.asked_in_vain.store(true, Ordering::SeqCst);
        recorded(&directory, both("acme", count)).await;
        assert_eq!(lines(&directory).await.len() as i64, count, "cut {cut}");
    }
    assert_eq!(cutter.plan.cuts.load(Ordering::SeqCst), 4);
}

/// What a server or something before it may say about a commit that took place, or did not: a panic at the write-ahead
/// log, the end of the session, an internal error, a lost connection behind a proxy, a result that is not known.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_does_not_rule_out_the_commit_is_decided_by_the_stamp() {
    let installation = Opened::new();
    let Some((cutter, directory)) = behind_cutter(&installation) else {
        return;
    };
    let place = place(&directory, "eu");
    let errors = [
        ("PANIC", "58030"),
        ("PANIC", "53100"),
        ("PANIC", "XX000"),
        ("FATAL", "25P03"),
        ("FATAL", "57P01"),
        ("FATAL", "42501"),
        ("ERROR", "58030"),
        ("ERROR", "XX000"),
        ("ERROR", "08006"),
        ("ERROR", "40003"),
        ("ERROR", "57014"),
        ("SCHWERER FEHLER", "23505"),
    ];
    let mut expected = 0;
    for error in errors {
        for how in [ERROR_BEHIND, ERROR_BEFORE] {
            *cutter.plan.error.lock().expect("no thread panics") = error;
            cutter.plan.commit.store(how, Ordering::SeqCst);
            let written = directory.record(place, both("acme", expected)).await;
            let count = lines(&directory).await.len() as i64;
            match written {
                Ok(_) => expected += 1,
                Err(told) if how == ERROR_BEFORE && error.0 == "ERROR" => {
                    assert!(told.to_string().contains("nothing was recorded"), "{told}");
                }
                Err(told) => panic!("{error:?} {how}: {told}; {count} lines"),
            }
            assert_eq!(count, expected, "{error:?} {how}");
        }
    }
    let cuts = cutter.plan.cuts.load(Ordering::SeqCst);
    assert_eq!(cuts, 2 * errors.len(), "each error was told");
}

/// As when a firewall drops the connection silently. The server aborts an idle write after 5 s.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_on_a_silent_connection_is_there_once_and_acknowledged() {
    let installation = Opened::new();
    let (Some(team), Some(server)) = (&installation.team, postgres::server()) else {
        return;
    };
    let cut = |how: u8| {
        let cutter = Cutter::new(server.folder());
        let directory =
            Directory::open(&postgres::at(cutter.folder.path(), team.schema())).expect("it opens");
        let place = place(&directory, "eu");
        async move {
            let group = format!("g{how}");
            // Moves the whole cutter into the future: its folder must stay, too.
            let Cutter { folder, plan } = cutter;
            plan.commit.store(how, Ordering::SeqCst);
            let written = directory.record(place, both(&group, 1)).await;
            assert_eq!(plan.cuts.load(Ordering::SeqCst), 1);
            drop(folder);
            written
        }
    };
    // In both cases the place is known before the connection falls silent, so that only the write is affected.
    let (before, behind) = (cut(SILENT), cut(SILENT_BEHIND));
    let (before, behind) = tokio::join!(before, behind);
    // The client waited long enough for the server to have aborted it, and there was time to do it again.
    before.expect("done again");
    let behind = behind.expect("decided by its stamp").group;
    assert_eq!(behind.expect("a group").last_seen, Some(second(1)));
    let directory = Directory::open(team).expect("it opens");
    let lines = lines(&directory).await;
    let mut ids: Vec<_> = lines
        .iter()
        .map(|line| line.value.user_group_id.as_str())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [SILENT_BEHIND, SILENT].map(|how| format!("g{how}")));
}

/// What is promised for everything that is done for one command, and what a busy machine may take on top of it: less than
/// the second deadline that a broken promise costs.
const PROMISED: Duration = Duration::from_secs(10);
const TOLERANCE: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn all_that_is_done_while_packets_are_dropped_ends_within_one_deadline() {
    let installation = Opened::new();
    let Some((cutter, directory)) = behind_cutter(&installation) else {
        return;
    };
    let place = place(&directory, "eu");
    recorded(&directory, both("acme", 0)).await;
    cutter.plan.commit.store(CUT_BEHIND, Ordering::SeqCst);
    let began = Instant::now();
    // The first finds out at its commit, the others wait with it: another write about the same group, and two reads.
    let first = directory.record(place, history_record(entry("eu", "acme", 1)));
    let waiting = async {
        while !cutter.plan.is_cut.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let second = directory.record(place, history_record(entry("eu", "acme", 2)));
        let acme = id("acme");
        let reads = [directory.group(place, &acme), directory.group(place, &acme)];
        let (second, reads) = tokio::join!(second, join_all(reads));
        (second, reads)
    };
    let (first, (second, reads)) = tokio::join!(first, waiting);
    let took = began.elapsed();
    assert_eq!(fault_of(first), TeamFault::Server(ServerFault::Unclear));
    assert!(second.expect_err("lost").is_unreachable());
    for read in reads {
        assert!(read.expect_err("lost").is_unreachable());
    }
    assert!(took < PROMISED + TOLERANCE, "{took:?}");

    // What follows in the same command does not wait as long again, nor does the end of the process.
    let began = Instant::now();
    let read = directory.group(place, &id("acme")).await;
    assert!(read.expect_err("lost").is_unreachable());
    let given_back = directory.record(place, history_record(entry("eu", "acme", 3)));
    assert!(given_back.now_or_never().is_none(), "only queued");
    drop(directory);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2) + TOLERANCE, "{took:?}");
}
