//! A person's installation: a home in a temporary folder, an empty environment, and the shipped binary.

use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt,
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
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use crate::support::{
    assertions::is_in,
    bare::bare,
    clock::TestClock,
    faults::Faults,
    proxy::FaultyProxy,
    stderr,
    world::{bind, files_below},
};

/// The longest wait for anything that must happen.
pub(super) const DEADLINE: Duration = Duration::from_mins(1);

/// The words of a command line: one by one, or as they are typed, where `'…'` is one word.
pub(super) trait Line {
    fn words(&self) -> Vec<&str>;
}

impl Line for str {
    fn words(&self) -> Vec<&str> {
        let (mut words, mut rest) = (Vec::new(), self.trim_matches(' '));
        while !rest.is_empty() {
            let (word, after) = match rest.strip_prefix('\'') {
                Some(quoted) => quoted.split_once('\'').expect("a second quote"),
                None => rest.split_once(' ').unwrap_or((rest, "")),
            };
            words.push(word);
            rest = after.trim_start_matches(' ');
        }
        words
    }
}

impl Line for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl Line for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Line for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Line for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

impl<T: Line + ?Sized> Line for &T {
    fn words(&self) -> Vec<&str> {
        (**self).words()
    }
}

/// A home folder and the variables set in it.
pub(super) struct Home {
    pub(super) folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Home {
    pub(super) fn new() -> Self {
        let folder = crate::support::folder::temporary();
        Self {
            folder,
            variables: Vec::new(),
        }
    }

    /// A home with the same files and variables.
    pub(super) fn copied(&self) -> Self {
        let copy = Self {
            folder: crate::support::folder::temporary(),
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

    /// The same as a text.
    pub(super) fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(super) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("written");
        self.at(name)
    }

    /// The configuration that [`Home::configure`] has written.
    pub(super) fn config(&self) -> String {
        std::fs::read_to_string(self.path("config.toml")).expect("readable")
    }

    /// Adds lines at the end of that configuration.
    pub(super) fn add_config(&self, lines: &str) {
        self.write("config.toml", &(self.config() + lines));
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

    pub(super) fn command(&self, line: &(impl Line + ?Sized)) -> Command {
        self.program(env!("CARGO_BIN_EXE_groupdesk"), &line.words())
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

    pub(super) async fn run(&self, line: &(impl Line + ?Sized)) -> Ran {
        self.run_words(&line.words(), None).await
    }

    /// Runs it, and checks its exit code.
    pub(super) async fn exits(&self, code: i32, line: &(impl Line + ?Sized)) -> Ran {
        self.run(line).await.exited(code)
    }

    /// The same for each line of a table; the words are in its output.
    pub(super) async fn each(&self, table: &[(i32, &str, &str)]) {
        for (code, line, words) in table {
            let ran = self.exits(*code, *line).await;
            let is_said = is_in(&ran.err, words) || *code == 0 && is_in(&ran.out, words);
            assert!(is_said, "{words:?} is missing in: {ran:?}");
        }
    }

    /// Runs a line as a shell does, with `groupdesk` as the program.
    pub(super) async fn run_line(&self, line: &str) -> Ran {
        let script = format!("groupdesk() {{ \"$0\" \"$@\"; }}; {line}");
        let arguments = ["-c", &script, env!("CARGO_BIN_EXE_groupdesk")];
        let output = self.command_of("/bin/sh", &arguments).output();
        let output = tokio::time::timeout(DEADLINE, output).await;
        Ran::of(line, output.expect("it ends in time").expect("it starts"))
    }

    /// Runs it with this standard input.
    pub(super) async fn run_with(&self, line: &(impl Line + ?Sized), input: &str) -> Ran {
        self.run_words(&line.words(), Some(input)).await
    }

    /// The same, and checks its exit code.
    pub(super) async fn exits_with(
        &self,
        code: i32,
        line: &(impl Line + ?Sized),
        input: &str,
    ) -> Ran {
        self.run_with(line, input).await.exited(code)
    }

    async fn run_words(&self, words: &[&str], input: Option<&str>) -> Ran {
        let mut command = self.command(words);
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().expect("it starts");
        if let Some(input) = input {
            let mut stdin = child.stdin.take().expect("standard input");
            // It may end without reading.
            match stdin.write_all(input.as_bytes()).await {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => panic!("{error}"),
                _ => {}
            }
        }
        let output = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
        let output = output.expect("it ends in time").expect("it ran");
        Ran::of(&words.join(" "), output)
    }

    /// The result as JSON, after checking the exit code.
    pub(super) async fn json(&self, code: i32, line: &(impl Line + ?Sized)) -> Value {
        let mut words = line.words();
        words.push("--json");
        self.exits(code, &words).await.json()
    }

    /// An installation with a demo, to which its variables lead.
    pub(super) async fn in_demo() -> (Self, Background) {
        let mut home = Self::new();
        let held = home.hold("demo --hold").await;
        (home, held)
    }

    /// Starts a demo with these arguments. The variables of this installation then lead to it.
    pub(super) async fn hold(&mut self, line: &(impl Line + ?Sized)) -> Background {
        let mut held = Background::start(self.command(line));
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

    /// An installation whose profile `live` is for this service.
    pub(super) fn of(service: &Faults) -> Self {
        let mut home = Self::new();
        home.connect(&service.base_url(), "key");
        home
    }

    /// A clock that the programs of this installation read.
    pub(super) fn clock(&mut self) -> TestClock {
        let clock = TestClock::new(self.folder.path());
        let (name, file) = clock.variable();
        self.set(name, file);
        clock
    }

    /// An installation with a service, whose profile `live` may do everything there.
    pub(super) async fn served() -> (Self, Background) {
        let mut home = Self::new();
        let key = home.key("--environment live --tag Customer").await;
        let (serving, url) = home.serve().await;
        home.connect(&url, &key);
        (home, serving)
    }

    /// The same with a proxy before the service.
    pub(super) async fn behind_proxy() -> (Self, FaultyProxy, Background) {
        let (mut home, serving) = Self::served().await;
        let url = home.url();
        let address = url.strip_prefix("http://").expect("an address");
        let proxy = FaultyProxy::before(address.parse().expect("an address")).await;
        home.connect(&proxy.base_url(), &home.variable("LIVE_KEY"));
        (home, proxy, serving)
    }

    /// Another installation with the same profile, which knows nothing of this one.
    pub(super) fn another(&self) -> Self {
        let mut other = Self::new();
        other.connect(&self.url(), &self.variable("LIVE_KEY"));
        other.set("USER", "li");
        other
    }

    /// The address of the profile `live`.
    pub(super) fn url(&self) -> String {
        let config = self.config();
        config.split('"').nth(1).expect("an address").to_owned()
    }

    /// Starts the service on a database of this installation. Returns its base URL, too.
    pub(super) async fn serve(&self) -> (Background, String) {
        self.serve_with("").await
    }

    /// The same with more options.
    pub(super) async fn serve_with(&self, more: &(impl Line + ?Sized)) -> (Background, String) {
        let database = self.database();
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database", &database];
        let mut serving = Background::start(self.command(&[&serve, &*more.words()].concat()));
        let url = serving.address().await;
        (serving, url)
    }

    /// Its folder exists, because no command makes a folder that a person named.
    pub(super) fn database(&self) -> String {
        let folder = self.path("service");
        let mut private = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
        private.recursive(true).create(&folder).expect("created");
        folder.join("service.db").display().to_string()
    }

    /// Creates an API key in that database.
    pub(super) async fn key(&self, more: &(impl Line + ?Sized)) -> String {
        let database = self.database();
        let create = ["serve", "keys", "create", "--database", &database];
        let ran = self.exits(0, &[&create, &*more.words()].concat()).await;
        ran.out.trim().to_owned()
    }
}

/// Exit code and output of a command line.
#[derive(Debug)]
pub(super) struct Ran {
    line: String,
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ran {
    pub(super) fn of(line: &str, output: Output) -> Self {
        Self {
            line: line.to_owned(),
            code: output.status.code().expect("no signal killed it"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    #[track_caller]
    fn exited(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}: {self:?}", self.line);
        self
    }

    /// Standard error has these words.
    #[track_caller]
    pub(super) fn says(&self, words: &str) -> &Self {
        assert!(is_in(&self.err, words), "{words:?} is missing in: {self:?}");
        self
    }

    /// Standard output has these words.
    #[track_caller]
    pub(super) fn shows(&self, words: &str) -> &Self {
        assert!(is_in(&self.out, words), "{words:?} is missing in: {self:?}");
        self
    }

    /// Standard output is this.
    #[track_caller]
    pub(super) fn prints(&self, text: &str) -> &Self {
        assert_eq!(self.out, text, "{self:?}");
        self
    }

    /// Standard error is this.
    #[track_caller]
    pub(super) fn warns(&self, text: &str) -> &Self {
        assert_eq!(self.err, text, "{self:?}");
        self
    }

    /// Neither output has this text.
    #[track_caller]
    pub(super) fn hides(&self, text: &str) -> &Self {
        let all = self.all();
        assert!(!is_in(&all, text), "{text:?} is in: {self:?}");
        self
    }

    /// Both outputs.
    pub(super) fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    #[track_caller]
    pub(super) fn json(&self) -> Value {
        let read = serde_json::from_str(&self.out);
        read.unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The values of a result with one on each line.
    #[track_caller]
    pub(super) fn lines(&self) -> Vec<Value> {
        let lines = self.out.lines().map(serde_json::from_str);
        let lines: Result<_, _> = lines.collect();
        lines.unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Of a JSON object, these fields have these values.
macro_rules! has {
    ($object:expr, $fields:tt) => {
        $crate::cli::program::assert_fields(&$object, &serde_json::json!($fields))
    };
}

pub(super) use has;

#[track_caller]
pub(super) fn assert_fields(object: &Value, fields: &Value) {
    for (name, value) in fields.as_object().expect("fields") {
        assert_eq!(object[name], *value, "{name} of {object}");
    }
}

/// A field of each element of a list.
#[track_caller]
pub(super) fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let list = list.as_array().expect("a list").iter();
    list.map(|one| one[field].as_str().unwrap_or("null"))
        .collect()
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

    /// The base URL of a service that begins to listen.
    pub(super) async fn address(&mut self) -> String {
        let line = self.line().await;
        let url = line.strip_prefix("listening on ");
        let url = url.and_then(|url| url.strip_suffix("/api/user"));
        url.expect("an address").to_owned()
    }

    /// Reads standard error up to a text.
    pub(super) async fn says(&mut self, text: &str) -> String {
        stderr::says(&mut self.child, text).await
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

pub(super) fn set_mode(path: impl AsRef<Path>, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
}

/// The mode of a file, without its kind.
pub(super) fn mode(path: impl AsRef<Path>) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

/// Every file below a folder.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    files_below(folder).expect("readable")
}
