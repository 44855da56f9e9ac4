//! Runs the hand-off command: without a shell, with one JSON object on standard input and nowhere else, in its own
//! process group, with a time limit. Records nothing.

use std::{ffi::OsStr, process::ExitStatus};

use serde::Serialize;
use zeroize::Zeroizing;

use super::scrub::{Tail, scrubbed};
use crate::{
    config::HandOffCommand,
    domain::handoff::HandOff,
    operations::prelude::*,
    platform::child::{Child, ChildError},
};

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

/// Capacity that no message exceeds, so that the buffer is never reallocated, which would leave its old memory unwiped.
const CAPACITY: usize = 8 * 1024;

/// The message: one JSON object on one line.
pub(super) fn message(
    profile: &str,
    row: &RotationRow,
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
    let room = CAPACITY + 6 * (token.expose().len() + name.map_or(0, str::len));
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    serde_json::to_writer(&mut *bytes, &message).expect("texts become JSON, and memory takes it");
    bytes.push(b'\n');
    bytes
}

/// Runs the command; the result is done or failed.
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
    let output_line = match last_line {
        "" => None,
        line => Some(line.to_owned()),
    };
    if status.success() {
        return HandOff {
            state: HandOffState::Done,
            exit: Some(0),
            note: output_line,
        };
    }
    let why = match (status.code(), output_line) {
        (Some(_), Some(output_line)) => output_line,
        (Some(_), None) => "it printed nothing".into(),
        (None, output_line) => joined([status.to_string()].into_iter().chain(output_line), ": "),
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
    let mut tail = Tail::default();
    let command = Child {
        argv: &handoff.command,
        variables,
        input: message,
        limit: handoff.timeout,
        // Several may run at the same time, and the console has the terminal.
        may_ask: false,
        output: None::<fn(&[u8])>,
        errors: |bytes: &[u8]| tail.take(bytes),
    };
    let ended = command.run().await;
    let last_line = scrubbed(&tail, token);
    ended
        .map(|status| (status, last_line.clone()))
        .map_err(|error| match error {
            ChildError::Empty => "it is empty".into(),
            ChildError::NotStarted(error) => format!("it cannot be run: {error}"),
            ChildError::TimedOut => {
                let limit = handoff.timeout.as_millis();
                let output_line = match last_line.as_str() {
                    "" => String::new(),
                    line => format!(": {line}"),
                };
                format!("it did not end within {limit} ms and was killed{output_line}")
            }
        })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// More than any pipe buffers.
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
