//! Which groups were meant: ids, words, an age, or a list in a file.

use std::{
    io::{self, Read},
    path::Path,
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    cli::{args::BatchArgs, error::CliError, session::Session},
    directory::BatchId,
    domain::{age, group::UserGroupId, known::KnownGroup},
    search::{Beside, Builder, Query, SearchRequest, SortBy, Word, run_search},
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
        return Ok((ids, true));
    }
    let filter = bulk.filter.as_deref().unwrap_or_default();
    Ok((matching(session, filter, bulk.older_than).await?, false))
}

/// The tests of the console's filter; words only as they stand, and in name and id: nothing is rotated for its scattered
/// letters. The groups are packed as they are read.
async fn matching(
    session: &Session,
    filter: &str,
    older_than: Option<Duration>,
) -> Result<Vec<UserGroupId>, CliError> {
    let operations = &session.operations;
    let now = operations.now();
    let views = operations.filters_of_views().await?;
    let mut query = Query::parse_with(filter, operations.profile().max_token_age, &views);
    if !query.wrong.is_empty() {
        let wrong: Vec<_> = query.wrong.iter().map(ToString::to_string).collect();
        let wrong = wrong.join("; ");
        return Err(CliError::Usage(format!(
            "--filter: {wrong}; nothing was sent"
        )));
    }
    let words = std::mem::take(&mut query.words);
    let take = move |builder: &mut Builder, group: KnownGroup| {
        if holds(&group, &words) && older_than.is_none_or(|age| is_older(&group, age, now)) {
            builder.push(&group);
        }
    };
    let index = operations.fold_groups(take).await?.finish();
    let open = operations.open_rotations().await?.into_iter();
    let mut beside = Beside::default();
    if query.is_beside() {
        if query.is_flagged() {
            return Err(CliError::Usage(
                "--filter: flag: is about what a console saw change; nothing was sent".into(),
            ));
        }
        let drafts = operations.drafts().await?.into_iter();
        let drafts = drafts.map(|kept| kept.draft.user_group_id);
        beside.drafts = Arc::new(drafts.collect());
        beside.annotations = Arc::new(operations.annotations().await?);
    }
    let asked = SearchRequest {
        query,
        sort: SortBy::Id,
        reverse: false,
        best_first: false,
        open: Arc::new(
            open.map(|row| (row.user_group_id, row.rotation.state))
                .collect(),
        ),
        beside,
        at: now,
    };
    let found = run_search(&index, asked, None, &|| true);
    let shown = found.iter().flat_map(|found| found.shown.iter());
    let entries = shown.filter_map(|number| index.entry(*number));
    Ok(entries
        .filter_map(|entry| UserGroupId::parse(entry.id()).ok())
        .collect())
}

fn holds(group: &KnownGroup, words: &[Word]) -> bool {
    let mut words = words.iter();
    words.all(|word| word.is_in(group.id.as_str()) || word.is_in(group.title()))
}

/// A token of unknown age counts as old.
fn is_older(group: &KnownGroup, limit: Duration, now: Timestamp) -> bool {
    age::age(group, now).is_none_or(|age| age > limit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_chosen_by_its_own_id_in_any_script() {
        for id in ["ΣΑΣ.eu", "İzmir", "Ⱥb", "zoé", "Zoe\u{301}", "한국"] {
            let group = KnownGroup::new(UserGroupId::parse(id).expect("an id"));
            let words = |typed: &str| Query::parse(typed, None).words;
            assert!(holds(&group, &words(id)), "{id}");
            assert!(holds(&group, &words(&format!("\"{id}\""))), "{id}");
            assert!(!holds(&group, &words("s.x")), "{id}");
        }
        let group = KnownGroup::new(UserGroupId::parse("acme-eu").expect("an id"));
        let scattered = Query::parse("aceu", None).words;
        assert!(!holds(&group, &scattered), "only as it stands");
    }
}
