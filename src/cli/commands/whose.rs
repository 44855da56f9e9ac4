//! `whose`: which group has or had a token. The token comes from standard input or a prompt without echo; it is looked
//! up by its fingerprint and forgotten. Nothing is sent.

use std::{
    ffi::OsString,
    io::{BufRead, Read},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::prelude::*;
use crate::{
    cli::input::confirm::NoEcho,
    domain::pasted::{FRAGMENT, Pasted},
    operations::TokenLookup,
};

/// In bytes. Longer than any token; more than that is something else.
const LONGEST: u64 = 64 * 1024;

/// Find the group that has or had a token, without contacting the service
#[derive(Debug, Args)]
#[command(
    after_help = "Reads the token from standard input, or prompts for it.\n\nExit codes: 0 found, 1 not found, 2 no whole token."
)]
pub(crate) struct Whose {
    /// Taken so that it can be refused without being repeated.
    #[arg(hide = true, value_name = "NOTHING")]
    token: Vec<OsString>,
}

impl Run for Whose {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("whose", &["groupdesk whose", "groupdesk whose --json < leaked.token"], &[array("", &[&json::OWNER])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let is_file = |name: &OsString| Path::new(name).is_file();
        if !self.token.is_empty() {
            let is_short = |word: &OsString| word.to_string_lossy().chars().count() < FRAGMENT;
            let why = if self.token.iter().all(is_file) {
                "a file is read from standard input; nothing was searched. To search it: groupdesk whose < FILE"
            } else if self.token.iter().all(is_short) {
                "whose finds the group of a token, which it reads from standard input or at the prompt; nothing was searched. To \
                 look at a group by its ID: groupdesk show ID"
            } else {
                "do not pass a token as an argument: other users of this machine can read it, and your shell saves it in its \
                 history. Pass it on standard input, or type it at the prompt. If the token is real, rotate it"
            };
            return Err(CliError::Usage(why.into()));
        }
        let pasted = ask_before(global.no_input, "nothing was searched").await?;
        let overrides = session::overrides(global);
        let settings = Settings::load(&overrides)?;
        let directory = session::open_named(&settings.directory, &overrides)?;
        let (answered, unclear) = match TokenLookup::of(&directory, &pasted).await? {
            TokenLookup::Answered { tokens, unclear } => (tokens, unclear),
            TokenLookup::Unclear(why) => return Err(CliError::Usage(why.to_string())),
        };
        drop(pasted);
        if global.json {
            let owners = answered.iter().flat_map(json::owners);
            output::json(&owners.collect::<Vec<_>>())?;
        } else if answered.len() > 1 || !answered[0].owners.is_empty() {
            output::result(&human::answered_tokens(&answered, Clock::System.now()))?;
        }
        let unknown = answered.iter().filter(|answer| answer.owners.is_empty());
        let unknown: Vec<_> = unknown
            .map(|answer| answer.fingerprint.to_string())
            .collect();
        match (unknown.len(), answered.len()) {
            (0, _) => {}
            (_, 1) => output::say(&format!(
                "no group in this directory has or had this token; {ELSEWHERE}"
            )),
            (some, all) => output::say(&format!(
                "unknown tokens: {some} of {all} ({}); {ELSEWHERE}",
                unknown.join(", ")
            )),
        }
        if let Some(line) = unclear {
            output::say(&format!(
                "line {line} has something else that may be a token, or a part of one; {ELSEWHERE}"
            ));
        }
        let has_none = unknown.len() == answered.len();
        Ok(Exit::done_unless(has_none, Exit::Refused))
    }
}

const ELSEWHERE: &str = "it may still belong to a group that was never read here";

/// Reads a token for a command that sends something.
pub(crate) async fn ask(no_input: bool) -> Result<Pasted, CliError> {
    ask_before(no_input, "nothing was sent").await
}

/// Reads a token, or a text that contains some. Tokens are never taken from arguments. `undone` says what was not done.
async fn ask_before(no_input: bool, undone: &'static str) -> Result<Pasted, CliError> {
    if io::stdin().is_terminal() && no_input {
        return Err(CliError::Guarded(
            "cannot prompt for the token, because --no-input is set; pass it on standard input"
                .into(),
        ));
    }
    let mut signals = Signals::new()?;
    let quiet = NoEcho::new().map_err(|error| unreadable(&error))?;
    let is_typed = quiet.is_terminal();
    if is_typed {
        output::ask("Token (not shown):");
    }
    let read = blocking("the token was not read", move || read(is_typed, undone));
    signals.unless_signalled(read).await
}

/// Reads one line, and what was pasted with it, if it is typed; otherwise everything.
fn read(is_typed: bool, undone: &str) -> Result<Pasted, CliError> {
    // Allocated at the maximum size, so that growing leaves no copy of the token in memory.
    let mut bytes = Vec::with_capacity(LONGEST as usize + 1);
    let mut input = io::stdin().lock().take(LONGEST + 1);
    let read = if is_typed {
        read_pasted(&mut input, &mut bytes)
    } else {
        input.read_to_end(&mut bytes).map(drop)
    };
    let is_too_long = bytes.len() as u64 > LONGEST;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let is_cut = is_typed && lines.any(|line| line.len() >= LONGEST_LINE);
    let pasted = Pasted::new(bytes);
    read.map_err(|error| unreadable(&error))?;
    if is_too_long {
        return Err(CliError::Usage(format!(
            "the text on standard input is longer than {} KiB; {undone}. Pass fewer lines at once",
            LONGEST >> 10
        )));
    }
    if is_cut {
        return Err(CliError::Usage(format!(
            "a terminal keeps only {LONGEST_LINE} bytes of a line, and one of these is longer; {undone}. Pass the text on standard \
             input: < FILE"
        )));
    }
    if pasted.is_empty() {
        return Err(CliError::Usage(format!(
            "no token on standard input; {undone}"
        )));
    }
    Ok(pasted)
}

/// What a terminal keeps of a line that is typed or pasted, in bytes: the rest is lost without a sign of it (termios(3)).
const LONGEST_LINE: usize = 4_095;

/// Reads the pasted lines after the first one too, so that they do not end up in the shell.
fn read_pasted(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<()> {
    const AT_ONCE: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    let terminal = io::stdin();
    while input.read_until(b'\n', bytes)? > 0 {
        let mut more = [PollFd::new(&terminal, PollFlags::IN)];
        if poll(&mut more, Some(&AT_ONCE)).unwrap_or_default() == 0 {
            break;
        }
    }
    Ok(())
}

fn unreadable(error: &io::Error) -> CliError {
    CliError::Usage(format!(
        "the token cannot be read from standard input: {error}"
    ))
}
