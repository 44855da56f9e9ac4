//! Runs the command that prints an API key: no shell, no input but what it asks on the terminal of a command line, a time limit,
//! and no process left behind.

use std::{
    os::unix::process::ExitStatusExt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rustix::process::Signal;
use tokio::time::sleep;

use zeroize::Zeroizing;

use super::{
    environment::Environment,
    key_source::{LARGEST, Missing},
    scrub::{shown, without_possible_keys},
};
use crate::platform::{
    child::{Child, ChildError},
    own_session::Terminal,
};

/// How long a person may take to answer a command that asks on the terminal.
const TYPING: Duration = Duration::from_mins(2);

/// How long the Ctrl-C that ended the command may take to arrive here as well.
const CTRL_C: Duration = Duration::from_secs(1);

/// How often what the command complains about is looked at; it may be a question.
const LOOK: Duration = Duration::from_millis(300);
/// How a question ends that waits for its answer in the same line.
const QUESTIONS: [&[u8]; 7] = [b":", b"?", b": ", b"? ", b"> ", b"] ", b") "];

/// Shorter words are not keys, and replacing them would make the error message unreadable.
const SHORTEST_SCRUBBED: usize = 4;

/// Returns what the command printed.
pub(super) async fn run(
    argv: &[String],
    env: &Environment,
    limit: Duration,
) -> Result<Zeroizing<Vec<u8>>, Missing> {
    let [output, complaints] =
        [(); 2].map(|()| Mutex::new(Zeroizing::new(Vec::with_capacity(LARGEST + 1))));
    let output = || output.lock().unwrap_or_else(PoisonError::into_inner);
    let complaints = || complaints.lock().unwrap_or_else(PoisonError::into_inner);
    let terminal = Terminal::of_process();
    let may_ask = env.may_ask() && terminal == Terminal::Foreground;
    let limit = if may_ask { limit.max(TYPING) } else { limit };
    let _kept = may_ask.then(Terminal::keep_settings).flatten();
    let command = Child {
        argv,
        variables: env.for_commands(),
        input: b"",
        limit,
        may_ask,
        output: Some(|bytes: &[u8]| keep(&mut output(), bytes)),
        errors: |bytes: &[u8]| keep(&mut complaints(), bytes),
    };
    let waiting = async {
        let program = shown(argv.first().map_or("", String::as_str));
        let mut told = 0;
        loop {
            sleep(LOOK).await;
            let lines = news(&complaints(), told, &output());
            for (line, end) in lines {
                // What the terminal does not take now is told at the next look.
                if Terminal::tell(&format!("{program}: {line}\n")).is_err() {
                    break;
                }
                told = end;
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
    if may_ask && status.signal() == Some(Signal::INT.as_raw()) {
        // The same Ctrl-C ends this command line, perhaps a moment later.
        sleep(CTRL_C).await;
    }
    if !status.success() {
        return Err(Missing::Failed {
            ending: status.to_string(),
            last_words: last_words(&complaints(), &output()),
            is_kept_from_terminal: !may_ask && terminal != Terminal::None,
        });
    }
    let output = std::mem::take(&mut *output());
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

/// The last line of stderr that says something.
fn last_words(complaints: &[u8], output: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaints);
    match text.lines().rev().map(str::trim).find(|line| says(line)) {
        Some(line) => format!(": {}", safe(line, output)),
        None if output.trim_ascii().is_empty() => " and printed nothing; run it yourself".into(),
        None => ": what it printed is not used, because it failed; run it yourself".into(),
    }
}

/// A line of stderr without words that also occur in the output or look like a key.
fn safe(line: &str, output: &[u8]) -> String {
    let mut line = Zeroizing::new(line.to_owned());
    let printed = Zeroizing::new(String::from_utf8_lossy(output).into_owned());
    for word in printed
        .split_whitespace()
        .filter(|word| word.len() >= SHORTEST_SCRUBBED)
    {
        line = Zeroizing::new(line.replace(word, "…"));
    }
    shown(&without_possible_keys(&line))
}

/// Whether a line of stderr says something, and is not the trace of a shell (`+ echo …`), which has every key.
fn says(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('+')
}

/// What may be told at the terminal of stderr behind the first `told` bytes: each line, and how many bytes have been told
/// then. Only whole lines and questions: the beginning of a key is not recognized as one.
fn news(complaints: &[u8], told: usize, output: &[u8]) -> Vec<(String, usize)> {
    let mut end = told;
    let mut lines = Vec::new();
    for line in complaints[told..].split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        let is_whole = line.ends_with(b"\n");
        if !is_whole && !QUESTIONS.iter().any(|question| line.ends_with(question)) {
            break;
        }
        let line = Zeroizing::new(String::from_utf8_lossy(line).into_owned());
        let line = line.trim();
        if says(line) {
            lines.push((safe(line, output), end));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "9f86d081-884c-7d65-9a2f-eaa0c55ad015";

    #[test]
    fn each_whole_line_and_question_is_told_once_and_no_key() {
        let mut text = Vec::new();
        let mut told = 0;
        let mut add = |more: String| {
            text.extend_from_slice(more.as_bytes());
            let lines = news(&text, told, b"correcthorse\n");
            told = lines.last().map_or(told, |(_, end)| *end);
            lines.into_iter().map(|(line, _)| line).collect::<Vec<_>>()
        };
        assert_eq!(add(format!("is {}", &KEY[..9])), [""; 0]);
        let rest = format!("{}\n\nfirst\r\n second\n", &KEY[9..]);
        assert_eq!(add(rest), ["is …", "first", "second"]);
        assert_eq!(add("++ echo staple\nis correcthorse\n".into()), ["is …"]);
        assert_eq!(add("Passphrase".into()), [""; 0]);
        assert_eq!(add(": ".into()), ["Passphrase:"]);
        assert_eq!(add(String::new()), [""; 0]);
        assert_eq!(add("\nwrong\nAgain? ".into()), ["wrong", "Again?"]);
        assert_eq!(add(format!("{KEY}\n")), ["…"]);
        assert_eq!(add("PIN:".into()), ["PIN:"]);
        let text = format!("no /run/keys/desk for {KEY}\n");
        assert_eq!(
            last_words(text.as_bytes(), b""),
            ": no /run/keys/desk for …"
        );
        assert!(last_words(b"", b" \n").contains("printed nothing"));
        let words = last_words(b"", KEY.as_bytes());
        assert!(words.contains("what it printed is not used") && !words.contains(KEY));
    }
}
