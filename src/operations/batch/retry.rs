//! Which groups of ended batches still are not as their batch wanted them, and whether a retry would take one: only then is
//! it proposed.

use std::cmp::Reverse;

use crate::{
    domain::batch::{EditSkip, Verdict},
    operations::prelude::*,
};

/// Of so many batches a list says whether a retry would take anything.
const LOOKED_AT: usize = 10;

impl Operations {
    /// Notes why a retry of these batches would take none of their groups, as it does if a later batch took them all. Looks
    /// at the newest that ended with failures, because each costs several reads; an error there spoils no list.
    pub(crate) async fn look_at_retries<'b>(
        &self,
        batches: impl IntoIterator<Item = &'b mut Batch>,
    ) {
        let failed = batches
            .into_iter()
            .filter(|batch| batch.ended_at.is_some() && batch.counts.not_applied > 0);
        let mut failed: Vec<_> = failed.collect();
        failed.sort_by_key(|batch| Reverse(batch.id));
        for batch in failed.into_iter().take(LOOKED_AT) {
            batch.no_retry = self.why_no_retry(batch).await.unwrap_or_default();
        }
    }

    /// Returns why a retry of this batch would take none of its groups; `None` if it would take some, or none failed.
    pub async fn why_no_retry(&self, batch: &Batch) -> Result<Option<String>, DirectoryError> {
        if batch.counts.not_applied == 0 {
            return Ok(None);
        }
        let mut reasons = Vec::new();
        match &batch.kind {
            BatchKind::Rotate => {
                let left = self.groups_to_retry(batch.id).await?;
                let plan = self.plan_retry(&left, batch.id).await?;
                if !plan.ready.is_empty() {
                    return Ok(None);
                }
                reasons = plan.reasons();
            }
            BatchKind::Edit(_) => {
                let plan = self.plan_edit_again(batch.id, true).await?;
                for row in plan.map(|plan| plan.rows).unwrap_or_default() {
                    let why = match row.verdict {
                        Verdict::Change => return Ok(None),
                        Verdict::Same => "already set".to_owned(),
                        Verdict::Skipped(skip) => skip.to_string(),
                    };
                    match reasons.iter_mut().find(|(_, known)| *known == why) {
                        Some((count, _)) => *count += 1,
                        None => reasons.push((1, why)),
                    }
                }
            }
        }
        if reasons.is_empty() {
            return Ok(None);
        }
        let reasons = reasons.iter().map(|(count, why)| format!("{count} {why}"));
        let text = joined(reasons, "; ");
        Ok(Some(visible(&text).into_owned()))
    }

    /// How many groups of these batches are still to be done, by batch. A group that was retried, has a new token since, or has
    /// the wanted value by now is none of them.
    pub(in crate::operations) async fn not_done(
        &self,
        place: PlaceId,
        batches: &[Batch],
    ) -> Result<HashMap<BatchId, usize>, DirectoryError> {
        let mut failed: HashMap<BatchId, HashSet<UserGroupId>> = HashMap::new();
        for (batch, id) in self.directory().failed_items(place).await? {
            failed.entry(batch).or_default().insert(id);
        }
        let mut left = HashMap::new();
        for batch in batches {
            let Some(mut groups) = failed.remove(&batch.id) else {
                continue;
            };
            match &batch.kind {
                BatchKind::Rotate => {
                    let changed = self.directory().token_changed_since(place, batch.noted);
                    let changed = changed.await?;
                    // One that was changed elsewhere may still have the token that this batch was to end.
                    let is_rotated = |id: &UserGroupId| {
                        changed
                            .get(id)
                            .is_some_and(|token| token.rotation.is_some())
                    };
                    groups.retain(|id| !is_rotated(id));
                }
                BatchKind::Edit(_) => {
                    let again = self.plan_edit_again(batch.id, true).await?;
                    let rows = again.map(|plan| plan.rows).unwrap_or_default();
                    for row in rows {
                        // What was changed to another value since is no longer for this batch to set.
                        let other = Verdict::Skipped(EditSkip::Other);
                        if row.verdict == Verdict::Same || row.verdict == other {
                            groups.remove(&row.id);
                        }
                    }
                }
            }
            if !groups.is_empty() {
                left.insert(batch.id, groups.len());
            }
        }
        Ok(left)
    }
}
