//! The confirmation before a change (docs/design/console.md, "Confirmation"): on a terminal, or with `--yes`. If nobody
//! can be asked, nothing is sent. Secrets are typed without echo: it is off before the prompt appears, so that text pasted
//! at once is not shown, and restored however the question ends.

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::{
    cli::{args::Mutation, error::blocking, output, prelude::*, session::Session},
    config::guard::{self, Level, Weight},
};

/// What the person has to type.
pub(crate) enum Question<'a> {
    YesOrNo,
    /// Level 3: type the exact id.
    TypeId(&'a UserGroupId),
    /// Level 4: type these words.
    TypeWords(&'a str),
}

/// How every change comes to be sent: what the profile forbids is refused, then what nobody could confirm; then it is
/// said where it goes. The command shows what would happen, and asks. Nothing is sent before that.
pub(crate) struct Review<'s> {
    session: &'s Session,
    /// `--yes` answers every question.
    yes: bool,
    /// A dry run asks nothing.
    is_dry_run: bool,
}

impl<'s> Review<'s> {
    /// Of what no profile forbids, or of which `permitted` is asked later.
    pub(crate) fn new(session: &'s Session, yes: bool) -> Self {
        Self {
            session,
            yes,
            is_dry_run: false,
        }
    }

    /// Of what the profile permits for the number of rows.
    pub(crate) fn before_sending(session: &'s Session, mutation: &Mutation) -> Self {
        Self {
            is_dry_run: mutation.dry_run,
            ..Self::new(session, mutation.yes)
        }
    }

    /// Refuses what the profile forbids.
    pub(crate) fn of(
        session: &'s Session,
        operation: Guarded,
        mutation: &Mutation,
    ) -> Result<Self, CliError> {
        Self::before_sending(session, mutation).permitted(operation)
    }

    pub(crate) fn permitted(self, operation: Guarded) -> Result<Self, CliError> {
        self.session.operations.permitted(operation)?;
        Ok(self)
    }

    /// Refuses what nobody could confirm, so that nothing at all is sent.
    pub(crate) fn can_ask(&self) -> Result<(), CliError> {
        if self.is_dry_run || self.yes || has_person(self.session.no_input) {
            return Ok(());
        }
        let why = if self.session.no_input {
            "--no-input is set"
        } else {
            "there is no terminal"
        };
        Err(CliError::Guarded(format!(
            "confirmation required, but {why}; nothing was changed. To confirm, add --yes"
        )))
    }

    /// Refuses what nobody could confirm, then says where the change goes.
    pub(crate) fn begin(&self) -> Result<(), CliError> {
        self.can_ask()?;
        self.session.say_where();
        Ok(())
    }

    pub(crate) async fn ask(&self, what: &str, question: Question<'_>) -> Result<(), CliError> {
        self.can_ask()?;
        confirm(self.yes, what, question).await
    }

    /// Asks for the words, or for yes or no below that level.
    pub(crate) async fn ask_at(
        &self,
        level: Level,
        what: &str,
        words: &str,
    ) -> Result<(), CliError> {
        let question = match level {
            Level::Words => Question::TypeWords(words),
            Level::Button | Level::Key | Level::Typed => Question::YesOrNo,
        };
        self.ask(what, question).await
    }

    /// Asks about the change of one group, at the level of docs/design/console.md; a guard that raises it gives the
    /// reason.
    pub(crate) async fn ask_about(
        &self,
        (operation, id): (Guarded, &UserGroupId),
        weight: Weight,
        what: &str,
    ) -> Result<(), CliError> {
        let profile = self.session.operations.profile();
        let about = (operation, profile.production);
        let (level, reason) = guard::level_of_change(&profile.guards, about, weight);
        if let Some(reason) = reason {
            output::context(&format!("! guard: {reason}"));
        }
        let words = guard::words(operation, id, &profile.name);
        match level {
            Level::Typed => self.ask(what, Question::TypeId(id)).await,
            level => self.ask_at(level, what, &words).await,
        }
    }

    /// Asks for the words; if values are lost, one level more: the words then say so.
    pub(crate) async fn ask_losing(
        &self,
        lost: Option<String>,
        what: &str,
        words: &str,
    ) -> Result<(), CliError> {
        let Some(lost) = lost else {
            return self.ask(what, Question::TypeWords(words)).await;
        };
        let (what, words) = (
            format!("{lost}. {what}"),
            format!("{words} and lose values"),
        );
        self.ask(&what, Question::TypeWords(&words)).await
    }
}

/// Whether there is a person who may be asked.
pub(crate) fn has_person(no_input: bool) -> bool {
    !no_input && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Reads a typed line.
pub(crate) async fn line(
    failed: impl FnOnce(io::Error) -> CliError + Send + 'static,
) -> Result<String, CliError> {
    blocking("there was no reply to the question", || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        if !line.ends_with('\n') {
            // The cursor is still behind the question.
            output::line_end();
        }
        read.map(|_| line).map_err(failed)
    })
    .await
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
    let line = line(|error| {
        let why = format!("the reply cannot be read ({error}); nothing was changed");
        CliError::Guarded(why)
    });
    let line = line.await?;
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

/// While this lives, standard input is not echoed.
pub(crate) struct NoEcho(Option<Termios>);

impl NoEcho {
    /// Does nothing if standard input is not a terminal.
    pub(crate) fn new() -> io::Result<Self> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return Ok(Self(None));
        }
        let before = tcgetattr(&stdin)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        quiet
            .local_modes
            .insert(LocalModes::ECHONL | LocalModes::ICANON);
        tcsetattr(&stdin, OptionalActions::Now, &quiet)?;
        Ok(Self(Some(before)))
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for NoEcho {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // A terminal that is gone needs no echo.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
