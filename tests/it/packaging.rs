//! The Debian package: `Cargo.toml` packs exactly the files that `packaging/pieces` writes.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const PROGRAM: &str = "target/release/groupdesk";
const PIECES: &str = "target/package/";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The table `[package.metadata.deb]`.
fn metadata() -> toml::Table {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = text.parse().expect("TOML");
    manifest["package"]["metadata"]["deb"]
        .as_table()
        .expect("a table")
        .clone()
}

/// Source, target and mode of every asset.
fn assets() -> Vec<[String; 3]> {
    let metadata = metadata();
    let assets = metadata["assets"].as_array().expect("a list").iter();
    let texts = |asset: &toml::Value| {
        let parts = asset.as_array().expect("a list").iter();
        let parts: Vec<_> = parts
            .map(|part| part.as_str().expect("a text").to_owned())
            .collect();
        <[String; 3]>::try_from(parts).expect("source, target, mode")
    };
    assets.map(texts).collect()
}

/// Every file that the script writes, by its path below the folder.
fn pieces(folder: &Path) -> BTreeSet<String> {
    let ran = Command::new(root().join("packaging/pieces"))
        .arg(env!("CARGO_BIN_EXE_groupdesk"))
        .arg(folder)
        .env_remove("GROUPDESK_CONFIG")
        .env("SOURCE_DATE_EPOCH", "1780000000")
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && said.is_empty(), "{said}");
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    let mut found = BTreeSet::new();
    while let Some(here) = open.pop() {
        for entry in fs::read_dir(here).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            assert!(
                fs::metadata(&path).expect("there").len() > 0,
                "{}",
                path.display()
            );
            let name = path.strip_prefix(folder).expect("below it");
            found.insert(name.to_str().expect("UTF-8").to_owned());
        }
    }
    found
}

/// Whether a source such as `man/*.1` matches a path.
fn matches(source: &str, path: &str) -> bool {
    match source.split_once('*') {
        None => source == path,
        Some((before, after)) => path
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|name| !name.contains('/')),
    }
}

/// Whether the repository has the files of a source such as `docs/guide/*.md`.
fn is_in_repository(source: &str) -> bool {
    let (folder, name) = source.rsplit_once('/').unwrap_or(("", source));
    let entries = fs::read_dir(root().join(folder)).expect("a folder");
    let mut names = entries.map(|entry| entry.expect("an entry").file_name());
    names.any(|found| found.to_str().is_some_and(|found| matches(name, found)))
}

#[test]
fn the_package_has_the_files_written_for_it() {
    let folder = crate::support::folder::temporary();
    let pieces = pieces(folder.path());
    let mut sources: Vec<String> = assets().into_iter().map(|[source, ..]| source).collect();
    sources.push(metadata()["changelog"].as_str().expect("a text").to_owned());
    let (made, kept): (Vec<_>, Vec<_>) = sources
        .iter()
        .partition(|source| source.starts_with(PIECES));
    let made: Vec<_> = made
        .iter()
        .filter_map(|source| source.strip_prefix(PIECES))
        .collect();
    for source in &made {
        let is_made = pieces.iter().any(|piece| matches(source, piece));
        assert!(is_made, "{source} is not made; there are {pieces:?}");
    }
    for piece in &pieces {
        let is_packed = made.iter().any(|source| matches(source, piece));
        assert!(is_packed, "{piece} is made and not packed");
    }
    assert!(kept.iter().any(|source| *source == PROGRAM));
    for source in kept.iter().filter(|source| **source != PROGRAM) {
        assert!(is_in_repository(source), "{source} is missing");
    }
    assert!(pieces.contains("man/groupdesk.1") && pieces.contains("man/groupdesk-rotate.1"));
}

#[test]
fn packed_files_are_where_programs_look_for_them() {
    let assets = assets();
    let target = |ending: &str| {
        let mut found = assets
            .iter()
            .filter(|[source, ..]| source.ends_with(ending));
        let [_, target, mode] = found.next().expect("an asset");
        (target.as_str(), mode.as_str())
    };
    for (ending, wanted) in [
        ("release/groupdesk", ("usr/bin/", "755")),
        ("man/*.1", ("usr/share/man/man1/", "644")),
        (
            "completions/groupdesk",
            ("usr/share/bash-completion/completions/", "644"),
        ),
        ("_groupdesk", ("usr/share/zsh/vendor-completions/", "644")),
        (".fish", ("usr/share/fish/vendor_completions.d/", "644")),
    ] {
        assert_eq!(target(ending), wanted);
    }
}

#[test]
fn the_changelog_of_debian_names_this_version() {
    let folder = crate::support::folder::temporary();
    pieces(folder.path());
    let text = fs::read_to_string(folder.path().join("changelog")).expect("written");
    let first = format!("groupdesk ({}-1) ", env!("CARGO_PKG_VERSION"));
    assert!(text.starts_with(&first), "{text}");
    let maintainer = metadata()["maintainer"]
        .as_str()
        .expect("a text")
        .to_owned();
    let last = format!(" -- {maintainer}  Thu, 28 May 2026 ");
    assert!(text.contains(&last), "{text}");
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).expect("there");
    assert!(
        changelog.contains(env!("CARGO_PKG_VERSION")),
        "CHANGELOG.md has this version"
    );
}
