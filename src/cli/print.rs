//! Where text leaves: the result on standard output, everything else on standard error. A reader that has gone is
//! no error. Hidden characters never leave raw.

use std::io::{self, Write};

use serde::Serialize;

use super::stop::Stop;
use crate::{api::inspect::escape_hidden, domain::text::visible};

/// Writes lines of the result.
pub(super) fn result(text: &str) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| {
        if text.ends_with('\n') {
            Ok(())
        } else {
            out.write_all(b"\n")
        }
    });
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Stop::Output(error)),
        _ => Ok(()),
    }
}

/// Writes a result as indented JSON.
pub(super) fn json(value: &impl Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|_| Stop::Output(io::Error::other("the result is no JSON")))?;
    result(&escape_hidden(&text))
}

/// Writes to standard error, each line made visible; that it cannot be read is not worth a second error.
pub(super) fn say(text: &str) {
    let mut err = io::stderr().lock();
    for line in text.lines() {
        let _ = writeln!(err, "{}", visible(line));
    }
}

/// Writes a question to standard error and leaves the cursor behind it.
pub(super) fn ask(text: &str) {
    let mut err = io::stderr().lock();
    let _ = write!(err, "{} ", visible(text));
    let _ = err.flush();
}
