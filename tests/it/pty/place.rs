//! A person's temporary folders, and the programs started in them. Nothing of the real home is ever used.

use super::prelude::*;

pub(crate) use crate::support::wait::wait_until;

/// The first group of the demo's testing list.
pub(crate) const FIRST: &str = "Acme Eu";

pub(crate) struct TempHome {
    folder: tempfile::TempDir,
}

impl TempHome {
    pub(crate) fn new() -> Self {
        let folder = crate::support::folder::temporary();
        for name in ["home", "config", "data", "state", "cache", "run", "tmp"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Self { folder }
    }

    pub(crate) fn below(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The shipped binary.
    pub(crate) fn groupdesk(&self, arguments: &[&str]) -> Program {
        self.here(Program::groupdesk(arguments))
    }

    /// A line of shell with job control, in which `groupdesk` is the shipped binary.
    pub(crate) fn shell(&self, script: &str) -> Program {
        let script = script.replace("groupdesk", env!("CARGO_BIN_EXE_groupdesk"));
        self.here(Program::new("/bin/sh", &["-m", "-c", &script]))
    }

    pub(crate) fn here(&self, program: Program) -> Program {
        let folders = [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_RUNTIME_DIR", "run"),
            ("TMPDIR", "tmp"),
        ];
        folders
            .into_iter()
            .fold(program, |program, (variable, name)| {
                program.env(variable, self.below(name).to_string_lossy())
            })
            .env("USER", "ana")
            .cwd(&self.below("home"))
    }

    /// A demo, with its list on the screen.
    pub(crate) fn demo(&self) -> Session {
        let mut session = self.groupdesk(&["demo"]).start();
        session.wait_for(FIRST, PATIENCE);
        session
    }

    /// Whether the demo's folder exists.
    pub(crate) fn has_demo_folder(&self) -> bool {
        let mut entries = fs::read_dir(self.below("tmp")).expect("readable");
        entries.next().is_some()
    }

    /// Starts a demo without a console; reads the lines that name its configuration and directory.
    pub(crate) fn hold(&self) -> BackgroundDemo {
        let mut session = self.groupdesk(&["demo", "--hold"]).size(24, 500).start();
        let screen = session.wait_until("both lines", PATIENCE, |screen| {
            screen.contents().contains("export GROUPDESK_DIRECTORY=")
        });
        let value = |name: &str| {
            let line = screen.lines().find(|line| line.contains(name));
            let quoted = line.and_then(|line| line.split('\'').nth(1));
            quoted.expect("a quoted path").to_owned()
        };
        BackgroundDemo {
            config: value("GROUPDESK_CONFIG"),
            directory: value("GROUPDESK_DIRECTORY"),
            _session: session,
        }
    }
}

/// A demo that another console can use, until it is dropped.
pub(crate) struct BackgroundDemo {
    pub(crate) config: String,
    pub(crate) directory: String,
    /// Killed on drop.
    _session: Session,
}

impl BackgroundDemo {
    /// The program with the configuration and the directory of this demo.
    pub(crate) fn console(&self, program: Program) -> Program {
        program
            .env("GROUPDESK_CONFIG", self.config.as_str())
            .env("GROUPDESK_DIRECTORY", self.directory.as_str())
    }
}

/// The running processes of a session, with their command lines.
pub(crate) fn processes_of_session(leader: rustix::process::Pid) -> Vec<String> {
    let leader = leader.as_raw_nonzero().to_string();
    let processes = fs::read_dir("/proc").expect("readable");
    let mut found = Vec::new();
    for process in processes.flatten() {
        // Processes may end meanwhile.
        let Ok(stat) = fs::read_to_string(process.path().join("stat")) else {
            continue;
        };
        // After the name in brackets: state, parent, group, session.
        let Some((_, rest)) = stat.rsplit_once(')') else {
            continue;
        };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        if fields.get(3) == Some(&leader.as_str()) && fields[0] != "Z" {
            found.push(stat);
        }
    }
    found
}
