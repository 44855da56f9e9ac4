//! Replays the inputs of the fuzz targets: the committed corpus, and every finding ever made.

use std::{fs, path::Path};

use proptest::prelude::*;

#[path = "../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "also a library of its own, for fuzzing")]
mod targets;

/// Runs every file of a target's corpus; `at_least` guards against a corpus that is not found.
fn replay(target: &str, at_least: usize, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files = fs::read_dir(folder).expect("a corpus");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert!(
        files.len() >= at_least,
        "{target}: only {} files",
        files.len()
    );
    for file in files {
        let data = fs::read(&file).expect("readable");
        // Printed first, so that the captured output of a panic names the file.
        println!("{}", file.display());
        run(&data);
    }
}

#[test]
fn answers() {
    replay("answer", 10, targets::answer::run);
}

#[test]
fn configurations() {
    replay("configuration", 5, targets::configuration::run);
}

#[test]
fn filters() {
    replay("filter", 5, targets::filter::run);
}

#[test]
fn imports() {
    replay("import", 5, targets::import::run);
}

#[test]
fn mappings() {
    replay("mapping", 5, targets::mapping::run);
}

#[test]
fn properties() {
    replay("properties", 5, targets::properties::run);
}

#[test]
fn intakes() {
    replay("intake", 5, targets::intake::run);
}

#[test]
fn tables() {
    replay("table", 5, targets::table::run);
}

/// Pieces of what people and programs write, in any order; `PROPTEST_CASES` widens it.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 34] = [
        b"user_group_id",
        b"name",
        b"mapping",
        b"map:40",
        b"prop:tier",
        b"acme",
        b"00123",
        b",",
        b";",
        b"\t",
        b"|",
        b"\n",
        b"\r\n",
        b"\r",
        b"\"",
        b"\"\"",
        b" ",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"\"user_group_id\":",
        b"\"a\"",
        b"sep=;",
        b"# x",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xeb",
        b"\0",
        b"-----BEGIN CERTIFICATE-----",
        b"\xc3\xab",
        b"PK\x03\x04",
        b"1.2E+11",
    ];
    let piece = prop_oneof![
        9 => proptest::sample::select(PIECES.to_vec()).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    let pieces = prop::collection::vec(piece, 0..40);
    (any::<u8>(), pieces).prop_map(|(first, pieces)| [vec![first], pieces.concat()].concat())
}

proptest! {
    #[test]
    fn whatever_arrives_is_read_or_refused(data in pieces()) {
        targets::import::run(&data);
        targets::intake::run(&data);
        targets::table::run(&data);
    }
}
