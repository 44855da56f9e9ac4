//! Runs the hand-off command: no shell, one JSON object on standard input and nowhere else, a process group of its own, a
//! time limit. It writes nothing down.

use std::{
    ffi::OsStr,
    io,
    pin::{Pin, pin},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use serde::Serialize;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, Command},
    time::timeout,
};
use zeroize::Zeroizing;

use super::scrub::{Tail, scrubbed};
use crate::{
    config::HandOffCommand,
    directory::JournalRow,
    domain::{
        handoff::{HandOff, HandOffState},
        known::KnownGroup,
        token::{Fingerprint, Token},
    },
    platform::process_group::ProcessGroup,
};

/// How long output may still come after the command has ended: what it left running may hold the pipe open.
const GRACE: Duration = Duration::from_millis(500);

/// What the command reads.
#[derive(Serialize)]
struct Message<'a> {
    user_group_id: &'a str,
    name: Option<&'a str>,
    token: &'a str,
    previous_fingerprint: String,
    fingerprint: String,
    profile: &'a str,
}

/// Room that no token outgrows, so that the buffer is not moved and its old place left unwiped.
const ROOM: usize = 8 * 1024;

/// One JSON object on one line.
pub(super) fn message(
    profile: &str,
    row: &JournalRow,
    group: &KnownGroup,
    token: &Token,
    fingerprint: Fingerprint,
) -> Zeroizing<Vec<u8>> {
    let name = group.name.as_ref().map(|known| known.value.as_str());
    let message = Message {
        user_group_id: row.user_group_id.as_str(),
        name,
        token: token.expose(),
        previous_fingerprint: row.rotation.previous.to_string(),
        fingerprint: fingerprint.to_string(),
        profile,
    };
    let room = ROOM + 6 * (token.expose().len() + name.map_or(0, str::len));
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    serde_json::to_writer(&mut *bytes, &message).expect("texts become JSON, and memory takes it");
    bytes.push(b'\n');
    bytes
}

/// How the command ended: done or failed.
pub(super) async fn run(
    handoff: &HandOffCommand,
    variables: Vec<(&OsStr, &OsStr)>,
    message: &[u8],
    token: &Token,
) -> HandOff {
    match attempt(handoff, variables, message, token).await {
        Ok((status, last_line)) => ended(status, &last_line),
        Err(why) => failed(None, why),
    }
}

fn ended(status: ExitStatus, last_line: &str) -> HandOff {
    let said = match last_line {
        "" => None,
        line => Some(line.to_owned()),
    };
    if status.success() {
        return HandOff {
            state: HandOffState::Done,
            exit: Some(0),
            note: said,
        };
    }
    let why = match (status.code(), said) {
        (Some(_), Some(said)) => said,
        (Some(_), None) => "it said nothing".into(),
        (None, said) => [Some(status.to_string()), said]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(": "),
    };
    failed(status.code(), why)
}

fn failed(exit: Option<i32>, why: String) -> HandOff {
    HandOff {
        state: HandOffState::Failed,
        exit,
        note: Some(why),
    }
}

async fn attempt(
    handoff: &HandOffCommand,
    variables: Vec<(&OsStr, &OsStr)>,
    message: &[u8],
    token: &Token,
) -> Result<(ExitStatus, String), String> {
    let Some((program, arguments)) = handoff.command.split_first() else {
        return Err("it is empty".into());
    };
    let cannot = |error: io::Error| format!("it cannot be run: {error}");
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(cannot)?;
    let group = ProcessGroup::of(&child);
    let mut tail = Tail::default();
    let ended = {
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let mut giving = pin!(give(stdin, message));
        let mut reading = pin!(listen(stderr, &mut tail));
        let mut is_read = false;
        let ending = ending(&mut child, giving.as_mut(), reading.as_mut(), &mut is_read);
        let ended = timeout(handoff.timeout, ending).await;
        if ended.is_ok() {
            group.leave();
        } else {
            drop(group);
        }
        if !is_read {
            let _ = timeout(GRACE, reading).await;
        }
        ended
    };
    let last_line = scrubbed(&tail, token);
    if let Ok(status) = ended {
        return Ok((status.map_err(cannot)?, last_line));
    }
    // Killed a moment ago; this only takes it off the process table.
    let _ = timeout(GRACE, child.wait()).await;
    let limit = handoff.timeout.as_millis();
    let said = match last_line.as_str() {
        "" => String::new(),
        line => format!(": {line}"),
    };
    Err(format!(
        "it did not end within {limit} ms and was killed{said}"
    ))
}

/// Gives it the message and the end of input. A command that does not read it may still end well.
async fn give(stdin: Option<ChildStdin>, message: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(message).await;
    }
}

/// Reads to the end, so that the command is not stopped by a full pipe.
async fn listen(pipe: Option<impl AsyncRead + Unpin>, tail: &mut Tail) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = Zeroizing::new([0; 4096]);
    while let Ok(count @ 1..) = pipe.read(&mut *buffer).await {
        tail.take(&buffer[..count]);
    }
}

/// Waits for the end of the command while it is given its input and heard.
async fn ending(
    child: &mut Child,
    mut giving: Pin<&mut impl Future<Output = ()>>,
    mut reading: Pin<&mut impl Future<Output = ()>>,
    is_read: &mut bool,
) -> io::Result<ExitStatus> {
    let mut is_given = false;
    loop {
        tokio::select! {
            () = &mut giving, if !is_given => is_given = true,
            () = &mut reading, if !*is_read => *is_read = true,
            status = child.wait() => return status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any pipe holds.
    const MUCH: usize = 1024 * 1024;

    async fn shell(script: &str, limit: Duration) -> HandOff {
        let handoff = HandOffCommand {
            command: ["/bin/sh", "-c", script].map(str::to_owned).into(),
            timeout: limit,
        };
        let token = Token::new("canary-token".into());
        run(&handoff, Vec::new(), &vec![b'x'; MUCH], &token).await
    }

    #[tokio::test]
    async fn input_that_nobody_reads_holds_up_neither_the_end_nor_the_limit() {
        let long = Duration::from_secs(30);
        let ended = shell("exit 0", long).await;
        assert_eq!(ended.state, HandOffState::Done, "{ended:?}");
        let ended = shell("exec 0<&-; head -c 300000 /dev/zero >&2; exit 7", long).await;
        assert_eq!((ended.state, ended.exit), (HandOffState::Failed, Some(7)));
        let ended = shell("sleep 1000", Duration::from_millis(100)).await;
        assert_eq!((ended.state, ended.exit), (HandOffState::Failed, None));
        let ended = shell("kill -9 $$", long).await;
        let note = ended.note.expect("a note");
        assert!(note.contains("SIGKILL"), "{note}");
    }
}
