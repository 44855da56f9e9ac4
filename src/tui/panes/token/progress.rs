//! The steps of a rotation on its page: what each does, and how far it has come.

use std::time::Duration;

use ratatui::style::Style;

use super::TokenPane;
use crate::{
    operations::{Call, ExchangeKind},
    tui::{
        state::{context::Context, exchanges::Exchange, in_flight::turning},
        widgets::{paint::columns, text_page::TextPage},
    },
};

/// Cells of what a step does, before how far it is.
const WHAT: usize = 34;

/// How far a step has come.
#[derive(Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    /// For so many seconds, of so many at the most.
    Running(&'static str, i64, Duration),
    Done(Duration),
    /// Nobody knows yet what came of it.
    Unknown,
    Failed(&'static str),
}

impl Progress {
    fn of(exchange: Option<&Exchange>, word: &'static str, context: &Context) -> Self {
        let Some(exchange) = exchange else {
            return Self::Waiting;
        };
        let is_rotation = exchange.recorded.call == Call::Rotate;
        match exchange.recorded.sort {
            ExchangeKind::InFlight => {
                let seconds = context.now.duration_since(exchange.at).as_secs().max(0);
                let limit = context.profile().map(|profile| profile.timeout);
                Self::Running(word, seconds, limit.unwrap_or_default())
            }
            ExchangeKind::Done => Self::Done(exchange.recorded.duration),
            ExchangeKind::Unclear | ExchangeKind::Lost if is_rotation => Self::Unknown,
            ExchangeKind::SameToken
            | ExchangeKind::Refused
            | ExchangeKind::Unclear
            | ExchangeKind::NotSent
            | ExchangeKind::Lost
            | ExchangeKind::GivenUp => Self::Failed(exchange.verdict()),
        }
    }

    fn sign(&self, context: &Context) -> (String, Style) {
        let theme = context.theme;
        let (sign, style) = match self {
            Self::Waiting if theme.ascii => ('.', theme.dim()),
            Self::Waiting => ('·', theme.dim()),
            Self::Running(_, seconds, _) => (turning(*seconds), theme.focus()),
            Self::Done(_) => ('+', theme.ok()),
            Self::Unknown => ('?', theme.unknown()),
            Self::Failed(_) => ('x', theme.error()),
        };
        (sign.to_string(), style)
    }

    fn words(&self) -> String {
        match self {
            Self::Waiting => String::new(),
            Self::Running(word, 0, _) => (*word).to_owned(),
            Self::Running(word, seconds, limit) => {
                format!("{word} {seconds}s of {}s", limit.as_secs())
            }
            Self::Done(took) => format!("done {:.1}s", took.as_secs_f64()),
            Self::Unknown => "UNKNOWN".into(),
            Self::Failed(verdict) => (*verdict).to_owned(),
        }
    }
}

/// What the steps are, before any is done: with what each of them means.
pub(super) fn draw_plan(sheet: &mut TextPage, context: &Context) {
    let mut steps = vec![
        "Read the group; stop if anything is unexpected".to_owned(),
        "Send one rotate request; the old token stops working at once".to_owned(),
        "Read the group back to confirm; show the new token, masked".to_owned(),
    ];
    let hands_off_to = context.hands_off_to();
    steps.extend(hands_off_to.map(|command| format!("Hand the new token to {command}")));
    for (at, what) in steps.iter().enumerate() {
        let (sign, style) = Progress::Waiting.sign(context);
        sheet.pieces(vec![
            (sign, style),
            (format!("  {}  {what}", at + 1), Style::new()),
        ]);
    }
    if hands_off_to.is_none() {
        let text = "The new token is not sent anywhere: copy or save it then";
        sheet.indented(6, text, context.theme.dim());
    }
}

impl TokenPane {
    /// How far each step of the rotation on this page is.
    pub(super) fn draw_progress(&self, sheet: &mut TextPage, context: &Context) {
        let Some(ticket) = self.rotation else { return };
        let of_it = |exchange: &&Exchange| exchange.ticket() == ticket;
        let in_flight = context.exchanges.in_flight().filter(of_it);
        let mut all: Vec<&Exchange> = in_flight.chain(context.exchanges.of(ticket)).collect();
        all.sort_by_key(|exchange| exchange.number);
        let sent = all.iter().position(|one| one.recorded.call == Call::Rotate);
        let (before, after) = all.split_at(sent.unwrap_or(all.len()));
        let read = Progress::of(before.last().copied(), "reading", context);
        let send = Progress::of(after.first().copied(), "sending", context);
        let back = after.get(1..).and_then(<[_]>::last).copied();
        let back = Progress::of(back, "reading", context);
        let mut steps = vec![
            ("Read the group".to_owned(), read),
            ("Send one rotate request".to_owned(), send),
            ("Read the group back".to_owned(), back),
        ];
        if let Some(command) = context.hands_off_to() {
            let what = format!("Hand the new token to {command}");
            steps.push((what, Progress::Waiting));
        }
        for (at, (what, progress)) in steps.into_iter().enumerate() {
            let (sign, style) = progress.sign(context);
            let gap = WHAT.saturating_sub(columns(&what)).max(2);
            sheet.pieces(vec![
                (sign, style),
                (format!("  {}  {what}{:gap$}", at + 1, ""), Style::new()),
                (progress.words(), style),
            ]);
        }
    }

    /// The rotate request itself is on its way, or its answer has come.
    pub(super) fn is_sent(&self, context: &Context) -> bool {
        let exchanges = &context.exchanges;
        self.rotation.is_some_and(|ticket| {
            let mut all = exchanges.in_flight().chain(exchanges.of(ticket));
            all.any(|one| one.ticket() == ticket && one.recorded.call == Call::Rotate)
        })
    }
}
