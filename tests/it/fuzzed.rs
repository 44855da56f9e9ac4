//! Replays the inputs of the fuzz targets: the committed corpus, and every finding ever made.

use std::{fs, path::Path};

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
