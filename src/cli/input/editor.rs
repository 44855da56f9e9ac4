//! A text in the person's own editor, and the same text back.

use crate::{
    cli::{error::CliError, process::signals::Signals},
    config::Environment,
    domain::batch::StopCause,
    tui::{
        runtime::external_editor::{EditRequest, Editor},
        terminal::Signal,
    },
};

/// Opens a text; what it is when the editor has ended. Ctrl-C is the editor's meanwhile.
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
            StopCause::LineLost => Signal::Hangup,
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
