//! Shell completion. The registered shell function runs this program with the words typed so far. It reads the
//! configuration and the directory file, opens no network connection, changes nothing, and prints nothing if it has no
//! suggestion.

use std::ffi::{OsStr, OsString};

use clap::{Arg, ValueEnum};
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCompleter, CompletionCandidate},
    env::{self, EnvCompleter, Shells},
};

use super::{commands::tree, output::human::Columns, prelude::*};
use crate::{
    config::DirectoryAt,
    directory::{CompletedProfile, environment_names, ids_beginning},
    search::{SortBy, filter_tests},
};

/// Environment variable that names the shell asking for completions.
const VARIABLE: &str = "GROUPDESK_COMPLETE";

const SHELLS: Shells<'static> = Shells(&[&Shell::Bash, &Shell::Zsh, &Shell::Fish]);

/// Answers a completion request. Returns false if no shell is asking.
pub(super) fn complete_if_requested() -> bool {
    if std::env::var_os(VARIABLE).is_none_or(|asked| asked.is_empty()) {
        return false;
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    let typed = Typed::of(&words);
    let env = CompleteEnv::with_factory(move || {
        let command = tree::full_command();
        let words = words_of_help(&command, &typed.below_help);
        with_values(command, "", &Arc::new((typed.clone(), words)))
    })
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
    /// What stands behind `help`.
    below_help: Vec<String>,
}

impl Typed {
    fn of(words: &[OsString]) -> Self {
        let mut typed = Self::default();
        let mut words = words.iter().skip_while(|word| *word != "--").skip(1);
        let below = words.clone().skip_while(|word| *word != "help").skip(1);
        let below = below.map(|word| word.to_string_lossy().into_owned());
        typed.below_help = below.filter(|word| !word.starts_with('-')).collect();
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

    /// As for IDs; the names are no secret of a key.
    fn environments(&self) -> Vec<String> {
        match self.settings(false).map(|settings| settings.directory) {
            Some(DirectoryAt::File(file)) => environment_names(&file),
            Some(DirectoryAt::Team(_)) | None => Vec::new(),
        }
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

/// What can stand behind `help` and these words, of which the last one is being typed.
fn words_of_help(root: &Command, typed: &[String]) -> Vec<String> {
    let above = typed.split_last().map_or(&[][..], |(_, above)| above);
    let topics = ["json", "exit-codes", "options"];
    let topics = topics.into_iter().filter(|_| above.is_empty());
    // `help json` also takes the words of a command.
    let above = above.strip_prefix(&["json".to_owned()]).unwrap_or(above);
    let command = above
        .iter()
        .try_fold(root, |command, word| command.find_subcommand(word));
    let below = command.into_iter().flat_map(Command::get_subcommands);
    let names = below.map(Command::get_name).chain(topics);
    names.map(str::to_owned).collect()
}

/// The same command line, with more completion values than the parser knows.
fn with_values(command: Command, above: &str, known: &Arc<(Typed, Vec<String>)>) -> Command {
    let path = format!("{above} {}", command.get_name());
    let command = command.mut_args(|arg| with_value(arg, &path, known));
    command.mut_subcommands(|command| with_values(command, &path, known))
}

/// Returns the values that complete the start of a value.
type Values = Box<dyn Fn(&str) -> Vec<String> + Send + Sync>;

fn with_value(arg: Arg, path: &str, known: &Arc<(Typed, Vec<String>)>) -> Arg {
    let known = Arc::clone(known);
    let mut names = arg.get_value_names().into_iter().flatten();
    let takes_id = names.any(|name| name == "ID") && !path.ends_with(" create");
    let values: Values = match arg.get_id().as_str() {
        _ if takes_id => Box::new(move |begin| known.0.ids(begin).unwrap_or_default()),
        "profile" | "with" => Box::new(move |_| known.0.profiles()),
        "to" if path.ends_with(" copy") => Box::new(move |_| known.0.profiles()),
        "name" if path.contains(" profile ") && !path.ends_with(" add") => {
            Box::new(move |_| known.0.profiles())
        }
        "same_environment" => Box::new(move |_| known.0.environments()),
        "name" | "into" if path.contains(" environment ") => {
            Box::new(move |_| known.0.environments())
        }
        "words" => Box::new(move |_| known.1.clone()),
        "filter" => Box::new(|begin| after_word(begin, ' ', filter_tests())),
        "columns" => Box::new(|begin| after_word(begin, ',', Columns::words())),
        "sort" => Box::new(|begin| after_word(begin, ',', SortBy::WORDS)),
        _ => return arg,
    };
    let takes_dashes = arg.is_allow_hyphen_values_set();
    arg.add(ArgValueCompleter::new(move |begin: &OsStr| {
        let begin = begin.to_str().unwrap_or("\0");
        let found = values(begin).into_iter();
        // What begins with a dash would be read as an option.
        let found = found.filter(|value| takes_dashes || !value.starts_with('-'));
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
        EnvCompleter::name(&self)
    }
}

/// The script with which a shell registers this program for completions.
pub(crate) fn script(shell: Shell) -> io::Result<String> {
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "groupdesk", "groupdesk", "groupdesk", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Clap's own scripts, but for bash, whose function joins words split at : and =. Hidden options and earlier names are not
/// offered, as clap does where nothing else fits.
impl EnvCompleter for Shell {
    fn name(&self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    fn is(&self, name: &str) -> bool {
        name == EnvCompleter::name(self)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        match self {
            Self::Bash => out.write_all(include_bytes!("complete/groupdesk.bash")),
            Self::Fish => env::Fish.write_registration(var, name, bin, completer, out),
            Self::Zsh => {
                env::Zsh.write_registration(var, name, bin, completer, out)?;
                // When zsh autoloads the script on first use, it also answers that first request.
                writeln!(
                    out,
                    "[[ $funcstack[1] == _{name} ]] && _clap_dynamic_completer_{name} \"$@\""
                )
            }
        }
    }

    fn write_complete(
        &self,
        command: &mut Command,
        mut words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let mut last = words.len().saturating_sub(1);
        if matches!(self, Self::Zsh) {
            let index = std::env::var_os("_CLAP_COMPLETE_INDEX");
            last = index
                .and_then(|index| index.to_str()?.parse().ok())
                .unwrap_or_default();
            // An empty word is left out.
            if words.len() == last {
                words.push(OsString::new());
            }
        }
        let mut found = clap_complete::engine::complete(command, words, last, folder)?;
        found.retain(|one| !one.is_hide_set());
        for one in found {
            // Control characters cannot be typed on one line.
            let value = one.get_value().to_str();
            let Some(value) = value.filter(|value| !value.contains(char::is_control)) else {
                continue;
            };
            let help = one.get_help().map(ToString::to_string);
            let help = help.as_deref().and_then(|help| help.split('\n').next());
            match (self, help) {
                (Self::Bash, _) => writeln!(out, "{}", quoted(value))?,
                (Self::Zsh, None) => writeln!(out, "{}", listed(value))?,
                (Self::Zsh, Some(help)) => {
                    writeln!(out, "{}:{}", listed(value), help.replace('\\', "\\\\"))?;
                }
                (Self::Fish, None) => writeln!(out, "{value}")?,
                (Self::Fish, Some(help)) => writeln!(out, "{value}\t{help}")?,
            }
        }
        Ok(())
    }
}

/// Quotes a value for the command line of bash.
fn quoted(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len());
    for c in value.chars() {
        if !c.is_alphanumeric() && !"-_./:=@%+,".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

/// A value for the list of zsh, which has what it means behind a colon.
fn listed(value: &str) -> String {
    value.replace('\\', "\\\\").replace(':', "\\:")
}
