//! The command line. Every command calls `operations`, prints one result and ends with one exit code. It neither
//! interprets answers nor writes to the directory itself.

mod args;
mod commands;
mod complete;
mod contract;
mod error;
mod input;
mod output;
pub mod process;
mod session;
mod unexpected;

use std::{process::ExitCode, time::Duration};

use clap::FromArgMatches;
use futures_util::future::LocalBoxFuture;

use crate::platform::own_session;

use self::{
    args::{BatchesCommand, Cli, Command, Global},
    commands::{
        annotations, apply, attention, audit, batch, batches, completions, config, console,
        demo_server, diff, directory, doctor, edit, export, groups, help, history, import, man,
        mutations, places, profile, refresh, rotations, serve, version, watch, whose,
    },
    error::CliError,
    input::{
        dashes, gone,
        secrets::{self, Suspect},
    },
    output::{
        colour, exchanges,
        form::{self, Form},
        json, proposals, token_file,
    },
    process::{exit::Exit, hardening, resources, signals::Signals},
    session::{InFlight, Session},
};

/// How long tasks may take to be dropped at the end; only a prompt that nobody answers takes longer.
const LONGEST_STOP: Duration = Duration::from_millis(200);
/// How long the end waits for what is queued for the directory.
const LONGEST_WRITES: Duration = Duration::from_secs(2);

/// Runs the command that this process's arguments ask for. `panic_report` reports the errors nobody expected.
///
/// # Errors
/// Fails when the program itself, or something it needs from the system, failed.
pub fn main() -> color_eyre::Result<ExitCode> {
    if let Some(not_started) = own_session::enter() {
        return Ok(not_started);
    }
    hardening::protect();
    if complete::complete_if_requested() {
        return Ok(Exit::Done.into());
    }
    if let Err(error) = secrets::refuse(std::env::args_os().skip(1)) {
        return Ok(report(&error, has_option("--json")).into());
    }
    let command = args::command();
    if let Err(error) = dashes::refuse(std::env::args_os().skip(1), &command) {
        return Ok(report(&error, has_option("--json")).into());
    }
    let matches = command.clone().try_get_matches();
    let mut suspects = Vec::new();
    let cli = matches.and_then(|matches| {
        unexpected::record_command(&matches);
        suspects = secrets::suspects(&matches, &command);
        Cli::from_arg_matches(&matches)
    });
    let mut cli = match cli {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return Ok(report_parse_error(&error).into()),
        Err(help) => {
            // A failed write means that the reader is gone, and it needs no help text.
            let _ = help.print();
            return Ok(Exit::Done.into());
        }
    };
    if cli.global.quiet {
        output::be_quiet();
    }
    colour::choose(cli.global.color);
    if let Some(form) = cli.command.as_ref().and_then(Command::form) {
        if cli.global.json && form != Form::Json {
            let text = "--json and another --output cannot be combined; use one of them".to_owned();
            return Ok(report(&CliError::Usage(text), true).into());
        }
        form::choose(form);
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
    let Cli { global, command } = cli;
    let global = &global;
    let overrides = session::overrides(global);
    proposals::select(overrides.selection(None), global.profile.clone());
    secrets::refuse_suspects(suspects, global).await?;
    token_file::prepare(command.as_ref())?;
    // In boxes: the states of one command would otherwise be compiled into those of all.
    let work: LocalBoxFuture<'_, Result<Exit, CliError>> = match command {
        None => Box::pin(console::run(global)),
        Some(Command::Demo(demo)) if demo.hold => {
            Box::pin(demo_server::run(demo.groups, global.json))
        }
        Some(Command::Demo(demo)) => Box::pin(console::demo(demo.groups, global)),
        Some(Command::Serve(serve)) => Box::pin(serve::run(serve, global)),
        Some(Command::Profile(command)) => Box::pin(profile::run(global, command)),
        Some(Command::Config(command)) => Box::pin(config::run(global, command)),
        Some(Command::Directory(command)) => Box::pin(directory::run(global, command)),
        Some(Command::Audit(asked)) => Box::pin(audit::run(global, asked)),
        Some(Command::Whose { token }) => Box::pin(async move { whose::run(global, &token).await }),
        Some(Command::Doctor(doctor)) => Box::pin(doctor::run(global, doctor)),
        Some(Command::Completions(shell)) => return completions::run(global, &shell),
        Some(Command::Help(help)) => return help::run(global, &help),
        Some(Command::Version) => return version::run(global),
        Some(Command::Man(manual)) => return man::run(global, &manual),
        Some(Command::Import(import)) => Box::pin(import::run(global, import)),
        Some(Command::Export(export)) => Box::pin(export::run(global, export)),
        Some(Command::Apply(apply)) => Box::pin(apply::run(global, apply)),
        Some(Command::Edit(edit)) => Box::pin(edit::run(global, edit)),
        Some(Command::Diff(diff)) => Box::pin(diff::run(global, diff)),
        Some(Command::Get(get)) if get.single().is_none() => Box::pin(refresh::run(global, get)),
        Some(Command::Batches(batches)) if batches.has_stray_option() => {
            return Err(CliError::Usage(
                "--unfinished works only with `batches list`; nothing was done".into(),
            ));
        }
        Some(Command::Batches(batches)) => match batches.chosen() {
            BatchesCommand::Resume(resume) => Box::pin(batch::resume_one(global, resume)),
            BatchesCommand::Retry { batch, token_out } => {
                Box::pin(batch::retry(global, batch, token_out))
            }
            BatchesCommand::Reverse(batch) => Box::pin(batch::reverse(global, batch)),
            reading => Box::pin(run_session(global, Command::Batches(reading.into()))),
        },
        Some(Command::Update(update)) if update.single().is_none() => {
            Box::pin(batch::update(global, update))
        }
        Some(Command::Rotate(rotate)) if rotate.single().is_none() && !rotate.token_stdin => {
            Box::pin(batch::run(global, rotate))
        }
        Some(Command::List(list)) if list.watch => Box::pin(watch::list(global, list)),
        Some(Command::History(arguments)) if arguments.follow => {
            Box::pin(watch::history(global, arguments))
        }
        Some(command) => Box::pin(run_session(global, command)),
    };
    work.await
}

/// Runs a command that works with one session.
async fn run_session(global: &Global, command: Command) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let in_flight = InFlight::default();
    let work = async {
        let session = Session::open(global, in_flight.clone())?;
        session.say_other_places().await?;
        let ended = dispatch(&session, command).await;
        if let Err(error) = &ended {
            session.explain(error).await;
        }
        ended
    };
    session::interruptible(&in_flight, &mut signals, Box::pin(work)).await
}

async fn dispatch(session: &Session, command: Command) -> Result<Exit, CliError> {
    let work: LocalBoxFuture<'_, Result<Exit, CliError>> = match command {
        Command::List(list) => Box::pin(groups::list(session, list)),
        Command::Show { groups: which, .. } => {
            Box::pin(async move { groups::show(session, &which).await })
        }
        Command::Get(get) => Box::pin(groups::get(session, get)),
        Command::History(arguments) => Box::pin(history::run(session, arguments)),
        Command::Create(create) => Box::pin(mutations::create(session, create)),
        Command::Update(update) => match update.single().cloned() {
            Some(id) => Box::pin(mutations::update(session, id, update)),
            None => return Ok(Exit::Usage),
        },
        Command::Copy(copy) => Box::pin(mutations::copy(session, copy)),
        Command::Rotate(rotate) if rotate.token_stdin => {
            Box::pin(mutations::rotate_pasted(session, rotate))
        }
        Command::Rotate(rotate) => match rotate.single().cloned() {
            Some(id) => Box::pin(mutations::rotate(session, id, None, rotate)),
            None => return Ok(Exit::Usage),
        },
        Command::Rotations(arguments) => Box::pin(rotations::run(session, arguments)),
        Command::Attention { all, .. } => Box::pin(attention::run(session, all)),
        Command::Batches(asked) => match asked.chosen() {
            BatchesCommand::List { unfinished, .. } => Box::pin(batches::list(session, unfinished)),
            BatchesCommand::Show { number, .. } => Box::pin(batches::show(session, number)),
            BatchesCommand::Check { number } => Box::pin(batches::check(session, number)),
            BatchesCommand::Resume(_)
            | BatchesCommand::Retry { .. }
            | BatchesCommand::Reverse(_) => {
                return Ok(Exit::Done);
            }
        },
        Command::Note(note) => Box::pin(annotations::note(session, note)),
        Command::Label(labels) => Box::pin(annotations::label(session, labels)),
        Command::Favourite(marks) => Box::pin(annotations::favourite(session, marks)),
        Command::Place(command) => Box::pin(places::run(session, command)),
        Command::Demo(_)
        | Command::Serve(_)
        | Command::Audit(_)
        | Command::Profile(_)
        | Command::Config(_)
        | Command::Directory(_)
        | Command::Whose { .. }
        | Command::Doctor(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Version
        | Command::Help(_)
        | Command::Import(_)
        | Command::Export(_)
        | Command::Edit(_)
        | Command::Diff(_)
        | Command::Apply(_) => return Ok(Exit::Done),
    };
    work.await
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
fn report_parse_error(error: &clap::Error) -> Exit {
    // The text quotes arguments, which may contain anything.
    let text = secrets::masked(error.render().to_string(), std::env::args_os().skip(1));
    let instead = gone::instead(error).map(|instead| format!("it was removed; {instead}"));
    match &instead {
        // The advice of the parser would be about something else.
        Some(instead) => {
            let first = text.split("\n\n").next().unwrap_or_default();
            output::alarm(&format!("{first}\n{instead}"));
        }
        None => output::alarm(&text),
    }
    if has_option("--json") {
        let text = text.split("\n\nUsage:").next().unwrap_or_default();
        let text = text.split("\n\nFor more").next().unwrap_or_default();
        let text = text.trim_start_matches("error: ").trim_end();
        let instead = instead.map_or_else(String::new, |instead| format!("; {instead}"));
        let text = format!("{text}{instead}");
        drop(output::json_line(json::failure(None, &text, Exit::Usage)));
    }
    Exit::Usage
}

/// Whether `option` is on the command line, for use when parsing failed.
fn has_option(option: &str) -> bool {
    let words = std::env::args_os().skip(1).take_while(|word| word != "--");
    words.into_iter().any(|word| word == option)
}
