//! Secrets never go on the command line, where every user of the machine can read them. Arguments that look like an
//! option for a secret are refused before parsing, so that no error message repeats them; values that look like a token
//! before the command begins, so that it neither keeps nor sends nor repeats them.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};

use clap::{ArgMatches, parser::ValueSource};

use crate::{
    cli::{
        args::Global,
        output::proposals,
        prelude::*,
        session::{Session, open_named, overrides},
    },
    config::{ConfigError, DirectoryAt, Environment, default_directory, directory_of, is_address},
    directory::{self, known_secrets_in},
    domain::{
        pasted::{FRAGMENT, Shape, may_have_token, shape, suspicious_words},
        proposal::Selection,
    },
    operations::{fingerprints_in, typed_secret},
};

const SECRETS: [&str; 8] = [
    "--token",
    "--current-token",
    "--user-group-token",
    "--api-key",
    "--apikey",
    "--api_key",
    "--key",
    "--password",
];

/// An option without a value. If it is given one, the parser's error message would repeat it.
const BARE: &str = "--token-stdin";

/// Refuses arguments that would contain a secret.
pub(crate) fn refuse(arguments: impl Iterator<Item = OsString>) -> Result<(), CliError> {
    for argument in arguments {
        let argument = argument.to_string_lossy();
        if argument == "--" {
            break;
        }
        let (option, has_value) = match argument.split_once('=') {
            Some((option, _)) => (option, true),
            None => (argument.as_ref(), false),
        };
        let lower = option.to_ascii_lowercase();
        if SECRETS.contains(&lower.as_str()) || (has_value && lower == BARE) {
            let instead = if lower.contains("token") {
                "Pass a token on standard input or at the prompt. To find its group: groupdesk whose; to rotate it: groupdesk rotate \
                 --token-stdin. To read or rotate by ID you need no token"
            } else {
                "Set the source of the API key as api_key in the profile, or set GROUPDESK_BASE_URL and GROUPDESK_API_KEY"
            };
            return Err(CliError::Usage(format!(
                "do not pass secrets as arguments ({option}): other users of this machine can read them, and your shell saves \
                 them in its history. {instead}. If the secret is real, replace it"
            )));
        }
    }
    Ok(())
}

/// Arguments that name something: an ID or a filter may contain digits of its own, but no whole token that is no known ID.
const NAMES: [&str; 6] = ["id", "ids", "as_id", "proof", "filter", "id_or_number"];

/// Commands that open the directory in their own way, or not at all: opening it would migrate what they look at first.
const UNOPENED: [&str; 4] = ["directory", "config", "completions", "doctor"];

/// Commands that need no directory: it is not migrated for them, nor waited for if nothing of theirs is kept.
const APART: [&str; 4] = ["serve", "man", "help", "demo"];
/// The file that `serve` begins.
const NEW_FILE: &str = "--database";

/// A value of the command line that may be a token, and its argument.
pub(crate) struct Suspect {
    field: String,
    text: String,
    doubt: Doubt,
    opens: Opens,
}

/// How the command of a value opens the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opens {
    Usual,
    /// In its own way.
    Itself,
    /// It needs none, but keeps values: `serve keys`.
    Keeping,
    /// It needs none, and keeps no value but the name of a new file.
    Nothing,
}

impl Opens {
    fn of(matches: &ArgMatches) -> Self {
        match matches.subcommand() {
            Some((name, _)) if UNOPENED.contains(&name) => Self::Itself,
            Some((name, below)) if APART.contains(&name) => {
                if below.subcommand_name().is_some() {
                    Self::Keeping
                } else {
                    Self::Nothing
                }
            }
            _ => Self::Usual,
        }
    }
}

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    /// Words: a token only if it is known as one.
    Words,
    /// A token of some service. Refused where the configuration does not say which directory could tell whether it is
    /// known, except for commands that repair it. With a directory that cannot be read it is taken.
    Signs,
    /// A token of ours, or a part of one. Refused unless it is the ID of a group.
    Shape,
}

/// The values that may be a token or a part of one, in every argument that there is.
pub(crate) fn suspects(matches: &ArgMatches, root: &Command) -> Vec<Suspect> {
    let mut found = of_command(matches, root, root);
    found.extend(of_variables());
    let opens = Opens::of(matches);
    for suspect in &mut found {
        suspect.opens = opens;
    }
    found
}

/// The values of the variables that name what is opened.
fn of_variables() -> impl Iterator<Item = Suspect> {
    PLACES_OF_VARIABLES.iter().filter_map(|name| {
        let text = checked(&std::env::var_os(name)?)?;
        let doubt = match shape(&text) {
            _ if *name == BASE_URL => {
                let path = text.splitn(4, '/').nth(3)?;
                doubt_of_words(path, 1).map(|_| Doubt::Words)?
            }
            _ if is_address(&text) => return None,
            Some(_) => Doubt::Shape,
            None => doubt_of_words(&text, 1)?,
        };
        Some(Suspect::of((*name).to_owned(), text, doubt))
    })
}

/// What a text without the shape of a token may be, of these parts between `=`.
fn doubt_of_words(text: &str, parts: usize) -> Option<Doubt> {
    text.chars().nth(FRAGMENT - 1)?;
    let has_signs = text.splitn(parts, '=').any(may_have_token);
    Some(if has_signs {
        Doubt::Signs
    } else {
        Doubt::Words
    })
}

/// Options of all commands are those of `root`.
fn of_command(matches: &ArgMatches, command: &Command, root: &Command) -> Vec<Suspect> {
    let mut found = Vec::new();
    for argument in command.get_arguments().chain(root.get_arguments()) {
        let id = argument.get_id();
        // Debug builds of the parser panic at an argument that this command does not have. A hidden argument is one that
        // its command refuses with a reason of its own.
        if argument.is_positional() && argument.is_hide_set()
            || !matches.ids().any(|known| known == id)
            || matches.value_source(id.as_str()) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        let Ok(Some(values)) = matches.try_get_raw(id.as_str()) else {
            continue;
        };
        let field = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => argument.get_value_names().unwrap_or_default().join(" "),
        };
        let is_name = NAMES.contains(&id.as_str());
        let mut names = argument.get_value_names().into_iter().flatten();
        // Its sign is none of a token.
        let parts = 1 + usize::from(names.any(|name| name.contains('=')));
        for text in values.filter_map(checked) {
            let doubt = match shape(&text) {
                Some(Shape::Token) => Doubt::Shape,
                _ if is_name => continue,
                Some(Shape::Fragment) => Doubt::Shape,
                None if is_address(&text) || is_right_time(&text) => continue,
                None => match doubt_of_words(&text, parts) {
                    Some(doubt) => doubt,
                    None => continue,
                },
            };
            found.push(Suspect::of(field.clone(), text, doubt));
        }
    }
    if let Some((name, below)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        found.extend(of_command(below, command, root));
    }
    found
}

/// What of a value is looked at: not the path of a file that exists, nor the folder of a new one.
fn checked(value: &OsStr) -> Option<String> {
    let path = Path::new(value);
    if path.exists() {
        return None;
    }
    let text = value.to_string_lossy();
    let is_path = ["/", "./", "../", "~/"]
        .iter()
        .any(|start| text.starts_with(start));
    match path.file_name() {
        Some(name) if is_path => Some(name.to_string_lossy().into_owned()),
        _ => Some(text.into_owned()),
    }
}

/// Options that decide what is opened, and that every proposed command repeats.
const PLACES: [&str; 3] = ["--config", "--directory", "--profile"];
/// Of its path only a known token is refused.
const BASE_URL: &str = "GROUPDESK_BASE_URL";
/// Variables that name what they do.
const PLACES_OF_VARIABLES: [&str; 4] = [
    BASE_URL,
    "GROUPDESK_CONFIG",
    "GROUPDESK_DIRECTORY",
    "GROUPDESK_PROFILE",
];

/// Refuses a suspect there before anything is opened: a new directory would have the token as its name.
pub(crate) fn refuse_places(suspects: &[Suspect]) -> Result<(), CliError> {
    let mut shaped = suspects.iter().filter(|one| one.doubt == Doubt::Shape);
    match shaped.find(|suspect| suspect.is_place()) {
        Some(place) => Err(typed_secret(&place.field).into()),
        None => Ok(()),
    }
}

impl Suspect {
    fn of(field: String, text: String, doubt: Doubt) -> Self {
        let opens = Opens::Usual;
        Self {
            field,
            text,
            doubt,
            opens,
        }
    }

    fn is_of_variable(&self) -> bool {
        PLACES_OF_VARIABLES.contains(&self.field.as_str())
    }

    fn is_place(&self) -> bool {
        PLACES.contains(&self.field.as_str()) || self.is_of_variable()
    }

    /// Whether its command may keep it. That of a variable is there for each command, and no server is asked about it.
    fn is_kept(&self) -> bool {
        (self.opens != Opens::Nothing || self.field == NEW_FILE) && !self.is_of_variable()
    }

    fn refused(&self) -> CliError {
        if self.is_place() {
            // A proposed command would repeat it.
            proposals::select(Selection::default(), None);
        }
        let field = self.field.clone();
        Failure::HoldsSecret { field }.into()
    }
}

/// Refuses a suspect that is known as a secret, or that has the shape of one and is not the ID of a known group. Without
/// a directory nothing is known.
pub(crate) async fn refuse_suspects(suspects: &[Suspect], global: &Global) -> Result<(), CliError> {
    if suspects.is_empty() {
        return Ok(());
    }
    let overrides = overrides(global);
    // First, because a file is read here that a session has open.
    refuse_known(suspects, &overrides).await?;
    let shaped = suspects.iter().filter(|one| one.doubt == Doubt::Shape);
    let shaped: Vec<_> = shaped.collect();
    if shaped.is_empty() {
        return Ok(());
    }
    let session = Session::open(global).await.ok();
    for Suspect { field, text, .. } in shaped {
        match &session {
            Some(session) => session.operations.no_secret_in_text(field, text).await?,
            None => return Err(typed_secret(field).into()),
        }
    }
    Ok(())
}

/// No profile is needed for this: a directory knows the tokens of all.
async fn refuse_known(suspects: &[Suspect], overrides: &Overrides) -> Result<(), CliError> {
    let here = directory_of(overrides);
    let usual = || {
        let usual = Overrides {
            config: None,
            directory: None,
            env: overrides.env.clone().without(&PLACES_OF_VARIABLES),
            ..overrides.clone()
        };
        directory_of(&usual).or_else(|_| default_directory(&usual.env))
    };
    // A new directory that is named for one command knows nothing.
    let is_named = here.is_err() || suspects.iter().any(Suspect::is_place);
    let usual = is_named.then(usual).and_then(Result::ok);
    if let Some(DirectoryAt::File(file)) = usual
        && let Ok(Some(known)) = known_to_file(suspects, &file)
    {
        return Err(known.refused());
    }
    let at = match here {
        Ok(at) => at,
        // Nothing names one.
        Err(ConfigError::NoHome(..)) => return Ok(()),
        // What the file would have named cannot be asked.
        Err(wrong) if is_refused_unasked(suspects) => return Err(wrong.into()),
        Err(_) => return Ok(()),
    };
    if let DirectoryAt::File(file) = &at {
        match known_to_file(suspects, file) {
            Ok(Some(known)) => return Err(known.refused()),
            Ok(None) => return Ok(()),
            // One of an older schema: it is not migrated for a command that does not need it.
            Err(_) if suspects.iter().any(|one| one.opens != Opens::Usual) => return Ok(()),
            Err(_) => {}
        }
    }
    if !is_opened_for(suspects) {
        return Ok(());
    }
    // One that cannot be opened is reported by the command, if it needs it.
    let Ok(directory) = open_named(&at, overrides) else {
        return Ok(());
    };
    directory.set_is_of_command(true);
    for suspect in suspects {
        let asked = fingerprints_in(directory.fingerprinter(), &suspect.text);
        match directory.known_secrets(asked).await {
            Ok(known) if !known.is_empty() => return Err(suspect.refused()),
            Ok(_) => {}
            // It would be waited for again.
            Err(_) => break,
        }
    }
    Ok(())
}

/// Whether no directory is named that could tell. A command that repairs or reports the configuration continues, and so
/// does `serve` with the name of its file: it needs no configuration.
fn is_refused_unasked(suspects: &[Suspect]) -> bool {
    let is_of_serve = |one: &Suspect| one.opens == Opens::Nothing && one.field == NEW_FILE;
    let mut signs = suspects.iter().filter(|one| one.doubt == Doubt::Signs);
    signs.any(|one| !is_of_serve(one)) && suspects.iter().all(|one| one.opens != Opens::Itself)
}

/// Whether a directory is opened, and waited for, only to look them up.
fn is_opened_for(suspects: &[Suspect]) -> bool {
    suspects.iter().all(|one| one.opens != Opens::Itself)
        && suspects
            .iter()
            .any(|one| one.is_kept() || one.doubt > Doubt::Words)
}

/// The first that a directory file knows, which is neither opened for writing nor migrated for it.
fn known_to_file<'s>(
    suspects: &'s [Suspect],
    file: &Path,
) -> directory::Result<Option<&'s Suspect>> {
    if !file.exists() {
        return Ok(None);
    }
    for suspect in suspects {
        let known = known_secrets_in(file, |by| fingerprints_in(by, &suspect.text))?;
        if !known.is_empty() {
            return Ok(Some(suspect));
        }
    }
    Ok(None)
}

/// The arguments that a message of the parser repeats and that a directory knows as a secret, which is looked up only for
/// them.
pub(crate) async fn known_in_message(text: &str) -> Vec<String> {
    let overrides = Overrides {
        env: Environment::of_process(),
        ..Overrides::default()
    };
    let mut known = Vec::new();
    for argument in std::env::args_os().skip(1) {
        let argument = argument.to_string_lossy();
        let value = match argument.split_once('=') {
            Some((option, value)) if option.starts_with('-') => value,
            _ => &argument,
        };
        if value.chars().nth(FRAGMENT - 1).is_none() || !text.contains(value) {
            continue;
        }
        let field = "argument".to_owned();
        let suspect = Suspect::of(field, value.to_owned(), Doubt::Words);
        if refuse_known(&[suspect], &overrides).await.is_err() {
            known.push(value.to_owned());
        }
    }
    known
}

/// A message of the parser, which repeats arguments, without what looks like a token.
pub(crate) fn masked(mut text: String, arguments: impl Iterator<Item = OsString>) -> String {
    for argument in arguments {
        let argument = argument.to_string_lossy();
        if is_time(argument.rsplit('=').next().unwrap_or_default()) {
            continue;
        }
        for word in suspicious_words(&argument) {
            text = text.replace(word, "…");
        }
        // Of other shapes it may be one that is known. The parser quotes `--option=VALUE` without the option.
        if may_have_token(&argument) {
            text = text.replace(argument.as_ref(), "…");
            if let Some((option, value)) = argument.split_once('=')
                && option.starts_with('-')
                && !value.is_empty()
            {
                text = text.replace(value, "…");
            }
        }
    }
    text
}

/// Whether a text can only be a time, also a mistyped one: `2026-11-30T08:00`.
fn is_time(text: &str) -> bool {
    const LONGEST: usize = "2026-11-30T08:00:00.000000000+00:00".len();
    let is_day = |c: char| c.is_ascii_digit() || c == '-';
    text.len() <= LONGEST
        && text.chars().take(10).all(is_day)
        && text.chars().all(|c| is_day(c) || "TtZz:.+ ".contains(c))
        && text.chars().filter(|c| *c == '-').count() >= 2
}

/// Whether a text is a time, of the signs of one only.
fn is_right_time(text: &str) -> bool {
    let is_moment = || text.parse::<jiff::Timestamp>().is_ok();
    is_time(text) && (is_moment() || text.parse::<jiff::civil::DateTime>().is_ok())
}
