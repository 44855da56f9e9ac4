//! Many tokens at once: what would be rotated and why others are left out, the words that must be typed, and the run.
//! Nothing is sent before the words are typed exactly; leaving never stops a run.

mod steps;
mod view;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{View, confirm_typed, new_file::NewFile};
use crate::{
    domain::{batch::Plan, group::UserGroupId},
    operations::{Guarded, batch::RunCommand},
    tui::{
        keymap::{Action, Focus},
        state::{
            batch::BatchRun,
            context::Context,
            message::{Job, Outcome, Ticket},
            notices::Severity,
        },
        widgets::{scroll::Cursor, text_field::TextField},
    },
};

const REASON: &str = "reason (optional)";

/// Longest reason, in characters.
const LONGEST_REASON: usize = 200;

#[derive(Debug)]
enum Stage {
    /// The directory says which groups are ready.
    Planning(Ticket),
    Check {
        plan: Plan,
        on_reason: bool,
    },
    /// The plan could not be made.
    Failed(String),
    /// The run of this ticket, as the context knows it.
    Run(Ticket),
}

#[derive(Debug)]
pub struct BatchPane {
    ids: Vec<UserGroupId>,
    /// Also what was rotated within 24 h.
    include_recent: bool,
    stage: Stage,
    reason: TextField,
    /// `rotate N in PROFILE` (level 4).
    typed: TextField,
    cursor: Cursor,
    failed_only: bool,
    /// Rows of the run that are shown, and what they were chosen from.
    shown: Vec<usize>,
    basis: Option<(u64, bool)>,
    is_under_way: bool,
    /// Where to write the report.
    file: NewFile,
}

impl BatchPane {
    /// Checks these groups; nothing is sent.
    pub fn check(ids: Vec<UserGroupId>, context: &mut Context) -> Self {
        Self::checking(ids, false, context)
    }

    fn checking(ids: Vec<UserGroupId>, include_recent: bool, context: &mut Context) -> Self {
        let ticket = context.start(Job::PlanBulk {
            ids: ids.clone(),
            include_recent,
        });
        Self {
            include_recent,
            ..Self::at(Stage::Planning(ticket), ids, context)
        }
    }

    /// The run under way, or the last one.
    pub fn watch(run: Ticket, context: &Context) -> Self {
        Self::at(Stage::Run(run), Vec::new(), context)
    }

    fn at(stage: Stage, ids: Vec<UserGroupId>, context: &Context) -> Self {
        Self {
            ids,
            include_recent: false,
            stage,
            reason: TextField::new(REASON, "").with_longest(LONGEST_REASON),
            typed: TextField::new("type the words", "")
                .with_label_width(REASON.len() as u16)
                .with_hint(confirm_typed::hint(context, Focus::BulkTyped)),
            cursor: Cursor::default(),
            failed_only: false,
            shown: Vec::new(),
            basis: None,
            is_under_way: false,
            file: NewFile::default(),
        }
    }

    fn run<'a>(&self, context: &'a Context) -> Option<&'a BatchRun> {
        let Stage::Run(ticket) = self.stage else {
            return None;
        };
        context.bulk.as_ref().filter(|run| run.ticket == ticket)
    }

    /// Groups left out because they were rotated within 24 h.
    fn recent(&self) -> usize {
        let Stage::Check { plan, .. } = &self.stage else {
            return 0;
        };
        let skips = plan.skipped.iter();
        skips.filter(|(_, skip)| skip.is_recent()).count()
    }

    /// The field that takes text now.
    fn field(&mut self) -> Option<&mut TextField> {
        if self.file.is_asked() {
            return self.file.field();
        }
        match &self.stage {
            Stage::Check { plan, .. } if plan.ready.is_empty() => None,
            Stage::Check {
                on_reason: true, ..
            } => Some(&mut self.reason),
            Stage::Check { .. } => Some(&mut self.typed),
            Stage::Planning(_) | Stage::Failed(_) | Stage::Run(_) => None,
        }
    }
}

impl View for BatchPane {
    fn focus(&self) -> Focus {
        if self.file.is_asked() {
            return Focus::WritePath;
        }
        match &self.stage {
            Stage::Planning(_) | Stage::Failed(_) => Focus::BulkCheck,
            Stage::Check { plan, .. } if plan.ready.is_empty() => Focus::BulkCheck,
            Stage::Check {
                on_reason: true, ..
            } => Focus::BulkReason,
            Stage::Check { .. } => Focus::BulkTyped,
            Stage::Run(_) => Focus::BulkRun,
        }
    }

    fn title(&self, _context: &Context) -> String {
        "Bulk rotation".into()
    }

    fn status(&self, context: &Context) -> String {
        match &self.stage {
            Stage::Planning(_) => "checking".into(),
            Stage::Failed(_) => "Nothing was sent".into(),
            Stage::Check { .. } => "nothing is sent yet".into(),
            Stage::Run(_) => self.run(context).map_or_else(String::new, |run| {
                let failed = match run.failed() {
                    0 => String::new(),
                    failed => format!("{failed} failed   "),
                };
                let only = if self.failed_only {
                    "failed only   "
                } else {
                    ""
                };
                let batch = run.batch.map(|batch| format!("batch {}", batch.0));
                format!("{failed}{only}{}", batch.unwrap_or_default())
            }),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let page = usize::from(context.size.1 / 2);
        let rows = match &self.stage {
            Stage::Run(_) => self.shown.len(),
            _ => view::check_lines(self, context),
        };
        if self.cursor.act(action, rows, page) {
            return;
        }
        match action {
            Action::Back if self.file.is_asked() => self.file.close(),
            Action::Enter if self.file.is_asked() => self.write(context),
            Action::NextField | Action::PreviousField => {
                if let Stage::Check { on_reason, .. } = &mut self.stage {
                    *on_reason = !*on_reason;
                }
            }
            Action::Enter if self.focus() == Focus::BulkTyped => self.confirm(context),
            Action::Enter if matches!(self.stage, Stage::Run(_)) => self.open_group(context),
            Action::Back | Action::Enter => {
                if matches!(self.stage, Stage::Check { .. }) {
                    context.say(Severity::Info, "Nothing was sent");
                }
                self.pop(context);
            }
            Action::Refresh => self.check_again(context),
            Action::IncludeRecent => {
                self.include_recent = !self.include_recent;
                self.check_again(context);
            }
            Action::Pause => {
                let paused = self
                    .run(context)
                    .is_some_and(|run| run.command == RunCommand::Pause);
                context.steer(if paused {
                    RunCommand::Go
                } else {
                    RunCommand::Pause
                });
            }
            Action::Stop => {
                context.steer(RunCommand::Stop);
                let text = "Stopping: no more are started; those in flight finish";
                context.say(Severity::Warning, text);
            }
            Action::FailedOnly => {
                self.failed_only = !self.failed_only;
                self.cursor.at = 0;
            }
            Action::RetryFailed => {
                let ids = self.run(context).map(BatchRun::to_retry);
                *self = Self::checking(ids.unwrap_or_default(), self.include_recent, context);
            }
            Action::WriteFile => self.ask_path(context),
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _context: &mut Context) {
        if let Some(field) = self.field() {
            field.key(key);
            field.error = None;
        }
    }

    fn paste(&mut self, text: &str, _context: &mut Context) -> bool {
        let Some(field) = self.field() else {
            return false;
        };
        field.paste(text);
        true
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        let goes_on = self.run(context).is_some_and(BatchRun::is_under_way);
        let is_run = matches!(self.stage, Stage::Run(_));
        (action == Action::Back && is_run && !goes_on).then_some("leave")
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        if action == Action::Refresh {
            let reads = matches!(self.stage, Stage::Check { .. } | Stage::Failed(_));
            return (!reads || self.focus() != Focus::BulkCheck).then(|| "nothing to read".into());
        }
        if action == Action::IncludeRecent {
            return (!self.include_recent && self.recent() == 0).then(|| "none left out".into());
        }
        let Stage::Run(_) = self.stage else {
            return None;
        };
        let run = self.run(context);
        match action {
            Action::Pause | Action::Stop => match run {
                Some(run) if !run.is_under_way() => Some("the batch has finished".into()),
                Some(run) if run.command == RunCommand::Stop || run.halt.is_some() => {
                    Some("it is stopping already".into())
                }
                Some(_) => None,
                None => Some("it is gone".into()),
            },
            Action::RetryFailed => match run {
                Some(run) if run.is_under_way() => Some("the batch is still running".into()),
                Some(run) if run.to_retry().is_empty() => Some("nothing to retry".into()),
                Some(_) => context.forbidden(Guarded::Bulk),
                None => Some("it is gone".into()),
            },
            _ => None,
        }
    }

    fn leave(&mut self, context: &mut Context) {
        match self.stage {
            Stage::Planning(ticket) => context.cancel(ticket),
            Stage::Run(_) if self.run(context).is_some_and(BatchRun::is_under_way) => {
                let key = context.keys.key(Focus::List, Action::RotateMarked);
                let text = format!("The bulk rotation continues; {key} on the list shows it");
                context.say(Severity::Info, text);
            }
            Stage::Check { .. } | Stage::Failed(_) | Stage::Run(_) => {}
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        let waiting = match self.stage {
            Stage::Planning(mine) | Stage::Run(mine) => Some(mine),
            Stage::Check { .. } | Stage::Failed(_) => None,
        };
        waiting == Some(ticket) || self.file.waits_for(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        self.take(outcome, context);
    }

    fn lost(&mut self, _context: &mut Context) {
        if !self.file.lost() && matches!(self.stage, Stage::Planning(_)) {
            self.stage = Stage::Failed("Internal error, the check stopped".into());
        }
    }

    fn sync(&mut self, context: &mut Context) {
        let Some(run) = self.run(context) else { return };
        self.is_under_way = run.is_under_way();
        let basis = Some((run.version, self.failed_only));
        if self.basis == basis {
            return;
        }
        self.basis = basis;
        let rows = run.rows.iter().enumerate();
        let failed_only = self.failed_only;
        self.shown = rows
            .filter(|(_, row)| !failed_only || row.is_failed())
            .map(|(at, _)| at)
            .collect();
        self.cursor.at = self.cursor.at.min(self.shown.len().saturating_sub(1));
    }

    fn ticks(&self) -> bool {
        self.is_under_way
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}
