//! Care of the file: who may read it, what is refused, what survives, and what is never written into it.

use super::*;
use crate::support::world::place;

#[tokio::test]
async fn files_are_private_and_wider_modes_are_narrowed() {
    let installation = Opened::new();
    let (path, folder) = (
        installation.path(),
        installation.folder.path().join("groupdesk"),
    );
    let directory = installation.open();
    directory
        .record(
            place(&directory, "eu"),
            history_record(entry("eu", "acme", 0)),
        )
        .await
        .expect("written");
    assert_eq!(mode(&folder), 0o700);
    let files = [
        path.clone(),
        with_suffix(&path, "-wal"),
        with_suffix(&path, "-shm"),
    ];
    for file in &files {
        assert_eq!(mode(file), 0o600, "{}", file.display());
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).expect("widened");
    }
    let _second = Directory::open(&path).expect("it opens");
    for file in &files {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn reopening_keeps_the_key_and_everything() {
    let installation = Opened::new();
    let token = Token::new("one".into());
    let directory = installation.open();
    let fingerprint = directory.fingerprinter().of(&token);
    let rotation = start(&directory, intent("acme", OLD)).await;
    let record = Record {
        observation: Some(full_observation()),
        entry: Some(entry("eu", "acme", 1)),
        ..Record::default()
    };
    let group = directory
        .record(place(&directory, "eu"), record)
        .await
        .expect("written")
        .group;
    drop(directory);
    assert!(
        !with_suffix(&installation.path(), "-wal").exists(),
        "the last handle closes the file"
    );

    let directory = installation.open();
    assert_eq!(directory.fingerprinter().of(&token), fingerprint);
    assert_eq!(
        directory
            .group(place(&directory, "eu"), &id("acme"))
            .await
            .expect("read"),
        group
    );
    let history = directory.history(HistoryFilter::default()).await;
    assert_eq!(history.expect("read")[0].value, entry("eu", "acme", 1));
    let row = directory.rotation(rotation).await.expect("read");
    assert_eq!(row.expect("there").rotation, Rotation::intended(OLD));
    let other = Opened::new().open();
    assert_ne!(other.fingerprinter().of(&token), fingerprint);
}

/// The connections must not close at the same moment: then neither would be the last, and the log would stay.
#[tokio::test]
async fn the_last_handle_always_removes_the_log() {
    let installation = Opened::new();
    for round in 0..200 {
        let directory = installation.open();
        let asked = history_record(entry("eu", "acme", 0));
        directory
            .record(place(&directory, "eu"), asked)
            .await
            .expect("written");
        drop(directory);
        let log = with_suffix(&installation.path(), "-wal");
        assert!(!log.exists(), "round {round}");
    }
}

#[test]
fn a_foreign_file_is_refused_and_left_untouched() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "my notes\n".repeat(1000)).expect("written");
    let short = folder.path().join("short.txt");
    std::fs::write(&short, "x").expect("written");
    let foreign = folder.path().join("bookmarks.db");
    let raw = Connection::open(&foreign).expect("a database");
    raw.execute_batch("CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = 1;")
        .expect("made");
    drop(raw);
    for mode_before in [0o644, 0o600] {
        for path in [&text, &short, &foreign] {
            let permissions = std::fs::Permissions::from_mode(mode_before);
            std::fs::set_permissions(path, permissions).expect("set");
            let before = std::fs::read(path).expect("readable");
            let refused = Directory::open(path).expect_err("refused");
            assert!(
                matches!(refused, DirectoryError::NotADirectory { .. }),
                "{refused:?}"
            );
            let message = refused.to_string();
            assert!(message.contains("move the file away"), "{message}");
            assert!(
                message.contains(&*path.to_string_lossy()),
                "the path is named: {message}"
            );
            assert_eq!(std::fs::read(path).expect("readable"), before);
            if path != &foreign {
                assert_eq!(mode(path), mode_before);
            }
        }
    }
}

#[tokio::test]
async fn no_token_is_in_any_file() {
    let installation = Opened::new();
    let directory = installation.open();
    let canary = "canary-5e1f0c77-token";
    let token = Token::new(canary.into());
    let fingerprint = directory.fingerprinter().of(&token);
    let rotation = start(&directory, intent("acme", fingerprint)).await;
    let mut told = entry("eu", "acme", 1);
    told.previous_fingerprint = Some(fingerprint);
    let record = Record {
        observation: Some(observation("acme", fingerprint, 1)),
        entry: Some(told),
        rotation: Some(step(
            rotation,
            Rotation::intended(fingerprint),
            Event::Sending,
            1,
        )),
        ..Record::default()
    };
    directory
        .record(place(&directory, "eu"), record)
        .await
        .expect("written");
    assert_eq!(format!("{directory:?}"), "Directory { .. }");

    let scan = |needle: &[u8]| {
        std::fs::read_dir(installation.path().parent().expect("a folder"))
            .expect("readable")
            .map(|file| std::fs::read(file.expect("a file").path()).expect("readable"))
            .filter(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
            .count()
    };
    assert!(scan(fingerprint.as_bytes()) > 0, "the scan finds things");
    assert_eq!(scan(canary.as_bytes()), 0);
    drop(directory);
    assert!(scan(fingerprint.as_bytes()) > 0, "the scan finds things");
    assert_eq!(scan(canary.as_bytes()), 0);
}

#[tokio::test]
async fn a_backup_of_a_directory_in_use_is_complete_private_and_overwrites_nothing() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let written = directory
        .record(eu, history_record(entry("eu", "acme", 0)))
        .await;
    written.expect("written");
    let copy = installation.path().with_file_name("copy.db");
    let unfinished = copy.with_file_name("copy.db.part");
    std::fs::write(&unfinished, "left by a crash").expect("written");
    groupdesk::directory::copy_to(&installation.path(), &copy).expect("copied");
    assert_eq!(mode(&copy), 0o600);
    assert!(!unfinished.exists());
    let again =
        groupdesk::directory::copy_to(&installation.path(), &copy).expect_err("it is there");
    assert!(again.to_string().contains("nothing was saved"), "{again}");
    let gone = groupdesk::directory::copy_to(
        &installation.path().with_file_name("none.db"),
        &installation.path(),
    );
    assert!(gone.is_err(), "there is nothing to copy");
    let copied = Directory::open(&copy).expect("a directory");
    let lines = copied.history(HistoryFilter::default()).await;
    assert_eq!(lines.expect("readable").len(), 1);
    let token = Token::new("one".into());
    let of = |directory: &Directory| directory.fingerprinter().of(&token);
    assert_eq!(
        of(&copied),
        of(&directory),
        "with the key of its fingerprints"
    );
}

#[tokio::test]
async fn history_and_events_refuse_update_delete_and_replace() {
    let installation = Opened::new();
    let directory = installation.open();
    directory
        .record(
            place(&directory, "eu"),
            history_record(entry("eu", "acme", 0)),
        )
        .await
        .expect("written");
    start(&directory, intent("acme", OLD)).await;
    let raw = installation.raw();
    for statement in [
        "UPDATE history SET by = 'nobody'",
        "DELETE FROM history",
        "INSERT OR REPLACE INTO history (number, at, by, profile, user_group_id, operation, ending, place) \
         SELECT number, at, 'nobody', profile, user_group_id, operation, ending, place FROM history",
        "UPDATE rotation_events SET at = 0",
        "DELETE FROM rotation_events",
        "INSERT OR REPLACE INTO rotation_events SELECT rotation_id, seq, 5, event, fingerprint, since_sent, \
         horizon_passed, state, note FROM rotation_events",
    ] {
        let refused = raw.execute(statement, []).expect_err(statement);
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
    let lines = directory
        .history(HistoryFilter::default())
        .await
        .expect("read");
    assert_eq!(lines[0].value, entry("eu", "acme", 0));
}
