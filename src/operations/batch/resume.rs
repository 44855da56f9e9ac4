//! Going on with a batch that was left: what of it is ready is checked again, and how strongly that asks depends on who
//! began it and when.

use std::time::Duration;

use crate::{
    config::guard::{self, Level},
    directory::{Batch, BatchId, BatchItem},
    domain::{
        age,
        batch::{BatchKind, ItemStatus, Plan, Rules},
        group::UserGroupId,
        rotation::State,
    },
    operations::{Failure, Guarded, Operations},
};

/// Within this time the one who began a batch goes on with it without typing words.
const SAME_SHIFT: Duration = Duration::from_hours(24);

/// What going on with a batch would do. Nothing is sent for what was sent before; its open items are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumption {
    pub batch: Batch,
    pub items: Vec<BatchItem>,
    /// Of what was not begun: what is ready, and what its item will refuse as things stand, with nothing sent.
    pub plan: Plan,
    /// Items whose rotation is open; they are read first.
    pub open: usize,
    /// [`Level::Key`] or [`Level::Words`].
    pub level: Level,
    /// The reason of the guard that raised it.
    pub guard: Option<String>,
}

impl Resumption {
    /// How many were not begun.
    pub fn left(&self) -> usize {
        self.batch.counts.not_started
    }

    /// What must be typed at [`Level::Words`].
    pub fn words(&self, profile: &str) -> String {
        format!("resume {} in {profile}", self.left())
    }
}

impl Operations {
    /// Checks what is left of a batch of this place. Nothing is sent or written.
    pub async fn plan_resumption(&self, id: BatchId) -> Result<Resumption, Failure> {
        self.permitted(Guarded::Bulk)?;
        let batch = self.batch(id).await.map_err(Failure::NothingSent)?;
        let items = self.batch_items(id).await;
        let items = items.map_err(Failure::NothingSent)?;
        let left: Vec<UserGroupId> = items
            .iter()
            .filter(|item| item.status() == ItemStatus::NotStarted)
            .map(|item| item.user_group_id.clone())
            .collect();
        self.not_too_many(left.len())?;
        let rules = Rules {
            environment: self.profile().environment.clone(),
            most: left.len(),
            guard: None,
            // What was ready when the batch was begun is not too recent now.
            include_recent: true,
            begun: (batch.kind == BatchKind::Rotate).then_some(batch.started_at),
            now: self.now(),
        };
        let plan = self.plan_by(&left, &rules).await;
        let (level, guard) = self.level_of_resuming(&batch);
        Ok(Resumption {
            open: items
                .iter()
                .filter(|item| item.state.is_some_and(State::is_open))
                .count(),
            plan: plan.map_err(Failure::NothingSent)?,
            batch,
            items,
            level,
            guard,
        })
    }

    fn level_of_resuming(&self, batch: &Batch) -> (Level, Option<String>) {
        let profile = self.profile();
        let is_own =
            batch.by == self.operator() && age::since(batch.started_at, self.now()) < SAME_SHIFT;
        let usual = if is_own || !profile.production {
            Level::Key
        } else {
            Level::Words
        };
        match guard::raised(&profile.guards, Guarded::Rotate, usual) {
            Some((_, reason)) => (Level::Words, Some(reason.to_owned())),
            None => (usual, None),
        }
    }
}
