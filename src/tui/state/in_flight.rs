//! What is in flight: since when, its timeout, and what Esc does about it; as text for line 1 and for the page that
//! waits. Nothing is said about what ends at once; seconds are counted from the first one on.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{
    context::{Context, Running},
    exchanges::LastAnswer,
    message::{Effect, Ticket},
};
use crate::{
    operations::{Call, RecordedExchange},
    tui::kit::boxes::FlightLine,
};

/// Anything that ends sooner than this is not mentioned.
const SHOW_AFTER: SignedDuration = SignedDuration::from_millis(300);
/// From this many seconds on, it is considered long.
const LONG_SECONDS: i64 = 5;
/// The spinner advances once a second.
const SPINNER_FRAMES: [char; 4] = ['/', '-', '\\', '|'];

/// The frame of the spinner after this many seconds.
pub fn spinner_frame(seconds: i64) -> char {
    SPINNER_FRAMES[seconds.rem_euclid(4) as usize]
}

/// A request in flight, or work that is not sending one now.
struct Flight {
    label: String,
    since: Timestamp,
    /// Timeout of the exchange; local work has none.
    limit: Option<Duration>,
}

impl Context {
    /// Everything that is in flight, for line 1.
    pub fn in_flight(&self) -> Option<FlightLine> {
        let all = self.running.iter();
        let all: Vec<Flight> = all
            .flat_map(|(ticket, running)| self.flights(*ticket, running))
            .collect();
        let esc = self.page_waits_for.map_or("", |ticket| self.esc(ticket));
        self.line(&all, esc)
    }

    /// What a page waits for, for its body.
    pub fn waiting(&self, ticket: Option<Ticket>) -> Option<FlightLine> {
        let ticket = ticket?;
        let flights = self.flights(ticket, self.running.get(&ticket)?);
        self.line(&flights, self.esc(ticket))
    }

    /// Records a request that has started or ended, and how the last one to the service of this profile ended.
    pub fn note_exchange(&mut self, recorded: RecordedExchange) {
        let is_here = self
            .profile()
            .is_some_and(|profile| profile.name == recorded.profile);
        let exchange = self.exchanges.push(self.now, recorded);
        if let Some(answer) = LastAnswer::of(exchange).filter(|_| is_here) {
            self.last_answer = Some(answer);
        }
    }

    /// Cancels a change that is not sent yet. The job ends by itself, and says whether that was in time.
    pub fn cancel_change(&mut self, ticket: Ticket) {
        if self.is_unsent_change(ticket)
            && let Some(running) = self.running.get_mut(&ticket)
        {
            running.is_cancelling = true;
            self.effects.push(Effect::CancelChange(ticket));
        }
    }

    /// Whether it is a single change of which nothing was sent yet, as far as seen here.
    pub fn is_unsent_change(&self, ticket: Ticket) -> bool {
        let Some(running) = self.running.get(&ticket) else {
            return false;
        };
        let in_flight = self.exchanges.in_flight();
        let in_flight = in_flight.filter(|one| one.ticket() == ticket);
        let mut requests = in_flight.chain(self.exchanges.of(ticket));
        running.job.change.is_some()
            && !running.is_cancelling
            && requests.all(|one| one.recorded.call == Call::GetOrCreate)
    }

    /// Whether it is a read at the service that the person can see, or a change that is not sent yet: then it can be
    /// cancelled.
    pub fn can_cancel(&self, ticket: Ticket) -> bool {
        let Some(running) = self.running.get(&ticket) else {
            return false;
        };
        let mut requests = self.exchanges.in_flight();
        let asks = running.job.group.is_some() || requests.any(|one| one.ticket() == ticket);
        !running.job.is_write && asks || self.is_unsent_change(ticket)
    }

    /// Whether it has taken long enough to be shown.
    pub fn is_seen_waiting(&self, ticket: Ticket) -> bool {
        self.waiting(Some(ticket)).is_some()
    }

    /// When the text changes without any event.
    pub fn in_flight_due(&self) -> Option<Timestamp> {
        let all = self.running.iter();
        let all = all.flat_map(|(ticket, running)| self.flights(*ticket, running));
        let since: Vec<Timestamp> = all.map(|flight| flight.since).collect();
        let seen = since.iter().map(|since| *since + SHOW_AFTER);
        let seen = seen.filter(|at| *at > self.now).min();
        let longest = since.iter().min()?;
        let seconds = self.now.duration_since(*longest).as_secs().max(0);
        let next = *longest + SignedDuration::from_secs(seconds + 1);
        Some(seen.map_or(next, |seen| seen.min(next)))
    }

    fn flights(&self, ticket: Ticket, running: &Running) -> Vec<Flight> {
        let requests = self.exchanges.in_flight();
        let requests = requests.filter(|one| one.ticket() == ticket);
        let limit = self.profiles.get(running.profile.0);
        let limit = limit.map(|profile| profile.timeout);
        let flights: Vec<Flight> = requests
            .map(|one| Flight {
                label: match (&running.job.group, &one.recorded.id) {
                    (None, Some(id)) => format!("{} {id}", one.recorded.call.word()),
                    _ => running.job.label.clone(),
                },
                since: one.at,
                limit,
            })
            .collect();
        if !flights.is_empty() {
            return flights;
        }
        let local = Flight {
            label: running.job.label.clone(),
            since: running.since,
            limit: None,
        };
        vec![local]
    }

    fn esc(&self, ticket: Ticket) -> &'static str {
        let is_write = |running: &Running| running.job.is_write && running.job.group.is_some();
        let is_cancelling = |running: &Running| running.is_cancelling;
        if self.is_unsent_change(ticket) {
            "Esc cancels, nothing is sent yet"
        } else if self.running.get(&ticket).is_some_and(is_cancelling) {
            "being cancelled"
        } else if self.can_cancel(ticket) {
            "Esc cancels"
        } else if self.running.get(&ticket).is_some_and(is_write) {
            "Esc leaves, the request continues"
        } else {
            ""
        }
    }

    fn line(&self, flights: &[Flight], esc: &'static str) -> Option<FlightLine> {
        let age = |flight: &Flight| self.now.duration_since(flight.since);
        let seen: Vec<&Flight> = flights
            .iter()
            .filter(|flight| age(flight) >= SHOW_AFTER)
            .collect();
        let longest = seen.iter().min_by_key(|flight| flight.since)?;
        let seconds = age(longest).as_secs();
        let sign = spinner_frame(seconds);
        let is_long = seconds >= LONG_SECONDS;
        let time = match (seconds, longest.limit) {
            (0, _) => String::new(),
            (LONG_SECONDS.., Some(limit)) => format!(" {seconds}s of {}s", limit.as_secs()),
            (60.., None) => format!(" {}m {}s", seconds / 60, seconds % 60),
            _ => format!(" {seconds}s"),
        };
        let text = match (seen.len(), time.as_str()) {
            (1, time) => format!("{sign} {}{time}", longest.label),
            (count, "") => format!("{sign} {count} running"),
            (count, _) => format!("{sign} {count} running, longest {seconds}s"),
        };
        Some(FlightLine { text, esc, is_long })
    }
}
