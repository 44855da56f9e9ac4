//! What the parser of the command line refuses, in our words.

use std::error::Error as _;

use clap::{
    Command,
    error::{ContextKind, ContextValue, Error, ErrorKind},
};

use super::not_there;
use crate::domain::text::{alternatives, capitalised, joined};

/// What the standard library says of a number, and the words for it.
const PARSE_ERRORS: [(&str, &str); 5] = [
    (
        "number would be zero for non-zero type",
        "expected a number above zero",
    ),
    ("invalid digit found in string", "expected a whole number"),
    (
        "cannot parse integer from empty string",
        "expected a whole number",
    ),
    (
        "number too large to fit in target type",
        "the number is too large",
    ),
    (
        "number too small to fit in target type",
        "the number is too small",
    ),
];

/// Why the command line could not be read.
pub(crate) struct Unparsed {
    /// What is wrong, and what to use instead.
    pub(crate) text: String,
    /// The usage and where help is; empty if the text says what to type.
    pub(crate) usage: String,
}

impl Unparsed {
    /// `words` are those of the command line.
    pub(crate) fn new(mut error: Error, root: &Command, words: &str) -> Self {
        not_there::propose(&mut error, root);
        let text = wrong(&error).unwrap_or_else(|| of_parser(&error));
        if let Some(instead) = not_there::instead(&error, root) {
            return Self {
                text: format!("{text}. {}", capitalised(&instead)),
                usage: String::new(),
            };
        }
        let usage = error.get(ContextKind::Usage);
        let usage = usage.map_or_else(String::new, |usage| format!("\n\n{usage}"));
        // Not every error has the usage.
        let named = if usage.is_empty() {
            let is_option = |word: &&str| root.find_subcommand(word).is_none();
            let words = words.split(' ').skip_while(is_option);
            words.collect::<Vec<_>>().join(" ")
        } else {
            not_there::usage(&error)
        };
        let (_, help) = not_there::named_by(&named, root);
        Self {
            text,
            usage: format!("{usage}\n\nFor help: {help} --help"),
        }
    }
}

/// What is wrong. `None` for what the parser says of it without details.
fn wrong(error: &Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        Some(ContextValue::String(text)) => vec![text.as_str()],
        _ => Vec::new(),
    };
    let argument = text(ContextKind::InvalidArg);
    let near = |kind| match texts(kind).first() {
        Some(near) => format!("; did you mean \"{near}\"?"),
        None => String::new(),
    };
    Some(match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let near = near(ContextKind::SuggestedSubcommand);
            format!(
                "unknown command \"{}\"{near}",
                text(ContextKind::InvalidSubcommand)?
            )
        }
        ErrorKind::UnknownArgument => {
            let what = match argument? {
                option if option.starts_with('-') => "unknown option",
                _ => "unexpected argument",
            };
            format!(
                "{what} \"{}\"{}",
                argument?,
                near(ContextKind::SuggestedArg)
            )
        }
        ErrorKind::InvalidValue if text(ContextKind::InvalidValue)?.is_empty() => {
            let expected = texts(ContextKind::ValidValue);
            let expected = match expected.as_slice() {
                [] => String::new(),
                all => format!(": {}", alternatives(all)),
            };
            format!("{} needs a value{expected}", name(argument?))
        }
        ErrorKind::InvalidValue => {
            let expected = alternatives(&texts(ContextKind::ValidValue));
            format!(
                "{}: expected {expected}",
                invalid(argument?, text(ContextKind::InvalidValue)?)
            )
        }
        ErrorKind::ValueValidation => {
            let why = error.source()?.to_string();
            let plain = PARSE_ERRORS.iter().find(|(rust, _)| *rust == why);
            let why = plain.map_or(why.as_str(), |(_, plain)| plain);
            format!(
                "{}: {why}",
                invalid(argument?, text(ContextKind::InvalidValue)?)
            )
        }
        ErrorKind::TooManyValues => {
            let value = text(ContextKind::InvalidValue)?;
            format!("\"{value}\" is one value too many for {}", name(argument?))
        }
        ErrorKind::TooFewValues => format!("{} needs more values", name(argument?)),
        ErrorKind::WrongNumberOfValues => {
            format!("{} has the wrong number of values", name(argument?))
        }
        ErrorKind::ArgumentConflict => {
            let others = texts(ContextKind::PriorArg);
            match (argument, others.as_slice()) {
                // A command behind arguments.
                (None, _) => {
                    let word = text(ContextKind::InvalidSubcommand)?;
                    format!("unexpected argument \"{word}\"")
                }
                (Some(one), [other]) if *other == one => {
                    format!("{} is given twice; give it once", name(one))
                }
                (Some(_), []) => return None,
                (Some(one), others) => {
                    let others = joined(others.iter().map(|other| name(other)), ", ");
                    format!("{} and {others} cannot be combined", name(one))
                }
            }
        }
        ErrorKind::MissingRequiredArgument => {
            format!("missing {}", joined(texts(ContextKind::InvalidArg), ", "))
        }
        ErrorKind::MissingSubcommand => {
            let commands = joined(texts(ContextKind::ValidSubcommand), ", ");
            let above = text(ContextKind::InvalidSubcommand)?;
            format!("\"{above}\" needs a command: {commands}")
        }
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8".to_owned(),
        _ => return None,
    })
}

/// The same in the words of the parser, or as the error was made.
fn of_parser(error: &Error) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\n").next().unwrap_or_default();
    text.trim_start_matches("error: ").trim_end().to_owned()
}

fn invalid(argument: &str, value: &str) -> String {
    format!("invalid value \"{value}\" for {}", name(argument))
}

/// An option without its value, a placeholder without brackets: `--limit <N>` is `--limit`, `[ID]...` is `ID`.
fn name(argument: &str) -> &str {
    if argument.starts_with('-') {
        let end = argument.find([' ', '=', '[']).unwrap_or(argument.len());
        return &argument[..end];
    }
    argument.trim_matches(['<', '>', '[', ']', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::tree::command;

    #[test]
    fn what_the_parser_refuses_is_said_in_our_words() {
        #[rustfmt::skip] // A table: one command line a line.
        let table = [
            ("rotaet acme", "unknown command \"rotaet\"; did you mean \"rotate\"?"),
            ("serve keys lst", "unknown command \"lst\"; did you mean \"list\"?"),
            ("nonsense", "unknown command \"nonsense\""),
            ("delete acme", "unknown command \"delete\". The service cannot delete groups"),
            ("list --jsn", "unknown option \"--jsn\"; did you mean \"--json\"?"),
            ("doctor acme", "unexpected argument \"acme\""),
            ("list --jq .[]", "unknown option \"--jq\". It was removed; to filter JSON: groupdesk list --json | jq ..."),
            ("history acme globex", "unexpected argument \"globex\". For several groups: groupdesk history --filter WORDS; for \
              what an entry changed: groupdesk history diff ID"),
            ("list --filter", "--filter needs a value"),
            ("list --color", "--color needs a value: auto, always or never"),
            ("list --color no", "invalid value \"no\" for --color: expected auto, always or never"),
            ("list --limit x", "invalid value \"x\" for --limit: expected a whole number"),
            ("rotations check x", "invalid value \"x\" for NUMBER: expected the number of a rotation, as `groupdesk rotations` lists it"),
            ("rotations handoff 1 --failed", "NUMBER and --failed cannot be combined"),
            ("list --limit 1 --limit 2", "--limit is given twice; give it once"),
            ("create", "missing <ID>"),
        ];
        for (line, said) in table {
            let root = command();
            let words = ["groupdesk"].into_iter().chain(line.split(' '));
            let error = root.clone().try_get_matches_from(words);
            let found = Unparsed::new(error.expect_err("it is refused"), &root, line);
            assert_eq!(found.text, said, "{line}");
            let all = format!("{}{}", found.text, found.usage);
            assert!(!all.contains(['\'', '\u{1b}']), "{all}");
            assert!(!all.contains("subcommand"), "{all}");
        }
    }

    #[test]
    fn help_is_that_of_the_command() {
        for (line, help) in [
            ("rotaet acme", "\n\nFor help: groupdesk --help"),
            (
                "serve keys lst",
                "\n\nFor help: groupdesk serve keys --help",
            ),
            ("list --filter", "\n\nFor help: groupdesk list --help"),
            ("delete acme", ""),
        ] {
            let root = command();
            let words = ["groupdesk"].into_iter().chain(line.split(' '));
            let error = root.clone().try_get_matches_from(words);
            let found = Unparsed::new(error.expect_err("it is refused"), &root, line);
            let end = found
                .usage
                .rfind("\n\n")
                .map_or("", |at| &found.usage[at..]);
            assert_eq!(end, help, "{line}");
        }
    }
}
