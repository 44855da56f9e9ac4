//! The actions of the bulk pane: starting once it is confirmed, handling outcomes, writing the report.

use super::{BatchPane, RESUME, START, Stage};
use crate::{
    config::guard::Level,
    domain::batch::{BatchKind, Plan},
    operations::{
        Batch, BatchId, BatchItem, Guarded,
        batch::{Resumption, RunCommand},
    },
    tui::{
        kit::scroll::Cursor,
        page::view::View,
        state::{
            batch::{BatchRow, BatchRun, report},
            confirm::Confirm,
            context::{Context, Navigation},
            message::{Job, Outcome},
            navigation::{BatchAim, EditSource, PaneRequest},
            notices::Severity,
        },
    },
};

impl BatchPane {
    /// Asks for the words to start the run, the same as on the command line; for nothing where no group is ready.
    fn ask_to_start(&self, plan: &Plan, context: &Context) -> Option<Box<Confirm>> {
        let ready = plan.ready.len();
        let profile = context.profile().filter(|_| ready > 0)?;
        let words = format!("rotate {ready} in {}", profile.name);
        let confirm = Confirm::new(START, Level::Words, None);
        Some(Box::new(confirm.of("", words).with_reason(&self.reason)))
    }

    pub(super) fn start(&mut self, context: &mut Context) {
        let Stage::Check(plan, Some(confirm)) = &self.stage else {
            return;
        };
        let ticket = context.start_batch(plan.clone(), confirm.reason(), self.retries);
        self.stage = Stage::Run(ticket);
        self.cursor = Cursor::default();
    }

    /// Asks for the key or the words to resume the batch.
    fn ask_to_resume(resumption: &Resumption, context: &Context) -> Confirm {
        let profile = context.profile_name();
        let words = resumption.words(profile);
        let guard = resumption.guard.clone();
        let confirm = Confirm::new(RESUME, resumption.level, guard);
        match resumption.batch.counts.not_started {
            0 => confirm.of("closes the batch", words).with_verb("CLOSE"),
            _ => confirm.of(format!("resumes the batch in {profile}"), words),
        }
    }

    /// Why no run can be started: another one is running, or it is not allowed.
    pub(super) fn why_not_start(context: &Context) -> Option<String> {
        let runs = context.bulk.as_ref().is_some_and(BatchRun::is_under_way);
        let runs = runs.then(|| "another batch is running".into());
        runs.or_else(|| context.why_forbidden(Guarded::Bulk))
    }

    pub(super) fn resume(&mut self, context: &mut Context) {
        let Stage::Resume(resumption, _) = &self.stage else {
            return;
        };
        self.stage = Stage::Run(context.resume_batch(resumption));
        self.stored = None;
        self.cursor = Cursor::default();
    }

    /// Checks the remaining items of the batch.
    pub(super) fn plan_resumption(&mut self, context: &mut Context) {
        if let Some(id) = self.batch(context) {
            let other = Self::of(id, BatchAim::Resume, context);
            *self = other;
        }
    }

    /// The batch of this page.
    fn batch(&self, context: &Context) -> Option<BatchId> {
        match &self.stage {
            Stage::Run(_) => self.run(context)?.batch,
            _ => self.number,
        }
    }

    /// A batch of the journal has been read: starts what it was opened for.
    fn batch_read(&mut self, batch: &Batch, items: &[BatchItem], context: &mut Context) {
        if let Some(stored) = &mut self.stored {
            stored.follow_batch(batch);
            stored.follow(items);
            return;
        }
        let Stage::Planning(ticket) = self.stage else {
            return;
        };
        let run = BatchRun::stored(ticket, context.current, batch, items);
        self.stage = Stage::Run(ticket);
        self.stored = Some(Box::new(run));
        match self.aim {
            BatchAim::Look | BatchAim::Resume => {}
            BatchAim::Retry => self.retry(context),
            BatchAim::Report => self.ask_path(context),
        }
    }

    pub(super) fn check_again(&mut self, context: &mut Context) {
        if let Some(id) = self.number {
            *self = Self::open_with(id, self.aim, self.include_recent, context);
            return;
        }
        let reason = self.confirm().and_then(Confirm::reason);
        self.reason = reason.unwrap_or_default();
        let ticket = context.start(Job::PlanBulk {
            ids: self.ids.clone(),
            include_recent: self.include_recent,
            retries: self.retries,
        });
        self.stage = Stage::Planning(ticket);
    }

    /// Checks again what was not applied. An edit is never retried by rotating: it is reviewed again.
    pub(super) fn retry(&mut self, context: &mut Context) {
        let Some(run) = self.run(context) else { return };
        match (&run.kind, run.batch) {
            (BatchKind::Rotate, _) => {
                let (ids, batch) = (run.to_retry(), run.batch);
                let reason = run.reason.clone().unwrap_or_default();
                *self = Self::checking(ids, batch, context);
                self.reason = reason;
            }
            (BatchKind::Edit(_), Some(batch)) => {
                let again = PaneRequest::BulkEdit(EditSource::Again(batch));
                context.navigate(Navigation::Replace(again));
            }
            (BatchKind::Edit(_), None) => {}
        }
    }

    pub(super) fn take(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Planned(plan) => {
                let confirm = self.ask_to_start(plan, context);
                self.stage = Stage::Check(plan.clone(), confirm);
                self.cursor = Cursor::default();
            }
            Outcome::Batch(stands) => self.batch_read(&stands.0, &stands.1, context),
            Outcome::Resumable(resumption) => {
                let confirm = Self::ask_to_resume(resumption, context);
                self.stage = Stage::Resume(resumption.clone(), Box::new(confirm));
                self.cursor = Cursor::default();
            }
            Outcome::BulkEnded(_) => {
                if let Some(run) = self.run(context) {
                    let (severity, text) = (run.severity(), run.line());
                    context.say(severity, text);
                }
            }
            Outcome::ReportWritten(path) => {
                self.file.done();
                let text = format!("Report saved to {} (only you can read it)", path.display());
                context.say(Severity::Done, text);
            }
            Outcome::Failed(error) if self.file.failed(&error.text) => {
                context.say_error(error);
            }
            Outcome::Failed(error) => {
                if matches!(self.stage, Stage::Planning(_)) {
                    self.stage = Stage::Failed(error.text.clone());
                }
                context.say_error(error);
            }
            _ => {}
        }
    }

    /// Moves the cursor by `step` rows until one needs a person, wrapping around.
    pub(super) fn go_to_failed(&mut self, step: usize, context: &Context) {
        let Some(run) = self.run(context) else { return };
        let count = self.shown.len();
        let mut on = self.cursor.at;
        for _ in 0..count {
            on = (on + step) % count;
            let row = self.shown.get(on).and_then(|at| run.rows.get(*at));
            if row.is_some_and(BatchRow::is_failed) {
                self.cursor.at = on;
                return;
            }
        }
    }

    pub(super) fn is_paused(&self, context: &Context) -> bool {
        let run = self.run(context);
        run.is_some_and(|run| run.command == RunCommand::Pause)
    }

    pub(super) fn open_group(&self, context: &mut Context) {
        let at = self.on();
        let row = self.run(context).and_then(|run| run.rows.get(at?));
        if let Some(id) = row.map(|row| row.id.clone()) {
            context.navigate(Navigation::Push(PaneRequest::Group(id)));
        }
    }

    pub(super) fn ask_path(&mut self, context: &Context) {
        let batch = self.run(context).and_then(|run| run.batch);
        let number = batch.map_or_else(|| "new".to_owned(), |batch| batch.0.to_string());
        let name = format!("~/bulk-{number}.json");
        self.file.ask_file(name);
    }

    pub(super) fn write(&mut self, context: &mut Context) {
        let Some(path) = self.file.path() else {
            return;
        };
        let run = self.run(context);
        let report = run.map(|run| report::of(run, context, &path));
        if let Some(report) = report {
            self.file
                .begun(context.start(Job::WriteReport(report, path)));
        }
    }
}
