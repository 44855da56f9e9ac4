//! A word of the command line that begins with a long dash (`—dry-run`, as word processors and chats write it) is an option
//! that was meant, never an id, a name or a file. Checked for all commands before anything is parsed.

use std::ffi::OsString;

use clap::Arg;

use crate::{
    cli::prelude::*,
    config::nearest,
    domain::dash::{
        before_letters, begins_long, behind_blanks, behind_odd_blanks, is_long, undashed,
        what_is_wrong,
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

/// Options whose value is a key, `=`, and the value of it.
const PAIRS: [&str; 2] = ["--map", "--property"];

/// The commands whose argument is a new ID or name.
const NEW: [&str; 3] = ["create", "add", "rename"];

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
            let is_new = !in_program && (may_be_new || NEW.contains(&command.get_name()));
            let is_option = |word: &str| word.starts_with('-') && exactly(word, &options).is_some();
            let is_wrong = |word: &String| begins_long(word) || is_new && is_option(word);
            return match words.find(|word| command.get_name() != NOTE && is_wrong(word)) {
                Some(word) if begins_long(&word) => Err(refused(&word, &options, "")),
                Some(word) => Err(CliError::Usage(format!(
                    "{} is an option of this command, so it cannot be a new ID or name; nothing was sent. Write it before --",
                    exactly(&word, &options).unwrap_or_default()
                ))),
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
            } else if text_behind_sign(&word).is_some() {
                ". As a text, end it with a full stop".to_owned()
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

/// The option of the command inside the quotes of this word, as in `"acme --dry-run"`. A note may have one, what follows `=` if it
/// does not end with it, and any text a single letter. A filter refuses them itself, because it knows its own quotes.
fn in_quotes_with(word: &str, before: &str, command: &Command, options: &[&Arg]) -> Option<String> {
    if before == FILTER || command.get_name() == NOTE {
        return None;
    }
    if let Some((option, text)) = text_behind_sign(word) {
        let last = text.split_ascii_whitespace().next_back();
        let last = last.filter(|last| last.starts_with('-') || begins_long(last));
        let found = exactly(last?, options).filter(|found| found.len() > 2);
        return found.filter(|_| option != FILTER);
    }
    behind_blanks(word).find_map(|part| {
        exactly(part, options).filter(|option| option.len() > 2 || !TEXTS.contains(&before))
    })
}

/// The option and its text, in one word.
fn text_behind_sign(word: &str) -> Option<(&str, &str)> {
    value(word).filter(|(option, _)| TEXTS.contains(option))
}

/// The option of the command that is attached to this word, also with a value of its own, as in `acme--name=X`: of a new ID or
/// name, or of a value. What follows `=`, the key of a pair, a filter and a note may have one, and so may what is known.
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
    let key = word.find('=').filter(|_| PAIRS.contains(&before));
    let (_, option) = attached_from(word, key.unwrap_or_default() + 1, options)?;
    Some(option)
}

/// The first option that is attached to this word at the byte `from` or behind it, and where.
pub(super) fn attached_from(word: &str, from: usize, options: &[&Arg]) -> Option<(usize, String)> {
    let mut dashes = word.char_indices().filter(|(at, _)| *at >= from);
    dashes.find_map(|(at, c)| {
        let end = &word[at..];
        // A dash between blanks is part of a text.
        let after = end.trim_start_matches(|c| c == '-' || is_long(c));
        let is_joined =
            !word[..at].ends_with(char::is_whitespace) && !after.starts_with(char::is_whitespace);
        let is_one = is_joined && (is_long(c) || end.starts_with("--"));
        let option = exactly(end, options).filter(|option| is_one && option.starts_with("--"))?;
        Some((at, option))
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
    let dashes: String = before_letters(word).collect();
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
    let name = plain
        .split(|c: char| c == '=' || c.is_whitespace())
        .next()?;
    let option = meant(name, options)?;
    (option.trim_start_matches('-') == name).then_some(option)
}

#[cfg(test)]
mod tests;
