//! All commands. Each is one file: its arguments, examples and what it does. The table below lists them.
//! `PAGES` has the examples, and the shapes of what is printed for programs.

mod annotations;
mod apply;
mod attention;
mod audit;
mod batch;
mod batches;
mod config;
mod console;
pub(super) mod contract;
mod directory;
mod doctor;
mod edit;
mod export;
mod groups;
mod handoff;
mod help;
mod history;
mod import;
mod man;
mod mutations;
mod places;
mod prelude;
mod profile;
mod refresh;
mod rotations;
mod run;
mod serve;
pub(super) mod tree;
mod watch;
mod whose;

use clap::{Parser, Subcommand};
use futures_util::future::LocalBoxFuture;

use self::contract::Page;
use super::{
    args::Global,
    error::CliError,
    process::exit::{Exit, codes},
};

/// A command: its arguments, which clap reads, and what they do.
pub(super) trait Run {
    /// Of it and of its subcommands.
    const PAGES: &'static [Page];

    async fn run(self, global: &Global) -> Result<Exit, CliError>;
}

/// The commands, by what they are about, in the order of the help.
macro_rules! commands {
    ($($group:literal: $($word:literal $name:ident($arguments:path)),+;)+) => {
        #[derive(Debug, Subcommand)]
        pub(super) enum Command {
            $($(
                #[command(name = $word)]
                $name($arguments),
            )+)+
        }

        impl Command {
            /// In boxes: the states of one command would otherwise be compiled into those of all.
            pub(super) fn run(self, global: &Global) -> LocalBoxFuture<'_, Result<Exit, CliError>> {
                match self {
                    $($(Self::$name(arguments) => Box::pin(arguments.run(global)),)+)+
                }
            }
        }

        /// The commands as the help and the manual show them.
        pub(super) const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$($word),+]),)+];

        /// What is told of the commands.
        const COMMANDS: &[&[Page]] = &[$($(<$arguments as Run>::PAGES,)+)+ contract::OF_ALL];
    };
}

commands! {
    "Groups":
        "list" List(groups::List),
        "show" Show(groups::Show),
        "get" Get(super::args::Get),
        "create" Create(mutations::Create),
        "update" Update(super::args::Update),
        "edit" Edit(edit::Edit),
        "copy" Copy(mutations::Copy),
        "diff" Diff(apply::Diff),
        "note" Note(annotations::Note),
        "label" Label(annotations::Labels),
        "favourite" Favourite(annotations::Favourite),
        "history" History(history::History);
    "Tokens":
        "rotate" Rotate(super::args::Rotate),
        "rotations" Rotations(rotations::Rotations),
        "batches" Batches(super::args::Batches),
        "attention" Attention(attention::Attention),
        "whose" Whose(whose::Whose);
    "Files":
        "import" Import(import::Import),
        "export" Export(export::Export),
        "apply" Apply(apply::Apply);
    "Set-up":
        "profile" Profile(profile::Profile),
        "config" Config(config::Config),
        "directory" Directory(directory::Directory),
        "environment" Environment(places::Environment),
        "audit" Audit(audit::Audit),
        "doctor" Doctor(doctor::Doctor),
        "completions" Completions(help::Completions);
    "Service":
        "serve" Serve(serve::Serve),
        "demo" Demo(console::Demo);
    "Help":
        "help" Help(help::Help),
        "man" Man(man::Manual),
        "version" Version(help::Version);
}

/// Manage groups and tokens of a User Group Service, in a console or from scripts.
#[derive(Debug, Parser)]
#[command(
    name = "groupdesk",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = format!(
        "Without a command, groupdesk opens the console. For help on a command, run `groupdesk help COMMAND`;\nfor the output of \
         --json, run `groupdesk help json`.\n\n\
{}",
        codes()
    )
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// Runs the command, or the console.
    pub(super) async fn run(self) -> Result<Exit, CliError> {
        match self.command {
            Some(command) => command.run(&self.global).await,
            None => console::run(&self.global).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::domain::proposal;

    #[test]
    fn one_id_alone_is_no_bulk() {
        let rotate = |line: &str| {
            let cli = Cli::try_parse_from(line.split(' ')).expect("valid");
            match cli.command {
                Some(Command::Rotate(rotate)) => rotate.single().is_some(),
                _ => false,
            }
        };
        assert!(rotate("groupdesk rotate acme --yes --reveal"));
        assert!(!rotate("groupdesk rotate acme globex"));
        assert!(!rotate("groupdesk rotate acme --max-failures 1"));
        assert!(Cli::try_parse_from(["groupdesk", "rotate"]).is_err());
        assert!(Cli::try_parse_from(["groupdesk", "rotate", "a", "--filter", "b"]).is_err());
    }
    #[test]
    fn proposals_know_each_command_and_no_other() {
        let known = proposal::COMMANDS
            .iter()
            .flat_map(|(_, words)| words.split(' '));
        let mut known: Vec<_> = known.map(|word| (*word).to_owned()).collect();
        known.sort();
        let real = Cli::command();
        let real = real.get_subcommands();
        let mut real: Vec<_> = real.map(|one| one.get_name().to_owned()).collect();
        real.sort();
        assert_eq!(known, real);
    }
}
