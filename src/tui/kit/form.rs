//! A form: named text fields and choices below each other, one of which has the focus. An error stays at its field, a hint
//! is shown at the one with the focus; in a low area the first rows leave.

use ratatui::{
    crossterm::event::{KeyCode, KeyEvent},
    prelude::{Buffer, Position, Rect, Style},
};

use super::{
    paint::{self, below, take},
    text_field::TextField,
};
use crate::tui::theme::Theme;

/// Cells between the widest label and the values.
const GAP: u16 = 2;

#[derive(Debug, Clone)]
pub enum Input {
    Text(TextField),
    /// The words to choose from, each with its hint, and the chosen one.
    Choice(&'static [(&'static str, &'static str)], usize),
}

#[derive(Debug, Clone)]
pub struct Item<K> {
    key: K,
    pub label: &'static str,
    pub input: Input,
    is_left_out: bool,
}

/// `K` names the fields.
#[derive(Debug, Clone)]
pub struct Form<K> {
    items: Vec<Item<K>>,
    at: usize,
}

impl<K> Default for Form<K> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            at: 0,
        }
    }
}

impl<K: Copy + PartialEq> Form<K> {
    #[must_use]
    fn with(mut self, key: K, label: &'static str, input: Input) -> Self {
        self.items.push(Item {
            key,
            label,
            input,
            is_left_out: false,
        });
        self
    }

    /// Adds a text field, whose own label stays empty.
    #[must_use]
    pub fn text(self, key: K, label: &'static str, field: TextField) -> Self {
        self.with(key, label, Input::Text(field))
    }

    #[must_use]
    pub fn choice(
        self,
        key: K,
        label: &'static str,
        words: &'static [(&'static str, &'static str)],
        at: usize,
    ) -> Self {
        self.with(key, label, Input::Choice(words, at))
    }

    fn item(&self, key: K) -> Option<&Item<K>> {
        self.items.iter().find(|item| item.key == key)
    }

    /// What is in a text field; of a choice, the chosen word.
    pub fn typed(&self, key: K) -> &str {
        match self.item(key).map(|item| &item.input) {
            Some(Input::Text(field)) => field.text(),
            Some(Input::Choice(words, at)) => words[*at].0,
            None => "",
        }
    }

    /// Whether a text field has what is neither shown nor sent.
    pub fn is_hidden(&self, key: K) -> bool {
        let input = self.item(key).map(|item| &item.input);
        matches!(input, Some(Input::Text(field)) if field.is_hidden())
    }

    /// The number of the chosen word.
    pub fn chosen(&self, key: K) -> usize {
        match self.item(key).map(|item| &item.input) {
            Some(Input::Choice(_, at)) => *at,
            Some(Input::Text(_)) | None => 0,
        }
    }

    /// Shows a row, or leaves it out; what was typed there stays.
    pub fn show(&mut self, key: K, is_shown: bool) {
        for item in self.items.iter_mut().filter(|item| item.key == key) {
            item.is_left_out = !is_shown;
        }
    }

    /// The row with the focus.
    pub fn key(&self) -> K {
        self.items[self.at].key
    }

    pub fn focus(&mut self, key: K) {
        let found = self.items.iter().position(|item| item.key == key);
        self.at = found.unwrap_or(self.at);
    }

    pub fn is_on_text(&self) -> bool {
        matches!(self.items[self.at].input, Input::Text(_))
    }

    /// The text field with the focus.
    pub fn field(&mut self) -> Option<&mut TextField> {
        match &mut self.items[self.at].input {
            Input::Text(field) => Some(field),
            Input::Choice(..) => None,
        }
    }

    pub fn field_of(&mut self, key: K) -> Option<&mut TextField> {
        let item = self.items.iter_mut().find(|item| item.key == key)?;
        match &mut item.input {
            Input::Text(field) => Some(field),
            Input::Choice(..) => None,
        }
    }

    /// The rows that are shown, and which of them has the focus.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = (bool, &Item<K>)> {
        let all = self.items.iter().enumerate();
        let shown = all.filter(|(_, item)| !item.is_left_out);
        shown.map(|(at, item)| (at == self.at, item))
    }

    /// Moves to the next or previous row, wrapping around.
    pub fn go(&mut self, is_forward: bool) {
        let count = self.items.len();
        let step = if is_forward { 1 } else { count - 1 };
        self.at = (self.at + step) % count;
        while self.items[self.at].is_left_out {
            self.at = (self.at + step) % count;
        }
    }

    /// Chooses the next or previous word, wrapping around.
    pub fn choose(&mut self, key: K, is_forward: bool) {
        let item = self.items.iter_mut().find(|item| item.key == key);
        if let Some(Input::Choice(words, at)) = item.map(|item| &mut item.input) {
            let step = if is_forward { 1 } else { words.len() - 1 };
            *at = (*at + step) % words.len();
        }
    }

    /// A key for the row with the focus: types, or chooses.
    pub fn input(&mut self, key: KeyEvent) {
        match self.field() {
            Some(field) => {
                field.key(key);
                field.error = None;
            }
            None => self.choose(self.key(), key.code != KeyCode::Left),
        }
    }

    /// Pastes into the field with the focus; `false` if it is a choice.
    pub fn paste(&mut self, text: &str) -> bool {
        let Some(field) = self.field() else {
            return false;
        };
        field.paste(text);
        field.error = None;
        true
    }

    /// Shows what is wrong at its field; the focus goes to the first one.
    pub fn refuse(&mut self, problems: impl IntoIterator<Item = (K, String)>) {
        let mut first = None;
        for (key, why) in problems {
            first = first.or(Some(key));
            if let Some(field) = self.field_of(key) {
                field.error = Some(why);
            }
        }
        if let Some(key) = first {
            self.focus(key);
        }
    }

    /// Number of rows that [`Self::draw`] needs.
    pub fn rows(&self, width: u16, labels: u16) -> u16 {
        let room = width.saturating_sub(labels + GAP);
        let rows = self.shown().map(|(is_here, item)| item.rows(is_here, room));
        rows.sum()
    }

    /// Draws the rows with labels of this width; returns the number of rows, and the position of the terminal's cursor if a
    /// text field has the focus.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        labels: u16,
        theme: Theme,
    ) -> (u16, Option<Position>) {
        let labels = labels + GAP;
        let room = area.width.saturating_sub(labels);
        let rows: Vec<(bool, &Item<K>, u16)> = self
            .shown()
            .map(|(is_here, item)| (is_here, item, item.rows(is_here, room)))
            .collect();
        let height =
            |rows: &[(bool, &Item<K>, u16)]| -> u16 { rows.iter().map(|(.., rows)| rows).sum() };
        let here = rows.iter().position(|(is_here, ..)| *is_here).unwrap_or(0);
        let mut first = 0;
        while first < here && height(&rows[first..=here]) > area.height {
            first += 1;
        }
        let (mut left, mut cursor) = (area, None);
        for (is_here, item, rows) in &rows[first..] {
            if left.height == 0 {
                break;
            }
            let place = take(&mut left, *rows);
            let found = item.draw(buffer, paint::row(place, 0), labels, *is_here, theme);
            cursor = cursor.or(found.filter(|_| *is_here));
            let below = paint::after_cells(below(place, 1), labels);
            let (note, style) = (item.note(*is_here), item.note_style(theme));
            paint::wrapped(buffer, below, note, style, theme);
        }
        (area.height - left.height, cursor)
    }
}

impl<K> Item<K> {
    /// The text below the row: an error always, a hint only at the cursor.
    fn note(&self, is_here: bool) -> &str {
        match &self.input {
            Input::Text(field) => field.note(is_here),
            Input::Choice(words, at) if is_here => words[*at].1,
            Input::Choice(..) => "",
        }
    }

    /// Its row and the lines below it, of this many columns.
    fn rows(&self, is_here: bool, room: u16) -> u16 {
        1 + paint::wrapped_lines(self.note(is_here), room).len() as u16
    }

    fn note_style(&self, theme: Theme) -> Style {
        match &self.input {
            Input::Text(field) => field.note_style(theme),
            Input::Choice(..) => theme.dim(),
        }
    }

    fn draw(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        labels: u16,
        is_here: bool,
        theme: Theme,
    ) -> Option<Position> {
        let style = if is_here { theme.title() } else { theme.dim() };
        let label = paint::first_cells(line, labels.saturating_sub(1));
        paint::line(buffer, label, self.label, style, theme);
        let value = paint::after_cells(line, labels);
        match &self.input {
            Input::Text(field) => field.draw(buffer, value, theme, is_here),
            Input::Choice(words, at) => {
                draw_choice(buffer, value, words, *at, is_here, theme);
                None
            }
        }
    }
}

/// Draws all words with the chosen one in brackets; if they do not fit, only that one.
fn draw_choice(
    buffer: &mut Buffer,
    place: Rect,
    words: &[(&str, &str)],
    at: usize,
    is_here: bool,
    theme: Theme,
) {
    let (_, lit) = theme.choice(is_here);
    let all: usize = words.iter().map(|(word, _)| word.len() + 3).sum();
    if all > usize::from(place.width) + 1 {
        let text = format!("[{}] {} of {}", words[at].0, at + 1, words.len());
        paint::text(buffer, place.x, place.y, place.width, &text, lit);
        return;
    }
    let mut x = place.x;
    for (index, (word, _)) in words.iter().enumerate() {
        let (text, style) = if index == at {
            (format!("[{word}]"), lit)
        } else {
            (format!(" {word} "), theme.dim())
        };
        let left = place.right().saturating_sub(x);
        x = paint::text(buffer, x, place.y, left, &text, style) + 1;
    }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::KeyCode;

    use super::*;
    use crate::tui::kit::testing::{THEME, key, screen, typed};

    const WORDS: &[(&str, &str)] = &[("red", "warm"), ("blue", "cold")];

    fn form() -> Form<char> {
        let name = TextField::new("", "").with_hint("a short one");
        Form::default()
            .text('n', "name", name)
            .choice('c', "colour", WORDS, 0)
            .text('t', "to", TextField::new("", ""))
    }

    fn drawn(form: &Form<char>, height: u16) -> String {
        screen(24, height, |buffer, area| {
            form.draw(buffer, area, 6, THEME);
        })
    }

    #[test]
    fn one_row_has_the_focus_and_its_hint_and_errors_stay() {
        let mut form = form();
        for event in typed("ana") {
            form.input(event);
        }
        assert!(drawn(&form, 5).starts_with("name    ana"));
        assert!(drawn(&form, 5).contains("a short one"));
        form.go(true);
        form.input(key(KeyCode::Right));
        assert_eq!((form.typed('c'), form.chosen('c')), ("blue", 1));
        assert!(!form.paste("x"), "a choice takes no text");
        let screen = drawn(&form, 5);
        assert!(
            screen.contains("colour   red  [blue]") && screen.contains("cold"),
            "{screen}"
        );
        form.refuse([('t', "enter it".to_owned()), ('n', "too short".to_owned())]);
        assert_eq!(form.key(), 't', "the first problem");
        let screen = drawn(&form, 6);
        assert!(
            screen.contains("enter it") && screen.contains("too short"),
            "{screen}"
        );
        assert!(
            !drawn(&form, 2).contains("name"),
            "the focus stays on the screen"
        );
        assert!(form.paste("there") && form.typed('t') == "there");
        assert!(
            !drawn(&form, 6).contains("enter it"),
            "typing takes the error away"
        );
    }

    #[test]
    fn a_row_that_is_left_out_keeps_its_text_and_is_passed_over() {
        let mut form = form();
        form.refuse([('t', String::new())]);
        form.paste("kept");
        form.show('t', false);
        form.go(false);
        assert_eq!(form.key(), 'c');
        form.go(true);
        assert_eq!(form.key(), 'n', "around the end");
        form.show('t', true);
        assert_eq!(form.typed('t'), "kept");
        assert_eq!(form.shown().count(), 3);
    }
}
