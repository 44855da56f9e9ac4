//! `config`: shows where the configuration file is, checks it, and edits it without ever leaving an invalid file
//! behind.

use super::prelude::*;
use crate::{
    cli::{
        input::editor::{self, changed},
        session::overrides,
    },
    config::{
        ConfigError, Settings,
        edit::{Opened, config_file},
        file_of,
    },
    domain::text::{counted, visible},
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
        page("config edit", &["groupdesk config edit", "groupdesk config edit --config new.toml"], &[one("", &[&editor::CHANGED])]),
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
                let is_nothing = match file.metadata() {
                    Ok(found) if found.len() == 0 => Some("an empty configuration file"),
                    Ok(_) => None,
                    Err(_) => Some("no configuration file"),
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
                let file = file.display().to_string();
                let profiles: Vec<_> = settings
                    .profiles
                    .iter()
                    .map(|profile| &profile.name)
                    .collect();
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
}

shape! {
    VALID = "configuration", "a valid configuration file";
    fn valid(file: &str, profiles: &[&String]) {
        "file": text = file, "the configuration file";
        "valid": bool = true, "true; an invalid file is an error";
        "profiles": texts = profiles, "the names of its profiles";
    }
}
