//! A person's installation: a home in a temporary folder, an empty environment, and the shipped binary.

use std::{
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use groupdesk::{
    config::profile::{KeySource, Profile},
    directory::Directory,
    domain::group::EnvironmentTag,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use crate::support::{bare::bare, world::bind};

/// The longest wait for anything that must happen.
pub(super) const DEADLINE: Duration = Duration::from_mins(1);

/// A home folder and the variables set in it.
pub(super) struct Home {
    pub(super) folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Home {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self {
            folder,
            variables: Vec::new(),
        }
    }

    /// A home with the same files and variables.
    pub(super) fn copied(&self) -> Self {
        let copy = Self {
            folder: tempfile::tempdir().expect("a folder"),
            variables: self.variables.clone(),
        };
        for file in files(self.folder.path()) {
            let name = file.strip_prefix(self.folder.path()).expect("below it");
            let to = copy.folder.path().join(name);
            std::fs::create_dir_all(to.parent().expect("a folder")).expect("created");
            std::fs::copy(&file, &to).expect("copied");
        }
        copy
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("written");
        self.path(name).display().to_string()
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value.into()));
    }

    /// Adds a profile `live` (tag Customer, production) with this address, and its key in a variable. Where the
    /// installation knows something already, address and key are declared to be those of the same environment.
    pub(super) fn connect(&mut self, base_url: &str, key: &str) {
        self.configure(base_url, key);
        let directory = self.path(".local/share/groupdesk/directory.db");
        if directory.exists() {
            let directory = Directory::open(&directory).expect("a directory");
            let mut profile = Profile::new("live", base_url, KeySource::Env("LIVE_KEY".into()));
            profile.environment = Some(EnvironmentTag::Customer);
            let environment = [("LIVE_KEY", key)].into_iter().collect();
            bind(&directory, &profile, &environment);
        }
    }

    /// As [`Home::connect`], without declaring which environment it is.
    pub(super) fn configure(&mut self, base_url: &str, key: &str) {
        let config = self.path("config.toml").display().to_string();
        self.write(
            "config.toml",
            &format!(
                "[profiles.live]\nbase_url = \"{base_url}\"\napi_key = {{ env = \"LIVE_KEY\" }}\n\
                 environment = \"Customer\"\ntimeout = \"30s\"\n"
            ),
        );
        self.set("GROUPDESK_CONFIG", config);
        self.set("LIVE_KEY", key);
    }

    pub(super) fn variable(&self, name: &str) -> String {
        let mut known = self.variables.iter();
        let found = known.find(|(known, _)| known == name);
        found.expect("it is set").1.clone()
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_groupdesk"), arguments)
    }

    /// As [`Home::command`], after a line of shell such as `ulimit`.
    pub(super) fn command_after(&self, line: &str, arguments: &[&str]) -> Command {
        let script = format!("{line}; exec \"$0\" \"$@\"");
        let mut all = vec!["-c", &script, env!("CARGO_BIN_EXE_groupdesk")];
        all.extend(arguments);
        self.program("/bin/sh", &all)
    }

    /// Another program in this home.
    pub(super) fn command_of(&self, program: &str, arguments: &[&str]) -> Command {
        self.program(program, arguments)
    }

    fn program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = bare(program, self.folder.path());
        command
            .args(arguments)
            .env("TMPDIR", self.folder.path())
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(super) async fn run(&self, arguments: &[&str]) -> Ran {
        let output = tokio::time::timeout(DEADLINE, self.command(arguments).output())
            .await
            .expect("it ends in time")
            .expect("it starts");
        Ran::of(output)
    }

    /// Runs a line as a shell does, with `groupdesk` as the program.
    pub(super) async fn run_line(&self, line: &str) -> Ran {
        let script = format!("groupdesk() {{ \"$0\" \"$@\"; }}; {line}");
        let arguments = ["-c", &script, env!("CARGO_BIN_EXE_groupdesk")];
        let output = self.command_of("/bin/sh", &arguments).output();
        let output = tokio::time::timeout(DEADLINE, output).await;
        Ran::of(output.expect("it ends in time").expect("it starts"))
    }

    /// Runs it with this standard input.
    pub(super) async fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        use tokio::io::AsyncWriteExt;
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("standard input");
        // It may end without reading.
        match stdin.write_all(input.as_bytes()).await {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => panic!("{error}"),
            _ => {}
        }
        drop(stdin);
        let output = tokio::time::timeout(DEADLINE, child.wait_with_output())
            .await
            .expect("it ends in time");
        Ran::of(output.expect("it ran"))
    }

    /// The result as JSON, after checking the exit code.
    pub(super) async fn json(&self, code: i32, arguments: &[&str]) -> Value {
        let mut with_json = arguments.to_vec();
        with_json.push("--json");
        let ran = self.run(&with_json).await;
        assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.out, ran.err);
        serde_json::from_str(&ran.out)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", ran.out))
    }

    /// Starts the demo without a console. The variables of this installation then lead to it.
    pub(super) async fn start_demo(&mut self) -> Background {
        self.hold(&["demo", "--hold"]).await
    }

    /// The same with these arguments.
    pub(super) async fn hold(&mut self, arguments: &[&str]) -> Background {
        let mut held = Background::start(self.command(arguments));
        for _ in 0..2 {
            let line = held.line().await;
            let (name, value) = line
                .strip_prefix("export ")
                .and_then(|line| line.split_once('='))
                .expect("a variable");
            self.set(name, value.trim_matches('\''));
        }
        held
    }

    /// Starts the service on a database of this installation. Returns its base URL, too.
    pub(super) async fn serve(&self) -> (Background, String) {
        self.serve_with(&[]).await
    }

    /// The same with more options.
    pub(super) async fn serve_with(&self, more: &[&str]) -> (Background, String) {
        let database = self.database();
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", &database];
        all.extend(more);
        let mut serving = Background::start(self.command(&all));
        let line = serving.line().await;
        let url = line
            .strip_prefix("listening on ")
            .and_then(|url| url.strip_suffix("/api/user"))
            .expect("an address");
        (serving, url.to_owned())
    }

    pub(super) fn database(&self) -> String {
        self.path("service/service.db").display().to_string()
    }

    /// Creates an API key in that database.
    pub(super) async fn key(&self, arguments: &[&str]) -> String {
        let database = self.database();
        let mut all = vec!["serve", "keys", "create", "--database", &database];
        all.extend(arguments);
        let ran = self.run(&all).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.trim().to_owned()
    }
}

/// Exit code and output of a run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("no signal killed it"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// A process that keeps running while the test does something else; killed when dropped.
pub(super) struct Background {
    pub(super) child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Background {
    pub(super) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().expect("it starts");
        let stdout = child.stdout.take().expect("standard output");
        Self {
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// The process, whose output is no longer read.
    pub(super) fn into_child(self) -> Child {
        self.child
    }

    /// The next line of its standard output.
    pub(super) async fn line(&mut self) -> String {
        tokio::time::timeout(DEADLINE, self.lines.next_line())
            .await
            .expect("a line in time")
            .expect("readable")
            .expect("a line")
    }

    /// Reads standard error up to a text.
    pub(super) async fn says(&mut self, text: &str) -> String {
        let stderr = self.child.stderr.as_mut().expect("standard error");
        let mut said = Vec::new();
        let reading = async {
            while !String::from_utf8_lossy(&said).contains(text) {
                let byte = stderr.read_u8().await.unwrap_or_else(|_| {
                    panic!("{text:?} is not in {:?}", String::from_utf8_lossy(&said))
                });
                said.push(byte);
            }
        };
        tokio::time::timeout(DEADLINE, reading)
            .await
            .expect("it says so in time");
        String::from_utf8_lossy(&said).into_owned()
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().expect("it runs") as i32).expect("a process id")
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it can be sent");
    }

    /// Its exit code, once it has ended.
    pub(super) async fn code(&mut self) -> Option<i32> {
        tokio::time::timeout(DEADLINE, self.child.wait())
            .await
            .expect("it ends in time")
            .expect("it ran")
            .code()
    }
}

/// Every file below a folder.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}
