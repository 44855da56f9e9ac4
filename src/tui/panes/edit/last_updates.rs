//! The last updates of the group, below the pending changes.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::GroupForm;
use crate::{
    domain::{
        change::Change,
        history::{Entry, Operation},
        text::person,
        undo,
    },
    tui::{
        kit::{
            changes,
            paint::{self, columns},
            text_page::TextPage,
        },
        state::{context::Context, message::Job},
    },
};

/// Minimum number of rows: the heading and one entry.
const MIN_ROWS: usize = 3;
/// Maximum number of entries.
const MAX_ENTRIES: usize = 8;
/// Maximum width of the person's name, in cells.
const MAX_OPERATOR_WIDTH: usize = 12;

impl GroupForm {
    /// Requests the history if there is room to show it.
    pub(super) fn ask_last_updates(&mut self, context: &mut Context) {
        if !self.creating
            && context.size.0 >= super::view::SIDE_BY_SIDE_WIDTH
            && self.updates.must_request()
        {
            let job = Job::History(Some(self.id.clone()));
            context.ask(&self.updates.reading, job);
        }
    }

    /// Draws as many entries as fit below `taken` rows, at the bottom of the area, so that they do not move while the
    /// changes above them grow.
    pub(super) fn draw_last_updates(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        taken: usize,
        context: &Context,
    ) {
        let free = usize::from(area.height).saturating_sub(taken);
        let entries = self.updates.entries();
        if free < MIN_ROWS || entries.is_empty() {
            return;
        }
        let shown = &entries[..entries.len().min(MAX_ENTRIES).min(free - 2)];
        let rows = shown.len() as u16 + 1;
        let area = Rect {
            y: area.bottom() - rows,
            height: rows,
            ..area
        };
        let mut page = TextPage::new(area.width, context.theme);
        write(&mut page, shown, context);
        page.draw_still(buffer, area);
    }
}

fn write(page: &mut TextPage, shown: &[Entry], context: &Context) {
    let theme = context.theme;
    let column = |text: &dyn Fn(&Entry) -> String| -> Vec<String> {
        let mut cells: Vec<String> = shown.iter().map(text).collect();
        let widest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        for cell in &mut cells {
            *cell += &" ".repeat(widest - columns(cell) + 2);
        }
        cells
    };
    let whens = column(&|entry| {
        let when = context.moment(entry.at);
        when.trim_start_matches("at ").to_owned()
    });
    // Only the person of `ana@bastion2`.
    let whos = column(&|entry| paint::cut(person(&entry.by), MAX_OPERATOR_WIDTH, theme));
    page.heading("Last updates");
    for (at, entry) in shown.iter().enumerate() {
        let head = format!("{}{}", whens[at], whos[at]);
        let room = page.width().saturating_sub(columns(&head));
        let what = paint::words_that_fit(&what(entry, context), room, theme);
        page.pieces(vec![(head, theme.dim()), (what, Style::new())]);
    }
}

fn what(entry: &Entry, context: &Context) -> String {
    match entry.operation {
        Operation::Create => "created".into(),
        Operation::Rotate => "token rotated".into(),
        _ => match undo::changed(entry) {
            Ok((before, after)) => {
                changes::in_short(&Change::between(&before, &after), context.theme)
            }
            Err(_) => "updated".into(),
        },
    }
}
