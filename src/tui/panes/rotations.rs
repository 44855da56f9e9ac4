//! All rotations of the profile, the open ones first. `r` settles those by reading their groups; abandoning one asks
//! for a reason. Nothing is rotated from here.

use std::{borrow::Cow, time::Duration};

use super::{history::tokens, prelude::*};
use crate::{
    config::guard::Level,
    domain::{
        HandOffState, ItemStatus, Operation,
        rotation::{Event, State},
    },
    operations::{RotationId, RotationRow},
    search::{RowFacts, RowTest},
    tui::page::{
        list_page::{Can, Col, Command, ListPage, Rows, col, command, unless},
        prompt::{box_page, draw_box},
    },
};

#[derive(Debug, Default)]
pub struct Rotations {
    rows: Vec<RotationRow>,
}

pub type RotationsPage = ListPage<Rotations>;

impl Rotations {
    fn open_ones(&self) -> usize {
        self.rows.iter().filter(|row| state(row).is_open()).count()
    }

    /// Whether a read from the service can resolve one.
    fn can_check(&self, context: &Context) -> bool {
        self.open_ones() > 0 && context.view_only_reason().is_none()
    }
}

impl Rows for Rotations {
    type Row = RotationRow;
    type Key = RotationId;
    const PLACE: Focus = Focus::Rotations;
    const ROW: &'static str = "rotation";
    const TESTS: &'static [RowTest] = &[
        RowTest::Time,
        RowTest::Operator,
        RowTest::Operation,
        RowTest::Group,
    ];

    fn job(&self) -> Option<Job> {
        Some(Job::Rotations)
    }

    fn take(&mut self, outcome: &Outcome) -> bool {
        let Outcome::Rotations(rows) = outcome else {
            return false;
        };
        rows.clone_into(&mut self.rows);
        self.rows.sort_by_key(|row| !state(row).is_open());
        true
    }

    fn all<'a>(&'a self, _context: &'a Context) -> Vec<&'a RotationRow> {
        self.rows.iter().collect()
    }

    fn key(row: &RotationRow) -> RotationId {
        row.id
    }

    fn facts(row: &RotationRow) -> RowFacts<'_> {
        RowFacts {
            at: Some(row.started_at),
            by: Some(&row.by),
            operation: Some(Operation::Rotate),
            ..RowFacts::default()
        }
    }

    fn group(row: &RotationRow) -> Option<&str> {
        Some(row.user_group_id.as_str())
    }

    fn more_words(row: &RotationRow, _context: &Context) -> String {
        row.reason.clone().unwrap_or_default()
    }

    fn columns(&self) -> Vec<Col<RotationRow>> {
        let col = col::<RotationRow>;
        vec![
            col("WHEN", (5, 13), 1, |row, context| {
                Cell::new(context.stamp(row.started_at))
            })
            .kept(12)
            .right(),
            col("STATE", (11, 14), 0, |row, context| {
                Cell::new(word(row)).styled(style(row, context.theme))
            }),
            col("GROUP", (8, 40), 0, |row, _| {
                Cell::new(row.user_group_id.as_str())
            })
            .id(),
            col("FINGERPRINT", (20, 20), 2, |row, context| {
                Cell::new(tokens_of(row, context.theme))
            }),
            col("BY", (12, 24), 3, |row, _| Cell::new(row.by.as_str())),
        ]
    }

    fn commands() -> Vec<Command<RotationsPage>> {
        vec![
            command(
                Action::Enter,
                RotationsPage::always,
                RotationsPage::open_group,
            ),
            command(
                Action::Refresh,
                |page, context| Ok((!page.kind.can_check(context)).then_some("refresh")),
                |page, context| {
                    if !page.kind.can_check(context) {
                        if page.kind.open_ones() == 0 {
                            context.say(Severity::Info, "No open rotations");
                        }
                        page.reload(context);
                    } else if !page.working.is_waiting() {
                        context.ask(&page.working, Job::Settle);
                    }
                },
            ),
            command(Action::Abandon, can_abandon, |page, context| {
                if let Some(row) = page.selected(context).cloned() {
                    context.open_pane(PaneRequest::Abandon(Box::new(row)));
                }
            }),
        ]
    }

    fn heading(&self) -> Cow<'static, str> {
        "Rotations (open first)".into()
    }

    fn status(page: &RotationsPage, _context: &Context) -> String {
        let (open, all) = (page.kind.open_ones(), page.kind.rows.len());
        format!("{open} open   {all} in all")
    }

    fn when_empty(&self, context: &Context) -> String {
        let token = context.keys.key(Focus::List, Action::Token);
        let rotate = context.keys.key(Focus::Token, Action::Rotate);
        match context.why_forbidden(Guarded::Rotate) {
            Some(why) => format!("Nothing has been rotated yet; {why}"),
            None => format!("Nothing has been rotated yet: {token} on a group, then {rotate}"),
        }
    }

    fn detail_rows(_page: &RotationsPage, _context: &Context) -> u16 {
        9
    }

    fn describe(&self, row: &RotationRow, page: &mut TextPage, context: &Context) -> String {
        page.field("state", &word(row), style(row, context.theme), "");
        page.dim(&meaning(state(row), context));
        page.plain("fingerprint", &tokens_of(row, context.theme));
        for (label, text) in [("reason", &row.reason), ("note", &row.note)] {
            if let Some(text) = text {
                page.plain(label, text);
            }
        }
        if row.handoff.state != HandOffState::None {
            let style = if is_not_handed_off(row) {
                context.theme.error()
            } else {
                Style::new()
            };
            let word = row.handoff.state.as_str();
            let note = row.handoff.note.as_deref().unwrap_or_default();
            page.field("hand-off", word, style, note);
        }
        let at = context.whole_time(row.started_at);
        page.field("by", &row.by, Style::new(), &at);
        format!("rotation {} of {}", row.id.0, row.user_group_id)
    }
}

/// Must agree with the state machine.
fn can_abandon(page: &RotationsPage, context: &Context) -> Can {
    let can = |row: &RotationRow| row.rotation.step(Event::Abandon, Duration::ZERO).is_ok();
    if !page.selected(context).is_some_and(can) {
        return Err("only an open rotation, or a conflict, can be abandoned".into());
    }
    unless(context.why_forbidden(Guarded::Abandon))
}

fn state(row: &RotationRow) -> State {
    row.rotation.state
}

/// Whether the new token has not arrived where it is to be handed off.
fn is_not_handed_off(row: &RotationRow) -> bool {
    ItemStatus::of(Some(state(row)), None).is_not_handed_off(row.handoff.state)
}

/// A new token that has not arrived counts more than that it is confirmed.
fn word(row: &RotationRow) -> String {
    if is_not_handed_off(row) {
        return "not handed off".into();
    }
    state(row).as_str().replace('_', " ")
}

fn tokens_of(row: &RotationRow, theme: Theme) -> String {
    tokens(Some(row.rotation.previous), row.rotation.fingerprint, theme)
}

/// What a state means for the person, and what to do next.
fn meaning(state: State, context: &Context) -> String {
    let key = context.keys.key(Focus::Rotations, Action::Refresh);
    let view_only = context.view_only_reason();
    let text = match state {
        State::Intended => "Recorded, not sent; its process may still be running.",
        State::Sent => "The request may have been sent; its process may still be running.",
        State::Rotated => {
            return match view_only {
                Some(why) => format!("Rotated, not confirmed. It cannot be read: {why}."),
                None => format!("Rotated, not confirmed. {key} reads the group."),
            };
        }
        State::Confirmed => "Rotated, and read back.",
        State::Unknown => {
            return match view_only {
                Some(why) => {
                    format!("Result unknown; never rotate to find out. It cannot be read: {why}.")
                }
                None => {
                    format!("Result unknown. {key} reads the group; never rotate to find out.")
                }
            };
        }
        State::Recovered => {
            "A new token is current: by this call or by someone else. After a leak, rotate again."
        }
        State::NotApplied => "The old token is current. It is safe to rotate again.",
        State::Superseded => "Rotated, and then rotated again by someone else.",
        State::Conflict if let Some(why) = context.why_forbidden(Guarded::Abandon) => {
            return format!(
                "The responses contradict each other. Investigate. It cannot be abandoned here: {why}."
            );
        }
        State::Conflict => {
            "The responses contradict each other. Investigate, then abandon it with your finding as the reason."
        }
        State::Abandoned => "Abandoned.",
    };
    text.into()
}

fn style(row: &RotationRow, theme: Theme) -> Style {
    match state(row) {
        _ if is_not_handed_off(row) => theme.error(),
        State::Unknown => theme.unknown(),
        State::Rotated | State::Confirmed | State::Recovered => theme.ok(),
        State::Conflict => theme.error(),
        State::Intended
        | State::Sent
        | State::NotApplied
        | State::Superseded
        | State::Abandoned => theme.warning(),
    }
}

const PLACES: Places = Places::boxed(Focus::AbandonReason, Focus::ConfirmKey);
const NO_REASON: &str = "Enter a reason; it is recorded in the history";
/// Columns of the box.
const WIDTH: u16 = 70;

/// The box that asks for the reason before a rotation is abandoned.
#[derive(Debug)]
pub struct Abandoning {
    row: RotationRow,
    confirm: Confirm,
    pending: Pending,
}

impl Abandoning {
    pub fn of(row: RotationRow) -> Self {
        let what = "closes this rotation without a result";
        let confirm = Confirm::new(PLACES, Level::Key, None).of(what, "");
        let confirm = confirm.with_needed_reason("reason", NO_REASON);
        Self {
            row,
            confirm: confirm.with_verb("ABANDON"),
            pending: Pending::default(),
        }
    }

    fn failed(&mut self, text: &str, context: &mut Context) {
        self.confirm.refuse(text);
        context.say(Severity::Error, text);
    }
}

impl View for Abandoning {
    fn focus(&self) -> Focus {
        self.confirm.focus()
    }

    fn title(&self, _context: &Context) -> String {
        "Abandon".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if action == Action::Back {
            if !self.pending.is_waiting() {
                context.mention("Nothing was abandoned");
            }
            self.pop(context);
        }
    }

    fn confirm(&self) -> Option<&Confirm> {
        Some(&self.confirm)
    }

    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        Some(&mut self.confirm)
    }

    fn carry_out(&mut self, context: &mut Context) {
        let reason = self.confirm.reason();
        if let Some(reason) = reason.filter(|_| !self.pending.is_waiting()) {
            context.ask(&self.pending, Job::Abandon(self.row.id, reason));
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.pending]
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::Failed(error) = outcome {
            self.failed(&error.text, context);
        } else if let Outcome::Abandoned(row) = outcome {
            let text = format!("Rotation of {} abandoned", row.user_group_id);
            context.say(Severity::Done, text);
            context.close_pane();
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        self.failed("Internal error, stopped; try again", context);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let theme = context.theme;
        let mut page = box_page(WIDTH, area, theme);
        let text = format!(
            "The rotation of {} is {}. If you abandon it, its result stays unknown, and its token can be rotated again.",
            self.row.user_group_id,
            self.row.rotation.state.as_str()
        );
        page.warning(&text);
        let text = "Nothing is sent. The reason is recorded in the history.";
        page.dim(text);
        let title = ("Abandon a rotation", WIDTH);
        draw_box(&page, &self.confirm, title, (buffer, area), context)
    }
}
