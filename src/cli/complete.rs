//! Shell completion. The registered shell function runs this program with the words typed so far. It reads the
//! configuration and the directory file, opens no network connection, changes nothing, and prints nothing if it has no
//! suggestion.

use std::ffi::{OsStr, OsString};

use clap::{Arg, ValueEnum};
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCompleter, CompletionCandidate},
    env::{EnvCompleter, Fish, Shells, Zsh as PlainZsh},
};

use super::{commands::tree, output::human::Columns, prelude::*};
use crate::{
    config::DirectoryAt,
    directory::{CompletedProfile, ids_beginning},
    search::{SortBy, filter_tests},
};

/// Environment variable that names the shell asking for completions.
const VARIABLE: &str = "GROUPDESK_COMPLETE";

const SHELLS: Shells<'static> = Shells(&[&Bash, &Zsh, &clap_complete::env::Fish]);

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

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }
}

/// The script with which a shell registers this program for completions.
pub(crate) fn script(shell: Shell) -> io::Result<String> {
    let mut script = Vec::new();
    let shell: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    shell.write_registration(VARIABLE, "groupdesk", "groupdesk", "groupdesk", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Bash, with a function that joins words split at : and = and quotes the suggestions, because an id may contain
/// anything.
pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        _var: &str,
        _name: &str,
        _bin: &str,
        _completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        out.write_all(include_bytes!("complete/groupdesk.bash"))
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let last = words.len().saturating_sub(1);
        for found in clap_complete::engine::complete(command, words, last, folder)? {
            if let Some(value) = found.get_value().to_str().and_then(quoted) {
                writeln!(out, "{value}")?;
            }
        }
        Ok(())
    }
}

/// Quotes a value for the command line. Returns `None` for values with control characters, which cannot be typed on one
/// line.
fn quoted(value: &str) -> Option<String> {
    if value.chars().any(char::is_control) {
        return None;
    }
    let mut quoted = String::with_capacity(value.len());
    for c in value.chars() {
        if !c.is_alphanumeric() && !"-_./:=@%+,".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    Some(quoted)
}

/// Clap's own script, extended so that when zsh autoloads it on first use, it also answers that first request.
pub(super) struct Zsh;

impl EnvCompleter for Zsh {
    fn name(&self) -> &'static str {
        "zsh"
    }

    fn is(&self, name: &str) -> bool {
        name == "zsh"
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        PlainZsh.write_registration(var, name, bin, completer, out)?;
        writeln!(
            out,
            "[[ $funcstack[1] == _{name} ]] && _clap_dynamic_completer_{name} \"$@\""
        )
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        PlainZsh.write_complete(command, words, folder, out)
    }
}
