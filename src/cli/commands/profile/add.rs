//! `profile add`: asks for missing values, tests the connection, then shows and writes the configuration lines. If a test
//! fails, nothing is written.

use super::{
    Setup, bind,
    questions::{self, ask_facts},
    show, stop_of,
};
use crate::{
    cli::{
        args::new_name,
        commands::{places, prelude::*},
    },
    config::{
        edit::{Edit, EditError},
        keyring,
        new_profile::{Field, NewProfile},
        profile::{KeySource, Profile},
        scrub::looks_like_a_key,
    },
    domain::group::EnvironmentTag,
    intake::{command, pairs::unquoted},
    operations::{BindingAnswer, Connector, Finding, NotAdded, PlaceProblem, Probe},
};

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Short name of your choice
    #[arg(value_parser = new_name)]
    name: String,
    /// URL of the service
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Path of the API [default: /api/user]
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Environment tag that responses must have; without it, any tag is accepted and the profile counts as production
    #[arg(long, value_parser = ["Customer", "Testing"])]
    environment: Option<String>,
    #[command(flatten)]
    source: SourceArgs,
    /// More arguments of --api-key-command, which may begin with a dash
    #[arg(last = true, requires = "command", value_name = "ARG")]
    last: Vec<String>,
    /// Additional CA certificates to trust (PEM)
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Save the profile without testing the connection
    #[arg(long)]
    no_check: bool,
    /// Skip the confirmation prompt; if the test fails, nothing is saved
    #[arg(long, short = 'y')]
    yes: bool,
    /// Test the connection and show the lines, without saving anything
    #[arg(long)]
    dry_run: bool,
    /// The profile is a known environment with a new key or URL [default: the only candidate]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "new_environment")]
    same_environment: Option<String>,
    /// The profile is a new environment
    #[arg(long)]
    new_environment: bool,
}

/// Where the key comes from.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct SourceArgs {
    /// Environment variable that contains the key
    #[arg(long = "api-key-env", value_name = "NAME")]
    env: Option<String>,
    /// File that contains the key; only you may have access
    #[arg(long = "api-key-file", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Command that prints the key; runs without a shell
    #[arg(long = "api-key-command", value_name = "CMD", num_args = 1..)]
    command: Option<Vec<String>>,
    /// Entry of the kernel keyring; the key is read from standard input or a prompt [default: the profile name]
    #[arg(long = "api-key-keyring", value_name = "ENTRY", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    keyring: Option<String>,
}

pub(super) async fn add(context: &Setup<'_>, mut arguments: Add) -> Result<Exit, CliError> {
    if let Some(command) = &mut arguments.source.command {
        command.append(&mut arguments.last);
    }
    let connector = context.connector();
    let (mut new, is_asked) = complete(context, &connector, &arguments).await?;
    // Report invalid values before asking for a key.
    let (mut edit, profile) = connector.plan(&new).map_err(stop_of)?;
    check_named(context, &profile, &arguments).await?;
    let key = match &new.api_key {
        KeySource::Keyring(_) => questions::key(context.no_input).await?,
        KeySource::Env(_) | KeySource::File(_) | KeySource::Command(_) | KeySource::Unset => None,
    };
    let mut read = key.clone();
    let probe = if arguments.no_check {
        None
    } else {
        let tested = async {
            let key = match read.take() {
                Some(key) => key,
                None => connector.key(&profile).await?,
            };
            connector.probe(&profile, Some(read.insert(key))).await
        };
        Some(tested.await)
    };
    match &probe {
        Some(Ok(found)) if is_passed(found) => output::say(&show::probe_text(found)),
        Some(Ok(found)) => output::alarm(&show::probe_text(found)),
        Some(Err(failure)) => output::alarm(&format!("! {failure}")),
        None => {}
    }
    new.read_only = matches!(&probe, Some(Ok(probe)) if probe.finding == Finding::MayNotChange);
    if new.read_only {
        (edit, _) = connector.plan(&new).map_err(stop_of)?;
    }
    let has_failed = probe
        .as_ref()
        .is_some_and(|probe| !probe.as_ref().is_ok_and(is_passed));
    // `--yes` answers questions; a test that failed is none.
    let wanted =
        !arguments.dry_run && (!has_failed || !arguments.yes && all_the_same(context).await?);
    if wanted {
        let added = connector.add(&new, key.as_ref()).await.map_err(stop_of)?;
        if let Some(read) = read {
            added.remember_key(read);
        }
        if let Err(stop) = which_place(context, &added, &arguments).await {
            take_back(&new, &edit, key.is_some());
            return Err(stop);
        }
        output::note_change();
        if is_asked {
            ask_facts(&added).await?;
        }
    } else if !arguments.dry_run {
        output::alarm("the profile was not saved. To save it without the test, add --no-check");
    }
    tell(context, &new, &edit, probe.as_ref(), wanted)?;
    Ok(Exit::done_unless(has_failed && !wanted, Exit::Refused))
}

/// Decides which environment the profile is, if its address or key is known already: by the flags, otherwise by asking.
/// Nothing is sent before that is decided, now or later.
async fn which_place(
    context: &Setup<'_>,
    added: &Operations,
    arguments: &Add,
) -> Result<(), CliError> {
    let asked = match added.place_problem().await {
        Some(problem @ PlaceProblem::Asked { .. }) => Some(problem),
        // Every command of such a profile would be refused.
        Some(problem @ PlaceProblem::TagConflict { .. }) => {
            return Err(Failure::from(problem).into());
        }
        _ => None,
    };
    let answer = match (&arguments.same_environment, &asked) {
        (Some(place), _) => Some(bind::same(added, Some(place), false).await?),
        (None, Some(_)) if arguments.new_environment => Some(BindingAnswer::New),
        (None, Some(problem)) => {
            output::alarm(&format!("! {problem}"));
            ask_place(context, added).await?
        }
        (None, None) => None,
    };
    if let Some(answer) = answer {
        let bound = added.answer_binding(answer).await?;
        bind::say(&added.profile().name, &bound);
    }
    Ok(())
}

/// Returns `None` if it is to be decided later, as the line printed before explains.
async fn ask_place(
    context: &Setup<'_>,
    added: &Operations,
) -> Result<Option<BindingAnswer>, CliError> {
    if !questions::has_person(context.no_input) {
        return Ok(None);
    }
    let question =
        "Same environment: type its name. Another one: type \"new\". To decide later: press Enter:";
    match questions::line(question).await?.as_str() {
        "" => Ok(None),
        "new" => Ok(Some(BindingAnswer::New)),
        place => bind::same(added, Some(place), false).await.map(Some),
    }
}

async fn all_the_same(context: &Setup<'_>) -> Result<bool, CliError> {
    if !questions::has_person(context.no_input) {
        return Ok(false);
    }
    let answer = questions::line("Save the profile anyway? [y/N]").await?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Refuses the name of an environment that does not exist.
async fn check_named(
    context: &Setup<'_>,
    profile: &Profile,
    arguments: &Add,
) -> Result<(), CliError> {
    let named = arguments.same_environment.as_deref();
    let Some(name) = named.filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    // Without a readable configuration the directory is found when the profile is written.
    let Ok(settings) = context.settings() else {
        return Ok(());
    };
    let operations = context.operations(&settings, profile)?;
    places::named(&operations, name).await.map(drop)
}

fn is_passed(probe: &Probe) -> bool {
    Exit::from_probe(probe) == Exit::Done
}

/// Removes what was just written, because its environment could not be decided as the arguments say.
fn take_back(new: &NewProfile, written: &Edit, stored_key: bool) {
    if let KeySource::Keyring(entry) = &new.api_key
        && stored_key
    {
        // Without its profile it would only be overwritten by the next attempt.
        drop(keyring::forget(entry));
    }
    output::alarm(&match written.undo() {
        Ok(()) => "the profile was not saved".to_owned(),
        Err(why) => format!("! the profile was saved and could not be removed again: {why}"),
    });
}

/// The values from the arguments, completed on a terminal by asking for the missing ones, and whether some were.
async fn complete(
    context: &Setup<'_>,
    connector: &Connector,
    arguments: &Add,
) -> Result<(NewProfile, bool), CliError> {
    let said = source(&arguments.source, &arguments.name)?;
    let is_complete = arguments.base_url.is_some() && said.is_some();
    if !is_complete && !questions::has_person(context.no_input) {
        return Err(CliError::Usage(
            "--base-url and one of --api-key-env, --api-key-file, --api-key-command and --api-key-keyring are needed; nothing was saved".into(),
        ));
    }
    // As with the key file, a relative path is relative to the current folder.
    let ca_file = arguments.ca_file.as_ref().map(std::path::absolute);
    let ca_file = ca_file
        .transpose()
        .map_err(|error| CliError::Usage(format!("--ca-file: {error}")))?;
    let base_url = match &arguments.base_url {
        Some(url) => url.clone(),
        None => questions::line("Base URL, for example https://api.example.com:").await?,
    };
    let tag = |text: &String| EnvironmentTag::parse(text);
    let mut new = NewProfile {
        name: arguments.name.clone(),
        base_url,
        path: arguments.path.clone(),
        environment: arguments.environment.as_ref().map(tag),
        api_key: said.unwrap_or(KeySource::Unset),
        ca_file,
        read_only: false,
    };
    if is_complete {
        return Ok((new, false));
    }
    no_wrong_answer(connector, &new)?;
    if new.environment.is_none() {
        let question = "Environment: Customer, Testing, or Enter to leave it unset:";
        let answer = Some(questions::line(question).await?).filter(|answer| !answer.is_empty());
        new.environment = answer.as_ref().map(tag);
        no_wrong_answer(connector, &new)?;
    }
    if new.api_key == KeySource::Unset {
        new.api_key = ask_source(&arguments.name).await?;
    }
    Ok((new, true))
}

/// Refuses what was answered so far, before more is asked. The source of the key may be an answer that is still missing.
fn no_wrong_answer(connector: &Connector, new: &NewProfile) -> Result<(), CliError> {
    match connector.plan(new) {
        Err(NotAdded::Edit(EditError::Wrong(mut problems))) => {
            problems.retain(|(field, _)| *field != Field::ApiKey);
            if problems.is_empty() {
                return Ok(());
            }
            Err(EditError::Wrong(problems).into())
        }
        planned => planned.map(drop).map_err(stop_of),
    }
}

fn source(said: &SourceArgs, profile: &str) -> Result<Option<KeySource>, CliError> {
    if let Some(name) = &said.env {
        return Ok(Some(KeySource::Env(name.clone())));
    }
    if let Some(file) = &said.file {
        return key_file(file, "--api-key-file").map(Some);
    }
    if let Some(argv) = &said.command {
        return Ok(Some(KeySource::Command(argv.clone())));
    }
    Ok(said.keyring.as_ref().map(|entry| {
        let entry = if entry.is_empty() { profile } else { entry };
        KeySource::Keyring(entry.to_owned())
    }))
}

/// A relative path is relative to the current folder, not to the configuration file.
fn key_file(file: &Path, what: &str) -> Result<KeySource, CliError> {
    let wrong = |why: &str| CliError::Usage(format!("{what}: the path {why}; nothing was saved"));
    let file = paths::from_home(file, std::env::home_dir()).map_err(wrong)?;
    let text = file.to_string_lossy();
    if let Some(why) = paths::unusable(&text) {
        return Err(wrong(why));
    }
    if text.contains("://") {
        return Err(wrong("is a URL; write the path itself"));
    }
    let file = std::path::absolute(file)
        .map_err(|error| CliError::Usage(format!("{what}: {error}; nothing was saved")))?;
    Ok(KeySource::File(file))
}

/// The path as a file manager or a shell writes it when it is dragged or copied into a terminal: in quotes, or with `\` before
/// each blank.
fn dragged(path: &str) -> String {
    let path = path.trim();
    let plain = unquoted(path);
    if plain != path || Path::new(path).exists() {
        return plain.to_owned();
    }
    let mut letters = path.chars();
    let mut text = String::new();
    while let Some(c) = letters.next() {
        text.extend(if c == '\\' { letters.next() } else { Some(c) });
    }
    text
}

async fn ask_source(profile: &str) -> Result<KeySource, CliError> {
    let question = "API key from: variable, file, command or keyring?";
    let answer = questions::line(question).await?.to_lowercase();
    Ok(match answer.as_str() {
        "variable" | "env" => KeySource::Env(questions::line("Name of the variable:").await?),
        "file" => {
            let file = questions::line("File, for example ~/eu.key:").await?;
            if file.is_empty() {
                return Err(CliError::Usage(
                    "the path of the API key file is empty; nothing was saved".into(),
                ));
            }
            key_file(Path::new(&dragged(&file)), "the API key file")?
        }
        "command" => {
            let line = questions::line("Command, for example pass show eu-live:").await?;
            let words = command::words(&line);
            let words = words.map_err(|why| CliError::Usage(format!("{why}; nothing was saved")));
            KeySource::Command(words?)
        }
        "keyring" => KeySource::Keyring(profile.to_owned()),
        other => return Err(CliError::Usage(no_source(other).into())),
    })
}

/// What is wrong with this as the place of a key.
fn no_source(answer: &str) -> &'static str {
    if looks_like_a_key(answer) {
        "do not type the key here, where it would stay visible; nothing was saved. To store a key, reply keyring: \
         groupdesk then asks for the key and does not show it"
    } else {
        "expected variable, file, command or keyring; nothing was saved"
    }
}

fn tell(
    context: &Setup<'_>,
    new: &NewProfile,
    edit: &Edit,
    probe: Option<&Result<Probe, Failure>>,
    written: bool,
) -> Result<(), CliError> {
    let file = edit.file.display();
    if context.json {
        return output::json(&object(&new.name, edit, probe, written));
    }
    output::say(&match (written, edit.is_new_file()) {
        (true, true) => format!("written to the new file {file}, which only you can read:"),
        (true, false) => format!("written to {file}:"),
        (false, _) => format!("lines for {file}:"),
    });
    output::result(edit.lines.trim_end())
}

shape! {
    pub(crate) ADDED = "profile-added", "a profile that was, or would be, written";
    fn object(name: &str, edit: &Edit, probe: Option<&Result<Probe, Failure>>, written: bool) {
        "profile": text = name, "its name";
        "file": text = edit.file.display(), "the configuration file";
        "written": bool = written, "false with --dry-run, or if the test failed";
        "lines": text = edit.lines, "the lines for the file";
        "check": {CHECK} or "--no-check was given" = probe.map(|probe| check(probe.as_ref())), "result of the connection test";
    }

    CHECK = "", "";
    fn check(probe: Result<&Probe, &Failure>) {
        "finding": text or "it could not be tested" = probe.ok().map(|probe| probe.finding.as_str()), "as in `check`";
        "text": text = probe.map_or_else(ToString::to_string, |probe| probe.text.clone()), "the same as text; human-readable, may change";
        maybe "steps": [show::STEP] = probe.ok().map(|probe| probe.steps.iter().map(show::step)), "as in `check`; missing if it could not be tested";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_key_is_relative_to_the_current_folder() {
        let here = std::env::current_dir().expect("a folder");
        for (typed, wanted) in [
            ("live.key", here.join("live.key")),
            ("/k/eu", "/k/eu".into()),
        ] {
            let file = key_file(Path::new(typed), "the API key file").expect("a path");
            assert_eq!(file, KeySource::File(wanted));
        }
        if let Some(home) = std::env::home_dir() {
            let file = key_file(Path::new("~/eu.key"), "the API key file").expect("a path");
            assert_eq!(file, KeySource::File(home.join("eu.key")));
        }
    }

    #[test]
    fn a_path_that_is_dragged_into_the_terminal_is_that_of_the_file() {
        for (typed, wanted) in [
            ("'/k/eu live.key' ", "/k/eu live.key"),
            ("\"~/live.key\"", "~/live.key"),
            ("/k/eu\\ live\\(1\\).key", "/k/eu live(1).key"),
            ("live.key", "live.key"),
        ] {
            assert_eq!(dragged(typed), wanted, "{typed}");
        }
        for wrong in ["file:///k/eu.key", "$HOME/eu.key", "${HOME}/eu.key"] {
            let why = key_file(Path::new(wrong), "the API key file").expect_err(wrong);
            let why = why.to_string();
            assert!(why.ends_with("; nothing was saved"), "{why}");
        }
    }

    #[test]
    fn a_key_typed_where_its_place_is_asked_for_is_not_taken_for_a_word() {
        let key = "sk9a8b7c6d5e4f3a2b1c0d9e8f7a";
        let said = no_source(key);
        assert!(said.starts_with("do not type the key here"), "{said}");
        assert!(no_source("vriable").starts_with("expected variable"));
    }
}
