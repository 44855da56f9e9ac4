//! `help`: the help of a command, the JSON of all commands, the exit codes, and the global options. `version`, and
//! `completions`, which prints the script that connects a shell to the program (`complete`).

use super::{
    contract,
    prelude::*,
    tree::{command, global_options},
};
use crate::{
    cli::{
        complete::{self, Shell},
        input::not_there,
        output::colour,
        process::exit,
    },
    config::nearest,
};

const JSON: &str = "json";
const EXIT_CODES: &str = "exit-codes";
const OPTIONS: &str = "options";

/// Show help for a command, for JSON output, exit codes or global options
#[derive(Debug, Args)]
pub(crate) struct Help {
    /// Command and subcommand; or json, optionally with a command; or exit-codes; or options
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

impl Run for Help {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("help", &[
            "groupdesk help rotations check",
            "groupdesk help json",
            "groupdesk help json rotate",
            "groupdesk help exit-codes",
            "groupdesk help options",
        ], &[
            one("[COMMAND]", &[&contract::HELP]),
            one("json [COMMAND]", &[&contract::CONTRACT]),
            array("exit-codes", &[&contract::EXIT_CODE]),
        ]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        match self.words.as_slice() {
            [topic, command @ ..] if topic == JSON => {
                let unknown = || unknown(command, &command.join(" "));
                if global.json {
                    output::json(&contract::object(command).ok_or_else(unknown)?)?;
                } else {
                    let text = contract::text(command, human::terminal_width());
                    output::result(&text.ok_or_else(unknown)?)?;
                }
                Ok(Exit::Done)
            }
            [topic] if topic == EXIT_CODES => {
                let codes = exit::CODES.iter();
                let codes = codes.map(|(exit, meaning)| (*exit as u8, meaning));
                let value = |(code, meaning): (u8, &&str)| contract::exit_code(code, meaning);
                let line = |(code, meaning)| format!("{code:>3}  {meaning}");
                output::either(
                    global.json,
                    || codes.clone().map(value).collect::<Vec<_>>(),
                    || codes.clone().map(line).collect::<Vec<_>>().join("\n"),
                )
            }
            [topic] if topic == OPTIONS => {
                let text = global_options();
                let value = || contract::help("groupdesk", &text);
                output::either(global.json, value, || text.trim_end().to_owned())
            }
            words => of_command(global, words),
        }
    }
}

fn of_command(global: &Global, words: &[String]) -> Result<Exit, CliError> {
    let mut root = command();
    // Fills in the names and the usage of subcommands.
    root.build();
    let mut found = &mut root;
    for word in words {
        if found.find_subcommand(word).is_none() {
            return Err(unknown(words, word));
        }
        found = found
            .find_subcommand_mut(word)
            .ok_or_else(|| unknown(words, word))?;
    }
    let text = found.render_help();
    let name = || [&["groupdesk".to_owned()], words].concat().join(" ");
    let value = || contract::help(&name(), &text.to_string());
    output::either(global.json, value, || {
        if colour::is_coloured(&io::stdout()) {
            text.ansi().to_string()
        } else {
            text.to_string()
        }
    })
}

fn unknown(words: &[String], word: &str) -> CliError {
    let asked = words.join(" ");
    let at = words.iter().position(|other| other == word);
    let above = &words[..at.unwrap_or_default()];
    if let Some(instead) = not_there::instead_of_help(above, word) {
        return CliError::Usage(format!("no help for \"{asked}\"; {instead}"));
    }
    let mut names = Vec::new();
    if above.is_empty() {
        names.extend([JSON, EXIT_CODES, OPTIONS].map(str::to_owned));
    }
    let root = command();
    let here = above
        .iter()
        .try_fold(&root, |here, above| here.find_subcommand(above));
    names.extend(
        here.into_iter()
            .flat_map(clap::Command::get_subcommands)
            .filter(|below| !below.is_hide_set())
            .map(|below| below.get_name().to_owned()),
    );
    let nearest = nearest(word, names.iter().map(String::as_str));
    let hint = nearest.map_or_else(String::new, |name| format!(" (did you mean \"{name}\"?)"));
    CliError::Usage(format!(
        "no help for \"{asked}\"{hint}. For a list of commands, run `groupdesk --help`"
    ))
}

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The release date in CHANGELOG.md; a test compares the two.
pub(super) const RELEASED: &str = "2026-11-22";

/// Print the version and release date
#[derive(Debug, Args)]
pub(crate) struct Version;

impl Run for Version {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("version", &["groupdesk version", "groupdesk version --json | jq -r .version"], &[one("", &[&OBJECT])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let text = || format!("groupdesk {VERSION}, {RELEASED}");
        output::either(global.json, version, text)
    }
}

shape! {
    OBJECT = "version", "the version of groupdesk";
    fn version() {
        "version": text = VERSION, "its version";
        "released": text = RELEASED, "the day of its release";
    }
}

/// Generate a shell completion script for commands, options, profiles and IDs
#[derive(Debug, Args)]
#[command(
    after_help = "The script calls groupdesk, which reads the configuration and the directory file but never the network, so \
        it does not complete the IDs of a team directory.\nCreate the folder first: mkdir -p \
        ~/.local/share/bash-completion/completions"
)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Run for Completions {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("completions", &[
            "groupdesk completions bash > ~/.local/share/bash-completion/completions/groupdesk",
            "groupdesk completions zsh > ~/.zfunc/_groupdesk",
            "groupdesk completions fish > ~/.config/fish/completions/groupdesk.fish",
        ], &[one("SHELL", &[&SCRIPT])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let script = complete::script(self.shell)
            .map_err(CliError::unexpected("the script of the shell was not made"))?;
        let value = || of_shell(self.shell.name(), &script);
        output::either(global.json, value, || script.clone())
    }
}

shape! {
    SCRIPT = "script", "completions for a shell";
    fn of_shell(shell: &str, script: &str) {
        "shell": text = shell, "bash, zsh or fish";
        "script": text = script, "the script";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_word_that_is_nearly_a_command_leads_to_it() {
        let hint = |words: &str| {
            let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
            unknown(&words, words.last().expect("a word")).to_string()
        };
        for (words, meant) in [
            ("rotat", "rotate"),
            ("exports", "export"),
            ("profile lst", "list"),
            ("jsn", "json"),
        ] {
            let text = hint(words);
            assert!(
                text.contains(&format!("did you mean \"{meant}\"?")),
                "{text}"
            );
        }
        for words in ["qwerty", "nonsense", "quiet", "user-groups", "stole"] {
            let text = hint(words);
            assert!(!text.contains("did you mean"), "{text}");
        }
    }

    #[test]
    fn the_day_is_that_of_the_changelog() {
        let changelog = include_str!("../../../CHANGELOG.md");
        let line = format!("\n## [{VERSION}] - {RELEASED}\n");
        assert!(changelog.contains(&line), "{line}");
    }
}
