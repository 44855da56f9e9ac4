//! Runs a command in a session of its own, which has no terminal: a command that wants to ask there is told at once that it
//! cannot, and neither waits for an answer that goes to somebody else nor writes over a console.
//!
//! Only a process itself can leave its session, before it becomes the command. So this program starts itself once more, with
//! [`MARK`], leaves the session and is replaced by the command.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::{fs::OpenOptionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::OnceLock,
};

use rustix::{
    fs::{Access, OFlags, access},
    io::Errno,
    process::{getpgrp, setsid},
    termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr},
};

const MARK: &str = "--in-own-session";

/// As a shell ends where a program cannot be started.
const NOT_STARTED: u8 = 127;

/// This program on Linux, also where its file was replaced meanwhile.
const SELF: &str = "/proc/self/exe";

/// Set in the shipped program only; a test that is no such program starts commands directly.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// To be called first. Where this process was started to become a command, it does; the exit code tells that it could not.
pub(crate) fn enter() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != MARK) {
        let this = Path::new(SELF);
        let this = if this.exists() {
            Some(this.to_owned())
        } else {
            std::env::current_exe().ok()
        };
        if let Some(this) = this {
            let _ = PROGRAM.set(this);
        }
        return None;
    }
    // Fails only for the leader of a session, which has left its terminal already.
    let _ = setsid();
    let program = arguments.next()?;
    let error = Command::new(program).args(arguments).exec();
    let _ = writeln!(io::stderr(), "it cannot be started: {error}");
    Some(NOT_STARTED.into())
}

/// The program to start and its arguments, so that the command has a session of its own. `None` if this process cannot.
pub(super) fn launched(argv: &[String]) -> Option<(PathBuf, Vec<OsString>)> {
    let program = PROGRAM.get()?.clone();
    let arguments = [MARK].into_iter().chain(argv.iter().map(String::as_str));
    Some((program, arguments.map(OsString::from).collect()))
}

/// Whether the program can be started, with the search of a shell in `path`.
pub(super) fn find(program: &str, path: Option<&OsStr>) -> io::Result<()> {
    let can_start = |file: &Path| {
        if file.is_dir() {
            return Err(Errno::ACCESS);
        }
        access(file, Access::EXEC_OK)
    };
    if program.contains('/') {
        return Ok(can_start(Path::new(program))?);
    }
    let path = path.unwrap_or(OsStr::new("/bin:/usr/bin"));
    let mut why = Errno::NOENT;
    for folder in std::env::split_paths(path) {
        match can_start(&folder.join(program)) {
            Ok(()) => return Ok(()),
            Err(Errno::ACCESS) => why = Errno::ACCESS,
            Err(_) => {}
        }
    }
    Err(why.into())
}

/// What this process is to its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Terminal {
    None,
    /// What is typed goes to this process and those of its group.
    Foreground,
    /// What is typed goes to others.
    Background,
}

/// The settings of the terminal, which are given back when this is dropped: a command that is killed while it asks leaves the
/// terminal without echo.
pub(crate) struct KeptSettings(File, Termios);

impl Drop for KeptSettings {
    fn drop(&mut self) {
        // A terminal that is gone needs none.
        let _ = tcsetattr(&self.0, OptionalActions::Now, &self.1);
    }
}

impl Terminal {
    pub(crate) fn keep_settings() -> Option<KeptSettings> {
        let terminal = Self::open().ok()?;
        let settings = tcgetattr(&terminal).ok()?;
        Some(KeptSettings(terminal, settings))
    }

    fn open() -> io::Result<File> {
        let flags = OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits().cast_signed())
            .open("/dev/tty")
    }

    /// Writes to the person at the terminal, wherever the output goes. It does not wait: a terminal that was stopped with
    /// Ctrl-S takes nothing.
    pub(crate) fn tell(lines: &str) -> io::Result<()> {
        Self::open()?.write_all(lines.as_bytes())
    }

    pub(crate) fn of_process() -> Self {
        match Self::open().map(|terminal| tcgetpgrp(&terminal)) {
            Err(_) => Self::None,
            Ok(Ok(group)) if group == getpgrp() => Self::Foreground,
            Ok(_) => Self::Background,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        let here = tempfile::tempdir().expect("a folder");
        std::fs::write(here.path().join("text"), "").expect("written");
        std::fs::create_dir(here.path().join("folder")).expect("a folder");
        let path = format!("{}:/usr/bin:/bin", here.path().display());
        let of =
            |program: &str| find(program, Some(OsStr::new(&path))).map_err(|error| error.kind());
        assert_eq!(of("sh"), Ok(()));
        assert_eq!(of("/bin/sh"), Ok(()));
        assert_eq!(of("text"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(of("folder"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(of("no-such-program"), Err(io::ErrorKind::NotFound));
        assert_eq!(of("/no/such"), Err(io::ErrorKind::NotFound));
    }
}
