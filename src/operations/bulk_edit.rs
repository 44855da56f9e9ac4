//! One change over many groups: checked, reviewed, and turned into a batch of single updates. It is run, paused,
//! stopped and resumed like every batch (`operations::batch`); each update is journalled and settled like every update.

use super::prelude::*;
use crate::{
    directory::{KeptDraft, NewBatch},
    domain::{
        batch::{
            BulkChange, Candidate, EditCandidate, EditPlan, EditRules, EditSkip, OnlyWhere,
            OpenChange, Rules, Target, UNREADABLE, UnsentDraft, WantedRow,
        },
        mutation::State,
    },
};

impl Operations {
    /// Returns what a change would do to each of these groups, as far as the directory knows. Nothing is sent or
    /// written. `include_old` also allows groups whose unreadable field was last sent more than 30 days ago.
    pub async fn plan_edit(
        &self,
        change: BulkChange,
        groups: &[UserGroupId],
        include_old: bool,
    ) -> Result<EditPlan, DirectoryError> {
        let wanted = WantedRow::of(&change);
        let groups = groups.iter().map(|id| (id.clone(), wanted.clone()));
        let rows = groups.collect();
        self.plan_rows(change, rows, include_old, None).await
    }

    /// Plans the reverse of a batch of edits: every row that it set and that still has that value goes back to its
    /// previous value. A group of which it is not known whether the batch changed it is left out. Returns `None` if the
    /// batch was a rotation.
    pub async fn plan_reverse_edit(
        &self,
        batch: BatchId,
        include_old: bool,
    ) -> Result<Option<EditPlan>, DirectoryError> {
        let BatchKind::Edit(change) = self.batch(batch).await?.kind else {
            return Ok(None);
        };
        let items = self.batch_items(batch).await?;
        let set = items.into_iter().map(|item| {
            let left_out = match item.status() {
                _ if item.edit.is_none() => Some(EditSkip::InBatch(UNREADABLE.to_owned())),
                // A value that was already as wanted was not set by the batch.
                ItemStatus::Confirmed if item.update.is_some() => None,
                ItemStatus::Confirmed | ItemStatus::NotApplied | ItemStatus::NotStarted => {
                    Some(EditSkip::NotChangedBy(batch.0))
                }
                status => Some(EditSkip::InBatch(status.why_not_again(batch.0))),
            };
            let edit = item.edit.unwrap_or_default();
            let wanted = WantedRow {
                to: edit.before(&change.row),
                only_where: OnlyWhere::Is(edit.to),
                left_out,
            };
            (item.user_group_id, wanted)
        });
        let back = BulkChange {
            row: change.row.clone(),
            to: Target::AsBefore(batch.0),
            only_where: OnlyWhere::Any,
        };
        let rows = set.collect();
        let plan = self.plan_rows(back, rows, include_old, None).await?;
        Ok(Some(plan))
    }

    /// Plans the same change again for the groups of a batch of edits that are not as it wanted them. Of those that it may
    /// have changed, only those are sent again whose change may be repeated. Returns `None` if the batch was a rotation.
    /// What the batch included is included again.
    pub async fn plan_edit_again(
        &self,
        batch: BatchId,
        include_old: bool,
    ) -> Result<Option<EditPlan>, DirectoryError> {
        let found = self.batch(batch).await?;
        let BatchKind::Edit(change) = found.kind else {
            return Ok(None);
        };
        let items = self.batch_items(batch).await?;
        let failed = items.into_iter().filter_map(|item| {
            let left_out = match item.status() {
                ItemStatus::Confirmed | ItemStatus::Rotated => return None,
                _ if item.edit.is_none() => Some(EditSkip::InBatch(UNREADABLE.to_owned())),
                // Those without a result as far as their change may be repeated.
                ItemStatus::NotApplied | ItemStatus::Unknown | ItemStatus::UnderWay => None,
                status => Some(EditSkip::InBatch(status.why_not_again(batch.0))),
            };
            let edit = item.edit.unwrap_or_default();
            let wanted = WantedRow {
                only_where: match &change.to {
                    Target::Value(_) => change.only_where.clone(),
                    Target::AsBefore(_) => OnlyWhere::Is(edit.before(&change.row)),
                },
                to: edit.to,
                left_out,
            };
            Some((item.user_group_id, wanted))
        });
        let (failed, reviewed) = (failed.collect(), Some(found.started_at));
        let plan = self.plan_rows(change, failed, include_old, reviewed);
        Ok(Some(plan.await?))
    }

    pub(super) async fn plan_rows(
        &self,
        change: BulkChange,
        wanted: Vec<(UserGroupId, WantedRow)>,
        include_old: bool,
        reviewed_at: Option<Timestamp>,
    ) -> Result<EditPlan, DirectoryError> {
        let ids: Vec<_> = wanted.iter().map(|(id, _)| id.clone()).collect();
        let groups = self.show_all(&ids).await?;
        let rotations = self.open_rotations().await?;
        let open_changes = self.open_changes().await?;
        let locks = self.locks(false).await?;
        let drafts: HashMap<_, KeptDraft> = by_group(
            // Of several drafts of a group the newest, which comes first.
            self.drafts().await?.into_iter().rev().collect(),
            |kept: &KeptDraft| kept.draft.user_group_id.clone(),
        );
        let wanted = wanted.into_iter().zip(&groups);
        let candidates = wanted.map(|((id, wanted), group)| EditCandidate {
            wanted,
            open: open_changes
                .iter()
                .filter(|open| open.user_group_id == id)
                .map(|open| self.open_change_of(open))
                .collect(),
            draft: drafts.get(&id).map(|kept| UnsentDraft {
                by: kept.by.clone(),
                is_own: kept.by == self.operator(),
                at: kept.draft.changed_at,
            }),
            group: Candidate {
                group: group.as_ref(),
                open: rotations
                    .iter()
                    .find(|row| row.user_group_id == id)
                    .map(|row| row.rotation.state),
                refused: locks.skip(&id, Operation::Update),
                recent: None,
                id,
            },
        });
        let rules = EditRules {
            group: Rules {
                now: self.common_now().await?,
                ..self.rules(true)
            },
            facts: self.facts().await?,
            read_only: self.profile().read_only,
            include_old,
            reviewed_at,
            operator: self.operator().to_owned(),
        };
        Ok(EditPlan::of(change, candidates, &rules))
    }

    /// A change that still is `unknown` after its time cannot take effect any more: the next claim lets go of it.
    fn open_change_of(&self, open: &Mutation) -> OpenChange {
        let is_over = open.state == State::Open
            || open.state != State::Intended && self.window_left(open).is_zero();
        let is_own = open.operation == Operation::Update && open.by == self.operator();
        OpenChange {
            by: open.by.clone(),
            holds: open.state.holds() && !is_over,
            sent: open.sent.clone().filter(|_| is_own && is_over),
        }
    }

    /// Stores the batch of a reviewed plan durably, with what was reviewed of each group and the options that a retry
    /// keeps; nothing is sent. Run it with [`Operations::run_batch`].
    pub async fn begin_edit(
        &self,
        plan: &EditPlan,
        reason: Option<String>,
        options: BatchOptions,
    ) -> Result<BatchId, Failure> {
        self.may(NextStep::BULK_EDIT)?;
        let items = plan.changing();
        let items = items.map(|row| (row.id.clone(), Some(row.edit.clone())));
        let typed = plan.change.typed();
        self.no_secret_in(&DesiredFields::default(), &typed).await?;
        let batch = NewBatch {
            by: self.operator().to_owned(),
            reason,
            at: self.now(),
            noted: 0,
            kind: BatchKind::Edit(plan.change.clone()),
            options,
            items: items.collect(),
        };
        self.store_batch(batch).await
    }
}

fn by_group<T>(all: Vec<T>, group: impl Fn(&T) -> UserGroupId) -> HashMap<UserGroupId, T> {
    all.into_iter().map(|one| (group(&one), one)).collect()
}
