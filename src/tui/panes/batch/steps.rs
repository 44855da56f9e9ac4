//! What the bulk pane does: begin once the words are typed, take in outcomes, write the report.

use super::{BatchPane, Stage};
use crate::tui::{
    state::{
        app::batches::severity,
        batch::{BatchRun, report},
        context::{Context, Navigation},
        message::{Job, Outcome},
        navigation::PaneRequest,
        notices::Severity,
    },
    widgets::scroll::Cursor,
};

impl BatchPane {
    /// What must be typed; the same as on the command line.
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
        if context.bulk.as_ref().is_some_and(BatchRun::is_under_way) {
            self.typed.error = Some("Another bulk rotation is running; nothing was sent".into());
            return;
        }
        let reason = self.reason.text().trim();
        let reason = (!reason.is_empty()).then(|| reason.to_owned());
        let ticket = context.start_batch(plan.clone(), reason);
        self.stage = Stage::Run(ticket);
        self.cursor = Cursor::default();
    }

    pub(super) fn check_again(&mut self, context: &mut Context) {
        let ticket = context.start(Job::PlanBulk {
            ids: self.ids.clone(),
            include_recent: self.include_recent,
        });
        self.stage = Stage::Planning(ticket);
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
            Outcome::BulkEnded(_) => {
                if let Some(run) = self.run(context) {
                    let (severity, text) = (severity(run), run.line());
                    context.say(severity, text);
                }
            }
            Outcome::ReportWritten(path) => {
                self.file.done();
                let text = format!("Report saved to {} (only you can read it)", path.display());
                context.say(Severity::Done, text);
            }
            Outcome::Failed(trouble) if self.file.failed(&trouble.text) => {
                context.say(Severity::Error, trouble.text.clone());
            }
            Outcome::Failed(trouble) => {
                if matches!(self.stage, Stage::Planning(_)) {
                    self.stage = Stage::Failed(trouble.text.clone());
                }
                context.say(Severity::of(trouble), trouble.text.clone());
            }
            _ => {}
        }
    }

    pub(super) fn open_group(&self, context: &mut Context) {
        let at = self.shown.get(self.cursor.at).copied();
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
