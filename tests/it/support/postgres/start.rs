//! Starts a server, and stops and removes it when this process ends.

use std::{
    ffi::OsString,
    fs::File,
    io::{BufRead, BufReader, Write},
    os::unix::{fs::OpenOptionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use super::{DESK, SERVICE, Server};
use crate::support::{clock::outer, folder};

/// Looked up only once, because `pg_config` may be a script as well.
pub(super) fn programs() -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let told = Command::new("pg_config").arg("--bindir").output().ok()?;
        let folder = String::from_utf8(told.stdout).ok()?;
        Some(PathBuf::from(folder.trim()))
    });
    let found = folder
        .clone()
        .filter(|folder| folder.join("initdb").exists());
    if found.is_none() {
        let required =
            std::env::var_os("GROUPDESK_POSTGRES").is_some_and(|said| said == "required");
        assert!(!required, "PostgreSQL is required, and not installed");
        eprintln!("left out: the stories of a team's directory (PostgreSQL is not installed)");
    }
    found
}

/// Ties the server to its standard input, which this process holds: the server ends when this process does, however
/// that happens. The server is a copy of `$3`, or a new one, of which a copy is left in `fresh`. Vacuuming thousands of
/// tables that nobody uses any more would cost more than it saves. It syncs its files: groupdesk warns of one that does not.
const LIVE: &str = r#"
set -e
if [ -n "$3" ]; then
    cp -Rp "$3" "$1/data"
else
    "$0/initdb" -D "$1/data" -A trust -U postgres -E UTF8 --no-locale -N >"$1/initdb.log" 2>&1
    printf '%s = off\n' autovacuum jit track_counts >>"$1/data/postgresql.conf"
    cp -Rp "$1/data" "$1/fresh"
fi
if [ -e "$1/pg_hba.conf" ]; then cp "$1/pg_hba.conf" "$1/data/pg_hba.conf"; fi
"$0/pg_ctl" -D "$1/data" -l "$1/log" -s -w start </dev/null \
    -o "-k $1 -c max_connections=200 $2"
echo
cat >/dev/null
set +e
for data in "$1/data" "$1/standby"; do
    if [ -e "$data/postmaster.pid" ]; then "$0/pg_ctl" -D "$data" -s -m immediate stop; fi
done
rm -rf "$1"
"#;

/// A server refuses to run as root, so use another user.
pub(in crate::support) fn as_owner(program: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    // libfaketime names files by the process, and ends a process that may not open them. So root loads no libfaketime
    // here, and what a dead process of root with this number left is removed.
    let script = r#"rm -f /dev/shm/sem.faketime_sem_$$ /dev/shm/faketime_shm_$$; exec "$@""#;
    let mut command = Command::new("sh");
    command
        .args(["-c", script, "sh", "setpriv", "--reuid=nobody"])
        .args(["--regid=nogroup", "--clear-groups", "env"]);
    for (name, value) in outer().filter(|(name, _)| *name == "LD_PRELOAD") {
        let mut assigned = OsString::from(format!("{name}="));
        assigned.push(value);
        command.arg(assigned);
    }
    command
        .env_remove("LD_PRELOAD")
        .env_remove("FAKETIME_SHARED")
        .arg(program);
    command
}

pub(super) fn start(
    programs: &Path,
    files: &[(&str, &str)],
    port: u16,
    options: &str,
    copied: Option<&Path>,
) -> Server {
    let folder = folder::named("gd-pg").keep();
    for (name, text) in files {
        let mut file = File::options();
        let file = file.write(true).create_new(true).mode(0o600);
        let file = file.open(folder.join(name));
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .expect("written");
    }
    if rustix::process::geteuid().is_root() {
        let owner = Command::new("chown")
            .args(["-R", "nobody:"])
            .arg(&folder)
            .status();
        assert!(owner.expect("chown runs").success());
    }
    let mut child = as_owner("sh")
        .args(["-c", LIVE])
        .arg(programs)
        .arg(&folder)
        .arg(options.replace("$1", &folder.display().to_string()))
        .arg(copied.unwrap_or(Path::new("")))
        .current_dir("/")
        // A key on the terminal ends this process only, and so the server.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let mut line = String::new();
    let told = child.stdout.take().expect("its output");
    let read = BufReader::new(told).read_line(&mut line);
    if read.expect("readable") == 0 {
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        panic!("PostgreSQL does not start: {log}");
    }
    // Kept open until this process ends.
    std::mem::forget(child);
    let _ = std::io::stderr().flush();
    let server = Server { folder, port };
    server.execute(
        "public",
        &format!(
            "CREATE ROLE {DESK} LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO {DESK}; CREATE ROLE {SERVICE} LOGIN"
        ),
    );
    server
}
