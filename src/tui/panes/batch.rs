//! Rotating many tokens: what would be rotated and why other groups are left out, the words to type, and the run.
//! Nothing is sent before it is confirmed; leaving the page never stops a run.

mod run;
mod view;

use super::prelude::*;
use crate::{
    domain::{StopCause, batch::Plan},
    operations::{
        BatchId, NextStep,
        batch::{Resumption, RunCommand},
    },
    tui::{
        page::{CONFIRMATION_LOST, prompt::Prompt},
        state::{BatchAim, KeptReason},
    },
};

/// Why nothing can be done with a run that this console no longer has in memory.
const NOT_IN_MEMORY: &str = "this batch is in History";

const START: Places = Places {
    reason: Focus::BulkReason,
    typed: Focus::BulkTyped,
    key: Focus::BulkCheck,
};
const RESUME: Places = Places {
    reason: Focus::ResumeTyped,
    typed: Focus::ResumeTyped,
    key: Focus::ResumeCheck,
};

/// Below this width, the footer has shorter hints.
const NARROW_WIDTH: u16 = 100;

#[derive(Debug)]
enum Stage {
    /// The directory is determining which groups are ready.
    Planning(Ticket),
    /// What is ready; the words `rotate N in PROFILE` are asked for unless nothing is.
    Check(Plan, Option<Box<Confirm>>),
    /// The remaining items of a batch, and how to resume it.
    Resume(Box<Resumption>, Box<Confirm>),
    /// The plan could not be made.
    Failed(String),
    /// The run with this ticket, whose state is in the context.
    Run(Ticket),
}

#[derive(Debug)]
pub struct BatchPane {
    ids: Vec<UserGroupId>,
    /// Also include groups that were rotated within 24 h; when resuming, groups that were last sent more than
    /// 30 days ago.
    include_recent: bool,
    /// The batch whose groups are tried again.
    retries: Option<BatchId>,
    /// The reason to begin with, when the groups are checked again.
    reason: KeptReason,
    stage: Stage,
    cursor: Cursor,
    failed_only: bool,
    /// The visible rows of the run, in order; `basis` is what they were computed from.
    shown: Vec<usize>,
    basis: Option<(u64, bool)>,
    is_under_way: bool,
    /// Reads the state of the batch in the journal.
    reading: Pending,
    /// Reads the groups with an unknown outcome.
    checking: Pending,
    /// The file for the report.
    file: Prompt,
    /// A batch of the journal other than the one of this session, and the purpose it was opened for.
    stored: Option<Box<BatchRun>>,
    aim: BatchAim,
    /// Its number, if the page was opened for a batch of the journal.
    number: Option<BatchId>,
    /// The title of its run, which stays when this console follows another run.
    title: String,
}

impl BatchPane {
    /// Checks these groups; sends nothing.
    pub fn check(ids: Vec<UserGroupId>, context: &mut Context) -> Self {
        Self::checking(ids, None, context)
    }

    fn checking(ids: Vec<UserGroupId>, retries: Option<BatchId>, context: &mut Context) -> Self {
        let ticket = context.start(Job::PlanBulk {
            ids: ids.clone(),
            include_recent: false,
            retries,
        });
        Self {
            retries,
            ..Self::at(Stage::Planning(ticket), ids)
        }
    }

    /// Shows the current run, or the last one.
    pub fn watch(run: Ticket) -> Self {
        Self::at(Stage::Run(run), Vec::new())
    }

    fn at(stage: Stage, ids: Vec<UserGroupId>) -> Self {
        Self {
            ids,
            include_recent: false,
            retries: None,
            reason: KeptReason::default(),
            stage,
            cursor: Cursor::default(),
            failed_only: false,
            shown: Vec::new(),
            basis: None,
            is_under_way: false,
            reading: Pending::default(),
            checking: Pending::default(),
            file: Prompt::default(),
            stored: None,
            aim: BatchAim::Look,
            number: None,
            title: String::new(),
        }
    }

    /// Shows a batch of the journal.
    pub fn of(id: BatchId, aim: BatchAim, context: &mut Context) -> Self {
        Self::open_with(id, aim, false, context)
    }

    fn open_with(id: BatchId, aim: BatchAim, include_old: bool, context: &mut Context) -> Self {
        let job = match aim {
            BatchAim::Resume => Job::PlanResumption(id, include_old),
            BatchAim::Look | BatchAim::Retry | BatchAim::Report => Job::Batch(id),
        };
        let ticket = context.start(job);
        Self {
            aim,
            number: Some(id),
            include_recent: include_old,
            ..Self::at(Stage::Planning(ticket), Vec::new())
        }
    }

    fn run<'a>(&'a self, context: &'a Context) -> Option<&'a BatchRun> {
        let Stage::Run(ticket) = self.stage else {
            return None;
        };
        let runs = self.stored.as_deref().into_iter().chain(&context.bulk);
        runs.into_iter().find(|run| run.ticket == ticket)
    }

    /// Reads the state in the journal again. Not needed for the current run, which reports by events.
    pub fn reload(&self, context: &mut Context) {
        let run = self.run(context).filter(|run| !run.is_under_way());
        if let Some(batch) = run.and_then(|run| run.batch) {
            context.ask(&self.reading, Job::Batch(batch));
        }
    }

    /// The item under the cursor, by its position in the batch.
    fn on(&self) -> Option<usize> {
        self.shown.get(self.cursor.at).copied()
    }

    /// Number of groups left out because they were rotated within 24 h, or because of their age.
    fn recent(&self) -> usize {
        let plan = match &self.stage {
            Stage::Check(plan, _) => plan,
            Stage::Resume(resumption, _) => return resumption.old.len(),
            Stage::Planning(_) | Stage::Failed(_) | Stage::Run(_) => return 0,
        };
        let skips = plan.skipped.iter();
        skips.filter(|(_, skip)| skip.is_recent()).count()
    }
}

/// The batch and its reason; its kind as long as its number is not known.
fn title(run: &BatchRun) -> String {
    let reason = run.reason.as_ref().filter(|_| run.batch.is_some());
    let reason = reason.map_or_else(String::new, |reason| format!("  {reason}"));
    run.title() + &reason
}

impl View for BatchPane {
    fn focus(&self) -> Focus {
        if self.file.is_asked() {
            return Focus::WritePath;
        }
        match &self.stage {
            Stage::Planning(_) | Stage::Failed(_) => Focus::BulkCheck,
            Stage::Check(_, confirm) => confirm.as_ref().map_or(START.key, |asked| asked.focus()),
            Stage::Resume(_, confirm) => confirm.focus(),
            Stage::Run(_) => Focus::BulkRun,
        }
    }

    fn title(&self, context: &Context) -> String {
        if let Stage::Resume(resumption, _) = &self.stage {
            return format!("Batch {}", resumption.batch.id.0);
        }
        match self.run(context) {
            Some(run) => title(run),
            None if self.title.is_empty() => "Bulk rotation".into(),
            None => self.title.clone(),
        }
    }

    fn status(&self, context: &Context) -> String {
        match &self.stage {
            Stage::Planning(_) => "checking".into(),
            Stage::Failed(_) => "Nothing was sent".into(),
            Stage::Check(..) | Stage::Resume(..) => "nothing is sent yet".into(),
            Stage::Run(_) => self.run(context).map_or_else(String::new, |run| {
                let only = if self.failed_only {
                    "failed only   "
                } else {
                    ""
                };
                let time = match run.spent(context.now) {
                    time if time.is_zero() || !run.is_under_way() => String::new(),
                    time => format!(" {}", run::clock(time)),
                };
                format!("{only}{}{time}", run.word())
            }),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let page = context.half_page();
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
            Action::Enter if matches!(self.stage, Stage::Run(_)) => self.open_group(context),
            Action::Resume => self.plan_resumption(context),
            Action::Back | Action::Enter => {
                if matches!(self.stage, Stage::Check(..) | Stage::Resume(..)) {
                    context.mention("Nothing was sent");
                }
                self.pop(context);
            }
            Action::Refresh if matches!(self.stage, Stage::Run(_)) => {
                if let Some(job) = self.run(context).map(|run| Job::settle(&run.kind)) {
                    context.ask(&self.checking, job);
                }
            }
            Action::Refresh => self.check_again(context),
            Action::NextFailed => self.go_to_failed(1, context),
            Action::PreviousFailed => {
                self.go_to_failed(self.shown.len().saturating_sub(1), context);
            }
            Action::IncludeRecent | Action::IncludeOld => {
                self.include_recent = !self.include_recent;
                self.check_again(context);
            }
            Action::Pause => {
                context.steer(if self.is_paused(context) {
                    RunCommand::Go
                } else {
                    RunCommand::Pause
                });
            }
            Action::Stop => {
                context.steer(RunCommand::Stop(StopCause::Person));
                let text =
                    "Stopping: no further group is started, requests in progress are finished";
                context.say(Severity::Warning, text);
            }
            Action::FailedOnly => {
                self.failed_only = !self.failed_only;
            }
            Action::RetryFailed => self.retry(context),
            Action::WriteFile => self.ask_path(context),
            _ => {}
        }
    }

    /// The field that takes text now.
    fn field(&mut self) -> Option<&mut TextField> {
        if self.file.is_asked() {
            return self.file.field();
        }
        self.confirm_mut()?.field()
    }

    fn confirm(&self) -> Option<&Confirm> {
        match &self.stage {
            Stage::Check(_, confirm) => confirm.as_deref(),
            Stage::Resume(_, confirm) => Some(confirm),
            Stage::Planning(_) | Stage::Failed(_) | Stage::Run(_) => None,
        }
    }

    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        match &mut self.stage {
            Stage::Check(_, confirm) => confirm.as_deref_mut(),
            Stage::Resume(_, confirm) => Some(confirm),
            Stage::Planning(_) | Stage::Failed(_) | Stage::Run(_) => None,
        }
    }

    fn unsaved(&self) -> Option<String> {
        // While the groups are checked again, nothing is asked.
        let is_typed = match self.confirm() {
            Some(confirm) => confirm.has_input(),
            None => self.reason.is_typed(),
        };
        is_typed.then(|| CONFIRMATION_LOST.into())
    }

    fn carry_out(&mut self, context: &mut Context) {
        match &self.stage {
            Stage::Check(..) => self.start(context),
            Stage::Resume(..) => self.resume(context),
            Stage::Planning(_) | Stage::Failed(_) | Stage::Run(_) => {}
        }
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        let goes_on = self.run(context).is_some_and(BatchRun::is_under_way);
        let is_run = matches!(self.stage, Stage::Run(_));
        // Otherwise the hint would not fit at all; the message after it says that the run continues.
        let is_narrow = context.size.0 < NARROW_WIDTH;
        match action {
            // Here Esc closes the prompt; the page of the batch stays open.
            Action::Back if self.file.is_asked() => None,
            Action::Back if is_run && (!goes_on || is_narrow) => Some("leave"),
            Action::Back if is_run && self.is_paused(context) => Some("leave (paused)"),
            Action::Confirm => self.confirm()?.verb(),
            Action::Pause if self.is_paused(context) => Some("resume"),
            Action::FailedOnly if self.failed_only => Some("all"),
            _ => None,
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        if action == Action::Refresh && !matches!(self.stage, Stage::Run(_)) {
            let reads = matches!(
                self.stage,
                Stage::Check(..) | Stage::Resume(..) | Stage::Failed(_)
            );
            let here = matches!(self.focus(), Focus::BulkCheck | Focus::ResumeCheck);
            return (!reads || !here).then(|| "nothing to refresh".into());
        }
        if action == Action::Confirm {
            return Self::why_not_start(context).filter(|_| self.confirm().is_some());
        }
        if matches!(action, Action::IncludeRecent | Action::IncludeOld) {
            return (!self.include_recent && self.recent() == 0)
                .then(|| "no group was skipped".into());
        }
        let Stage::Run(_) = self.stage else {
            return None;
        };
        let run = self.run(context);
        match action {
            Action::Pause | Action::Stop => match run {
                Some(run) if !run.is_under_way() => Some(format!("the batch is {}", run.word())),
                Some(run) if run.command.is_stop() || run.halt.is_some() => {
                    Some("the batch is stopping already".into())
                }
                Some(_) => None,
                None => Some(NOT_IN_MEMORY.into()),
            },
            Action::RetryFailed => match run {
                Some(run) if run.is_under_way() => Some("the batch is still running".into()),
                Some(run) if run.to_retry().is_empty() => Some("nothing to retry".into()),
                Some(run) if let Some(why) = &run.no_retry => {
                    Some(format!("nothing to retry: {why}"))
                }
                Some(run) => context.why_not(run.profile, NextStep::batch(&run.kind)),
                None => Some(NOT_IN_MEMORY.into()),
            },
            Action::Resume => match run {
                Some(run) if run.is_under_way() => Some("the batch is running".into()),
                Some(run) if run.counts().not_started == 0 => Some("no group is left".into()),
                Some(_) => Self::why_not_start(context),
                None => Some(NOT_IN_MEMORY.into()),
            },
            Action::Refresh => match run {
                Some(run) if run.is_under_way() => Some("the batch is still running".into()),
                Some(_) if self.checking.is_waiting() => Some("the groups are being read".into()),
                Some(run) if run.counts().unknown == 0 => Some("no group is UNKNOWN".into()),
                Some(_) => context.view_only_reason().map(str::to_owned),
                None => Some(NOT_IN_MEMORY.into()),
            },
            Action::FailedOnly if self.failed_only => None,
            Action::NextFailed | Action::PreviousFailed | Action::FailedOnly => {
                let failed = run.is_some_and(|run| run.failed() > 0);
                (!failed).then(|| "no group failed".into())
            }
            Action::Enter if !self.file.is_asked() && self.on().is_none() => {
                Some("no group here".into())
            }
            _ => None,
        }
    }

    fn leave(&mut self, context: &mut Context) {
        match self.stage {
            Stage::Planning(ticket) => context.cancel(ticket),
            Stage::Run(_) if self.run(context).is_some_and(BatchRun::is_under_way) => {
                let key = |place, action| context.keys.key(place, action);
                let all = key(Focus::Batches, Action::NextField);
                let mut steps = format!("{} on the list", key(Focus::List, Action::Batches));
                let paused = self.run(context).filter(|_| self.is_paused(context));
                let text = if let Some(run) = paused {
                    let waiting = run.counts().not_started.saturating_sub(run.under_way());
                    let open = key(Focus::Batches, Action::Enter);
                    let resume = key(Focus::BulkRun, Action::Pause);
                    if context.is_switching {
                        steps = format!("{steps}, {all}");
                    }
                    let how = format!("{steps}, {open}, then {resume} resumes it");
                    format!("The batch stays paused, {waiting} waiting: {how}")
                } else {
                    if context.is_switching {
                        steps = format!("{steps}, then {all}");
                    }
                    format!("The batch continues; {steps} shows it")
                };
                context.say(Severity::Info, text);
            }
            Stage::Run(ticket) => {
                // The list need not report it any more; another page may still show it.
                let run = context.bulk.as_mut();
                if let Some(run) = run.filter(|run| run.ticket == ticket) {
                    run.was_seen = true;
                }
            }
            Stage::Check(..) | Stage::Resume(..) | Stage::Failed(_) => {}
        }
        context.give_up(&self.reading);
    }

    fn journal_changed(&mut self, context: &mut Context) {
        self.reload(context);
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.reading, &self.checking]
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        let waiting = match self.stage {
            Stage::Planning(mine) | Stage::Run(mine) => Some(mine),
            Stage::Check(..) | Stage::Resume(..) | Stage::Failed(_) => None,
        };
        let mut pending = self.pending().into_iter();
        waiting == Some(ticket)
            || self.file.waits_for(ticket)
            || pending.any(|pending| pending.waits_for(ticket))
    }

    fn is_preparing(&self) -> bool {
        matches!(self.stage, Stage::Planning(_))
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        self.take(outcome, context);
    }

    fn job_panicked(&mut self, _context: &mut Context) {
        if !self.file.job_panicked() && matches!(self.stage, Stage::Planning(_)) {
            self.stage = Stage::Failed("Internal error, the check stopped".into());
        }
    }

    fn sync(&mut self, context: &mut Context) {
        let Some(run) = self.run(context) else { return };
        let (is_under_way, basis) = (run.is_under_way(), Some((run.version, self.failed_only)));
        if self.basis == basis {
            self.is_under_way = is_under_way;
            return;
        }
        let title = title(run);
        let rows = run.rows.iter().enumerate();
        let mut shown: Vec<_> = rows
            .filter(|(_, row)| !self.failed_only || row.is_failed())
            .collect();
        shown.sort_by_key(|(_, row)| row.rank());
        let shown: Vec<usize> = shown.into_iter().map(|(at, _)| at).collect();
        // If the person has not moved the cursor, it stays at the top; otherwise it stays on its group.
        let at = shown.iter().position(|at| Some(*at) == self.on());
        let at = at.filter(|_| self.cursor.at > 0).unwrap_or(self.cursor.at);
        self.cursor.at = at.min(shown.len().saturating_sub(1));
        (self.shown, self.basis, self.title) = (shown, basis, title);
        self.is_under_way = is_under_way;
    }

    fn ticks(&self) -> bool {
        self.is_under_way
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}
