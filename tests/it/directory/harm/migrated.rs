//! A directory of an older groupdesk: before its schema changes, a complete and private copy is kept, or nothing is
//! changed, whatever is in the way and whenever the process is killed.

use super::*;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};

/// The schemas of releases up to 0.2.0.
const SCHEMAS: [&str; 8] = [
    include_str!("../../../../assets/migrations/directory/0001_begin.sql"),
    include_str!("../../../../assets/migrations/directory/0002_batches_and_handoff.sql"),
    include_str!("../../../../assets/migrations/directory/0003_boot_clock.sql"),
    include_str!("../../../../assets/migrations/directory/0004_console.sql"),
    include_str!("../../../../assets/migrations/directory/0005_drafts.sql"),
    include_str!("../../../../assets/migrations/directory/0006_imports.sql"),
    include_str!("../../../../assets/migrations/directory/0007_places.sql"),
    include_str!("../../../../assets/migrations/directory/0008_mutations.sql"),
];
const OLD: i64 = SCHEMAS.len() as i64;
/// The last schema that keeps groups by profile.
const BY_PROFILE: i64 = 6;
const KILLS: usize = 20;
pub(super) const CASES: usize = OLD as usize * Obstacle::ALL.len() + KILLS;
/// Enough rows for a file larger than the index of its log.
const ROWS: usize = 400;

cases! {
    /// What is found beside the old file.
    enum Obstacle {
        Nothing,
        /// The last writes are only in the log.
        UnmergedLog,
        Wide,
        OlderCopy,
        LinkAsCopy,
        LinkAsPart,
        LeftPart,
        FolderAsCopy,
        FifoAsCopy,
        FullDisk,
        TwoAtOnce,
    }
}

fn fill(raw: &Connection, version: i64, from: usize, to: usize) {
    let (column, owner) = if version <= BY_PROFILE {
        ("profile", "?1")
    } else {
        ("place", "(SELECT number FROM places WHERE name = ?1)")
    };
    let group = format!(
        "INSERT INTO user_groups ({column}, user_group_id, name, origin) VALUES ({owner}, ?2, 'Acme', \
         '{{\"name\": [\"sent\", 1767225600000000, \"ana\"]}}')"
    );
    let (place, number) = if version <= BY_PROFILE {
        ("", String::new())
    } else {
        (", place", format!(", {owner}"))
    };
    let entry = format!(
        "INSERT INTO history (at, by, profile, user_group_id, operation, ending{place}) \
         VALUES (1767225600000000, 'ana', ?1, ?2, 'update', 'updated'{number})"
    );
    for row in from..to {
        let row = format!("acme-{row}");
        raw.execute(&group, (PROFILE, &row)).expect("a group");
        raw.execute(&entry, (PROFILE, &row)).expect("an entry");
    }
}

/// A directory as the groupdesk of this version left it.
fn old(version: i64) -> TempFile {
    let place = TempFile::with(b"");
    let raw = Connection::open(place.file()).expect("a connection");
    raw.execute_batch("BEGIN").expect("begun");
    // Rows keyed by profile are keyed by place after the migration.
    let filled = version.min(BY_PROFILE);
    for schema in &SCHEMAS[..filled as usize] {
        raw.execute_batch(schema).expect("the schema");
    }
    raw.execute(
        "INSERT INTO meta VALUES ('fingerprint_key', ?1)",
        [[9_u8; 32]],
    )
    .expect("a key");
    raw.pragma_update(None, "application_id", 0x6764_736b)
        .expect("ours");
    raw.pragma_update(None, "user_version", version)
        .expect("set");
    fill(&raw, filled, 0, ROWS);
    for schema in &SCHEMAS[filled as usize..version as usize] {
        raw.execute_batch(schema).expect("the schema");
    }
    raw.execute_batch("COMMIT; PRAGMA journal_mode = WAL")
        .expect("written");
    place
}

/// Version and rows as the groupdesk of that version would find them.
fn contents(path: &Path) -> (i64, usize, usize) {
    let raw = Connection::open(path).expect("a connection");
    let number = |sql: &str| {
        raw.query_row(sql, [], |row| row.get::<_, i64>(0))
            .expect("SQL")
    };
    let whole: String = raw
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("SQL");
    assert_eq!(whole, "ok");
    (
        number("PRAGMA user_version"),
        number("SELECT count(*) FROM user_groups") as usize,
        number("SELECT count(*) FROM history") as usize,
    )
}

async fn assert_has_all(path: &Path) {
    let directory = Directory::open(path).expect("it opens");
    assert_eq!(
        directory
            .groups(place(&directory, PROFILE))
            .await
            .expect("readable")
            .len(),
        ROWS
    );
    let history = directory.history(HistoryFilter::default()).await;
    assert_eq!(history.expect("readable").len(), ROWS);
    let listed = directory.first_groups(place(&directory, PROFILE), SortBy::Name, false, (ROWS, 0));
    let listed = listed.await.expect("readable");
    assert_eq!((listed.total, listed.index.len()), (ROWS, ROWS));
    let order = (SortBy::Name, false);
    let first = directory.first_groups(place(&directory, PROFILE), order.0, order.1, (9, 3));
    // All have the same name but one, in some tests, whose name is damaged.
    let first = first.await.expect("readable").index;
    let ids: Vec<_> = first.entries().map(Row::id).collect();
    assert!(
        ids.contains(&"acme-0") && ids.contains(&"acme-1"),
        "{ids:?}"
    );
}

/// The newest schema version of this program.
pub(super) fn newest() -> i64 {
    let place = TempFile::with(b"");
    Directory::open(&place.file()).expect("made");
    inspect(&place.file(), &HashMap::new())
        .expect("ours")
        .schema
}

/// Checks that a copy of that version exists with everything, readable by its owner alone.
fn assert_copy_kept(file: &Path, version: i64) {
    let copy = backup_of(file, version);
    let found = fs::symlink_metadata(&copy).expect("a copy");
    assert!(found.is_file(), "{found:?}");
    assert_eq!(found.mode() & 0o777, 0o600);
    assert_eq!(contents(&copy), (version, ROWS, ROWS));
    assert!(!part(file, version).exists());
    assert_eq!(
        inspect(file, &HashMap::new())
            .map(|looked| (looked.schema, looked.faults))
            .ok(),
        Some((newest(), 0))
    );
}

fn part(file: &Path, version: i64) -> PathBuf {
    super::with_suffix(&backup_of(file, version), ".part")
}

/// Runs the program with a limit of the file size, in blocks of 512 bytes.
pub(super) fn program(
    place: &TempFile,
    blocks: Option<usize>,
    arguments: &[&str],
) -> (Option<i32>, String) {
    let limit = blocks.map_or(":".into(), |blocks| {
        format!("trap '' XFSZ; ulimit -f {blocks}")
    });
    let output = bare_after(&limit, GROUPDESK, place.0.path())
        .as_std_mut()
        .arg("--directory")
        .arg(place.file())
        .args(arguments)
        .env("GROUPDESK_BASE_URL", "http://127.0.0.1:9")
        .env("GROUPDESK_API_KEY", "a-key")
        .output()
        .expect("it runs");
    (output.status.code(), all_output(&output))
}

fn assert_no_copy_and_unchanged(place: &TempFile, version: i64, before: &[u8]) {
    let file = place.file();
    let refused = Directory::open(&file).expect_err("refused");
    assert_is!(refused, DirectoryError::NotBackedUp { .. });
    assert_error_is_clear(&refused, &file);
    assert_eq!(bytes_of(&file), before, "nothing was changed");
    assert!(!part(&file, version).exists());
}

async fn check_way(way: Obstacle, version: i64) {
    let place = old(version);
    let file = place.file();
    let copy = backup_of(&file, version);
    let precious = place.0.path().join("precious");
    fs::write(&precious, "precious").expect("written");
    let before = bytes_of(&file);
    match way {
        Obstacle::Nothing => {}
        Obstacle::Wide => {
            fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("set");
        }
        Obstacle::UnmergedLog => {
            let raw = Connection::open(&file).expect("a connection");
            raw.execute_batch("PRAGMA wal_autocheckpoint = 0")
                .expect("set");
            // The history is append-only, so the rest of it is written now.
            fill(&raw, version, ROWS, ROWS + 7);
            assert_log_not_merged(&file);
            Directory::open(&file).expect("it opens");
            drop(raw);
            let rows = ROWS + 7;
            assert_eq!(contents(&copy), (version, rows, rows));
            return;
        }
        Obstacle::OlderCopy => fs::write(&copy, "an older copy").expect("written"),
        Obstacle::LinkAsCopy => symlink(&precious, &copy).expect("linked"),
        Obstacle::LinkAsPart => symlink(&precious, part(&file, version)).expect("linked"),
        Obstacle::LeftPart => fs::write(part(&file, version), "half").expect("written"),
        Obstacle::FolderAsCopy => {
            fs::create_dir(&copy).expect("made");
            assert_no_copy_and_unchanged(&place, version, &before);
            let (code, said) = program(&place, None, &["doctor"]);
            assert!(said.contains("backup-v"), "{code:?}: {said}");
            fs::remove_dir(&copy).expect("the way out");
        }
        Obstacle::FifoAsCopy => {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                &copy,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR,
                0,
            )
            .expect("a FIFO");
            assert!(
                fs::symlink_metadata(&copy)
                    .expect("there")
                    .file_type()
                    .is_fifo()
            );
        }
        Obstacle::FullDisk => {
            // Enough for the index of the log, which is 32 KiB, but not for a copy.
            let blocks = before.len() / 512 - 1;
            assert!(blocks > 64, "{blocks}");
            let (code, said) = program(&place, Some(blocks), &["list"]);
            assert_eq!(code, Some(2), "{said}");
            assert!(said.contains("nothing was changed: free some"), "{said}");
            assert_eq!(bytes_of(&file), before);
            assert!(!copy.exists() && !part(&file, version).exists());
        }
        Obstacle::TwoAtOnce => {
            let both = [0, 1].map(|_| {
                let file = file.clone();
                thread::spawn(move || Directory::open(&file).map(drop))
            });
            for one in both {
                one.join()
                    .expect("no panic")
                    .expect("it waits for the other");
            }
        }
    }
    assert_has_all(&file).await;
    assert_copy_kept(&file, version);
    assert_eq!(
        fs::read_to_string(&precious).expect("there"),
        "precious",
        "{way:?}"
    );
    if way == Obstacle::Nothing {
        let (_, said) = program(&place, None, &["doctor"]);
        let name = copy
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert!(said.contains(&name), "doctor mentions the copy: {said}");
        // The way back: the older groupdesk would find all of it.
        fs::rename(&copy, &file).expect("put back");
        assert_eq!(contents(&file), (version, ROWS, ROWS));
    }
}

#[tokio::test]
async fn a_damaged_text_does_not_prevent_opening_an_older_directory() {
    for version in [BY_PROFILE, OLD] {
        let place = old(version);
        let raw = Connection::open(place.file()).expect("a connection");
        let damage =
            "UPDATE user_groups SET name = CAST(x'ff' AS TEXT) WHERE user_group_id = 'acme-7'";
        assert_eq!(raw.execute(damage, []).expect("damaged"), 1);
        drop(raw);
        assert_has_all(&place.file()).await;
    }
}

/// Begins a change as another process with this version did so many minutes ago, by its clock since boot if that is kept.
fn begin_change(file: &Path, version: i64, minutes: u64, keeps_clock: bool) {
    let raw = Connection::open(file).expect("a connection");
    let ago = Duration::from_mins(minutes);
    let at = (jiff::Timestamp::now() - ago).as_microsecond();
    raw.execute_batch("DELETE FROM rotations; DROP TRIGGER IF EXISTS mutations_no_delete")
        .expect("SQL");
    if version >= 8 {
        raw.execute_batch("DELETE FROM mutations").expect("SQL");
        let begun = "INSERT INTO mutations (place, user_group_id, operation, state, by, profile, started_at, sent_at) \
             SELECT number, 'acme-7', 'rotate', 'sent', 'li@desk', ?1, ?2, ?2 FROM places WHERE name = ?1";
        raw.execute(begun, (PROFILE, at)).expect("begun");
    } else if version > BY_PROFILE {
        let begun = "INSERT INTO rotations (place, profile, user_group_id, state, previous, refused, read_unchanged, by, \
             started_at, sent_at) SELECT number, ?1, 'acme-7', 'sent', ?3, 0, 0, 'li@desk', ?2, ?2 FROM places WHERE name = ?1";
        raw.execute(begun, (PROFILE, at, [7_u8; 32]))
            .expect("begun");
    } else {
        let begun = "INSERT INTO rotations (profile, user_group_id, state, previous, refused, read_unchanged, by, \
             started_at, sent_at) VALUES (?1, 'acme-7', 'sent', ?3, 0, 0, 'li@desk', ?2, ?2)";
        raw.execute(begun, (PROFILE, at, [7_u8; 32]))
            .expect("begun");
    }
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    if keeps_clock && let Ok(boot) = boot {
        let up = fs::read_to_string("/proc/uptime").expect("readable");
        let up: f64 = up
            .split_whitespace()
            .next()
            .expect("it is")
            .parse()
            .expect("seconds");
        let (id, since) = (boot.trim(), ((up - ago.as_secs_f64()) * 1e6) as i64);
        let table = if version >= 8 {
            "mutations"
        } else {
            "rotations"
        };
        let wrong = at + 86_400_000_000;
        let clock = format!("UPDATE {table} SET boot_clock = ?1, started_at = ?2, sent_at = ?2");
        raw.execute(&clock, (format!("{id}:{since}"), wrong))
            .expect("set");
    }
}

#[tokio::test]
async fn an_upgrade_waits_as_long_as_a_change_of_any_profile_may_be_in_progress() {
    for version in long::spread(1..=OLD, 2) {
        for keeps_clock in [false, version >= 3] {
            let place = old(version);
            let file = place.file();
            for minutes in [0, 2, 19] {
                begin_change(&file, version, minutes, keeps_clock);
                match Directory::open(&file) {
                    Err(DirectoryError::UnderWay {
                        what,
                        minutes: left,
                    }) => {
                        assert_eq!(what, "rotation of \"acme-7\" by li@desk");
                        assert!(left.abs_diff(20 - minutes) <= 1, "{version}: {left}");
                    }
                    other => panic!("{version}, {minutes} min: {other:?}"),
                }
                let raw = Connection::open(&file).expect("a connection");
                let now: i64 = raw
                    .query_row("PRAGMA user_version", [], |row| row.get(0))
                    .expect("SQL");
                assert_eq!(now, version, "nothing was changed");
            }
            begin_change(&file, version, 21, keeps_clock);
            Directory::open(&file).expect("nothing can be in progress any more");
        }
    }
}

fn assert_log_not_merged(file: &Path) {
    let log = super::with_suffix(file, "-wal");
    assert!(fs::metadata(log).is_ok_and(|log| log.len() > 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_a_migration_a_copy_is_kept_or_nothing_changes() {
    let every = Obstacle::ALL
        .iter()
        .flat_map(|way| (1..=OLD).map(move |version| (*way, version)));
    let cases = long::spread(every, 7);
    println!("{} migrations", cases.len());
    for (way, version) in cases {
        check_way(way, version).await;
    }
}

#[tokio::test]
async fn a_migration_killed_at_any_time_leaves_the_old_or_the_new_schema() {
    let cases = long::spread(0..KILLS, 5);
    let (all, mut migrated) = (cases.len(), 0);
    for case in cases {
        let version = 1 + case as i64 % OLD;
        let place = old(version);
        let scribe = Recorder::start(&Order {
            directory: place.file(),
            name: "k".into(),
            writers: 0,
            groups: Some(0),
            lock: None,
        });
        thread::park_timeout(Duration::from_millis(3 * case as u64));
        scribe.kill();
        assert!(is_whole(&place.file()));
        let looked = inspect(&place.file(), &HashMap::new()).expect("it can be looked at");
        if looked.schema > version {
            migrated += 1;
            assert_copy_kept(&place.file(), version);
        } else {
            assert_eq!(looked.schema, version);
        }
        assert_has_all(&place.file()).await;
        assert_copy_kept(&place.file(), version);
    }
    println!("{all} migrations killed, {migrated} of them after the end");
}
