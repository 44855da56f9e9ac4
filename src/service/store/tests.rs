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

fn opened() -> (tempfile::TempDir, std::path::PathBuf, Store) {
    with(Options::default())
}

fn with(options: Options) -> (tempfile::TempDir, std::path::PathBuf, Store) {
    let (folder, path) = temporary();
    let store = Store::open(&path, options).expect("open");
    (folder, path, store)
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
fn every_file_is_private_from_the_start_and_durable() {
    use rusqlite::types::Value as Setting;
    let (folder, _, store) = opened();
    on_file(&store, Access::Write, add("one")).expect("done");
    for (file, expected) in [
        ("service", 0o700),
        ("service/service.db", 0o600),
        ("service/service.db-wal", 0o600),
        ("service/service.db-shm", 0o600),
    ] {
        let found = std::fs::metadata(folder.path().join(file)).expect("it exists");
        assert_eq!(found.mode() & 0o777, expected, "{file}");
    }
    for (pragma, expected) in [
        ("journal_mode", Setting::from("wal".to_owned())),
        ("synchronous", Setting::from(2)),
        ("foreign_keys", Setting::from(1)),
    ] {
        let setting = on_file(&store, Access::Short, move |connection| {
            Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
        });
        assert_eq!(setting, Ok(expected), "{pragma}");
    }
}

#[test]
fn a_caller_that_goes_away_does_not_cancel_its_work() {
    let (_folder, path, store) = opened();
    let release = block_store(&store);
    drop(queue(&store, add("orphan")));
    drop(release);
    on_file(&store, Access::Short, |_| Ok(())).expect("done");
    assert_eq!(names(&path), ["orphan"]);
}

#[test]
fn dropping_the_store_finishes_what_is_queued() {
    let (_folder, path, store) = opened();
    let release = block_store(&store);
    let queued = ["a", "b", "c"].map(|name| drop(queue(&store, add(name))));
    drop((release, store));
    // The holder's clone may be the last one: wait for the file, with a deadline.
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while names(&path).len() < queued.len() {
        assert!(std::time::Instant::now() < deadline, "{:?}", names(&path));
        std::thread::yield_now();
    }
}

#[test]
fn a_full_disk_fails_the_whole_batch_and_the_next_one_works() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&reports);
    let (_folder, path, store) = with(Options {
        report: Some(Arc::new(move |error| {
            heard.lock().expect("not poisoned").push(error.clone());
        })),
        ..Options::default()
    });
    on_file(&store, Access::Write, add("before")).expect("done");
    let release = block_store(&store);
    let innocent = queue(&store, add("innocent"));
    let guilty = queue(&store, |connection| {
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
        add_large(connection)
    });
    assert_eq!(store.pending_writes(), 2);
    drop(release);
    for result in finish(async { [innocent.await, guilty.await] }) {
        assert!(matches!(result, Err(StoreError::Failed(_))), "{result:?}");
    }
    assert_eq!(
        (names(&path), store.pending_writes()),
        (vec!["before".into()], 0)
    );
    assert_eq!(reports.lock().expect("not poisoned").len(), 1);
    // The limit applied to the old connection; this one is new.
    on_file(&store, Access::Write, add_large).expect("reopened");
    assert_eq!(names(&path).len(), 2);
}

#[test]
fn a_panic_is_a_failure_and_not_the_end() {
    let (_folder, path, store) = opened();
    let panics = |connection: &Connection| -> Result<(), StoreError> {
        add("half")(connection)?;
        std::panic::panic_any("on purpose")
    };
    let result = on_file(&store, Access::Write, panics);
    assert!(matches!(result, Err(StoreError::Failed(_))));
    on_file(&store, Access::Write, add("after")).expect("done");
    assert_eq!(names(&path), ["after"]);
}

#[test]
fn a_full_queue_is_overload() {
    let (_folder, _path, store) = with(Options {
        queue: 1,
        ..Options::default()
    });
    let release = block_store(&store);
    let queued = queue(&store, add("queued"));
    let refused = finish(store.execute(Access::Write, of_file(add("refused"))));
    assert_eq!(refused, Err(StoreError::Overloaded));
    drop(release);
    assert_eq!(finish(queued), Ok(()));
}

#[test]
fn another_process_that_holds_the_lock_makes_writes_busy_but_not_reads() {
    let (_folder, path, store) = with(Options {
        busy_timeout: Duration::from_millis(20),
        ..Options::default()
    });
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
    let (folder, path, store) = opened();
    drop(store);
    let other = Connection::open(&path).expect("open");
    other.pragma_update(None, "user_version", 99).expect("set");
    let newer = Store::open(&path, Options::default());
    let newer = newer.err().expect("newer");
    let (found, known) = (99, 2);
    assert_eq!(newer, StoreError::Newer { found, known });
    assert!(newer.to_string().contains("use a newer groupdesk"));
    let foreign = folder.path().join("foreign.db");
    let other = Connection::open(&foreign).expect("open");
    other
        .execute_batch("CREATE TABLE precious (x)")
        .expect("made");
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database, but long enough to be looked at".repeat(99),
    )
    .expect("written");
    for file in [&foreign, &text] {
        let before = std::fs::read(file).expect("readable");
        let refused = Store::open(file, Options::default());
        let refused = refused.err().expect("foreign");
        assert!(matches!(refused, StoreError::Foreign(_)), "{refused}");
        assert_eq!(std::fs::read(file).expect("readable"), before);
    }
}

#[test]
fn many_may_open_a_new_database_at_once() {
    let (_folder, path) = temporary();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Store::open(&path, Options::default()).expect("open"));
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
        let opened = Store::open(&path, Options::default()).map(drop);
        let refused = StoreError::LogAlone(path.display().to_string());
        assert_eq!(opened, Err(refused), "{is_empty}");
        let kept = std::fs::read_to_string(&log).expect("it is there");
        assert_eq!(kept, "the last changes");
    }
}
