//! A PostgreSQL server for the tests: one per run, on a Unix socket in a temporary folder, removed after the run. Tests
//! that also run on a team's directory are placed below a module `team`.
//!
//! Nobody who works is a superuser: `desk` may only create roles and schemas, sets up directories and is their admin;
//! `ana`, `li` and whoever else an installation is for are operators, and each connects in their own name. The superuser
//! only looks into the tables and breaks them.
//!
//! If PostgreSQL is not installed, those tests run on files once more, and one line says so; with
//! `GROUPDESK_POSTGRES=required` that is a failure.

mod start;

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use groupdesk::{
    directory::{TeamLocation, set_up_sql},
    service::store::SharedStorage,
};
use tokio::net::TcpSocket;

pub(super) use start::as_owner;
use start::{programs, start};

use super::wait::wait_until;

/// The superuser of each server.
pub(crate) const SUPERUSER: &str = "postgres";
/// Sets up directories, and is their admin.
const DESK: &str = "desk";
/// The operators of every directory.
const OPERATORS: [&str; 2] = ["ana", "li"];
/// The database user of services.
const SERVICE: &str = "serving";

/// The port of servers that only listen on their socket.
const PORT: u16 = 5432;

fn letting_in(who: &str, schema: &str, roles: &[&str]) -> String {
    let granted: Vec<_> = roles
        .iter()
        .map(|role| format!("GRANT {schema}_{role} TO {who};"))
        .collect();
    format!(
        "DO $$ BEGIN CREATE ROLE {who} LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$; {}",
        granted.concat()
    )
}

/// A directory of its own for a test below a module `team`; `None` for others.
pub(crate) fn team() -> Option<TeamLocation> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let thread = std::thread::current();
    let is_asked = thread.name()?.split("::").any(|part| part == "team");
    let server = is_asked.then(server)??;
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    let schema = format!("t{number}");
    // In one session.
    let operators = OPERATORS.map(|who| letting_in(who, &schema, &["operator"]));
    let left = LEFT.lock().map(|mut left| std::mem::take(&mut *left));
    let left = left.expect("nobody panicked").concat();
    let text = set_up_sql(&schema, None) + &operators.concat() + &left;
    server.execute_as(DESK, "public", &text);
    Some(at(server.folder(), &schema))
}

/// What takes everybody out of the directories whose tests have ended.
static LEFT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Takes everybody out of this directory when the next one is set up: every session reads all memberships of its user.
pub(super) fn leave(team: &TeamLocation) {
    let schema = team.schema();
    let roles = ["viewer", "operator", "admin", "owner"].map(|role| format!("{schema}_{role}"));
    let (roles, who) = (
        roles.join(", "),
        [DESK, OPERATORS[0], OPERATORS[1]].join(", "),
    );
    if let Ok(mut left) = LEFT.lock() {
        // A test may have removed the roles, or revoked one of them.
        left.push(format!(
            "DO $$ BEGIN REVOKE {roles} FROM {who}; EXCEPTION WHEN OTHERS THEN NULL; END $$;"
        ));
    }
}

/// The same directory as its admin.
pub(crate) fn as_admin(team: &TeamLocation) -> TeamLocation {
    as_person(team, DESK)
}

/// The same directory as this user, who is an operator of it.
pub(crate) fn as_operator(team: &TeamLocation, who: &str) -> TeamLocation {
    let other = as_person(team, who);
    let server =
        server().filter(|server| other.reaches()[0].0 == server.folder().to_string_lossy());
    // On a server of a test itself, the test adds its people.
    if let Some(server) = server.filter(|_| !OPERATORS.contains(&who)) {
        server.let_in(who, team.schema(), &["operator"]);
    }
    other
}

fn as_person(team: &TeamLocation, who: &str) -> TeamLocation {
    at_as(who, Path::new(&team.reaches()[0].0), team.schema())
}

/// A separate storage of the service for a test below a module `shared`; `None` for other tests.
pub(crate) fn storage() -> Option<(SharedStorage, String)> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let thread = std::thread::current();
    let is_asked = thread.name()?.split("::").any(|part| part == "shared");
    let server = is_asked.then(server)??;
    let schema = format!("s{}", NUMBER.fetch_add(1, Ordering::SeqCst));
    let folder = server.folder().display().to_string().replace('/', "%2F");
    let of = |who| SharedStorage::parse(&format!("postgres://{who}@{folder}/postgres"), &schema);
    let set_up = of(DESK).expect("an address").set_up(Some(SERVICE));
    set_up.expect("a schema");
    Some((of(SERVICE).expect("an address"), schema))
}

/// A directory through the socket in this folder, as an operator.
pub(crate) fn at(folder: &Path, schema: &str) -> TeamLocation {
    at_as("ana", folder, schema)
}

pub(crate) fn at_as(who: &str, folder: &Path, schema: &str) -> TeamLocation {
    let folder = folder.display().to_string().replace('/', "%2F");
    let url = format!("postgres://{who}@{folder}/postgres");
    TeamLocation::parse(&url, schema).expect("an address")
}

/// SQL that makes all rows of a table an hour older by the clock of the database.
pub(crate) fn an_hour_ago(table: &str, trigger: &str) -> String {
    format!(
        "ALTER TABLE {table} DISABLE TRIGGER {trigger}; \
        UPDATE {table} SET boot_clock = split_part(boot_clock, '@', 1)::bigint - 3600000000 || '@' || timeline(); \
        ALTER TABLE {table} ENABLE TRIGGER {trigger}"
    )
}

/// Runs the program itself. On Debian, the one on the path is a script that looks for it each time.
fn client(name: &str) -> Command {
    Command::new(programs().expect("it is installed").join(name))
}

pub(crate) struct Server {
    folder: PathBuf,
    /// Part of the name of its socket as well.
    port: u16,
}

impl Server {
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stops the server as if it had been killed, and starts it again.
    pub(crate) fn crash(&self) {
        let programs = programs().expect("it is installed");
        let data = self.folder.join("data");
        let mut restart = as_owner(&programs.join("pg_ctl").display().to_string());
        let restart = restart
            .arg("-D")
            .arg(data)
            .args(["-l"])
            .arg(self.folder.join("log"));
        let restart = restart.args(["-s", "-m", "immediate", "-w", "restart"]);
        let done = restart.current_dir("/").stdin(Stdio::null()).status();
        assert!(done.expect("pg_ctl runs").success());
    }

    /// Stops the server as if it had been killed.
    pub(crate) fn stop(&self) {
        self.control(&["-m", "immediate", "stop"]);
    }

    /// Starts the server after [`Self::stop`]. It only listens on its socket.
    pub(crate) fn start(&self) {
        // The same limits as before: a standby must not have lower ones than its primary had.
        let options = format!(
            "-k {} -c listen_addresses= -c max_connections=200",
            self.folder.display()
        );
        let log = self.folder.join("log").display().to_string();
        self.control(&["-w", "-l", &log, "-o", &options, "start"]);
    }

    /// The content of a schema, as text.
    pub(crate) fn dump(&self, schema: &str) -> String {
        let output = client("pg_dump")
            .args([
                "-U",
                SUPERUSER,
                "-d",
                "postgres",
                "--inserts",
                "-n",
                schema,
                "-h",
            ])
            .arg(&self.folder)
            .output()
            .expect("pg_dump runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// The server's log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).expect("a log")
    }

    /// Gives these roles of a directory to a user, creating the user if necessary.
    pub(crate) fn let_in(&self, who: &str, schema: &str, roles: &[&str]) {
        self.execute("public", &letting_in(who, schema, roles));
    }

    /// Sets up a directory as its admin, with the operators, and returns it as one of them.
    pub(crate) fn set_up(&self, schema: &str) -> TeamLocation {
        let made = groupdesk::directory::set_up(&at_as(DESK, &self.folder, schema));
        made.expect("a schema");
        for who in OPERATORS {
            self.let_in(who, schema, &["operator"]);
        }
        at(&self.folder, schema)
    }

    /// Removes a directory with its roles. A test that sets up many needs it: every session reads all memberships of its
    /// user, so that each directory makes the next ones slower.
    pub(crate) fn remove(&self, schema: &str) {
        let roles = ["viewer", "operator", "admin", "owner"].map(|role| format!("{schema}_{role}"));
        let text = format!(
            "SET client_min_messages = warning; DROP SCHEMA {schema} CASCADE; DROP ROLE {}",
            roles.join(", ")
        );
        self.execute("public", &text);
    }

    fn psql(&self) -> Command {
        self.psql_as(SUPERUSER)
    }

    fn psql_as(&self, who: &str) -> Command {
        let mut psql = client("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"])
            .args([
                "-v",
                "VERBOSITY=sqlstate",
                "-U",
                who,
                "-d",
                "postgres",
                "-h",
            ])
            .arg(&self.folder)
            .args(["-p", &self.port.to_string()]);
        psql
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Opens another session, which can keep a transaction open.
    pub(crate) fn session(&self, schema: &str) -> Session {
        let mut child = self
            .psql()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("psql runs");
        let answers = child.stdout.take().expect("its output");
        let mut session = Session {
            input: child.stdin.take().expect("its input"),
            answers: BufReader::new(answers),
            child,
        };
        session.say(&format!("SET search_path = {schema}"));
        session
    }

    /// Starts another client that runs these statements concurrently.
    pub(crate) fn writer(&self, text: &str) -> Writer {
        let mut psql = self.psql();
        let psql = psql.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = psql.stderr(Stdio::null()).spawn().expect("psql runs");
        let mut input = child.stdin.take().expect("its input");
        // The client reads statements as it runs them; if the server dies, it does not read all of them.
        let _ = input.write_all(text.as_bytes());
        Writer(child)
    }

    /// Runs statements as a user and rolls them back. Returns the error if they are refused.
    pub(crate) fn try_as(&self, who: &str, schema: &str, texts: &[&str]) -> Result<(), String> {
        let mut psql = self.psql_as(who);
        psql.args(["-c", &format!("SET search_path = {schema}"), "-c", "BEGIN"]);
        for text in texts {
            psql.args(["-c", text]);
        }
        let output = psql.args(["-c", "ROLLBACK"]).output().expect("psql runs");
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Runs each of these as a user, after `before`, and rolls it back. Returns the error of each that is refused.
    pub(crate) fn try_each_as(
        &self,
        who: &str,
        schema: &str,
        before: &str,
        texts: &[&str],
    ) -> Vec<Result<(), String>> {
        let mut script = format!("SET search_path = {schema};\n");
        for text in texts {
            let _ = writeln!(script, "BEGIN; {before}\n{text};");
            let _ = writeln!(script, "\\echo ended :ERROR :LAST_ERROR_MESSAGE\nROLLBACK;");
        }
        let mut psql = self.psql_as(who);
        let psql = psql.args(["-v", "ON_ERROR_STOP=0"]).stdin(Stdio::piped());
        let psql = psql.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = psql.spawn().expect("psql runs");
        let mut input = child.stdin.take().expect("its input");
        // What psql answers is less than a pipe holds.
        input.write_all(script.as_bytes()).expect("taken");
        drop(input);
        let output = child.wait_with_output().expect("it ran");
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let ends = said.lines().filter_map(|line| line.strip_prefix("ended "));
        let ends: Vec<_> = ends
            .map(|end| match end.strip_prefix("true ") {
                Some(why) => Err(why.to_owned()),
                None => Ok(()),
            })
            .collect();
        assert_eq!(ends.len(), texts.len(), "{said}");
        ends
    }

    /// Starts another server that replicates this one, on the next port in the same folder.
    pub(crate) fn standby(&self) -> Server {
        let programs = programs().expect("it is installed");
        let (data, port) = (self.folder.join("standby"), self.port + 1);
        let run = |program: &str, arguments: &[&str]| {
            let mut command = as_owner(&programs.join(program).display().to_string());
            let done = command
                .args(arguments)
                .current_dir("/")
                .stdin(Stdio::null());
            let done = done.stdout(Stdio::null()).status();
            assert!(done.expect("it runs").success(), "{program}");
        };
        let (folder, data) = (
            self.folder.display().to_string(),
            data.display().to_string(),
        );
        let from = format!("host={folder} port={} user={SUPERUSER}", self.port);
        run(
            "pg_basebackup",
            &["-D", &data, "-R", "-c", "fast", "-d", &from],
        );
        let options = format!("-k {folder} -c listen_addresses= -c max_connections=200 -p {port}");
        let log = format!("{folder}/standby.log");
        run(
            "pg_ctl",
            &["-D", &data, "-l", &log, "-s", "-w", "start", "-o", &options],
        );
        let folder = self.folder.clone();
        Server { folder, port }
    }

    /// Makes a stopped server a standby at its next start, of a primary that does not exist.
    pub(crate) fn follow_nobody(&self) {
        let sign = self.folder.join("data/standby.signal");
        let done = as_owner("touch").arg(sign).current_dir("/").status();
        assert!(done.expect("touch runs").success());
    }

    /// Promotes a standby to primary.
    pub(crate) fn promote(&self) {
        self.control(&["-w", "promote"]);
    }

    /// Promotes a standby, and stops the server it replicated as if that had been killed.
    pub(crate) fn take_over(&self, from: &Server) {
        from.stop();
        self.promote();
    }

    fn control(&self, arguments: &[&str]) {
        let programs = programs().expect("it is installed");
        let data = self
            .folder
            .join(if self.port == PORT { "data" } else { "standby" });
        let mut control = as_owner(&programs.join("pg_ctl").display().to_string());
        let control = control.arg("-D").arg(data).arg("-s").args(arguments);
        let done = control.current_dir("/").stdin(Stdio::null()).status();
        assert!(done.expect("pg_ctl runs").success(), "{arguments:?}");
    }

    /// The address of this server and of another one; the writable one is used.
    pub(crate) fn at_either(&self, other: &Server, schema: &str) -> TeamLocation {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        let url = format!(
            "postgres://ana@{folder}:{},{folder}:{}/postgres",
            self.port, other.port
        );
        TeamLocation::parse(&url, schema).expect("an address")
    }

    /// Runs a statement that groupdesk itself never would, as the superuser.
    pub(crate) fn execute(&self, schema: &str, text: &str) -> String {
        self.execute_as(SUPERUSER, schema, text)
    }

    /// Changes the settings of the running server, for example `SET default_transaction_read_only = on`. When this
    /// returns, every open connection has been told.
    pub(crate) fn configure(&self, settings: &[&str]) {
        let loaded = || self.execute("public", "SELECT pg_conf_load_time()");
        let before = loaded();
        for setting in settings {
            self.execute("public", &format!("ALTER SYSTEM {setting}"));
        }
        self.execute("public", "SELECT pg_reload_conf()");
        wait_until("the settings are loaded", || loaded() != before);
        // The server tells one connection after another, and takes a new one when it has told all.
        loaded();
    }

    /// The same as another user.
    pub(crate) fn execute_as(&self, who: &str, schema: &str, text: &str) -> String {
        let output = self
            .psql_as(who)
            .args(["-c", &format!("SET search_path = {schema}"), "-c", text])
            .output()
            .expect("psql runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout)
            .expect("UTF-8")
            .trim()
            .to_owned()
    }
}

/// A client that runs a whole script, as long as its server lives. It ends at the first error.
pub(crate) struct Writer(Child);

impl Writer {
    pub(crate) fn is_running(&mut self) -> bool {
        self.0.try_wait().is_ok_and(|ended| ended.is_none())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A psql session. An error ends the session and fails the test.
pub(crate) struct Session {
    child: Child,
    input: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Session {
    /// Runs a statement and returns its output.
    pub(crate) fn say(&mut self, text: &str) -> String {
        const END: &str = "-- done\n";
        writeln!(self.input, "{text};\n\\echo '-- done'").expect("psql reads");
        let mut answer = String::new();
        while !answer.ends_with(END) {
            let read = self.answers.read_line(&mut answer).expect("psql writes");
            assert!(read > 0, "psql ended at {text:?}");
        }
        answer.truncate(answer.len() - END.len());
        answer.trim().to_owned()
    }

    /// The process id of its backend on the server.
    pub(crate) fn number(&mut self) -> String {
        self.say("SELECT pg_backend_pid()")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ending the client ends its transaction.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server of this run; `None` if PostgreSQL is not installed.
pub(crate) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let programs = programs()?;
        Some(start(&programs, &[], PORT, "-c listen_addresses=", None))
    });
    server.as_ref()
}

/// A server for a single test, with the system identifier of the shared one.
pub(crate) fn own() -> Option<Server> {
    let fresh = server()?.folder().join("fresh");
    let options = "-c listen_addresses=";
    Some(start(&programs()?, &[], PORT, options, Some(&fresh)))
}

/// A server with a system identifier of its own.
pub(crate) fn another() -> Option<Server> {
    server()?;
    let options = "-c listen_addresses=";
    Some(start(&programs()?, &[], PORT, options, None))
}

/// A server that is also reachable over TLS on loopback, at the returned port, with a password: for `names` with SCRAM,
/// for `md5` with the old method, and for `carla` without one, by a certificate of the authority. All arguments are PEM.
pub(crate) fn with_tls(certificate: &str, key: &str, authority: &str) -> Option<(Server, u16)> {
    let fresh = server()?.folder().join("fresh");
    let hba = "local all all trust\nhostssl all md5 127.0.0.1/32 md5\nhostssl all carla 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
    let files = [
        ("server.crt", certificate),
        ("server.key", key),
        ("root.crt", authority),
        ("pg_hba.conf", hba),
    ];
    // Bound until the server listens, which may bind it as well: no other test gets the port.
    let held = TcpSocket::new_v4().expect("a socket");
    held.set_reuseaddr(true).expect("set");
    held.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let port = held.local_addr().expect("an address").port();
    let options = format!(
        "-c listen_addresses=127.0.0.1 -p {port} -c ssl=on -c ssl_cert_file=$1/server.crt -c ssl_key_file=$1/server.key \
         -c ssl_ca_file=$1/root.crt"
    );
    let server = start(&programs()?, &files, port, &options, Some(&fresh));
    drop(held);
    Some((server, port))
}
