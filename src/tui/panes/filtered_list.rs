//! The common parts of panes with a list: a cursor, an optional filter, the request that delivers the rows, and a table
//! below a rule.

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use crate::{
    search::normalize::lowered,
    tui::{
        keymap::{Action, Focus},
        state::{
            context::{Context, Navigation},
            message::Pending,
        },
        theme::Theme,
        widgets::{
            boxes::{below, titled_rows},
            columns::{Cell, Column},
            paint,
            scroll::Cursor,
            table,
            text_field::TextField,
        },
    },
};

#[derive(Debug, Default)]
pub(super) struct FilteredList {
    pub(super) cursor: Cursor,
    /// The request that delivers the rows.
    pub(super) pending: Pending,
    /// `None`: the list has no filter.
    filter: Option<Box<TextField>>,
    is_filtering: bool,
}

impl FilteredList {
    /// A list with a filter that starts with this text.
    pub(super) fn with_filter(text: &str) -> Self {
        Self {
            filter: Some(Box::new(TextField::new("filter", text))),
            ..Self::default()
        }
    }

    pub(super) fn is_filtering(&self) -> bool {
        self.is_filtering
    }

    /// Where keys go, of a pane whose own place is this.
    pub(super) fn focus(&self, own: Focus) -> Focus {
        if self.is_filtering {
            Focus::Filter
        } else {
            own
        }
    }

    /// Whether the filter looks like a token, which is not shown or kept.
    pub(super) fn hides_filter(&self) -> bool {
        self.filter.as_deref().is_some_and(TextField::looks_secret)
    }

    /// Says whether the filter finds something, and therefore is no token.
    pub(super) fn allow_filter(&mut self, finds: bool) {
        if let Some(filter) = &mut self.filter {
            filter.allow(finds);
        }
    }

    /// The text of the filter.
    pub(super) fn filter(&self) -> &str {
        self.filter.as_deref().map_or("", TextField::text)
    }

    /// The words of the filter, in lower case.
    pub(super) fn words(&self) -> Vec<String> {
        let words = lowered(self.filter());
        words.split_whitespace().map(str::to_owned).collect()
    }

    pub(super) fn set_filter(&mut self, text: &str) {
        if let Some(filter) = &mut self.filter {
            filter.set_text(text);
        }
    }

    /// Clears the filter; returns whether there was one.
    pub(super) fn clear(&mut self) -> bool {
        let was = self.is_filtered();
        self.is_filtering = false;
        self.set_filter("");
        was
    }

    /// Handles movement, filtering and leaving; returns whether it did.
    pub(super) fn act(&mut self, action: Action, rows: usize, context: &mut Context) -> bool {
        let page = usize::from(context.size.1 / 2);
        if self.cursor.act(action, rows, page) {
            return true;
        }
        match action {
            Action::Filter => {
                // Typing replaces the previous filter; a space or a movement continues it.
                self.filter.iter_mut().for_each(|field| field.select_all());
                self.is_filtering = self.filter.is_some();
            }
            Action::Enter if self.is_filtering => self.is_filtering = false,
            Action::Back if self.clear() => {}
            Action::Back => {
                context.give_up(&self.pending);
                context.navigate(Navigation::Pop);
            }
            _ => return false,
        }
        true
    }

    /// Why a key of the filter does nothing here: only the filter of the groups has completion.
    pub(super) fn disabled(&self, action: Action) -> Option<String> {
        let completes = self.is_filtering && action == Action::NextField;
        completes.then(|| "only in Groups".into())
    }

    /// Whether the filter is being typed or is not empty.
    fn is_filtered(&self) -> bool {
        self.is_filtering || !self.filter().is_empty()
    }

    /// The filter, while it is being typed.
    pub(super) fn field(&mut self) -> Option<&mut TextField> {
        self.filter.as_deref_mut().filter(|_| self.is_filtering)
    }

    /// Passes the key to the filter; returns whether it took it.
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        self.field().map(|filter| filter.key(key)).is_some()
    }

    /// Pastes into the filter; returns whether it took it.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        self.field().map(|filter| filter.paste(text)).is_some()
    }

    /// The rows have changed: the cursor moves to its row if that was found again, otherwise it stays within the rows.
    pub(super) fn stay_on(&mut self, found: Option<usize>, rows: usize) {
        let at = found.unwrap_or(self.cursor.at);
        self.cursor.at = at.min(rows.saturating_sub(1));
    }

    /// Draws the filter if there is one, this many columns from the left; returns the remaining area and the position
    /// of the cursor.
    pub(super) fn draw_filter(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        inset: u16,
        theme: Theme,
    ) -> (Rect, Option<Position>) {
        let Some(filter) = self.filter.as_ref().filter(|_| self.is_filtered()) else {
            return (area, None);
        };
        let mut line = paint::row(area, 0);
        line.x += inset;
        line.width = line.width.saturating_sub(inset);
        let cursor = filter.draw(buffer, line, theme, self.is_filtering);
        (below(area, 1), cursor.filter(|_| self.is_filtering))
    }

    /// Draws the rows below a rule; see [`table::draw`].
    pub(super) fn draw<'a, R>(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        (title, hint): (&str, &str),
        rows: &'a [R],
        (columns, cells): (
            impl Fn(&'a [R]) -> Vec<Column>,
            impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
        ),
        theme: Theme,
    ) {
        let inner = titled_rows(buffer, area, title, true, theme);
        let rows = (rows, &self.cursor);
        table::draw(buffer, inner, rows, columns, cells, hint, theme);
    }
}
