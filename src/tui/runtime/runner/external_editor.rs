//! Runs the person's editor between two turns of the event loop: hands the terminal over and takes it back, while jobs
//! continue.

use super::{Runner, Screen, next_signal};
use crate::tui::{
    runtime::external_editor::{EditFile, Editor},
    state::message::{EditRequest, Msg},
    terminal::{Signal, Signals},
};

impl<S: Screen> Runner<S> {
    /// Runs the requested external edit, if there is one; jobs continue meanwhile. Returns a signal that
    /// asked for the end.
    pub(super) async fn run_external_edit(
        &mut self,
        signals: &mut Option<&mut Signals>,
    ) -> Option<Signal> {
        let (ticket, external_edit) = self.external_edit.take()?;
        let mut end = None;
        let edited = match self.begin_external_edit(&external_edit) {
            Err(why) => Err(why),
            Ok((editor, file)) => {
                let run = editor.run(&file, async || next_signal(signals).await).await;
                end = run.end;
                let back = self.screen.take_back();
                let text = file.finish(editor.refusal(&run.status), |_| true);
                match back {
                    Ok(Some((columns, rows))) => self.take(Msg::Resize(columns, rows)),
                    Ok(None) => {}
                    // The edited text is taken over anyway; the draft keeps it.
                    Err(_) => end = end.or(Some(Signal::Hangup)),
                }
                text
            }
        };
        if end.is_some() {
            self.app.kept_text = edited.clone().err();
        }
        self.take(Msg::Edited(ticket, edited));
        end
    }

    fn begin_external_edit(
        &mut self,
        external_edit: &EditRequest,
    ) -> Result<(Editor, EditFile), String> {
        let variables = self.backends.variables_for_editor(self.app.context.current);
        let editor = Editor::find(variables)?;
        let file = editor
            .write(external_edit)
            .map_err(|error| format!("no private file for the editor: {error}"))?;
        match self.screen.give_away() {
            Ok(()) => Ok((editor, file)),
            Err(error) => Err(format!(
                "the terminal could not be handed to the editor: {error}"
            )),
        }
    }
}
