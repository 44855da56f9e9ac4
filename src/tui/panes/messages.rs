//! All messages of this session in full, newest first; Enter shows the requests and responses that a message is about.

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{
    View,
    filtered_list::FilteredList,
    inspector::{copy, page::describe, why_no_copy},
};
use crate::{
    search::normalize::lowered,
    tui::widgets::text_field::TextField,
    tui::{
        keymap::{Action, Focus},
        state::{
            context::{Context, Navigation},
            exchanges::Exchange,
            notices::Notice,
        },
        widgets::{
            boxes::{page as page_box, page_room, severity_style},
            scroll::Cursor,
            text_page::TextPage,
        },
    },
};

#[derive(Debug)]
pub struct MessagesPane {
    list: FilteredList,
    errors_only: bool,
    /// The message under the cursor; the cursor stays on it when others arrive.
    chosen: Option<u64>,
    whole: Option<Box<ShownMessage>>,
}

/// A message and its requests; copies, because both buffers drop old entries.
#[derive(Debug)]
struct ShownMessage {
    message: Notice,
    /// In the order in which they were sent.
    exchanges: Vec<Exchange>,
    scroll: Cursor,
}

impl Default for MessagesPane {
    fn default() -> Self {
        Self {
            list: FilteredList::with_filter(""),
            errors_only: false,
            chosen: None,
            whole: None,
        }
    }
}

impl MessagesPane {
    /// The messages that match, newest first.
    fn shown<'c>(&self, context: &'c Context) -> Vec<&'c Notice> {
        let words = self.list.words();
        let is_meant = |message: &&Notice| {
            let text = lowered(&message.text);
            (!self.errors_only || message.severity.must_be_read())
                && words.iter().all(|word| text.contains(word.as_str()))
        };
        context.messages.all().filter(is_meant).collect()
    }

    fn choose(&mut self, context: &Context) {
        let below = self.shown(context).get(self.list.cursor.at).copied();
        self.chosen = below.map(Notice::stable_number);
    }
}

/// Maximum number of exchanges shown with one message.
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

    /// For a message without requests: the command that it names, otherwise its text, and what to call it. Other text
    /// in backticks may have been written by a service.
    fn text_to_copy(&self) -> Option<(&'static str, &str)> {
        if !self.exchanges.is_empty() {
            return None;
        }
        let text = self.message.text.as_str();
        let mut parts = text.split('`');
        let command = parts.nth(1).filter(|_| parts.next().is_some());
        let command = command.filter(|command| {
            let is_ours = command.starts_with("groupdesk ") || command.starts_with("export ");
            is_ours && !command.contains(char::is_control)
        });
        Some(command.map_or(("Message", text), |command| ("Command", command)))
    }

    fn page(&self, width: u16, context: &Context) -> TextPage {
        let mut page = TextPage::new(width, context.theme);
        head(&mut page, &self.message, ' ', context);
        let style = severity_style(self.message.severity, context.theme);
        page.indented(2, &self.message.text, style);
        page.blank();
        if self.exchanges.is_empty() {
            page.text("No request belongs to it.", context.theme.dim());
        }
        for (index, exchange) in self.exchanges.iter().enumerate() {
            if index > 0 {
                page.blank();
            }
            describe(&mut page, exchange, context.theme);
        }
        page
    }
}

fn requests(count: usize) -> String {
    match count {
        1 => "1 request".into(),
        count => format!("{count} requests"),
    }
}

fn head(page: &mut TextPage, message: &Notice, mark: char, context: &Context) {
    let style = severity_style(message.severity, context.theme);
    let at = message.at.strftime("%H:%M:%S UTC").to_string();
    let times = match message.times {
        1 => String::new(),
        times => format!("  {times} times"),
    };
    let resolved = message.resolved.map_or_else(String::new, |at| {
        format!("  resolved {}", at.strftime("%H:%M"))
    });
    page.pieces(vec![
        (format!("{mark}{} ", message.severity.sign()), style),
        (at + &times, context.theme.dim()),
        (resolved, context.theme.ok()),
    ]);
}

/// The page of messages, with first line and height of the one under the cursor.
fn page(
    messages: &[&Notice],
    width: u16,
    cursor: usize,
    context: &Context,
) -> (TextPage, usize, usize) {
    let mut page = TextPage::new(width, context.theme);
    let mut place = (0, 0);
    if messages.is_empty() {
        let text = match context.messages.all().len() {
            0 => "No messages yet",
            _ => "No such message",
        };
        page.text(text, context.theme.dim());
    }
    for (index, message) in messages.iter().enumerate() {
        let begin = page.height();
        head(
            &mut page,
            message,
            if index == cursor { '>' } else { ' ' },
            context,
        );
        let style = severity_style(message.severity, context.theme);
        page.indented(2, &message.text, style);
        if index == cursor {
            place = (begin, page.height() - begin);
        }
    }
    (page, place.0, place.1)
}

impl View for MessagesPane {
    fn focus(&self) -> Focus {
        match self.whole {
            Some(_) => Focus::Message,
            None => self.list.focus(Focus::Messages),
        }
    }

    fn title(&self, _context: &Context) -> String {
        match self.whole {
            Some(_) => "Message".into(),
            None => "Messages".into(),
        }
    }

    fn status(&self, context: &Context) -> String {
        if let Some(whole) = &self.whole {
            return requests(whole.exchanges.len());
        }
        let (shown, all) = (self.shown(context).len(), context.messages.all().len());
        let only = if self.errors_only {
            "errors only   "
        } else {
            ""
        };
        if shown == all {
            format!("{only}{all} of this session")
        } else {
            format!("{only}{shown} of {all}")
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
                Action::CopyMenu => match whole.text_to_copy() {
                    Some((what, text)) => context.copy(what, text),
                    None => copy(whole.exchanges.last(), context),
                },
                Action::Back | Action::Messages => self.whole = None,
                _ => {}
            }
            return;
        }
        let rows = self.shown(context).len();
        if action == Action::Back {
            context.messages.read_all();
        }
        if self.list.act(action, rows, context) {
            self.choose(context);
            return;
        }
        match action {
            Action::Enter => {
                let shown = self.shown(context);
                let message = shown.get(self.list.cursor.at);
                let whole = message.map(|message| ShownMessage::of(message, context));
                self.whole = whole.map(Box::new);
            }
            Action::FailedOnly => {
                self.errors_only = !self.errors_only;
            }
            Action::Messages => {
                context.messages.read_all();
                context.navigate(Navigation::Pop);
            }
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.list.field()
    }

    fn input(&mut self, key: KeyEvent, context: &mut Context) {
        if self.list.key(key) {
            self.list.cursor.at = 0;
            self.choose(context);
        }
    }

    fn sync(&mut self, context: &mut Context) {
        // If the person has not moved the cursor, it stays on the newest message.
        let chosen = self.chosen.filter(|_| self.list.cursor.at > 0);
        let shown = self.shown(context);
        let at = chosen.and_then(|number| {
            let mut shown = shown.iter();
            shown.position(|one| one.stable_number() == number)
        });
        self.list.stay_on(at, shown.len());
        self.choose(context);
    }

    fn paste(&mut self, text: &str, _context: &mut Context) -> bool {
        self.list.paste(text)
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match (action, &self.whole) {
            (Action::CopyMenu, Some(whole)) if whole.text_to_copy().is_none() => {
                why_no_copy(whole.exchanges.last())
            }
            (Action::Refresh, _) => Some("nothing to read".into()),
            (Action::Enter, None)
                if self.shown(context).is_empty() && !self.list.is_filtering() =>
            {
                Some("none here".into())
            }
            (Action::FailedOnly, None) if !self.errors_only => {
                let mut all = context.messages.all();
                let is_any = all.any(|message| message.severity.must_be_read());
                (!is_any).then(|| "none is an error".into())
            }
            _ => self.list.disabled(action),
        }
    }

    fn hint(&self, action: Action, _context: &Context) -> Option<&'static str> {
        if action == Action::FailedOnly && self.errors_only {
            return Some("all");
        }
        let whole = self.whole.as_ref().filter(|_| action == Action::CopyMenu)?;
        whole.text_to_copy().map(|(what, _)| match what {
            "Command" => "copy command",
            _ => "copy text",
        })
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        if let Some(whole) = &self.whole {
            let inner = page_box(buffer, area, "Message", context.theme);
            whole
                .page(inner.width, context)
                .draw(buffer, inner, whole.scroll.at);
            return None;
        }
        let (area, cursor) = self.list.draw_filter(buffer, area, 0, context.theme);
        let inner = page_box(buffer, area, "Messages, newest first", context.theme);
        let shown = self.shown(context);
        let at = self.list.cursor.at;
        let (page, first, height) = page(&shown, inner.width, at, context);
        // The whole message if it fits, leaving room for the note about how much more there is.
        let rows = usize::from(inner.height).saturating_sub(1).max(1);
        let scroll = (first + height.min(rows)).saturating_sub(rows);
        page.draw(buffer, inner, scroll);
        cursor
    }
}
