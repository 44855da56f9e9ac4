//! Writes the marked groups, or the visible ones, to a new file: what the directory knows about them, without tokens.
//! Nothing is sent.

use super::prelude::*;
use crate::{
    operations::{format_of, path_and_columns},
    tui::page::prompt::{FRAME, Prompt},
};

const WIDTH: u16 = 74;
/// Rows above the name of the file.
const TEXT_ROWS: u16 = 3;

#[derive(Debug)]
pub struct Export {
    ids: Vec<UserGroupId>,
    /// Which groups they are: marked or shown.
    which: &'static str,
    file: Prompt,
}

impl Export {
    pub fn of(ids: Vec<UserGroupId>, which: &'static str, context: &Context) -> Self {
        let profile = context.profile().map_or("groups", |profile| &profile.name);
        let mut file = Prompt::default();
        file.ask_file(format!("~/{profile}.jsonl"));
        Self { ids, which, file }
    }

    fn write(&mut self, context: &mut Context) {
        let Some(path) = self.file.path() else {
            return;
        };
        let (path, columns) = match path_and_columns(&path) {
            Ok(read) => read,
            Err(why) => {
                self.file.refuse(&why);
                return;
            }
        };
        let Some(format) = format_of(&path) else {
            self.file
                .refuse("the name must end in .jsonl, .json or .csv");
            return;
        };
        self.file.begun(context.start(Job::Export {
            index: context.groups.index().clone(),
            annotations: context.annotations.of.clone(),
            ids: self.ids.clone(),
            format: (format, columns),
            path,
        }));
    }
}

impl View for Export {
    fn focus(&self) -> Focus {
        Focus::WritePath
    }

    fn title(&self, _context: &Context) -> String {
        "Export".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        match action {
            Action::Enter => self.write(context),
            Action::Back => {
                if !self.file.is_running() {
                    context.mention("Nothing was saved");
                }
                context.close_pane();
            }
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.file.field()
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.file.waits_for(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Exported(count, path) => {
                context.say(Severity::Done, exported(*count, path));
                context.close_pane();
            }
            Outcome::Failed(error) => {
                self.file.failed(&error.text);
            }
            _ => {}
        }
    }

    fn job_panicked(&mut self, _context: &mut Context) {
        self.file.job_panicked();
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let theme = context.theme;
        let height = FRAME.1
            + TEXT_ROWS
            + self
                .file
                .rows(WIDTH.min(area.width).saturating_sub(FRAME.0));
        let inner = popup(buffer, area, (WIDTH, height), "Export", theme);
        let what = format!("{}, without tokens; nothing is sent", self.what());
        paint::line(buffer, paint::row(inner, 0), &what, Style::new(), theme);
        let how = "Format by extension: .jsonl, .json, .csv; add +note +labels after it.";
        paint::line(buffer, paint::row(inner, 1), how, theme.dim(), theme);
        if self.file.is_running() {
            paint::line(buffer, paint::row(inner, 3), "writing", theme.dim(), theme);
            return None;
        }
        self.file.draw(buffer, inner, TEXT_ROWS, theme)
    }
}

impl Export {
    fn what(&self) -> String {
        format!("{} ({})", counted(self.ids.len(), "group"), self.which)
    }
}

/// The message after writing.
pub(crate) fn exported(count: usize, path: &std::path::Path) -> String {
    let groups = counted(count, "group");
    format!(
        "{groups} saved to {} (only you can read it)",
        path.display()
    )
}
