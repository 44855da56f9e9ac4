//! What the bulk pane does: begin once the words are typed, take in outcomes, write the report.

use super::{Bulk, Stage};
use crate::tui::{
    state::{
        app::batches::severity,
        batch::{BulkRun, report},
        context::{Ask, Desk},
        message::{Job, Outcome},
        navigation::Opening,
        notices::Severity,
    },
    widgets::scroll::Cursor,
};

impl Bulk {
    /// What must be typed; the same as on the command line.
    pub(super) fn words(&self, desk: &Desk) -> Option<String> {
        let Stage::Check { plan, .. } = &self.stage else {
            return None;
        };
        let profile = &desk.profile()?.name;
        Some(format!("rotate {} in {profile}", plan.ready.len()))
    }

    pub(super) fn confirm(&mut self, desk: &mut Desk) {
        let words = self.words(desk);
        let Stage::Check { plan, .. } = &self.stage else {
            return;
        };
        if words.as_deref() != Some(self.typed.text()) {
            self.typed.error = Some("not the same words; nothing was sent".into());
            return;
        }
        if desk.bulk.as_ref().is_some_and(BulkRun::is_under_way) {
            self.typed.error = Some("another bulk rotation is under way; nothing was sent".into());
            return;
        }
        let reason = self.reason.text().trim();
        let reason = (!reason.is_empty()).then(|| reason.to_owned());
        let ticket = desk.start_bulk(plan.clone(), reason);
        self.stage = Stage::Run(ticket);
        self.cursor = Cursor::default();
    }

    pub(super) fn check_again(&mut self, desk: &mut Desk) {
        let ticket = desk.start(Job::PlanBulk {
            ids: self.ids.clone(),
            include_recent: self.include_recent,
        });
        self.stage = Stage::Planning(ticket);
    }

    pub(super) fn take(&mut self, outcome: &Outcome, desk: &mut Desk) {
        match outcome {
            Outcome::Planned(plan) => {
                self.stage = Stage::Check {
                    plan: plan.clone(),
                    on_reason: false,
                };
                self.cursor = Cursor::default();
            }
            Outcome::BulkEnded(_) => {
                if let Some(run) = self.run(desk) {
                    let (severity, text) = (severity(run), run.line());
                    desk.say(severity, text);
                }
            }
            Outcome::ReportWritten(path) => {
                self.file.done();
                let text = format!(
                    "report written to {} (only you can read it)",
                    path.display()
                );
                desk.say(Severity::Done, text);
            }
            Outcome::Failed(trouble) if self.file.failed(&trouble.text) => {
                desk.say(Severity::Error, trouble.text.clone());
            }
            Outcome::Failed(trouble) => {
                if matches!(self.stage, Stage::Planning(_)) {
                    self.stage = Stage::Failed(trouble.text.clone());
                }
                desk.say(Severity::of(trouble), trouble.text.clone());
            }
            _ => {}
        }
    }

    pub(super) fn open_group(&self, desk: &mut Desk) {
        let at = self.shown.get(self.cursor.at).copied();
        let row = self.run(desk).and_then(|run| run.rows.get(at?));
        if let Some(id) = row.map(|row| row.id.clone()) {
            desk.ask(Ask::Push(Opening::Group(id)));
        }
    }

    pub(super) fn ask_path(&mut self, desk: &Desk) {
        let batch = self.run(desk).and_then(|run| run.batch);
        let number = batch.map_or_else(|| "new".to_owned(), |batch| batch.0.to_string());
        let name = format!("~/bulk-{number}.json");
        self.file.ask(name);
    }

    pub(super) fn write(&mut self, desk: &mut Desk) {
        let Some(path) = self.file.path() else {
            return;
        };
        let profile = desk.profile().map(|profile| profile.name.clone());
        let report = self
            .run(desk)
            .map(|run| report::of(run, &profile.unwrap_or_default(), &path));
        if let Some(report) = report {
            self.file.begun(desk.start(Job::WriteReport(report, path)));
        }
    }
}
