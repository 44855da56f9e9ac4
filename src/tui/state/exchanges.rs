//! The last requests of this session and their answers, over all profiles; without secrets, and on no disk.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::message::Ticket;
use crate::operations::{Call, ExchangeKind, Method, RecordedExchange, curl_of};

/// Exchanges that are kept; with their bodies 6.4 MiB at the most.
pub const KEPT: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Counts from 1 and is never given twice.
    pub number: u64,
    /// When it ended.
    pub at: Timestamp,
    pub recorded: RecordedExchange,
}

impl Exchange {
    /// The job it was part of.
    pub fn ticket(&self) -> Ticket {
        Ticket(self.recorded.about)
    }

    /// What it came to, in a word.
    pub fn verdict(&self) -> &'static str {
        match self.recorded.sort {
            ExchangeKind::Done => "done",
            ExchangeKind::SameToken => "same token",
            ExchangeKind::Refused => "refused",
            ExchangeKind::Unclear => "UNCLEAR",
            ExchangeKind::NotSent => "not sent",
            ExchangeKind::Lost => "LOST",
            ExchangeKind::GivenUp => "cancelled",
        }
    }

    /// The request as a command.
    ///
    /// # Errors
    /// Why it cannot be one.
    pub fn curl(&self) -> Result<String, &'static str> {
        let method = match self.recorded.call {
            Call::GetOrCreate | Call::Create => Method::Get,
            Call::Update | Call::Probe => Method::Put,
            Call::Rotate => return Err("a rotation is not copied: its body is a token"),
        };
        let request = &self.recorded.request;
        if request.is_cut {
            return Err("the request is longer than what is kept of it");
        }
        if request.is_masked {
            return Err("something is hidden in it; it would not be the same request");
        }
        let url = &self.recorded.url;
        Ok(curl_of(url, method, self.recorded.proxied, &request.text))
    }
}

#[derive(Debug, Clone, Default)]
pub struct Exchanges {
    /// Newest first.
    all: VecDeque<Exchange>,
    count: u64,
}

impl Exchanges {
    pub fn push(&mut self, at: Timestamp, recorded: RecordedExchange) {
        self.count += 1;
        self.all.truncate(KEPT - 1);
        self.all.push_front(Exchange {
            number: self.count,
            at,
            recorded,
        });
    }

    /// Newest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Exchange> + ExactSizeIterator {
        self.all.iter()
    }

    /// Those of a job, newest first.
    pub fn of(&self, ticket: Ticket) -> impl Iterator<Item = &Exchange> {
        self.all.iter().filter(move |one| one.ticket() == ticket)
    }
}
