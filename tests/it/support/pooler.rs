//! A transaction pooler in front of a PostgreSQL server: the installed PgBouncer.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::postgres::{Server, as_owner};

/// Stops when dropped.
pub(crate) struct Pooler {
    child: Child,
    folder: tempfile::TempDir,
}

impl Pooler {
    /// `ignored` are startup parameters that the pooler drops. Prints a line and returns `None` if PgBouncer is not
    /// installed; panics in that case if PostgreSQL is required.
    pub(crate) fn before(server: &Server, ignored: &str) -> Option<Self> {
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
        let Some(program) = program.iter().find(|program| Path::new(program).exists()) else {
            let required = std::env::var_os("GROUPDESK_POSTGRES");
            assert!(
                required.is_none_or(|said| said != "required"),
                "PgBouncer is required, and not installed"
            );
            eprintln!("left out: a pooler before a server (PgBouncer is not installed)");
            return None;
        };
        let folder = crate::support::folder::named("gd-pool");
        let here = folder.path().display();
        let settings = format!(
            "[databases]\npostgres = host={} port=5432 user=desk\n[pgbouncer]\nlisten_addr =\nlisten_port = 5432\n\
             unix_socket_dir = {here}\nauth_type = any\npool_mode = transaction\nignore_startup_parameters = {ignored}\n",
            server.folder().display()
        );
        let file = folder.path().join("pgbouncer.ini");
        fs::write(&file, settings).expect("written");
        // It runs as the same user as the server and creates its socket here.
        let owned = rustix::fs::stat(server.folder()).expect("a folder");
        std::os::unix::fs::chown(folder.path(), Some(owned.st_uid), Some(owned.st_gid))
            .expect("its folder");
        let child = as_owner(program)
            .arg("-q")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
            .expect("it starts");
        let pooler = Self { child, folder };
        let deadline = Instant::now() + Duration::from_mins(1);
        while !pooler.folder().join(".s.PGSQL.5432").exists() {
            assert!(Instant::now() < deadline, "it does not start");
            std::thread::yield_now();
        }
        Some(pooler)
    }

    /// The folder of its socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
