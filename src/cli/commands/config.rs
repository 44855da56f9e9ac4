//! `config`: shows where the configuration file is, checks it, and edits it without ever leaving an invalid file
//! behind.

use std::borrow::Cow;

use super::{
    edit::{edited, say_kept},
    prelude::*,
};
use crate::{
    cli::{input::confirm::confirm, session::overrides},
    config::{
        ConfigError, DirectoryAt,
        edit::{Edit, EditError, Opened, config_file},
        file_of,
        scrub::without_new_keys,
    },
    directory::TeamLocation,
    domain::kept_text::without_secrets,
    tui::keymap,
};

/// The content of a file that does not exist yet.
const NEW: &str =
    "# The configuration of groupdesk; every setting: docs/reference/configuration.md\n";

/// Find, check and edit the configuration file
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the path of the configuration file, even if it does not exist yet
    Path,
    /// Check the configuration file, without contacting the service
    #[command(after_help = "Exit codes: 0 valid, 2 invalid.")]
    Validate,
    /// Edit the configuration file in $EDITOR; saves it only if it is valid
    Edit,
}

impl Run for Config {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("config", &["groupdesk config path", "groupdesk config validate"], &[]),
        page("config path", &["groupdesk config path", "groupdesk config path --json"], &[one("", &[&FILE])]),
        page("config validate", &["groupdesk config validate", "groupdesk config validate --config new.toml"], &[one("", &[&VALID])]),
        page("config edit", &["groupdesk config edit", "groupdesk config edit --config new.toml"], &[one("", &[&CHANGED])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let overrides = overrides(global);
        match self.command {
            Command::Path => {
                let (_, named_by) = file_of(&overrides)?;
                let file = config_file(&overrides)?;
                let name = file.display().to_string();
                let value = || place(&name, file.exists(), named_by);
                output::either(global.json, value, || name.clone())
            }
            Command::Validate => {
                let file = config_file(&overrides)?;
                let settings = Settings::load(&overrides)?;
                // A profile may come from variables alone.
                let is_comment =
                    |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
                let is_nothing = match Opened::read(&overrides)?.text {
                    Some(text) if text.split('\n').all(is_comment) => {
                        Some("an empty configuration file")
                    }
                    Some(_) => None,
                    None => Some("no configuration file"),
                };
                if let Some(what) = is_nothing.filter(|_| settings.profiles.is_empty()) {
                    return Err(CliError::Usage(format!(
                        "there is {what} at {}. To add a profile: groupdesk profile add NAME",
                        visible(&file.to_string_lossy())
                    )));
                }
                keymap::resolve(&settings.keys).map_err(|problems| ConfigError::Wrong {
                    file: file.clone(),
                    problems,
                })?;
                if let DirectoryAt::Team(team) = &settings.directory {
                    let wrong = |why| {
                        let file = visible(&file.to_string_lossy()).into_owned();
                        CliError::Usage(format!("{file}: {why}"))
                    };
                    TeamLocation::parse(&team.url, &team.schema)
                        .map_err(|why| wrong(format!("url under [directory]: {why}")))?;
                    team.pair().map_err(|why| wrong(why.into()))?;
                }
                let file = file.display().to_string();
                let profiles = settings.profiles.iter().map(|profile| &profile.name);
                let profiles: Vec<_> = profiles.collect();
                let value = || valid(&file, &profiles);
                let right = || format!("{file} is valid: {}", counted(profiles.len(), "profile"));
                output::either(global.json, value, right)
            }
            Command::Edit => {
                let opened = Opened::read(&overrides)?;
                let text = opened.text.as_deref().unwrap_or(NEW);
                let change = |text: &str| opened.whole(text);
                changed((&overrides.env, global.no_input), text, change, global.json).await
            }
        }
    }
}

shape! {
    FILE = "configuration-file", "where the configuration file is";
    fn place(file: &str, exists: bool, named_by: Option<&str>) {
        "file": text = file, "the configuration file";
        "exists": bool = exists, "whether the file exists";
        "named_by": text or "it is the default file" = named_by, "the option or variable that set it";
    }

    VALID = "configuration", "a valid configuration file";
    fn valid(file: &str, profiles: &[&String]) {
        "file": text = file, "the configuration file";
        "valid": bool = true, "true; an invalid file is an error";
        "profiles": texts = profiles, "the names of its profiles";
    }
}

const CONFIG: &str = "config.toml";

/// Lets a person edit a text until it is valid, and writes it. A text that is not used is kept, without what may be a
/// key.
pub(crate) async fn changed(
    (environment, no_input): (&Environment, bool),
    before: &str,
    change: impl Fn(&str) -> Result<Edit, EditError>,
    as_json: bool,
) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let mut text = before.to_owned();
    // People paste keys into settings by mistake.
    let keepable = async |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let kept = without_new_keys(before, &text);
        let kept = without_secrets(kept.as_bytes(), before, async |_: &str| false).await;
        if kept == text.as_bytes() {
            return Some(bytes.to_vec());
        }
        // Of other files of the editor it is not clear where a line begins.
        let is_text = !bytes.contains(&0) && matches!(text, Cow::Borrowed(_));
        is_text.then_some(kept)
    };
    let keep_settings = async |text: &str| {
        if text.trim_end() != before.trim_end() {
            say_kept(CONFIG, text, before, &keepable, |_| String::new()).await;
        }
    };
    let edit = loop {
        let left = match edited(environment, CONFIG, &text, &mut signals, &keepable).await {
            Ok(text) => text,
            Err(error) => {
                keep_settings(&text).await;
                return Err(error);
            }
        };
        // As an editor leaves it on a full disk; without a profile it would be valid.
        if left.trim().is_empty() && !before.trim().is_empty() {
            if text != before {
                keep_settings(&text).await;
            }
            let why = "the editor left an empty file; nothing was changed";
            return Err(CliError::Usage(why.into()));
        }
        text = left;
        if text.trim_end() == before.trim_end() {
            break None;
        }
        let wrong = match change(&text) {
            Ok(edit) => break Some(edit),
            Err(error) => CliError::from(error),
        };
        let has_person = io::stdin().is_terminal() && io::stderr().is_terminal();
        if no_input || !has_person {
            keep_settings(&text).await;
            return Err(wrong);
        }
        output::alarm(&format!("x {wrong}"));
        let again = confirm(false, "Edit it again?", Question::YesOrNo).await;
        if again.is_err() {
            keep_settings(&text).await;
        }
        again?;
    };
    if let Some(edit) = &edit {
        let made = edit.make();
        if made.is_err() {
            keep_settings(&text).await;
        }
        made?;
        output::note_change();
    }
    let file = edit.as_ref().map(|edit| edit.file.display().to_string());
    let value = changed_file(edit.is_some(), file.as_deref());
    let line = file.map_or("nothing was changed".into(), |file| {
        format!("written to {file}")
    });
    output::done(as_json, &value, &line)
}

shape! {
    pub(crate) CHANGED = "configuration-changed", "result of editing the configuration file";
    fn changed_file(written: bool, file: Option<&str>) {
        "written": bool = written, "whether the file was changed";
        "file": text or "nothing was changed" = file, "the configuration file";
    }
}
