//! Which groups a command applies to: ids, a file with a list of ids, or a filter and an age.

use std::{
    io::{self, Read},
    path::Path,
    time::Duration,
};

use crate::{
    cli::{args::Selection, error::CliError, input::listing::Listing, session::Session},
    domain::group::UserGroupId,
};

/// Maximum size of a list of ids, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The selected groups, in order.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) ids: Vec<UserGroupId>,
    /// The person named each group, so groups for which nothing can be done are reported.
    pub(crate) all_named: bool,
}

impl Selected {
    /// `undone` tells the person what was not done if something cannot be understood.
    pub(crate) async fn of(
        session: &Session,
        selection: &Selection,
        older_than: Option<Duration>,
        undone: &str,
    ) -> Result<Self, CliError> {
        let Selection {
            ids,
            from,
            filter,
            order,
        } = selection;
        if filter.is_none() && older_than.is_none() {
            if order.is_given() {
                return Err(CliError::Usage(format!(
                    "--sort, --reverse and --limit choose among the groups that --filter finds; {undone}"
                )));
            }
            let ids = match from {
                Some(file) => read(file, undone).await?,
                None => ids.clone(),
            };
            return Ok(Self {
                ids,
                all_named: true,
            });
        }
        let filter = filter.as_deref();
        let listing = Listing::of(session, filter, order, older_than, undone).await?;
        Ok(Self {
            ids: session.ids_listed(&listing).await?,
            all_named: false,
        })
    }
}

/// Reads one id per line and skips empty lines.
async fn read(file: &Path, undone: &str) -> Result<Vec<UserGroupId>, CliError> {
    let path = file.to_owned();
    let done = tokio::task::spawn_blocking(move || {
        let from: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            Box::new(std::fs::File::open(&path)?)
        };
        let mut text = String::new();
        // If the list were cut off, its last id could be that of another group.
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
            "cannot read the ids from {}: {error}; {undone}",
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
