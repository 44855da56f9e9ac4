//! A lock of another process on the file: waited for, and then reported.

use super::*;

pub(super) const CASES: usize = 3 * 2 + 2;
/// How long the directory waits for a lock, with a margin for a busy machine.
const AT_LEAST: Duration = Duration::from_secs(4);
const AT_MOST: Duration = Duration::from_mins(1);

/// Locks taken by a backup or a database tool, in the usual journal mode.
const LOCKS: [&str; 3] = [
    "BEGIN IMMEDIATE",
    "BEGIN EXCLUSIVE",
    "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE",
];

fn scene() -> TempFile {
    let place = TempFile::new();
    Directory::open(&place.file()).expect("made");
    place
}

fn locked(place: &TempFile, lock: &str) -> Recorder {
    let mut holder = Recorder::start(&Order {
        directory: place.file(),
        name: String::new(),
        writers: 0,
        groups: None,
        lock: Some(lock.into()),
    });
    assert_eq!(holder.next().as_deref(), Some("locked"));
    holder
}

async fn written(place: &TempFile) -> Result<(), DirectoryError> {
    let directory = Directory::open(&place.file())?;
    note(&directory, "acme").await
}

#[tokio::test]
async fn a_lasting_lock_is_reported_after_a_while_and_nothing_is_lost() {
    let mut waiting = tokio::task::JoinSet::new();
    for lock in LOCKS {
        waiting.spawn(async move {
            let place = scene();
            let holder = locked(&place, lock);
            let begun = Instant::now();
            let refused = written(&place).await.expect_err("locked");
            let waited = begun.elapsed();
            assert_is!(refused, DirectoryError::Locked { .. }, "{lock}: {refused}");
            assert_error_is_clear(&refused, &place.file());
            assert!((AT_LEAST..AT_MOST).contains(&waited), "{lock}: {waited:?}");
            holder.release();
            written(&place).await.expect("the lock is gone");
        });
    }
    let mut done = 0;
    while let Some(ended) = waiting.join_next().await {
        ended.expect("it held");
        done += 1;
    }
    assert_eq!(done, LOCKS.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_released_lock_is_waited_for() {
    for lock in LOCKS {
        let place = scene();
        let holder = locked(&place, lock);
        let going = thread::spawn(move || {
            thread::park_timeout(Duration::from_millis(150));
            holder.release();
        });
        written(&place).await.expect("it waits");
        going.join().expect("released");
    }
}

#[tokio::test]
async fn readers_neither_block_nor_wait() {
    for lock in ["BEGIN; SELECT count(*) FROM history", "BEGIN IMMEDIATE"] {
        let place = scene();
        let holder = locked(&place, lock);
        let directory = Directory::open(&place.file()).expect("it opens");
        // The lock stays: whoever waited for it would be refused in the end.
        let read = directory.history(HistoryFilter::default()).await;
        assert_eq!(read.expect("readable").len(), 0);
        if lock.contains("SELECT") {
            note(&directory, "acme").await.expect("a reader is no lock");
        }
        drop(directory);
        assert_eq!(
            inspect(&place.file(), &HashMap::new())
                .map(|looked| looked.faults)
                .ok(),
            Some(0)
        );
        holder.release();
    }
}
