//! The name of a new file to write, typed below a page: asked for, written once, and kept with the error until writing
//! succeeds.

use std::path::{Path, PathBuf};

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    widgets::{Clear, Widget},
};

use crate::{
    config::paths,
    tui::{kit::text_field::TextField, state::message::Ticket, theme::Theme},
};

/// Rows of the field: the name, and the error below it.
const ROWS: u16 = 2;

#[derive(Debug, Default)]
pub(super) struct NewFile {
    /// Set while the name is being asked for.
    name: Option<TextField>,
    /// The running job; it continues when the field is closed.
    writing: Option<Ticket>,
}

impl NewFile {
    /// Asks for the name, with a suggestion.
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

    /// The path to write to; `None` while the name is not asked for, or the file is being written already.
    pub(super) fn path(&mut self) -> Option<PathBuf> {
        let name = self.name.as_mut().filter(|_| self.writing.is_none())?;
        let path = paths::from_home(Path::new(name.text().trim()), std::env::home_dir());
        path.map_err(|why| name.error = Some(format!("The path {why}")))
            .ok()
    }

    pub(super) fn begun(&mut self, ticket: Ticket) {
        self.writing = Some(ticket);
    }

    pub(super) fn waits_for(&self, ticket: Ticket) -> bool {
        self.writing == Some(ticket)
    }

    /// The file has been written; closes the field.
    pub(super) fn done(&mut self) {
        *self = Self::default();
    }

    /// Shows what is wrong with the name.
    pub(super) fn refuse(&mut self, why: impl Into<String>) {
        if let Some(field) = &mut self.name {
            field.error = Some(why.into());
        }
    }

    /// Writing failed. Returns `false` if nothing was being written.
    pub(super) fn failed(&mut self, why: &str) -> bool {
        let was_written = self.writing.take().is_some();
        if was_written {
            self.refuse(why);
        }
        was_written
    }

    /// Like [`NewFile::failed`], but it is unknown how far writing got.
    pub(super) fn job_panicked(&mut self) -> bool {
        self.failed("Write interrupted, check the file")
    }

    /// Draws the field from this row on, while the name is asked for.
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
