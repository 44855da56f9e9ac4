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
    time::Duration,
};

use rustix::process::{Pid, Signal as Kill, kill_process};
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::{
    domain::{kept_text::without_tokens, visible},
    intake,
    platform::private_files::write_new_private,
    tui::{
        state::EditRequest,
        terminal::{Signal, stop_here},
    },
};

/// Variables that name an editor, in order of precedence.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];
/// How long an editor may take to exit after it was asked to.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
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
                .filter(|value| !value.is_empty())
        };
        let Some(line) = VARIABLES.into_iter().find_map(get).cloned() else {
            return Err(
                "no editor is set: leave, export EDITOR=vim (or VISUAL), and start again".into(),
            );
        };
        let runtime = get("XDG_RUNTIME_DIR").map(PathBuf::from);
        let other = get("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
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
            .tempdir_in(&self.folder)?;
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
                    end: None,
                };
            }
        };
        let mut is_interrupted = false;
        loop {
            let signal = tokio::select! {
                status = child.wait() => {
                    // The Ctrl-C that ended the editor also arrives here, perhaps a moment later. It does not mean
                    // that the person wants to leave the console.
                    let grace = if is_interrupted { Duration::ZERO } else { grace(&status) };
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
                    return EditorExit { status, end };
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
                "the editor was not found: {name}; set VISUAL or EDITOR. Not applied"
            )),
            Ok(status) => Some(match status.code() {
                Some(code) => format!("the editor ended with exit code {code}; not applied"),
                None => format!("the editor ended with {status}; not applied"),
            }),
            Err(error) => Some(format!("the editor could not be run ({name}): {error}")),
        }
    }
}

impl EditFile {
    /// The text that the editor left, or why it is not used. However the editor ended, what was typed is not lost: what is
    /// not returned is kept in files of its own, also what the editor wrote beside its file, and the reason names them.
    /// All other files are removed. `may_keep` refuses a text that may hold a secret.
    pub fn finish(
        self,
        refusal: Option<String>,
        may_keep: impl Fn(&[u8]) -> bool,
    ) -> Result<String, String> {
        let bytes = self.bytes();
        let (why, text) = match (refusal, bytes) {
            (Some(why), bytes) => (why, bytes.ok()),
            (None, Err(error)) => (
                format!("the editor left no file: {error}; not applied"),
                None,
            ),
            (None, Ok(bytes)) if bytes.len() > LONGEST => (
                "the text has more than 2 MiB: not applied".into(),
                Some(bytes),
            ),
            (None, Ok(bytes)) => match intake::text::maybe_empty(&bytes) {
                Ok(text) if !text.trim().is_empty() || self.beside(b"").is_empty() => {
                    return self.remove().map(|()| text);
                }
                Ok(_) => ("the editor left an empty file: not applied".into(), None),
                Err(fault) => (
                    format!("the editor left a file that is not UTF-8: {fault}; not applied"),
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
            if may_keep(&text) {
                said.push_str(&keep(&self.keeps, &name, &text).0);
            } else {
                said.push_str("your text seems to contain a key and was not saved");
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
    let named = ["TMPDIR", "HOME", "XDG_RUNTIME_DIR"].map(|name| {
        get(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    });
    let [first, home, runtime] = named;
    let first = first.unwrap_or_else(std::env::temp_dir);
    let others = [home, runtime].into_iter().flatten();
    [first].into_iter().chain(others).collect()
}

/// Keeps a text that is not used in a new file that only its owner can read, without the tokens in it, in the first of the
/// folders that takes it. Returns the end of a sentence that names the file, and its path.
pub fn keep(folders: &[PathBuf], name: &str, text: &[u8]) -> (String, Option<PathBuf>) {
    let (text, had_token) = without_tokens(text);
    let written = |folder: &PathBuf| {
        let mut file = tempfile::Builder::new()
            .prefix("groupdesk-")
            .suffix(&format!("-{name}"))
            .tempfile_in(folder)?;
        file.write_all(&text)?;
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
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let owned = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn visual_comes_before_editor_and_none_says_what_to_do() {
        let both = variables(&[("EDITOR", "ed"), ("VISUAL", "code --wait")]);
        assert_eq!(Editor::find(both).expect("one").line, "code --wait");
        let empty = variables(&[("VISUAL", ""), ("EDITOR", "ed")]);
        assert_eq!(Editor::find(empty).expect("one").line, "ed");
        let error = Editor::find(Vec::new()).expect_err("none");
        assert!(error.contains("EDITOR="), "{error}");
    }

    /// Both processes receive the same Ctrl-C, in no particular order.
    #[tokio::test]
    async fn a_ctrl_c_that_comes_after_the_end_of_the_editor_is_still_the_editors() {
        // If Ctrl-C is ignored, as in a background job, the shell reports the same by its exit status.
        let line = "kill -INT $$; exit 130";
        let editor = Editor::find(variables(&[("EDITOR", line)])).expect("an editor");
        let outside = EditRequest {
            file: "text",
            text: "text".into(),
        };
        let file = editor.write(&outside).expect("written");
        let is_heard = std::cell::Cell::new(false);
        let late = async || {
            if is_heard.get() {
                return std::future::pending().await;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
            is_heard.set(true);
            Signal::Interrupt
        };
        let run = editor.run(&file, late).await;
        assert_eq!(run.end, None);
        assert!(is_heard.get(), "it is left for the console");
    }

    #[tokio::test]
    async fn an_editor_with_arguments_and_quotes_gets_a_private_file() {
        let place = tempfile::tempdir().expect("a folder");
        let open = place.path().join("open");
        std::fs::create_dir(&open).expect("a folder");
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).expect("set");
        let script = r#"sh -c 'stat -c %a "$2" >"$1"; dirname "$2" | xargs stat -c %a >>"$1"; echo "$KEEP" >>"$2"' 'an editor'"#;
        let log = place.path().join("a log");
        let line = format!("{script} \"{}\"", log.display());
        let tmp = place.path().join("tmp");
        std::fs::create_dir(&tmp).expect("a folder");
        let editor = Editor::find(variables(&[
            ("EDITOR", &line),
            ("KEEP", "kept"),
            ("PATH", "/usr/bin:/bin"),
            ("XDG_RUNTIME_DIR", &open.to_string_lossy()),
            ("TMPDIR", &tmp.to_string_lossy()),
        ]));
        let editor = editor.expect("an editor");
        assert_eq!(editor.folder, tmp, "the other one is open to all");
        let outside = EditRequest {
            file: "name.txt",
            text: "Acme".into(),
        };
        let file = editor.write(&outside).expect("written");
        let run = editor
            .run(&file, async || std::future::pending().await)
            .await;
        assert_eq!(editor.refusal(&run.status), None);
        assert_eq!(file.finish(None, |_| true).as_deref(), Ok("Acme\nkept\n"));
        let modes = std::fs::read_to_string(&log).expect("a log");
        assert_eq!(modes, "600\n700\n");
        assert_eq!(std::fs::read_dir(&tmp).expect("readable").count(), 0);
    }

    #[tokio::test]
    async fn asked_for_the_end_it_ends_its_editor() {
        let editor = variables(&[("EDITOR", "tail -f /dev/null"), ("PATH", "/usr/bin:/bin")]);
        let editor = Editor::find(editor).expect("an editor");
        let outside = EditRequest {
            file: "name.txt",
            text: String::new(),
        };
        let file = editor.write(&outside).expect("written");
        let run = editor.run(&file, async || Signal::Terminate).await;
        assert_eq!(run.end, Some(Signal::Terminate));
        let refusal = editor.refusal(&run.status).expect("killed");
        assert!(refusal.contains("not applied"), "{refusal}");
    }

    /// All ways in which an editor can end.
    #[tokio::test]
    async fn what_was_typed_is_kept_however_the_editor_ends() {
        let (token, much) = ("6a21d2b4".repeat(8), vec![0; 3_000_000]);
        let with_token =
            format!("printf '{{\"token\": \"abc\", \"a\": \"{token}\"}}' >\"$1\"; exit 1");
        let hidden = format!("{{\"token\": \"xxx\", \"a\": \"{}\"}}", "x".repeat(64));
        #[rustfmt::skip] // A table: one case per line.
        let table: [(&str, &str, &[&[u8]]); 16] = [
            ("printf 'typed\\377' >\"$1\"", "not UTF-8", &[b"typed\xff"]),
            ("printf typed >\"$1\"; kill -9 $$", "exit code 137", &[b"typed"]),
            ("printf typed >\"$1\"; kill -TERM $$", "exit code 143", &[b"typed"]),
            ("printf typed >\"$1\"; exit 1", "exit code 1", &[b"typed"]),
            ("printf typed >\"$1\"; exit 127", "was not found", &[b"typed"]),
            ("printf typed >\"$1~\"; rm \"$1\"", "left no file", &[b"typed"]),
            ("printf typed >\"$1~\"; rm \"$1\"; mkdir \"$1\"", "left no file", &[b"typed"]),
            ("printf typed >\"$1~\"; rm \"$1\"; mkfifo \"$1\"", "left no file", &[b"typed"]),
            ("printf typed >\"$1~\"; : >\"$1\"", "an empty file", &[b"typed"]),
            ("printf typed >\"$(dirname \"$1\")/.text.swp\"; kill -9 $$", "exit code 137", &[b"typed"]),
            ("mkdir \"$1.d\"; printf typed >\"$1.d/text\"; kill -9 $$", "exit code 137", &[b"typed"]),
            ("rm \"$1\"; mkdir \"$1\"; printf typed >\"$1/text\"", "left no file", &[b"typed"]),
            ("head -c 3000000 /dev/zero >\"$1\"", "more than 2 MiB", &[&much]),
            (&with_token, "without the token", &[hidden.as_bytes()]),
            ("exit 1", "exit code 1", &[]),
            ("rm -r \"$(dirname \"$1\")\"", "left no file", &[]),
        ];
        for (script, why, kept) in table {
            let place = tempfile::tempdir().expect("a folder");
            let tmp = place.path().join("tmp");
            std::fs::create_dir(&tmp).expect("a folder");
            let editor = Editor::find(variables(&[
                (
                    "EDITOR",
                    &format!("sh -c '{}'", script.replace('\'', "'\\''")).replace("$1", "$0"),
                ),
                ("PATH", "/usr/bin:/bin"),
                ("TMPDIR", &tmp.to_string_lossy()),
            ]));
            let editor = editor.expect("an editor");
            let outside = EditRequest {
                file: "text",
                text: "given".into(),
            };
            let file = editor.write(&outside).expect("written");
            let run = editor.run(&file, async || std::future::pending().await);
            let refusal = editor.refusal(&run.await.status);
            let said = file.finish(refusal, |_| true).expect_err(script);
            assert!(said.contains(why), "{script}: {said}");
            let left: Vec<_> = std::fs::read_dir(&tmp).expect("readable").collect();
            let left = left
                .into_iter()
                .map(|entry| entry.expect("an entry").path());
            let left: Vec<_> = left.collect();
            assert_eq!(left.len(), kept.len(), "{script}: {left:?}");
            for (path, kept) in left.iter().zip(kept) {
                assert!(
                    said.contains(&path.display().to_string()),
                    "{script}: {said}"
                );
                assert!(std::fs::read(path).expect("readable") == **kept, "{script}");
                let mode = std::fs::metadata(path).expect("there").permissions().mode();
                assert_eq!(mode & 0o777, 0o600, "{script}");
            }
        }
    }
    #[tokio::test]
    async fn a_text_is_kept_in_another_folder_where_that_for_temporary_files_takes_none() {
        let place = tempfile::tempdir().expect("a folder");
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(place.path(), private).expect("set");
        let missing = place.path().join("missing");
        let line = "sh -c 'printf typed >\"$0\"; exit 1'";
        let editor = Editor::find(variables(&[
            ("EDITOR", line),
            ("PATH", "/usr/bin:/bin"),
            ("XDG_RUNTIME_DIR", &place.path().to_string_lossy()),
            ("TMPDIR", &missing.to_string_lossy()),
        ]));
        let editor = editor.expect("an editor");
        let outside = EditRequest {
            file: "text",
            text: "given".into(),
        };
        let file = editor.write(&outside).expect("written");
        let run = editor.run(&file, async || std::future::pending().await);
        let refusal = editor.refusal(&run.await.status);
        file.finish(refusal, |_| true).expect_err("refused");
        let mut left = std::fs::read_dir(place.path()).expect("readable");
        let left = left.next().expect("a file").expect("readable");
        assert_eq!(std::fs::read(left.path()).expect("a file"), b"typed");
    }
}
