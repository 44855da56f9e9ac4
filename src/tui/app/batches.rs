//! Bulk rotations apart from their pane: progress of the current run, how it ended, and what an earlier session left
//! unfinished.

use super::{Action, App, Job, Outcome, Pane, Severity, Ticket};
use crate::{
    operations::{Batch, BatchItem, batch::BatchEvent},
    tui::{keymap::Focus, state::batch::BatchRun},
};

impl App {
    pub(super) fn runs_a_batch(&self) -> bool {
        self.context
            .bulk
            .as_ref()
            .is_some_and(BatchRun::is_under_way)
    }

    pub(super) fn news(&mut self, ticket: Ticket, news: Vec<BatchEvent>) {
        let now = self.context.now;
        let is_wrong = news.iter().any(|one| match one {
            BatchEvent::Ended(ended) => ended.wrong_environment,
            BatchEvent::Started(_)
            | BatchEvent::Throttled(_)
            | BatchEvent::NoDirectory(_)
            | BatchEvent::Halted(_)
            | BatchEvent::Finished(_) => false,
        });
        if let Some(run) = self.batch_of(ticket) {
            let profile = run.profile;
            run.take(news, now);
            if is_wrong {
                self.context.wrong_environment.insert(profile);
            }
        }
    }

    /// Called when a job ends; records the end if it is that of the current run.
    pub(super) fn batch_ended(&mut self, ticket: Ticket, outcome: &Outcome, is_here: bool) {
        let Some(run) = self.batch_of(ticket) else {
            return;
        };
        if let Outcome::BulkEnded(report) = outcome {
            run.finished(report.clone());
        } else if let Outcome::Failed(error) = outcome {
            run.end_with_error(error.text.clone());
        } else {
            return;
        }
        if is_here {
            // The rotations have updated the directory, so the list on the screen is out of date.
            self.context.start(Job::List);
            if self.context.hands_off_to().is_some() {
                self.context.start(Job::PendingHandOffs);
            }
        }
    }

    pub(super) fn batch_lost(&mut self, ticket: Ticket) {
        if let Some(run) = self.batch_of(ticket) {
            run.end_with_error("Internal error, stopped".into());
        }
    }

    /// Updates the batch of this session from the journal.
    pub(super) fn batch_read(&mut self, batch: &Batch, items: &[BatchItem]) {
        let here = self.context.current;
        let mine = |run: &&mut BatchRun| run.batch == Some(batch.id) && run.profile == here;
        if let Some(run) = self.context.bulk.as_mut().filter(mine) {
            run.follow_batch(batch);
            run.follow(items);
        }
    }

    /// Called after each key: if the page of a batch is on top, reads it again, because another process may have
    /// settled an item.
    pub(super) fn follow_batch_on_top(&mut self) {
        if let Some(Pane::Bulk(pane)) = self.stack.last() {
            pane.reload(&mut self.context);
        }
    }

    /// Called when the journal may have changed: reads everything again that shows or counts it.
    pub fn follow_journal(&mut self) {
        self.context.start(Job::Attention { whole: false });
        for pane in &mut self.stack {
            pane.view_mut().journal_changed(&mut self.context);
        }
    }

    fn batch_of(&mut self, ticket: Ticket) -> Option<&mut BatchRun> {
        let mine = |run: &&mut BatchRun| run.ticket == ticket;
        self.context.bulk.as_mut().filter(mine)
    }

    /// Reports how the batch ended, when its pane has been closed.
    pub(super) fn say_batch_ended(&mut self, place: &str) {
        if let Some(run) = &self.context.bulk {
            let (severity, text) = (run.severity(), format!("{}{place}", run.line()));
            self.context.say(severity, text);
        }
    }

    /// Reports batches that an earlier session or another process did not finish; does not resume them.
    pub(super) fn report_unfinished_batches(&mut self, batches: &[Batch]) {
        let running = self.context.bulk.as_ref().filter(|run| run.is_under_way());
        let running = running.and_then(|run| run.batch);
        let mut unfinished = batches
            .iter()
            .filter(|batch| batch.ended_at.is_none() && !batch.is_run())
            .filter(|batch| Some(batch.id) != running);
        if let Some(newest) = unfinished.next() {
            let counts = &newest.counts;
            let key = self.context.keys.key(Focus::List, Action::Batches);
            let resume = self.context.keys.key(Focus::Batches, Action::Resume);
            let left = counts.not_started + counts.unknown;
            let text = if left == 0 {
                format!(
                    "Batch {} is not closed: nothing is left. {key} lists it, {resume} closes it",
                    newest.id.0
                )
            } else {
                format!(
                    "Batch {} is unfinished: {} of {} left. {key} lists it, {resume} resumes it",
                    newest.id.0,
                    left,
                    counts.planned(),
                )
            };
            self.context.say(Severity::Warning, text);
        }
    }
}
