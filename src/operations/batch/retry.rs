//! Whether a retry of a batch would take a group: only then is it proposed.

use super::super::Operations;
use crate::{
    directory::{Batch, DirectoryError},
    domain::{
        batch::{BatchKind, Verdict},
        text::visible,
    },
};

impl Operations {
    /// Notes why a retry of this batch would take none of its groups, as it does if a later batch took them all.
    pub(in crate::operations) async fn look_at_retry(
        &self,
        batch: &mut Batch,
    ) -> Result<(), DirectoryError> {
        if batch.ended_at.is_some() {
            batch.no_retry = self.why_no_retry(batch).await?;
        }
        Ok(())
    }

    /// Returns why a retry of this batch would take none of its groups; `None` if it would take some, or none failed.
    pub async fn why_no_retry(&self, batch: &Batch) -> Result<Option<String>, DirectoryError> {
        if batch.counts.not_applied == 0 {
            return Ok(None);
        }
        let mut reasons = Vec::new();
        match &batch.kind {
            BatchKind::Rotate => {
                let failed = self.not_applied_groups(batch.id).await?;
                let plan = self.plan_retry(&failed, batch.id).await?;
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
                        Verdict::Same => "with the wanted value already".to_owned(),
                        Verdict::Skipped(skip) => skip.to_string(),
                    };
                    match reasons.iter_mut().find(|(_, known)| *known == why) {
                        Some((count, _)) => *count += 1,
                        None => reasons.push((1, why)),
                    }
                }
            }
        }
        let reasons = reasons.iter().map(|(count, why)| format!("{count} {why}"));
        let text = reasons.collect::<Vec<_>>().join("; ");
        Ok(Some(visible(&text).into_owned()))
    }
}
