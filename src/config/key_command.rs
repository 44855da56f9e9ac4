//! Runs the command that prints an API key: no shell, no input, a time limit, and nothing of it left running.

use std::{
    io,
    pin::{Pin, pin},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, copy, sink},
    process::{Child, Command},
    time::timeout,
};
use zeroize::Zeroizing;

use super::{
    environment::Environment,
    key_error::{LARGEST, Missing},
    scrub::shown,
};
use crate::platform::process_group::ProcessGroup;

/// How long output may still come after the command has ended: what it left running may hold the pipe open.
const GRACE: Duration = Duration::from_millis(500);

/// Shorter words are no keys, and without them the complaint could not be read.
const SHORTEST_SCRUBBED: usize = 4;

/// What the command printed.
pub(super) async fn run(
    argv: &[String],
    env: &Environment,
    limit: Duration,
) -> Result<Zeroizing<Vec<u8>>, Missing> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(Missing::NotSet);
    };
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(env.for_commands())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(Missing::NotStarted)?;
    let group = ProcessGroup::of(&child);
    let mut output = Zeroizing::new(Vec::with_capacity(LARGEST + 1));
    let mut complaints = Zeroizing::new(Vec::with_capacity(LARGEST + 1));
    let status = {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut reading = pin!(async {
            tokio::join!(gather(stdout, &mut output), gather(stderr, &mut complaints))
        });
        let mut all_read = false;
        let ended = timeout(limit, ending(&mut child, reading.as_mut(), &mut all_read)).await;
        let status = ended
            .map_err(|_| Missing::TimedOut(limit))?
            .map_err(Missing::NotStarted)?;
        group.leave();
        if !all_read {
            let _ = timeout(GRACE, reading).await;
        }
        status
    };
    if !status.success() {
        return Err(Missing::Failed {
            ending: status.to_string(),
            last_words: last_words(&complaints, &output),
        });
    }
    if output.len() > LARGEST {
        return Err(Missing::TooMuch);
    }
    Ok(output)
}

/// Waits for the end of the command while its output is read.
async fn ending<T>(
    child: &mut Child,
    mut reading: Pin<&mut impl Future<Output = T>>,
    all_read: &mut bool,
) -> io::Result<ExitStatus> {
    loop {
        tokio::select! {
            _ = &mut reading, if !*all_read => *all_read = true,
            status = child.wait() => return status,
        }
    }
}

/// Keeps the beginning and reads on, so that the command is not stopped by a full pipe.
async fn gather(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    if let Some(mut pipe) = pipe {
        // A broken pipe ends the output; the exit status says the rest.
        let _ = (&mut pipe).take(LARGEST as u64 + 1).read_to_end(kept).await;
        let _ = copy(&mut pipe, &mut sink()).await;
    }
}

/// The last line of stderr, without any word that also stands in the output or looks like a key.
fn last_words(complaints: &[u8], output: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaints);
    let Some(line) = text
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
    else {
        return " and said nothing; run it by hand".into();
    };
    let printed = Zeroizing::new(String::from_utf8_lossy(output).into_owned());
    let mut line = line.to_owned();
    for word in printed
        .split_whitespace()
        .filter(|word| word.len() >= SHORTEST_SCRUBBED)
    {
        line = line.replace(word, "…");
    }
    format!(": {}", shown(&line))
}
