//! Commands that messages propose: each word quoted for a shell, with the options that let it act on what this process
//! acts on.

use std::{borrow::Cow, fmt::Write};

use super::text::visible;

const PROGRAM: &str = "groupdesk ";

/// Which options a command needs to act on the same as this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uses {
    /// The configuration, the directory and a profile. `profile` uses one only if its argument names none.
    Profile,
    /// The configuration or the directory, but no profile.
    Directory,
    Nothing,
}

/// Every command of the command line; a test compares it with them (`src/cli/commands.rs`).
pub const COMMANDS: [(Uses, &str); 3] = [
    (
        Uses::Profile,
        "apply attention batches copy create diff doctor edit environment export favourite get history import label list \
         note profile rotate rotations show update",
    ),
    (Uses::Directory, "audit config directory whose"),
    (Uses::Nothing, "completions demo help man serve version"),
];

fn uses(word: &str) -> Uses {
    let mut all = COMMANDS.iter();
    let found = all.find(|(_, words)| words.split(' ').any(|known| known == word));
    found.map_or(Uses::Nothing, |(uses, _)| *uses)
}

/// Whether a command can begin after this part of a text. In a sentence, the name of the program is the program.
fn begins_a_command(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_alone = line.trim().is_empty();
    is_alone
        || line.ends_with(['`', '\'', '"', '('])
        || [": ", "; ", "run ", "Run ", "| "]
            .iter()
            .any(|end| line.ends_with(end))
}

/// Whether somebody else is to run the command that follows.
fn is_for_an_admin(before: &str) -> bool {
    ["an admin to run `", "an admin must run `"]
        .iter()
        .any(|end| before.ends_with(end))
}

/// The address of a directory for somebody else: with this user's name it would be refused again.
fn of_an_admin(at: &str) -> Cow<'_, str> {
    match at.split_once("://") {
        Some((scheme, rest)) => {
            let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
            format!("{scheme}://ADMIN@{place}").into()
        }
        None => at.into(),
    }
}

/// A word as a shell takes it, quoted if necessary. What a display would change is escaped in a form that bash, zsh and
/// ksh read back: otherwise the command would mean another word.
pub fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:@/".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else if visible(word) != word {
        format!("$'{}'", word.bytes().map(escaped).collect::<String>()).into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''")).into()
    }
}

/// A byte within `$'…'`. There is no single quote in it, so that quotes stay pairs.
fn escaped(byte: u8) -> String {
    match byte {
        b'\n' => "\\n".into(),
        b'\t' => "\\t".into(),
        b'\r' => "\\r".into(),
        b'\\' => "\\\\".into(),
        b' '..=b'~' if byte != b'\'' => char::from(byte).into(),
        _ => format!("\\x{byte:02x}"),
    }
}

/// What was selected by options of this process, and what a command without options would use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Pairs of an option and its value.
    options: Vec<(&'static str, String)>,
    usual_profile: Option<String>,
}

impl Selection {
    /// `config` and `directory` are the values of these options, without secrets; `usual_profile` is the profile of a
    /// command that names none.
    pub fn new(
        config: Option<String>,
        directory: Option<String>,
        usual_profile: Option<String>,
    ) -> Self {
        let config = config.map(|value| ("--config", value));
        let directory = directory.map(|value| ("--directory", value));
        Self {
            options: config.into_iter().chain(directory).collect(),
            usual_profile,
        }
    }

    /// Adds to each proposed command of a text the options that it needs to act on this profile, and on the same
    /// configuration and directory.
    pub fn complete<'t>(&self, text: &'t str, profile: Option<&str>) -> Cow<'t, str> {
        let profile = profile.filter(|name| self.usual_profile.as_deref() != Some(name));
        if profile.is_none() && self.options.is_empty() {
            return text.into();
        }
        let mut completed = String::new();
        let mut done = 0;
        for (at, _) in text.match_indices(PROGRAM) {
            let after = at + PROGRAM.len();
            if !begins_a_command(&text[..at]) {
                continue;
            }
            let (options, word, arguments) = proposed(&text[after..]);
            let uses = uses(word);
            completed.push_str(&text[done..after]);
            done = after;
            for (option, value) in &self.options {
                if uses != Uses::Nothing && !options.contains(option) {
                    let value = if is_for_an_admin(&text[..at]) {
                        of_an_admin(value)
                    } else {
                        value.into()
                    };
                    let _ = write!(completed, "{option} {} ", quoted(&value));
                }
            }
            if let Some(name) = profile
                && uses == Uses::Profile
                && !(word == "profile" && names_one(arguments))
                && !options.contains(&"-P")
            {
                let _ = write!(completed, "-P {} ", quoted(name));
            }
        }
        completed.push_str(&text[done..]);
        completed.into()
    }
}

/// The options that stand before a command, the command, and what follows it.
fn proposed(text: &str) -> (Vec<&str>, &str, &str) {
    let mut options = Vec::new();
    let mut rest = text;
    // These have values.
    while rest.starts_with('-') {
        let (option, value) = rest.split_once(' ').unwrap_or((rest, ""));
        options.push(option);
        rest = after_word(value).trim_start_matches(' ');
    }
    let end = rest.find(|c: char| !c.is_ascii_lowercase());
    let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
    (options, word, after)
}

/// Whether the name of a profile follows, as in ` unbind live`.
fn names_one(after: &str) -> bool {
    let name = after.trim_start_matches(' ').split_once(' ');
    let name = name.map_or("", |(_, name)| name.trim_start_matches(' '));
    name.starts_with(|c: char| c.is_alphanumeric() || "'$".contains(c))
        || name.starts_with("--variables")
}

/// What follows the first word, which may be quoted.
fn after_word(text: &str) -> &str {
    let mut is_quoted = false;
    let end = text.find(|c: char| {
        is_quoted ^= c == '\'';
        c == ' ' && !is_quoted
    });
    &text[end.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::table;

    fn selection() -> Selection {
        Selection::new(None, Some("my desk.db".into()), Some("live".into()))
    }

    #[test]
    fn a_word_is_quoted_where_a_shell_would_read_it_otherwise() {
        for (word, shell) in [
            ("acme-eu:1", "acme-eu:1"),
            ("a b", "'a b'"),
            ("it's $x", r"'it'\''s $x'"),
            ("", "''"),
            ("a\nb", r"$'a\nb'"),
            ("it's\t\\ \u{202e}", r"$'it\x27s\t\\ \xe2\x80\xae'"),
        ] {
            assert_eq!(quoted(word), shell);
        }
    }

    /// `DIR` and `PLACE` stand for the two options.
    #[test]
    fn a_command_gets_the_options_that_it_needs_once() {
        for [text, complete] in table(
            r"
            run `groupdesk get a`              | run `groupdesk DIR PLACE get a`
            more: groupdesk profile behaviour  | more: groupdesk DIR PLACE profile behaviour
            groupdesk profile unbind 'a b'     | groupdesk DIR profile unbind 'a b'
            groupdesk directory status         | groupdesk DIR directory status
            groupdesk -P 'a b' get x           | groupdesk DIR -P 'a b' get x
            groupdesk --directory 'b c' get x  | groupdesk PLACE --directory 'b c' get x
            groupdesk --directory $'b\x27 c' get x | groupdesk PLACE --directory $'b\x27 c' get x
            groupdesk profile unbind $'a\nb'   | groupdesk DIR profile unbind $'a\nb'
            groupdesk help get                 | groupdesk help get
            as groupdesk knows; groupdesk gets it | as groupdesk knows; groupdesk gets it
            let groupdesk list it; with groupdesk edit and `groupdesk note` | let groupdesk list it; with groupdesk edit and `groupdesk DIR PLACE note`
            to do:⏎  groupdesk get a > jq      | to do:⏎  groupdesk DIR PLACE get a > jq
            ",
        ) {
            let complete = complete.replace("DIR", "--directory 'my desk.db'");
            let complete = complete.replace("PLACE", "-P 'eu test'");
            let once = selection().complete(&text, Some("eu test")).into_owned();
            assert_eq!(once, complete);
            assert_eq!(selection().complete(&once, Some("eu test")), complete);
        }
    }

    #[test]
    fn a_command_for_an_admin_has_not_the_name_of_the_user() {
        let at = "postgres://vera@db1/desk";
        let selection = Selection::new(None, Some(at.into()), None);
        for (text, at) in [
            (
                "Ask an admin to run `groupdesk DIR directory grant NAME operator`",
                "postgres://ADMIN@db1/desk",
            ),
            ("run `groupdesk DIR directory status`", at),
        ] {
            let complete = text.replace("DIR", &format!("--directory {at}"));
            let found = selection
                .complete(&text.replace("DIR ", ""), None)
                .into_owned();
            assert_eq!(found, complete);
        }
    }

    #[test]
    fn nothing_is_added_for_what_is_used_anyway() {
        let usual = Selection::new(None, None, Some("live".into()));
        for place in [Some("live"), None] {
            assert_eq!(usual.complete("groupdesk list", place), "groupdesk list");
        }
    }
}
