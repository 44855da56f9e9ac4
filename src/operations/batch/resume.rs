//! Resuming a batch that was left: what is still ready is checked again, and the strength of the confirmation depends
//! on who began the batch and when.

use super::{edit_item::ALREADY, with_status};
use crate::{
    config::guard::Level,
    domain::{
        age,
        batch::{
            BulkChange, EditSkip, OnlyWhere, Rules, UNREADABLE, UnverifiedField, Verdict, WantedRow,
        },
    },
    operations::{groups::update::changed_since, prelude::*},
};

/// Groups that are ready, groups that are not (with the reason), and the ready ones with a field that cannot be read.
#[derive(Default)]
struct Checked {
    ready: Vec<UserGroupId>,
    refused: Vec<(UserGroupId, String)>,
    unverified: Vec<UnverifiedField>,
    /// Of those that are not ready: skipped only because their last known state is too old.
    old: Vec<UserGroupId>,
}

/// Within this time, whoever began a batch may resume it without typing words.
const SAME_SHIFT: Duration = Duration::from_hours(24);

/// What resuming a batch would do. Nothing is sent for items that were sent before; open items are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumption {
    pub batch: Batch,
    pub items: Vec<BatchItem>,
    /// Items that were not started and are ready.
    pub ready: Vec<UserGroupId>,
    /// Items that will be refused as things stand, with nothing sent; each with the reason.
    pub refused: Vec<(UserGroupId, String)>,
    /// How many of the ready items are sent with a field that nobody can read, and the one whose field was last sent
    /// longest ago.
    pub unverified: Option<(usize, UnverifiedField)>,
    /// Of the refused items: those with an unreadable field that was last sent too long ago, unless the operator
    /// includes them. They are not started.
    pub old: Vec<UserGroupId>,
    /// Items whose rotation or update is open; they are read first.
    pub open: usize,
    /// [`Level::Key`] or [`Level::Words`].
    pub level: Level,
    /// The reason of the guard that raised the level.
    pub guard: Option<String>,
}

impl Resumption {
    /// How many items will be started.
    pub fn left(&self) -> usize {
        self.batch.counts.not_started.saturating_sub(self.old.len())
    }

    /// The words to type at [`Level::Words`].
    pub fn words(&self, profile: &str) -> String {
        format!("resume {} in {profile}", self.left())
    }
}

impl Operations {
    /// Checks what is left of a batch of this place. Nothing is sent or written. `include_old` also allows groups whose
    /// unreadable field was last sent more than 30 days ago.
    pub async fn plan_resumption(
        &self,
        id: BatchId,
        include_old: bool,
    ) -> Result<Resumption, Failure> {
        let batch = self.batch(id).await.map_err(Failure::NothingSent)?;
        self.may(NextStep::batch(&batch.kind))?;
        let items = self.batch_items(id).await.map_err(Failure::NothingSent)?;
        let left: Vec<_> = with_status(&items, ItemStatus::NotStarted).collect();
        self.check_bulk_limit(left.len())?;
        let checked = match &batch.kind {
            BatchKind::Rotate => self.check_rotations(&left, &batch).await,
            BatchKind::Edit(change) => {
                self.check_edits(&left, change, include_old, batch.started_at)
                    .await
            }
        };
        let checked = checked.map_err(Failure::NothingSent)?;
        let (level, guard) = self.confirmation_level(&batch);
        let oldest = checked.unverified.iter().min_by_key(|one| one.at);
        Ok(Resumption {
            open: items.iter().filter(|item| item.is_open()).count(),
            unverified: oldest.map(|oldest| (checked.unverified.len(), oldest.clone())),
            ready: checked.ready,
            refused: checked.refused,
            old: checked.old,
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
        // A group that was ready when the batch began is not too recent now.
        let rules = Rules {
            most: left.len(),
            guard: None,
            ..self.rules(true)
        };
        let ids: Vec<_> = left.iter().map(|item| item.user_group_id.clone()).collect();
        let plan = self
            .plan_with_rules(&ids, &rules, Some(batch.noted), HashMap::new())
            .await?;
        let refused = plan.skipped.into_iter();
        Ok(Checked {
            ready: plan.ready,
            refused: refused.map(|(id, skip)| (id, skip.to_string())).collect(),
            ..Checked::default()
        })
    }

    /// Applies the rules of bulk edits; each group must be as it was when it was reviewed.
    async fn check_edits(
        &self,
        left: &[&BatchItem],
        change: &BulkChange,
        include_old: bool,
        reviewed_at: Timestamp,
    ) -> Result<Checked, DirectoryError> {
        let mut checked = Checked::default();
        let mut reviewed = HashMap::new();
        let mut wanted = Vec::new();
        for item in left {
            let id = item.user_group_id.clone();
            let Some(edit) = &item.edit else {
                checked.refused.push((id, UNREADABLE.to_owned()));
                continue;
            };
            let to = WantedRow {
                to: edit.to.clone(),
                only_where: OnlyWhere::Any,
                left_out: None,
            };
            wanted.push((id.clone(), to));
            reviewed.insert(id, edit);
        }
        let plan = self.plan_rows(change.clone(), wanted, include_old, Some(reviewed_at));
        let plan = plan.await?;
        for row in plan.rows {
            let reviewed = reviewed.get(&row.id);
            let changed = reviewed.map(|edit| changed_since(&edit.base, &row.edit.base));
            let changed = changed.filter(|changed| !changed.is_empty());
            if matches!(row.verdict, Verdict::Skipped(EditSkip::Old { .. })) {
                checked.old.push(row.id.clone());
            }
            let why = match (row.verdict, changed) {
                (Verdict::Skipped(EditSkip::Draft(..)) | Verdict::Change, None) => None,
                (Verdict::Skipped(EditSkip::Draft(..)) | Verdict::Change, Some(changed)) => {
                    Some(format!("changed since its review: {}", changed.join("; ")))
                }
                (Verdict::Same, _) => Some(ALREADY.to_owned()),
                (Verdict::Skipped(skip), _) => Some(skip.to_string()),
            };
            match why {
                None => {
                    checked.ready.push(row.id);
                    checked.unverified.extend(row.unverified);
                }
                Some(why) => checked.refused.push((row.id, why)),
            }
        }
        Ok(checked)
    }

    fn confirmation_level(&self, batch: &Batch) -> (Level, Option<String>) {
        if batch.counts.not_started == 0 && !batch.is_run() {
            // Nothing is left to begin: open items are only read, and the batch is closed. Nothing is sent that typed
            // words could hold back.
            return (Level::Key, None);
        }
        let profile = self.profile();
        let is_own =
            batch.by == self.operator() && age::since(batch.started_at, self.now()) < SAME_SHIFT;
        // A second run sends nothing twice, but the operator of the first one may be about to stop it.
        // After a conflict the groups that are left may be part of it.
        let is_clear = !batch.is_run() && batch.counts.conflict == 0;
        let usual = if (is_own || !profile.production) && is_clear {
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
