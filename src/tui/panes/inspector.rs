//! The request inspector: the last exchanges of this session over all profiles, one per row; Enter shows one in full.
//! Secrets were removed before the exchanges got here.

use std::borrow::Cow;

use super::prelude::*;
use crate::{
    domain::Operation,
    operations::{Body, Call, ExchangeKind},
    search::{RowFacts, RowTest},
    tui::{
        page::list_page::{Can, Col, Command, ListPage, Rows, Whole, col, command},
        state::{Exchange, activity::spinner_frame},
    },
};

#[derive(Debug, Default)]
pub struct Requests {
    failed_only: bool,
}

pub type RequestsPage = ListPage<Requests>;

impl Rows for Requests {
    type Row = Exchange;
    type Key = u64;
    const PLACE: Focus = Focus::Requests;
    const ROW: &'static str = "request";
    const TESTS: &'static [RowTest] = &[RowTest::Time, RowTest::Operation, RowTest::Group];
    const FOLLOWS_FIRST: bool = true;

    /// Exchanges in flight, then those that ended.
    fn all<'a>(&'a self, context: &'a Context) -> Vec<&'a Exchange> {
        let in_flight = context.exchanges.in_flight();
        in_flight.chain(context.exchanges.all()).collect()
    }

    fn key(row: &Exchange) -> u64 {
        row.number
    }

    fn is_shown(&self, row: &Exchange, _context: &Context) -> bool {
        !self.failed_only || row.is_failed()
    }

    fn profile(row: &Exchange, context: &Context) -> Option<ProfileIndex> {
        let mut profiles = context.profiles.iter();
        let at = profiles.position(|profile| profile.name == row.recorded.profile);
        at.map(ProfileIndex)
    }

    fn facts(row: &Exchange) -> RowFacts<'_> {
        RowFacts {
            at: Some(row.at),
            operation: match row.recorded.call {
                Call::GetOrCreate => Some(Operation::Get),
                Call::Create => Some(Operation::Create),
                Call::Update => Some(Operation::Update),
                Call::Rotate => Some(Operation::Rotate),
                Call::Probe => None,
            },
            ..RowFacts::default()
        }
    }

    fn group(row: &Exchange) -> Option<&str> {
        row.recorded.id.as_deref()
    }

    fn columns(&self) -> Vec<Col<Exchange>> {
        let col = col::<Exchange>;
        vec![
            col("", (1, 1), 0, |row, context| {
                let (sign, style) = sign(row, context);
                Cell::new(sign.to_string()).styled(style)
            }),
            col("TIME", (8, 15), 1, |row, context| {
                Cell::new(context.second(row.at))
            })
            .right(),
            col("PROFILE", (7, 24), 2, |row, _| {
                Cell::new(row.recorded.profile.as_str())
            }),
            col("WHAT", (11, 11), 0, |row, _| {
                let call = row.recorded.call;
                Cell::new(format!("{} {}", call.method(), call.as_str()))
            }),
            col("GROUP", (8, 40), 0, |row, _| {
                Cell::new(row.recorded.id.as_deref().unwrap_or("-"))
            })
            .id(),
            col("STATUS", (10, 17), 0, |row, context| {
                Cell::new(row.status()).styled(sign(row, context).1)
            })
            .spread(),
            col("TOOK", (7, 8), 4, |row, context| {
                Cell::new(took(row, context))
            })
            .spread()
            .right(),
            col("SIZE", (6, 8), 5, |row, _| {
                let answer = row.recorded.answer.as_ref();
                Cell::new(answer.map_or_else(|| "-".into(), |body| size(body.size)))
            })
            .spread()
            .right(),
        ]
    }

    fn commands() -> Vec<Command<RequestsPage>> {
        vec![
            command(Action::Enter, RequestsPage::always, |page, context| {
                if let Some(row) = page.selected(context).cloned() {
                    page.show_whole(row);
                }
            }),
            command(
                Action::Stop,
                |page, context| match cancellable(page, context) {
                    Some(_) => Ok(None),
                    None => Err("nothing to cancel".into()),
                },
                |page, context| {
                    if let Some(ticket) = cancellable(page, context) {
                        context.navigate(Navigation::CancelRead(ticket));
                    }
                },
            ),
            command(
                Action::CopyCurl,
                |page, context| can_copy(page.selected(context)),
                |page, context| copy(page.selected(context).cloned().as_ref(), context),
            ),
            command(
                Action::FailedOnly,
                |page, context| match page.kind.failed_only {
                    false if context.exchanges.all().len() == 0 => {
                        Err("no request has ended".into())
                    }
                    failed_only => Ok(failed_only.then_some("all")),
                },
                |page, _| page.kind.failed_only = !page.kind.failed_only,
            ),
        ]
    }

    fn heading(&self) -> Cow<'static, str> {
        "Requests of this session, newest first".into()
    }

    fn status(page: &RequestsPage, context: &Context) -> String {
        let in_flight = match context.exchanges.in_flight().len() {
            0 => String::new(),
            count => format!("{count} running   "),
        };
        let failed = if page.kind.failed_only {
            "failed only   "
        } else {
            ""
        };
        let ended = context.exchanges.all().len();
        format!("{in_flight}{failed}{ended} this session")
    }

    fn when_empty(&self, _context: &Context) -> String {
        "Nothing has been sent yet: opening a group reads it from the service".into()
    }
}

/// The job of the row, if it is a read in flight.
fn cancellable(page: &RequestsPage, context: &Context) -> Option<Ticket> {
    let exchange = page.selected(context)?;
    let is_in_flight = exchange.recorded.kind == ExchangeKind::InFlight;
    let ticket = exchange.ticket();
    (is_in_flight && context.can_cancel(ticket)).then_some(ticket)
}

impl Whole for Exchange {
    fn place(&self) -> Focus {
        Focus::Request
    }

    fn title(&self) -> String {
        format!("Request {}", self.number)
    }

    fn status(&self) -> String {
        self.verdict().into()
    }

    fn write(&self, page: &mut TextPage, context: &Context) {
        let theme = context.theme;
        let recorded = &self.recorded;
        let group = recorded.id.as_deref().unwrap_or("an unknown group");
        let what = format!(
            "{} {group}, in {}",
            recorded.call.as_str(),
            recorded.profile
        );
        let at = context.whole_time(self.at);
        page.field("request", &what, theme.title(), &at);
        let took = format!("{}ms", recorded.duration.as_millis());
        let verdict = self.verdict();
        page.field("result", verdict, sign(self, context).1, &took);
        if !recorded.words.is_empty() {
            page.plain("", &recorded.words);
        }
        page.blank();
        page.heading(&format!("{} {}", recorded.call.method(), recorded.url));
        page.dim("content-type, accept: application/json");
        body(page, &recorded.request);
        page.blank();
        let Some(status) = recorded.status else {
            page.heading(match recorded.kind {
                ExchangeKind::InFlight => "Waiting for the response",
                _ => "No response",
            });
            return;
        };
        let length = recorded.answer.as_ref().map_or(0, |body| body.size);
        page.heading(&format!("HTTP {status}, {}", size(length)));
        for (name, value) in &recorded.headers {
            page.dim(&format!("{name}: {value}"));
        }
        if let Some(answer) = &recorded.answer {
            body(page, answer);
        }
    }

    fn copy(&self, context: &mut Context) {
        copy(Some(self), context);
    }

    fn can_copy(&self) -> Can {
        can_copy(Some(self))
    }
}

/// Copies a request, or says why that is not possible.
pub(super) fn copy(exchange: Option<&Exchange>, context: &mut Context) {
    match exchange.map(Exchange::curl) {
        Some(Ok(curl)) => context.copy("curl command", &curl),
        Some(Err(why)) => context.say(Severity::Warning, format!("Not copied: {why}")),
        None => context.mention("No request here"),
    }
}

/// Whether a request can be copied.
pub(super) fn can_copy(exchange: Option<&Exchange>) -> Can {
    match exchange.map(Exchange::curl) {
        Some(Ok(_)) => Ok(None),
        Some(Err(why)) => Err(why.into()),
        None => Err("no request here".into()),
    }
}

/// In bytes, KiB or MiB.
fn size(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} K", bytes / 1_024),
        _ => format!("{} M", bytes / 1_048_576),
    }
}

fn body(page: &mut TextPage, body: &Body) {
    if body.size == 0 {
        page.dim("(no body)");
    }
    page.json(body.text.lines().map(|line| (None, line)));
    if body.is_cut {
        let note = format!("(cut: only the beginning of {} is kept)", size(body.size));
        page.warning(&note);
    }
    if body.is_masked {
        let note = "(secrets are hidden; a number after **** distinguishes tokens)";
        page.dim(note);
    }
}

/// The sign of its state, for terminals without colour, and the colour.
fn sign(exchange: &Exchange, context: &Context) -> (char, Style) {
    let theme = context.theme;
    match exchange.recorded.kind {
        ExchangeKind::InFlight => {
            let seconds = context.now.duration_since(exchange.at).as_secs();
            (spinner_frame(seconds), Style::new())
        }
        ExchangeKind::Done => ('+', theme.ok()),
        ExchangeKind::GivenUp => ('-', theme.dim()),
        ExchangeKind::SameToken | ExchangeKind::Refused | ExchangeKind::NotSent => {
            ('x', theme.error())
        }
        ExchangeKind::Unclear | ExchangeKind::Lost => ('?', theme.unknown()),
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
