//! The person's own editor: finding it, the private file for it, and running it. Does not interpret the text.
//!
//! Runs it as git does: `sh -c '<editor> "$@"' <editor> <file>`, so that an editor with arguments or quotes works as
//! in a shell, and the name of the file is never parsed by one.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::ExitStatusExt,
    },
    path::{Path, PathBuf},
    process::ExitStatus,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal as Kill, kill_process};
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::{
    domain::{kept_text::without_tokens, visible},
    intake,
    platform::private_files::{temporary_folder_of, write_new_private},
    tui::{
        state::EditRequest,
        terminal::{Signal, stop_here},
    },
};

/// Variables that name an editor, in order of precedence.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];
/// How long an editor may take to exit after it was asked to.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Whoever looks at a text takes longer; a program that only asks another one to open a window does not.
const AT_ONCE: Duration = Duration::from_secs(2);
/// Exit code of a shell that did not find the program.
const NOT_FOUND: i32 = 127;
/// Maximum length of an edited text in bytes; twice what a service is likely to accept.
const LONGEST: usize = 2 * 1024 * 1024;
/// How many of the files beside the text are kept.
const MOST_KEPT: usize = 4;

/// An editor, and its environment, which has no API keys.
#[derive(Debug)]
pub struct Editor {
    line: OsString,
    variables: Vec<(OsString, OsString)>,
    folder: PathBuf,
    keeps: Vec<PathBuf>,
}

/// A text in a 0600 file in a 0700 folder of its own; both are removed with it.
#[derive(Debug)]
pub struct EditFile {
    folder: tempfile::TempDir,
    file: PathBuf,
    given: Vec<u8>,
    keeps: Vec<PathBuf>,
}

/// How a run ended.
#[derive(Debug)]
pub struct EditorExit {
    pub status: io::Result<ExitStatus>,
    /// How long it ran.
    pub time: Duration,
    /// The signal that asked for the end meanwhile.
    pub end: Option<Signal>,
}

impl Editor {
    /// Finds the editor of an environment; `Err` says what to do if there is none.
    pub fn find(variables: Vec<(OsString, OsString)>) -> Result<Self, String> {
        let get = |name: &str| {
            let found = variables.iter().find(|(variable, _)| variable == name);
            found
                .map(|(_, value)| value)
                .filter(|value| !value.as_encoded_bytes().trim_ascii().is_empty())
        };
        let Some(line) = VARIABLES.into_iter().find_map(get).cloned() else {
            return Err(
                "no editor is set: leave, export EDITOR=vim (or VISUAL), and start again".into(),
            );
        };
        let runtime = get("XDG_RUNTIME_DIR").map(PathBuf::from);
        let other = temporary_folder_of(get("TMPDIR").cloned());
        let keeps = keeping_folders(|name| get(name).cloned());
        let folder = runtime.filter(|folder| is_private(folder)).unwrap_or(other);
        Ok(Self {
            line,
            variables,
            folder,
            keeps,
        })
    }

    /// Writes a text to a file that only its owner can read.
    pub fn write(&self, outside: &EditRequest) -> io::Result<EditFile> {
        let folder = tempfile::Builder::new()
            .prefix("groupdesk-edit-")
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir_in(&self.folder)
            .map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("{}: {}", self.folder.display(), error.kind()),
                )
            })?;
        let file = folder.path().join(outside.file);
        let given = format!("{}\n", outside.text).into_bytes();
        write_new_private(&file, &given)?;
        Ok(EditFile {
            folder,
            file,
            given,
            keeps: self.keeps.clone(),
        })
    }

    /// Runs the editor in this terminal until it exits. Passes on a signal that asks for the end.
    pub async fn run(&self, file: &EditFile, mut next: impl AsyncFnMut() -> Signal) -> EditorExit {
        let mut script = OsString::new();
        if is_simple(&self.line) {
            // With exec, a signal reaches the editor rather than a shell that waits for it.
            script.push("exec ");
        }
        script.push(&self.line);
        script.push(" \"$@\"");
        let started = Command::new("/bin/sh")
            .args([OsStr::new("-c"), &script, &self.line])
            .arg(&file.file)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .kill_on_drop(true)
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                return EditorExit {
                    status: Err(error),
                    time: Duration::ZERO,
                    end: None,
                };
            }
        };
        let begun = Instant::now();
        let mut is_interrupted = false;
        loop {
            let signal = tokio::select! {
                status = child.wait() => {
                    // The Ctrl-C that ended the editor also arrives here, perhaps a moment later. It does not mean
                    // that the person wants to leave the console.
                    let grace = if is_interrupted { Duration::ZERO } else { grace(&status) };
                    let time = begun.elapsed();
                    let mut end = None;
                    let rest = async {
                        loop {
                            match next().await {
                                Signal::Interrupt if !grace.is_zero() => return,
                                signal @ (Signal::Terminate | Signal::Hangup) => end = Some(signal),
                                Signal::Interrupt | Signal::Stop | Signal::Continued => {}
                            }
                        }
                    };
                    drop(timeout(grace, rest).await);
                    return EditorExit { status, time, end };
                }
                signal = next() => signal,
            };
            is_interrupted |= signal == Signal::Interrupt;
            let passed_on = match signal {
                Signal::Terminate => Kill::TERM,
                Signal::Hangup => Kill::HUP,
                // Ctrl-C is meant for the editor, and so is Ctrl-Z with what follows.
                Signal::Interrupt | Signal::Continued => continue,
                // The console stops together with the editor, so that the shell gets the terminal.
                Signal::Stop => {
                    drop(stop_here());
                    continue;
                }
            };
            return EditorExit {
                status: end(&mut child, passed_on).await,
                time: begun.elapsed(),
                end: Some(signal),
            };
        }
    }

    /// Why the result of a run is not taken over; `None` if it is.
    pub fn refusal(&self, status: &io::Result<ExitStatus>) -> Option<String> {
        let name = visible(&self.line.to_string_lossy()).into_owned();
        match status {
            Ok(status) if status.success() => None,
            Ok(status) if status.code() == Some(NOT_FOUND) => Some(format!(
                "the editor was not found, or ended with exit code 127: {name}; not applied. Check VISUAL or EDITOR"
            )),
            Ok(status) => Some(match status.code() {
                Some(code) => format!("the editor ended with exit code {code}; not applied"),
                None => format!("the editor ended with {status}; not applied"),
            }),
            Err(error) => Some(format!(
                "the editor could not be run ({name}): {error}; not applied"
            )),
        }
    }
}

impl EditFile {
    /// A hint if the editor ended at once and changed nothing: then it may have opened a window, and what is typed there is
    /// lost.
    pub fn hint(&self, run: &EditorExit) -> Option<&'static str> {
        let is_success = run.status.as_ref().is_ok_and(ExitStatus::success);
        let is_at_once = is_success && run.end.is_none() && run.time < AT_ONCE;
        let is_unchanged = || self.bytes().is_ok_and(|text| text == self.given);
        (is_at_once && is_unchanged()).then_some(
            "the editor ended at once and changed nothing. If it opened a window, make it wait: VISUAL='code --wait'",
        )
    }

    /// The text that the editor left, or why it is not used. However the editor ended, what was typed is not lost: what is
    /// not returned is kept in files of its own, also what the editor wrote beside its file, and the reason names them.
    /// All other files are removed. `keepable` is the text that may be kept, without what may be a secret; tokens of the
    /// usual shape are removed from it before.
    pub async fn finish(
        self,
        refusal: Option<String>,
        keepable: impl AsyncFn(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<String, String> {
        let bytes = self.bytes();
        let (why, text) = match (refusal, bytes) {
            (Some(why), bytes) => (why, bytes.ok()),
            (None, Err(error)) => (
                format!("the editor left no file: {error}; not applied"),
                None,
            ),
            (None, Ok(bytes)) if bytes.len() > LONGEST => (
                "the text is longer than 2 MiB; not applied".into(),
                Some(bytes),
            ),
            (None, Ok(bytes)) => match intake::text::maybe_empty(&bytes) {
                Ok(text) if self.beside(b"").is_empty() => return self.remove().map(|()| text),
                Ok(text) if text.trim().is_empty() => {
                    ("the editor left an empty file; not applied".into(), None)
                }
                Ok(_) if bytes == self.given => (
                    "the editor changed only other files, not its own; not applied".into(),
                    None,
                ),
                Ok(text) => return self.remove().map(|()| text),
                Err(fault) => (
                    format!("the editor left a file that cannot be read: {fault}; not applied"),
                    Some(bytes),
                ),
            },
        };
        let text = text.filter(|text| *text != self.given && !text.trim_ascii().is_empty());
        let mut texts = self.beside(text.as_deref().unwrap_or_default());
        if let Some(text) = text {
            let name = self.file.file_name().unwrap_or_default().to_string_lossy();
            texts.insert(0, (name.into_owned(), text));
        }
        let mut said = why;
        for (name, text) in texts {
            said.push_str("; ");
            let given = String::from_utf8_lossy(&self.given);
            let (text, had_token) = without_tokens(&text, &given);
            let Some(kept) = keepable(&text).await else {
                said.push_str("your text seems to contain a key and was not saved");
                continue;
            };
            said.push_str(&keep(&self.keeps, &name, &kept, had_token).0);
            if kept != text {
                said.push_str("; it is saved without what may be a secret");
            }
        }
        match self.remove() {
            Ok(()) => Err(said),
            Err(left) => Err(format!("{said}. {left}")),
        }
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        // A FIFO would block.
        if !std::fs::metadata(&self.file)?.is_file() {
            return Err(io::Error::other("it is no longer a regular file"));
        }
        std::fs::read(&self.file)
    }

    /// What the editor left beside its file, also in folders of its own: copies, files for recovery.
    fn beside(&self, text: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut folders = vec![self.folder.path().to_owned()];
        let mut texts = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let kind = entry.file_type();
                if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
                    folders.push(entry.path());
                }
                if texts.len() == MOST_KEPT
                    || entry.path() == self.file
                    || !kind.is_ok_and(|kind| kind.is_file())
                {
                    continue;
                }
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                if !bytes.is_empty() && bytes != self.given && bytes != text {
                    texts.push((entry.file_name().to_string_lossy().into_owned(), bytes));
                }
            }
        }
        texts
    }

    /// Removes the file and whatever the editor created beside it.
    fn remove(self) -> Result<(), String> {
        let place = self.folder.path().display().to_string();
        match self.folder.close() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("{place} was not removed: {error}; remove it"))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Where a text is kept that is not used, if the folders before it are missing or full. That of the session is the last
/// one, because it ends with the session.
pub fn keeping_folders(get: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let others = ["HOME", "XDG_RUNTIME_DIR"].into_iter().filter_map(&get);
    let others = others.filter(|value| !value.is_empty()).map(PathBuf::from);
    let first = temporary_folder_of(get("TMPDIR"));
    [first].into_iter().chain(others).collect()
}

/// Keeps a text that is not used, and that has no secret, in a new file that only its owner can read, in the first of the folders
/// that takes it. Returns the end of a sentence that names the file, and its path.
pub fn keep(
    folders: &[PathBuf],
    name: &str,
    text: &[u8],
    had_token: bool,
) -> (String, Option<PathBuf>) {
    let written = |folder: &PathBuf| {
        let mut file = tempfile::Builder::new()
            .prefix("groupdesk-")
            .suffix(&format!("-{name}"))
            .tempfile_in(folder)?;
        file.write_all(text)?;
        let (_, path) = file.keep().map_err(|error| error.error)?;
        Ok::<_, io::Error>(path)
    };
    let mut tried = folders.iter().map(written);
    let first = tried
        .next()
        .unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
    match first.or_else(|error| tried.find_map(Result::ok).ok_or(error)) {
        Ok(path) => {
            let token = if had_token { ", without the token" } else { "" };
            let said = format!("your text is in {}{token}", path.display());
            (said, Some(path))
        }
        Err(error) => (format!("your text was not kept: {error}"), None),
    }
}

/// How long to wait for a Ctrl-C that also ended the editor.
fn grace(status: &io::Result<ExitStatus>) -> Duration {
    match status {
        Ok(status) if status.success() => Duration::ZERO,
        Ok(status)
            if status.signal() == Some(Kill::INT.as_raw())
                || status.code() == Some(128 + Kill::INT.as_raw()) =>
        {
            Duration::from_secs(1)
        }
        Ok(_) | Err(_) => Duration::from_millis(50),
    }
}

/// Whether it is a program with arguments, without anything that needs a shell.
fn is_simple(line: &OsStr) -> bool {
    let line = line.to_string_lossy();
    let first = line.split_whitespace().next().unwrap_or_default();
    !first.contains('=') && !line.contains([';', '|', '&', '(', ')', '{', '}', '<', '>', '#', '\n'])
}

async fn end(child: &mut Child, signal: Kill) -> io::Result<ExitStatus> {
    if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        // The editor may have exited by itself meanwhile.
        let _ = kill_process(pid, signal);
    }
    if let Ok(status) = timeout(EXIT_TIMEOUT, child.wait()).await {
        return status;
    }
    child.kill().await?;
    child.wait().await
}

/// Whether the folder belongs to this user and is closed to all others.
fn is_private(folder: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let is_open = |mode: u32| mode & 0o077 != 0;
    std::fs::metadata(folder)
        .is_ok_and(|found| found.is_dir() && found.uid() == own && !is_open(found.mode()))
}

#[cfg(test)]
mod tests;
