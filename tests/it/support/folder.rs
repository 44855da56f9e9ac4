//! Temporary folders. In memory if it has room: elsewhere each commit of thousands of databases waits for the disk.

use std::{
    fs::{OpenOptions, Permissions, set_permissions},
    io::Write,
    os::unix::{
        fs::{OpenOptionsExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use rustix::fs::{StatVfsMountFlags, statvfs};
use tempfile::{Builder, TempDir};

const MEMORY: &str = "/dev/shm";
/// In bytes.
const ROOM: u64 = 4 << 30;

/// Removes a folder when the process that holds the other end of the standard input ends, however that happens. A server
/// below it is stopped first, and removes its own folder.
const REMOVE: &str = r#"
cat >/dev/null
for turn in $(seq 100); do
    ls -d "$0"/gd-pg* >/dev/null 2>&1 || break
    sleep 0.1
done
rm -rf "$0"
"#;

pub(crate) fn temporary() -> TempDir {
    named("gd")
}

pub(crate) fn named(prefix: &str) -> TempDir {
    let folder = Builder::new().prefix(prefix).tempdir_in(below());
    folder.expect("a folder")
}

/// Writes the bytes to a new file, mode 0600, also with a name that groupdesk refuses, such as that of a log.
pub(crate) fn put(path: &Path, bytes: &[u8]) {
    let mut new = OpenOptions::new();
    let file = new.write(true).create_new(true).mode(0o600).open(path);
    file.expect("a new file").write_all(bytes).expect("written");
}

/// Where they are: a folder of this run in memory, or the usual place, also if `TMPDIR` says so.
pub(crate) fn below() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let is_told = std::env::var_os("TMPDIR").is_some();
        let in_memory = || Builder::new().prefix("gd-run").tempdir_in(MEMORY).ok();
        let Some(folder) = (!is_told && has_room()).then(in_memory).flatten() else {
            return std::env::temp_dir();
        };
        // As the usual place: a server of PostgreSQL is another user, who removes its own folder.
        set_permissions(folder.path(), Permissions::from_mode(0o1777)).expect("its owner");
        std::mem::forget(tied(folder.path()));
        folder.keep()
    })
}

/// Tests execute programs there.
fn has_room() -> bool {
    statvfs(MEMORY).is_ok_and(|memory| {
        let free = memory.f_bavail.saturating_mul(memory.f_frsize);
        free >= ROOM && !memory.f_flag.contains(StatVfsMountFlags::NOEXEC)
    })
}

/// Ties a folder to the standard input of the returned process, which is none that a key on the terminal ends.
fn tied(folder: &Path) -> Child {
    let mut remover = Command::new("sh");
    remover.args(["-c", REMOVE]).arg(folder).current_dir("/");
    remover.process_group(0).stdin(Stdio::piped());
    let remover = remover.stdout(Stdio::null()).stderr(Stdio::null());
    remover.spawn().expect("a shell")
}

#[test]
fn a_folder_in_memory_ends_with_whoever_made_it() {
    let folder = temporary().keep();
    std::fs::write(folder.join("file"), "text").expect("written");
    let mut remover = tied(&folder);
    assert!(remover.try_wait().expect("a child").is_none());
    drop(remover.stdin.take());
    assert!(remover.wait().expect("it ends").success());
    assert!(!folder.exists());
}
