//! The name of a new file that something is written into, typed below a page: asked for, written once, and kept with
//! what went wrong until it is right.

use std::path::PathBuf;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    widgets::{Clear, Widget},
};

use crate::tui::{state::message::Ticket, theme::Theme, widgets::text_field::TextField};

/// Rows of the field: the name, and below it what is wrong.
const ROWS: u16 = 2;

#[derive(Debug, Default)]
pub(super) struct NewFile {
    /// While it is asked for.
    name: Option<TextField>,
    /// It goes on when the field is closed.
    writing: Option<Ticket>,
}

impl NewFile {
    /// Asks for the name; this one is offered.
    pub(super) fn ask(&mut self, name: String) {
        self.name = Some(TextField::new("new file", name));
    }

    pub(super) fn is_asked(&self) -> bool {
        self.name.is_some()
    }

    pub(super) fn is_written(&self) -> bool {
        self.writing.is_some()
    }

    pub(super) fn close(&mut self) {
        self.name = None;
    }

    pub(super) fn field(&mut self) -> Option<&mut TextField> {
        self.name.as_mut()
    }

    /// Where to write; `None` while it is not asked for, or is being written already.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let name = self.name.as_ref().filter(|_| self.writing.is_none())?;
        Some(with_home(name.text().trim()))
    }

    pub(super) fn begun(&mut self, ticket: Ticket) {
        self.writing = Some(ticket);
    }

    pub(super) fn waits_for(&self, ticket: Ticket) -> bool {
        self.writing == Some(ticket)
    }

    /// It is there; nothing more is asked.
    pub(super) fn done(&mut self) {
        *self = Self::default();
    }

    /// What is wrong with the name.
    pub(super) fn refuse(&mut self, why: impl Into<String>) {
        if let Some(field) = &mut self.name {
            field.error = Some(why.into());
        }
    }

    /// `false`: nothing was being written.
    pub(super) fn failed(&mut self, why: &str) -> bool {
        let was_written = self.writing.take().is_some();
        if was_written {
            self.refuse(why);
        }
        was_written
    }

    /// [`NewFile::failed`], and nobody knows how far it came.
    pub(super) fn lost(&mut self) -> bool {
        self.failed("Write interrupted, check the file")
    }

    /// Draws the field, while it is asked for, from this row on.
    pub(super) fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        top: u16,
        theme: Theme,
    ) -> Option<Position> {
        let field = self.name.as_ref()?;
        let top = top.min(area.height);
        let place = Rect {
            y: area.y + top,
            height: ROWS.min(area.height - top),
            ..area
        };
        Clear.render(place.intersection(buffer.area), buffer);
        field.draw(buffer, place, theme, true)
    }

    /// The lowest row from which the whole field fits.
    pub(super) fn lowest(area: Rect) -> u16 {
        area.height.saturating_sub(ROWS)
    }
}

/// With the home folder in place of a leading `~/`.
pub(super) fn with_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
