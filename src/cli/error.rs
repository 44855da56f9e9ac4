//! Why a command did not succeed. Every message says what to do next.

use std::{borrow::Cow, error::Error, io, path::Path};

use color_eyre::eyre::Report;

use super::unexpected;
use crate::{
    config::{ConfigError, edit::EditError},
    directory::DirectoryError,
    domain::{group::UserGroupId, history::Ending},
    operations::{Done, Failure},
    service::store::StoreError,
};

/// A command that did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{failure}{}", advice(failure))]
    Failed { failure: Failure },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Guarded(String),
    #[error("interrupted{}", if *.in_flight { "; a request was in progress. To check its result, run `groupdesk rotations check`" } else { "" })]
    Interrupted { in_flight: bool },
    #[error("cannot write the output: {0}")]
    Output(io::Error),
    /// As [`Self::Output`], after a change ([`crate::cli::output::note_change`]).
    #[error("done, but the output cannot be written: {0}")]
    DoneUnwritten(io::Error),
    /// Something was done, and cannot be shown.
    #[error("\"{id}\": {}, but the output cannot be written: {error}", .ending.as_str())]
    Unwritten {
        id: UserGroupId,
        ending: Ending,
        error: io::Error,
    },
    /// Only a part was done, which the message tells.
    #[error("{0}")]
    Partly(String),
    /// An error that no command expects. It is reported by `panic_report`, not as a normal error.
    #[error("{0:#}")]
    Unexpected(Report),
}

impl CliError {
    /// An error of the service's database. Adds which database it is if the error does not say so.
    pub(super) fn from_store(database: &Path, error: StoreError) -> Self {
        let (text, name) = (error.to_string(), database.display().to_string());
        if text.contains(&name) {
            Self::Store(error)
        } else {
            Self::Usage(format!("{name}: {text}"))
        }
    }

    /// The error after an operation that may have changed something.
    pub(super) fn after(self, done: &Done) -> Self {
        match self {
            Self::Output(error) if done.ending != Ending::Found => Self::Unwritten {
                id: done.group.id.clone(),
                ending: done.ending,
                error,
            },
            other => other,
        }
    }

    /// An error that nobody expects: a task that panicked, or a system that is out of resources.
    pub(super) fn unexpected<E: Error + 'static>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Unexpected(unexpected::report(what, &error))
    }

    /// Returns the error itself if it is one that commands expect, otherwise the report as `Err`. A dead thread is
    /// unexpected.
    pub(super) fn expected(self) -> Result<Self, Report> {
        const DIRECTORY: &str = "the directory was lost";
        match self {
            Self::Unexpected(report) => Err(report),
            Self::Directory(lost @ DirectoryError::Stopped { .. }) => {
                Err(unexpected::report(DIRECTORY, &lost))
            }
            Self::Failed { failure } => match failure.bare() {
                Failure::NothingSent(lost @ DirectoryError::Stopped { .. })
                | Failure::NotKept(lost @ DirectoryError::Stopped { .. })
                | Failure::NotSaved {
                    error: lost @ DirectoryError::Stopped { .. },
                    ..
                } => Err(unexpected::report(DIRECTORY, lost)),
                _ => Ok(Self::Failed { failure }),
            },
            Self::Store(lost @ (StoreError::Stopped | StoreError::Unexpected(_))) => Err(
                unexpected::report("the database of the service was lost", &lost),
            ),
            expected => Ok(expected),
        }
    }

    /// The ending as the JSON output names it, if the operation got that far.
    pub(super) fn ending(&self) -> Option<Ending> {
        match self {
            Self::Failed { failure } => failure.ending(),
            Self::Unwritten { ending, .. } => Some(*ending),
            Self::Interrupted { in_flight: true } => Some(Ending::Unknown),
            Self::Config(_)
            | Self::Directory(_)
            | Self::Store(_)
            | Self::Usage(_)
            | Self::Guarded(_)
            | Self::Interrupted { in_flight: false }
            | Self::Output(_)
            | Self::DoneUnwritten(_)
            | Self::Partly(_)
            | Self::Unexpected(_) => None,
        }
    }
}

impl From<EditError> for CliError {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Config(error) => Self::Config(error),
            other => Self::Usage(other.to_string()),
        }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self::Failed { failure }
    }
}

/// Does work on a thread that it may block. `broke_off` says what it means if it panics.
pub(super) async fn blocking<T: Send + 'static, E: Send + 'static>(
    broke_off: &'static str,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, CliError>
where
    CliError: From<E>,
{
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(CliError::unexpected(broke_off))??)
}

/// Advice that only the command line can give.
pub(super) fn advice(failure: &Failure) -> Cow<'static, str> {
    match failure {
        Failure::NotKnown {
            open: Some(open), ..
        } => format!("\n{open}").into(),
        // Several known IDs in one word are no new one.
        Failure::NotKnown { id, near, .. }
            if near.iter().any(|first| {
                let rest = id.as_str().strip_prefix(first.as_str()).unwrap_or_default();
                let rest = rest.trim_start_matches([',', ';', '/', '+']);
                near.iter().any(|second| second.as_str() == rest)
            }) =>
        {
            " Write a space between IDs".into()
        }
        Failure::NotKnown {
            id,
            may_create: true,
            ..
        } => format!(
            "\nTo create the group: {}. If you are sure that it exists: {}",
            id.command("create", ""),
            id.command("get", "--exists")
        )
        .into(),
        Failure::Unknown {
            operation: "rotation",
            ..
        } => ". To find out, run `groupdesk rotations check`".into(),
        _ => "".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::group::UserGroupId;

    #[test]
    fn only_a_word_of_known_ids_is_taken_for_several() {
        let id = |text: &str| UserGroupId::parse(text).expect("an ID");
        let is_several = |typed: &str| {
            let failure = Failure::NotKnown {
                id: id(typed),
                near: vec![id("acme"), id("acme-eu")],
                undone: "nothing was sent",
                may_create: true,
                open: None,
            };
            advice(&failure).contains("space between IDs")
        };
        for typed in ["acme,acme-eu", "acme-eu/acme", "acmeacme-eu"] {
            assert!(is_several(typed), "{typed}");
        }
        for typed in ["acme-eu-berlin", "acme-eu2", "my-acme-eu"] {
            assert!(!is_several(typed), "{typed}");
        }
    }
}
