//! Words that are taken as IDs, although an option was meant: one behind `--`, one without its dashes, or a value whose option
//! was forgotten, as in `label acme-eu vip`, or without quotes, as in `rotate acme-eu --reason leaked in a log`.

use std::ffi::OsString;

use clap::Arg;

use super::dashes::{attached_from, exactly, meant};
use crate::{
    cli::prelude::*,
    domain::{annotation::Label, dash::undashed},
};

static TYPED: OnceLock<Typed> = OnceLock::new();

struct Typed {
    /// Of the current command.
    options: Vec<Arg>,
    words: Vec<String>,
    /// A text that was given without quotes.
    unquoted: Option<Unquoted>,
}

/// Options whose value is often several words.
const OFTEN_UNQUOTED: [&str; 2] = ["--reason", "--name"];

/// The option, and the words behind the first, which is its value.
#[derive(Debug, PartialEq, Eq)]
struct Unquoted {
    option: &'static str,
    words: Vec<String>,
}

impl Unquoted {
    /// A first word with blanks was in quotes: it is the whole text.
    /// IDs may stand behind the option, if none is between the command and it.
    fn of<'w>(words: &'w [String], command: &str) -> Option<Self> {
        let option = |(at, word): (usize, &'w String)| {
            let (name, text) = match word.split_once('=') {
                Some((name, text)) => (name, Some(text)),
                None => (word.as_str(), None),
            };
            let option = OFTEN_UNQUOTED.into_iter().find(|text| *text == name)?;
            Some((at, option, text))
        };
        let (at, option, text) = words.iter().enumerate().find_map(option)?;
        let behind = at + 1 + usize::from(text.is_none());
        let first = text.or_else(|| words.get(at + 1).map(String::as_str))?;
        let last = command.rsplit(' ').next();
        let mut before = words.iter().take(at);
        let is_typed = before.any(|word| Some(word.as_str()) == last);
        let has_id = is_typed && before.any(|word| !word.starts_with('-'));
        let is_quoted = first.contains(char::is_whitespace);
        let rest = words.iter().skip(behind).filter(|_| !is_quoted && has_id);
        let rest = rest.take_while(|word| !word.starts_with('-'));
        Some(Self {
            option,
            words: rest.cloned().collect(),
        })
    }
}

/// Whether a word looks like a value of an option.
type IsLike = fn(&str) -> bool;

/// Options whose value may stand where an ID is expected, and what such a value looks like.
const VALUES: [(&str, IsLike); 5] = [
    ("--add", |word| Label::parse(word).is_ok()),
    ("--map", |word| has_key(word, |c| c.is_ascii_digit())),
    ("--property", |word| {
        has_key(word, |_| true) && field(word).is_none()
    }),
    ("--reason", |word| word.contains(char::is_whitespace)),
    ("--token-out", |word| word.contains(['.', '/'])),
];

/// What has no key of its own, and how it is written.
const FIELDS: [(&str, &str); 8] = [
    ("name", "--name TEXT"),
    ("note", "groupdesk note ID TEXT"),
    ("label", "groupdesk label ID --add LABEL"),
    ("labels", "groupdesk label ID --add LABEL"),
    ("map", "--map SCHEMA=SOURCE"),
    ("mapping", "--map SCHEMA=SOURCE"),
    ("property", "--property KEY=VALUE"),
    ("properties", "--property KEY=VALUE"),
];

/// How a field is written whose name stands before `=` as if it were a key.
pub(crate) fn field(word: &str) -> Option<&'static str> {
    let (key, _) = word.split_once('=')?;
    let mut fields = FIELDS.iter();
    let (_, written) = fields.find(|(name, _)| name.eq_ignore_ascii_case(key))?;
    Some(*written)
}

fn has_key(word: &str, of: impl Fn(char) -> bool) -> bool {
    let key = word.split_once('=').map_or("", |(key, _)| key);
    !key.is_empty() && key.chars().all(of)
}

/// Remembers the options of the command with this name, its own and the global ones, and what was typed.
pub(crate) fn record_command(name: &str, root: &Command, typed: impl Iterator<Item = OsString>) {
    let typed = typed.map(|word| word.to_string_lossy().into_owned());
    let typed: Vec<_> = typed.collect();
    TYPED.get_or_init(|| Typed {
        options: options(name, root),
        unquoted: Unquoted::of(&typed, name),
        words: typed,
    });
}

/// The option of the current command that an unknown ID is spelt like.
pub(crate) fn option(id: &str) -> Option<String> {
    option_of(&TYPED.get()?.options, id)
}

/// The option that takes this as its value. For an ID that follows another one.
pub(crate) fn value(id: &str) -> Option<&'static str> {
    let typed = TYPED.get()?;
    value_of(&typed.options, &typed.words, id)
}

/// The option whose text lacks quotes, if this is a word of it.
pub(crate) fn text(id: &str) -> Option<&'static str> {
    let unquoted = TYPED.get()?.unquoted.as_ref()?;
    let is_of_it = unquoted.words.iter().any(|word| word == id);
    is_of_it.then_some(unquoted.option)
}

fn option_of(options: &[Arg], id: &str) -> Option<String> {
    let options: Vec<&Arg> = options.iter().collect();
    // Also as `/dry-run` and `\--dry-run`.
    let name = id.trim_start_matches(['-', '/', '\\']);
    let is_dashed = name != id;
    if let Some((at, option)) = attached_from(id, 1, &options).filter(|_| !is_dashed) {
        let (before, rest) = (&id[..at], undashed(&id[at..]));
        let value = rest.strip_prefix(option.trim_start_matches('-'));
        return Some(format!(
            "{} {option}{}",
            quoted(before),
            value.unwrap_or_default()
        ));
    }
    let option = if is_dashed {
        meant(name.split('=').next().unwrap_or_default(), &options)
    } else {
        exactly(id, &options).filter(|_| name.len() > 1)
    };
    option.map(|option| format!("the option {option}"))
}

/// An option that follows was not forgotten.
fn value_of(options: &[Arg], typed: &[String], id: &str) -> Option<&'static str> {
    let behind = || typed.iter().skip_while(|word| *word != id);
    let follows = |name: &str| behind().any(|word| word.split('=').next() == Some(name));

    let takes = |name: &str| {
        let mut options = options.iter();
        let option = options.find(|option| option.get_long() == name.strip_prefix("--"));
        option.is_some_and(|option| option.get_action().takes_values())
    };
    let mut values = VALUES.iter();
    let (name, _) = values.find(|(name, is_like)| takes(name) && is_like(id) && !follows(name))?;
    Some(*name)
}

fn options(words: &str, root: &Command) -> Vec<Arg> {
    let mut options: Vec<Arg> = root.get_arguments().cloned().collect();
    let mut command = root;
    for word in words.split(' ') {
        let Some(below) = command.find_subcommand(word) else {
            break;
        };
        options.extend(below.get_arguments().cloned());
        command = below;
    }
    options.retain(|option| !option.is_positional());
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::tree::command;

    #[test]
    fn a_word_that_is_an_option_is_taken_for_one() {
        for (words, id, meant) in [
            ("rotate", "--dry-run", "--dry-run"),
            ("rotate", "dry-run", "--dry-run"),
            ("rotate", "--dryrun", "--dry-run"),
            ("rotate", "-y", "-y"),
            ("get", "--json", "--json"),
            ("get", "--token-out=f", "--token-out"),
            ("favourite", "add", "--add"),
            ("history diff", "--now", "--now"),
            ("rotate", "/dry-run", "--dry-run"),
            ("rotate", "\\--dry-run", "--dry-run"),
        ] {
            let found = option_of(&options(words, &command()), id);
            assert_eq!(found, Some(format!("the option {meant}")), "{words} {id}");
        }
        for (id, meant) in [
            ("acme-eu--dry-run", "acme-eu --dry-run"),
            ("acme-eu—dry-run", "acme-eu --dry-run"),
            ("acme-eu--token-out=f", "acme-eu --token-out=f"),
        ] {
            let found = option_of(&options("rotate", &command()), id);
            assert_eq!(found.as_deref(), Some(meant), "{id}");
        }
        for (words, id) in [
            ("rotate", "acme"),
            ("rotate", "y"),
            ("show", "dry-run"),
            ("rotate", "acme--eu"),
            ("get", "/tmp/acme"),
        ] {
            let found = option_of(&options(words, &command()), id);
            assert_eq!(found, None, "{words} {id}");
        }
    }

    #[test]
    fn a_text_without_quotes_is_found_with_all_its_words() {
        let of = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            let command = words
                .iter()
                .find(|word| ["rotate", "update"].contains(&word.as_str()));
            let found = Unquoted::of(&words, command?);
            found.map(|found| (found.option, found.words.join(" ")))
        };
        for (line, option, rest) in [
            (
                "rotate acme --reason leaked in a log --yes",
                "--reason",
                "in a log",
            ),
            ("update acme --name Acme Europe", "--name", "Europe"),
            ("update acme --name=Acme Europe --yes", "--name", "Europe"),
            ("rotate acme --reason leaked", "--reason", ""),
            ("rotate --reason leaked acme globex", "--reason", ""),
            ("-P live rotate --reason leaked acme globex", "--reason", ""),
            (
                "-P live rotate acme --reason leaked in a",
                "--reason",
                "in a",
            ),
            ("rotate acme --reason --yes", "--reason", ""),
        ] {
            assert_eq!(of(line), Some((option, rest.to_owned())), "{line}");
        }
        assert_eq!(of("rotate a b"), None);
        let quoted = ["update", "a", "--reason", "new source", "b"].map(str::to_owned);
        let found = Unquoted::of(&quoted, "update").expect("the option");
        assert!(found.words.is_empty(), "{found:?}");
    }

    #[test]
    fn a_word_behind_an_id_may_be_the_value_of_a_forgotten_option() {
        for (words, id, meant) in [
            ("label", "vip", "--add"),
            ("update", "40=213", "--map"),
            ("update", "seats=25", "--property"),
            ("rotate", "leaked in a log", "--reason"),
            ("get", "acme.token", "--token-out"),
        ] {
            let found = value_of(&options(words, &command()), &[], id);
            assert_eq!(found, Some(meant), "{words} {id}");
        }
        for (word, written) in [
            ("name=Acme", Some("--name TEXT")),
            ("Note=x", Some("groupdesk note ID TEXT")),
            ("map=7=3", Some("--map SCHEMA=SOURCE")),
            ("names=x", None),
            ("name", None),
        ] {
            assert_eq!(field(word), written, "{word}");
        }
        for (words, id) in [
            ("favourite", "vip"),
            ("get", "acme"),
            ("show", "a=b"),
            ("update", "name=x"),
        ] {
            let found = value_of(&options(words, &command()), &[], id);
            assert_eq!(found, None, "{words} {id}");
        }
        for (line, meant) in [
            ("label a b --add vip", None),
            ("label a --add=vip b", Some("--add")),
            ("label a b", Some("--add")),
        ] {
            let typed: Vec<_> = line.split(' ').map(str::to_owned).collect();
            let found = value_of(&options("label", &command()), &typed, "b");
            assert_eq!(found, meant, "{line}");
        }
    }
}
