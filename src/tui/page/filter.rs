//! The line of a filter: opened, typed into, applied, cleared. What it means is up to the page.

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use crate::{
    domain::text::visible,
    tui::{
        keymap::{Action, Focus},
        kit::{paint, text_field::TextField},
        theme::Theme,
    },
};

#[derive(Debug)]
pub struct Filter {
    field: TextField,
    is_typing: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self::with("")
    }
}

impl Filter {
    pub fn with(text: &str) -> Self {
        Self {
            field: TextField::new("filter", text),
            is_typing: false,
        }
    }

    pub fn text(&self) -> &str {
        self.field.text()
    }

    pub fn set_text(&mut self, text: &str) {
        self.field.set_text(text);
    }

    pub fn is_empty(&self) -> bool {
        self.field.is_empty()
    }

    pub fn is_typing(&self) -> bool {
        self.is_typing
    }

    /// Whether it is being typed or is not empty.
    pub fn is_on(&self) -> bool {
        self.is_typing || !self.is_empty()
    }

    /// Whether it looks like a token, which is not shown or kept.
    pub fn is_hidden(&self) -> bool {
        self.field.looks_secret()
    }

    /// Says that nothing matches it, and which key clears it. A text that may be a token is shown nowhere.
    pub fn nothing_matches(&self, clear: &str) -> String {
        let what = if self.is_hidden() {
            "the filter".to_owned()
        } else {
            format!("\"{}\"", self.text().trim())
        };
        format!("Nothing matches {what}: {clear} clears it")
    }

    /// Says whether the filter finds something, and therefore is no token.
    pub fn allow(&mut self, finds: bool) {
        self.field.allow(finds);
    }

    /// Where keys go, on a page whose own place is this.
    pub fn focus(&self, own: Focus) -> Focus {
        if self.is_typing { Focus::Filter } else { own }
    }

    /// Clears the filter; returns whether there was one.
    pub fn clear(&mut self) -> bool {
        let was_on = self.is_on();
        self.is_typing = false;
        self.set_text("");
        was_on
    }

    /// Opens, applies or clears it; returns whether it did.
    pub fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Filter => {
                // Typing replaces the previous filter; a space or a movement continues it.
                self.field.select_all();
                self.is_typing = true;
            }
            Action::Enter if self.is_typing => self.is_typing = false,
            Action::Back => return self.clear(),
            _ => return false,
        }
        true
    }

    /// The field, while it is typed into.
    pub fn field(&mut self) -> Option<&mut TextField> {
        self.is_typing.then_some(&mut self.field)
    }

    /// Passes the key to the field; returns whether it took it.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        self.field().map(|field| field.key(key)).is_some()
    }

    /// Pastes into the field; returns whether it took it.
    pub fn paste(&mut self, text: &str) -> bool {
        self.field().map(|field| field.paste(text)).is_some()
    }

    /// Draws it into a line, with a remark at its end; returns the position of the cursor.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        mut line: Rect,
        remark: Option<&str>,
        theme: Theme,
    ) -> Option<Position> {
        // Aligned with the breadcrumb path, whose text also begins in the second column.
        line.x += 1;
        line.width = line.width.saturating_sub(1);
        if let Some(remark) = remark {
            let typed = paint::columns(self.text()) + "filter    ".len();
            let room = usize::from(line.width).saturating_sub(typed);
            let remark = paint::words_that_fit(&visible(remark), room, theme);
            let width = paint::columns(&remark) as u16;
            let x = line.right() - width;
            paint::text(buffer, x, line.y, width, &remark, theme.warning());
            line.width -= width + u16::from(width < line.width);
        }
        let cursor = self.field.draw(buffer, line, theme, self.is_typing);
        cursor.filter(|_| self.is_typing)
    }
}
