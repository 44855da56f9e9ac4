//! Groups of ended batches that were not changed, and still are not as their batch wanted them.

use std::collections::{HashMap, HashSet};

use crate::{
    directory::{Batch, BatchId, DirectoryError, PlaceId},
    domain::{
        batch::{BatchKind, Verdict},
        group::UserGroupId,
    },
    operations::Operations,
};

impl Operations {
    /// How many groups of these batches are still to be done, by batch. A group that was retried, rotated since, or has
    /// the wanted value by now is none of them.
    pub(super) async fn not_done(
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
                    let rotated = self.directory().rotated_since(place, batch.noted).await?;
                    groups.retain(|id| !rotated.contains_key(id));
                }
                BatchKind::Edit(_) => {
                    let again = self.plan_edit_again(batch.id, true).await?;
                    let rows = again.map(|plan| plan.rows).unwrap_or_default();
                    for row in rows {
                        if row.verdict == Verdict::Same {
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
