//! Ids that a person typed as arguments, several at once: one that is unknown is a mistake, and then nothing is done for
//! the others either. Unknown ids of files and filters are listed and skipped.

use crate::{
    cli::{error::CliError, session::Session},
    domain::{group::UserGroupId, text::counted},
    operations::{Failure, RotationId, RotationRow},
    search::suggest::similar,
};

/// How many unknown ids are named.
const NAMED: usize = 5;

/// Refuses ids that the directory does not know. `undone` says what was not done.
pub(crate) async fn ensure_groups(
    session: &Session,
    ids: &[UserGroupId],
    undone: &str,
) -> Result<(), CliError> {
    let operations = &session.operations;
    let found = operations.show_all(ids).await?;
    let unknown = ids.iter().zip(&found).filter(|(_, found)| found.is_none());
    let unknown: Vec<_> = unknown.map(|(id, _)| id).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    for id in unknown.iter().take(NAMED) {
        operations.no_mistake_as_id(id).await?;
    }
    session.say_elsewhere().await?;
    let known = operations.known_ids().await?;
    let named = unknown.iter().take(NAMED).map(|id| {
        let near = similar(id.as_str(), &known, 3);
        let near: Vec<_> = near.iter().map(|id| format!("\"{id}\"")).collect();
        if near.is_empty() {
            format!("\"{id}\"")
        } else {
            format!("\"{id}\" (did you mean {}?)", near.join(", "))
        }
    });
    let named: Vec<_> = named.collect();
    let more = match unknown.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "other ID")),
    };
    let are = if unknown.len() == 1 { "is" } else { "are" };
    Err(CliError::Usage(format!(
        "{}{more} {are} not in the directory of this profile; {undone}",
        named.join(", ")
    )))
}

/// The rotations with these numbers. Of several, each must exist before anything is done for one.
pub(crate) async fn rotations(
    session: &Session,
    ids: &[i64],
) -> Result<Vec<RotationRow>, CliError> {
    let mut rows = Vec::with_capacity(ids.len());
    for id in ids {
        match session.operations.rotation(RotationId(*id)).await {
            Ok(row) => rows.push(row),
            Err(failure @ Failure::NoRotation { .. }) if ids.len() > 1 => {
                return Err(CliError::Usage(failure.to_string()));
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(rows)
}
