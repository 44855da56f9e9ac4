//! Tests of the storage thread: durability, group commit, failures.

use std::{
    os::unix::fs::MetadataExt,
    sync::Mutex,
    task::{Context, Waker},
};

use rusqlite::Connection;

use super::*;

fn temporary() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("service/service.db");
    (folder, path)
}

fn add(name: &'static str) -> impl FnMut(&Connection) -> Result<(), StoreError> + Send + 'static {
    move |connection| {
        connection.execute("INSERT INTO environments (name) VALUES (?1)", [name])?;
        Ok(())
    }
}

/// For a file. A write whose neighbour is refused is executed again.
fn of_file<T>(
    mut work: impl FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> impl FnMut(&Tx<'_>) -> Result<T, StoreError> + Send + 'static {
    move |tx| work(tx.sqlite().expect("a file"))
}

fn on_file<T: Send + 'static>(
    store: &Store,
    access: Access,
    work: impl FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    store.execute_blocking(access, of_file(work))
}

/// Needs more pages than the database has.
fn add_large(connection: &Connection) -> Result<(), StoreError> {
    let name = "x".repeat(100_000);
    connection.execute("INSERT INTO environments (name) VALUES (?1)", [name])?;
    Ok(())
}

fn finish<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(future)
}

/// What another process would see.
fn names(path: &Path) -> Vec<String> {
    let other = Connection::open(path).expect("open");
    let mut statement = other
        .prepare("SELECT name FROM environments ORDER BY name")
        .expect("SQL");
    let names = statement.query_map([], |row| row.get(0)).expect("rows");
    names.collect::<Result<_, _>>().expect("names")
}

/// Blocks the thread until the sender is dropped, so that what is queued meanwhile becomes one batch.
fn block_store(store: &Store) -> std::sync::mpsc::Sender<()> {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let (begun, begins) = std::sync::mpsc::channel();
    let store = store.clone();
    std::thread::spawn(move || {
        on_file(&store, Access::Short, move |_| {
            begun.send(()).expect("somebody waits");
            let _ = held.recv();
            Ok(())
        })
    });
    begins.recv().expect("it begins");
    release
}

/// Queues work by polling its future once.
fn queue<T: Send + 'static>(
    store: &Store,
    work: impl FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> std::pin::Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>> {
    let store = store.clone();
    let mut future: std::pin::Pin<Box<dyn Future<Output = _> + Send>> =
        Box::pin(async move { store.execute(Access::Write, of_file(work)).await });
    let polled = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending(), "the queue took it");
    future
}

#[test]
fn every_file_is_private_from_the_start() {
    let (_folder, path) = temporary();
    let store = Store::open(&path).expect("open");
    on_file(&store, Access::Write, add("one")).expect("done");
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{}{suffix}", path.display());
        let mode = std::fs::metadata(&file).expect("it exists").mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
    let folder = std::fs::metadata(path.parent().expect("a folder")).expect("it exists");
    assert_eq!(folder.mode() & 0o777, 0o700);
}

#[test]
fn the_settings_that_make_it_durable_are_on() {
    let (_folder, path) = temporary();
    let store = Store::open(&path).expect("open");
    let settings = on_file(&store, Access::Short, |connection| {
        let text = |pragma| connection.pragma_query_value(None, pragma, |row| row.get(0));
        let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get(0));
        let mode: String = text("journal_mode")?;
        let synchronous: i64 = number("synchronous")?;
        let foreign_keys: i64 = number("foreign_keys")?;
        Ok((mode, synchronous, foreign_keys))
    });
    assert_eq!(settings, Ok(("wal".into(), 2, 1)));
}

#[test]
fn an_acknowledged_write_is_seen_by_another_connection_and_after_reopening() {
    let (_folder, path) = temporary();
    let store = Store::open(&path).expect("open");
    for name in ["one", "two", "three"] {
        on_file(&store, Access::Write, add(name)).expect("done");
        assert!(names(&path).contains(&name.to_owned()));
    }
    drop(store);
    drop(Store::open(&path).expect("open again"));
    assert_eq!(names(&path).len(), 3);
}

#[test]
fn what_is_queued_becomes_one_transaction_and_one_refusal_undoes_only_itself() {
    let (_folder, path) = temporary();
    let store = Store::open(&path).expect("open");
    let release = block_store(&store);
    let before = queue(&store, add("before"));
    let double = queue(&store, |connection| {
        add("undone")(connection)?;
        add("before")(connection)
    });
    let after = queue(&store, |connection| {
        add("after")(connection)?;
        assert!(!connection.is_autocommit());
        Ok(())
    });
    assert_eq!(store.pending_writes(), 3);
    drop(release);
    let (before, double, after) = finish(async { (before.await, double.await, after.await) });
    assert_eq!((before, after), (Ok(()), Ok(())));
    assert!(matches!(double, Err(StoreError::Unexpected(_))));
    assert_eq!(names(&path), ["after", "before"]);
    assert_eq!(store.pending_writes(), 0);
}

#[test]
fn a_caller_that_goes_away_does_not_cancel_its_work() {
    let (_folder, path) = temporary();
    let store = Store::open(&path).expect("open");
    let release = block_store(&store);
    drop(queue(&store, add("orphan")));
    drop(release);
    // Dropping the last store waits for the queue.
    on_file(&store, Access::Short, |_| Ok(())).expect("done");
    assert_eq!(names(&path), ["orphan"]);
}

#[test]
fn dropping_the_store_finishes_what_is_queued() {
    let (_folder, path) = temporary();
    let store = Store::open(&path).expect("open");
    let release = block_store(&store);
    let queued = ["a", "b", "c"].map(|name| drop(queue(&store, add(name))));
    drop(release);
    drop(store);
    // The holder's clone may be the last one: wait for the file, with a deadline.
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while names(&path).len() < queued.len() {
        assert!(std::time::Instant::now() < deadline, "{:?}", names(&path));
        std::thread::yield_now();
    }
}

#[test]
fn a_full_disk_fails_the_whole_batch_and_the_next_one_works() {
    let (_folder, path) = temporary();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&reports);
    let options = Options {
        report: Some(Arc::new(move |error| {
            heard.lock().expect("not poisoned").push(error.clone());
        })),
        ..Options::default()
    };
    let store = Store::open_with(&path, options).expect("open");
    on_file(&store, Access::Write, add("before")).expect("done");
    let release = block_store(&store);
    let innocent = queue(&store, add("innocent"));
    let guilty = queue(&store, |connection| {
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
        add_large(connection)
    });
    drop(release);
    for result in finish(async { [innocent.await, guilty.await] }) {
        assert!(matches!(result, Err(StoreError::Failed(_))), "{result:?}");
    }
    assert_eq!(names(&path), ["before"]);
    assert_eq!(reports.lock().expect("not poisoned").len(), 1);
    // The limit applied to the old connection; this one is new.
    on_file(&store, Access::Write, add_large).expect("reopened");
    assert_eq!(names(&path).len(), 2);
}

#[test]
fn a_commit_that_fails_acknowledges_nothing() {
    let (_folder, path) = temporary();
    let store = Store::open(&path).expect("open");
    let release = block_store(&store);
    let innocent = queue(&store, add("innocent"));
    let guilty = queue(&store, |connection| {
        connection.pragma_update(None, "defer_foreign_keys", true)?;
        connection.execute(
            "INSERT INTO keys (environment, hash, read_only, created_at) VALUES (999, ?1, 0, 0)",
            [[0_u8; 32]],
        )?;
        Ok(())
    });
    drop(release);
    for result in finish(async { [innocent.await, guilty.await] }) {
        assert!(matches!(result, Err(StoreError::Failed(_))), "{result:?}");
    }
    assert!(names(&path).is_empty());
}

#[test]
fn a_panic_is_a_failure_and_not_the_end() {
    let (_folder, path) = temporary();
    let store = Store::open(&path).expect("open");
    let result = on_file(
        &store,
        Access::Write,
        |connection| -> Result<(), StoreError> {
            add("half")(connection)?;
            std::panic::panic_any("on purpose")
        },
    );
    assert!(matches!(result, Err(StoreError::Failed(_))));
    on_file(&store, Access::Write, add("after")).expect("done");
    assert_eq!(names(&path), ["after"]);
}

#[test]
fn a_full_queue_is_overload() {
    let (_folder, path) = temporary();
    let options = Options {
        queue: 1,
        ..Options::default()
    };
    let store = Store::open_with(&path, options).expect("open");
    let release = block_store(&store);
    let queued = queue(&store, add("queued"));
    let refused = store.execute(Access::Write, of_file(add("refused")));
    let refused = finish(refused);
    assert_eq!(refused, Err(StoreError::Overloaded));
    assert_eq!(store.pending_writes(), 1);
    drop(release);
    assert_eq!(finish(queued), Ok(()));
}

#[test]
fn another_process_that_holds_the_lock_makes_writes_busy_but_not_reads() {
    let (_folder, path) = temporary();
    let options = Options {
        busy_timeout: Duration::from_millis(20),
        ..Options::default()
    };
    let store = Store::open_with(&path, options).expect("open");
    let other = Connection::open(&path).expect("open");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let busy = on_file(&store, Access::Write, add("late"));
    assert_eq!(busy, Err(StoreError::Busy));
    assert_eq!(on_file(&store, Access::Short, |_| Ok(7)), Ok(7));
    other.execute_batch("ROLLBACK").expect("released");
    on_file(&store, Access::Write, add("late")).expect("done");
}

#[test]
fn newer_and_foreign_files_are_refused_and_left_alone() {
    let (folder, path) = temporary();
    drop(Store::open(&path).expect("open"));
    let other = Connection::open(&path).expect("open");
    other.pragma_update(None, "user_version", 99).expect("set");
    drop(other);
    let newer = Store::open(&path).expect_err("newer");
    assert_eq!(
        newer,
        StoreError::Newer {
            found: 99,
            known: 2
        }
    );
    assert!(newer.to_string().contains("use a newer groupdesk"));

    let foreign = folder.path().join("foreign.db");
    let other = Connection::open(&foreign).expect("open");
    other
        .execute_batch("CREATE TABLE precious (x)")
        .expect("made");
    drop(other);
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database, but long enough to be looked at".repeat(99),
    )
    .expect("written");
    for file in [&foreign, &text] {
        let before = std::fs::read(file).expect("readable");
        let refused = Store::open(file).expect_err("foreign");
        assert!(matches!(refused, StoreError::Foreign(_)), "{refused}");
        assert_eq!(std::fs::read(file).expect("readable"), before);
    }
}

#[test]
fn many_may_open_a_new_database_at_once() {
    let (_folder, path) = temporary();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Store::open(&path).expect("open"));
        }
    });
}

/// SQLite would take it for a new database and delete the log.
#[test]
fn a_log_without_its_database_stays() {
    for is_empty in [false, true] {
        let (_folder, path) = temporary();
        std::fs::create_dir(path.parent().expect("a folder")).expect("created");
        if is_empty {
            std::fs::write(&path, "").expect("written");
        }
        let log = path.with_file_name("service.db-wal");
        std::fs::write(&log, "the last changes").expect("written");
        let opened = Store::open(&path).map(drop);
        let refused = StoreError::LogAlone(path.display().to_string());
        assert_eq!(opened, Err(refused), "{is_empty}");
        let kept = std::fs::read_to_string(&log).expect("it is there");
        assert_eq!(kept, "the last changes");
    }
}
