//! The confirmation before a change (docs/design/console.md, "Confirmation"): on a terminal, or with `--yes`. If nobody
//! can be asked, nothing is sent.

use std::io::{self, IsTerminal};

use crate::{
    cli::{error::CliError, output, session::Session},
    config::guard::{self, Level},
    domain::group::UserGroupId,
    operations::Guarded,
};

/// What the person has to type.
pub(crate) enum Question<'a> {
    YesOrNo,
    /// Level 3: type the exact id.
    TypeId(&'a UserGroupId),
    /// Level 4: type these words.
    TypeWords(&'a str),
}

/// What the change of one group asks for. `usual` is the level of docs/design/console.md; a guard that raises it gives
/// the reason.
pub(crate) struct Confirmation {
    level: Level,
    words: String,
}

impl Confirmation {
    pub(crate) fn about(
        session: &Session,
        operation: Guarded,
        id: &UserGroupId,
        usual: Level,
    ) -> Self {
        let profile = session.operations.profile();
        let raised = guard::raised(&profile.guards, operation, usual);
        if let Some((_, reason)) = raised {
            output::context(&format!("! guard: {reason}"));
        }
        Self {
            level: raised.map_or(usual, |(level, _)| level),
            words: guard::words(operation, id, &profile.name),
        }
    }

    pub(crate) fn question<'a>(&'a self, id: &'a UserGroupId) -> Question<'a> {
        match self.level {
            Level::Button | Level::Key => Question::YesOrNo,
            Level::Typed => Question::TypeId(id),
            Level::Words => Question::TypeWords(&self.words),
        }
    }
}

/// Whether there is a person who may be asked.
pub(crate) fn has_person(no_input: bool) -> bool {
    !no_input && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Fails right away if a question could not be asked, so that nothing at all is sent.
pub(crate) fn ensure_can_ask(session: &Session, yes: bool) -> Result<(), CliError> {
    if yes || has_person(session.no_input) {
        return Ok(());
    }
    let why = if session.no_input {
        "--no-input is set"
    } else {
        "there is no terminal"
    };
    Err(CliError::Guarded(format!(
        "confirmation required, but {why}; nothing was sent. To confirm, add --yes"
    )))
}

/// Asks for a phrase, and one level more if values are lost: the phrase then says so, too.
pub(crate) async fn losing(
    yes: bool,
    lost: Option<String>,
    what: &str,
    words: &str,
) -> Result<(), CliError> {
    let Some(lost) = lost else {
        return confirm(yes, what, Question::TypeWords(words)).await;
    };
    let words = format!("{words} and lose values");
    confirm(yes, &format!("{lost}. {what}"), Question::TypeWords(&words)).await
}

/// Asks for confirmation, unless `--yes` was given.
pub(crate) async fn confirm(yes: bool, what: &str, question: Question<'_>) -> Result<(), CliError> {
    if yes {
        return Ok(());
    }
    match question {
        Question::YesOrNo => output::ask(&format!("{what} [y/N]")),
        Question::TypeWords(words) => output::ask(&format!("{what} Type \"{words}\" to confirm:")),
        Question::TypeId(id) => output::ask(&format!("{what} Type the ID ({id}) to confirm:")),
    }
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line)
    })
    .await
    .map_err(CliError::unexpected("there was no reply to the question"))?
    .map_err(|error| {
        CliError::Guarded(format!(
            "the reply cannot be read ({error}); nothing was changed"
        ))
    })?;
    let answer = line.trim_end_matches(['\n', '\r']);
    let agreed = match question {
        Question::YesOrNo => matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"),
        Question::TypeId(id) => answer == id.as_str(),
        Question::TypeWords(words) => answer.trim() == words,
    };
    if agreed {
        Ok(())
    } else {
        Err(CliError::Guarded(
            "not confirmed; nothing was changed".into(),
        ))
    }
}
