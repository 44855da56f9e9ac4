//! All messages of this session, newest first, each whole.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::View;
use crate::tui::{
    desk::{Ask, Desk},
    frame::{page as page_box, severity_style},
    keymap::{Action, Focus},
    scroll::Cursor,
    sheet::Sheet,
};

#[derive(Debug, Default)]
pub struct MessagesPane {
    scroll: Cursor,
}

fn page(width: u16, desk: &Desk) -> Sheet {
    let mut sheet = Sheet::new(width, desk.theme);
    if desk.messages.all().len() == 0 {
        sheet.text("no messages yet", desk.theme.dim());
    }
    for message in desk.messages.all() {
        let when = format!("{} ago", desk.age(message.at));
        sheet.pieces(vec![
            (
                format!("{} ", message.severity.sign()),
                severity_style(message.severity, desk.theme),
            ),
            (when, desk.theme.dim()),
        ]);
        sheet.indented(
            2,
            &message.text,
            severity_style(message.severity, desk.theme),
        );
    }
    sheet
}

impl View for MessagesPane {
    fn focus(&self) -> Focus {
        Focus::Messages
    }

    fn title(&self, _desk: &Desk) -> String {
        "Messages".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        let rows = desk.size.1.saturating_sub(6);
        let last = page(desk.size.0.saturating_sub(2), desk).last_scroll(rows);
        if self.scroll.act(action, last + 1, usize::from(rows)) {
            return;
        }
        if matches!(action, Action::Back | Action::Messages) {
            desk.messages.dismiss_all();
            desk.ask(Ask::Pop);
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let inner = page_box(buffer, area, "Messages, newest first", desk.theme);
        page(inner.width, desk).draw(buffer, inner, self.scroll.at);
        None
    }
}
