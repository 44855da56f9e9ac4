//! `whose`: which group has or had a token. The token comes from standard input or a prompt without echo, is compared
//! by its fingerprint and forgotten; nothing is sent.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Read},
};

use jiff::Timestamp;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::{args::Global, exit::Exit, human, json, print, session, signals::Signals, stop::Stop};
use crate::{config::Settings, directory::Directory, domain::token::Token};

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
    let no_input = global.no_input;
    let echo = tcgetattr(io::stdin()).ok();
    let mut signals = Signals::new()?;
    let token = tokio::select! {
        read = tokio::task::spawn_blocking(move || read(no_input)) => {
            read.map_err(|_| Stop::Guarded("the token was not read; nothing was looked up".into()))??
        }
        () = signals.next() => {
            // The prompt had turned the echo off.
            if let Some(echo) = echo {
                let _ = tcsetattr(io::stdin(), OptionalActions::Now, &echo);
            }
            return Err(Stop::Interrupted { in_flight: false });
        }
    };
    let owners = directory.whose(&token).await?;
    drop(token);
    if global.json {
        print::json(&owners.iter().map(json::owner).collect::<Vec<_>>())?;
    } else if owners.is_empty() {
        print::say(
            "no group of this directory has or had that token; it may still be the token of a group that was never read here",
        );
    } else {
        print::result(&human::owners(&owners, Timestamp::now()))?;
    }
    Ok(if owners.is_empty() {
        Exit::Refused
    } else {
        Exit::Done
    })
}

fn read(no_input: bool) -> Result<Token, Stop> {
    let unreadable = |error: &io::Error| {
        Stop::Usage(format!(
            "the token cannot be read from standard input: {error}"
        ))
    };
    let text = if io::stdin().is_terminal() {
        if no_input {
            return Err(Stop::Guarded(
                "the token would have to be typed, and --no-input was said; give it on standard input"
                    .into(),
            ));
        }
        let typed = rpassword::prompt_password("Token (not shown): ");
        Zeroizing::new(typed.map_err(|error| unreadable(&error))?)
    } else {
        // As long as it can be, so that no copy of it is left behind by growing.
        let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize));
        let read = io::stdin().lock().take(LONGEST).read_to_string(&mut text);
        read.map_err(|error| unreadable(&error))?;
        text
    };
    let token = text.trim();
    if token.is_empty() {
        return Err(Stop::Usage(
            "no token came on standard input; nothing was looked up".into(),
        ));
    }
    Ok(Token::new(token.to_owned()))
}
