//! What others are doing to the groups of the current place: changing them right now, or writing a draft.
//!
//! What is in flight: since when, its timeout, and what Esc does about it; as text for line 1 and for the page that
//! waits. Nothing is said about what ends at once; seconds are counted from the first one on.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{
    Context, DraftOrigin, Effect, Running, Ticket, UnsentDraft, drafts::Key, exchanges::LastAnswer,
    live::Busy,
};

use crate::{
    domain::{
        ItemStatus, UserGroupId,
        active_change::ActiveChange,
        text::{is_same_person, person},
        visible,
    },
    operations::{Call, RecordedExchange, batch::RunCommand},
    tui::{kit::FlightLine, state::BatchRun},
};

/// Until this age, the age of somebody's draft is shown and updated; after that, the time of its last change.
const FRESH: SignedDuration = SignedDuration::from_hours(1);
const MINUTE: i64 = 60;

/// What somebody else does: "rotating: ben@bastion1, 12s", and a shorter form for little room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherActivity {
    what: &'static str,
    by: String,
    when: String,
    /// As opposed to a draft that was left.
    pub is_now: bool,
}

impl OtherActivity {
    /// The text in at most `room` cells; `None` if even the short form does not fit.
    pub fn in_cells(&self, room: usize, columns: impl Fn(&str) -> usize) -> Option<String> {
        let Self { what, by, when, .. } = self;
        let person = person(by);
        let forms = [
            format!("{what}: {by}, {when}"),
            format!("{what}: {person}, {when}"),
            format!("{what}: {person}"),
        ];
        forms.into_iter().find(|form| columns(form) <= room)
    }

    pub fn in_words(&self) -> String {
        format!("{}: {}, {}", self.what, self.by, self.when)
    }
}

impl Context {
    /// Sets who is changing which group; replaces the previous list.
    pub fn note_at_work(&mut self, all: &[ActiveChange]) {
        let now = self.now;
        // What is done in this console is shown by its own page.
        let others = all.iter().filter(|one| !self.is_changed_here(&one.id));
        let busy = others.map(|one| {
            let busy = Busy {
                kind: one.kind,
                by: one.by.clone(),
                since: now - one.age,
                until: now + one.left,
            };
            (one.id.clone(), busy)
        });
        self.live.at_work = busy.collect();
    }

    /// The process of somebody else that is changing the group.
    fn busy(&self, id: &UserGroupId) -> Option<&Busy> {
        let busy = self.live.at_work.get(id)?;
        (busy.until > self.now).then_some(busy)
    }

    /// Whether a job of this console is changing the group.
    fn is_changed_here(&self, id: &UserGroupId) -> bool {
        let mut running = self.running.values();
        let is_own = running.any(|running| {
            running.job.is_write
                && running.profile == self.current
                && running.job.group.as_ref() == Some(id)
        });
        let is_at_it = |run: &BatchRun| {
            let mut rows = run.rows.iter();
            rows.any(|row| row.id == *id && row.status == ItemStatus::UnderWay)
        };
        let bulk = self.running_batch();
        is_own || bulk.is_some_and(is_at_it)
    }

    /// What somebody else is doing to a group, or has drafted for it.
    pub fn doing(&self, id: &UserGroupId) -> Option<OtherActivity> {
        if let Some(busy) = self.busy(id) {
            return Some(OtherActivity {
                what: busy.kind.as_str(),
                by: visible(&busy.by).into_owned(),
                when: self.age(busy.since),
                is_now: true,
            });
        }
        let (by, at) = self.draft_of_others(id)?;
        let is_fresh = self.now.duration_since(at) < FRESH;
        Some(OtherActivity {
            what: "draft",
            by: visible(by).into_owned(),
            when: if is_fresh {
                self.age(at)
            } else {
                self.when(at)
            },
            is_now: false,
        })
    }

    /// Who else wrote a draft for the group, and when it was last changed.
    fn draft_of_others(&self, id: &UserGroupId) -> Option<(&str, Timestamp)> {
        if self.drafts.is_empty() {
            return None;
        }
        let key = (self.current, id.clone());
        let mut others = self.drafts.others(&key).iter();
        if let Some(other) = others.find(|other| self.is_other_person(&other.by)) {
            return Some((&other.by, other.draft.changed_at));
        }
        let unsent = self.drafts.get(&key)?;
        let by = match &unsent.from {
            DraftOrigin::Here => return None,
            // From an earlier console of the same person.
            DraftOrigin::Before { by } if *by == self.operator => return None,
            DraftOrigin::Before { by } | DraftOrigin::Elsewhere { by } => by,
        };
        Some((by, unsent.draft.changed_at))
    }

    /// Removes one's own draft of a group, because it was sent, discarded, or edited back to the original.
    pub fn remove_draft(&mut self, key: &Key) {
        let is_own = |by: &str| is_same_person(by, &self.operator);
        self.drafts.remove(key, is_own);
    }

    /// Whether you have a draft of the group in this profile that the form would open.
    pub fn has_own_draft(&self, id: &UserGroupId) -> bool {
        let draft = self.drafts.get(&(self.current, id.clone()));
        draft.is_some_and(|unsent| unsent.is_own)
    }

    /// Whether this author has a draft of a group of this profile.
    pub fn has_draft(&self, id: &UserGroupId, by: &str) -> bool {
        let key = (self.current, id.clone());
        let is_shown = self.drafts.get(&key).is_some_and(|unsent| unsent.is_own);
        let mut others = self.drafts.others(&key).iter();
        if self.is_other_person(by) {
            others.any(|other| other.by == by)
        } else {
            is_shown || others.any(|other| !self.is_other_person(&other.by))
        }
    }

    /// Whether somebody else has this name, whichever machine it names.
    pub fn is_other_person(&self, by: &str) -> bool {
        !is_same_person(by, &self.operator)
    }

    /// The other person whose draft this is, whichever console it was typed in.
    pub fn other_author<'a>(&self, unsent: &'a UnsentDraft) -> Option<&'a str> {
        match &unsent.from {
            DraftOrigin::Here => None,
            DraftOrigin::Before { by } | DraftOrigin::Elsewhere { by } => {
                self.is_other_person(by).then_some(by)
            }
        }
    }

    /// Whether somebody else is changing a group, or has drafted something for one.
    pub fn others_do_something(&self) -> bool {
        !self.live.at_work.is_empty() || !self.drafts.is_empty()
    }

    /// When the text about others changes without any event.
    pub fn others_due(&self) -> Option<Timestamp> {
        let ids = self.live.at_work.keys();
        let busy = ids.filter_map(|id| self.busy(id));
        let next_second = busy.map(|_| self.now + SignedDuration::from_secs(1)).next();
        let drafts = self.drafts.of(self.current).into_iter();
        let others = drafts.filter_map(|unsent| self.draft_of_others(&unsent.draft.user_group_id));
        let next_minute = others.filter_map(|(_, at)| {
            let age = self.now.duration_since(at);
            let step = if age.as_secs() < MINUTE { 1 } else { MINUTE };
            let next = (age.as_secs() / step + 1) * step;
            (age < FRESH).then(|| at + SignedDuration::from_secs(next))
        });
        next_minute.chain(next_second).min()
    }
}

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
struct Flight<'a> {
    label: String,
    /// Its profile, if that is not the current one.
    elsewhere: Option<&'a str>,
    since: Timestamp,
    /// Timeout of the exchange; local work has none.
    limit: Option<Duration>,
    is_paused: bool,
}

impl Flight<'_> {
    /// Shown before the label: the work of another profile must not look like work of this one.
    fn place(&self) -> String {
        let name = self.elsewhere;
        name.map_or_else(String::new, |name| format!("{name}: "))
    }
}

impl Context {
    /// Everything that is in flight, for line 1.
    pub fn in_flight(&self) -> Option<FlightLine> {
        let all = self.running.iter();
        let all: Vec<Flight<'_>> = all
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
        let all: Vec<Flight<'_>> = all.collect();
        let seen = all.iter().map(|flight| flight.since + SHOW_AFTER);
        let seen = seen.filter(|at| *at > self.now).min();
        let counting = all.iter().filter(|flight| !flight.is_paused);
        let longest = counting.map(|flight| flight.since).min();
        let next = longest.map(|longest| {
            let seconds = self.now.duration_since(longest).as_secs().max(0);
            longest + SignedDuration::from_secs(seconds + 1)
        });
        seen.into_iter().chain(next).min()
    }

    /// Whether it is a batch that starts no further group until it is resumed here.
    fn is_paused_batch(&self, ticket: Ticket) -> bool {
        let run = self.running_batch().filter(|run| run.ticket == ticket);
        run.is_some_and(|run| run.command == RunCommand::Pause)
    }

    fn flights(&self, ticket: Ticket, running: &Running) -> Vec<Flight<'_>> {
        let requests = self.exchanges.in_flight();
        let requests = requests.filter(|one| one.ticket() == ticket);
        let profile = self.profiles.get(running.profile.0);
        let limit = profile.map(|profile| profile.timeout);
        let other = profile.filter(|_| running.profile != self.current);
        let elsewhere = other.map(|profile| profile.name.as_str());
        let flights: Vec<Flight<'_>> = requests
            .map(|one| Flight {
                label: match (&running.job.group, &one.recorded.id) {
                    (None, Some(id)) => format!("{} {id}", one.recorded.call.as_str()),
                    _ => running.job.label.clone(),
                },
                elsewhere,
                since: one.at,
                limit,
                is_paused: false,
            })
            .collect();
        if !flights.is_empty() {
            return flights;
        }
        let local = Flight {
            label: running.job.label.clone(),
            elsewhere,
            since: running.since,
            limit: None,
            is_paused: self.is_paused_batch(ticket),
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

    fn line(&self, flights: &[Flight<'_>], esc: &'static str) -> Option<FlightLine> {
        let age = |flight: &Flight<'_>| self.now.duration_since(flight.since);
        let (paused, seen): (Vec<_>, Vec<_>) = flights
            .iter()
            .filter(|flight| age(flight) >= SHOW_AFTER)
            .partition(|flight| flight.is_paused);
        let Some(longest) = seen.iter().min_by_key(|flight| flight.since) else {
            // It does nothing now: no turning sign, no seconds, and other work is shown instead.
            let paused = paused.first()?;
            return Some(FlightLine {
                text: format!("{}{} paused", paused.place(), paused.label),
                esc,
                is_long: false,
            });
        };
        let is_same_place = seen.iter().all(|one| one.elsewhere == longest.elsewhere);
        let place = if is_same_place {
            longest.place()
        } else {
            String::new()
        };
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
            (1, time) => format!("{sign} {place}{}{time}", longest.label),
            (count, "") => format!("{sign} {place}{count} running"),
            (count, _) => format!("{sign} {place}{count} running, longest {seconds}s"),
        };
        Some(FlightLine { text, esc, is_long })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_little_room_the_machine_goes_first_and_then_the_time() {
        let doing = OtherActivity {
            what: "rotating",
            by: "ben@bastion1".into(),
            when: "12s".into(),
            is_now: true,
        };
        let in_cells = |room| doing.in_cells(room, str::len);
        assert_eq!(in_cells(27).as_deref(), Some("rotating: ben@bastion1, 12s"));
        assert_eq!(in_cells(26).as_deref(), Some("rotating: ben, 12s"));
        assert_eq!(in_cells(17).as_deref(), Some("rotating: ben"));
        assert_eq!(in_cells(12), None, "no half word");
    }
}
