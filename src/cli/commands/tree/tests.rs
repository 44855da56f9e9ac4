//! Every command explains its purpose, describes all of its arguments, and has correct examples.

use std::{any::TypeId, collections::BTreeSet, path::PathBuf};

use clap::{Command, CommandFactory, Parser};

use super::{Cli, GROUPS, SEE_OPTIONS, command, contract, full_command, global_options};
use crate::cli::input::secrets;

/// Columns of the help.
const COLUMNS: usize = 100;

/// Every command, with its words.
fn commands() -> Vec<(String, Command)> {
    fn walk(command: &Command, name: &str, all: &mut Vec<(String, Command)>) {
        all.push((name.to_owned(), command.clone()));
        for below in command.get_subcommands() {
            walk(below, &format!("{name} {}", below.get_name()), all);
        }
    }
    let mut root = command().term_width(COLUMNS);
    root.build();
    let mut all = Vec::new();
    walk(&root, "groupdesk", &mut all);
    assert!(all.len() > 30, "{}", all.len());
    all
}

#[test]
fn everything_that_can_be_typed_is_described() {
    for (name, command) in commands() {
        let about = command.get_about().expect(&name).to_string();
        assert!(
            (11..=80).contains(&about.chars().count()),
            "{name}: {about}"
        );
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let help = arg.get_help().map(ToString::to_string);
            assert!(help.is_some_and(|help| help.len() > 5), "{name} {arg}");
        }
    }
}

#[test]
fn every_command_has_two_examples_that_are_right() {
    for (name, mut command) in commands() {
        let path = name.trim_start_matches("groupdesk").trim_start();
        let examples = contract::examples(path);
        assert!(examples.len() >= 2, "{name}: {examples:?}");
        let help = command.render_help().to_string();
        for example in examples {
            assert!(help.contains(example), "{name}: {help}");
            assert!(example.len() + 2 <= COLUMNS, "{example}");
            let is_of_it = example.starts_with(&name) || name == "groupdesk";
            assert!(is_of_it, "{example}");
            for words in said(example) {
                let refused = secrets::refuse(words.iter().skip(1).map(Into::into));
                assert!(refused.is_ok(), "{example}");
                if let Err(error) = Cli::try_parse_from(&words) {
                    panic!("{example}: {error}");
                }
            }
        }
    }
}

/// `batches` lists batches: a plural noun needs no `list`.
#[test]
fn every_plural_noun_lists() {
    let mut nouns = Vec::new();
    for (name, command) in commands() {
        if name.ends_with('s') && command.find_subcommand("list").is_some() {
            assert!(!command.is_subcommand_required_set(), "{name}");
            nouns.push(name);
        }
    }
    assert_eq!(nouns, ["groupdesk batches", "groupdesk serve keys"]);
}

#[test]
fn the_help_fits_a_screen_of_a_hundred_columns() {
    for (name, mut command) in commands() {
        let help = command.render_help().to_string();
        let is_wide = help.lines().any(|line| line.chars().count() > COLUMNS);
        assert!(!is_wide, "{name}: {help}");
        assert!(help.lines().count() <= 40 || name == "groupdesk", "{name}");
    }
}

#[test]
fn only_options_for_several_groups_stand_below_that_heading() {
    let of_one = [
        "reveal",
        "token_out",
        "reason",
        "exists",
        "curl",
        "map",
        "form",
    ];
    for (name, command) in commands()
        .iter()
        .filter(|(name, _)| name != "groupdesk update")
    {
        let of_one = |arg: &&clap::Arg| of_one.contains(&arg.get_id().as_str());
        for arg in command.get_arguments().filter(of_one) {
            assert_eq!(arg.get_help_heading(), None, "{name}: {arg}");
        }
    }
}

#[test]
fn the_help_of_a_command_has_one_line_for_the_global_options() {
    for (name, mut command) in commands() {
        let help = command.render_help().to_string();
        let (is_root, is_line) = (name == "groupdesk", help.contains(SEE_OPTIONS));
        assert!(is_root != is_line, "{name}: {help}");
        assert_eq!(help.contains("--no-input"), is_root, "{name}");
    }
    let options = global_options();
    for option in ["--config", "--json", "--no-input", "--plain", "--version"] {
        assert!(options.contains(option), "{option}: {options}");
    }
}

#[test]
fn the_manual_of_a_command_has_only_the_global_options_it_has_a_use_for() {
    let mut root = full_command();
    root.build();
    for (name, option, shown) in [
        ("demo", "plain", true),
        ("doctor", "ascii", true),
        ("doctor", "plain", false),
        ("list", "ascii", false),
        ("serve keys list", "plain", false),
        ("completions", "profile", false),
        ("man", "json", true),
        ("list", "quiet", true),
        ("rotations check", "profile", true),
    ] {
        let command = name.split(' ').fold(&root, |command, word| {
            command.find_subcommand(word).expect(name)
        });
        let arg = command.get_arguments().find(|arg| arg.get_id() == option);
        assert_eq!(!arg.expect(option).is_hide_set(), shown, "{name} {option}");
    }
    // A hidden option is still accepted, so that an alias may always pass it.
    assert!(Cli::try_parse_from(["groupdesk", "list", "--ascii"]).is_ok());
    let words = ["groupdesk", "man", "--profile", "x", "-q"];
    let matches = command().try_get_matches_from_mut(words).expect("valid");
    let cli = <Cli as clap::FromArgMatches>::from_arg_matches(&matches);
    let global = cli.expect("valid").global;
    assert_eq!((global.profile.as_deref(), global.quiet), (Some("x"), true));
    Cli::command().debug_assert();
}

/// docs/operations/upgrade.md lists them.
#[test]
fn names_of_the_last_version_still_work() {
    for names in [
        "place list|environment list",
        "rotations settle 3|rotations check 3",
        "profile facts --absent-fields keep|profile behaviour --omitted-fields keep",
        "profile bind x --same-environment --proof a|profile bind x --same-environment --verify-with a",
        "profile bind x --same-environment --no-proof|profile bind x --same-environment --no-verify",
        "get --refresh-all --stop-after 1|get --refresh-all --max-failures 1",
        "import - --create --again|import - --create --restart",
    ] {
        let parsed = |line: &str| {
            let words = ["groupdesk"].into_iter().chain(line.split(' '));
            format!("{:?}", Cli::try_parse_from(words).expect(line))
        };
        let (old, new) = names.split_once('|').expect("two");
        assert_eq!(parsed(old), parsed(new), "{old}");
    }
}

/// The words of each groupdesk in a line of a shell, without what the shell itself takes.
fn said(line: &str) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    let mut word = None;
    let mut quote = None;
    let mut is_file = false;
    for c in line.chars().chain([' ']) {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_with(String::new);
            }
            (' ', None) => {
                if let Some(word) = word.take()
                    && !std::mem::take(&mut is_file)
                {
                    all.last_mut().expect("one").push(word);
                }
            }
            ('|', None) => all.push(Vec::new()),
            ('<' | '>', None) => is_file = true,
            (c, Some(_) | None) => word.get_or_insert_with(String::new).push(c),
        }
    }
    assert_eq!(quote, None, "{line}");
    all.retain(|words| words.first().is_some_and(|word| word == "groupdesk"));
    assert!(!all.is_empty(), "{line}");
    all
}

#[test]
fn a_line_of_a_shell_is_read_as_a_shell_does() {
    let line = "groupdesk create a --property 'tier=\"gold\"' --properties - < f | jq '.[] | x'";
    let words = "groupdesk create a --property tier=\"gold\" --properties -";
    let [found] = &said(line)[..] else {
        panic!("one");
    };
    assert_eq!(found.join(" "), words);
}

#[test]
fn every_command_stands_in_one_group() {
    let root = Cli::command();
    let mut known: Vec<_> = root.get_subcommands().map(Command::get_name).collect();
    let grouped = GROUPS.iter().flat_map(|(_, names)| *names);
    let mut grouped: Vec<_> = grouped.copied().collect();
    known.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(grouped, known);
}

/// Each path that a command reads and after which it may ask is in the table of `tests/it/cli/input_first.rs`; all others
/// are listed here.
#[test]
fn each_path_of_a_command_is_read_first_or_listed() {
    #[rustfmt::skip] // A table: one command a line.
    let read_first = [
        "apply path", "copy mapping", "copy properties", "create mapping", "create properties", "import file",
        "rotate from", "update apply", "update from", "update mapping", "update properties",
    ];
    // Nothing is asked after they are read, or they are written.
    #[rustfmt::skip] // A table: one command a line.
    let others = [
        "batches resume token_out", "batches retry token_out", "copy token_out", "create token_out", "diff what",
        "directory backup file", "export file", "export token_out", "get from", "get token_out", "man folder", "profile add ca_file",
        "profile add file", "rotate token_out", "serve backup file", "serve tls_cert", "serve tls_key", "show from", "update token_out",
    ];
    let mut found = BTreeSet::new();
    for (name, command) in commands() {
        let name = name.trim_start_matches("groupdesk").trim_start().to_owned();
        let owned = command.get_arguments().filter(|arg| {
            let kind = arg.get_value_parser().type_id();
            kind == TypeId::of::<PathBuf>() && !arg.is_global_set()
        });
        found.extend(owned.map(|arg| format!("{name} {}", arg.get_id())));
    }
    let listed = read_first.into_iter().chain(others).map(str::to_owned);
    assert_eq!(found, listed.collect());
}
