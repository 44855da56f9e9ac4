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
        context::{Context, Navigation},
        exchanges::Exchange,
        notices::{Notice, Severity},
    },
    widgets::{
        boxes::{page as page_box, page_room, severity_style},
        scroll::Cursor,
        text_page::TextPage,
    },
};

#[derive(Debug, Default)]
pub struct MessagesPane {
    cursor: Cursor,
    whole: Option<Box<ShownMessage>>,
}

/// One message, and what was sent for it; copies, because both lists forget.
#[derive(Debug)]
struct ShownMessage {
    message: Notice,
    /// In the order they went out.
    exchanges: Vec<Exchange>,
    scroll: Cursor,
}

/// Most exchanges shown with one message.
const SHOWN: usize = 10;

impl ShownMessage {
    fn of(message: &Notice, context: &Context) -> Self {
        let about = message.about.into_iter();
        let exchanges = about.flat_map(|ticket| context.exchanges.of(ticket));
        let mut exchanges: Vec<Exchange> = exchanges.take(SHOWN).cloned().collect();
        exchanges.reverse();
        Self {
            message: message.clone(),
            exchanges,
            scroll: Cursor::default(),
        }
    }

    fn page(&self, width: u16, context: &Context) -> TextPage {
        let mut sheet = TextPage::new(width, context.theme);
        head(&mut sheet, &self.message, ' ', context);
        let style = severity_style(self.message.severity, context.theme);
        sheet.indented(2, &self.message.text, style);
        sheet.blank();
        if self.exchanges.is_empty() {
            sheet.text("No request belongs to it.", context.theme.dim());
        }
        for (index, exchange) in self.exchanges.iter().enumerate() {
            if index > 0 {
                sheet.blank();
            }
            describe(&mut sheet, exchange, context.theme);
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

fn head(sheet: &mut TextPage, message: &Notice, mark: char, context: &Context) {
    let style = severity_style(message.severity, context.theme);
    let at = message.at.strftime("%H:%M:%S UTC").to_string();
    let ago = format!("  {} ago", context.age(message.at));
    sheet.pieces(vec![
        (format!("{mark}{} ", message.severity.sign()), style),
        (at, context.theme.dim()),
        (ago, context.theme.dim()),
    ]);
}

/// The messages, and the first line and the height of the one of the cursor.
fn page(width: u16, cursor: usize, context: &Context) -> (TextPage, usize, usize) {
    let mut sheet = TextPage::new(width, context.theme);
    let mut place = (0, 0);
    if context.messages.all().len() == 0 {
        sheet.text("No messages yet", context.theme.dim());
    }
    for (index, message) in context.messages.all().enumerate() {
        let begin = sheet.height();
        head(
            &mut sheet,
            message,
            if index == cursor { '>' } else { ' ' },
            context,
        );
        let style = severity_style(message.severity, context.theme);
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

    fn title(&self, _context: &Context) -> String {
        match self.whole {
            Some(_) => "Message".into(),
            None => "Messages".into(),
        }
    }

    fn status(&self, context: &Context) -> String {
        match &self.whole {
            Some(whole) => requests(whole.exchanges.len()),
            None => format!("{} of this session", context.messages.all().len()),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if let Some(whole) = &mut self.whole {
            let (width, rows) = page_room(context.size);
            let last = whole.page(width, context).last_scroll(rows);
            if whole.scroll.act(action, last + 1, usize::from(rows)) {
                return;
            }
            match action {
                Action::CopyMenu => copy(whole.exchanges.last(), context),
                Action::Back | Action::Messages => self.whole = None,
                _ => {}
            }
            return;
        }
        let rows = context.messages.all().len();
        if self
            .cursor
            .act(action, rows, usize::from(context.size.1 / 4))
        {
            return;
        }
        match action {
            Action::Enter => {
                let message = context.messages.all().nth(self.cursor.at);
                match message.map(|message| ShownMessage::of(message, context)) {
                    Some(whole) => self.whole = Some(Box::new(whole)),
                    None => context.say(Severity::Info, "No message here"),
                }
            }
            Action::Back | Action::Messages => {
                context.messages.dismiss_all();
                context.navigate(Navigation::Pop);
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, _context: &Context) -> Option<String> {
        match (action, &self.whole) {
            (Action::CopyMenu, Some(whole)) => no_copy(whole.exchanges.last()),
            (Action::Refresh, _) => Some("nothing to read".into()),
            _ => None,
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        if let Some(whole) = &self.whole {
            let inner = page_box(buffer, area, "Message", context.theme);
            whole
                .page(inner.width, context)
                .draw(buffer, inner, whole.scroll.at);
            return None;
        }
        let inner = page_box(buffer, area, "Messages, newest first", context.theme);
        let (sheet, first, height) = page(inner.width, self.cursor.at, context);
        // The whole of the message where it fits, with room for the note of how much more there is.
        let rows = usize::from(inner.height).saturating_sub(1).max(1);
        let scroll = (first + height.min(rows)).saturating_sub(rows);
        sheet.draw(buffer, inner, scroll);
        None
    }
}
