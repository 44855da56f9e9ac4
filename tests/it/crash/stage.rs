//! The setting of the runs: one real service for all of them, and for each a group, a directory and a proxy of its own.
//! The directory is a file, or for tests in `team` a schema of a database. And the test's side of an installation in
//! another process.

use super::*;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::process::Child;

/// The longest life of an installation process.
const DEADLINE: Duration = Duration::from_mins(1);

/// Opens a file, or the database that [`Scene::directory`] names.
pub(super) fn opened(directory: &Path) -> Directory {
    let opened = match team(directory) {
        Some((url, schema)) => {
            Directory::open(&TeamLocation::parse(url, schema).expect("an address"))
        }
        None => Directory::open(directory),
    };
    opened.expect("a directory")
}

/// Address and schema of a database.
pub(super) fn team(directory: &Path) -> Option<(&str, &str)> {
    let text = directory.to_str()?;
    text.split_once(' ')
        .filter(|(url, _)| url.starts_with("postgres://"))
}

pub(super) struct Stage {
    pub(super) world: World,
    /// An empty directory file to copy: creating one waits for the disk many times.
    empty: PathBuf,
    next: AtomicUsize,
}

impl Stage {
    pub(super) async fn new() -> Self {
        let world = World::new().await;
        let empty = world.folder().join("empty/directory.db");
        drop(Directory::open(&empty).expect("a directory"));
        Self {
            world,
            empty,
            next: AtomicUsize::new(0),
        }
    }

    pub(super) async fn scene(&self) -> Scene<'_> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let group = format!("group-{number}");
        self.world.seed(Side::Testing, &group, "G", &[], &json!({}));
        let folder = self.world.installations().join(&group);
        private_folder(&folder).expect("a folder");
        let directory = folder.join("directory.db");
        let directory = if let Some(team) = postgres::team() {
            let server = postgres::server().expect("a server").folder();
            let server = server.display().to_string().replace('/', "%2F");
            format!("postgres://ana@{server}/postgres {}", team.schema()).into()
        } else {
            fs::copy(&self.empty, &directory).expect("a copy");
            directory
        };
        Scene {
            stage: self,
            old: self.world.stored(Side::Testing, &group).token,
            proxy: FaultyProxy::before(self.world.address()).await,
            folder,
            directory,
            group,
        }
    }
}

/// Everything that one run needs.
pub(super) struct Scene<'a> {
    stage: &'a Stage,
    pub(super) group: String,
    pub(super) folder: PathBuf,
    pub(super) directory: PathBuf,
    pub(super) proxy: FaultyProxy,
    /// The first token.
    pub(super) old: String,
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        if let (Some((_, schema)), Some(server)) = (team(&self.directory), postgres::server())
            && !std::thread::panicking()
        {
            server.remove(schema);
        }
    }
}

impl Scene<'_> {
    /// Where a hand-off command stores new tokens, outside the folder of the installation.
    pub(super) fn sink(&self) -> Sink {
        Sink::new(&self.stage.world.folder().join("sinks").join(&self.group))
    }

    /// Another group of the same installation.
    pub(super) fn and(&self, name: &str) -> String {
        let group = format!("{}-{name}", self.group);
        let world = &self.stage.world;
        world.seed(Side::Testing, &group, "G", &[], &json!({}));
        group
    }

    /// The token that the service has for a group.
    pub(super) fn token_of(&self, group: &str) -> String {
        self.stage.world.stored(Side::Testing, group).token
    }

    /// The token that the service has now.
    pub(super) fn token(&self) -> String {
        let stored = self.stage.world.stored(Side::Testing, &self.group);
        stored.token
    }

    pub(super) fn secrets(&self) -> Vec<String> {
        let key = fs::read_to_string(self.key()).expect("a key");
        vec![key, self.old.clone(), self.token()]
    }

    /// Runs a query by hand; returns its result.
    fn ask(&self, text: &str) -> String {
        if let Some((_, schema)) = team(&self.directory) {
            let server = postgres::server().expect("a server");
            return server.execute(schema, text);
        }
        let directory = Connection::open(&self.directory).expect("a second connection");
        if text.starts_with("SELECT") {
            let found = directory.query_row(text, [], |row| row.get::<_, i64>(0));
            return found.expect("SQL").to_string();
        }
        directory.execute(text, []).expect("SQL").to_string()
    }

    /// Whether another connection finds this fingerprint of a new token now.
    pub(super) fn is_durable(&self, fingerprint: &str) -> bool {
        let hex = match team(&self.directory) {
            Some(_) => "encode(fingerprint, 'hex')",
            None => "lower(hex(fingerprint))",
        };
        let text = format!("SELECT count(*) FROM rotations WHERE {hex} = '{fingerprint}'");
        self.ask(&text) != "0"
    }

    /// As if the machine had been restarted: then the wall clock, which the installation sets itself, tells how long
    /// ago something was sent. In a database it becomes an hour ago by the database's clock.
    pub(super) fn restart_machine(&self) {
        let texts: &[&str] = match team(&self.directory) {
            Some(_) => &["ALTER TABLE rotations DISABLE TRIGGER rotations_timed; \
                 UPDATE rotations SET boot_clock = split_part(boot_clock, '@', 1)::bigint - 3600000000 || '@' || timeline(); \
                 ALTER TABLE rotations ENABLE TRIGGER rotations_timed; \
                 UPDATE last_changes SET boot_clock = split_part(boot_clock, '@', 1)::bigint - 3600000000 || '@' || timeline()"],
            None => &[
                "UPDATE rotations SET boot_clock = 'before:1'",
                "UPDATE last_changes SET boot_clock = 'before:1'",
            ],
        };
        for text in texts {
            self.ask(text);
        }
    }

    fn key(&self) -> PathBuf {
        use groupdesk::config::profile::KeySource;
        match self.stage.world.key_source(Side::Testing, false) {
            KeySource::File(file) => file,
            KeySource::Env(_)
            | KeySource::Command(_)
            | KeySource::Keyring(_)
            | KeySource::Unset => {
                panic!("the world keeps keys in files")
            }
        }
    }

    pub(super) fn order(&self, task: Task) -> Order {
        Order {
            task,
            directory: self.directory.clone(),
            base_url: self.proxy.base_url(),
            key: self.key(),
            id: self.group.clone(),
            timeout: Duration::from_secs(20),
            variant: Variant::Shipped,
            noon: noon().as_second(),
            handoff: Vec::new(),
            kill: None,
            passes: 0,
            full: None,
            tells: false,
        }
    }
}

/// An installation in another process; killed when dropped.
pub(super) struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(super) fn start(order: &Order) -> Self {
        let test = std::env::current_exe().expect("this binary");
        Self::start_as(Command::new(test), order)
    }

    /// `command` runs the test binary, possibly after something else.
    pub(super) fn start_as(mut command: Command, order: &Order) -> Self {
        let order = serde_json::to_string(order).expect("JSON");
        command
            .args([
                "crash::child::child",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(ORDER, order)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .expect("a process");
        let out = child.stdout.take().expect("piped");
        Self {
            child,
            lines: BufReader::new(out).lines(),
        }
    }

    /// The next report of the installation, a word and its text; `None` when it has ended.
    pub(super) async fn next_report(&mut self) -> Option<(String, String)> {
        let next = async {
            while let Some(line) = self.lines.next_line().await.expect("text") {
                // The harness prints its own words before ours, without a line break.
                if let Some((_, said)) = line.split_once(MARK) {
                    let (what, words) = said.split_once(' ').expect("a word and more");
                    return Some((what.to_owned(), words.to_owned()));
                }
            }
            None
        };
        let said = tokio::time::timeout(DEADLINE, next);
        said.await.expect("the process ends in time")
    }

    /// Lets a waiting installation continue.
    pub(super) async fn resume(&mut self) {
        let input = self.child.stdin.as_mut().expect("piped");
        // A killed one needs no answer.
        let _ = input.write_all(b"\n").await;
    }

    pub(super) fn no_more(&mut self) {
        drop(self.child.stdin.take());
    }

    pub(super) fn kill(&mut self) {
        self.child.start_kill().expect("the process can be killed");
    }

    /// Whether it was killed; any other end except success fails the test.
    pub(super) async fn is_killed(&mut self) -> bool {
        use std::os::unix::process::ExitStatusExt;
        let status = self.child.wait().await.expect("an end");
        assert!(
            status.success() || status.signal() == Some(9),
            "the process failed: {status}"
        );
        !status.success()
    }
}

/// A file of the folder that contains one of the texts. This process must have no database connection open on them.
pub(super) fn file_with_secret(folder: &Path, secrets: &[String]) -> Option<PathBuf> {
    let holds = holding_one_of(secrets);
    let files = files_below(folder).expect("readable");
    files
        .into_iter()
        .find(|file| holds(&fs::read(file).expect("readable")))
}
