//! A box in the middle of the screen that asks: a text, buttons, and for what cannot be taken back a text to type. It
//! only reports which button was chosen; the focus starts on the safe one.

mod draw;
#[cfg(test)]
mod tests;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::{Reaction, is_plain, text_field::TextField};

/// Body lines that PgUp and PgDn go.
const PAGE: usize = 10;

/// Cells of a body line on the narrowest screen that shows dialogs.
const NARROWEST: usize = 36;

/// How the button that acts is confirmed (console.md, "Confirmation").
#[derive(Debug, Clone, PartialEq)]
pub enum Confirm {
    /// Enter on the button.
    Enter,
    /// The key `y`; Enter does nothing on the button.
    KeyY,
    /// A text that must be typed exactly.
    Typed { expected: String, field: TextField },
}

/// What has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Field,
    Button(usize),
}

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet; the dialog stays.
    Open(Reaction),
    /// Esc, or the safe button.
    Cancelled,
    /// The button of this index.
    Chosen(usize),
}

/// A question with buttons. Button 0 is the safe one and cancels.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialog {
    pub title: String,
    /// Paragraphs; each is wrapped on its own, an empty one is an empty line.
    pub body: Vec<String>,
    buttons: Vec<String>,
    focus: Focus,
    confirm: Confirm,
    /// First body line to show. May be too far: drawing stops at the end.
    scroll: usize,
    /// Marks the frame as production.
    pub is_production: bool,
}

impl Dialog {
    /// `safe` is the button that does nothing, for example "Back".
    pub fn new(title: impl Into<String>, body: Vec<String>, safe: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            body,
            buttons: vec![safe.into()],
            focus: Focus::Button(0),
            confirm: Confirm::Enter,
            scroll: 0,
            is_production: false,
        }
    }

    /// Adds a button that acts. Its index is the number of buttons before it, the safe one counted.
    #[must_use]
    pub fn with_button(mut self, label: impl Into<String>) -> Self {
        self.buttons.push(label.into());
        self
    }

    /// The acting buttons need the key `y`, which chooses the first of them.
    #[must_use]
    pub fn with_key_y(mut self) -> Self {
        self.confirm = Confirm::KeyY;
        self
    }

    /// The acting buttons need this text, typed exactly; the focus starts in the field.
    #[must_use]
    pub fn with_typed(mut self, expected: impl Into<String>) -> Self {
        self.confirm = Confirm::Typed {
            expected: expected.into(),
            field: TextField::new("", ""),
        };
        self.focus = Focus::Field;
        self
    }

    #[must_use]
    pub fn in_production(mut self, is_production: bool) -> Self {
        self.is_production = is_production;
        self
    }

    pub fn focus(&self) -> Focus {
        self.focus
    }

    /// Whether the acting buttons may act: nothing must be typed, or it was.
    pub fn is_confirmed(&self) -> bool {
        match &self.confirm {
            Confirm::Enter | Confirm::KeyY => true,
            Confirm::Typed { expected, field } => field.text() == expected,
        }
    }

    pub fn key(&mut self, key: KeyEvent) -> Answer {
        if key.kind == KeyEventKind::Release {
            return Answer::Open(Reaction::Ignored);
        }
        match key.code {
            KeyCode::Esc => return Answer::Cancelled,
            KeyCode::Enter => return self.enter(),
            KeyCode::Tab => return self.go(1),
            KeyCode::BackTab => return self.go(-1),
            KeyCode::Up => return self.scroll_to(self.scroll.saturating_sub(1)),
            KeyCode::Down => return self.scroll_to(self.scroll + 1),
            KeyCode::PageUp => return self.scroll_to(self.scroll.saturating_sub(PAGE)),
            KeyCode::PageDown => return self.scroll_to(self.scroll + PAGE),
            _ => {}
        }
        match (&mut self.confirm, self.focus, key.code) {
            (Confirm::Typed { field, .. }, Focus::Field, _) => {
                field.error = None;
                Answer::Open(field.key(key))
            }
            (_, _, KeyCode::Left) => self.go(-1),
            (_, _, KeyCode::Right) => self.go(1),
            (Confirm::KeyY, _, KeyCode::Char('y')) if is_plain(key) && self.buttons.len() > 1 => {
                Answer::Chosen(1)
            }
            _ => Answer::Open(Reaction::Ignored),
        }
    }

    /// Pasted text goes to the field or nowhere; never to the buttons.
    pub fn paste(&mut self, text: &str) -> Answer {
        match (&mut self.confirm, self.focus) {
            (Confirm::Typed { field, .. }, Focus::Field) => {
                field.error = None;
                field.paste(text);
                Answer::Open(Reaction::Changed)
            }
            _ => Answer::Open(Reaction::Refused),
        }
    }

    fn enter(&mut self) -> Answer {
        let is_confirmed = self.is_confirmed();
        let acting = match self.focus {
            Focus::Button(0) => return Answer::Cancelled,
            Focus::Button(acting) => acting,
            Focus::Field => 1,
        };
        if let Confirm::Typed { field, .. } = &mut self.confirm
            && !is_confirmed
        {
            field.error = Some("not the same text; nothing was done".into());
            return Answer::Open(Reaction::Refused);
        }
        if self.confirm == Confirm::KeyY || acting >= self.buttons.len() {
            return Answer::Open(Reaction::Refused);
        }
        Answer::Chosen(acting)
    }

    /// The focus goes round: field, safe button, acting buttons.
    fn go(&mut self, step: isize) -> Answer {
        let fields = usize::from(matches!(self.confirm, Confirm::Typed { .. }));
        let stops = fields + self.buttons.len();
        let here = match self.focus {
            Focus::Field => 0,
            Focus::Button(button) => fields + button,
        };
        let there = (here + stops).saturating_add_signed(step) % stops;
        self.focus = if there < fields {
            Focus::Field
        } else {
            Focus::Button(there - fields)
        };
        Answer::Open(Reaction::Moved)
    }

    fn scroll_to(&mut self, line: usize) -> Answer {
        // The real width is known when drawing only; at the narrowest screen there are no more lines than this.
        let line = line.min(self.body_lines(NARROWEST).len());
        let moved = line != self.scroll;
        self.scroll = line;
        Answer::Open(Reaction::moved(moved))
    }
}
