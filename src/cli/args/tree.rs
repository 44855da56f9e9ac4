//! The whole tree of commands, as it is parsed, shown and completed.

#[cfg(test)]
mod tests;

use clap::{Arg, CommandFactory};

use super::Cli;

/// Options of every command that only the console and the demo have a use for.
const LOOKS: [&str; 2] = ["ascii", "plain"];
/// Commands that read no configuration, and what they have no use for besides.
const FREE: [&str; 3] = ["completions", "man", "help"];
const CONFIGURED: [&str; 5] = ["config", "profile", "directory", "read_only", "no_input"];

/// The whole command line; a command's help leaves out the options of every command that it has no use for.
pub(crate) fn command() -> clap::Command {
    let root = Cli::command();
    let globals: Vec<Arg> = root.get_arguments().cloned().collect();
    let hidden = |names: &[&str]| -> Vec<Arg> {
        let unused = globals
            .iter()
            .filter(|arg| names.contains(&arg.get_id().as_str()));
        unused.map(|arg| arg.clone().hide(true)).collect()
    };
    root.mut_subcommands(|below| match below.get_name() {
        "demo" => below,
        "doctor" => below.args(hidden(&LOOKS[1..])),
        name if FREE.contains(&name) => below.args(hidden(&LOOKS)).args(hidden(&CONFIGURED)),
        _ => below.args(hidden(&LOOKS)),
    })
}
