//! What earlier versions had, each with what to use instead.

use clap::error::{ContextKind, ContextValue, Error};

/// The option, or the last word of the command, and what to use instead.
const GONE: [(&str, &str); 6] = [
    (
        "--jq",
        "print JSON and filter it: groupdesk list --json | jq ...",
    ),
    (
        "--probe",
        "groupdesk profile facts NAME states what the service does",
    ),
    ("--resume", "groupdesk batches resume continues a batch"),
    (
        "--retry-failed",
        "groupdesk batches retry BATCH repeats what was certainly not done",
    ),
    (
        "edit",
        "groupdesk config edit changes the configuration file",
    ),
    (
        "view",
        "the console saves and removes views (press v in the list); --filter @NAME uses them",
    ),
];

/// What to use instead of what the command line could not read, if an earlier version had that.
pub(crate) fn instead(error: &Error) -> Option<&'static str> {
    let unread = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let unread = unread.into_iter().find_map(|kind| error.get(kind))?;
    let ContextValue::String(unread) = unread else {
        return None;
    };
    let (unread, _) = unread.split_once('=').unwrap_or((unread, ""));
    let found = GONE.iter().find(|(gone, _)| *gone == unread)?;
    Some(found.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::command;

    #[test]
    fn what_is_gone_is_refused_with_what_to_use_instead() {
        for (line, words) in [
            ("list --jq .[]", "| jq"),
            ("list --jq=.[]", "| jq"),
            ("doctor --probe acme-eu", "profile facts"),
            ("rotate --resume", "batches resume"),
            ("rotate --retry-failed 2", "batches retry"),
            ("profile edit live", "config edit"),
            ("view list", "--filter @NAME"),
        ] {
            let line = format!("groupdesk {line}");
            let error = command().try_get_matches_from(line.split(' '));
            let error = error.expect_err("it is gone");
            let told = instead(&error);
            assert!(
                told.is_some_and(|told| told.contains(words)),
                "{line}: {told:?}"
            );
        }
        let other = command().try_get_matches_from(["groupdesk", "lst"]);
        assert_eq!(instead(&other.expect_err("no command")), None);
    }
}
