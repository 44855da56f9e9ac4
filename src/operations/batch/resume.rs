//! Going on with a batch that was left: what of it is ready is checked again, and how strongly that asks depends on who
//! began it and when.

use std::{collections::HashMap, time::Duration};

use super::edit_item::{ALREADY, UNREADABLE};
use crate::{
    config::guard::{self, Level},
    directory::{Batch, BatchId, BatchItem, DirectoryError},
    domain::{
        age,
        batch::{BatchKind, BulkChange, EditSkip, ItemStatus, OnlyWhere, Rules, Verdict, Wanted},
        group::UserGroupId,
    },
    operations::{Failure, Guarded, Operations, groups::update::changed_since},
};

/// What is ready, and what is not with why.
type Checked = (Vec<UserGroupId>, Vec<(UserGroupId, String)>);

/// Within this time the one who began a batch goes on with it without typing words.
const SAME_SHIFT: Duration = Duration::from_hours(24);

/// What going on with a batch would do. Nothing is sent for what was sent before; its open items are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumption {
    pub batch: Batch,
    pub items: Vec<BatchItem>,
    /// Of what was not begun: what is ready.
    pub ready: Vec<UserGroupId>,
    /// And what its item will refuse as things stand, with nothing sent; each with why.
    pub refused: Vec<(UserGroupId, String)>,
    /// Items whose rotation or update is open; they are read first.
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
        let left: Vec<&BatchItem> = items
            .iter()
            .filter(|item| item.status() == ItemStatus::NotStarted)
            .collect();
        self.not_too_many(left.len())?;
        let checked = match &batch.kind {
            BatchKind::Rotate => self.check_rotations(&left, &batch).await,
            BatchKind::Edit(change) => {
                self.permitted(Guarded::Update)?;
                self.check_edits(&left, change).await
            }
        };
        let (ready, refused) = checked.map_err(Failure::NothingSent)?;
        let (level, guard) = self.level_of_resuming(&batch);
        Ok(Resumption {
            open: items.iter().filter(|item| item.is_open()).count(),
            ready,
            refused,
            batch,
            items,
            level,
            guard,
        })
    }

    async fn check_rotations(
        &self,
        left: &[&BatchItem],
        batch: &Batch,
    ) -> Result<Checked, DirectoryError> {
        let rules = Rules {
            environment: self.profile().environment.clone(),
            most: left.len(),
            guard: None,
            // What was ready when the batch was begun is not too recent now.
            include_recent: true,
            begun: Some(batch.started_at),
            now: self.now(),
        };
        let ids: Vec<_> = left.iter().map(|item| item.user_group_id.clone()).collect();
        let plan = self.plan_by(&ids, &rules).await?;
        let refused = plan.skipped.into_iter();
        let refused = refused.map(|(id, skip)| (id, skip.to_string())).collect();
        Ok((plan.ready, refused))
    }

    /// By the rules of edits; each group is to be as it was when it was reviewed.
    async fn check_edits(
        &self,
        left: &[&BatchItem],
        change: &BulkChange,
    ) -> Result<Checked, DirectoryError> {
        let mut refused = Vec::new();
        let mut reviewed = HashMap::new();
        let mut wanted = Vec::new();
        for item in left {
            let id = item.user_group_id.clone();
            let Some(edit) = &item.edit else {
                refused.push((id, UNREADABLE.to_owned()));
                continue;
            };
            let to = Wanted {
                to: edit.to.clone(),
                only_where: OnlyWhere::Any,
            };
            wanted.push((id.clone(), to));
            reviewed.insert(id, edit);
        }
        // What was last sent long ago was included by the person who began it.
        let plan = self.plan_rows(change.clone(), wanted, true).await?;
        let mut ready = Vec::new();
        for row in plan.rows {
            let said = reviewed.get(&row.id).map(|edit| &edit.base);
            let changed = said.map(|said| changed_since(said, &row.edit.base));
            let changed = changed.filter(|changed| !changed.is_empty());
            let why = match (row.verdict, changed) {
                (Verdict::Skipped(EditSkip::Draft(..)) | Verdict::Change, None) => None,
                (Verdict::Skipped(EditSkip::Draft(..)) | Verdict::Change, Some(changed)) => {
                    Some(format!("changed since its review: {}", changed.join("; ")))
                }
                (Verdict::Same, _) => Some(ALREADY.to_owned()),
                (Verdict::Skipped(skip), _) => Some(skip.to_string()),
            };
            match why {
                None => ready.push(row.id),
                Some(why) => refused.push((row.id, why)),
            }
        }
        Ok((ready, refused))
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
        let operation = match batch.kind {
            BatchKind::Rotate => Guarded::Rotate,
            BatchKind::Edit(_) => Guarded::Update,
        };
        match guard::raised(&profile.guards, operation, usual) {
            Some((_, reason)) => (Level::Words, Some(reason.to_owned())),
            None => (usual, None),
        }
    }
}
