//! What people type that groupdesk does not have, with what to use instead: what earlier versions had, and other words for a
//! command.

use clap::{
    Command,
    error::{ContextKind, ContextValue, Error, ErrorKind},
};

use super::dashes::meant as meant_option;
use crate::config::nearest;

/// The command, the option or word that it no longer has, and what to use instead.
#[rustfmt::skip] // A table: one command a line.
const GONE: [(&str, &str, &str); 7] = [
    ("", "--jq", "to filter JSON: groupdesk list --json | jq ..."),
    ("doctor", "--probe", "to set how the service behaves: groupdesk profile behaviour NAME"),
    ("rotate", "--resume", "to resume a batch: groupdesk batches resume"),
    ("rotate", "--retry-failed", "to retry what was certainly not done: groupdesk batches retry BATCH"),
    ("rotate", "--join", "to join a batch that is running: groupdesk batches resume BATCH --join"),
    ("profile", "edit", "to edit the configuration file: groupdesk config edit"),
    ("[", "view", "to save and remove views: v in the list of the console; to use one: --filter @NAME"),
];

/// Other words for a command, and what to do. The parser would propose what is merely spelled alike: `serve` for "search".
#[rustfmt::skip] // A table: one command a line.
const MEANT: [(&str, &str); 32] = [
    ("delete remove rm destroy drop erase", "the service cannot delete groups"),
    ("find search ls group groups query grep filter filters", "to find groups: groupdesk list --filter WORDS; the group of a \
        token: groupdesk whose"),
    ("new add", "to create a group: groupdesk create ID; to add a profile: groupdesk profile add NAME"),
    ("set change modify put rename map mapping property properties", "to change a group: groupdesk update ID --name NAME, --map \
        or --property; the service cannot change an ID"),
    ("compare", "to compare a group in two profiles: groupdesk diff ID --with PROFILE"),
    ("undo revert restore", "to undo an update: groupdesk history restore ID; who changed what: groupdesk history; a rotation \
        cannot be undone"),
    ("log logs changes histories audits", "to see who changed what, with the values before: groupdesk history"),
    ("leak leaked stolen lost compromised revoke renew regenerate", "to find the group of a token: groupdesk whose; to replace \
        the token: groupdesk rotate ID"),
    ("token tokens secret password", "to get the token of a group: groupdesk get ID --token-out FILE; to replace it: groupdesk \
        rotate ID"),
    ("login auth profiles init setup", "to add a profile: groupdesk profile add NAME; to list profiles: groupdesk profile list"),
    ("resume retry reverse", "to resume a batch: groupdesk batches resume BATCH; to retry what was certainly not done: \
        groupdesk batches retry BATCH; to undo a bulk edit: groupdesk batches reverse BATCH"),
    ("settle abandon", "to check open rotations: groupdesk rotations check; to close one without a result: groupdesk rotations \
        abandon NUMBER --reason 'TEXT'"),
    ("handoff hand-off", "to hand off new tokens again: groupdesk rotations handoff"),
    ("facts behaviour behavior", "to show or set how the service behaves: groupdesk profile behaviour NAME"),
    ("keys key", "to store the API key of a profile: groupdesk profile key NAME; for keys of the embedded service: groupdesk \
        serve keys list"),
    ("user users", "the service has groups, not users; to list groups: groupdesk list; for the members of a team directory: groupdesk directory \
        members"),
    ("backup backups", "to back up the directory: groupdesk directory backup FILE; the embedded service: groupdesk serve backup \
        FILE; groups as a file: groupdesk export"),
    ("lock unlock disable enable block suspend deactivate archive", "the service cannot lock or disable a group; to replace its \
        token, which ends the old one at once: groupdesk rotate ID"),
    ("views", "to save and remove views: v in the list of the console; to use one: groupdesk list --filter @NAME"),
    ("labels tags favourites favorites", "to list groups by label: groupdesk list --filter label:NAME; your favourites: \
        groupdesk list --filter fav"),
    ("options flags", "for the options of all commands: groupdesk help options"),
    ("notes", "to show or set a note: groupdesk note ID; to list groups with one: groupdesk list --filter note:"),
    ("directories", "to show the directory in use: groupdesk directory status; to use another one: --directory FILE"),
    ("requests exchanges", "to log each request: add --verbose to a command; in the console: its page of requests"),
    ("quit exit", "to leave the console: q; to stop a command: Ctrl-C"),
    ("members team grant", "to list who has access to a team directory: groupdesk directory members; to add one: groupdesk \
        directory grant NAME operator"),
    ("read refresh", "to show a group from the directory: groupdesk show ID; to read it from the service: groupdesk get ID; all \
        groups: groupdesk get --refresh-all"),
    ("whoami environments", "to show the profile: groupdesk profile show; its environment: groupdesk environment list"),
    ("alarm alarms ack acknowledge", "to list alarms: groupdesk attention; to acknowledge the alarm of an environment: \
        groupdesk environment acknowledge NAME --reason 'TEXT'"),
    ("watch tail follow", "to print each group that changes: groupdesk list --watch; each new entry of the history: groupdesk \
        history --follow"),
    ("merge migrate sync", "to merge two environments: groupdesk environment merge; to migrate a directory: groupdesk directory \
        migrate; to create and update groups from a file: groupdesk apply FILE"),
    ("status todo check drafts", "to list what needs attention: groupdesk attention; to check the configuration: groupdesk doctor"),
];

/// Other words for a command below another one: the first of its commands that such a word means is proposed.
const BELOW: [(&str, &str); 8] = [
    ("delete del rm remove drop erase destroy", "remove revoke"),
    ("ls list all", "list members"),
    ("new create add set-up setup", "add create init grant"),
    ("get view info cat describe details print", "show status"),
    ("mv move", "rename move"),
    ("test verify try validate settle", "check validate"),
    ("undo revert", "reverse restore"),
    ("change set open vi", "edit"),
];

/// A word below a command that means another one.
#[rustfmt::skip] // A table: one command a line.
const ELSEWHERE: [(&str, &str, &str); 3] = [
    ("rotations", "list ls all show get view", "to list rotations: groupdesk rotations; those of a group: groupdesk history ID \
        --operation rotate"),
    ("rotations", "retry resume", "to retry what was certainly not done: groupdesk batches retry BATCH; to resume a batch: \
        groupdesk batches resume BATCH"),
    ("environment", "delete del rm remove drop add new create", "the first request of a profile creates its environment, which \
        cannot be deleted; to rename it: groupdesk environment rename; to merge two: groupdesk environment merge"),
];

/// A word too many behind a command, and the option or quotes that it needs.
#[rustfmt::skip] // A table: one command a line.
const EXTRA: [(&str, &str); 14] = [
    ("list", "to find groups: groupdesk list --filter WORDS; to show one: groupdesk show ID"),
    ("create", "to name the group, quote the name: groupdesk create ID --name 'NAME'"),
    ("edit", "to change several groups: groupdesk update --filter WORDS"),
    ("copy", "to copy to another profile: groupdesk copy ID --to PROFILE; to another ID: --as-id ID"),
    ("note", "to write a note of several words, quote them: groupdesk note ID 'TEXT'"),
    ("audit", "for one database role: groupdesk audit --by NAME"),
    ("rotations abandon", "to give a reason, quote it: groupdesk rotations abandon NUMBER --reason 'TEXT'"),
    ("export", "to select groups: groupdesk export --filter WORDS"),
    ("import", "to import several files, run groupdesk import FILE for each; to also create and update their groups in the service, \
        put them into a folder: groupdesk apply DIR"),
    ("apply", "to read several files, put them into a folder: groupdesk apply DIR"),
    ("profile add", "to give the URL: groupdesk profile add NAME --base-url URL"),
    ("profile bind", "to choose an environment: groupdesk profile bind NAME --same-environment ENVIRONMENT"),
    ("environment acknowledge", "to give a reason, quote it: groupdesk environment acknowledge NAME --reason 'TEXT'"),
    ("serve keys create", "to choose the environment of the key: groupdesk serve keys create --environment NAME"),
];

/// A number where a command is expected.
#[rustfmt::skip] // A table: one command a line.
const NUMBERS: [(&str, &str); 3] = [
    ("batches", "to show a batch: groupdesk batches show BATCH"),
    ("rotations", "to check a rotation: groupdesk rotations check NUMBER"),
    ("serve", "to choose the port: groupdesk serve --listen 127.0.0.1:8474"),
];

/// A name where a command is expected.
#[rustfmt::skip] // A table: one command a line.
const NAMES: [(&str, &str); 5] = [
    ("history", "for several groups: groupdesk history --filter WORDS; for what an entry changed: groupdesk history diff ID"),
    ("profile", "to show a profile: groupdesk profile show NAME; to use one: groupdesk -P NAME list"),
    ("environment", "to show an environment: groupdesk environment show NAME"),
    ("batches", "to list batches: groupdesk batches; for what was done to a group: groupdesk history ID"),
    ("rotations", "for the rotations of a group: groupdesk history ID --operation rotate"),
];

/// What to use instead of what the command line could not read, if an earlier version had that or people call a command so.
pub(crate) fn instead(error: &Error, root: &Command) -> Option<String> {
    let is_unread = match error.kind() {
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => true,
        // A second ID of `history` is taken for a subcommand.
        ErrorKind::ArgumentConflict => error.get(ContextKind::InvalidSubcommand).is_some(),
        _ => false,
    };
    let unread = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let unread = unread.into_iter().find_map(|kind| error.get(kind));
    let Some(ContextValue::String(unread)) = unread.filter(|_| is_unread) else {
        return None;
    };
    let (unread, _) = unread.split_once('=').unwrap_or((unread, ""));
    let usage = usage(error);
    if let Some(instead) = removed(&usage, |gone| gone == unread) {
        return Some(instead);
    }
    let is_extra = |command: &str| {
        let rest = usage.strip_prefix(command);
        rest.is_some_and(|rest| rest.starts_with(' ')) && is_word(unread)
    };
    let table = match error.kind() {
        ErrorKind::UnknownArgument => &EXTRA[..],
        ErrorKind::InvalidSubcommand if let Some(instead) = meant_below(&usage, unread, root) => {
            return Some(instead);
        }
        // The parser has something near.
        _ if error.get(ContextKind::SuggestedSubcommand).is_some() => &[],
        _ if unread.bytes().all(|byte| byte.is_ascii_digit()) => &NUMBERS[..],
        _ => &NAMES[..],
    };
    if let Some((_, instead)) = table.iter().find(|(command, _)| is_extra(command)) {
        return Some((*instead).to_owned());
    }
    let is_command = error.kind() == ErrorKind::InvalidSubcommand && usage.starts_with(AT_THE_TOP);
    meant(unread).filter(|_| is_command).map(str::to_owned)
}

/// The same for `help`, which was asked for a word below the commands `above`.
pub(crate) fn instead_of_help(above: &[String], word: &str) -> Option<String> {
    if above.is_empty() {
        // Also where an earlier version had such a command.
        let found = meant(word).map(str::to_owned);
        return found.or_else(|| removed(AT_THE_TOP, |gone| gone.trim_start_matches('-') == word));
    }
    removed(&above.join(" "), |gone| {
        gone.trim_start_matches('-') == word
    })
}

/// What another word for a command means below the command of this usage.
fn meant_below(usage: &str, word: &str, root: &Command) -> Option<String> {
    let is_one = |words: &str| words.split(' ').any(|known| known == word);
    let mut elsewhere = ELSEWHERE.iter();
    let is_it = |(command, words, _): &&(&str, &str, &str)| {
        usage.split(' ').next() == Some(command) && is_one(words)
    };
    if let Some((.., instead)) = elsewhere.find(is_it) {
        return Some((*instead).to_owned());
    }
    let (command, path) = named_by(usage, root);
    let meant = BELOW.iter().filter(|(words, _)| is_one(words));
    let mut meant = meant.flat_map(|(_, meant)| meant.split(' '));
    let is_below = path.contains(' ');
    let meant = meant.find(|meant| is_below && command.find_subcommand(meant).is_some())?;
    Some(format!("instead: {path} {meant}"))
}

/// The command of this usage, and how it is called.
pub(super) fn named_by<'a>(usage: &str, root: &'a Command) -> (&'a Command, String) {
    let (mut command, mut path) = (root, "groupdesk".to_owned());
    for word in usage.split(' ') {
        let Some(below) = command.find_subcommand(word) else {
            break;
        };
        command = below;
        path = format!("{path} {}", below.get_name());
    }
    (command, path)
}

/// The start of the usage without a command.
const AT_THE_TOP: &str = "[";

fn removed(usage: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let mut gone = GONE.iter();
    let found = gone.find(|(command, gone, _)| is_it(gone) && usage.starts_with(command));
    found.map(|(_, _, instead)| format!("it was removed; {instead}"))
}

fn meant(word: &str) -> Option<&'static str> {
    let mut meant = MEANT.iter();
    let found = meant.find(|(words, _)| words.split(' ').any(|known| known == word));
    found.map(|(_, instead)| *instead)
}

/// Corrects what the parser proposes: only commands that are listed, and no unknown option as an ID.
pub(crate) fn propose(error: &mut Error, root: &Command) {
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
        propose_option(error, root);
    }
    name_no_hidden(error, root);
    let unread = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(unread)) => unread.clone(),
        _ => return,
    };
    // To write a word behind `--` is never meant here. Without a proposal the parser prints an empty line for it.
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::Strings(proposed)) = error.remove(ContextKind::SuggestedSubcommand)
    else {
        return;
    };
    let mut listed = all_below(root);
    listed.retain(|command| !command.is_hide_set());
    // An earlier name leads to the one of today.
    let is_called = |command: &Command, word: &str| {
        command.get_name() == word || command.get_all_aliases().any(|alias| alias == word)
    };
    let words = proposed.iter().map(String::as_str);
    let words = words.filter(|word| listed.iter().any(|command| is_called(command, word)));
    let near = nearest(&unread, words);
    let near = near.and_then(|word| listed.iter().find(|command| is_called(command, word)));
    if let Some(near) = near {
        let near = ContextValue::Strings(vec![near.get_name().to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, near);
    }
}

/// The parser would propose `--ca-file` for `--key-file`, and a usage with it. Only what is nearly the same is proposed, or
/// contains it, as `--api-key-file`.
fn propose_option(error: &mut Error, root: &Command) {
    let (Some(ContextValue::String(unread)), Some(ContextValue::String(proposed))) = (
        error.get(ContextKind::InvalidArg).cloned(),
        error.remove(ContextKind::SuggestedArg),
    ) else {
        return;
    };
    let mut root = root.clone();
    root.build();
    let mut command = named_by(&usage(error), &root).0.clone();
    let options = command
        .get_arguments()
        .filter(|option| option.is_global_set() || !option.is_hide_set());
    let name = unread
        .trim_start_matches('-')
        .split('=')
        .next()
        .unwrap_or_default();
    let near = meant_option(name, &options.collect::<Vec<_>>());
    if near.as_ref() != Some(&proposed) {
        let usage = ContextValue::StyledStr(command.render_usage());
        error.insert(ContextKind::Usage, usage);
    }
    if let Some(near) = near {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(near));
    }
}

/// What is missing, without the hidden options that would do as well.
fn name_no_hidden(error: &mut Error, root: &Command) {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg).cloned() else {
        return;
    };
    let (command, _) = named_by(&usage(error), root);
    let hidden = command.get_arguments().filter(|one| one.is_hide_set());
    let hidden: Vec<_> = hidden.filter_map(clap::Arg::get_long).collect();
    let seen = missing.into_iter().map(|missing| {
        let names = hidden.iter();
        names.fold(missing, |missing, name| {
            missing.replace(&format!("|--{name}"), "")
        })
    });
    let seen = ContextValue::Strings(seen.collect());
    error.insert(ContextKind::InvalidArg, seen);
}

/// The usage that the parser tells, behind "Usage:" and the name by which the program was called.
pub(super) fn usage(error: &Error) -> String {
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    let usage = usage.trim_start_matches("Usage: ");
    let (_, usage) = usage.split_once(' ').unwrap_or_default();
    usage.to_owned()
}

fn all_below(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands();
    below
        .flat_map(|one| [vec![one], all_below(one)].concat())
        .collect()
}

fn is_word(argument: &str) -> bool {
    !argument.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::tree::command;

    #[test]
    fn only_a_listed_command_is_proposed_and_no_option_as_an_id() {
        for (line, proposed, not) in [
            ("notes", "'note'", "rotate"),
            ("labels", "'label'", "place"),
            ("environments", "'environment'", "place"),
            ("batches resum", "'resume'", "show"),
            ("rotations setle", "'check'", "settle"),
            ("serve keys lst", "'list'", "settle"),
            ("rezume", "", "-- rezume"),
            ("rotate --all", "", "-- --all"),
            ("rotate --older-than -5d", "", "-- -5"),
            ("rotate a --dry-rum", "'--dry-run'", "-- --dry"),
            (
                "profile add x --key-file f",
                "'--api-key-file'",
                "--ca-file",
            ),
            ("list --jsn", "'--json'", "tip: to pass"),
            ("profile add x --ca-fil f", "'--ca-file'", "--api-key"),
            ("profile add x --read-onyl", "'--read-only'", "--ca-file"),
            ("profile bind x", "|--new-environment>", "--undo"),
        ] {
            let root = command();
            let words = ["groupdesk"].into_iter().chain(line.split(' '));
            let mut error = root
                .clone()
                .try_get_matches_from(words)
                .expect_err("it is not there");
            propose(&mut error, &root);
            let text = error.render().to_string();
            assert!(text.contains(proposed), "{line}: {text}");
            assert!(!text.contains(not), "{line}: {text}");
            assert!(!text.contains("\n\n\n"), "{line}: {text:?}");
        }
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_to_use_instead() {
        for (line, words) in [
            ("list --jq .[]", "| jq"),
            ("list --jq=.[]", "| jq"),
            ("doctor --probe acme-eu", "profile behaviour"),
            ("rotate --resume", "batches resume"),
            ("rotate --retry-failed 2", "batches retry"),
            ("rotate --join", "batches resume BATCH --join"),
            ("profile edit live", "config edit"),
            ("view list", "--filter @NAME"),
            ("delete acme-eu", "cannot delete"),
            ("search acme", "list --filter"),
            ("list acme", "list --filter"),
            ("create acme Acme", "--name 'NAME'"),
            ("copy acme eu-live", "--to PROFILE"),
            ("note acme call first", "note ID 'TEXT'"),
            ("history acme globex", "--filter WORDS"),
            ("rotations abandon 12 because", "--reason 'TEXT'"),
            ("profile add live https://a.example", "--base-url URL"),
            ("serve keys create live", "--environment NAME"),
            ("batches 12", "batches show BATCH"),
            ("rotations 12", "rotations check NUMBER"),
            ("profile live", "profile show NAME"),
            ("environment live", "environment show NAME"),
            ("serve 8474", "--listen"),
            ("serve keys revok", ""),
            ("create acme --nme x", ""),
            ("list --acme", ""),
            ("mapping acme", "update ID"),
            ("compare a b", "diff ID --with"),
            ("undo", "history restore ID"),
            ("logs", "groupdesk history"),
            ("import a.csv b.csv", "import FILE for each"),
            ("resume", "batches resume"),
            ("settle", "rotations check"),
            ("facts", "profile behaviour"),
            ("keys", "serve keys"),
            ("members", "directory members"),
            ("environments", "environment list"),
            ("labels", "--filter label:NAME"),
            ("drafts", "groupdesk attention"),
            ("notes", "--filter note:"),
            ("batches acme-eu", "groupdesk history ID"),
            ("directories", "directory status"),
            ("options", "help options"),
            ("read acme", "get ID"),
            ("whoami", "profile show"),
            ("batches undo", "groupdesk batches reverse"),
            ("profile delete live", "groupdesk profile remove"),
            ("profile ls", "groupdesk profile list"),
            ("environment ls", "groupdesk environment list"),
            ("environment rm x", "environment merge"),
            ("serve keys rm", "groupdesk serve keys revoke"),
            ("config view", ""),
            ("rotations list", "groupdesk rotations;"),
            ("rotations retry", "batches retry"),
            ("rotations verify", "groupdesk rotations check"),
            ("directory ls", "groupdesk directory members"),
            ("lst", ""),
            ("batches edit 12", "groupdesk batches;"),
            ("environment view live", "groupdesk environment show"),
            ("rotations acme-eu", "history ID"),
            ("update a --probe b", ""),
        ] {
            for name in ["groupdesk", "/opt/bin/gd"] {
                let words_of_line = [name].into_iter().chain(line.split(' '));
                let error = command().try_get_matches_from(words_of_line);
                let told = instead(&error.expect_err("it is not there"), &command());
                assert_eq!(told.is_none(), words.is_empty(), "{line}: {told:?}");
                assert!(told.is_none_or(|told| told.contains(words)), "{line}");
            }
        }
    }

    #[test]
    fn help_for_what_is_not_there_says_what_to_use_instead() {
        for (above, word, words) in [
            ("", "search", "list --filter"),
            ("", "settle", "rotations check"),
            ("", "compare", "diff ID --with"),
            ("", "undo", "history restore ID"),
            ("", "delete", "cannot delete"),
            ("", "view", "--filter @NAME"),
            ("", "login", "profile add"),
            ("", "jq", "| jq"),
            ("", "stolen", "groupdesk rotate ID"),
            ("", "users", "directory members"),
            ("", "quit", "q"),
            ("", "backup", "directory backup FILE"),
            ("", "lock", "cannot lock or disable"),
            ("", "disable", "cannot lock or disable"),
            ("", "filter", "list --filter"),
            ("", "alarms", "attention"),
            ("", "tail", "history --follow"),
            ("", "sync", "apply FILE"),
            ("", "refresh", "--refresh-all"),
            ("", "map", "update ID"),
            ("", "views", "--filter @NAME"),
            ("list", "jq", "| jq"),
            ("profile", "edit", "config edit"),
            ("rotate", "join", "batches resume BATCH --join"),
            ("", "lst", ""),
            ("batches", "undo", ""),
        ] {
            let above: Vec<_> = above.split_whitespace().map(str::to_owned).collect();
            let told = instead_of_help(&above, word);
            assert_eq!(told.is_none(), words.is_empty(), "{word}: {told:?}");
            assert!(told.is_none_or(|told| told.contains(words)), "{word}");
        }
    }

    #[test]
    fn no_word_for_a_command_is_one() {
        let command = command();
        for (words, _) in MEANT {
            for word in words.split(' ') {
                assert!(command.find_subcommand(word).is_none(), "{word}");
            }
        }
    }
}
