//! An installation with a profile for each source of keys, commands that record what they can see, and a watch on the
//! process while it runs.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use groupdesk::{
    config::profile::{KeySource, Profile},
    directory::Directory,
    domain::group::EnvironmentTag,
};
use tokio::io::AsyncWriteExt;

use super::{
    bare::{GROUPDESK, bare},
    canary::{Canary, FILED_KEY, KEY, OTHER_KEY, TOLD_KEY},
    faults::{Fault, Faults},
    folder::put,
    world::{self, files_below},
};

const DEADLINE: Duration = Duration::from_mins(1);

/// A started program records its own arguments and environment, and its parent's arguments.
const SEES: &str = r#"{ env; cat "/proc/$$/cmdline" "/proc/$$/environ" "/proc/$PPID/cmdline"; } >> "$1/seen.$2"
"#;

pub(crate) struct Home {
    folder: tempfile::TempDir,
    /// The directory of an installation that knows `acme` in every profile.
    directory: PathBuf,
}

/// The results of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    /// The arguments of the program and of its children, and the environment of the children.
    pub(crate) seen: Vec<u8>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = crate::support::folder::temporary();
        let home = Self {
            directory: folder.path().join("data/directory.db"),
            folder,
        };
        let script = |name: &str, rest: &str| {
            let text = format!("#!/bin/sh\n{SEES}{rest}\n");
            fs::write(home.path(name), text).expect("written");
            let mode = fs::Permissions::from_mode(0o700);
            fs::set_permissions(home.path(name), mode).expect("set");
        };
        script("handoff", "cat > /dev/null; echo taken >&2");
        script("editor", "cat \"$3\" > /dev/null");
        script("keys", &format!("printf '%s\\n' '{TOLD_KEY}'"));
        groupdesk::platform::private_files::write_new_private(
            &home.path("filed.key"),
            FILED_KEY.as_bytes(),
        )
        .expect("written");
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes the configuration, with all profiles at this address.
    pub(crate) fn connect(&self, base_url: &str) {
        let folder = self.folder.path().display();
        let profile = |name: &str, source: &str| {
            format!(
                "[profiles.{name}]\nbase_url = \"{base_url}\"\napi_key = {{ {source} }}\nenvironment = \"Testing\"\n\
                 timeout = \"20s\"\nhandoff = {{ command = [\"/bin/sh\", \"{folder}/handoff\", \"{folder}\", \"handoff\"] }}\n\n"
            )
        };
        let text = "default_profile = \"live\"\n\n".to_owned()
            + &profile("live", "env = \"LIVE_KEY\"")
            + &profile("other", "env = \"OTHER_KEY\"")
            + &profile(
                "told",
                &format!("command = [\"/bin/sh\", \"{folder}/keys\", \"{folder}\", \"keys\"]"),
            )
            + &profile("filed", "file = \"filed.key\"");
        fs::write(self.path("config.toml"), text).expect("written");
        self.bind(base_url);
    }

    /// Declares that every profile is at this address now, and that all alarms are resolved.
    fn bind(&self, base_url: &str) {
        let directory = Directory::open(&self.directory).expect("a directory");
        for (name, key) in [
            ("live", KEY),
            ("other", OTHER_KEY),
            ("told", TOLD_KEY),
            ("filed", FILED_KEY),
        ] {
            let profile = Profile {
                environment: Some(EnvironmentTag::Testing),
                ..Profile::new(name, base_url, KeySource::Env("K".into()))
            };
            let environment = [("K", key)].into_iter().collect();
            world::bind(&directory, &profile, &environment);
        }
        world::acknowledge(&directory);
    }

    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", self.at("")),
            ("TMPDIR", self.at("")),
            ("USER", "ana".into()),
            ("LANG", "C.UTF-8".into()),
            ("TERM", "xterm-256color".into()),
            ("RUST_BACKTRACE", "full".into()),
            ("GROUPDESK_CONFIG", self.at("config.toml")),
            ("GROUPDESK_DIRECTORY", self.directory.display().to_string()),
            ("LIVE_KEY", KEY.into()),
            ("OTHER_KEY", OTHER_KEY.into()),
            (
                "VISUAL",
                format!("/bin/sh {} {} editor", self.at("editor"), self.at("")),
            ),
        ]
    }

    /// Runs the program with a service that follows this script.
    pub(crate) async fn run(
        &self,
        script: Vec<Fault>,
        arguments: &[&str],
        input: &str,
    ) -> (Ran, Faults) {
        let service = Faults::start(script).await;
        self.connect(&service.base_url());
        let mut child = bare(GROUPDESK, self.folder.path())
            .args(arguments)
            .envs(self.variables())
            .stdin(Stdio::piped())
            .spawn()
            .expect("it starts");
        let pid = child.id().expect("it runs");
        let mut seen = Vec::new();
        look(pid, &mut seen);
        let mut stdin = child.stdin.take().expect("standard input");
        // The program may have ended without reading.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let mut ending = std::pin::pin!(tokio::time::timeout(DEADLINE, child.wait_with_output()));
        let output = loop {
            tokio::select! {
                output = &mut ending => {
                    let output = output.unwrap_or_else(|_| panic!("{arguments:?} does not end"));
                    break output.expect("it ran");
                }
                () = tokio::time::sleep(Duration::from_millis(5)) => look(pid, &mut seen),
            }
        };
        let ran = Ran {
            code: output.status.code(),
            out: output.stdout,
            err: output.stderr,
            seen,
        };
        (ran, service)
    }

    /// Makes `acme` known in a profile.
    pub(crate) async fn make_known(&self, profile: &str, good: impl Fn() -> Fault) {
        let arguments = ["--profile", profile, "get", "acme", "--exists", "--json"];
        let (ran, _) = self.run(vec![good()], &arguments, "").await;
        assert_eq!(ran.code, Some(0), "{}", String::from_utf8_lossy(&ran.err));
    }

    /// A copy of what the installation knows now, to start again from it. A process that ends while the machine is busy
    /// may leave its last transactions in SQLite's log.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let log = PathBuf::from(format!("{}-wal", self.directory.display()));
        let files = [self.directory.clone(), log];
        let there = files.into_iter().filter(|file| file.exists());
        there
            .map(|file| {
                let bytes = fs::read(&file).expect("a directory");
                (file, bytes)
            })
            .collect()
    }

    pub(crate) fn restore(&self, known: &[(PathBuf, Vec<u8>)]) {
        let folder = self.directory.parent().expect("a folder");
        fs::remove_dir_all(folder).expect("removed");
        groupdesk::platform::private_files::private_folder(folder).expect("made");
        for (file, bytes) in known {
            put(file, bytes);
        }
    }

    /// Searches everything on the disk, except files that contain a key by their nature or were asked for.
    pub(crate) fn search(&self, needles: &Canary, what: &str, asked_for: &[&str]) -> usize {
        let mut searched = 0;
        for file in files_below(self.folder.path()).expect("readable") {
            let name = file.file_name().expect("a name").to_string_lossy();
            if ["filed.key", "keys"].contains(&&*name) || asked_for.contains(&&*name) {
                continue;
            }
            // The file may be gone meanwhile.
            let Ok(bytes) = fs::read(&file) else { continue };
            needles.assert_not_in(&format!("{what}: {}", file.display()), &bytes);
            searched += 1;
        }
        searched
    }

    /// How often started programs of this name recorded something.
    pub(crate) fn times_seen(&self, name: &str) -> usize {
        let seen = fs::read(self.path(&format!("seen.{name}"))).unwrap_or_default();
        let text = String::from_utf8_lossy(&seen);
        text.matches("TMPDIR=").count()
    }
}

/// Adds the arguments of a process and of all its descendants, and the environment of the descendants.
fn look(pid: u32, seen: &mut Vec<u8>) {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let read = |process: &Path, name: &str| fs::read(process.join(name)).unwrap_or_default();
    let arguments = read(&process, "cmdline");
    for child in children(&process) {
        let its = PathBuf::from(format!("/proc/{child}"));
        // As long as it has its parent's arguments it is a fork that has not called exec yet.
        if read(&its, "cmdline") != arguments {
            seen.extend(read(&its, "environ"));
            look(child, seen);
        }
    }
    seen.extend(arguments);
}

fn children(process: &Path) -> Vec<u32> {
    let tasks = fs::read_dir(process.join("task"))
        .into_iter()
        .flatten()
        .flatten();
    let of =
        |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let all: String = tasks.map(of).collect();
    all.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}
