//! All messages of this session, newest first, each whole; Enter on one shows the requests and the answers it is about.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{
    View,
    inspector::{copy, no_copy, page::describe},
};
use crate::tui::{
    keymap::{Action, Focus},
    state::{
        context::{Ask, Desk},
        exchanges::Exchange,
        notices::{Message, Severity},
    },
    widgets::{
        boxes::{page as page_box, severity_style},
        scroll::Cursor,
        text_page::Sheet,
    },
};

#[derive(Debug, Default)]
pub struct MessagesPane {
    cursor: Cursor,
    whole: Option<Box<Whole>>,
}

/// One message, and what was sent for it; copies, because both lists forget.
#[derive(Debug)]
struct Whole {
    message: Message,
    /// In the order they went out.
    exchanges: Vec<Exchange>,
    scroll: Cursor,
}

/// Most exchanges shown with one message.
const SHOWN: usize = 10;

impl Whole {
    fn of(message: &Message, desk: &Desk) -> Self {
        let about = message.about.into_iter();
        let exchanges = about.flat_map(|ticket| desk.exchanges.of(ticket));
        let mut exchanges: Vec<Exchange> = exchanges.take(SHOWN).cloned().collect();
        exchanges.reverse();
        Self {
            message: message.clone(),
            exchanges,
            scroll: Cursor::default(),
        }
    }

    fn page(&self, width: u16, desk: &Desk) -> Sheet {
        let mut sheet = Sheet::new(width, desk.theme);
        head(&mut sheet, &self.message, ' ', desk);
        let style = severity_style(self.message.severity, desk.theme);
        sheet.indented(2, &self.message.text, style);
        sheet.blank();
        if self.exchanges.is_empty() {
            sheet.text("No request belongs to it.", desk.theme.dim());
        }
        for (index, exchange) in self.exchanges.iter().enumerate() {
            if index > 0 {
                sheet.blank();
            }
            describe(&mut sheet, exchange, desk.theme);
        }
        sheet
    }
}

fn requests(count: usize) -> String {
    match count {
        1 => "1 request".into(),
        count => format!("{count} requests"),
    }
}

fn head(sheet: &mut Sheet, message: &Message, mark: char, desk: &Desk) {
    let style = severity_style(message.severity, desk.theme);
    let at = message.at.strftime("%H:%M:%S UTC").to_string();
    let ago = format!("  {} ago", desk.age(message.at));
    sheet.pieces(vec![
        (format!("{mark}{} ", message.severity.sign()), style),
        (at, desk.theme.dim()),
        (ago, desk.theme.dim()),
    ]);
}

/// The messages, and the first line and the height of the one of the cursor.
fn page(width: u16, cursor: usize, desk: &Desk) -> (Sheet, usize, usize) {
    let mut sheet = Sheet::new(width, desk.theme);
    let mut place = (0, 0);
    if desk.messages.all().len() == 0 {
        sheet.text("no messages yet", desk.theme.dim());
    }
    for (index, message) in desk.messages.all().enumerate() {
        let begin = sheet.height();
        head(
            &mut sheet,
            message,
            if index == cursor { '>' } else { ' ' },
            desk,
        );
        let style = severity_style(message.severity, desk.theme);
        sheet.indented(2, &message.text, style);
        if index == cursor {
            place = (begin, sheet.height() - begin);
        }
    }
    (sheet, place.0, place.1)
}

impl View for MessagesPane {
    fn focus(&self) -> Focus {
        match self.whole {
            Some(_) => Focus::Message,
            None => Focus::Messages,
        }
    }

    fn title(&self, _desk: &Desk) -> String {
        match self.whole {
            Some(_) => "Message".into(),
            None => "Messages".into(),
        }
    }

    fn status(&self, desk: &Desk) -> String {
        match &self.whole {
            Some(whole) => requests(whole.exchanges.len()),
            None => format!("{} of this session", desk.messages.all().len()),
        }
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        if let Some(whole) = &mut self.whole {
            let rows = desk.size.1.saturating_sub(6);
            let last = whole
                .page(desk.size.0.saturating_sub(4), desk)
                .last_scroll(rows);
            if whole.scroll.act(action, last + 1, usize::from(rows)) {
                return;
            }
            match action {
                Action::CopyMenu => copy(whole.exchanges.last(), desk),
                Action::Back | Action::Messages => self.whole = None,
                _ => {}
            }
            return;
        }
        let rows = desk.messages.all().len();
        if self.cursor.act(action, rows, usize::from(desk.size.1 / 4)) {
            return;
        }
        match action {
            Action::Enter => {
                let message = desk.messages.all().nth(self.cursor.at);
                match message.map(|message| Whole::of(message, desk)) {
                    Some(whole) => self.whole = Some(Box::new(whole)),
                    None => desk.say(Severity::Info, "no message here"),
                }
            }
            Action::Back | Action::Messages => {
                desk.messages.dismiss_all();
                desk.ask(Ask::Pop);
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, _desk: &Desk) -> Option<String> {
        match (action, &self.whole) {
            (Action::CopyMenu, Some(whole)) => no_copy(whole.exchanges.last()),
            (Action::Refresh, _) => Some("nothing to read".into()),
            _ => None,
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        if let Some(whole) = &self.whole {
            let inner = page_box(buffer, area, "Message", desk.theme);
            whole
                .page(inner.width, desk)
                .draw(buffer, inner, whole.scroll.at);
            return None;
        }
        let inner = page_box(buffer, area, "Messages, newest first", desk.theme);
        let (sheet, first, height) = page(inner.width, self.cursor.at, desk);
        // The whole of the message where it fits, with room for the note of how much more there is.
        let rows = usize::from(inner.height).saturating_sub(1).max(1);
        let scroll = (first + height.min(rows)).saturating_sub(rows);
        sheet.draw(buffer, inner, scroll);
        None
    }
}
