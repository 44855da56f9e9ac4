//! All rotations of the profile, the open ones first. `r` settles those by reading their groups; abandoning one asks
//! for a reason. Nothing is rotated from here.

mod view;

use std::time::Duration;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{View, filtered_list::FilteredList};
use crate::{
    domain::rotation::Event,
    operations::{Changes, Guarded, RotationRow},
    tui::{
        keymap::{Action, Focus},
        state::{
            context::Context,
            message::{Job, Outcome, Pending, Ticket},
            notices::Severity,
        },
        widgets::text_field::TextField,
    },
};

/// Maximum length of the reason, in characters.
const MAX_REASON_LEN: usize = 200;

#[derive(Debug)]
pub struct Rotations {
    rows: Vec<RotationRow>,
    settling: Pending,
    abandoning: Option<Abandoning>,
    list: FilteredList,
}

/// The dialog that asks for the reason.
#[derive(Debug)]
struct Abandoning {
    row: RotationRow,
    reason: TextField,
    ticket: Option<Ticket>,
}

impl Rotations {
    /// Opens the list and reads the journal.
    pub fn open(context: &mut Context) -> Self {
        let pane = Self {
            rows: Vec::new(),
            settling: Pending::default(),
            abandoning: None,
            list: FilteredList::default(),
        };
        pane.reload(context);
        pane
    }

    /// Reads the journal again after something was settled.
    pub fn reload(&self, context: &mut Context) {
        context.ask(&self.list.pending, Job::Rotations);
    }

    fn open_ones(&self) -> usize {
        let states = self.rows.iter().map(|row| row.rotation.state);
        states.filter(|state| state.is_open()).count()
    }

    fn selected(&self) -> Option<&RotationRow> {
        self.rows.get(self.list.cursor.at)
    }

    /// Replaces the rows; the cursor stays on its rotation.
    fn take(&mut self, rows: &[RotationRow]) {
        let on = self.selected().map(|row| row.id);
        self.rows = rows.to_vec();
        self.rows.sort_by_key(|row| !row.rotation.state.is_open());
        let found = self.rows.iter().position(|row| Some(row.id) == on);
        self.list.stay_on(found, self.rows.len());
    }

    fn abandon(&mut self, context: &mut Context) {
        let Some(asking) = &mut self.abandoning else {
            return;
        };
        let reason = asking.reason.text().trim();
        if reason.is_empty() {
            asking.reason.error = Some("Enter a reason: it is kept in the history".into());
        } else if asking.ticket.is_none() {
            let job = Job::Abandon(asking.row.id, reason.to_owned());
            asking.ticket = Some(context.start(job));
        }
    }
}

/// Must agree with the state machine.
fn can_be_abandoned(row: &RotationRow) -> bool {
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

    fn title(&self, _context: &Context) -> String {
        "Rotations".into()
    }

    fn hint(&self, action: Action, _context: &Context) -> Option<&'static str> {
        (action == Action::Refresh && self.open_ones() == 0).then_some("refresh")
    }

    fn status(&self, _context: &Context) -> String {
        if self.settling.is_waiting() {
            "checking (reads only)".into()
        } else if self.list.pending.is_waiting() {
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
                    context.mention("Nothing was closed");
                }
                _ => {}
            }
            return;
        }
        if self.list.act(action, self.rows.len(), context) {
            return;
        }
        match action {
            Action::Enter => {
                let id = self.selected().map(|row| row.user_group_id.clone());
                context.open_group(id, "no rotation here");
            }
            Action::Refresh if self.settling.is_waiting() => {}
            Action::Refresh if self.open_ones() > 0 => context.ask(&self.settling, Job::Settle),
            Action::Refresh => self.reload(context),
            Action::Abandon => {
                let reason = TextField::new("reason", "").with_longest(MAX_REASON_LEN);
                self.abandoning = self.selected().map(|row| Abandoning {
                    row: row.clone(),
                    reason,
                    ticket: None,
                });
            }
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.abandoning.as_mut().map(|asking| &mut asking.reason)
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::Abandon => match self.selected() {
                Some(row) if can_be_abandoned(row) => context.why_forbidden(Guarded::Abandon),
                _ => Some("only an open rotation, or a conflict, can be closed".into()),
            },
            Action::Enter if self.abandoning.is_none() && self.selected().is_none() => {
                Some("no rotation here".into())
            }
            _ => None,
        }
    }

    fn leave(&mut self, context: &mut Context) {
        // Settling continues; a message reports how it ended.
        context.give_up(&self.list.pending);
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.list.pending, &self.settling]
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        let abandoning = self.abandoning.as_ref().and_then(|asking| asking.ticket);
        let mut pending = self.pending().into_iter();
        pending.any(|pending| pending.waits_for(ticket)) || abandoning == Some(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Rotations(rows) => self.take(rows),
            Outcome::Abandoned(row) => {
                self.abandoning = None;
                let text = format!("Rotation of {} closed without a result", row.user_group_id);
                context.say(Severity::Done, text);
                self.reload(context);
            }
            Outcome::Failed(error) => self.failed(&error.text, context),
            _ => {}
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        self.failed("Internal error, stopped; try again", context);
    }

    fn changed(&mut self, _changes: &Changes, context: &mut Context) {
        self.reload(context);
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
        }
        context.say(Severity::Error, text);
    }
}
