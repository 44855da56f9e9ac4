//! How SQLite treats the files and statements of the directory.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use jiff::Timestamp;
use rusqlite::{StatementStatus, ffi};

use super::{schema::RELEASED, *};
use crate::{
    database::{Access, Tx, Value, repeatable, task, with_columns},
    directory::{
        BeginResult, HistoryFilter, Mutation, MutationId, MutationStep, PlaceId, RotationFilter,
        RotationId, RotationIntent, RotationRow, SnapshotExtras,
    },
    domain::{group::UserGroupId, mutation, rotation::State, token::Fingerprint},
};

const PLACE: PlaceId = PlaceId(1);

struct Scene {
    _folder: tempfile::TempDir,
    path: PathBuf,
    session: Session<File>,
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("directory.db");
    let (session, _) = File::open(&path).expect("a directory");
    let raw = Connection::open(&path).expect("a second connection");
    let text = "INSERT INTO places (number, name, made_at, made_by) VALUES (1, 'eu', 0, 'ana')";
    raw.execute(text, []).expect("a place");
    Scene {
        _folder: folder,
        path,
        session,
    }
}

fn intent(group: &str) -> RotationIntent {
    RotationIntent {
        user_group_id: UserGroupId::parse(group).expect("a valid id"),
        previous: Fingerprint::from_bytes([1; 32]),
        by: "ana".into(),
        reason: None,
        at: Timestamp::UNIX_EPOCH,
        profile: "eu".into(),
        hands_off: false,
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

fn begin(session: &mut Session<File>) -> Result<BeginResult, DirectoryError> {
    execute(session, Access::Write, |tx| begin_of(tx, "acme"))
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
    let lost = begin(&mut scene.session);
    assert!(
        matches!(lost, Err(DirectoryError::Failed { .. })),
        "{lost:?}"
    );
    assert!(scene.session.connection.is_none());

    scene.session.database.commit = |tx| tx.commit();
    let again = begin(&mut scene.session).expect("opened again");
    assert!(matches!(again, BeginResult::Started(_)), "{again:?}");
    assert!(scene.session.connection.is_some());
}

#[test]
fn what_was_written_before_the_connection_was_opened_again_is_told() {
    let mut scene = scene();
    // A new connection does not count commits that others made before it was opened.
    scene.session.connection = None;
    let seen = execute(&mut scene.session, Access::Long, |c| {
        changes::cursor(c, PLACE)
    });
    let seen = seen.expect("readable");
    let other = Connection::open(&scene.path).expect("a second connection");
    let text = "INSERT INTO alarms (place, what, raised_at, raised_by) VALUES (1, 'x', 0, 'li')";
    other.execute(text, []).expect("an alarm");
    scene.session.connection = None;
    let mut look = |seen| {
        let looked = execute(&mut scene.session, Access::Write, move |tx| {
            changes::since(tx, PLACE, &seen)
        });
        looked.expect("readable")
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
    let kept = begin(&mut scene.session);
    assert!(
        matches!(kept, Err(DirectoryError::Failed { .. })),
        "{kept:?}"
    );
    scene.session.database.commit = |tx| tx.commit();
    let again = begin(&mut scene.session).expect("opened again");
    assert!(matches!(again, BeginResult::TakenBy(_)), "{again:?}");
}

#[test]
fn the_index_knows_which_states_hold_a_token() {
    for state in State::ALL {
        let mut scene = scene();
        let BeginResult::Started(RotationId(first)) = begin(&mut scene.session).expect("written")
        else {
            panic!("the first one starts");
        };
        let raw = Connection::open(&scene.path).expect("a second connection");
        raw.execute(
            "UPDATE rotations SET state = ?1 WHERE id = ?2",
            (state.as_str(), first),
        )
        .expect("set");
        raw.execute("UPDATE mutations SET state = 'ended'", ())
            .expect("set");
        match begin(&mut scene.session).expect("written") {
            BeginResult::Started(_) => assert!(!state.holds_token(), "{state:?}"),
            BeginResult::TakenBy(row) => {
                assert!(state.holds_token(), "{state:?}");
                assert_eq!((row.id.0, row.rotation.state), (first, state));
            }
            BeginResult::HeldBy(holder) => panic!("held by {holder:?}"),
            BeginResult::RotatedBy(token) => panic!("rotated: {token:?}"),
        }
    }
}

/// The schema version after opening a file of version 8 with a change in this state, started so many seconds ago. A rotation is
/// of version 7: since then it has a row in both journals.
fn opened_from_an_earlier_version(
    journal: &str,
    state: &str,
    seconds: i64,
) -> Result<i64, DirectoryError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("directory.db");
    let raw = Connection::open(&path).expect("a connection");
    let version = if journal == "rotations" { 7 } else { 8 };
    for migration in &RELEASED[..version] {
        raw.execute_batch(migration).expect("the schema");
    }
    let (columns, values) = match journal {
        "rotations" => ("previous, refused, read_unchanged", "zeroblob(32), 0, 0"),
        _ => ("operation, note", "'update', NULL"),
    };
    let text = format!(
        "INSERT INTO meta VALUES ('fingerprint_key', zeroblob(32)); \
         INSERT INTO places (number, name, made_at, made_by) VALUES (1, 'eu', 0, 'ana'); \
         INSERT INTO {journal} ({columns}, place, profile, user_group_id, state, by, started_at) \
         VALUES ({values}, 1, 'eu', 'acme', '{state}', 'ana', (unixepoch() - {seconds}) * 1000000); \
         PRAGMA application_id = 0x6764736b; PRAGMA user_version = {version}"
    );
    raw.execute_batch(&text).expect("a directory");
    drop(raw);
    let (session, _) = File::open(&path)?;
    let connection = session.connection.expect("open");
    Ok(open::version(&connection).expect("readable"))
}

#[test]
fn a_newer_schema_waits_for_whoever_waits_for_an_answer() {
    for journal in ["rotations", "mutations"] {
        for (state, seconds, waits) in [
            ("sent", 5, true),
            // The longest timeout of a profile.
            ("sent", 2 * 60, true),
            ("sent", 19 * 60, true),
            ("intended", 5, true),
            ("unknown", 5, false),
            ("sent", 3_600, false),
        ] {
            let opened = opened_from_an_earlier_version(journal, state, seconds);
            let what = format!("{journal} {state} {seconds} s: {opened:?}");
            match opened {
                Err(DirectoryError::UnderWay { .. }) => assert!(waits, "{what}"),
                Ok(schema::NEWEST) => assert!(!waits, "{what}"),
                _ => panic!("{what}"),
            }
        }
    }
}

#[test]
fn a_file_that_a_newer_version_took_over_is_not_written_any_more() {
    let mut scene = scene();
    let raw = Connection::open(&scene.path).expect("a second connection");
    raw.pragma_update(None, "user_version", 99).expect("set");
    let refused = begin(&mut scene.session);
    assert!(
        matches!(refused, Err(DirectoryError::Newer { found: 99, .. })),
        "{refused:?}"
    );
}

#[test]
fn a_file_that_was_moved_is_not_written_any_more() {
    let mut scene = scene();
    std::fs::rename(&scene.path, scene.path.with_extension("old")).expect("moved");
    let refused = begin(&mut scene.session);
    assert!(
        matches!(refused, Err(DirectoryError::Gone { .. })),
        "{refused:?}"
    );
    std::fs::write(&scene.path, "another").expect("written");
    let refused = begin(&mut scene.session);
    assert!(
        matches!(refused, Err(DirectoryError::Gone { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_row_that_makes_no_sense_is_an_error_with_its_table() {
    let mut scene = scene();
    let raw = Connection::open(&scene.path).expect("a second connection");
    raw.execute(
        "INSERT INTO history (at, by, profile, user_group_id, operation, ending, place) \
         VALUES (0, 'ana', 'eu', 'acme', 'explode', 'found', 1)",
        [],
    )
    .expect("inserted");
    let listed = execute(&mut scene.session, Access::Long, |c| {
        history::list(c, HistoryFilter::default())
    });
    assert!(
        matches!(
            listed,
            Err(DirectoryError::DamagedRow {
                table: "history",
                ..
            })
        ),
        "{listed:?}"
    );
}

#[test]
fn every_failure_says_what_to_do() {
    for (code, part) in [
        (ffi::SQLITE_BUSY, "is locked by another program"),
        (ffi::SQLITE_FULL, "free some space"),
        (ffi::SQLITE_IOERR_SHMSIZE, "free some space"),
        (ffi::SQLITE_IOERR_SHMMAP, "free some space"),
        (
            ffi::SQLITE_READONLY,
            "make the file and its folder writable",
        ),
        (
            ffi::SQLITE_CANTOPEN,
            "make the file and its folder writable",
        ),
        (ffi::SQLITE_IOERR_WRITE, "check the disk"),
        (ffi::SQLITE_CORRUPT, "move the file away"),
        (ffi::SQLITE_NOTADB, "move the file away"),
        (ffi::SQLITE_CONSTRAINT_TRIGGER, "code 1811"),
    ] {
        let quoting = Some("a row that says secret".to_owned());
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), quoting);
        let text = Fault::from(error)
            .explain(Path::new("/x/directory.db"))
            .to_string();
        assert!(text.contains(part), "{text}");
        assert!(text.contains("/x/directory.db"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
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
        let mut answers = Vec::new();
        let mut batch = Vec::new();
        for group in ["acme", "refused", "globex"] {
            let (reply, answer) = tokio::sync::oneshot::channel();
            let tries = Arc::clone(&tries);
            let work = move |tx: &Tx<'_>| {
                tries.fetch_add(1, Ordering::SeqCst);
                let begun = begin_of(tx, group)?;
                if group == "refused" {
                    return Err(DirectoryError::NoBatch(7).into());
                }
                Ok(begun)
            };
            batch.push(if is_repeatable {
                repeatable(Access::Write, work, reply)
            } else {
                task(Access::Write, work, reply)
            });
            answers.push(answer);
        }
        scene.session.process_batch(batch);
        assert_eq!(tries.load(Ordering::SeqCst), tried);
        let answers: Vec<_> = answers.into_iter().map(receive).collect();
        assert!(
            matches!(
                answers.as_slice(),
                [
                    Ok(BeginResult::Started(_)),
                    Err(DirectoryError::NoBatch(7)),
                    Ok(BeginResult::Started(_))
                ]
            ),
            "{answers:?}"
        );
    }
}

#[test]
fn what_is_refused_alone_leaves_nothing() {
    let mut scene = scene();
    let refused = execute(&mut scene.session, Access::Write, |tx| {
        begin_of(tx, "acme")?;
        Err::<(), _>(DirectoryError::NoBatch(7).into())
    });
    assert!(
        matches!(refused, Err(DirectoryError::NoBatch(7))),
        "{refused:?}"
    );
    let begun = begin(&mut scene.session);
    assert!(matches!(begun, Ok(BeginResult::Started(_))), "{begun:?}");
}

#[test]
fn a_commit_that_fails_is_told_to_everybody_in_it() {
    let mut scene = scene();
    scene.session.database.commit = |tx| {
        drop(tx);
        Err(io_error())
    };
    let mut batch = Vec::new();
    let mut answers = Vec::new();
    for group in ["acme", "globex"] {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let work = move |tx: &Tx<'_>| begin_of(tx, group);
        batch.push(task(Access::Write, work, reply));
        answers.push(answer);
    }
    scene.session.process_batch(batch);
    for answer in answers {
        let answer = receive(answer);
        assert!(
            matches!(answer, Err(DirectoryError::Failed { .. })),
            "{answer:?}"
        );
    }
}

/// The parameters `$1`, `$2`, … in a piece of source code.
fn parameters(piece: &str) -> Vec<usize> {
    let after_signs = piece.split('$').skip(1);
    let digits = after_signs.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits.filter_map(|digits| digits?.parse().ok()).collect()
}

#[test]
fn parameters_first_appear_in_order() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/directory/sql");
    let folders = [here.join("places"), here];
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let mut seen = 0;
    for file in files.map(|file| file.expect("an entry").path()) {
        if file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source");
        // A statement ends where its line or list item ends.
        for piece in text.split(";\n").flat_map(|item| item.split("\",\n")) {
            let mut highest = 0;
            for number in parameters(piece) {
                assert!(number <= highest + 1, "${number} is early in {piece}");
                highest = highest.max(number);
            }
            seen += usize::from(highest > 0);
        }
    }
    assert!(seen > 100, "{seen} texts were found");
}

#[test]
fn the_open_states_are_those_of_the_domain_and_of_the_index() {
    let words: Vec<_> = State::ALL
        .into_iter()
        .filter(|state| state.is_open())
        .map(|state| format!("'{}'", state.as_str()))
        .collect();
    assert_eq!(journal::OPEN, format!("state IN ({})", words.join(", ")));
    assert!(RELEASED[0].contains(&format!("WHERE {};", journal::OPEN)));
}

#[test]
fn the_states_that_hold_and_are_open_are_those_of_the_domain_and_of_the_indexes() {
    let list = |is: fn(mutation::State) -> bool| {
        let words = mutation::State::ALL.into_iter().filter(|state| is(*state));
        let words: Vec<_> = words.map(|state| format!("'{}'", state.as_str())).collect();
        format!("state IN ({})", words.join(", "))
    };
    assert_eq!(mutations::HOLDS, list(mutation::State::holds));
    assert_eq!(mutations::IS_OPEN, list(mutation::State::is_open));
    for states in [mutations::HOLDS, mutations::IS_OPEN] {
        let index = format!("WHERE {states};");
        assert!(RELEASED[7].contains(&index), "{states}");
    }
}

#[test]
fn a_step_of_a_change_that_the_domain_forbids_is_undone() {
    let mut scene = scene();
    let raw = Connection::open(&scene.path).expect("a second connection");
    for (number, from) in (1..).zip(mutation::State::ALL) {
        let text = "INSERT INTO mutations (id, place, user_group_id, operation, state, by, profile, started_at) \
                    VALUES (?1, 1, ?1, 'update', ?2, 'ana', 'eu', 0)";
        let added = raw.execute(text, (number, from.as_str()));
        added.expect("a change");
        let stored = || {
            let text = "SELECT state FROM mutations WHERE id = ?1";
            raw.query_row(text, [number], |row| row.get::<_, String>(0))
        };
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
            assert_eq!(stored().expect("a row"), from.as_str(), "to {to:?}");
        }
    }
}

/// SQLite's steps to begin a rotation of one group, to read the group and to list its rotations, with so many other
/// groups that have everything.
fn steps_with_others(others: usize) -> i32 {
    let mut scene = scene();
    let raw = Connection::open(&scene.path).expect("a second connection");
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
    raw.execute_batch(&fill).expect("neighbours");
    begin(&mut scene.session).expect("begun");
    let group = UserGroupId::parse("acme").expect("a valid id");
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
        snapshot::read(tx, PLACE, &group, &SnapshotExtras::default(), false)?;
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
fn filters_become_conditions() {
    let (text, parameters) = history::selected(HistoryFilter {
        place: Some(PlaceId(3)),
        before: Some(7),
        limit: Some(2),
        ..HistoryFilter::default()
    });
    assert!(
        text.ends_with(
            "FROM history WHERE place = $1 AND number < $2 ORDER BY number DESC LIMIT $3"
        ),
        "{text}"
    );
    assert_eq!(parameters, [3, 7, 2].map(Value::Integer));
    let (text, _) = journal::selected(RotationFilter::default());
    assert!(
        text.ends_with("FROM rotations ORDER BY id DESC LIMIT $1"),
        "{text}"
    );
}

#[test]
fn whatever_a_place_can_hold_goes_along_when_it_is_merged() {
    let holds = [
        "user_groups",
        "history",
        "rotations",
        "mutations",
        "batches",
        "imports",
        "drafts",
    ];
    for table in holds {
        let moves = places::MERGE.iter().any(|text| text.contains(table));
        // Groups are united one by one.
        assert!(moves || table == "user_groups", "{table}");
    }
}
