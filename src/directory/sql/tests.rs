//! How SQLite treats the files and statements of the directory.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use jiff::Timestamp;
use rusqlite::{StatementStatus, ffi};

use super::{schema::RELEASED, *};
use crate::{
    db::{Access, Tx, repeatable, task, with_columns},
    directory::{
        BeginResult, HistoryFilter, Mutation, MutationId, MutationStep, Numbered, PlaceId,
        RotationFilter, RotationIntent, RotationRow, SnapshotExtras,
    },
    domain::{
        history::Entry,
        mutation,
        rotation::State,
        testing::{fingerprint, id},
    },
};

const PLACE: PlaceId = PlaceId(1);

struct Scene {
    _folder: tempfile::TempDir,
    path: PathBuf,
    session: Session<File>,
}

impl Scene {
    /// A second connection.
    fn raw(&self) -> Connection {
        Connection::open(&self.path).expect("a second connection")
    }

    fn begin(&mut self) -> Result<BeginResult, DirectoryError> {
        execute(&mut self.session, Access::Write, |tx| begin_of(tx, "acme"))
    }

    #[track_caller]
    fn begin_fails(&mut self, is: fn(&DirectoryError) -> bool) {
        let begun = self.begin();
        assert!(begun.as_ref().is_err_and(is), "{begun:?}");
    }
}

fn is_failed(error: &DirectoryError) -> bool {
    matches!(error, DirectoryError::Failed { .. })
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("directory.db");
    let (session, _) = File::open(&path, &Unwritable::default()).expect("a directory");
    let scene = Scene {
        _folder: folder,
        path,
        session,
    };
    let text = "INSERT INTO places (number, name, made_at, made_by) VALUES (1, 'eu', 0, 'ana')";
    scene.raw().execute(text, []).expect("a place");
    scene
}

fn intent(group: &str) -> RotationIntent {
    RotationIntent {
        user_group_id: id(group),
        previous: fingerprint(1),
        by: "ana".into(),
        reason: None,
        at: Timestamp::UNIX_EPOCH,
        profile: "eu".into(),
        hands_off: false,
        settles_in: std::time::Duration::ZERO,
        to_file: false,
        key: None,
        item: None,
        noted: None,
        spares: std::time::Duration::ZERO,
    }
}

fn execute<T: Send + 'static>(
    session: &mut Session<File>,
    access: Access,
    work: impl FnOnce(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, DirectoryError> {
    let (reply, answer) = tokio::sync::oneshot::channel();
    session.process_batch(vec![task(access, work, reply)]);
    receive(answer)
}

/// The answer as a caller of the directory receives it.
fn receive<T>(
    answer: tokio::sync::oneshot::Receiver<Result<T, Fault>>,
) -> Result<T, DirectoryError> {
    let answer = answer.blocking_recv().expect("an answer");
    answer.map_err(|fault| fault.explain(Path::new("/x/directory.db")))
}

fn begin_of(tx: &Tx<'_>, group: &str) -> Result<BeginResult, Fault> {
    journal::begin(tx, PLACE, &intent(group))
}

fn io_error() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR_FSYNC), None)
}

#[test]
fn a_commit_that_fails_is_reported_and_its_connection_is_never_used_again() {
    let mut scene = scene();
    scene.session.database.commit = |tx| {
        drop(tx);
        Err(io_error())
    };
    scene.begin_fails(is_failed);
    assert!(scene.session.connection.is_none());
    scene.session.database.commit = |tx| tx.commit();
    let again = scene.begin().expect("opened again");
    assert!(matches!(again, BeginResult::Started(_)), "{again:?}");
    assert!(scene.session.connection.is_some());
}

#[test]
fn what_was_written_before_the_connection_was_opened_again_is_told() {
    let mut scene = scene();
    // A new connection does not count commits that others made before it was opened.
    scene.session.connection = None;
    let cursor = |tx: &Tx<'_>| changes::cursor(tx, PLACE);
    let seen = execute(&mut scene.session, Access::Long, cursor).expect("readable");
    let text = "INSERT INTO alarms (place, what, raised_at, raised_by) VALUES (1, 'x', 0, 'li')";
    scene.raw().execute(text, []).expect("an alarm");
    scene.session.connection = None;
    let mut look = |seen| {
        let since = move |tx: &Tx<'_>| changes::since(tx, PLACE, &seen);
        execute(&mut scene.session, Access::Write, since).expect("readable")
    };
    let looked = look(seen);
    let told = looked.changes.expect("somebody has written");
    assert_eq!(told.status.alarms, 1);
    let told = look(looked.next).changes;
    assert!(told.is_none(), "told once: {told:?}");
}

#[test]
fn a_commit_that_fails_late_is_an_error_too_and_the_next_look_tells() {
    let mut scene = scene();
    scene.session.database.commit = |tx| tx.commit().and(Err(io_error()));
    scene.begin_fails(is_failed);
    scene.session.database.commit = |tx| tx.commit();
    let again = scene.begin().expect("opened again");
    assert!(matches!(again, BeginResult::TakenBy(_)), "{again:?}");
}

#[test]
fn the_index_knows_which_states_hold_a_token() {
    for state in State::ALL {
        let mut scene = scene();
        scene.begin().expect("written");
        let set = format!(
            "UPDATE rotations SET state = '{}'; UPDATE mutations SET state = 'ended'",
            state.as_str()
        );
        scene.raw().execute_batch(&set).expect("set");
        let holds = !matches!(state, State::NotApplied | State::Abandoned);
        match scene.begin().expect("written") {
            BeginResult::Started(_) => assert!(!holds, "{state:?}"),
            BeginResult::TakenBy(row) => {
                assert!(holds, "{state:?}");
                assert_eq!(row.rotation.state, state);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The schema version after opening a file of version 8 with a change in this state.
fn opened_from_an_earlier_version(state: &str) -> Result<i64, DirectoryError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("directory.db");
    let raw = Connection::open(&path).expect("a connection");
    for migration in &RELEASED {
        raw.execute_batch(migration).expect("the schema");
    }
    let text = format!(
        "INSERT INTO meta VALUES ('fingerprint_key', zeroblob(32)); \
         INSERT INTO places (number, name, made_at, made_by) VALUES (1, 'eu', 0, 'ana'); \
         INSERT INTO mutations (operation, place, profile, user_group_id, state, by, started_at) \
         VALUES ('update', 1, 'eu', 'acme', '{state}', 'ana', unixepoch() * 1000000); \
         PRAGMA application_id = 0x6764736b; PRAGMA user_version = 8"
    );
    raw.execute_batch(&text).expect("a directory");
    drop(raw);
    let (session, _) = File::open(&path, &Unwritable::default())?;
    let connection = session.connection.expect("open");
    Ok(open::version(&connection).expect("readable"))
}

#[test]
fn a_newer_schema_waits_for_whoever_waits_for_an_answer() {
    for (state, waits) in [("intended", true), ("sent", true), ("unknown", false)] {
        match opened_from_an_earlier_version(state) {
            Err(DirectoryError::UnderWay { .. }) => assert!(waits, "{state}"),
            Ok(schema::NEWEST) => assert!(!waits, "{state}"),
            opened => panic!("{state}: {opened:?}"),
        }
    }
}

#[test]
fn a_file_that_a_newer_version_took_over_or_that_was_moved_is_not_written_any_more() {
    let mut newer = scene();
    newer
        .raw()
        .pragma_update(None, "user_version", 99)
        .expect("set");
    newer.begin_fails(|error| matches!(error, DirectoryError::Newer { found: 99, .. }));
    let mut moved = scene();
    std::fs::rename(&moved.path, moved.path.with_extension("old")).expect("moved");
    moved.begin_fails(|error| matches!(error, DirectoryError::Gone { .. }));
    std::fs::write(&moved.path, "another").expect("written");
    moved.begin_fails(|error| matches!(error, DirectoryError::Gone { .. }));
}

#[test]
fn a_row_that_makes_no_sense_is_an_error_with_its_table() {
    let mut scene = scene();
    let text = "INSERT INTO history (at, by, profile, user_group_id, operation, ending, place) \
                VALUES (0, 'ana', 'eu', 'acme', 'explode', 'found', 1)";
    scene.raw().execute(text, []).expect("inserted");
    let list = |tx: &Tx<'_>| {
        let (text, values) = history::selected(HistoryFilter::default());
        Ok(tx.all::<Numbered<Entry>>(text, values)?)
    };
    let listed = execute(&mut scene.session, Access::Long, list);
    let error = listed.expect_err("it cannot be read");
    assert!(
        matches!(
            error,
            DirectoryError::DamagedRow {
                table: "history",
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn every_failure_says_what_to_do() {
    for (code, part) in [
        (ffi::SQLITE_BUSY, "is locked by another program"),
        (ffi::SQLITE_FULL, "free some space"),
        (ffi::SQLITE_IOERR_SHMSIZE, "free some space"),
        (ffi::SQLITE_IOERR_SHMMAP, "free some space"),
        (ffi::SQLITE_READONLY, "the file and its folder writable"),
        (ffi::SQLITE_CANTOPEN, "the file and its folder writable"),
        (ffi::SQLITE_IOERR_WRITE, "check the disk"),
        (ffi::SQLITE_CORRUPT, "move the file away"),
        (ffi::SQLITE_NOTADB, "move the file away"),
        (ffi::SQLITE_CONSTRAINT_TRIGGER, "code 1811"),
    ] {
        let quoting = Some("a row that says secret".to_owned());
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), quoting);
        let text = Fault::from(error).explain(Path::new("/x/directory.db"));
        let text = text.to_string();
        assert!(
            text.contains(part) && text.contains("/x/directory.db"),
            "{text}"
        );
        assert!(!text.contains("secret"), "{text}");
    }
}

/// The answers to what is queued together; `refused` begins and is then refused.
fn queued<const N: usize>(
    scene: &mut Scene,
    groups: [&'static str; N],
    is_repeatable: bool,
    tries: &Arc<AtomicUsize>,
) -> [Result<BeginResult, DirectoryError>; N] {
    let mut batch = Vec::new();
    let answers = groups.map(|group| {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let tries = Arc::clone(tries);
        let work = move |tx: &Tx<'_>| {
            tries.fetch_add(1, Ordering::SeqCst);
            let begun = begin_of(tx, group)?;
            if group == "refused" {
                return Err(DirectoryError::NoBatch(7).into());
            }
            Ok(begun)
        };
        batch.push(repeatable((Access::Write, is_repeatable), work, reply));
        answer
    });
    scene.session.process_batch(batch);
    answers.map(receive)
}

#[test]
fn what_is_queued_is_committed_together_and_a_refusal_undoes_only_itself() {
    // Once each, one after another; or all again, where one was refused.
    for (is_repeatable, tried) in [(false, 3), (true, 5)] {
        let mut scene = scene();
        scene.session.database.commit = |tx| {
            let rows: i64 = tx.query_row("SELECT count(*) FROM rotations", [], |row| row.get(0))?;
            assert_eq!(rows, 2, "one commit for all");
            tx.commit()
        };
        let tries = Arc::new(AtomicUsize::new(0));
        let groups = ["acme", "refused", "globex"];
        let [acme, refused, globex] = queued(&mut scene, groups, is_repeatable, &tries);
        assert_eq!(tries.load(Ordering::SeqCst), tried);
        assert!(
            matches!(refused, Err(DirectoryError::NoBatch(7))),
            "{refused:?}"
        );
        for begun in [acme, globex] {
            assert!(matches!(begun, Ok(BeginResult::Started(_))), "{begun:?}");
        }
    }
    let mut alone = scene();
    let [refused] = queued(&mut alone, ["refused"], false, &Arc::default());
    assert!(
        matches!(refused, Err(DirectoryError::NoBatch(7))),
        "{refused:?}"
    );
    let count = |row: &rusqlite::Row<'_>| row.get(0);
    let rows = alone
        .raw()
        .query_row("SELECT count(*) FROM rotations", [], count);
    assert_eq!(rows, Ok(0), "it leaves nothing");
}

#[test]
fn a_commit_that_fails_is_told_to_everybody_in_it() {
    let mut scene = scene();
    scene.session.database.commit = |tx| {
        drop(tx);
        Err(io_error())
    };
    for answer in queued(&mut scene, ["acme", "globex"], false, &Arc::default()) {
        assert!(answer.as_ref().is_err_and(is_failed), "{answer:?}");
    }
}

#[test]
fn the_states_that_hold_and_are_open_are_those_of_the_domain_and_of_the_indexes() {
    fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
        let words: Vec<_> = words.map(|word| format!("'{word}'")).collect();
        format!("state IN ({})", words.join(", "))
    }
    let of = |is: fn(mutation::State) -> bool| {
        let states = mutation::State::ALL.into_iter().filter(|state| is(*state));
        list(states.map(mutation::State::as_str))
    };
    let open = State::ALL.into_iter().filter(|state| state.is_open());
    for (sql, states, migration) in [
        (journal::OPEN, list(open.map(State::as_str)), 0),
        (mutations::HOLDS, of(mutation::State::holds), 7),
        (mutations::IS_OPEN, of(mutation::State::is_open), 7),
    ] {
        assert_eq!(sql, states);
        assert!(
            RELEASED[migration].contains(&format!("WHERE {states};")),
            "{states}"
        );
    }
}

#[test]
fn a_step_of_a_change_that_the_domain_forbids_is_undone() {
    let mut scene = scene();
    let raw = scene.raw();
    for (number, from) in (1..).zip(mutation::State::ALL) {
        let text = "INSERT INTO mutations (id, place, user_group_id, operation, state, by, profile, started_at) \
                    VALUES (?1, 1, ?1, 'update', ?2, 'ana', 'eu', 0)";
        raw.execute(text, (number, from.as_str()))
            .expect("a change");
        let forbidden = |to: &mutation::State| !from.may_become(*to);
        for to in mutation::State::ALL.into_iter().filter(forbidden) {
            let step = MutationStep {
                id: MutationId(number),
                from,
                to,
                ending: None,
                at: Timestamp::UNIX_EPOCH,
                note: None,
                changes: None,
                sent: None,
                item: None,
            };
            let stepped = execute(&mut scene.session, Access::Write, move |tx| {
                mutations::claim_step(tx, PLACE, &step)?.check(&step)
            });
            let is_refused = matches!(stepped, Err(DirectoryError::ClaimMoved { .. }));
            assert!(is_refused, "{from:?} to {to:?}: {stepped:?}");
            let text = "SELECT state FROM mutations WHERE id = ?1";
            let stored = raw.query_row(text, [number], |row| row.get::<_, String>(0));
            assert_eq!(stored.as_deref(), Ok(from.as_str()), "to {to:?}");
        }
    }
}

/// SQLite's steps to begin a rotation of one group, to read the group and to list its rotations, with so many other
/// groups that have everything.
fn steps_with_others(others: usize) -> i32 {
    let mut scene = scene();
    let fill = format!(
        "WITH RECURSIVE other (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM other WHERE n < {others}) \
         INSERT INTO rotations (place, user_group_id, state, previous, refused, read_unchanged, by, started_at, profile) \
         SELECT 1, 'other-' || n || '-' || state, state, randomblob(32), FALSE, FALSE, 'li', 0, 'eu' FROM other, \
         (SELECT 'rotated' state UNION ALL SELECT 'sent' UNION ALL SELECT 'confirmed'); \
         INSERT INTO mutations (place, user_group_id, operation, state, by, profile, started_at) \
         SELECT 1, user_group_id, 'update', CASE state WHEN 'sent' THEN 'sent' ELSE 'ended' END, 'li', 'eu', 0 FROM rotations; \
         INSERT INTO user_groups (place, user_group_id, origin, change) \
         SELECT 1, user_group_id, '{{}}', id FROM rotations"
    );
    scene.raw().execute_batch(&fill).expect("neighbours");
    scene.begin().expect("begun");
    // The second one is told which rotation replaced its token.
    let end = "UPDATE rotations SET state = 'confirmed', fingerprint = randomblob(32) WHERE user_group_id = 'acme'; \
               UPDATE mutations SET state = 'ended' WHERE user_group_id = 'acme'";
    scene.raw().execute_batch(end).expect("ended");
    let answered = scene.begin().expect("answered");
    assert!(matches!(answered, BeginResult::TakenBy(_)), "{answered:?}");
    let group = id("acme");
    let of_group = RotationFilter {
        place: Some(PLACE),
        user_group_id: Some(group.clone()),
        ..RotationFilter::default()
    };
    let (listed, _) = journal::selected(of_group.clone());
    let rotations = [
        journal::UNSETTLED,
        journal::HOLDER,
        journal::OPEN_OF_GROUP,
        &listed,
    ];
    let rotations = rotations.map(|text| with_columns::<RotationRow>(text.to_owned().into()));
    let mutations = [mutations::HOLDER, mutations::OPEN_OF_GROUP];
    let mutations = mutations.map(|text| with_columns::<Mutation>(text.to_owned().into()));
    execute(&mut scene.session, Access::Write, move |tx| {
        record::read(tx, PLACE, &group, &SnapshotExtras::default(), false, None)?;
        journal::list(tx, of_group)
    })
    .expect("readable");
    let connection = scene.session.connection.as_ref().expect("it is open");
    let others = [journal::BEGIN_ROTATION, order::OF_GROUP].map(Into::into);
    let texts = others.into_iter().chain(rotations).chain(mutations);
    let steps = texts.map(|text| {
        let kept = connection.prepare_cached(&text).expect("it was prepared");
        let steps = kept.get_status(StatementStatus::VmStep);
        assert!(steps > 0, "not done: {text}");
        steps
    });
    steps.sum()
}

#[test]
fn one_group_is_found_without_reading_rows_of_others() {
    let (few, many) = (steps_with_others(1), steps_with_others(300));
    assert!(few > 100, "{few} steps were counted");
    assert!(many < few + few / 4, "{few} steps, then {many}");
}

#[test]
fn whatever_a_place_can_hold_goes_along_when_it_is_merged() {
    // Groups are united one by one.
    for table in [
        "history",
        "rotations",
        "mutations",
        "batches",
        "imports",
        "drafts",
    ] {
        let moves = places::MERGE.iter().any(|text| text.contains(table));
        assert!(moves, "{table}");
    }
}
