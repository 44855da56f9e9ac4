//! All rotations of the profile, the open ones first. `r` settles those by reading their groups; abandoning one asks
//! for a reason. Nothing is rotated from here.

mod view;

use std::time::Duration;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::View;
use crate::{
    domain::rotation::Event,
    operations::{Guarded, JournalRow},
    tui::{
        keymap::{Action, Focus},
        state::{
            context::{Ask, Desk},
            message::{Job, Outcome, Ticket},
            navigation::Opening,
            notices::Severity,
        },
        widgets::{scroll::Cursor, text_field::TextField},
    },
};

/// Longest reason, in characters.
const LONGEST_REASON: usize = 200;

#[derive(Debug)]
pub struct Rotations {
    rows: Vec<JournalRow>,
    reading: Option<Ticket>,
    settling: Option<Ticket>,
    abandoning: Option<Abandoning>,
    cursor: Cursor,
}

/// The dialog that asks why.
#[derive(Debug)]
struct Abandoning {
    row: JournalRow,
    reason: TextField,
    ticket: Option<Ticket>,
}

impl Rotations {
    /// Reads the journal.
    pub fn open(desk: &mut Desk) -> Self {
        Self {
            rows: Vec::new(),
            reading: Some(desk.start(Job::Rotations)),
            settling: None,
            abandoning: None,
            cursor: Cursor::default(),
        }
    }

    /// Something was settled: reads the journal again.
    pub fn read_again(&mut self, desk: &mut Desk) {
        if let Some(ticket) = self.reading {
            desk.cancel(ticket);
        }
        self.reading = Some(desk.start(Job::Rotations));
    }

    fn open_ones(&self) -> usize {
        let states = self.rows.iter().map(|row| row.rotation.state);
        states.filter(|state| state.is_open()).count()
    }

    fn here(&self) -> Option<&JournalRow> {
        self.rows.get(self.cursor.at)
    }

    /// The cursor stays on its rotation.
    fn take(&mut self, rows: &[JournalRow]) {
        let on = self.here().map(|row| row.id);
        self.rows = rows.to_vec();
        self.rows.sort_by_key(|row| !row.rotation.state.is_open());
        let found = self.rows.iter().position(|row| Some(row.id) == on);
        let last = self.rows.len().saturating_sub(1);
        self.cursor.at = found.unwrap_or(self.cursor.at).min(last);
    }

    fn abandon(&mut self, desk: &mut Desk) {
        let Some(asking) = &mut self.abandoning else {
            return;
        };
        let reason = asking.reason.text().trim();
        if reason.is_empty() {
            asking.reason.error = Some("a reason is needed: it stands in the history".into());
        } else if asking.ticket.is_none() {
            let job = Job::Abandon(asking.row.id, reason.to_owned());
            asking.ticket = Some(desk.start(job));
        }
    }

    fn open_group(&self, desk: &mut Desk) {
        match self.here().map(|row| row.user_group_id.clone()) {
            Some(id) if desk.groups.contains(&id) => {
                desk.ask(Ask::Push(Opening::Group(id)));
            }
            Some(id) => desk.say(
                Severity::Info,
                format!("\"{id}\" is not in the directory: reading it could create it"),
            ),
            None => desk.say(Severity::Info, "no rotation here"),
        }
    }
}

/// The same as the state machine says.
fn can_be_abandoned(row: &JournalRow) -> bool {
    row.rotation.step(Event::Abandon, Duration::ZERO).is_ok()
}

impl View for Rotations {
    fn focus(&self) -> Focus {
        if self.abandoning.is_some() {
            Focus::AbandonReason
        } else {
            Focus::Rotations
        }
    }

    fn title(&self, _desk: &Desk) -> String {
        "Rotations".into()
    }

    fn status(&self, _desk: &Desk) -> String {
        if self.settling.is_some() {
            "settling by reading".into()
        } else if self.reading.is_some() {
            "reading".into()
        } else {
            format!("{} open   {} in all", self.open_ones(), self.rows.len())
        }
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        if self.abandoning.is_some() {
            match action {
                Action::Enter => self.abandon(desk),
                Action::Back => {
                    self.abandoning = None;
                    desk.say(Severity::Info, "nothing was abandoned");
                }
                _ => {}
            }
            return;
        }
        let page = usize::from(desk.size.1 / 2);
        if self.cursor.act(action, self.rows.len(), page) {
            return;
        }
        match action {
            Action::Enter => self.open_group(desk),
            Action::Refresh if self.settling.is_some() => {}
            Action::Refresh if self.open_ones() > 0 => {
                self.settling = Some(desk.start(Job::Settle));
            }
            Action::Refresh => self.read_again(desk),
            Action::Abandon => {
                let reason = TextField::new("reason", "").with_longest(LONGEST_REASON);
                self.abandoning = self.here().map(|row| Abandoning {
                    row: row.clone(),
                    reason,
                    ticket: None,
                });
            }
            Action::Back => {
                self.leave(desk);
                desk.ask(Ask::Pop);
            }
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Desk) {
        if let Some(asking) = &mut self.abandoning {
            asking.reason.key(key);
            asking.reason.error = None;
        }
    }

    fn paste(&mut self, text: &str, _desk: &mut Desk) -> bool {
        let Some(asking) = &mut self.abandoning else {
            return false;
        };
        asking.reason.paste(text);
        asking.reason.error = None;
        true
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        match action {
            Action::Abandon => match self.here() {
                Some(row) if can_be_abandoned(row) => desk.forbidden(Guarded::Abandon),
                _ => Some("only an open rotation, or a conflict, can be abandoned".into()),
            },
            _ => None,
        }
    }

    fn leave(&mut self, desk: &mut Desk) {
        // The settling goes on; a message says how it ended.
        if let Some(ticket) = self.reading.take() {
            desk.cancel(ticket);
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        let abandoning = self.abandoning.as_ref().and_then(|asking| asking.ticket);
        [self.reading, self.settling, abandoning].contains(&Some(ticket))
    }

    fn answer(&mut self, outcome: &Outcome, desk: &mut Desk) {
        match outcome {
            Outcome::Rotations(rows) => {
                self.reading = None;
                self.take(rows);
            }
            Outcome::Recovered(_) => self.settling = None,
            Outcome::Abandoned(row) => {
                self.abandoning = None;
                let text = format!("rotation of {} abandoned", row.user_group_id);
                desk.say(Severity::Done, text);
                self.read_again(desk);
            }
            Outcome::Failed(trouble) => self.failed(&trouble.text, desk),
            _ => {}
        }
    }

    fn lost(&mut self, desk: &mut Desk) {
        self.failed("it broke off inside groupdesk; try again", desk);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        view::draw(self, buffer, area, desk)
    }
}

impl Rotations {
    fn failed(&mut self, text: &str, desk: &mut Desk) {
        let abandoned = self.abandoning.as_mut();
        if let Some(asking) = abandoned.filter(|asking| asking.ticket.is_some()) {
            asking.ticket = None;
            asking.reason.error = Some(text.to_owned());
        } else {
            self.reading = None;
            self.settling = None;
        }
        desk.say(Severity::Error, text);
    }
}
