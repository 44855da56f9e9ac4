//! Which words of the command line are refused, and with which advice.

use super::*;
use crate::cli::commands::tree::command;

fn refusal(words: &[&str]) -> Option<String> {
    let words = words.iter().map(OsString::from);
    refuse(words, &command()).err().map(|stop| stop.to_string())
}

/// Why a line is refused in which `~` stands for the dash.
#[track_caller]
fn refused(line: &str, dash: char) -> String {
    let line = line.replace('~', &dash.to_string());
    let words: Vec<_> = line.split(' ').collect();
    refusal(&words).unwrap_or_else(|| panic!("taken: {line}"))
}

#[test]
fn the_option_that_was_meant_is_named_for_every_dash_and_place() {
    let dashes = ('\u{2010}'..='\u{2015}').chain("\u{2212}\u{fe58}\u{fe63}\u{ff0d}".chars());
    for dash in dashes {
        for (line, meant) in [
            ("rotate acme-eu ~dry-run --yes", "--dry-run"),
            ("rotate acme-eu --yes ~~dry-run", "--dry-run"),
            ("rotate acme-eu --yes ~-dry~run", "--dry-run"),
            ("rotate acme-eu --reason ~dry-run --yes", "--dry-run"),
            ("rotate acme-eu -- ~dry-run", "--dry-run"),
            ("rotate acme-eu ~y", "-y"),
            ("update a b --property a=1 ~dryrun", "--dry-run"),
            ("~profile=live list", "--profile"),
            ("get ~token-out=f a", "--token-out"),
            ("serve keys create ~environment x", "--environment"),
            ("list ~help", "--help"),
            ("create acme --mapping ~", "-"),
            ("create “~dry-run”", "--dry-run"),
            ("get acme --token-out \u{301}~-json", "--json"),
        ] {
            let text = refused(line, dash);
            let wanted = format!("begins with a long dash; did you mean {meant}?");
            assert!(text.contains(&wanted), "{line}: {text}");
        }
        for (line, meant) in [
            ("rotate b1 -~yes", "--yes"),
            ("rotate b1 -~y", "-y"),
            ("rotate b1 --~dry-run", "--dry-run"),
            ("rotate b1 --dry~run", "--dry-run"),
            ("rotate b1 -~token-out=f", "--token-out"),
            ("rotate b1 --token~out=f", "--token-out"),
            ("--pro~file=x list", "--profile"),
        ] {
            let text = refused(line, dash);
            let wanted = format!("contains a long dash; did you mean {meant}?");
            assert!(text.contains(&wanted), "{line}: {text}");
        }
        for line in "get -- ~|list -P~x|-P=~x list|rotate --from=~x|note ~x a".split('|') {
            refused(line, dash);
        }
    }
}

#[test]
fn a_word_is_only_said_to_have_a_long_dash_if_it_has_one() {
    for (word, what) in [
        (" --dry-run", "\" --dry-run\" begins with a blank;"),
        ("\u{a0}--dry-run", "begins with a blank;"),
        ("“--dry-run”", "\"“--dry-run”\" begins with a quote;"),
        ("\"--dry-run\"", "'\"--dry-run\"' begins with a quote;"),
        (" --dry-run=x", "\" --dry-run=…\" begins with a blank;"),
        ("\u{301}--dry-run", "begins with an invisible character;"),
        (
            "-\u{200b}-dry-run",
            "-\\u{200b}-dry-run contains an invisible character;",
        ),
        (" —dry-run", "\" —dry-run\" begins with a long dash;"),
        ("ー-dry-run", "ー-dry-run begins with a long dash;"),
        ("ｰ-dry-run", "ｰ-dry-run begins with a long dash;"),
    ] {
        let text = refusal(&["rotate", "a", word]).unwrap_or_else(|| panic!("taken: {word}"));
        assert!(text.contains(what), "{word}: {text}");
        assert!(text.contains("did you mean --dry-run?"), "{word}: {text}");
    }
    for (word, what) in [
        ("--from= --x", "begins with a blank (\" --…\"), and"),
        ("--from=—x", "begins with a long dash (—…), and"),
        ("--from=ー-x", "begins with a long dash (ー-…), and"),
        ("--from=“--x", "begins with a quote (\"“--…\"), and"),
    ] {
        let text = refusal(&["rotate", word]).unwrap_or_else(|| panic!("taken: {word}"));
        assert!(text.contains(what), "{word}: {text}");
    }
}

#[test]
fn a_text_may_begin_with_a_long_dash_where_nothing_else_can_be_meant() {
    for words in [
        &["create", "a", "--name=— x"][..],
        &["rotate", "a", "--reason=—"],
        &["note", "a", "--", "— call first"],
        &["rotate", "acme—eu", "-y", "-o", "jsonl"],
        &["list", "-"],
        &["create", "a", "--name", "a\u{a0}— x\u{a0}-5\u{a0}--x"],
        &["create", "a", "--", "a\u{a0}--yes"],
        &["rotate", "a", "--reason=perdu\u{a0}— profile x"],
    ] {
        assert_eq!(refusal(words), None, "{words:?}");
    }
    let text = refusal(&["note", "a", "— call first"]).expect("refused");
    assert!(text.ends_with("groupdesk note ID -- TEXT"), "{text}");
    let text = refusal(&["create", "a", "--name", "—x"]).expect("refused");
    assert!(text.ends_with("--name=TEXT"), "{text}");
}

#[test]
fn a_text_that_begins_with_a_dash_is_told_where_to_stand() {
    for (words, advice) in [
        (
            &["note", "a", "- call first"][..],
            "groupdesk note ID -- TEXT",
        ),
        (&["note", "a", "-5 groups"], "groupdesk note ID -- TEXT"),
        (&["update", "a", "--name", "- x"], "--name=TEXT"),
        (&["rotate", "--older-than", "-5d"], "--older-than=TEXT"),
    ] {
        let text = refusal(words).unwrap_or_else(|| panic!("taken: {words:?}"));
        assert!(text.ends_with(advice), "{text}");
    }
    for words in [
        &["note", "a", "--", "- call first"][..],
        &["list", "--filter", "-5"],
        &["rotate", "a", "--yes", "-5"],
    ] {
        assert_eq!(refusal(words), None, "{words:?}");
    }
}

#[test]
fn an_option_behind_a_blank_that_divides_no_words_is_refused() {
    for words in [
        &["create", "a\u{a0}--dry-run", "--yes"][..],
        &["update", "a", "--property", "x=1\u{a0}--dry-run"],
        &["rotate", "a", "--reason=x\u{2009}—dry-run"],
        &["--profile=live\u{200b}--read-only", "list"],
        &["create", "a\u{a0}-o=json"],
    ] {
        let text = refusal(words).unwrap_or_else(|| panic!("taken: {words:?}"));
        assert!(text.contains("is not a usual space"), "{text}");
    }
}

#[test]
fn an_option_inside_the_quotes_of_another_word_is_refused() {
    for words in [
        &["create", "acme-x --dry-run", "--yes"][..],
        &["rotate", "acme-eu —dry-run", "--yes"],
        &["create", "acme-us --name Acme"],
        &["rotate", "acme-eu -y"],
        &["rotate", "a", "--reason", "leaked --dry-run", "--yes"],
        &["update", "a", "--property", "x=1\t--dry-run"],
        &["label", "a", "--add", "vip --json"],
        &["rotate", "my-command", "x --dry-run", "--yes"],
        &["create", "a-command --dry-run"],
        &["rotate", "a", "--reason=leaked --dry-run", "--yes"],
        &["rotate", "a", "--reason=leaked —dry-run", "--yes"],
        &["rotate", "a", "--reason=leaked --token-out=f"],
        &["update", "a", "--name=--dry-run", "--yes"],
        &["create", "a", "--name=—dry-run"],
    ] {
        let text = refusal(words).unwrap_or_else(|| panic!("taken: {words:?}"));
        assert!(
            text.contains(" is inside the quotes of another word"),
            "{text}"
        );
    }
    let text = refusal(&["update", "a", "--name", "Acme --dry-run"]).expect("refused");
    assert!(text.ends_with("As a text: --name=TEXT"), "{text}");
    for words in [
        &["rotate", "a", "--reason=leaked --dry-run."][..],
        &["rotate", "a", "--reason=without --dry-run by Ben"],
        &["rotate", "a", "--reason=rm -f x -y"],
        &["list", "--filter=acme --json"],
        &["rotate", "a", "--reason", "rm -f x -y"],
        &["note", "a", "never without --dry-run"],
        &["create", "a", "--", "a --yes"],
        &[
            "profile",
            "add",
            "a",
            "--api-key-command",
            "pass --profile x",
        ],
        &["update", "a", "--name", "Acme -- Europe - x --unknown"],
        &[
            "profile",
            "add",
            "a",
            "--api-key-command",
            "ssh",
            "h",
            "x --profile y",
        ],
        &["list", "--filter", "acme -json"],
        &["list", "--filter", "\"leaked --json x\""],
    ] {
        assert_eq!(refusal(words), None, "{words:?}");
    }
}

#[test]
fn an_option_behind_two_dashes_is_no_new_name() {
    for words in [
        &["create", "--yes", "--", "--dry-run"][..],
        &["create", "--", "a", "-y"],
        &["get", "--exists", "--", "--token-out=f"],
    ] {
        let text = refusal(words).unwrap_or_else(|| panic!("taken: {words:?}"));
        assert!(text.contains("is an option of this command"), "{text}");
    }
    for words in [
        &["create", "--", "dry-run"][..],
        &["create", "--", "-x"],
        &["get", "--", "--json"],
        &["note", "a", "--", "--dry-run"],
        &[
            "profile",
            "add",
            "a",
            "--api-key-command",
            "pass",
            "--",
            "--profile",
        ],
    ] {
        assert_eq!(refusal(words), None, "{words:?}");
    }
}

#[test]
fn an_option_attached_to_a_new_word_is_refused() {
    for words in [
        &["create", "z5--dry-run", "--yes"][..],
        &["create", "z6—dry-run", "--yes"],
        &["create", "z7-–dry–run"],
        &["create", "z8", "--map", "7=50--dry-run"],
        &["update", "a", "--name", "Acme--dry-run"],
        &["update", "a", "--name", "Acme--json"],
        &["rotate", "a", "--reason", "leaked--dry-run", "--yes"],
        &["copy", "a", "--to", "live", "--as-id", "b--yes"],
        &["get", "z9--yes", "--exists"],
        &["profile", "add", "live--read-only"],
        &["profile", "rename", "live", "live--dry-run"],
        &["create", "acme--name=X"],
        &["create", "acme--name X"],
        &["create", "acme--name\tX"],
        &["create", "acme—name=X", "--yes"],
        &["create", "acme--profile=live--yes"],
        &["create", "z8", "--map", "7=50--name=X"],
        &["update", "a", "--name", "Acme--map=7=50"],
        &["rotate", "a", "--reason", "leaked--profile live"],
    ] {
        let text = refusal(words).unwrap_or_else(|| panic!("taken: {words:?}"));
        assert!(
            text.contains(" is attached to the word before it"),
            "{text}"
        );
    }
    for words in [
        &["create", "acme-dry-run"][..],
        &["create", "acme--eu"],
        &["create", "acme--dry-runs"],
        &["create", "acme--dry-runs=1"],
        &["create", "acme--y=1"],
        &["create", "--", "acme--name=X"],
        &["create", "acme—europe"],
        &["create", "--", "acme--dry-run"],
        &["create", "a", "--name=Acme--dry-run"],
        &["create", "a", "--property", "x--name=5"],
        &["rotate", "acme--dry-run", "--yes"],
        &["note", "a", "never--dry-run"],
        &["rotate", "a", "--reason", "leak — profile", "--yes"],
        &["rotate", "a", "--reason", "see ticket -- json"],
        &["list", "--filter", "acme--json"],
        &["profile", "add", "a", "--api-key-command", "pass--profile"],
    ] {
        assert_eq!(refusal(words), None, "{words:?}");
    }
}

#[test]
fn an_option_is_no_filter() {
    for words in [
        &["rotate", "--filter", "--dry-run", "--yes"][..],
        &["update", "--filter", "-y", "--property", "a=1"],
        &["list", "--filter", "--jsn"],
        &["export", "--filter", "--", "--json"],
        &["apply", "f", "--prune-report", "--filter", "--yes"],
    ] {
        let text = refusal(words).unwrap_or_else(|| panic!("taken: {words:?}"));
        assert!(text.starts_with("--filter needs a value"), "{text}");
    }
    for words in [
        &["list", "--filter", "-label:vip"][..],
        &["list", "--filter=--json"],
        &["list", "--filter", "-5"],
        &["list", "--filter", "acme", "--json"],
    ] {
        assert_eq!(refusal(words), None, "{words:?}");
    }
}

#[test]
fn what_may_be_a_secret_is_not_repeated() {
    for word in ["—KEY", "—token=KEY", "—x KEY"] {
        let word = word.replace("KEY", "0123456789abcdef0123456789abcdef");
        let text = refusal(&["whose", &word]).expect("refused");
        assert!(!text.contains("0123"), "{text}");
    }
}

/// A new option is refused until it is known to take any text.
#[test]
fn each_option_that_may_take_a_long_dash_exists() {
    fn longs(command: &Command, found: &mut Vec<String>) {
        let options = command.get_arguments();
        found.extend(options.filter_map(|option| Some(format!("--{}", option.get_long()?))));
        for below in command.get_subcommands() {
            longs(below, found);
        }
    }
    let mut found = Vec::new();
    longs(&command(), &mut found);
    for option in TEXTS {
        assert!(found.iter().any(|known| known == option), "{option}");
    }
}
