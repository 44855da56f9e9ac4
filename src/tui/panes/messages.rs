//! All messages of this session in full, newest first; Enter shows the requests and responses that a message is about.

use super::inspector::{can_copy, copy};
use super::prelude::*;
use crate::{
    search::{RowFacts, RowTest},
    tui::{
        kit::severity_style,
        page::list_page::{Can, Command, ListPage, Rows, Whole, command},
        state::{Exchange, Notice},
    },
};

#[derive(Debug, Default)]
pub struct Messages {
    errors_only: bool,
}

pub type MessagesPage = ListPage<Messages>;

impl Rows for Messages {
    type Row = Notice;
    type Key = u64;
    const PLACE: Focus = Focus::Messages;
    const ROW: &'static str = "message";
    const TESTS: &'static [RowTest] = &[RowTest::Time];
    const FOLLOWS_FIRST: bool = true;
    const CLOSE: Action = Action::Messages;

    fn all<'a>(&'a self, context: &'a Context) -> Vec<&'a Notice> {
        context.messages.all().collect()
    }

    fn key(row: &Notice) -> u64 {
        row.stable_number()
    }

    fn is_shown(&self, row: &Notice, _context: &Context) -> bool {
        !self.errors_only || row.severity.must_be_read()
    }

    fn facts(row: &Notice) -> RowFacts<'_> {
        RowFacts {
            at: Some(row.at),
            ..RowFacts::default()
        }
    }

    fn more_words(row: &Notice, _context: &Context) -> String {
        row.text.clone()
    }

    fn commands() -> Vec<Command<MessagesPage>> {
        vec![
            command(Action::Enter, MessagesPage::always, |page, context| {
                if let Some(message) = page.selected(context) {
                    let whole = ShownMessage::of(message, context);
                    page.show_whole(whole);
                }
            }),
            command(
                Action::FailedOnly,
                |page, context| {
                    let mut all = context.messages.all();
                    match page.kind.errors_only {
                        true => Ok(Some("all")),
                        false if all.any(|message| message.severity.must_be_read()) => Ok(None),
                        false => Err("no errors".into()),
                    }
                },
                |page, _| page.kind.errors_only = !page.kind.errors_only,
            ),
        ]
    }

    fn status(page: &MessagesPage, context: &Context) -> String {
        let (shown, all) = (page.shown(context).len(), context.messages.all().len());
        let only = if page.kind.errors_only {
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

    fn when_empty(&self, _context: &Context) -> String {
        "No messages yet".into()
    }

    /// As lines of text, because a message is shown in full.
    fn draw_rows(page: &MessagesPage, buffer: &mut Buffer, area: Rect, context: &Context) -> bool {
        let inner = page_box(buffer, area, "Messages, newest first", context.theme);
        let shown = page.shown(context);
        let mut lines = TextPage::new(inner.width, context.theme);
        let (mut first, mut height) = (0, 0);
        for (index, message) in shown.iter().enumerate() {
            let (is_here, begin) = (index == page.at(), lines.height());
            let mark = if is_here { '>' } else { ' ' };
            write(&mut lines, message, mark, context);
            if is_here {
                (first, height) = (begin, lines.height() - begin);
            }
        }
        if shown.is_empty() {
            lines.dim(&page.nothing(context));
        }
        // The whole message if it fits, leaving room for the note about how much more there is.
        let rows = usize::from(inner.height).saturating_sub(1).max(1);
        let scroll = (first + height.min(rows)).saturating_sub(rows);
        lines.draw(buffer, inner, scroll);
        true
    }

    fn left(&mut self, context: &mut Context) {
        context.messages.read_all();
    }
}

/// A message and its requests.
#[derive(Debug)]
struct ShownMessage {
    message: Notice,
    /// In the order in which they were sent.
    exchanges: Vec<Exchange>,
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
}

impl Whole for ShownMessage {
    fn place(&self) -> Focus {
        Focus::Message
    }

    fn title(&self) -> String {
        "Message".into()
    }

    fn status(&self) -> String {
        requests(self.exchanges.len())
    }

    fn write(&self, page: &mut TextPage, context: &Context) {
        write(page, &self.message, ' ', context);
        page.blank();
        if self.exchanges.is_empty() {
            page.dim("No request belongs to this message.");
        }
        for (index, exchange) in self.exchanges.iter().enumerate() {
            if index > 0 {
                page.blank();
            }
            exchange.write(page, context);
        }
    }

    fn copy(&self, context: &mut Context) {
        match self.text_to_copy() {
            Some((what, text)) => context.copy(what, text),
            None => copy(self.exchanges.last(), context),
        }
    }

    fn can_copy(&self) -> Can {
        match self.text_to_copy() {
            Some(("Command", _)) => Ok(Some("copy command")),
            Some(_) => Ok(Some("copy text")),
            None => can_copy(self.exchanges.last()),
        }
    }
}

fn requests(count: usize) -> String {
    counted(count, "request")
}

/// Writes a message in full.
fn write(page: &mut TextPage, message: &Notice, mark: char, context: &Context) {
    let style = severity_style(message.severity, context.theme);
    let at = context.second(message.at);
    let times = match message.times {
        1 => String::new(),
        times => format!("  {times} times"),
    };
    let resolved = message.resolved.map_or_else(String::new, |at| {
        format!("  resolved {}", context.stamp(at))
    });
    page.pieces(vec![
        (format!("{mark}{} ", message.severity.sign()), style),
        (at + &times, context.theme.dim()),
        (resolved, context.theme.ok()),
    ]);
    page.indented(2, &message.text, style);
}
