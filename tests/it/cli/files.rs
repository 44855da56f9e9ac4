//! Every file that groupdesk writes, whatever the umask and whatever is at its path already: it is made private, or
//! refused with what to do. Nothing is written through a link, nothing waits for a FIFO, and existing contents stay.

mod place;

use std::{fs, os::unix::fs::MetadataExt};

use place::{Hazard, Scene, Target};
use rustix::process::geteuid;

use crate::support::{
    bare::{all_output, bare},
    long,
};

const UMASKS: [u32; 5] = [0o000, 0o002, 0o022, 0o027, 0o077];

/// Whether writing can succeed, of all combinations that are tried.
fn can_work(target: Target, hazard: Hazard) -> bool {
    match (target, hazard) {
        (_, Hazard::Missing)
        // A configuration is often a link into a folder under version control, and stays one.
        | (Target::Config, Hazard::Link | Hazard::ReadOnly)
        // An export without tokens; the target of the link is replaced by a private file.
        | (Target::Export, Hazard::Link)
        | (Target::Directory | Target::Service | Target::Export, Hazard::Wide) => true,
        // The folder is ours: another user's file is replaced by one of ours.
        (Target::Export, Hazard::OtherOwner) => geteuid().is_root(),
        _ => false,
    }
}

/// Plays one file with one hazard at its path.
async fn check_one(scene: &Scene, target: Target, hazard: Hazard, umask: u32) {
    let what = format!("{target:?}, {hazard:?}, umask {umask:03o}");
    let place = scene.place(target, hazard);
    let before = place.look();
    let (code, said) = scene.run(&place, target, hazard, umask).await;
    let after = place.look();
    assert_eq!(
        after.precious, before.precious,
        "{what}: written through a link"
    );
    assert!(!said.contains(&scene.key), "{what}: {said}");
    assert!(
        !said.contains("internal error") && !said.contains("panicked"),
        "{what}: {said}"
    );
    if can_work(target, hazard) {
        assert_eq!(code, Some(0), "{what}: {said}");
        let written = fs::metadata(&place.file).expect("it is there");
        assert!(written.is_file(), "{what}");
        assert_eq!(
            written.mode() & 0o077,
            0,
            "{what}: mode {:o}",
            written.mode()
        );
        assert_eq!(written.uid(), scene.uid, "{what}");
        let still_a_link = hazard == Hazard::Link;
        assert_eq!(place.file.is_symlink(), still_a_link, "{what}");
        if let Some(folder) = &place.new_folder {
            let mode = fs::metadata(folder).expect("made").mode() & 0o777;
            assert_eq!(mode, 0o700, "{what}: the folder");
        }
        return;
    }
    assert!(matches!(code, Some(1..=7)), "{what}: {code:?}: {said}");
    let name = match (target, hazard) {
        // The rows are read first, into a temporary file.
        (Target::Directory, Hazard::FullDisk) => "standard input".into(),
        // Without any room it does not get as far as that file.
        (Target::Token | Target::Export, Hazard::FullDisk) => "directory.db".into(),
        _ => place.file.file_name().expect("a name").to_string_lossy(),
    };
    assert!(said.contains(&*name), "{what}: no file is named: {said}");
    if target == Target::Config && hazard == Hazard::OtherOwner && !geteuid().is_root() {
        // A file of root's may be a shared configuration; this one is not TOML.
        assert!(said.contains("not TOML"), "{what}: {said}");
        return;
    }
    let ways = [
        "use another",
        "use a new",
        "use a file",
        "use standard output",
        "use the file itself",
        "free some space",
        "check the disk",
        "your own",
        "writable",
        "remove",
        "chmod",
        "create the file",
        "choose another",
        "move it away",
    ];
    assert!(
        ways.iter().any(|way| said.to_lowercase().contains(way)),
        "{what}: no advice: {said}"
    );
    if hazard == Hazard::FullDisk {
        let left = after.file.is_none_or(|left| left.is_private());
        assert!(left, "{what}: what is left is private");
    } else {
        assert_eq!(after.file, before.file, "{what}: the old file stays");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_at_the_path_the_file_is_private_or_refused() {
    let scene = Scene::new().await;
    let mut cases = Vec::new();
    for (at, target) in Target::ALL.iter().copied().enumerate() {
        for (and, hazard) in Hazard::ALL.iter().copied().enumerate() {
            let umasks = UMASKS.into_iter().cycle().skip(at + and);
            let many = if long::all() { UMASKS.len() } else { 1 };
            cases.extend(umasks.take(many).map(|umask| (target, hazard, umask)));
        }
    }
    let all = cases.len();
    for (target, hazard, umask) in cases {
        check_one(&scene, target, hazard, umask).await;
    }
    println!("{all} files, as user {}", scene.uid);
    let each = Target::ALL.len() * Hazard::ALL.len();
    assert_eq!(all, each * if long::all() { UMASKS.len() } else { 1 });
    assert!(all >= 40);
}

/// On a small file system of its own, which only a process that may mount can have; any other just checks that it may
/// not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_named_and_no_partial_file_is_left() {
    let scene = Scene::new().await;
    let place = scene.place(Target::Directory, Hazard::Missing);
    let folder = place.folder.path();
    let small = folder.join("small");
    fs::create_dir(&small).expect("made");
    let script = "mount -t tmpfs -o size=64k tmpfs \"$0\" || exit 99; head -c 50000 /dev/zero > \"$0/fill\"; \
                  \"$1\" --directory \"$0/directory.db\" list; echo \"ended $?\"; rm \"$0/directory.db\"*; \
                  head -c 90000 /dev/zero > \"$0/more\"; \
                  \"$1\" get acme-eu --exists --token-out \"$0/acme.token\"; echo \"ended $?\"; \
                  \"$1\" export --output \"$0/groups.jsonl\"; echo \"ended $?\"; ls -A \"$0\"; echo done";
    let output = bare("unshare", folder)
        .args(["--mount", "/bin/sh", "-c", script])
        .arg(&small)
        .arg(&scene.binary)
        .envs(scene.variables(&place))
        .output()
        .await
        .expect("unshare is part of util-linux");
    let said = all_output(&output);
    if !output.status.success() || !said.contains("ended") {
        println!("no mounting here: {said}");
        assert!(
            said.contains("not permitted") || said.contains("denied"),
            "something else went wrong: {said}"
        );
        return;
    }
    let ends: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("ended"))
        .collect();
    assert_eq!(ends, ["ended 2", "ended 6", "ended 2"], "{said}");
    // Which of the two depends on what SQLite writes last.
    let directory = small.join("directory.db").display().to_string();
    let full = format!("the disk of {directory} is full; free some space");
    let failed = format!("the disk failed while writing {directory}; it is unknown whether");
    let is_told = said.contains(&full)
        || said.contains(&failed) && said.contains("check the disk and its free space");
    assert!(is_told, "{said}");
    let named = |file: &str| said.contains(&format!("{file} cannot be written: the disk is full"));
    assert!(named("acme.token") && named("groups.jsonl"), "{said}");
    assert!(
        said.contains("fill\nmore\ndone"),
        "no partial file is left: {said}"
    );
    let left = fs::read_dir(&small).expect("readable").count();
    assert_eq!(left, 0, "the disk went with its process");
}
