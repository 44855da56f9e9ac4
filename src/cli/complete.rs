//! Shell completion. The registered shell function runs this program with the words typed so far. It reads the
//! configuration and the directory file, opens no network connection, changes nothing, and prints nothing if it has no
//! suggestion.

mod shells;

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCompleter, CompletionCandidate},
    env::Shells,
};

use super::{commands::tree, output::human::Columns};
use crate::{
    config::{DirectoryAt, Environment, Overrides, Settings},
    directory::{CompletedProfile, ids_beginning},
    search::{SortBy, filter_tests},
};

pub(super) use shells::{Shell, script};

/// Environment variable that names the shell asking for completions.
const VARIABLE: &str = "GROUPDESK_COMPLETE";

const SHELLS: Shells<'static> = Shells(&[&shells::Bash, &shells::Zsh, &clap_complete::env::Fish]);

/// Answers a completion request. Returns false if no shell is asking.
pub(super) fn complete_if_requested() -> bool {
    if std::env::var_os(VARIABLE).is_none_or(|asked| asked.is_empty()) {
        return false;
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    let typed = Typed::of(&words);
    let env = CompleteEnv::with_factory(move || with_values(tree::full_command(), "", &typed))
        .var(VARIABLE)
        .shells(SHELLS);
    // Errors must not be printed into the line that somebody is typing.
    drop(env.try_complete(words, std::env::current_dir().ok().as_deref()));
    true
}

/// The typed options that determine which installation is meant.
#[derive(Debug, Clone, Default)]
struct Typed {
    config: Option<OsString>,
    profile: Option<OsString>,
    directory: Option<OsString>,
}

impl Typed {
    fn of(words: &[OsString]) -> Self {
        let mut typed = Self::default();
        let mut words = words.iter().skip_while(|word| *word != "--").skip(1);
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let glued = text.strip_prefix("-P").filter(|name| !name.is_empty());
            let (name, value) = match (glued, text.split_once('=')) {
                (Some(name), _) => ("-P", Some(name.trim_start_matches('=').into())),
                (None, Some((name, value))) => (name, Some(value.into())),
                (None, None) => (&*text, None),
            };
            let option = match name {
                "--config" => &mut typed.config,
                "--profile" | "-P" => &mut typed.profile,
                "--directory" => &mut typed.directory,
                _ => continue,
            };
            *option = value.or_else(|| words.next().cloned());
        }
        typed
    }

    fn settings(&self, with_profile: bool) -> Option<Settings> {
        let profile = self.profile.as_ref().filter(|_| with_profile);
        let overrides = Overrides {
            config: self.config.as_ref().map(Into::into),
            profile: profile.map(|name| name.to_string_lossy().into_owned()),
            directory: self.directory.as_ref().map(Into::into),
            read_only: true,
            env: Environment::of_process(),
        };
        Settings::load(&overrides).ok()
    }

    fn profiles(&self) -> Vec<String> {
        let settings = self.settings(false);
        let profiles = settings.into_iter().flat_map(|known| known.profiles);
        profiles.map(|profile| profile.name).collect()
    }

    /// Returns `None` for a team's directory, because reading it needs the network.
    fn ids(&self, begin: &str) -> Option<Vec<String>> {
        let settings = self.settings(true)?;
        let profile = settings.profile(None).ok()?;
        match &settings.directory {
            DirectoryAt::File(file) => {
                let key = profile.api_key.at_hand(&Environment::of_process());
                let completed = CompletedProfile {
                    name: &profile.name,
                    url: &profile.url(),
                    key: key.as_ref().filter(|_| !profile.key_changes),
                    from_variables: profile.from_variables,
                };
                Some(ids_beginning(file, completed, begin))
            }
            DirectoryAt::Team(_) => None,
        }
    }
}

/// The same command line, with more completion values than the parser knows.
fn with_values(command: Command, above: &str, typed: &Typed) -> Command {
    let path = format!("{above} {}", command.get_name());
    let command = command.mut_args(|arg| with_value(arg, &path, typed));
    command.mut_subcommands(|command| with_values(command, &path, typed))
}

/// Returns the values that complete the start of a value.
type Values = Box<dyn Fn(&str) -> Vec<String> + Send + Sync>;

fn with_value(arg: Arg, path: &str, typed: &Typed) -> Arg {
    let typed = typed.clone();
    let takes_id = arg
        .get_value_names()
        .is_some_and(|names| names.iter().any(|name| name == "ID"));
    let is_profile = match arg.get_id().as_str() {
        "profile" | "with" => true,
        "to" => path.ends_with(" copy"),
        "name" => path.contains(" profile ") && !path.ends_with(" add"),
        _ => false,
    };
    let values: Values = match arg.get_id().as_str() {
        _ if takes_id => Box::new(move |begin| typed.ids(begin).unwrap_or_default()),
        _ if is_profile => Box::new(move |_| typed.profiles()),
        "filter" => Box::new(|begin| after_word(begin, ' ', filter_tests())),
        "columns" => Box::new(|begin| after_word(begin, ',', Columns::words())),
        "sort" => Box::new(|begin| after_word(begin, ',', SortBy::WORDS)),
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(move |begin: &OsStr| {
        let begin = begin.to_str().unwrap_or("\0");
        let found = values(begin).into_iter();
        let found = found.filter(|value| value.starts_with(begin));
        found.map(CompletionCandidate::new).collect()
    }))
}

/// The words for the last part of a value, each prefixed with the part that is already typed.
fn after_word(
    begin: &str,
    separator: char,
    words: impl IntoIterator<Item = &'static str>,
) -> Vec<String> {
    let last = begin.rfind(separator).map_or(0, |at| at + 1);
    let (before, piece) = begin.split_at(last);
    let sign = piece.starts_with(['+', '-']);
    let before = format!("{before}{}", &piece[..usize::from(sign)]);
    let words = words.into_iter();
    words.map(|word| format!("{before}{word}")).collect()
}
