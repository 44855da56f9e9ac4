//! Runs the command that prints an API key: no shell, no input but what it asks on the terminal of a command line, a time limit,
//! and no process left behind.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::sleep;

use zeroize::Zeroizing;

use super::{
    environment::Environment,
    key_error::{LARGEST, Missing},
    scrub::shown,
};
use crate::platform::{
    child::{Child, ChildError},
    own_session::Terminal,
};

/// How long a person may take to answer a command that asks on the terminal.
const TYPING: Duration = Duration::from_mins(2);

/// How often what the command complains about is looked at; it may be a question.
const LOOK: Duration = Duration::from_millis(300);
/// Looks until it is said that a silent command is waited for.
const SILENT_LOOKS: usize = 10;

/// Shorter words are not keys, and replacing them would make the error message unreadable.
const SHORTEST_SCRUBBED: usize = 4;

/// Returns what the command printed.
pub(super) async fn run(
    argv: &[String],
    env: &Environment,
    limit: Duration,
) -> Result<Zeroizing<Vec<u8>>, Missing> {
    let mut output = Zeroizing::new(Vec::with_capacity(LARGEST + 1));
    let complaints = Mutex::new(Zeroizing::new(Vec::with_capacity(LARGEST + 1)));
    let complaints = || complaints.lock().unwrap_or_else(PoisonError::into_inner);
    let terminal = Terminal::of_process();
    let may_ask = env.may_ask() && terminal == Terminal::Foreground;
    let limit = if may_ask { limit.max(TYPING) } else { limit };
    let command = Child {
        argv,
        variables: env.for_commands(),
        input: b"",
        limit,
        may_ask,
        output: Some(|bytes: &[u8]| keep(&mut output, bytes)),
        errors: |bytes: &[u8]| keep(&mut complaints(), bytes),
    };
    let waiting = async {
        let program = shown(argv.first().map_or("", String::as_str));
        let (mut told, mut looks) = (None, 0);
        loop {
            sleep(LOOK).await;
            looks += 1;
            let line = last_line(&complaints()).map(|line| shown(&line));
            if line != told {
                Terminal::tell(&format!("{program}: {}", line.as_deref().unwrap_or("")));
                told = line;
            } else if looks == SILENT_LOOKS && told.is_none() {
                Terminal::tell(&format!("waiting for {program}, which prints the API key"));
            }
        }
    };
    let ended = tokio::select! {
        ended = command.run() => ended,
        ended = waiting, if may_ask => ended,
    };
    let status = ended.map_err(|error| match error {
        ChildError::Empty => Missing::NotSet,
        ChildError::NotStarted(error) => Missing::NotStarted(error),
        ChildError::TimedOut => Missing::TimedOut(limit),
    })?;
    if !status.success() {
        return Err(Missing::Failed {
            ending: status.to_string(),
            last_words: last_words(&complaints(), &output),
            is_kept_from_terminal: !may_ask && terminal != Terminal::None,
        });
    }
    if output.len() > LARGEST {
        return Err(Missing::TooMuch);
    }
    Ok(output)
}

/// Keeps the beginning of the output, up to one byte more than a key may have. The buffer is never reallocated, so no
/// copy of the key is left in memory.
fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let room = LARGEST + 1 - kept.len();
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// The last line of stderr, without words that also occur in the output or look like a key.
fn last_words(complaints: &[u8], output: &[u8]) -> String {
    let Some(mut line) = last_line(complaints) else {
        return " and printed nothing; run it yourself".into();
    };
    let printed = Zeroizing::new(String::from_utf8_lossy(output).into_owned());
    for word in printed
        .split_whitespace()
        .filter(|word| word.len() >= SHORTEST_SCRUBBED)
    {
        line = line.replace(word, "…");
    }
    format!(": {}", shown(&line))
}

/// The last line of stderr that says something.
fn last_line(complaints: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(complaints);
    let mut lines = text.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}
