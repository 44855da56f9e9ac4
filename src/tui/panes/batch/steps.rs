//! The actions of the bulk pane: starting once the words are typed, handling outcomes, writing the report.

use super::{BatchPane, Stage};
use crate::{
    config::guard::Level,
    domain::batch::BatchKind,
    operations::{Batch, BatchId, BatchItem, Guarded, batch::RunCommand},
    tui::{
        state::{
            batch::{BatchRow, BatchRun, report},
            context::{Context, Navigation},
            message::{Job, Outcome},
            navigation::{BatchAim, EditSource, PaneRequest},
            notices::Severity,
        },
        widgets::scroll::Cursor,
    },
};

impl BatchPane {
    /// The words to type; the same as on the command line.
    pub(super) fn words(&self, context: &Context) -> Option<String> {
        let Stage::Check { plan, .. } = &self.stage else {
            return None;
        };
        let profile = &context.profile()?.name;
        Some(format!("rotate {} in {profile}", plan.ready.len()))
    }

    pub(super) fn confirm(&mut self, context: &mut Context) {
        let words = self.words(context);
        let Stage::Check { plan, .. } = &self.stage else {
            return;
        };
        if words.as_deref() != Some(self.typed.text()) {
            self.typed.error = Some("Text differs; nothing was sent".into());
            return;
        }
        if let Some(why) = Self::why_not_start(context) {
            self.typed.error = Some(format!("{why}; nothing was sent"));
            return;
        }
        let reason = self.reason.text().trim();
        let reason = (!reason.is_empty()).then(|| reason.to_owned());
        let ticket = context.start_batch(plan.clone(), reason);
        self.stage = Stage::Run(ticket);
        self.cursor = Cursor::default();
    }

    /// Why no run can be started: another one is running, or it is not allowed.
    pub(super) fn why_not_start(context: &Context) -> Option<String> {
        let runs = context.bulk.as_ref().is_some_and(BatchRun::is_under_way);
        let runs = runs.then(|| "another batch is running".into());
        runs.or_else(|| context.why_forbidden(Guarded::Bulk))
    }

    /// Resumes the batch, if the required words were typed or the key was pressed.
    pub(super) fn resume(&mut self, context: &mut Context) {
        let Stage::Resume(resumption) = &self.stage else {
            return;
        };
        let profile = context.profile().map(|profile| profile.name.clone());
        let words = resumption.words(&profile.unwrap_or_default());
        let is_typed = resumption.level != Level::Words || self.typed.text() == words;
        let why = if is_typed {
            Self::why_not_start(context)
        } else {
            Some("text differs".into())
        };
        if let Some(why) = why {
            let text = format!("{why}; nothing was sent");
            context.say(Severity::Warning, text.clone());
            self.typed.error = Some(text);
            return;
        }
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
                self.reason.set_text(&reason);
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
                self.stage = Stage::Check {
                    plan: plan.clone(),
                    on_reason: false,
                };
                self.cursor = Cursor::default();
            }
            Outcome::Batch(stands) => self.batch_read(&stands.0, &stands.1, context),
            Outcome::Resumable(resumption) => {
                self.stage = Stage::Resume(resumption.clone());
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
        self.file.ask(name);
    }

    pub(super) fn write(&mut self, context: &mut Context) {
        let Some(path) = self.file.path() else {
            return;
        };
        let profile = context.profile().map(|profile| profile.name.clone());
        let report = self
            .run(context)
            .map(|run| report::of(run, &profile.unwrap_or_default(), &path));
        if let Some(report) = report {
            self.file
                .begun(context.start(Job::WriteReport(report, path)));
        }
    }
}
