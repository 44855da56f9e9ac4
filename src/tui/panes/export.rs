//! Writes the marked groups, or the ones that are shown, into a new file: what the directory knows of them, without
//! tokens. Nothing is sent.

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{View, token::with_home};
use crate::{
    domain::group::UserGroupId,
    operations::format_of,
    tui::{
        desk::{Ask, Desk},
        frame::popup,
        keymap::{Action, Focus},
        message::{Job, Outcome, Ticket},
        messages::Severity,
        widgets::{paint, text_field::TextField},
    },
};

#[derive(Debug)]
pub struct Export {
    ids: Vec<UserGroupId>,
    /// What they are: marked or shown.
    which: &'static str,
    path: TextField,
    writing: Option<Ticket>,
}

impl Export {
    pub fn of(ids: Vec<UserGroupId>, which: &'static str, desk: &Desk) -> Self {
        let profile = desk.profile().map_or("groups", |profile| &profile.name);
        Self {
            ids,
            which,
            path: TextField::new("new file", format!("~/{profile}.jsonl")),
            writing: None,
        }
    }

    fn write(&mut self, desk: &mut Desk) {
        if self.writing.is_some() {
            return;
        }
        if self.ids.is_empty() {
            self.path.error = Some("there is no group to write".into());
            return;
        }
        let path = with_home(self.path.text().trim());
        let Some(format) = format_of(&path) else {
            self.path.error = Some("the name must end in .jsonl, .json or .csv".into());
            return;
        };
        self.writing = Some(desk.start(Job::Export {
            index: desk.groups.index().clone(),
            ids: self.ids.clone(),
            format,
            path,
        }));
    }
}

impl View for Export {
    fn focus(&self) -> Focus {
        Focus::WritePath
    }

    fn title(&self, _desk: &Desk) -> String {
        "Export".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        match action {
            Action::Enter => self.write(desk),
            Action::Back => {
                if self.writing.is_none() {
                    desk.say(Severity::Info, "nothing was written");
                }
                desk.ask(Ask::Pop);
            }
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Desk) {
        if self.writing.is_none() {
            self.path.key(key);
            self.path.error = None;
        }
    }

    fn paste(&mut self, text: &str, _desk: &mut Desk) -> bool {
        if self.writing.is_none() {
            self.path.paste(text);
            self.path.error = None;
        }
        true
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.writing == Some(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, desk: &mut Desk) {
        self.writing = None;
        match outcome {
            Outcome::Exported(count, path) => {
                desk.say(Severity::Done, exported(*count, path));
                desk.ask(Ask::Pop);
            }
            Outcome::Failed(trouble) => self.path.error = Some(trouble.text.clone()),
            _ => {}
        }
    }

    fn lost(&mut self, _desk: &mut Desk) {
        self.writing = None;
        self.path.error = Some("the writing broke off; look whether the file is there".into());
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let theme = desk.theme;
        let inner = popup(buffer, area, (74, 7), "Export", theme);
        let what = format!("{}, without tokens; nothing is sent", self.what());
        paint::line(buffer, paint::row(inner, 0), &what, Style::new(), theme);
        let how = "As its name ends: .jsonl, .json or .csv; import and apply read it.";
        paint::line(buffer, paint::row(inner, 1), how, theme.dim(), theme);
        if self.writing.is_some() {
            paint::line(buffer, paint::row(inner, 3), "writing", theme.dim(), theme);
            return None;
        }
        let field = Rect {
            height: 2.min(inner.height.saturating_sub(3)),
            ..paint::row(inner, 3)
        };
        self.path.draw(buffer, field, theme, true)
    }
}

impl Export {
    fn what(&self) -> String {
        match self.ids.len() {
            1 => format!("1 group ({})", self.which),
            count => format!("{count} groups ({})", self.which),
        }
    }
}

/// What is said when it is done.
pub(in crate::tui) fn exported(count: usize, path: &std::path::Path) -> String {
    let groups = if count == 1 { "group" } else { "groups" };
    format!(
        "{count} {groups} written to {} (only you can read it)",
        path.display()
    )
}
