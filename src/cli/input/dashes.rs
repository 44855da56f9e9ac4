//! A word of the command line that begins with a long dash (`—dry-run`, as word processors and chats write it) is an option
//! that was meant, never an id, a name or a file. Checked for all commands before anything is parsed.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::{
    cli::error::CliError,
    config::nearest,
    domain::{
        dash::{begins_long, behind_blanks, behind_odd_blanks, is_long, undashed, what_is_wrong},
        text::visible,
    },
};

/// Options whose value is any text. Written after `=`, it may begin with a long dash.
const TEXTS: [&str; 9] = [
    "--name",
    "--reason",
    "--filter",
    "--if-note",
    "--if-value",
    "--map",
    "--unmap",
    "--property",
    "--remove-property",
];

/// Its words have quotes of their own.
const FILTER: &str = "--filter";

/// The command whose argument is any text; behind `--` it may begin with a long dash.
const NOTE: &str = "note";

/// The commands whose argument is a new ID or name.
const NEW: [&str; 2] = ["create", "add"];

/// How a note may begin with a dash.
const AFTER_DASHES: &str = ". As a text, write it after --: groupdesk note ID -- TEXT";

/// A longer word is not repeated: it may be anything, even a secret.
const LONGEST: usize = 24;

/// Refuses the first such word, with the option that was probably meant.
pub(crate) fn refuse(
    words: impl Iterator<Item = OsString>,
    root: &Command,
) -> Result<(), CliError> {
    let mut command = root;
    let mut options: Vec<&Arg> = root.get_arguments().collect();
    let (mut before, mut in_program) = (String::new(), false);
    let words: Vec<_> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let may_be_new = words.iter().any(|word| word == "--exists");
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" && !takes_dashes(&before, &options) {
            let is_wrong = |word: &String| begins_long(word) && command.get_name() != NOTE;
            return match words.find(is_wrong) {
                Some(word) => Err(refused(&word, &options, "")),
                None => Ok(()),
            };
        }
        if takes_dashes(&before, &options) && is_option(&word, &options) {
            return Err(CliError::Usage(format!(
                "{before} needs a value, and an option follows it; nothing was sent. As a value: {before}=TEXT"
            )));
        }
        if begins_long(&word) || is_misspelt(&word) && !TEXTS.contains(&before.as_str()) {
            let advice = if TEXTS.contains(&before.as_str()) {
                format!(". As a text: {before}=TEXT")
            } else if command.get_name() == NOTE {
                AFTER_DASHES.into()
            } else {
                String::new()
            };
            return Err(refused(&word, &options, &advice));
        }
        if is_text(&word) && !takes_dashes(&before, &options) {
            let advice = if takes_value(&before, &options) {
                format!(". As a value: {before}=TEXT")
            } else if command.get_name() == NOTE {
                AFTER_DASHES.into()
            } else {
                String::new()
            };
            if !advice.is_empty() {
                return Err(CliError::Usage(format!(
                    "what begins with - is read as an option; nothing was sent{advice}"
                )));
            }
        }
        if let Some(option) = behind_odd_blanks(&word)
            .filter(|part| !is_punctuation(part))
            .find_map(|part| exactly(part, &options))
        {
            return Err(CliError::Usage(format!(
                "the blank before {option} is not a usual space, so it is not read as an option; nothing was sent. Type that \
                 space again"
            )));
        }
        // What runs has options of its own.
        in_program = is_program(&word) || in_program && !word.starts_with('-');
        if let Some(option) =
            in_quotes_with(&word, &before, command, &options).filter(|_| !in_program)
        {
            let advice = if TEXTS.contains(&before.as_str()) {
                format!(". As a text: {before}=TEXT")
            } else {
                String::new()
            };
            return Err(CliError::Usage(format!(
                "{option} is inside the quotes of another word, so it is not read as an option; nothing was sent. Close the \
                 quotes before it{advice}"
            )));
        }
        let is_new = may_be_new || NEW.contains(&command.get_name());
        if let Some(option) =
            attached(&word, (&before, is_new), command, &options).filter(|_| !in_program)
        {
            let advice = if takes_value(&before, &options) {
                format!("As a value: {before}=VALUE")
            } else {
                "As an ID or a name, write it after --".to_owned()
            };
            return Err(CliError::Usage(format!(
                "{option} is attached to the word before it, so it is not read as an option; nothing was sent. Write a space \
                 before it. {advice}"
            )));
        }
        if let Some((option, value)) = value(&word)
            && begins_long(value)
            && !TEXTS.contains(&option)
        {
            let (what, shown) = (what_is_wrong(value), beginning(value));
            return Err(CliError::Usage(format!(
                "the value of {option} {what} ({shown}), and no ID, name or file does; nothing was sent"
            )));
        }
        if let Some(below) = command.find_subcommand(&word) {
            command = below;
            options.extend(below.get_arguments());
        }
        before = word;
    }
    Ok(())
}

/// The option of the command inside the quotes of this word, as in `"acme --dry-run"`. What follows `=` and a note may have one,
/// and any text a single letter. A filter refuses them itself, because it knows its own quotes.
fn in_quotes_with(word: &str, before: &str, command: &Command, options: &[&Arg]) -> Option<String> {
    let is_text = value(word).is_some_and(|(option, _)| TEXTS.contains(&option));
    if is_text || before == FILTER || command.get_name() == NOTE {
        return None;
    }
    behind_blanks(word).find_map(|part| {
        exactly(part, options).filter(|option| option.len() > 2 || !TEXTS.contains(&before))
    })
}

/// The option of the command that this word ends with, as in `acme--dry-run`: of a new ID or name, or of a value. What follows
/// `=`, a filter and a note may, and so may what is known.
fn attached(
    word: &str,
    (before, is_new): (&str, bool),
    command: &Command,
    options: &[&Arg],
) -> Option<String> {
    let is_value = takes_value(before, options) && before != FILTER;
    if word.starts_with('-') || command.get_name() == NOTE || !(is_value || is_new) {
        return None;
    }
    let mut dashes = word.char_indices().skip(1);
    dashes.find_map(|(at, c)| {
        let end = &word[at..];
        let name = undashed(end);
        // A dash between blanks is part of a text.
        let after = end.trim_start_matches(|c| c == '-' || is_long(c));
        let is_joined =
            !word[..at].ends_with(char::is_whitespace) && !after.starts_with(char::is_whitespace);
        let is_one = is_joined && (is_long(c) || end.starts_with("--")) && name.len() > 1;
        let option = is_one.then(|| meant(&name, options))??;
        (option.strip_prefix("--") == Some(name.as_str())).then_some(option)
    })
}

/// Whether a word is the option of a program to run: `--api-key-command`, also with its value.
fn is_program(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.starts_with("--") && name.ends_with("-command")
}

/// A dash with a blank behind it, as in "perdu — profil".
fn is_punctuation(part: &str) -> bool {
    let rest = part.trim_start_matches(|c| c == '-' || is_long(c));
    rest.starts_with(char::is_whitespace)
}

/// Whether the value of this option may begin with a dash, as `-label:vip` of a filter does.
fn takes_dashes(word: &str, options: &[&Arg]) -> bool {
    named(word, options).is_some_and(Arg::is_allow_hyphen_values_set)
}

fn takes_value(word: &str, options: &[&Arg]) -> bool {
    named(word, options).is_some_and(|option| option.get_action().takes_values())
}

/// The option that this word names in full.
fn named<'o>(word: &str, options: &[&'o Arg]) -> Option<&'o Arg> {
    let name = word.strip_prefix("--")?;
    let mut options = options.iter().copied();
    options.find(|option| option.get_long() == Some(name))
}

/// Whether a word with a dash is no option: `-5d`, `- call first`.
fn is_text(word: &str) -> bool {
    let rest = word.strip_prefix('-').unwrap_or_default();
    rest.starts_with(|c: char| c.is_whitespace() || c.is_ascii_digit())
}

/// Whether a word is an option, also a misspelt one. A filter would select all groups but those that have it as a text.
fn is_option(word: &str, options: &[&Arg]) -> bool {
    let letter = word
        .strip_prefix('-')
        .filter(|rest| rest.chars().count() == 1);
    word.starts_with("--")
        || letter.is_some_and(|letter| exactly(&format!("-{letter}"), options).is_some())
}

/// Whether a long dash is inside the name of an option: `--dry‑run`.
fn is_misspelt(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.starts_with("--") && name.contains(is_long)
}

/// The option and the value that one word holds: `--from=FILE`, `-PNAME`.
fn value(word: &str) -> Option<(&str, &str)> {
    if word.starts_with("--") {
        return word.split_once('=');
    }
    let options = word.strip_prefix('-')?;
    let value = options.find(|c: char| !c.is_ascii_alphabetic())?;
    let value = value + 1;
    let text = word[value..].strip_prefix('=').unwrap_or(&word[value..]);
    Some((&word[..value], text))
}

fn refused(word: &str, options: &[&Arg], advice: &str) -> CliError {
    let plain = undashed(word);
    let (name, has_value) = match plain.split_once('=') {
        Some((name, _)) => (name, true),
        None => (plain.as_str(), false),
    };
    let is_shown = name.len() <= LONGEST && name.chars().all(|c| c.is_alphanumeric() || c == '-');
    let value = if has_value { "=…" } else { "" };
    let shown = if is_shown {
        let written = word.split('=').next().unwrap_or_default();
        in_quotes(&format!("{written}{value}"))
    } else {
        beginning(word)
    };
    let meant = if name.is_empty() {
        Some("-".to_owned())
    } else {
        meant(name, options)
    };
    let meant = meant.map_or_else(
        || "; an option begins with - or --.".to_owned(),
        |meant| format!("; did you mean {meant}?"),
    );
    CliError::Usage(format!(
        "{shown} {}{meant} Nothing was sent{advice}",
        what_is_wrong(word)
    ))
}

/// What a word has before its first letter; the rest of it may be anything.
fn beginning(word: &str) -> String {
    let dashes: String = word.chars().take_while(|c| !c.is_alphanumeric()).collect();
    in_quotes(&format!("{dashes}…"))
}

/// The word, in quotes if it begins with something that is not seen without them.
fn in_quotes(word: &str) -> String {
    let word = visible(word);
    match word.chars().next() {
        Some(c) if c == '-' || is_long(c) => word.into_owned(),
        _ if word.contains('"') => format!("'{word}'"),
        _ => format!("\"{word}\""),
    }
}

/// The option with the name that is nearest, or the short one. One that takes a value may have it attached.
pub(super) fn meant(name: &str, options: &[&Arg]) -> Option<String> {
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        let mut shorts = options.iter().filter_map(|option| option.get_short());
        return shorts
            .find(|short| *short == letter)
            .map(|short| format!("-{short}"));
    }
    let builtin = ["help", "version"];
    let names = options.iter().filter_map(|option| option.get_long());
    nearest(name, names.chain(builtin)).map(|near| format!("--{near}"))
}

/// The option of exactly this name.
pub(super) fn exactly(word: &str, options: &[&Arg]) -> Option<String> {
    let plain = undashed(word);
    let name = plain.split(['=', ' ']).next()?;
    let option = meant(name, options)?;
    (option.trim_start_matches('-') == name).then_some(option)
}

#[cfg(test)]
mod tests {
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
        ] {
            let text = refusal(&["rotate", "a", word]).unwrap_or_else(|| panic!("taken: {word}"));
            assert!(text.contains(what), "{word}: {text}");
            assert!(text.contains("did you mean --dry-run?"), "{word}: {text}");
        }
        for (word, what) in [
            ("--from= --x", "begins with a blank (\" --…\"), and"),
            ("--from=—x", "begins with a long dash (—…), and"),
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
            &["rotate", "a", "--reason=leaked --dry-run"][..],
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
}
