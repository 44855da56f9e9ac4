//! The whole tree of commands, for parsing, help and completion.

#[cfg(test)]
mod tests;

use std::{any::TypeId, ffi::OsStr, fmt::Write};

use clap::{
    Arg, ArgMatches, CommandFactory,
    builder::{NonEmptyStringValueParser, PathBufValueParser, TypedValueParser, ValueParser},
    error::ErrorKind,
};

use super::{Cli, GROUPS, contract, prelude::*};
use crate::{cli::output::human::terminal_width, domain::text::wrap};

/// Global options that only the console and the demo have a use for.
const LOOKS: [&str; 2] = ["ascii", "plain"];
/// Commands that read no configuration, and what they have no use for besides.
const FREE: [&str; 4] = ["completions", "man", "help", "version"];
const CONFIGURED: [&str; 5] = ["config", "profile", "directory", "read_only", "no_input"];

const GLOBAL: &str = "\nGlobal options:\n";
/// Where what is said of a command begins.
const COLUMN: usize = 15;
const WIDEST: usize = 100;

/// The lists of commands, in so many columns.
fn grouped(root: &Command, columns: usize) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(text, "\n{group}:");
        for name in *names {
            let command = root.find_subcommand(name);
            let about = command
                .and_then(Command::get_about)
                .map(ToString::to_string);
            let lines = wrap(
                &about.unwrap_or_default(),
                columns.saturating_sub(COLUMN).max(20),
            );
            let mut begin = format!("  {name}");
            for line in lines {
                let _ = writeln!(text, "{begin:COLUMN$}{line}");
                begin.clear();
            }
        }
    }
    text
}

/// The help of a command names the global options in this line, after its own.
const SEE_OPTIONS: &str = "Global options: see `groupdesk help options`";

/// The command with more options than fit a screen, and those that the help of another one explains as well.
const LONG: &str = "update";
const EXPLAINED: [&str; 7] = [
    "ids",
    "sort",
    "reverse",
    "limit",
    "concurrency",
    "rate",
    "max_failures",
];
const SEE_ROTATE: &str =
    "Also, as in `rotate`: --sort, --reverse, --limit, --concurrency, --rate and --max-failures\n";

/// The command line as it is parsed; the help of a command leaves the global options to `help options`.
pub(crate) fn command() -> Command {
    fn with_line(command: Command, above: &str) -> Command {
        let path = format!("{above}{}", command.get_name());
        let is_long = command.get_name() == LONG;
        let more = if is_long { SEE_ROTATE } else { "" };
        let forms = contract::forms(&path);
        let forms = match contract::in_words(&forms) {
            none if none.is_empty() => none,
            forms => format!("-o takes {forms}. "),
        };
        let template = format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{all-args}}\n\n{more}{forms}{SEE_OPTIONS}{{after-help}}"
        );
        let command = command.mut_args(|arg| {
            let hides = is_long && EXPLAINED.contains(&arg.get_id().as_str());
            if hides { arg.hide(true) } else { arg }
        });
        let globals = command.get_arguments().filter(|arg| arg.is_global_set());
        let globals: Vec<_> = globals.map(|arg| arg.clone().hide(true)).collect();
        with_examples(command, &path)
            .help_template(template)
            .mut_subcommands(|below| {
                let name = below.get_name().to_owned();
                let is_refused = |arg: &&Arg| match (&*path, &*name) {
                    ("serve", "init") => arg.get_id() == "database",
                    ("serve", "backup" | "check") => arg.get_id() != "database",
                    _ => false,
                };
                with_line(below, &format!("{path} "))
                    .args(globals.iter().filter(is_refused).cloned())
            })
    }
    let (root, globals) = root();
    let hidden = globals.iter().map(|arg| arg.clone().hide(true));
    with_values(
        with_examples(root, "").mut_subcommands(|below| with_line(below, "").args(hidden.clone())),
    )
}

/// The examples after what else is told of the command.
fn with_examples(command: Command, path: &str) -> Command {
    let notes = command.get_after_help().map(ToString::to_string);
    let notes = notes.map_or_else(String::new, |notes| format!("{notes}\n\n"));
    let examples = contract::examples(path).join("\n  ");
    command.after_help(format!("{notes}Examples:\n  {examples}"))
}

/// The words of the command that was typed, without its options.
pub(crate) fn words(matches: &ArgMatches) -> String {
    let mut words = Vec::new();
    let mut below = matches.subcommand();
    while let Some((name, matches)) = below {
        words.push(name);
        below = matches.subcommand();
    }
    words.join(" ")
}

/// The global options, as the help of the program lists them.
pub(crate) fn global_options() -> String {
    let help = command().render_help().to_string();
    let options = help.split_once(GLOBAL).map_or("", |(_, options)| options);
    let options = options.split("\n\n").next().unwrap_or_default();
    format!("{}{options}", GLOBAL.trim_start())
}

/// The same for completion and the manual: of the global options, each command shows those that it has a use for.
pub(crate) fn full_command() -> Command {
    let (root, globals) = root();
    let hidden = |names: &[&str]| -> Vec<Arg> {
        let unused = globals
            .iter()
            .filter(|arg| names.contains(&arg.get_id().as_str()));
        unused.map(|arg| arg.clone().hide(true)).collect()
    };
    with_values(root.mut_subcommands(|below| match below.get_name() {
        "demo" => below,
        "doctor" => below.args(hidden(&LOOKS[1..])),
        name if FREE.contains(&name) => below.args(hidden(&LOOKS)).args(hidden(&CONFIGURED)),
        _ => below.args(hidden(&LOOKS)),
    }))
}

/// The command line and its global options.
fn root() -> (Command, Vec<Arg>) {
    let root = Cli::command();
    let globals = root.get_arguments().cloned().collect();
    let columns = terminal_width().unwrap_or(WIDEST).min(WIDEST);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}{GLOBAL}{{options}}{{after-help}}",
        grouped(&root, columns)
    );
    (root.help_template(template), globals)
}

/// Texts that may be empty: an empty name is one, `--if-note ''` is no note, `--if-value ''` an empty data source; and a key
/// command may have empty words.
const MAY_BE_EMPTY: [&str; 5] = ["name", "seen", "if_value", "command", "last"];

/// Gives each option and argument that is a path or a text its parser; also those that are added later. An empty text is
/// the empty variable of a script, so it is refused.
fn with_values(command: Command) -> Command {
    let is_path = |arg: &Arg| arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    command
        .mut_args(|arg| {
            if is_path(&arg) {
                arg.value_parser(HomePath)
            } else if is_text(&arg) && !MAY_BE_EMPTY.contains(&arg.get_id().as_str()) {
                arg.value_parser(NonEmptyStringValueParser::new())
            } else {
                arg
            }
        })
        .mut_subcommands(with_values)
}

/// Whether a value is any text, without a parser of its own: clap tells its parser of texts from others of the same type only in
/// `Debug`. An option whose value may be missing says something without one.
fn is_text(arg: &Arg) -> bool {
    let may_be_missing = arg
        .get_num_args()
        .is_some_and(|count| count.min_values() == 0);
    !may_be_missing
        && format!("{:?}", arg.get_value_parser()) == format!("{:?}", ValueParser::string())
}

/// A path; `~` at its beginning is the home folder, also where no shell replaces it.
#[derive(Clone)]
struct HomePath;

impl TypedValueParser for HomePath {
    type Value = PathBuf;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<PathBuf, clap::Error> {
        let path = PathBufValueParser::new().parse_ref(command, arg, value)?;
        paths::from_home(&path, std::env::home_dir()).map_err(|why| {
            let arg = arg.map_or_else(String::new, ToString::to_string);
            let text = format!("the path of {arg} {why}; nothing was sent\n");
            clap::Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
        })
    }
}
