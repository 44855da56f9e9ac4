//! The request inspector: the last exchanges of this session over all profiles, one a row; Enter shows one whole. What it
//! shows was freed from secrets before it got here.

pub mod page;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{View, filtered_list::FilteredList};
use crate::{
    operations::ExchangeKind,
    tui::{
        keymap::{Action, Focus},
        state::{context::Context, exchanges::Exchange, notices::Severity},
        theme::Theme,
        widgets::{
            boxes::{page as page_box, page_room},
            columns::{Cell, Column, widest},
            scroll::Cursor,
            text_page::TextPage,
        },
    },
};

#[derive(Debug, Default)]
pub struct Inspector {
    list: FilteredList,
    /// The exchange below the cursor; it stays below it while others come.
    chosen: Option<u64>,
    whole: Option<ShownExchange>,
}

/// One of them; a copy, because the ring forgets.
#[derive(Debug)]
struct ShownExchange {
    exchange: Box<Exchange>,
    scroll: Cursor,
}

impl Inspector {
    fn current<'d>(&'d self, context: &'d Context) -> Option<&'d Exchange> {
        match &self.whole {
            Some(whole) => Some(&whole.exchange),
            None => context.exchanges.all().nth(self.list.cursor.at),
        }
    }

    fn choose(&mut self, context: &Context) {
        let below = context.exchanges.all().nth(self.list.cursor.at);
        self.chosen = below.map(|exchange| exchange.number);
    }
}

fn sheet(exchange: &Exchange, width: u16, theme: Theme) -> TextPage {
    let mut sheet = TextPage::new(width, theme);
    page::describe(&mut sheet, exchange, theme);
    sheet
}

/// Copies a request, or says why not.
pub(super) fn copy(exchange: Option<&Exchange>, context: &mut Context) {
    match exchange.map(Exchange::curl) {
        Some(Ok(curl)) => context.copy("curl command", &curl),
        Some(Err(why)) => context.say(Severity::Warning, format!("Not copied: {why}")),
        None => context.say(Severity::Info, "No request here"),
    }
}

/// Why a request cannot be copied.
pub(super) fn no_copy(exchange: Option<&Exchange>) -> Option<String> {
    match exchange.map(Exchange::curl) {
        Some(Ok(_)) => None,
        Some(Err(why)) => Some(why.into()),
        None => Some("No request here".into()),
    }
}

impl View for Inspector {
    fn focus(&self) -> Focus {
        match self.whole {
            Some(_) => Focus::Request,
            None => Focus::Requests,
        }
    }

    fn title(&self, _context: &Context) -> String {
        match &self.whole {
            Some(whole) => format!("Request {}", whole.exchange.number),
            None => "Requests".into(),
        }
    }

    fn status(&self, context: &Context) -> String {
        match &self.whole {
            Some(whole) => whole.exchange.verdict().into(),
            None => format!("{} of this session", context.exchanges.all().len()),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if let Some(whole) = &mut self.whole {
            let (width, rows) = page_room(context.size);
            let last = sheet(&whole.exchange, width, context.theme).last_scroll(rows);
            if whole.scroll.act(action, last + 1, usize::from(rows)) {
                return;
            }
            match action {
                Action::Back => self.whole = None,
                Action::CopyMenu => copy(Some(&whole.exchange.clone()), context),
                _ => {}
            }
            return;
        }
        let rows = context.exchanges.all().len();
        if self.list.act(action, rows, context) {
            self.choose(context);
            return;
        }
        match action {
            Action::Enter => {
                let exchange = context.exchanges.all().nth(self.list.cursor.at).cloned();
                match exchange {
                    Some(exchange) => {
                        self.chosen = Some(exchange.number);
                        self.whole = Some(ShownExchange {
                            exchange: Box::new(exchange),
                            scroll: Cursor::default(),
                        });
                    }
                    None => context.say(Severity::Info, "Nothing was sent yet"),
                }
            }
            Action::CopyMenu => {
                let exchange = context.exchanges.all().nth(self.list.cursor.at).cloned();
                copy(exchange.as_ref(), context);
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::CopyMenu => no_copy(self.current(context)),
            Action::Refresh => Some("nothing to read".into()),
            _ => None,
        }
    }

    fn sync(&mut self, context: &mut Context) {
        let chosen = self.chosen.filter(|_| self.list.cursor.at > 0);
        let at = chosen.and_then(|number| {
            let mut all = context.exchanges.all();
            all.position(|exchange| exchange.number == number)
        });
        let last = context.exchanges.all().len().saturating_sub(1);
        self.list.cursor.at = at.unwrap_or(self.list.cursor.at.min(last));
        self.choose(context);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        if let Some(whole) = &self.whole {
            let title = format!("Request {}", whole.exchange.number);
            let inner = page_box(buffer, area, &title, context.theme);
            sheet(&whole.exchange, inner.width, context.theme).draw(buffer, inner, whole.scroll.at);
            return None;
        }
        let title = "Requests of this session, newest first";
        let hint = "Nothing was sent yet: opening a group reads it from the service";
        let all: Vec<&Exchange> = context.exchanges.all().collect();
        self.list.draw(
            buffer,
            area,
            (title, hint),
            &all,
            (columns, |exchange, here| cells(exchange, context, here)),
            context.theme,
        );
        None
    }
}

fn columns(window: &[&Exchange]) -> Vec<Column> {
    let ids = window.iter().filter_map(|one| one.recorded.id.as_deref());
    let ids = widest(ids, 40).max(8);
    let profiles = window.iter().map(|one| one.recorded.profile.as_str());
    vec![
        Column::new("TIME UTC", 8, 8, 1),
        Column::new("PROFILE", 7, widest(profiles, 24).max(7), 2),
        Column::new("WHAT", 11, 11, 0),
        Column::new("GROUP", 8, ids, 1).id(),
        Column::new("HTTP", 4, 4, 3).right(),
        Column::new("TOOK", 7, 8, 4).right(),
        Column::new("SIZE", 6, 8, 5).right(),
        Column::new("VERDICT", 8, 10, 0),
    ]
}

fn cells<'a>(exchange: &'a Exchange, context: &Context, here: bool) -> Vec<Cell<'a>> {
    let recorded = &exchange.recorded;
    let verdict = Cell::new(exchange.verdict());
    vec![
        Cell::new(exchange.at.strftime("%H:%M:%S").to_string()),
        Cell::new(recorded.profile.as_str()),
        Cell::new(format!(
            "{} {}",
            recorded.call.method(),
            recorded.call.word()
        )),
        Cell::new(recorded.id.as_deref().unwrap_or("?")),
        Cell::new(
            recorded
                .status
                .map_or_else(|| "-".into(), |status| status.to_string()),
        ),
        Cell::new(format!("{} ms", recorded.duration.as_millis())),
        Cell::new(
            recorded
                .answer
                .as_ref()
                .map_or_else(|| "-".into(), |body| page::size(body.size)),
        ),
        if here {
            verdict
        } else {
            verdict.styled(style(recorded.sort, context.theme))
        },
    ]
}

/// The colour of a verdict.
pub(super) fn style(sort: ExchangeKind, theme: Theme) -> Style {
    match sort {
        ExchangeKind::Done => theme.ok(),
        ExchangeKind::GivenUp => theme.dim(),
        ExchangeKind::SameToken | ExchangeKind::Refused | ExchangeKind::NotSent => theme.error(),
        ExchangeKind::Unclear | ExchangeKind::Lost => theme.unknown(),
    }
}
