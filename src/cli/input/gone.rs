//! What earlier versions had, each with what to use instead.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The command, the option or word that it no longer has, and what to use instead.
const GONE: [(&str, &str, &str); 7] = [
    ("", "--jq", "to filter JSON: groupdesk list --json | jq ..."),
    (
        "doctor",
        "--probe",
        "to state what the service does: groupdesk profile behaviour NAME",
    ),
    (
        "rotate",
        "--resume",
        "to resume a batch: groupdesk batches resume",
    ),
    (
        "rotate",
        "--retry-failed",
        "to retry what was certainly not done: groupdesk batches retry BATCH",
    ),
    (
        "rotate",
        "--join",
        "to join a batch that is running: groupdesk batches resume BATCH --join",
    ),
    (
        "profile",
        "edit",
        "to edit the configuration file: groupdesk config edit",
    ),
    (
        "[",
        "view",
        "to save and remove views: v in the list of the console; to use one: --filter @NAME",
    ),
];

/// What to use instead of what the command line could not read, if an earlier version had that.
pub(crate) fn instead(error: &Error) -> Option<&'static str> {
    let is_unread = matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
    );
    let unread = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let unread = unread.into_iter().find_map(|kind| error.get(kind));
    let Some(ContextValue::String(unread)) = unread.filter(|_| is_unread) else {
        return None;
    };
    let (unread, _) = unread.split_once('=').unwrap_or((unread, ""));
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    let found = GONE.iter().find(|(command, gone, _)| {
        *gone == unread && usage.contains(&format!("groupdesk {command}"))
    });
    found.map(|(_, _, instead)| *instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::tree::command;

    #[test]
    fn what_is_gone_is_refused_with_what_to_use_instead() {
        for (line, words) in [
            ("list --jq .[]", "| jq"),
            ("list --jq=.[]", "| jq"),
            ("doctor --probe acme-eu", "profile behaviour"),
            ("rotate --resume", "batches resume"),
            ("rotate --retry-failed 2", "batches retry"),
            ("rotate --join", "batches resume BATCH --join"),
            ("profile edit live", "config edit"),
            ("view list", "--filter @NAME"),
            ("lst", ""),
            ("batches edit 12", ""),
            ("environment view live", ""),
            ("update a --probe b", ""),
        ] {
            let words_of_line = ["groupdesk"].into_iter().chain(line.split(' '));
            let error = command().try_get_matches_from(words_of_line);
            let told = instead(&error.expect_err("it is gone"));
            assert_eq!(told.is_none(), words.is_empty(), "{line}: {told:?}");
            assert!(told.is_none_or(|told| told.contains(words)), "{line}");
        }
    }
}
