//! Runs a command: no shell, a session of its own unless it may ask on the terminal, a time limit, and no process left
//! behind.

use std::{
    ffi::OsStr,
    io,
    pin::pin,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{self, ChildStdin, Command},
    time::timeout,
};
use zeroize::Zeroizing;

use super::own_session::{Terminal, find, launched};

/// How long to wait for output after the command has ended: a process that it left running may hold the pipe open.
const GRACE: Duration = Duration::from_millis(500);

/// Why a command has no exit status.
#[derive(Debug)]
pub enum ChildError {
    /// The argument list is empty.
    Empty,
    NotStarted(io::Error),
    /// The command was killed, with everything in its process group.
    TimedOut,
}

/// A command's input, and the receivers of its output. Receivers have to read everything, even what they do not keep,
/// because a full pipe would block the command.
pub struct Child<'a, O, E> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// Its complete environment.
    pub variables: Vec<(&'a OsStr, &'a OsStr)>,
    /// Its standard input. A command that does not read it may still succeed.
    pub input: &'a [u8],
    pub limit: Duration,
    /// It may ask on the terminal, if this process has it. Then it belongs to the same process group, so that what is typed
    /// reaches it; otherwise it has a session of its own, without a terminal.
    pub may_ask: bool,
    /// Receives standard output; `None` if nobody reads it.
    pub output: Option<O>,
    pub errors: E,
}

/// Whether a command could be started with these variables. It is not.
///
/// # Errors
///
/// Fails as the start would.
pub fn can_start(argv: &[String], variables: &[(&OsStr, &OsStr)]) -> io::Result<()> {
    let program = argv.first().ok_or(io::ErrorKind::NotFound)?;
    let path = variables.iter().find(|(name, _)| *name == "PATH");
    find(program, path.map(|(_, path)| *path))
}

impl<O: FnMut(&[u8]), E: FnMut(&[u8])> Child<'_, O, E> {
    /// Runs the command to its end.
    ///
    /// # Errors
    ///
    /// Fails if there is no exit status.
    pub async fn run(self) -> Result<ExitStatus, ChildError> {
        let (mut command, has_group) = self.command()?;
        let pipe_if = |wanted| {
            if wanted {
                Stdio::piped()
            } else {
                Stdio::null()
            }
        };
        let mut child = command
            .env_clear()
            .envs(self.variables)
            .stdin(pipe_if(!self.input.is_empty()))
            .stdout(pipe_if(self.output.is_some()))
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(ChildError::NotStarted)?;
        let group = ProcessGroup(has_group.then(|| pid_of(&child)).flatten());
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut writing = pin!(write(stdin, self.input));
        let mut reading = pin!(async {
            tokio::join!(
                read(stdout.zip(self.output)),
                read(stderr.map(|pipe| (pipe, self.errors)))
            )
        });
        let (mut is_written, mut is_read) = (false, false);
        let ended = timeout(self.limit, async {
            loop {
                tokio::select! {
                    () = &mut writing, if !is_written => is_written = true,
                    _ = &mut reading, if !is_read => is_read = true,
                    status = child.wait() => return status,
                }
            }
        })
        .await;
        if ended.is_ok() {
            group.leave();
        } else {
            drop(group);
        }
        if !is_read {
            let _ = timeout(GRACE, reading).await;
        }
        if let Ok(status) = ended {
            return status.map_err(ChildError::NotStarted);
        }
        if !has_group {
            let _ = child.start_kill();
        }
        // It was killed just now; this only reaps the process.
        let _ = timeout(GRACE, child.wait()).await;
        Err(ChildError::TimedOut)
    }
}

impl<O, E> Child<'_, O, E> {
    /// The command to start, and whether it will lead a process group.
    fn command(&self) -> Result<(Command, bool), ChildError> {
        let (program, arguments) = self.argv.split_first().ok_or(ChildError::Empty)?;
        if self.may_ask && Terminal::of_process() == Terminal::Foreground {
            let mut command = Command::new(program);
            command.args(arguments);
            return Ok((command, false));
        }
        let Some((launcher, arguments)) = launched(self.argv) else {
            let mut command = Command::new(program);
            command.args(arguments).process_group(0);
            return Ok((command, true));
        };
        can_start(self.argv, &self.variables).map_err(ChildError::NotStarted)?;
        let mut command = Command::new(launcher);
        command.args(arguments);
        Ok((command, true))
    }
}

async fn write(pipe: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(input).await;
    }
}

/// A broken pipe counts as the end of the output; the exit status tells the rest.
async fn read(from: Option<(impl AsyncRead + Unpin, impl FnMut(&[u8]))>) {
    let Some((mut pipe, mut take)) = from else {
        return;
    };
    // On the heap, because many futures contain this one.
    let mut buffer = Zeroizing::new(vec![0; 4096]);
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        take(&buffer[..count]);
    }
}

/// The process group led by a child. It is killed on drop, and so also when the waiting future is dropped.
#[derive(Debug)]
struct ProcessGroup(Option<Pid>);

fn pid_of(child: &process::Child) -> Option<Pid> {
    child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
}

impl ProcessGroup {
    /// Keeps the group alive: the command has ended by itself, and what it started on purpose may go on.
    fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // Fails only if nothing of the group is left.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}
