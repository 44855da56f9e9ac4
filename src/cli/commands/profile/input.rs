//! What `profile` asks a person for: lines, and an API key that is not echoed.

use std::io::{self, BufRead, IsTerminal, Read};

use secrecy::SecretString;
use zeroize::Zeroizing;

pub(super) use crate::cli::input::confirm::has_person;
use crate::{
    cli::{
        error::{CliError, blocking},
        input::{confirm, no_echo::NoEcho},
        output,
    },
    config::given_key,
    intake::secret,
};

/// In bytes. Longer than any key; more than that is something else.
const LONGEST: u64 = 64 * 1024;

/// Reads one line; empty if nothing was typed.
pub(super) async fn line(question: &str) -> Result<String, CliError> {
    output::ask(question);
    let line = confirm::line(|error| unreadable(&error)).await?;
    Ok(line.trim().to_owned())
}

/// Reads an API key from a prompt without echo, or from standard input. Returns `None` if there is none.
pub(super) async fn key(no_input: bool) -> Result<Option<SecretString>, CliError> {
    if io::stdin().is_terminal() && no_input {
        return Ok(None);
    }
    let quiet = NoEcho::new().map_err(|error| unreadable(&error))?;
    let is_typed = quiet.is_terminal();
    if is_typed {
        output::ask("API key (not shown):");
    }
    let read = move || read(is_typed).map_err(|error| unreadable(&error));
    let text = blocking("the key was not read", read).await?;
    drop(quiet);
    if secret::plain(&text).trim_ascii().is_empty() {
        return Ok(None);
    }
    given_key(&*text).map(Some).map_err(CliError::Usage)
}

/// Reads one line if it is typed, otherwise everything.
fn read(is_typed: bool) -> io::Result<Zeroizing<Vec<u8>>> {
    // Allocated at the maximum size, so that growing leaves no copy of the key in memory.
    let mut text = Zeroizing::new(Vec::with_capacity(LONGEST as usize));
    let mut input = io::stdin().lock().take(LONGEST);
    if is_typed {
        input.read_until(b'\n', &mut text)?;
    } else {
        input.read_to_end(&mut text)?;
    }
    Ok(text)
}

fn unreadable(error: &io::Error) -> CliError {
    CliError::Usage(format!(
        "standard input cannot be read: {error}; nothing was written"
    ))
}
