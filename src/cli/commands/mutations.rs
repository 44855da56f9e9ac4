//! `create`, `update` and `rotate`: read, show what will happen, ask, send once, and report the outcome.

mod create;
mod mistyped;
mod rotate;
mod update;

use super::{handoff, prelude::*};
use crate::{
    cli::output::token_file::TokenFile, domain::text::without_retry, operations::HandedOff,
};

pub(crate) use {
    create::{Copy, Create},
    mistyped::ask_before_reading,
    update::{How, read_to_update, send},
};

/// How to treat an id that the directory does not know.
pub(crate) fn assurance(exists: bool) -> UnknownIdPolicy {
    if exists {
        UnknownIdPolicy::Exists
    } else {
        UnknownIdPolicy::KnownOnly
    }
}

/// Runs a read. One that may create the group (hazard 1) counts as a change in flight; a plain read can be abandoned at
/// once.
pub(crate) async fn reading<T>(
    session: &Session,
    known: Option<&KnownGroup>,
    read: impl Future<Output = T>,
) -> T {
    if known.is_some_and(KnownGroup::is_seen) {
        read.await
    } else {
        session.in_flight.during(read).await
    }
}

/// Creates the file of `--token-out`, before anything is sent.
pub(crate) fn token_file(token: &TokenArgs) -> Result<Option<TokenFile>, CliError> {
    let file = token.token_out.as_deref();
    file.map(TokenFile::create).transpose()
}

/// That the answer is one of a rotation, with its hand-off, if there was one.
#[derive(Clone, Copy)]
pub(crate) struct Rotated<'h>(pub(crate) Option<&'h HandedOff>);

/// Writes the token where it was requested, then prints the answer.
pub(crate) async fn answer(
    session: &Session,
    done: &Done,
    rotation: Option<Rotated<'_>>,
    token: &TokenArgs,
    mut file: Option<&mut TokenFile>,
) -> Result<Exit, CliError> {
    let goes_to_file = file.as_ref().is_some_and(|file| file.is_file());
    let goes_out = file.is_some() && !goes_to_file;
    let unwritten = write_token(session, done, file.as_deref_mut()).await;
    let unwritten = unwritten.err();
    let has_token = file.is_some_and(|file| file.has_token());
    // A rotation writes its token before it reads the group back.
    let is_doubtful = goes_to_file && done.withholds_token() && has_token;
    let revealed = done.token().filter(|_| token.reveal);
    human::say_warnings(done);
    let printed = if session.json {
        let place = session.operations.bound_place_name();
        let place = place.as_deref();
        output::json(&match rotation {
            None => json::answer(done, place, revealed),
            Some(Rotated(handed)) => json::rotated(done, place, handed, revealed),
        })
    } else {
        let is_rotation = rotation.is_some();
        human::answered(done, is_rotation, revealed, session.operations.now())
    };
    if let Some(unwritten) = &unwritten {
        output::alarm(&format!("x {unwritten}"));
    } else if let Some(path) = &token.token_out
        && goes_to_file
        && (done.token().is_some() || is_doubtful)
    {
        output::say(&format!(
            "saved the token to {}",
            visible(&path.to_string_lossy())
        ));
    } else if rotation.is_some() && !token.reveal && !goes_out {
        output::say(&format!(
            "the token is not printed. To save it: {}",
            done.group.id.command("get", "--token-out FILE")
        ));
    }
    let handed = rotation.and_then(|Rotated(handed)| handed);
    if let Some(handed) = handed {
        handoff::say(session, handed);
    }
    // An answer that is older than what is known has no token.
    let has_none = token.token_out.is_some() && done.token().is_none() && !is_doubtful;
    if is_doubtful {
        output::alarm(
            "x the token was saved before the group was read back, and that response has an alarm. Check the group before you \
             use the token",
        );
    } else if done.withholds_token() && (has_none || token.reveal) {
        output::alarm(&format!(
            "x the token was withheld, because its response has an alarm. {}",
            after_an_alarm(session, done)
        ));
    } else if has_none {
        output::alarm(&format!(
            "x no token was written: the response was older than the directory; run `{}`",
            done.group.id.command("get", "--token-out FILE")
        ));
    }
    printed.map_err(|error| error.after(done))?;
    // The operation succeeded, but its token did not reach its destination.
    let in_part = has_none || unwritten.is_some() || handed.is_some_and(|handed| !handed.is_done());
    Ok(match Exit::from_done(done) {
        Exit::Done if in_part => Exit::Partly,
        exit => exit,
    })
}

/// What a person does before the token of a response with an alarm can be read.
fn after_an_alarm(session: &Session, done: &Done) -> String {
    let get = done.group.id.command("get", "--token-out FILE");
    let environment = session.operations.bound_place_name();
    match environment.filter(|_| done.is_of_another_environment()) {
        Some(environment) => format!(
            "Find out why, then run `groupdesk environment acknowledge {} --reason WHY` and `{get}`",
            quoted(&environment)
        ),
        None => format!("Check the group, then run `{get}`"),
    }
}

/// Writes the token of the answer, and records that.
async fn write_token(
    session: &Session,
    done: &Done,
    file: Option<&mut TokenFile>,
) -> Result<(), CliError> {
    let (Some(file), Some(token)) = (file, done.token()) else {
        return Ok(());
    };
    let written = file.write(token);
    if file.has_token() {
        session.operations.note_written(done).await;
    }
    written.map_err(|error| {
        CliError::Usage(format!(
            "{}, but the token was not written: {} {}. To read it again: {}",
            done.ending.as_str(),
            file.place(),
            without_retry(&error.to_string()),
            done.group.id.command("get", "--token-out FILE")
        ))
    })
}
