//! Care of the file: who may read it, what is refused, what survives, and what is never written into it.

use groupdesk::directory::{Claimed, MutationIntent, copy_to};

use super::*;
use crate::support::{folder::temporary, long};

#[tokio::test]
async fn files_are_private_and_wider_modes_are_narrowed() {
    let installation = Opened::new();
    let (path, folder) = (installation.path(), installation.folder.path());
    let directory = installation.open();
    recorded(&directory, both("acme", 0)).await;
    assert_eq!(mode(&folder.join("groupdesk")), 0o700);
    let files = ["", "-wal", "-shm"].map(|suffix| with_suffix(&path, suffix));
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
        ..history_record(entry("eu", "acme", 1))
    };
    let group = recorded(&directory, record).await.group.expect("a group");
    drop(directory);
    let log = with_suffix(&installation.path(), "-wal");
    assert!(!log.exists(), "the last handle closes the file");
    let directory = installation.open();
    assert_eq!(directory.fingerprinter().of(&token), fingerprint);
    assert_eq!(groups(&directory).await, [group]);
    assert_eq!(lines(&directory).await[0].value, entry("eu", "acme", 1));
    let kept = row(&directory, rotation).await.rotation;
    assert_eq!(kept, Rotation::intended(OLD));
    let other = Opened::new().open();
    assert_ne!(other.fingerprinter().of(&token), fingerprint);
}

/// The connections must not close at the same moment: then neither would be the last, and the log would stay.
#[tokio::test]
async fn the_last_handle_always_removes_the_log() {
    let installation = Opened::new();
    let log = with_suffix(&installation.path(), "-wal");
    for round in 0..if long::all() { 200 } else { 50 } {
        let directory = installation.open();
        recorded(&directory, history_record(entry("eu", "acme", 0))).await;
        drop(directory);
        assert!(!log.exists(), "round {round}");
    }
}

#[tokio::test]
async fn a_backup_of_a_directory_in_use_is_complete_private_and_overwrites_nothing() {
    let installation = Opened::new();
    let directory = installation.open();
    recorded(&directory, history_record(entry("eu", "acme", 0))).await;
    let path = installation.path();
    let copy = path.with_file_name("copy.db");
    let unfinished = copy.with_file_name("copy.db.part");
    std::fs::write(&unfinished, "left by a crash").expect("written");
    copy_to(&path, &copy).expect("copied");
    assert_eq!(mode(&copy), 0o600);
    assert!(!unfinished.exists());
    let again = copy_to(&path, &copy).expect_err("it is there");
    assert!(again.to_string().contains("nothing was saved"), "{again}");
    let gone = copy_to(&path.with_file_name("none.db"), &path);
    assert!(gone.is_err(), "there is nothing to copy");
    let copied = Directory::open(&copy).expect("a directory");
    assert_eq!(lines(&copied).await.len(), 1);
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
    recorded(&directory, history_record(entry("eu", "acme", 0))).await;
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
    let lines = lines(&directory).await;
    assert_eq!(lines[0].value, entry("eu", "acme", 0));
}

/// Changes that were made since, or beside it, are missing.
#[tokio::test]
async fn a_file_that_was_restored_or_copied_is_not_the_sole_writer_until_it_is_said_again() {
    let folder = temporary();
    let at = |name: &str| folder.path().join(name);
    let open_at = |path: &Path| Directory::open_remembered(path, at("seen")).expect("it opens");
    let open = || open_at(&at("directory.db"));
    let change = async |group: &str| {
        let directory = open();
        let intent = MutationIntent {
            user_group_id: id(group),
            operation: Operation::Update,
            by: "ana".into(),
            profile: "eu".into(),
            key: None,
            at: second(0),
            settles_in: HORIZON,
            changes: None,
            repeats: None,
        };
        let begun = directory.begin_mutation(place(&directory, "eu"), intent);
        assert_is!(begun.await, Ok(Claimed::Begun(_)));
        is_sole_writer(&directory).await
    };
    say_sole_writer(&open(), second(0)).await;
    assert!(change("one").await);
    copy_to(&at("directory.db"), &at("copy.db")).expect("copied");
    assert!(!is_sole_writer(&open_at(&at("copy.db"))).await);
    // As `cp` copies a file that nobody uses.
    let restore = || std::fs::copy(at("plain.db"), at("directory.db")).expect("copied");
    std::fs::copy(at("directory.db"), at("plain.db")).expect("copied");
    restore();
    assert!(change("two").await, "nothing was lost");
    for said in 1..3 {
        restore();
        assert!(!is_sole_writer(&open()).await, "{said}");
        say_sole_writer(&open(), second(said)).await;
        assert!(change("two").await, "{said}");
    }
}
