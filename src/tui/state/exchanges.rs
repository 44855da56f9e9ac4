//! The last requests of this session and their responses, over all profiles; without secrets, and never on disk.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::Ticket;
use crate::domain::UserGroupId;
use crate::operations::{Call, ExchangeKind, RecordedExchange, curl_of};

/// Maximum number of kept exchanges; with their bodies at most 6.4 MiB.
pub const KEPT: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Counts from 1; never reused.
    pub number: u64,
    /// When it ended; while in flight, when it began.
    pub at: Timestamp,
    pub recorded: RecordedExchange,
}

impl Exchange {
    /// The job it was part of.
    pub fn ticket(&self) -> Ticket {
        Ticket(self.recorded.about)
    }

    /// Its result in one word.
    pub fn verdict(&self) -> &'static str {
        match self.recorded.kind {
            ExchangeKind::InFlight => "running",
            ExchangeKind::Done => "done",
            ExchangeKind::SameToken => "same token",
            ExchangeKind::Refused => "refused",
            ExchangeKind::Unclear => "UNCLEAR",
            ExchangeKind::NotSent => "not sent",
            ExchangeKind::Lost => "no response",
            ExchangeKind::GivenUp => "cancelled",
        }
    }

    /// Status and verdict, for a column.
    pub fn status(&self) -> String {
        match (self.recorded.status, self.recorded.kind) {
            (_, ExchangeKind::InFlight) => "waiting".into(),
            (Some(status), ExchangeKind::Done) => status.to_string(),
            (Some(status), ExchangeKind::Refused) => match reason(status) {
                "" => format!("{status} refused"),
                reason => format!("{status} {reason}"),
            },
            (Some(status), _) => format!("{status} {}", self.verdict()),
            (None, _) => self.verdict().into(),
        }
    }

    /// Whether it did not achieve what it was sent for.
    pub fn is_failed(&self) -> bool {
        !matches!(
            self.recorded.kind,
            ExchangeKind::InFlight | ExchangeKind::Done
        )
    }

    /// The request as a curl command.
    ///
    /// # Errors
    /// The reason why it cannot be written as one.
    pub fn curl(&self) -> Result<String, &'static str> {
        if self.recorded.call == Call::Rotate {
            return Err("a rotation is not copied: its body is a token");
        }
        let request = &self.recorded.request;
        if request.is_cut {
            return Err("only the beginning of the request is kept");
        }
        if request.is_masked {
            return Err("it contains hidden values; the copy would not be the same request");
        }
        let RecordedExchange { call, proxied, .. } = self.recorded;
        Ok(curl_of(&self.recorded.url, call, proxied, &request.text))
    }
}

/// The usual short reason phrase of an HTTP error; empty if there is none.
fn reason(status: u16) -> &'static str {
    match status {
        400 => "bad request",
        401 => "unauthorized",
        403 => "forbidden",
        404 => "not found",
        409 => "conflict",
        422 => "unprocessable",
        429 => "too many",
        500 => "server error",
        502 => "bad gateway",
        503 => "unavailable",
        504 => "timed out",
        _ => "",
    }
}

/// How the last request ended, for line 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastAnswer {
    /// Status and time; for a request that failed its status and verdict.
    pub text: String,
    pub is_failed: bool,
}

impl LastAnswer {
    /// `None` while it is in flight.
    pub fn of(exchange: &Exchange) -> Option<Self> {
        let status = exchange.status();
        let milliseconds = exchange.recorded.duration.as_millis();
        match exchange.recorded.kind {
            ExchangeKind::InFlight => None,
            ExchangeKind::Done => Some(Self {
                text: format!("{status} {milliseconds}ms"),
                is_failed: false,
            }),
            _ => Some(Self {
                text: status,
                is_failed: true,
            }),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Exchanges {
    /// Newest first.
    all: VecDeque<Exchange>,
    /// Newest first.
    in_flight: Vec<Exchange>,
    count: u64,
}

impl Exchanges {
    /// Records an exchange that has started or ended.
    pub fn push(&mut self, at: Timestamp, recorded: RecordedExchange) -> &Exchange {
        let is_same = |begun: &Exchange| begun.recorded.number == recorded.number;
        let begun = self.in_flight.iter().position(is_same);
        let begun = begun.map(|begun| self.in_flight.remove(begun).number);
        let number = begun.unwrap_or_else(|| {
            self.count += 1;
            self.count
        });
        let exchange = Exchange {
            number,
            at,
            recorded,
        };
        if exchange.recorded.kind == ExchangeKind::InFlight {
            self.in_flight.insert(0, exchange);
            &self.in_flight[0]
        } else {
            self.all.truncate(KEPT - 1);
            self.all.push_front(exchange);
            &self.all[0]
        }
    }

    /// Exchanges in flight, newest first.
    pub fn in_flight(&self) -> impl ExactSizeIterator<Item = &Exchange> {
        self.in_flight.iter()
    }

    /// The request of a job for a group, if it is in flight.
    pub fn in_flight_for(&self, ticket: Ticket, id: &UserGroupId) -> Option<&Exchange> {
        let mut all = self.in_flight.iter();
        all.find(|one| one.ticket() == ticket && one.recorded.id.as_deref() == Some(id.as_str()))
    }

    /// Ended exchanges, newest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Exchange> + ExactSizeIterator {
        self.all.iter()
    }

    /// Exchanges of a job, newest first.
    pub fn of(&self, ticket: Ticket) -> impl Iterator<Item = &Exchange> {
        self.all.iter().filter(move |one| one.ticket() == ticket)
    }
}
