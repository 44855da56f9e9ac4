//! Opens a text in the person's own editor and returns the edited text.

use std::{
    io::{self, IsTerminal, Write as _},
    path::PathBuf,
};

use serde_json::json;

use super::confirm::{Question, confirm};
use crate::{
    cli::{
        error::CliError,
        output,
        process::{exit::Exit, signals::Signals},
    },
    config::{
        Environment,
        edit::{Edit, EditError},
    },
    domain::batch::StopCause,
    tui::{
        runtime::external_editor::{EditRequest, Editor},
        terminal::Signal,
    },
};

/// Opens a text in the editor and returns it once the editor has ended. Meanwhile Ctrl-C belongs to the editor.
pub(crate) async fn edited(
    environment: &Environment,
    file: &'static str,
    text: &str,
    signals: &mut Signals,
) -> Result<String, CliError> {
    let usage = |why: String| CliError::Usage(why);
    let variables = environment.for_commands().into_iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let editor = Editor::find(variables.collect()).map_err(|_| {
        usage("no editor is set: export EDITOR=vim (or VISUAL); nothing was changed".into())
    })?;
    let request = EditRequest {
        file,
        text: text.to_owned(),
    };
    let sheet = editor.write(&request).map_err(|error| {
        usage(format!(
            "cannot write a file for the editor: {error}; nothing was changed"
        ))
    })?;
    let run = editor
        .run(&sheet, async || match signals.next_cause().await {
            StopCause::Person => Signal::Interrupt,
            StopCause::TerminalLost => Signal::Hangup,
            StopCause::Signal | StopCause::Quit | StopCause::TakenOver => Signal::Terminate,
        })
        .await;
    let read = match editor.refusal(&run.status) {
        Some(refusal) => Err(refusal),
        None => sheet.read(),
    };
    sheet.remove().map_err(usage)?;
    if run.end.is_some() {
        return Err(CliError::Interrupted { in_flight: false });
    }
    read.map_err(usage)
}

/// Saves a text that could not be used to a file of its own that only its owner can read.
pub(crate) fn kept(name: &str, text: &str) -> io::Result<PathBuf> {
    let mut file = tempfile::Builder::new()
        .prefix("groupdesk-")
        .suffix(&format!("-{name}"))
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file.keep().map_err(|error| error.error)?.1)
}

/// Lets a person edit a text until it is valid, and writes it. An invalid text is not written anywhere, because it
/// could contain a key.
pub(crate) async fn changed(
    (environment, no_input): (&Environment, bool),
    before: &str,
    change: impl Fn(&str) -> Result<Edit, EditError>,
    as_json: bool,
) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let mut text = before.to_owned();
    let edit = loop {
        text = edited(environment, "config.toml", &text, &mut signals).await?;
        if text.trim_end() == before.trim_end() {
            break None;
        }
        let wrong = match change(&text) {
            Ok(edit) => break Some(edit),
            Err(error) => CliError::from(error),
        };
        let has_person = io::stdin().is_terminal() && io::stderr().is_terminal();
        if no_input || !has_person {
            return Err(wrong);
        }
        output::alarm(&format!("x {wrong}"));
        confirm(false, "Edit it again?", Question::YesOrNo).await?;
    };
    if let Some(edit) = &edit {
        edit.make()
            .inspect_err(|_| match kept("config.toml", &text) {
                Ok(path) => output::alarm(&format!("! your text is in {}", path.display())),
                Err(error) => output::alarm(&format!("! your text was not kept: {error}")),
            })?;
    }
    let file = edit.as_ref().map(|edit| edit.file.display().to_string());
    let value = json!({ "written": edit.is_some(), "file": file });
    let line = file.map_or("nothing was changed".into(), |file| {
        format!("written to {file}")
    });
    output::done(as_json, &value, &line)
}
