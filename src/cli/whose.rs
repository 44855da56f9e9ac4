//! `whose`: which group has or had a token. The token comes from standard input or a prompt without echo, is compared
//! by its fingerprint and forgotten; nothing is sent.

use std::{
    ffi::OsString,
    io::{self, BufRead, IsTerminal, Read},
};

use zeroize::Zeroizing;

use super::{
    args::Global, exit::Exit, human, json, print, quiet::Quiet, session, signals::Signals,
    stop::Stop,
};
use crate::{config::Settings, directory::Directory, domain::token::Token, operations::Clock};

/// Longer than any token; more is something else.
const LONGEST: u64 = 64 * 1024;

pub(super) async fn run(global: &Global, arguments: &[OsString]) -> Result<Exit, Stop> {
    if !arguments.is_empty() {
        return Err(Stop::Usage(
            "a token never goes on a command line: every user of this machine can read it, and the shell keeps it. \
             Give it on standard input, or without one type it when asked. If the token is real, rotate it"
                .into(),
        ));
    }
    let settings = Settings::load(&session::overrides(global))?;
    let directory = Directory::open(&settings.directory)?;
    let token = ask(global.no_input).await?;
    let owners = directory.whose(&token).await?;
    drop(token);
    if global.json {
        print::json(&owners.iter().map(json::owner).collect::<Vec<_>>())?;
    } else if owners.is_empty() {
        print::say(
            "no group of this directory has or had that token; it may still be the token of a group that was never read here",
        );
    } else {
        print::result(&human::owners(&owners, Clock::System.now()))?;
    }
    Ok(if owners.is_empty() {
        Exit::Refused
    } else {
        Exit::Done
    })
}

/// Reads a token; none is ever an argument.
pub(super) async fn ask(no_input: bool) -> Result<Token, Stop> {
    if io::stdin().is_terminal() && no_input {
        return Err(Stop::Guarded(
            "the token would have to be typed, and --no-input was said; give it on standard input"
                .into(),
        ));
    }
    let mut signals = Signals::new()?;
    let quiet = Quiet::new().map_err(|error| unreadable(&error))?;
    let is_typed = quiet.is_terminal();
    if is_typed {
        print::ask("Token (not shown):");
    }
    tokio::select! {
        read = tokio::task::spawn_blocking(move || read(is_typed)) => {
            read.map_err(|_| Stop::Guarded("the token was not read; nothing was looked up".into()))?
        }
        () = signals.next() => Err(Stop::Interrupted { in_flight: false }),
    }
}

/// A line where it is typed, else all there is.
fn read(is_typed: bool) -> Result<Token, Stop> {
    // As long as it can be, so that no copy of it is left behind by growing.
    let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize));
    let mut input = io::stdin().lock().take(LONGEST);
    let read = if is_typed {
        input.read_line(&mut text)
    } else {
        input.read_to_string(&mut text)
    };
    read.map_err(|error| unreadable(&error))?;
    let token = text.trim();
    if token.is_empty() {
        return Err(Stop::Usage(
            "no token came on standard input; nothing was looked up".into(),
        ));
    }
    Ok(Token::new(token.to_owned()))
}

fn unreadable(error: &io::Error) -> Stop {
    Stop::Usage(format!(
        "the token cannot be read from standard input: {error}"
    ))
}
