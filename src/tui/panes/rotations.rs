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
            context::{Context, Navigation},
            message::{Job, Outcome, Ticket},
            navigation::PaneRequest,
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
    pub fn open(context: &mut Context) -> Self {
        Self {
            rows: Vec::new(),
            reading: Some(context.start(Job::Rotations)),
            settling: None,
            abandoning: None,
            cursor: Cursor::default(),
        }
    }

    /// Something was settled: reads the journal again.
    pub fn read_again(&mut self, context: &mut Context) {
        if let Some(ticket) = self.reading {
            context.cancel(ticket);
        }
        self.reading = Some(context.start(Job::Rotations));
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

    fn abandon(&mut self, context: &mut Context) {
        let Some(asking) = &mut self.abandoning else {
            return;
        };
        let reason = asking.reason.text().trim();
        if reason.is_empty() {
            asking.reason.error = Some("a reason is needed: it stands in the history".into());
        } else if asking.ticket.is_none() {
            let job = Job::Abandon(asking.row.id, reason.to_owned());
            asking.ticket = Some(context.start(job));
        }
    }

    fn open_group(&self, context: &mut Context) {
        match self.here().map(|row| row.user_group_id.clone()) {
            Some(id) if context.groups.contains(&id) => {
                context.navigate(Navigation::Push(PaneRequest::Group(id)));
            }
            Some(id) => context.say(
                Severity::Info,
                format!("\"{id}\" is not in the directory: reading it could create it"),
            ),
            None => context.say(Severity::Info, "no rotation here"),
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

    fn title(&self, _desk: &Context) -> String {
        "Rotations".into()
    }

    fn status(&self, _desk: &Context) -> String {
        if self.settling.is_some() {
            "settling by reading".into()
        } else if self.reading.is_some() {
            "reading".into()
        } else {
            format!("{} open   {} in all", self.open_ones(), self.rows.len())
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if self.abandoning.is_some() {
            match action {
                Action::Enter => self.abandon(context),
                Action::Back => {
                    self.abandoning = None;
                    context.say(Severity::Info, "nothing was abandoned");
                }
                _ => {}
            }
            return;
        }
        let page = usize::from(context.size.1 / 2);
        if self.cursor.act(action, self.rows.len(), page) {
            return;
        }
        match action {
            Action::Enter => self.open_group(context),
            Action::Refresh if self.settling.is_some() => {}
            Action::Refresh if self.open_ones() > 0 => {
                self.settling = Some(context.start(Job::Settle));
            }
            Action::Refresh => self.read_again(context),
            Action::Abandon => {
                let reason = TextField::new("reason", "").with_longest(LONGEST_REASON);
                self.abandoning = self.here().map(|row| Abandoning {
                    row: row.clone(),
                    reason,
                    ticket: None,
                });
            }
            Action::Back => {
                self.leave(context);
                context.navigate(Navigation::Pop);
            }
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Context) {
        if let Some(asking) = &mut self.abandoning {
            asking.reason.key(key);
            asking.reason.error = None;
        }
    }

    fn paste(&mut self, text: &str, _desk: &mut Context) -> bool {
        let Some(asking) = &mut self.abandoning else {
            return false;
        };
        asking.reason.paste(text);
        asking.reason.error = None;
        true
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::Abandon => match self.here() {
                Some(row) if can_be_abandoned(row) => context.forbidden(Guarded::Abandon),
                _ => Some("only an open rotation, or a conflict, can be abandoned".into()),
            },
            _ => None,
        }
    }

    fn leave(&mut self, context: &mut Context) {
        // The settling goes on; a message says how it ended.
        if let Some(ticket) = self.reading.take() {
            context.cancel(ticket);
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        let abandoning = self.abandoning.as_ref().and_then(|asking| asking.ticket);
        [self.reading, self.settling, abandoning].contains(&Some(ticket))
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Rotations(rows) => {
                self.reading = None;
                self.take(rows);
            }
            Outcome::Recovered(_) => self.settling = None,
            Outcome::Abandoned(row) => {
                self.abandoning = None;
                let text = format!("rotation of {} abandoned", row.user_group_id);
                context.say(Severity::Done, text);
                self.read_again(context);
            }
            Outcome::Failed(trouble) => self.failed(&trouble.text, context),
            _ => {}
        }
    }

    fn lost(&mut self, context: &mut Context) {
        self.failed("it broke off inside groupdesk; try again", context);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}

impl Rotations {
    fn failed(&mut self, text: &str, context: &mut Context) {
        let abandoned = self.abandoning.as_mut();
        if let Some(asking) = abandoned.filter(|asking| asking.ticket.is_some()) {
            asking.ticket = None;
            asking.reason.error = Some(text.to_owned());
        } else {
            self.reading = None;
            self.settling = None;
        }
        context.say(Severity::Error, text);
    }
}
