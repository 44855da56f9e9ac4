//! Which arguments are refused or looked up, and what a message of the parser repeats.

use super::*;
use crate::cli::commands::tree::command;

#[test]
fn a_mistyped_time_is_repeated_and_what_is_said_about_times_is_whole() {
    let said = "invalid value '2026-11-30T08:00' for '--since': write 2026-11-30T08:00:00Z";
    for argument in ["2026-11-30T08:00", "--since=2026-11-30T08:00"] {
        let told = masked(said.to_owned(), std::iter::once(argument.into()));
        assert_eq!(told, said);
    }
    assert!(!is_time("1234567890123456789012345678901234567890"));
}

#[test]
fn the_value_of_an_option_is_not_repeated_by_the_parser() {
    let token = "Tok/en+4e8A==.Zq_7~Kx!";
    for argument in [format!("--limit={token}"), token.to_owned()] {
        let said = format!("invalid value '{token}' for '--limit <N>'");
        let told = masked(said, std::iter::once(argument.into()));
        assert!(!told.contains("4e8A"), "{told}");
    }
}

fn refused(arguments: &[&str]) -> Option<String> {
    refuse(arguments.iter().map(OsString::from))
        .err()
        .map(|stop| stop.to_string())
}

#[test]
fn a_secret_is_refused_and_not_repeated() {
    for arguments in [
        &["get", "--token", "canary"][..],
        &["--api-key=canary", "list"],
        &["list", "--API-KEY", "canary"],
        &["rotate", "--token-stdin=canary"],
    ] {
        let text = refused(arguments).expect("refused");
        assert!(!text.contains("canary"), "{text}");
    }
    assert_eq!(refused(&["rotate", "a", "--token-out", "f"]), None);
    assert_eq!(refused(&["rotate", "--token-stdin"]), None);
    assert_eq!(refused(&["get", "--", "--token"]), None);
}

const TOKEN: &str = "3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8551";

/// The values of an argument that a command line of it has.
fn with_token(argument: &clap::Arg) -> Option<Vec<String>> {
    let takes_value = argument.get_action().takes_values();
    // A hidden one is refused by its command.
    let is_hidden = argument.is_positional() && argument.is_hide_set();
    let is_free = argument.get_possible_values().is_empty() && !is_hidden;
    let value = match argument.get_id().as_str() {
        "map" | "property" => format!("key={TOKEN}"),
        _ => TOKEN.to_owned(),
    };
    (takes_value && is_free).then(|| match argument.get_long() {
        Some(long) => vec![format!("--{long}={value}")],
        None => vec![value],
    })
}

fn walk(path: &[String], parent: &Command, tried: &mut usize) {
    for argument in parent.get_arguments() {
        let Some(values) = with_token(argument) else {
            continue;
        };
        let line = ["groupdesk".to_owned()]
            .into_iter()
            .chain(path[1..].to_vec())
            .chain(values);
        // What else the command needs does not matter here.
        let root = command().ignore_errors(true);
        let Ok(matches) = root.clone().try_get_matches_from(line) else {
            continue;
        };
        let name = argument.get_id();
        let found = suspects(&matches, &root);
        let is_number = !matches_has(&matches, TOKEN);
        assert!(is_number || !found.is_empty(), "taken: {path:?} {name}");
        *tried += usize::from(!is_number);
    }
    for below in parent.get_subcommands() {
        let below_path = [path, &[below.get_name().to_owned()][..]].concat();
        walk(&below_path, below, tried);
    }
}

/// Whether a value that was taken has this text.
fn matches_has(matches: &ArgMatches, text: &str) -> bool {
    format!("{matches:?}").contains(text)
}

#[test]
fn a_token_as_the_value_of_any_argument_is_found() {
    let mut root = command();
    root.build();
    let mut tried = 0;
    walk(&["groupdesk".to_owned()], &root, &mut tried);
    assert!(tried > 100, "only {tried} arguments were tried");
}

fn suspects_of(line: &str, root: &Command) -> Vec<Suspect> {
    let words = ["groupdesk"].into_iter().chain(line.split(' '));
    let matches = root.clone().try_get_matches_from(words);
    suspects(&matches.expect("it parses"), root)
}

#[test]
fn a_directory_is_opened_only_for_what_may_be_kept() {
    for (line, count, is_opened, is_refused) in [
        ("history --since 2026-11-30T08:00:00Z", 0, false, false),
        ("history --since=2026-11-30T08:00:00+01:00", 0, false, false),
        (
            "rotate acme --reason plum-harbor-quilt-ember-x",
            1,
            true,
            false,
        ),
        ("rotate acme --reason 1234-5678-9012-3456", 1, true, false),
        ("rotate acme --reason Gold-2026-plan-x", 1, true, true),
        ("serve --host groupdesk.example.com", 1, false, false),
        ("serve --database plum-harbor-quilt-ember", 1, true, false),
        ("serve --database Gold-2026-plan-x4", 1, true, false),
        (
            "serve keys list --database Gold-2026-plan-x4",
            1,
            true,
            true,
        ),
        ("man plum-harbor-quilt-ember", 1, false, false),
        ("man Gold-2026-plan-x4", 1, true, true),
        (
            "serve keys create --environment live --name plum-harbor-quilt",
            1,
            true,
            false,
        ),
        ("doctor --profile Gold-2026-plan-x", 1, false, false),
        (
            "config validate --profile Gold-2026-plan-x",
            1,
            false,
            false,
        ),
    ] {
        let found = suspects_of(line, &command().ignore_errors(true));
        let texts: std::collections::HashSet<_> = found.iter().map(|one| &one.text).collect();
        assert_eq!(texts.len(), count, "{line}");
        assert_eq!(is_opened_for(&found), is_opened, "{line}");
        assert_eq!(is_refused_unasked(&found), is_refused, "{line}");
    }
}

#[test]
fn an_id_may_have_digits_of_its_own_and_a_message_of_the_parser_repeats_no_token() {
    let found = |line: &str| {
        let all = suspects_of(line, &command());
        all.iter().filter(|one| one.doubt > Doubt::Words).count()
    };
    assert_eq!(found("get 3b0c44298fc1c149afbf4c8996fb9242"), 0);
    assert_eq!(found("note acme 3b0c44298fc1c149afbf4c8996fb9242"), 1);
    assert_eq!(found(&format!("get {TOKEN}")), 1);
    assert_eq!(found("create acme --name Acme --map 40=213"), 0);
    assert_eq!(found("update acme --property tier=\"gold-2026-plan\""), 0);
    assert_eq!(found("update acme --property tier=\"Gold-2026-plan-x\""), 1);
    assert_eq!(
        found("import /nix/store/3b0c44298fc1c149afbf4c8996fb9242/f"),
        0
    );
    let text = format!("unexpected argument '{TOKEN}' found");
    let words = [format!("--nme={TOKEN}")].map(OsString::from).into_iter();
    assert_eq!(masked(text, words), "unexpected argument '…' found");
}
