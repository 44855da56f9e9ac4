//! Where text leaves the program: the result goes to standard output, everything else to standard error. A closed pipe
//! is not an error. Hidden characters are always made visible. With `--quiet`, only errors, alarms, and questions with
//! their context are printed.

pub(super) mod colour;
pub(super) mod exchanges;
pub(super) mod form;
pub(super) mod human;
pub(super) mod json;
pub(super) mod progress;
pub(super) mod proposals;
pub(super) mod review;
pub(super) mod shape;
pub(super) mod token_file;

use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use zeroize::Zeroizing;

use self::shape::Object;
use super::{
    prelude::*,
    process::{
        exit::Exit,
        stdio::{self, ERR, OUT, Written},
    },
};
use crate::{api::inspect::escape_hidden, platform::os_error::in_plain_words};

/// Context that `--quiet` holds back until a question is asked. Not set without `--quiet`.
static WITHHELD: OnceLock<Mutex<Vec<String>>> = OnceLock::new();
static IS_FOR_TOKENS: AtomicBool = AtomicBool::new(false);
/// Whether the command has changed what it was asked to change.
static HAS_CHANGED: AtomicBool = AtomicBool::new(false);

/// Turns on `--quiet`.
pub(super) fn be_quiet() {
    WITHHELD.get_or_init(Mutex::default);
}

pub(super) fn is_quiet() -> bool {
    WITHHELD.get().is_some()
}

/// Reserves standard output for tokens; from now on the result goes to standard error.
pub(super) fn keep_output_for_tokens() {
    IS_FOR_TOKENS.store(true, Ordering::SeqCst);
}

pub(super) fn output_is_for_tokens() -> bool {
    IS_FOR_TOKENS.load(Ordering::SeqCst)
}

/// Notes that something was changed: that its result cannot be written is then no mistake of the caller, who would believe
/// that nothing was done.
pub(super) fn note_change() {
    HAS_CHANGED.store(true, Ordering::SeqCst);
}

/// Writes a token to standard output, on a line of its own.
pub(super) fn token(line: &str) -> io::Result<()> {
    secret(&Zeroizing::new(format!("{line}\n")))
}

/// Writes lines that nobody can get again, so a closed output is an error.
fn secret(lines: &str) -> io::Result<()> {
    if stdio::out_was_closed() {
        let closed = "standard output is closed or discarded";
        return Err(io::Error::new(io::ErrorKind::BrokenPipe, closed));
    }
    match OUT.write(lines) {
        Written::Done(written) => written,
        Written::GivenUp => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Writes lines of the result.
pub(super) fn result(text: &str) -> Result<(), CliError> {
    let written = if text.ends_with('\n') {
        chunk(text)
    } else {
        chunk(&format!("{text}\n"))
    };
    written.map(|_| ())
}

/// Writes a part of the result. Returns whether somebody still reads it.
pub(super) fn chunk(text: &str) -> Result<bool, CliError> {
    let out = if output_is_for_tokens() { &ERR } else { &OUT };
    match out.write(text) {
        Written::GivenUp => Err(CliError::Interrupted { in_flight: false }),
        Written::Done(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Written::Done(Err(error)) if HAS_CHANGED.load(Ordering::SeqCst) => {
            Err(CliError::DoneUnwritten(error))
        }
        Written::Done(written) => written.map(|()| true).map_err(CliError::Output),
    }
}

/// Writes a result as indented JSON, or in the chosen form.
pub(super) fn json(value: &impl Serialize) -> Result<(), CliError> {
    chunk(&json_text(value)?).map(|_| ())
}

/// After the first signal.
pub(super) const FINISHING: &str = "finishing running requests; a second signal exits at once";

/// As [`json()`], for a result with a secret that is printed only once.
pub(super) fn secret_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = Zeroizing::new(json_text(value)?);
    secret(&text).map_err(CliError::Output)
}

fn json_text(value: &impl Serialize) -> Result<String, CliError> {
    if let Some(text) = form::whole(value)? {
        return Ok(text);
    }
    let text = serde_json::to_string_pretty(value).map_err(CliError::unexpected(form::NO_JSON))?;
    Ok(escape_hidden(&text) + "\n")
}

/// Writes a result: for programs, or for people.
pub(super) fn either<V: Serialize>(
    is_json: bool,
    value: impl FnOnce() -> V,
    text: impl FnOnce() -> String,
) -> Result<Exit, CliError> {
    if is_json {
        json(&value())?;
    } else {
        result(&text())?;
    }
    Ok(Exit::Done)
}

/// Writes rows as an array, or as text; that there are none is said to people.
pub(super) fn list<'r, T, V: Serialize>(
    is_json: bool,
    rows: &'r [T],
    value: impl Fn(&'r T) -> V,
    none: &str,
    text: impl FnOnce() -> String,
) -> Result<Exit, CliError> {
    if is_json {
        json(&rows.iter().map(value).collect::<Vec<_>>())?;
    } else if rows.is_empty() {
        say(none);
    } else {
        result(&text())?;
    }
    Ok(Exit::Done)
}

/// Writes what a deed left behind for programs; people are told of it.
pub(super) fn done(is_json: bool, value: &impl Serialize, line: &str) -> Result<Exit, CliError> {
    if is_json {
        json(value)?;
    } else {
        say(line);
    }
    Ok(Exit::Done)
}

/// Writes a result as JSON on one line.
pub(super) fn json_line(value: Object) -> Result<(), CliError> {
    result(&compact(value))
}

/// The JSON on one line.
pub(super) fn compact(value: Object) -> String {
    escape_hidden(&serde_json::Value::Object(value).to_string())
}

/// Prints news for the person. With `--quiet`, only lines that report a failure.
pub(super) fn say(text: &str) {
    if !is_quiet() || text.starts_with("x ") {
        alarm(text);
    }
}

/// Prints the context of a question: where a change goes, what it changes. With `--quiet` it appears only if a question
/// follows.
pub(super) fn context(text: &str) {
    match WITHHELD.get() {
        None => print(text),
        Some(withheld) => {
            let mut withheld = withheld.lock().unwrap_or_else(PoisonError::into_inner);
            withheld.push(text.to_owned());
        }
    }
}

/// Prints errors and alarms to standard error; the commands that they propose are completed.
pub(super) fn alarm(text: &str) {
    print(&proposals::complete(text));
}

/// Prints to standard error, with hidden characters made visible. A failure to print is not worth a second error.
fn print(text: &str) {
    let mut lines = String::new();
    for line in in_plain_words(text).lines() {
        lines.push_str(&colour::painted(visible(line)));
        lines.push('\n');
    }
    ERR.write(&lines);
}

/// Writes a question to standard error and leaves the cursor after it.
pub(super) fn ask(text: &str) {
    if let Some(withheld) = WITHHELD.get() {
        let mut withheld = withheld.lock().unwrap_or_else(PoisonError::into_inner);
        for text in withheld.drain(..) {
            print(&text);
        }
    }
    ERR.write(&format!("{} ", visible(text)));
}

/// Ends the line of a question that was answered by the end of the input.
pub(super) fn line_end() {
    ERR.write("\n");
}
