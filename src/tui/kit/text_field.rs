//! A field of one line: a thin wrapper around `tui-input` that keeps the cursor between graphemes, shows hidden
//! characters as escapes while keeping the real text, and can hold a secret. It shows no text that looks like a token;
//! it does not know what its text means otherwise.
//!
//! Draws a field: label, text scrolled so that the cursor is visible, and a hint or an error below.

#[cfg(test)]
mod tests;

use std::fmt;

use ratatui::{
    crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    prelude::{Buffer, Margin, Modifier, Position, Rect, Style},
};
use tui_input::{Input, InputRequest};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use zeroize::{Zeroize, Zeroizing};

use super::{Reaction, is_plain};
use crate::{
    domain::{
        counted,
        pasted::{Shape, may_have_token, shape, suspicious_words},
    },
    tui::{
        kit::paint::{self, Glyph},
        theme::Theme,
    },
};

/// Maximum number of characters, unless changed.
const LONGEST: usize = 4096;

/// Says that the end of a pasted text did not fit.
pub fn did_not_fit(cut: usize) -> String {
    format!("{} did not fit", counted(cut, "character"))
}

/// One line of text with a cursor.
pub struct TextField {
    input: Input,
    /// The text before anything was typed.
    began: String,
    pub label: String,
    /// Drawn below the text if there is a second row, unless there is an error.
    pub hint: String,
    pub error: Option<String>,
    masked: bool,
    /// Goes to the service, or names a group: long digits may be what it is about.
    is_data: bool,
    /// A value of a group: digits that were not there before are not shown.
    is_value: bool,
    /// The text is known to be no secret.
    allowed: bool,
    /// Line breaks stay: only of a masked text, which shows none.
    keeps_lines: bool,
    longest: usize,
    /// The next typed character replaces the text.
    selected: bool,
}

impl TextField {
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        let began = text.into();
        Self {
            input: Input::new(began.clone()),
            began,
            label: label.into(),
            hint: String::new(),
            error: None,
            masked: false,
            is_data: false,
            is_value: false,
            allowed: false,
            keeps_lines: false,
            longest: LONGEST,
            selected: false,
        }
    }

    /// A field for a secret: masked on screen, silent in `Debug`, wiped on drop.
    pub fn secret(label: impl Into<String>) -> Self {
        let mut field = Self::new(label, "");
        field.masked = true;
        field.replace_text("", 0);
        field
    }

    /// A field for data of a group or its id, in which long hex digits are nothing unusual.
    #[must_use]
    pub fn for_data(mut self) -> Self {
        self.is_data = true;
        self
    }

    /// A field for a value of a group, which is not sent with a part of a token that was not there before.
    #[must_use]
    pub fn for_value(mut self) -> Self {
        (self.is_data, self.is_value) = (true, true);
        self
    }

    pub fn is_data(&self) -> bool {
        self.is_data
    }

    /// Says whether the text is known to be something else than a token.
    pub fn allow(&mut self, allowed: bool) {
        self.allowed = allowed;
    }

    /// Takes out a known secret, whatever it looks like, and keeps what stood around it. If the secret is the whole text, it is
    /// in one of its words; where a part of it may still be in the rest, the text begins again. Returns whether the text had it.
    pub fn hold_back(&mut self, secret: &str) -> bool {
        let Some(at) = self.text().find(secret) else {
            return false;
        };
        let rest = Zeroizing::new(self.text().replace(secret, ""));
        let (mut kept, mut cursor) = (rest, self.text()[..at].chars().count());
        if kept.trim().is_empty() {
            let words = self.text().split_inclusive(' ');
            let others = words.filter(|word| !may_have_token(word.trim_end()));
            kept = Zeroizing::new(others.collect());
            cursor = kept.chars().count();
        }
        if !self.is_data && may_have_token(&kept) {
            if self.began.contains(secret) {
                self.began.zeroize();
            }
            kept = Zeroizing::new(self.began.clone());
            cursor = kept.chars().count();
        }
        self.replace_text(&kept, cursor);
        self.error = None;
        true
    }

    /// Restores the text that it began with.
    pub fn take_back(&mut self) {
        self.set_text(&self.began.clone());
    }

    /// Sets the text that [`Self::hold_back`] restores.
    pub fn begins_with(&mut self, text: &str) {
        text.clone_into(&mut self.began);
    }

    /// Whether it is a field for secrets.
    pub fn is_masked(&self) -> bool {
        self.masked
    }

    /// Whether the text looks like a token, or in a text of a person's own like a part of one. It is not shown, and
    /// nothing keeps it.
    pub fn looks_secret(&self) -> bool {
        let is_secret = |shape| shape == Shape::Token || !self.is_data;
        !self.masked && !self.allowed && shape(self.text()).is_some_and(is_secret)
    }

    /// Whether the text is not shown although it is no field for a secret: it looks like one, or a value has a new part of one.
    pub fn is_hidden(&self) -> bool {
        let is_new = |word: &str| !self.began.contains(word);
        let has_new = || self.is_value && suspicious_words(self.text()).any(is_new);
        self.looks_secret() || !self.masked && !self.allowed && has_new()
    }

    /// Keeps the line breaks of a pasted text. For a masked field.
    #[must_use]
    pub fn with_lines(mut self) -> Self {
        self.keeps_lines = self.masked;
        self
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Limits what can be typed or pasted, in characters. Existing text is never cut.
    #[must_use]
    pub fn with_longest(mut self, characters: usize) -> Self {
        self.longest = characters;
        if self.masked {
            let text = Zeroizing::new(self.text().to_owned());
            self.replace_text(&text, self.input.cursor());
        }
        self
    }

    /// The real text, including hidden characters.
    pub fn text(&self) -> &str {
        self.input.value()
    }

    pub fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Replaces the text; the cursor goes to its end.
    pub fn set_text(&mut self, text: &str) {
        self.replace_text(text, text.chars().count());
    }

    /// Selects the whole text: typing or pasting replaces it, a space is appended, and a movement keeps it.
    pub fn select_all(&mut self) {
        self.input.handle(InputRequest::GoToEnd);
        self.selected = !self.is_empty();
    }

    /// The cursor as a byte offset of the text; always between graphemes.
    pub fn cursor(&self) -> usize {
        byte_of(self.text(), self.input.cursor())
    }

    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        if key.kind == KeyEventKind::Release {
            return Reaction::Ignored;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        if std::mem::take(&mut self.selected) {
            match key.code {
                KeyCode::Char(' ') => {}
                KeyCode::Char(_) if is_plain(key) => self.set_text(""),
                KeyCode::Backspace | KeyCode::Delete => {
                    self.set_text("");
                    return Reaction::Changed;
                }
                _ => {}
            }
        }
        match key.code {
            KeyCode::Char(c) if is_plain(key) => self.insert(c),
            KeyCode::Left if control || alt => self.go(InputRequest::GoToPrevWord),
            KeyCode::Right if control || alt => self.go(InputRequest::GoToNextWord),
            KeyCode::Char('b') if alt => self.go(InputRequest::GoToPrevWord),
            KeyCode::Char('f') if alt => self.go(InputRequest::GoToNextWord),
            KeyCode::Left => self.go(InputRequest::GoToPrevChar),
            KeyCode::Right => self.go(InputRequest::GoToNextChar),
            KeyCode::Home => self.go(InputRequest::GoToStart),
            KeyCode::End => self.go(InputRequest::GoToEnd),
            KeyCode::Char('w') if control => self.delete_to(InputRequest::GoToPrevWord),
            KeyCode::Backspace if control || alt => self.delete_to(InputRequest::GoToPrevWord),
            KeyCode::Char('u') if control => self.delete_to(InputRequest::GoToStart),
            KeyCode::Char('k') if control => self.delete_to(InputRequest::GoToEnd),
            KeyCode::Char('d') if alt => self.delete_to(InputRequest::GoToNextWord),
            KeyCode::Delete if control || alt => self.delete_to(InputRequest::GoToNextWord),
            KeyCode::Backspace => self.delete_to(InputRequest::GoToPrevChar),
            KeyCode::Delete => self.delete_to(InputRequest::GoToNextChar),
            _ => Reaction::Ignored,
        }
    }

    /// Inserts a pasted text at the cursor, as one line; returns how many characters at its end did not fit.
    pub fn paste(&mut self, pasted: &str) -> usize {
        if std::mem::take(&mut self.selected) {
            self.set_text("");
        }
        let line = unix_lines(pasted);
        let line = line.trim_end_matches('\n');
        let room = self.longest.saturating_sub(self.text().chars().count());
        let cut = line.chars().count().saturating_sub(room);
        if room > 0 && !line.is_empty() {
            let (before, after) = self.text().split_at(self.cursor());
            let fits = &line[..byte_of(line, room)];
            let mut text = Zeroizing::new(String::with_capacity(self.text().len() + fits.len()));
            text.push_str(before);
            let joins = |c| c == '\n' && !self.keeps_lines;
            text.extend(fits.chars().map(|c| if joins(c) { ' ' } else { c }));
            text.push_str(after);
            self.replace_text(&text, self.input.cursor() + fits.chars().count());
        }
        cut
    }

    fn insert(&mut self, c: char) -> Reaction {
        if self.text().chars().count() >= self.longest {
            return Reaction::Refused;
        }
        self.input.handle(InputRequest::InsertChar(c));
        self.settle();
        Reaction::Changed
    }

    fn go(&mut self, request: InputRequest) -> Reaction {
        let before = self.input.cursor();
        self.input.handle(request);
        self.settle();
        Reaction::moved(self.input.cursor() != before)
    }

    /// Deletes from the cursor to the target of a movement. Does not use the delete requests of `tui-input`, which
    /// keep the deleted text for a yank: a secret must not stay there.
    fn delete_to(&mut self, movement: InputRequest) -> Reaction {
        let from = self.input.cursor();
        self.input.handle(movement);
        self.settle();
        let to = self.input.cursor();
        if from == to {
            return Reaction::Refused;
        }
        let (first, last) = (from.min(to), from.max(to));
        let text = self.text();
        let rest = [&text[..byte_of(text, first)], &text[byte_of(text, last)..]].concat();
        self.replace_text(&Zeroizing::new(rest), first);
        Reaction::Changed
    }

    fn replace_text(&mut self, text: &str, cursor: usize) {
        let new = self.owned(text);
        let old = std::mem::replace(&mut self.input, Input::new(new).with_cursor(cursor));
        if self.masked {
            String::from(old).zeroize();
        }
        self.settle();
    }

    /// A copy of a text of the field. Reserves the space for the longest secret at once: a string that grows leaves copies
    /// of itself in memory.
    fn owned(&self, text: &str) -> String {
        if !self.masked {
            return text.to_owned();
        }
        let longest = self.longest.min(LONGEST) * 4;
        let mut room = String::with_capacity(text.len().max(longest) + 4);
        room.push_str(text);
        room
    }

    /// Moves the cursor out of a grapheme: inserting or deleting text can merge neighbouring characters.
    fn settle(&mut self) {
        let text = self.text();
        let byte = self.cursor();
        let mut boundary = GraphemeCursor::new(byte, text.len(), true);
        if boundary.is_boundary(text, 0) == Ok(true) {
            return;
        }
        let next = boundary.next_boundary(text, 0).ok().flatten();
        let characters = text[..next.unwrap_or(text.len())].chars().count();
        self.input.handle(InputRequest::SetCursor(characters));
    }

    /// Number of graphemes, as counted by the mask.
    fn length(&self) -> usize {
        self.text().graphemes(true).count()
    }
}

/// Turns every kind of line break into `\n`, in one allocation that is wiped afterwards.
fn unix_lines(text: &str) -> Zeroizing<String> {
    let mut lines = Zeroizing::new(String::with_capacity(text.len()));
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '\r' {
            characters.next_if_eq(&'\n');
            lines.push('\n');
        } else {
            lines.push(c);
        }
    }
    lines
}

fn byte_of(text: &str, characters: usize) -> usize {
    text.char_indices()
        .nth(characters)
        .map_or(text.len(), |(byte, _)| byte)
}

impl Clone for TextField {
    fn clone(&self) -> Self {
        let text = self.owned(self.text());
        Self {
            input: Input::new(text).with_cursor(self.input.cursor()),
            began: self.began.clone(),
            label: self.label.clone(),
            hint: self.hint.clone(),
            error: self.error.clone(),
            masked: self.masked,
            is_data: self.is_data,
            is_value: self.is_value,
            allowed: self.allowed,
            keeps_lines: self.keeps_lines,
            longest: self.longest,
            selected: self.selected,
        }
    }
}

impl PartialEq for TextField {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
            && self.input.cursor() == other.input.cursor()
            && (&self.label, &self.hint, &self.error) == (&other.label, &other.hint, &other.error)
            && (self.masked, self.longest, self.selected)
                == (other.masked, other.longest, other.selected)
    }
}

/// Reveals nothing about a secret, not even its length.
impl fmt::Debug for TextField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("TextField");
        fields.field("label", &self.label);
        if !self.masked && !self.is_hidden() {
            fields
                .field("text", &self.text())
                .field("cursor", &self.cursor());
        }
        fields.field("error", &self.error).finish_non_exhaustive()
    }
}

impl Drop for TextField {
    fn drop(&mut self) {
        if self.masked {
            String::from(std::mem::take(&mut self.input)).zeroize();
        }
    }
}

/// Below a field whose text is not shown.
const LOOKS_SECRET: &str = "looks like a token or a part of one: not shown, not kept";
/// Below this width, the signs for "more to the left" and "more to the right" would take too much space.
const MIN_WIDTH_FOR_EDGES: u16 = 6;

impl TextField {
    /// Number of rows with the whole hint or error.
    pub fn rows(&self, width: u16) -> u16 {
        let room = width - self.label_columns(width);
        1 + paint::wrapped_lines(self.note(true), room).len() as u16
    }

    /// What is below the text: an error always, the hint only where it is wanted.
    pub(super) fn note(&self, has_hint: bool) -> &str {
        match &self.error {
            Some(error) => error,
            None if self.is_hidden() => LOOKS_SECRET,
            None if has_hint => &self.hint,
            None => "",
        }
    }

    pub(super) fn note_style(&self, theme: Theme) -> Style {
        match self.error {
            Some(_) => theme.error(),
            None if self.is_hidden() => theme.warning(),
            None => theme.dim(),
        }
    }

    /// Draws into one row, or with the hint or error into as many as there are. Returns the position of the
    /// terminal's cursor, if focused.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
    ) -> Option<Position> {
        let line = paint::row(area, 0);
        let label = self.draw_label(buffer, line, theme, focused);
        let line = paint::after_cells(line, label);
        let cursor = self.draw_text(buffer, line, theme, focused);
        let below = paint::after_cells(paint::below(area, 1), label);
        let (note, style) = (self.note(true), self.note_style(theme));
        paint::wrapped(buffer, below, note, style, theme);
        cursor
    }

    /// The columns of the label, and the blanks after it.
    fn label_columns(&self, width: u16) -> u16 {
        if self.label.is_empty() {
            return 0;
        }
        let own = paint::columns(&self.label) as u16;
        (own + 2).min(width / 2)
    }

    fn draw_label(&self, buffer: &mut Buffer, line: Rect, theme: Theme, focused: bool) -> u16 {
        let width = self.label_columns(line.width);
        let style = if focused { theme.title() } else { theme.dim() };
        let room = paint::first_cells(line, width.saturating_sub(1));
        paint::line(buffer, room, &self.label, style, theme);
        width
    }

    fn draw_text(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        theme: Theme,
        focused: bool,
    ) -> Option<Position> {
        if line.is_empty() {
            return None;
        }
        let style = if focused {
            theme.focused()
        } else {
            Style::new()
        };
        buffer.set_style(line.intersection(buffer.area), style);
        if self.masked || self.is_hidden() {
            return self.draw_masked(buffer, line, theme, focused);
        }
        let glyphs = paint::glyphs(self.text());
        let cursor = paint::column_of(&glyphs, self.cursor());
        let total = paint::total(&glyphs);
        let scrolls = total >= usize::from(line.width);
        let edges = u16::from(scrolls && line.width >= MIN_WIDTH_FOR_EDGES);
        let inner = line.inner(Margin::new(edges, 0));
        // Without the focus, the beginning is shown, because it distinguishes one value from another.
        let seen = if focused { cursor } else { 0 };
        let from = paint::first_column(seen, total, usize::from(inner.width));
        let escape = theme.warning();
        let style = if focused && self.selected {
            style.add_modifier(Modifier::REVERSED)
        } else {
            style
        };
        let style_of = |glyph: &Glyph<'_>| if glyph.escaped { escape } else { style };
        paint::window(buffer, inner, &glyphs, from, style_of);
        if edges == 1 {
            if from > 0 {
                paint::text(buffer, line.x, line.y, 1, "<", theme.key_hint());
            }
            if from + usize::from(inner.width) < total {
                paint::text(buffer, line.right() - 1, line.y, 1, ">", theme.key_hint());
            }
        }
        let x = inner.x + (cursor.saturating_sub(from)) as u16;
        focused.then_some(Position::new(x.min(line.right() - 1), line.y))
    }

    /// Draws one mask character per character, as many as fit, and the length.
    fn draw_masked(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        theme: Theme,
        focused: bool,
    ) -> Option<Position> {
        let length = self.length();
        let count = if length == 0 {
            String::new()
        } else {
            length.to_string()
        };
        let room = usize::from(line.width).saturating_sub(count.len() + 1);
        let signs = theme.mask().repeat(length.min(room));
        let end = paint::text(buffer, line.x, line.y, line.width, &signs, Style::new());
        let at = end + u16::from(end < line.right());
        paint::text(buffer, at, line.y, line.right() - at, &count, theme.dim());
        let before = self.text()[..self.cursor()].graphemes(true).count();
        let before = before.min(room) as u16;
        focused.then_some(Position::new(
            (line.x + before).min(line.right() - 1),
            line.y,
        ))
    }
}
