//! Notes, labels and saved views: after each write, the stored values are read back.

use crate::{
    domain::{
        annotation::{AnnotationChange, InvalidAnnotation},
        group::UserGroupId,
    },
    operations::{Failure, Operations},
    search::ListView,
    tui::state::message::{JobError, Outcome},
};

pub(super) async fn annotate(
    operations: &Operations,
    ids: Vec<UserGroupId>,
    change: AnnotationChange,
) -> Result<Outcome, JobError> {
    let first = ids.first().cloned();
    match (operations.annotate(ids, change.clone()).await, first) {
        (Err(Failure::Annotation(InvalidAnnotation::NoteChanged(now))), Some(id)) => {
            Ok(Outcome::NoteChanged(id, now))
        }
        (changed, _) => Ok(Outcome::Annotated(changed?, Box::new(change))),
    }
}

pub(super) async fn save_view(
    operations: &Operations,
    name: &str,
    view: ListView,
) -> Result<Outcome, JobError> {
    let name = operations.save_view(name, view).await?;
    saved(operations, format!("View @{name} saved")).await
}

pub(super) async fn remove_view(operations: &Operations, name: &str) -> Result<Outcome, JobError> {
    let removed = operations.remove_view(name).await;
    let text = if removed.map_err(Failure::NothingSent)? {
        format!("View @{name} removed")
    } else {
        format!("View @{name} was removed before")
    };
    saved(operations, text).await
}

async fn saved(operations: &Operations, text: String) -> Result<Outcome, JobError> {
    let saved = operations.saved_views().await;
    let saved = saved.map_err(Failure::NothingSent)?;
    Ok(Outcome::SavedViews(saved, text))
}
