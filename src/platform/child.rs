//! Runs the command of another program: no shell, a process group of its own, a time limit, and nothing left running.

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

/// How long output may still come after the command has ended: what it left running may hold the pipe open.
const GRACE: Duration = Duration::from_millis(500);

/// Why a command has no exit status.
#[derive(Debug)]
pub enum ChildError {
    /// The list of words is empty.
    Empty,
    NotStarted(io::Error),
    /// It was killed, and what it had started in its group.
    TimedOut,
}

/// What a command gets, and who hears it. Output beyond what is kept must be taken all the same: a full pipe stops it.
pub struct Child<'a, O, E> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// All of its environment.
    pub variables: Vec<(&'a OsStr, &'a OsStr)>,
    /// Its standard input; a command that does not read it may still end well.
    pub input: &'a [u8],
    pub limit: Duration,
    /// Takes standard output; `None`: nobody reads it.
    pub output: Option<O>,
    pub errors: E,
}

impl<O: FnMut(&[u8]), E: FnMut(&[u8])> Child<'_, O, E> {
    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// When there is no exit status.
    pub async fn run(self) -> Result<ExitStatus, ChildError> {
        let (program, arguments) = self.argv.split_first().ok_or(ChildError::Empty)?;
        let pipe_if = |wanted| {
            if wanted {
                Stdio::piped()
            } else {
                Stdio::null()
            }
        };
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(self.variables)
            .stdin(pipe_if(!self.input.is_empty()))
            .stdout(pipe_if(self.output.is_some()))
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(ChildError::NotStarted)?;
        let group = ProcessGroup::of(&child);
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
        // Killed a moment ago; this only takes it off the process table.
        let _ = timeout(GRACE, child.wait()).await;
        Err(ChildError::TimedOut)
    }
}

async fn write(pipe: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(input).await;
    }
}

/// A broken pipe ends the output; the exit status says the rest.
async fn read(from: Option<(impl AsyncRead + Unpin, impl FnMut(&[u8]))>) {
    let Some((mut pipe, mut take)) = from else {
        return;
    };
    // On the heap: many futures hold this one.
    let mut buffer = Zeroizing::new(vec![0; 4096]);
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        take(&buffer[..count]);
    }
}

/// The process group of a child that leads one. Killed on drop, so also when the one who waits goes away.
#[derive(Debug)]
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// Of a child that was started with `process_group(0)` and has not been waited for.
    fn of(child: &process::Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.cast_signed())))
    }

    /// The command has ended by itself; what it started on purpose may stay.
    fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // Fails only when nothing of the group is left.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}
