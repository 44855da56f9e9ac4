//! The command line. Every command calls `operations`, prints one result and ends with one exit code. It neither
//! interprets answers nor writes to the directory itself.

mod args;
mod commands;
mod complete;
mod error;
mod input;
mod output;
mod prelude;
pub mod process;
mod session;
mod unexpected;

use std::{
    ffi::OsString,
    io::{self, Write as _},
    process::ExitCode,
    time::Duration,
};

use clap::FromArgMatches;

use self::{
    args::Output,
    commands::{Cli, contract, tree},
    error::CliError,
    input::{
        dashes, forgotten,
        secrets::{self, Suspect},
        unparsed::Unparsed,
    },
    output::{
        colour, exchanges,
        form::{self, Form},
        json, proposals,
    },
    process::{exit::Exit, resources},
};
use crate::platform::own_session;

/// How long tasks may take to be dropped at the end; only a prompt without an answer takes longer.
const LONGEST_STOP: Duration = Duration::from_millis(200);
/// How long the end waits for what is queued for the directory.
const LONGEST_WRITES: Duration = Duration::from_secs(2);

/// Runs the command that this process's arguments ask for. `panic_report` reports unexpected errors.
///
/// # Errors
/// Fails when the program itself, or something it needs from the system, failed.
pub fn main() -> color_eyre::Result<ExitCode> {
    if let Some(not_started) = own_session::enter() {
        return Ok(not_started);
    }
    resources::protect();
    if complete::complete_if_requested() {
        return Ok(Exit::Done.into());
    }
    if let Err(error) = secrets::refuse(std::env::args_os().skip(1)) {
        return Ok(report(&error, wants_json(words_given())).into());
    }
    let command = tree::command();
    if let Err(error) = dashes::refuse(std::env::args_os().skip(1), &command) {
        return Ok(report(&error, wants_json(words_given())).into());
    }
    let matches = command.clone().try_get_matches();
    let (mut words, mut suspects) = (String::new(), Vec::new());
    let cli = matches.and_then(|matches| {
        words = tree::words(&matches);
        unexpected::record_command(&words);
        forgotten::record_command(&words, &command, std::env::args_os().skip(1));
        suspects = secrets::suspects(&matches, &command);
        Cli::from_arg_matches(&matches)
    });
    let mut cli = match cli {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            return Ok(report_parse_error(error, &command).into());
        }
        Err(help) => {
            let printed = help.print().and_then(|()| io::stdout().flush());
            return Ok(match printed {
                // A reader that is gone needs no help text.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    report(&CliError::Output(error), false).into()
                }
                _ => Exit::Done.into(),
            });
        }
    };
    if let Some(option) = given_twice(&command) {
        let text = format!("{option} is given twice; give it once");
        return Ok(report(&CliError::Usage(text), wants_json(words_given())).into());
    }
    if cli.global.quiet && cli.global.verbose {
        let text = "--quiet and --verbose cannot be combined; use one of them".to_owned();
        return Ok(report(&CliError::Usage(text), cli.global.json).into());
    }
    if cli.global.quiet {
        output::be_quiet();
    }
    colour::choose(cli.global.color);
    if let Some(Output::Form(form)) = cli.global.output {
        if cli.global.json && form != Form::Json {
            let text = "--json and another --output cannot be combined; use one of them".to_owned();
            return Ok(report(&CliError::Usage(text), true).into());
        }
        if let Err(error) = contract::refuse_form(&words, form) {
            return Ok(report(&error, wants_json(words_given())).into());
        }
        form::choose(form, contract::columns(&words, has_option));
        cli.global.json = form.is_for_programs();
    }
    // An error is not a result: forms that have no place for it get it on standard error only.
    let has_place = !matches!(form::chosen(), Some(Form::Csv | Form::Name));
    let json = cli.global.json && has_place;
    let ended = resources::runtime().and_then(|runtime| {
        let ended = runtime.block_on(run_and_flush(cli, &suspects));
        // What was queued is done, also by tasks that are only now dropped. A prompt that is still waiting for standard
        // input must not keep the process alive.
        runtime.shutdown_timeout(LONGEST_STOP);
        crate::directory::wait_for_writes(LONGEST_WRITES);
        ended
    });
    let exit = ended.or_else(|error| error.expected().map(|error| report(&error, json)));
    exit.map(Into::into).map_err(unexpected::with_sections)
}

/// Runs the command. With `--verbose`, every exchange is printed before this returns.
async fn run_and_flush(cli: Cli, suspects: &[Suspect]) -> Result<Exit, CliError> {
    if cli.global.verbose {
        exchanges::start();
    }
    let ended = Box::pin(run(cli, suspects)).await;
    exchanges::end().await;
    ended
}

async fn run(cli: Cli, suspects: &[Suspect]) -> Result<Exit, CliError> {
    let global = &cli.global;
    secrets::refuse_places(suspects)?;
    let overrides = session::overrides(global);
    proposals::select(overrides.selection(None), global.profile.clone());
    secrets::refuse_suspects(suspects, global).await?;
    cli.run().await
}

/// Reports why the command failed: to the person and, with `as_json`, also to the program that reads the output.
fn report(error: &CliError, as_json: bool) -> Exit {
    let text = error.to_string();
    output::alarm(&format!("error: {text}"));
    let exit = Exit::from_error(error);
    // What a program has read a part of would no longer be JSON.
    if as_json && !form::is_open() {
        // Standard output may be what is broken; the exit code says enough.
        drop(output::json_line(json::failure(
            error.ending(),
            &text,
            exit,
        )));
    }
    exit
}

/// Reports a command line that could not be parsed.
fn report_parse_error(error: clap::Error, command: &clap::Command) -> Exit {
    let words = words_given().map(|word| word.to_string_lossy().into_owned());
    let words = words.collect::<Vec<_>>().join(" ");
    let Unparsed { text, usage } = Unparsed::new(error, command, &words);
    // The text quotes arguments, which may contain anything.
    let text = secrets::masked(text, std::env::args_os().skip(1));
    let known = resources::runtime().map(|one| one.block_on(secrets::known_in_message(&text)));
    let known = known.unwrap_or_default();
    let text = known
        .iter()
        .fold(text, |text, known| text.replace(known, "…"));
    output::alarm(&format!("error: {text}{usage}"));
    if wants_json(words_given()) {
        drop(output::json_line(json::failure(None, &text, Exit::Usage)));
    }
    Exit::Usage
}

/// The words of the command line up to `--`, for use when parsing failed.
fn words_given() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(1).take_while(|word| word != "--")
}

/// A global option that is given before a command and behind it. The parser sees only that each stands once at its place,
/// and would take the last.
fn given_twice(root: &clap::Command) -> Option<String> {
    let words = words_given().filter_map(|word| word.into_string().ok());
    twice(&words.collect::<Vec<_>>(), root)
}

fn twice(words: &[String], root: &clap::Command) -> Option<String> {
    let is_it = |word: &str, option: &clap::Arg| {
        let long = word.strip_prefix("--").zip(option.get_long());
        let rest = long.and_then(|(word, long)| word.strip_prefix(long));
        let is_long = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
        let letters = word.strip_prefix('-').zip(option.get_short());
        is_long || letters.is_some_and(|(letters, short)| letters.starts_with(short))
    };
    // A value may look like one: `--filter -old`.
    let is_value = |at: usize| {
        let before = at
            .checked_sub(1)
            .and_then(|at| words[at].strip_prefix("--"));
        before.is_some_and(|long| takes_value(root, long))
    };
    let mut all = root
        .get_arguments()
        .filter(|option| option.is_global_set() && option.get_action().takes_values());
    let found = all.find(|option| {
        let given = (0..words.len()).filter(|at| is_it(&words[*at], option));
        let given: Vec<_> = given.collect();
        given.len() > 1 && given.into_iter().filter(|at| !is_value(*at)).count() > 1
    });
    found
        .and_then(clap::Arg::get_long)
        .map(|long| format!("--{long}"))
}

/// Whether an option of this name, of any command, has a value.
fn takes_value(command: &clap::Command, long: &str) -> bool {
    let is_it = |arg: &clap::Arg| arg.get_long() == Some(long) && arg.get_action().takes_values();
    command.get_arguments().any(is_it)
        || command
            .get_subcommands()
            .any(|below| takes_value(below, long))
}

/// Whether `option` is on the command line, for use when parsing failed.
fn has_option(option: &str) -> bool {
    words_given().any(|word| word == option)
}

/// Whether these words ask for JSON, in any spelling of `--json` or `--output`.
fn wants_json(words: impl Iterator<Item = OsString>) -> bool {
    let is_json = |form: &str| matches!(form, "json" | "jsonl");
    let mut is_form = false;
    words.into_iter().any(|word| {
        let word = word.to_string_lossy();
        let was_form = std::mem::replace(&mut is_form, matches!(&*word, "-o" | "--output"));
        // Flags may stand before it: `-qojson`.
        let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let short = short.map(|rest| rest.trim_start_matches(['q', 'v', 'y']));
        let form = short.and_then(|rest| rest.strip_prefix('o'));
        let form = form.map(|form| form.strip_prefix('=').unwrap_or(form));
        is_form |= form == Some("");
        let form = form.or_else(|| word.strip_prefix("--output="));
        word == "--json" || was_form && is_json(&word) || form.is_some_and(is_json)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_before_a_command_and_behind_it_is_found() {
        let twice = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            super::twice(&words, &tree::command())
        };
        for (line, option) in [
            ("-P testing rotate t-1 -P live", "--profile"),
            ("--profile=a get x -Pb", "--profile"),
            ("--directory a.db list --directory=b.db", "--directory"),
            ("-o json list --output csv", "--output"),
            ("--config a list --config b", "--config"),
            ("--color=never list --color always", "--color"),
            (
                "-P a profile add x --api-key-command pass -P b",
                "--profile",
            ),
        ] {
            assert_eq!(twice(line).as_deref(), Some(option), "{line}");
        }
        for line in [
            "-P live rotate t-1",
            "list --profiles x -P a",
            "-o json list -q",
            "list --filter -old -o json",
            "-P live rotate --filter -Prod",
            "-o json rotate my-command -P live",
        ] {
            assert_eq!(twice(line), None, "{line}");
        }
    }

    #[test]
    fn every_spelling_that_asks_for_json_is_seen() {
        let wants = |line: &str| wants_json(line.split(' ').map(OsString::from));
        for form in ["json", "jsonl"] {
            for line in [
                "rotate —dry-run -o FORM",
                "list -oFORM --sort nope",
                "list -o=FORM",
                "list --output FORM",
                "list --output=FORM",
                "list -qoFORM",
                "list -qo FORM",
            ] {
                assert!(wants(&line.replace("FORM", form)), "{line}");
            }
        }
        assert!(wants("get --json x"));
        for line in [
            "list",
            "list -o csv",
            "list -ojs",
            "show json",
            "list --output=table json",
        ] {
            assert!(!wants(line), "{line}");
        }
    }
}
