//! One item of a bulk edit: the single update that was reviewed, or the read that settles one sent by an earlier run.

use tokio::time::Instant;

use super::item::{ItemContext, Outcome, not_checked};
use crate::{
    domain::batch::{BulkChange, UNREADABLE},
    operations::{prelude::*, run::RetryBudget},
};

pub(super) const ALREADY: &str = "already set, not sent";

impl ItemContext {
    /// Sends the update of the item, unless the run is stopped first.
    pub(super) async fn edit(self, item: BatchItem, change: BulkChange) -> Outcome {
        let begun = Instant::now();
        let Some(reviewed) = &item.edit else {
            let left = self.not_sent(&item, Ending::NotApplied, UNREADABLE, begun);
            return left.await;
        };
        let edit = reviewed.update(&change.row);
        match self.send(&item, Some(&edit), &mut None, begun).await {
            Err(outcome) => *outcome,
            Ok(None) => {
                let why = "stopped before it was sent".to_owned();
                let left = self.outcome_from_journal(&item, ItemStatus::NotStarted, why, begun);
                left.await.stopped()
            }
            Ok(Some(Ok(done))) => self.edited(&item, done, begun).await,
            Ok(Some(Err(failure))) => self.not_edited(&item, failure, begun).await,
        }
    }

    async fn edited(&self, item: &BatchItem, done: Done, begun: Instant) -> Outcome {
        let alarm = done.warnings.iter().find(|warning| warning.is_alarm());
        let alarm = alarm.map(Warning::to_string);
        let is_sent = done.ending == Ending::Updated;
        let outcome = match (is_sent, &alarm) {
            (true, _) => {
                let (status, word) = (ItemStatus::Confirmed, Ending::Updated.as_str());
                let mut outcome = Outcome::of(item, status, word, begun);
                outcome.ended.note = kept_otherwise(&done);
                outcome
            }
            (false, Some(alarm)) => self.not_sent(item, Ending::Conflict, alarm, begun).await,
            (false, None) => self.not_sent(item, Ending::Found, ALREADY, begun).await,
        };
        outcome
            .fatal(alarm.filter(|_| is_sent))
            .with_warnings(done.warnings)
    }

    async fn not_edited(&self, item: &BatchItem, failure: Failure, begun: Instant) -> Outcome {
        if !failure.concerns_one_group() && !matches!(failure, Failure::NotKnownEnough(_)) {
            return self.failed(item, failure, begun).await;
        }
        let why = match &failure {
            // Without what it says of sending.
            Failure::Held(holder) => format!("skipped: {holder}"),
            other => format!("skipped: {other}"),
        };
        let outcome = self.not_sent(item, Ending::NotApplied, &why, begun);
        outcome.await.harmless()
    }

    /// Determines by a read, as far as possible, what became of an update that an earlier run sent.
    pub(super) async fn settle_update(self, item: BatchItem) -> Outcome {
        let begun = Instant::now();
        let mut patience = RetryBudget::new();
        let read = self.read(&item.user_group_id, &mut patience).await;
        let seems = item.status();
        let why = match &read {
            Some(Err(failure)) => not_checked(failure),
            _ => item.note.clone().unwrap_or_default(),
        };
        let outcome = self.outcome_from_journal(&item, seems, why, begun);
        let mut outcome = outcome.await.harmless();
        outcome.ended.settled = true;
        match read {
            None => outcome.stopped(),
            Some(Ok(done)) => outcome.with_warnings(done.warnings),
            Some(Err(_)) => outcome,
        }
    }
}

/// Describes where the answer differs from what was sent (hazard 2 of docs/design/service.md).
fn kept_otherwise(done: &Done) -> Option<String> {
    let is_different = |warning: &&Warning| matches!(warning, Warning::Differs(_));
    let differs = done.warnings.iter().filter(is_different);
    let differs: Vec<_> = differs.map(Warning::to_string).collect();
    (!differs.is_empty()).then(|| differs.join("; "))
}
