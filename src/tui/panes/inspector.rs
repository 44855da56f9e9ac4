//! The request inspector: the last exchanges of this session over all profiles, one per row; Enter shows one in full.
//! Secrets were removed before the exchanges got here.

pub mod page;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{View, filtered_list::FilteredList};
use crate::{
    operations::ExchangeKind,
    search::normalize::lowered,
    tui::widgets::text_field::TextField,
    tui::{
        keymap::{Action, Focus},
        state::{
            context::{Context, Navigation},
            exchanges::Exchange,
            in_flight::spinner_frame,
            message::Ticket,
            notices::Severity,
        },
        theme::Theme,
        widgets::{
            boxes::{page as page_box, page_room},
            columns::{Cell, Column, widest},
            scroll::Cursor,
            text_page::TextPage,
        },
    },
};

#[derive(Debug)]
pub struct Inspector {
    list: FilteredList,
    failed_only: bool,
    /// The exchange under the cursor; the cursor stays on it when others arrive.
    chosen: Option<u64>,
    whole: Option<ShownExchange>,
}

/// A single exchange; a copy, because the ring buffer drops old ones.
#[derive(Debug)]
struct ShownExchange {
    exchange: Box<Exchange>,
    scroll: Cursor,
}

impl Default for Inspector {
    fn default() -> Self {
        Self {
            list: FilteredList::with_filter(""),
            failed_only: false,
            chosen: None,
            whole: None,
        }
    }
}

impl Inspector {
    /// The rows that match: exchanges in flight, then those that ended.
    fn shown<'d>(&self, context: &'d Context) -> Vec<&'d Exchange> {
        let words = self.list.words();
        let is_meant = |exchange: &&Exchange| {
            let recorded = &exchange.recorded;
            let id = recorded.id.as_deref().unwrap_or_default();
            let what = (
                &recorded.profile,
                recorded.call.word(),
                id,
                exchange.status(),
            );
            let text = lowered(&format!("{} {} {} {}", what.0, what.1, what.2, what.3));
            (!self.failed_only || exchange.is_failed())
                && words.iter().all(|word| text.contains(word.as_str()))
        };
        let all = context.exchanges.in_flight().chain(context.exchanges.all());
        all.filter(is_meant).collect()
    }

    fn current<'d>(&'d self, context: &'d Context) -> Option<&'d Exchange> {
        match &self.whole {
            Some(whole) => Some(&whole.exchange),
            None => self.shown(context).get(self.list.cursor.at).copied(),
        }
    }

    fn choose(&mut self, context: &Context) {
        let below = self.shown(context).get(self.list.cursor.at).copied();
        self.chosen = below.map(|exchange| exchange.number);
    }

    /// The job of the row, if it is a read in flight.
    fn cancellable(&self, context: &Context) -> Option<Ticket> {
        let exchange = self.current(context)?;
        let is_in_flight = exchange.recorded.kind == ExchangeKind::InFlight;
        let ticket = exchange.ticket();
        (is_in_flight && context.can_cancel(ticket)).then_some(ticket)
    }
}

fn text_page(exchange: &Exchange, width: u16, theme: Theme) -> TextPage {
    let mut page = TextPage::new(width, theme);
    page::describe(&mut page, exchange, theme);
    page
}

/// Copies a request, or says why that is not possible.
pub(super) fn copy(exchange: Option<&Exchange>, context: &mut Context) {
    match exchange.map(Exchange::curl) {
        Some(Ok(curl)) => context.copy("curl command", &curl),
        Some(Err(why)) => context.say(Severity::Warning, format!("Not copied: {why}")),
        None => context.mention("No request here"),
    }
}

/// Why a request cannot be copied.
pub(super) fn why_no_copy(exchange: Option<&Exchange>) -> Option<String> {
    match exchange.map(Exchange::curl) {
        Some(Ok(_)) => None,
        Some(Err(why)) => Some(why.into()),
        None => Some("no request here".into()),
    }
}

impl View for Inspector {
    fn focus(&self) -> Focus {
        match self.whole {
            Some(_) => Focus::Request,
            None => self.list.focus(Focus::Requests),
        }
    }

    fn title(&self, _context: &Context) -> String {
        match &self.whole {
            Some(whole) => format!("Request {}", whole.exchange.number),
            None => "Requests".into(),
        }
    }

    fn status(&self, context: &Context) -> String {
        if let Some(whole) = &self.whole {
            return whole.exchange.verdict().into();
        }
        let in_flight = match context.exchanges.in_flight().len() {
            0 => String::new(),
            count => format!("{count} in flight   "),
        };
        let failed = if self.failed_only {
            "failed only   "
        } else {
            ""
        };
        let ended = context.exchanges.all().len();
        format!("{in_flight}{failed}{ended} this session")
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if let Some(whole) = &mut self.whole {
            let (width, rows) = page_room(context.size);
            let last = text_page(&whole.exchange, width, context.theme).last_scroll(rows);
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
        let rows = self.shown(context).len();
        if self.list.act(action, rows, context) {
            self.choose(context);
            return;
        }
        match action {
            Action::Enter => {
                if let Some(exchange) = self.current(context).cloned() {
                    self.chosen = Some(exchange.number);
                    self.whole = Some(ShownExchange {
                        exchange: Box::new(exchange),
                        scroll: Cursor::default(),
                    });
                }
            }
            Action::CopyMenu => copy(self.current(context).cloned().as_ref(), context),
            Action::Stop => {
                if let Some(ticket) = self.cancellable(context) {
                    context.navigate(Navigation::CancelRead(ticket));
                }
            }
            Action::FailedOnly => {
                self.failed_only = !self.failed_only;
                self.list.cursor.at = 0;
                self.choose(context);
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

    fn paste(&mut self, text: &str, _context: &mut Context) -> bool {
        self.list.paste(text)
    }

    fn hint(&self, action: Action, _context: &Context) -> Option<&'static str> {
        (action == Action::FailedOnly && self.failed_only).then_some("all")
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::CopyMenu => why_no_copy(self.current(context)),
            Action::Enter if !self.list.is_filtering() && self.current(context).is_none() => {
                Some("none here".into())
            }
            Action::FailedOnly if !self.failed_only && context.exchanges.all().len() == 0 => {
                Some("no request has ended".into())
            }
            Action::Refresh => Some("nothing to read".into()),
            Action::Stop if self.cancellable(context).is_none() => Some("nothing to cancel".into()),
            _ => self.list.disabled(action),
        }
    }

    fn sync(&mut self, context: &mut Context) {
        let chosen = self.chosen.filter(|_| self.list.cursor.at > 0);
        let shown = self.shown(context);
        let at = chosen.and_then(|number| shown.iter().position(|one| one.number == number));
        self.list.stay_on(at, shown.len());
        self.choose(context);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        if let Some(whole) = &self.whole {
            let title = format!("Request {}", whole.exchange.number);
            let inner = page_box(buffer, area, &title, context.theme);
            text_page(&whole.exchange, inner.width, context.theme).draw(
                buffer,
                inner,
                whole.scroll.at,
            );
            return None;
        }
        let (area, cursor) = self.list.draw_filter(buffer, area, 0, context.theme);
        let title = "Requests of this session, newest first";
        let hint = match context.exchanges.all().len() {
            0 => "Nothing was sent yet: opening a group reads it from the service",
            _ => "No such request",
        };
        let all = self.shown(context);
        self.list.draw(
            buffer,
            area,
            (title, hint),
            &all,
            (columns, |exchange, here| cells(exchange, context, here)),
            context.theme,
        );
        cursor
    }
}

fn columns(window: &[&Exchange]) -> Vec<Column> {
    let ids = window.iter().filter_map(|one| one.recorded.id.as_deref());
    let ids = widest(ids, 40).max(8);
    let profiles = window.iter().map(|one| one.recorded.profile.as_str());
    vec![
        Column::new("", 1, 1, 0),
        Column::new("TIME UTC", 8, 8, 1),
        Column::new("PROFILE", 7, widest(profiles, 24).max(7), 2),
        Column::new("WHAT", 11, 11, 0),
        Column::new("GROUP", ids, ids, 0).id(),
        Column::new("STATUS", 10, 17, 0),
        Column::new("TOOK", 7, 8, 4).right(),
        Column::new("SIZE", 6, 8, 5).right(),
    ]
}

fn cells<'a>(exchange: &'a Exchange, context: &Context, here: bool) -> Vec<Cell<'a>> {
    let recorded = &exchange.recorded;
    let styled = |text: String| {
        let cell = Cell::new(text);
        if here {
            cell
        } else {
            cell.styled(style(recorded.kind, context.theme))
        }
    };
    vec![
        styled(sign(exchange, context).to_string()),
        Cell::new(exchange.at.strftime("%H:%M:%S").to_string()),
        Cell::new(recorded.profile.as_str()),
        Cell::new(format!(
            "{} {}",
            recorded.call.method(),
            recorded.call.word()
        )),
        Cell::new(recorded.id.as_deref().unwrap_or("?")),
        styled(exchange.status()),
        Cell::new(took(exchange, context)),
        Cell::new(
            recorded
                .answer
                .as_ref()
                .map_or_else(|| "-".into(), |body| page::size(body.size)),
        ),
    ]
}

/// The sign of its state, for terminals without colour.
fn sign(exchange: &Exchange, context: &Context) -> char {
    match exchange.recorded.kind {
        ExchangeKind::InFlight => spinner_frame(context.now.duration_since(exchange.at).as_secs()),
        ExchangeKind::Done => '+',
        ExchangeKind::GivenUp => '-',
        ExchangeKind::SameToken | ExchangeKind::Refused | ExchangeKind::NotSent => 'x',
        ExchangeKind::Unclear | ExchangeKind::Lost => '?',
    }
}

/// How long it took, or has taken so far and its limit.
fn took(exchange: &Exchange, context: &Context) -> String {
    let recorded = &exchange.recorded;
    if recorded.kind != ExchangeKind::InFlight {
        return format!("{}ms", recorded.duration.as_millis());
    }
    let seconds = context.now.duration_since(exchange.at).as_secs();
    let mut profiles = context.profiles.iter();
    match profiles.find(|profile| profile.name == recorded.profile) {
        Some(profile) => format!("{seconds}s/{}s", profile.timeout.as_secs()),
        None => format!("{seconds}s"),
    }
}

/// The colour of a verdict.
pub(super) fn style(kind: ExchangeKind, theme: Theme) -> Style {
    match kind {
        ExchangeKind::InFlight => Style::new(),
        ExchangeKind::Done => theme.ok(),
        ExchangeKind::GivenUp => theme.dim(),
        ExchangeKind::SameToken | ExchangeKind::Refused | ExchangeKind::NotSent => theme.error(),
        ExchangeKind::Unclear | ExchangeKind::Lost => theme.unknown(),
    }
}
