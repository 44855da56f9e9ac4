//! Files that are no directory of this version: newer, of another program, empty, or no database. They are refused with
//! what to do, and left unchanged; the program says so, too, and ends with an error code.

use super::*;

pub(super) const CASES: usize = VERSIONS.len() + 11 + MARKS.len() + 9 + 2;

/// The first two are relative to the newest version.
const VERSIONS: [i64; 7] = [1, 2, 99, 2_147_483_647, -1, -2_147_483_648, 0];
const MARKS: [i64; 4] = [0, 1, 0x6764_6753, -1];

async fn ours() -> TempFile {
    let place = TempFile::new();
    let directory = Directory::open(&place.file()).expect("made");
    note(&directory, "acme").await.expect("written");
    place
}

fn set(place: &TempFile, pragma: &str, value: i64) {
    let raw = Connection::open(place.file()).expect("a connection");
    raw.pragma_update(None, pragma, value).expect("set");
    raw.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .expect("merged");
}

/// Refused when opened, when inspected and by the program, and left unchanged.
fn assert_refused(what: &str, place: &TempFile) -> DirectoryError {
    let file = place.file();
    let before = bytes_of(&file);
    let refused = Directory::open(&file).expect_err(what);
    assert_error_is_clear(&refused, &file);
    assert_error_is_clear(&inspect(&file, &HashMap::new()).expect_err(what), &file);
    let (code, said) = program(place, None, &["list"]);
    assert_lacks(&said, "internal error");
    assert_lacks(&said, "panicked");
    assert_eq!(code, Some(2), "{what}: {said}");
    // A proposed command names the directory that was asked for.
    let named = format!("--directory {} ", file.display());
    let usual = said.replace(&named, "");
    assert!(usual.contains(&refused.to_string()), "{what}: {said}");
    assert_eq!(bytes_of(&file), before, "{what}: left as it was");
    refused
}

#[tokio::test]
async fn an_unknown_version_is_refused() {
    for (number, version) in VERSIONS.into_iter().enumerate() {
        let version = if number < 2 {
            newest() + version
        } else {
            version
        };
        let place = ours().await;
        set(&place, "user_version", version);
        let refused = assert_refused(&format!("version {version}"), &place);
        let is_newer = matches!(refused, DirectoryError::Newer { found, .. } if found == version);
        assert_eq!(is_newer, version > 6, "{refused}");
    }
}

/// Between the last release and this version: refused with what to do, and never upgraded from the middle.
#[tokio::test]
async fn a_development_version_is_refused() {
    for version in 9..newest() {
        let place = ours().await;
        set(&place, "user_version", version);
        let refused = assert_refused(&format!("version {version}"), &place);
        let is_told =
            matches!(refused, DirectoryError::Unreleased { found, .. } if found == version);
        assert!(is_told, "{refused}");
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_refused() {
    for mark in MARKS {
        let place = ours().await;
        set(&place, "application_id", mark);
        assert_refused(&format!("mark {mark}"), &place);
    }
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let zeros = vec![0; 64 * 1024];
    let noise: Vec<u8> = (0..64 * 1024_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let mut marked = b"SQLite format 3\0".to_vec();
    let head = marked.clone();
    marked.extend(&noise);
    let files: [(&str, &[u8]); 9] = [
        ("one byte", b"x"),
        ("a text", &b"my notes\n".repeat(1000)),
        ("zeros", &zeros),
        ("noise", &noise),
        ("a mark and noise", &marked),
        ("a mark alone", &head),
        ("JSON", br#"{"groups": []}"#),
        ("a page of spaces", &[b' '; 4096]),
        ("512 bytes", &[7; 512]),
    ];
    for (what, bytes) in files {
        let refused = assert_refused(what, &TempFile::with(bytes));
        assert_is!(
            refused,
            DirectoryError::NotADirectory { .. },
            "{what}: {refused}"
        );
    }
}

/// `mktemp` makes an empty file: it becomes a directory, private.
#[tokio::test]
async fn an_empty_file_becomes_a_directory_and_one_without_its_key_does_not() {
    let place = TempFile::with(b"");
    exercise(&place.file()).await.expect("a new directory");
    let place = ours().await;
    let raw = Connection::open(place.file()).expect("a connection");
    raw.execute("DELETE FROM meta", []).expect("deleted");
    drop(raw);
    let refused = Directory::open(&place.file()).expect_err("no key for fingerprints");
    assert_error_is_clear(&refused, &place.file());
    assert!(fs::metadata(place.file()).is_ok());
}
