//! The line to the server breaks at a commit: before it arrives, or before its answer does. Each write is there once, and
//! whoever asked for it hears so.

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
};

use super::*;

const WHOLE: u8 = 0;
const BEFORE: u8 = 1;
const BEHIND: u8 = 2;

/// What becomes of what is sent next.
#[derive(Default)]
pub(super) struct Plan {
    commit: AtomicU8,
    /// No answer comes to the question whether a commit took place.
    asked_in_vain: AtomicBool,
    cuts: AtomicUsize,
    /// How many transactions that write were begun.
    pub(super) begun: AtomicUsize,
}

/// Stands between a console and the server.
pub(super) struct Cutter {
    pub(super) folder: tempfile::TempDir,
    pub(super) plan: Arc<Plan>,
}

impl Cutter {
    pub(super) fn new(server: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("a socket");
        let server = server.join(".s.PGSQL.5432");
        let plan: Arc<Plan> = Arc::default();
        let cutter = Self {
            folder,
            plan: Arc::clone(&plan),
        };
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&server)) else {
                    return;
                };
                let plan = Arc::clone(&plan);
                std::thread::spawn(move || forward(client, server, &plan));
            }
        });
        cutter
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|some| some == part)
}

/// Of which answer nothing arrives: of a commit, of a question.
const COMMIT: u8 = 1;
const QUESTION: u8 = 2;

fn forward(client: UnixStream, server: UnixStream, plan: &Plan) {
    let lost = Arc::new(AtomicU8::new(0));
    let answers = {
        let (mut from, mut to) = (
            server.try_clone().expect("a line"),
            client.try_clone().expect("a line"),
        );
        let lost = Arc::clone(&lost);
        std::thread::spawn(move || {
            let mut bytes = vec![0; 1 << 16];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                let bytes = &bytes[..count];
                match lost.load(Ordering::SeqCst) {
                    // Nothing of it arrives; the server has answered the commit once this is there.
                    COMMIT if contains(bytes, b"COMMIT\0") => break,
                    COMMIT => continue,
                    QUESTION if contains(bytes, b"INSERT 0 1\0") => break,
                    _ => {}
                }
                if to.write_all(bytes).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        })
    };
    let (mut from, mut to) = (client, server);
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let bytes = &bytes[..count];
        if contains(bytes, b"READ WRITE\0") {
            plan.begun.fetch_add(1, Ordering::SeqCst);
        }
        if contains(bytes, b"COMMIT\0") {
            match plan.commit.swap(WHOLE, Ordering::SeqCst) {
                BEFORE => {
                    plan.cuts.fetch_add(1, Ordering::SeqCst);
                    break;
                }
                BEHIND => {
                    plan.cuts.fetch_add(1, Ordering::SeqCst);
                    lost.store(COMMIT, Ordering::SeqCst);
                }
                _ => {}
            }
        }
        if contains(bytes, b"RETURNING asked") && plan.asked_in_vain.swap(false, Ordering::SeqCst) {
            plan.cuts.fetch_add(1, Ordering::SeqCst);
            lost.store(QUESTION, Ordering::SeqCst);
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    if lost.load(Ordering::SeqCst) == 0 {
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }
    drop(answers.join());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_commit_was_cut_off_is_there_once_and_told_so() {
    let installation = Opened::new();
    let (Some(team), Some(server)) = (&installation.team, postgres::server()) else {
        return;
    };
    let cutter = Cutter::new(server.folder());
    let directory =
        Directory::open(&postgres::at(cutter.folder.path(), team.schema())).expect("it opens");
    let place = place(&directory, "eu");
    for n in 0..60_i64 {
        cutter
            .plan
            .commit
            .store([WHOLE, BEFORE, BEHIND][n as usize % 3], Ordering::SeqCst);
        let record = Record {
            observation: Some(observation("acme", OLD, n)),
            ..told(entry("eu", "acme", n))
        };
        let written = directory.record(place, record).await;
        let written = written.expect("decided by its stamp");
        assert_eq!(written.group.expect("a group").last_seen, Some(second(n)));
    }
    assert_eq!(cutter.plan.cuts.load(Ordering::SeqCst), 40);
    let lines = directory
        .history(HistoryFilter::default())
        .await
        .expect("read");
    let times: Vec<_> = lines.iter().rev().map(|line| line.value.at).collect();
    assert_eq!(times, (0..60).map(second).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_whose_commits_were_cut_off_goes_its_way() {
    let installation = Opened::new();
    let (Some(team), Some(server)) = (&installation.team, postgres::server()) else {
        return;
    };
    let cutter = Cutter::new(server.folder());
    let directory =
        Directory::open(&postgres::at(cutter.folder.path(), team.schema())).expect("it opens");
    let place = place(&directory, "eu");
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
            directory
                .record(place, stepped(step))
                .await
                .expect("decided by its stamp");
        }
        let events = directory.journal_events(id).await.expect("read");
        assert_eq!(events.len(), 3, "the intent and two steps");
        assert_eq!(replay(&events), Some(rotation));
    }
    assert_eq!(cutter.plan.cuts.load(Ordering::SeqCst), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_asked_twice_is_answered_as_at_first() {
    let installation = Opened::new();
    let (Some(team), Some(server)) = (&installation.team, postgres::server()) else {
        return;
    };
    let cutter = Cutter::new(server.folder());
    let directory =
        Directory::open(&postgres::at(cutter.folder.path(), team.schema())).expect("it opens");
    let place = place(&directory, "eu");
    for (n, cut) in [BEFORE, BEHIND].into_iter().enumerate() {
        cutter.plan.commit.store(cut, Ordering::SeqCst);
        cutter.plan.asked_in_vain.store(true, Ordering::SeqCst);
        let line = entry("eu", "acme", n as i64);
        directory
            .record(place, told(line))
            .await
            .expect("decided by its stamp");
        let lines = directory.history(HistoryFilter::default()).await;
        assert_eq!(lines.expect("read").len(), n + 1, "cut {cut}");
    }
    assert_eq!(cutter.plan.cuts.load(Ordering::SeqCst), 4);
}
