//! Which groups were meant: ids, words, an age, or a list in a file.

use std::{
    io::{self, Read},
    path::Path,
};

use crate::{
    cli::{
        args::{BatchArgs, Filter},
        error::CliError,
        input::chosen::Listing,
        session::Session,
    },
    directory::BatchId,
    domain::group::UserGroupId,
};

/// Longest list of ids, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The ids, and whether a person named each of them.
pub(super) async fn select(
    session: &Session,
    ids: Vec<UserGroupId>,
    bulk: &BatchArgs,
) -> Result<(Vec<UserGroupId>, bool), CliError> {
    if let Some(batch) = bulk.retry_failed {
        let batch = session.operations.batch(BatchId(batch)).await?;
        super::rotates(&batch)?;
        return Ok((session.operations.failed_of(batch.id).await?, true));
    }
    if let Some(file) = &bulk.from {
        return Ok((read(file).await?, true));
    }
    if bulk.filter.is_none() && bulk.older_than.is_none() {
        if bulk.order.is_said() {
            return Err(CliError::Usage(
                "--sort, --reverse and --limit choose among groups of --filter or --older-than; nothing was sent"
                    .into(),
            ));
        }
        return Ok((ids, true));
    }
    let filter = Filter {
        filter: bulk.filter.clone(),
    };
    let undone = "nothing was sent";
    let listing = Listing::of(session, &filter, &bulk.order, bulk.older_than, undone).await?;
    Ok((session.ids_listed(&listing).await?, false))
}

/// One id per line; empty lines are left out.
async fn read(file: &Path) -> Result<Vec<UserGroupId>, CliError> {
    let path = file.to_owned();
    let done = tokio::task::spawn_blocking(move || {
        let from: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            Box::new(std::fs::File::open(&path)?)
        };
        let mut text = String::new();
        // Cut off, the last id could be that of another group.
        if from.take(LONGEST + 1).read_to_string(&mut text)? as u64 > LONGEST {
            return Err(io::Error::other("it has more than 64 MiB; divide it"));
        }
        Ok(text)
    });
    let done = done
        .await
        .map_err(CliError::unexpected("the reading broke off"))?;
    let text = done.map_err(|error| {
        CliError::Usage(format!(
            "cannot read the ids from {}: {error}; nothing was sent",
            file.display()
        ))
    })?;
    let lines = text.lines().enumerate();
    let ids = lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(at, line)| {
            UserGroupId::parse(line).map_err(|error| {
                CliError::Usage(format!("line {} of {}: {error}", at + 1, file.display()))
            })
        });
    ids.collect()
}
