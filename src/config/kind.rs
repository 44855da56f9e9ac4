//! The kinds of values that settings have: what each is called in the reference, an example, and its check.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error as _};
use toml::Value;

use super::{
    error::meant,
    name::{nearest, objection},
    scrub::looks_like_a_key,
};
use crate::{
    domain::{age, text},
    intake::duration,
};

/// Tells what is wrong with a value, in words that follow its key. The value is never quoted.
pub(super) type Check = fn(&Kind, &Value) -> Result<(), String>;

/// A kind of value.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// As the reference calls it.
    pub words: &'static str,
    /// As it may be written in the file.
    pub(super) example: &'static str,
    pub(super) inside: Inside,
    pub(super) check: Check,
}

/// The tables inside a value. Functions, because constants of the tables refer to each other.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inside {
    Nothing,
    Table(fn() -> &'static [Setting]),
    /// The check is made for each of them.
    List(fn() -> &'static [Setting]),
}

/// The value of a setting that is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// The setting is required.
    Required,
    /// This value, as it would be written in the file.
    Value(&'static str),
    /// A default that no value in the file can express.
    Words(&'static str),
}

/// One key of one table of the file.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The table that contains the key, such as `profiles.NAME`.
    pub table: &'static str,
    pub key: &'static str,
    pub kind: Kind,
    pub usual: DefaultValue,
    pub meaning: &'static str,
}

/// A table of the file, or what becomes of it.
pub(super) trait Declared {
    const SETTINGS: &'static [Setting];
}

pub(super) const fn setting(
    table: &'static str,
    key: &'static str,
    kind: Kind,
    usual: DefaultValue,
    meaning: &'static str,
) -> Setting {
    Setting {
        table,
        key,
        kind,
        usual,
        meaning,
    }
}

impl Kind {
    pub(super) const fn new(words: &'static str, example: &'static str, check: Check) -> Self {
        Self {
            words,
            example,
            inside: Inside::Nothing,
            check,
        }
    }

    pub(super) const fn text(example: &'static str, check: Check) -> Self {
        Self::new("string", example, check)
    }

    /// One of the words in quotes.
    pub(super) const fn one_of(words: &'static str, example: &'static str) -> Self {
        Self::new(words, example, one_of_words)
    }

    pub(super) const fn with(self, inside: Inside) -> Self {
        Self { inside, ..self }
    }
}

pub(super) const FLAG: Kind = Kind::new("flag", "true", |_, value| match value {
    Value::Boolean(_) => Ok(()),
    _ => Err(format!(
        "must be true or false without quotes, but is of type {}",
        value.type_str()
    )),
});

pub(super) const TRUE: Kind = Kind::new("true", "true", |_, value| match value {
    Value::Boolean(true) => Ok(()),
    Value::Boolean(false) => Err("= false has no effect; remove it".into()),
    _ => Err("must be true, without quotes".into()),
});

/// `0 to 1000000`, say.
pub(super) const fn count(words: &'static str) -> Kind {
    Kind::new(words, "5", |kind, value| {
        let (from, to) = kind.words.split_once(" to ").unwrap_or_default();
        let is_within = |number: i64| {
            let within = |end: &str| end.parse::<i64>().unwrap_or_default();
            (within(from)..=within(to)).contains(&number)
        };
        if value.as_integer().is_some_and(is_within) {
            Ok(())
        } else {
            Err(format!(
                "must be a whole number from {from} to {to}, without quotes"
            ))
        }
    })
}

pub(super) const DURATION: Kind = Kind::new("duration", "\"30s\"", |kind, value| {
    let duration = duration::wait(string(kind, value)?);
    duration.map(drop).map_err(|error| error.to_string())
});

pub(super) const AGE: Kind = Kind::new("age", "\"90d\"", |kind, value| {
    let age = age::parse(string(kind, value)?);
    age.map(drop).map_err(|error| error.to_string())
});

/// The name of a file with certificates or a private key.
pub(super) const PEM: Kind = Kind::text("\"~/our-ca.pem\"", |kind, value| {
    match string(kind, value)? {
        "" => Err(format!(
            "must be the name of a file, for example {}",
            kind.example
        )),
        _ => Ok(()),
    }
});

/// A name as the history shows it.
pub(super) const OPERATOR: Kind = Kind::text("\"ana\"", |kind, value| {
    objection(string(kind, value)?).map_or(Ok(()), Err)
});

const MAX_REASON: usize = 200;

/// Shown next to what it is about.
pub(super) const REASON: Kind = Kind::text("\"change freeze until Monday\"", |kind, value| {
    let reason = string(kind, value)?;
    if reason.trim().is_empty() {
        Err("is empty; write why: it is shown when the guard applies".into())
    } else if reason.chars().count() > MAX_REASON {
        Err(format!(
            "is longer than {MAX_REASON} characters; shorten it"
        ))
    } else if looks_like_a_key(reason) {
        Err("looks as if it contains an API key; remove it".into())
    } else if reason.chars().any(text::is_hidden) {
        Err("contains a hidden character; remove it".into())
    } else {
        Ok(())
    }
});

/// Any text.
pub(super) fn any(kind: &Kind, value: &Value) -> Result<(), String> {
    string(kind, value).map(drop)
}

/// A list of strings that begins with a program; run without a shell.
pub(super) fn argv(kind: &Kind, value: &Value) -> Result<(), String> {
    let example = kind.example;
    let argv = match value {
        Value::String(_) => {
            return Err(format!(
                "runs without a shell; write it as a list: {example}"
            ));
        }
        Value::Array(argv) => argv.as_slice(),
        _ => &[],
    };
    let is_program = |program: &str| {
        !program.is_empty() && (program.contains('/') || !looks_like_a_key(program))
    };
    match argv.first().and_then(Value::as_str) {
        Some(program) if is_program(program) && argv.iter().all(Value::is_str) => Ok(()),
        _ => Err(format!(
            "must be a list of strings that begins with a program: {example}"
        )),
    }
}

/// The text of a value that must be one.
pub(super) fn string<'v>(kind: &Kind, value: &'v Value) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| {
        let (example, found) = (kind.example, value.type_str());
        format!("must be a string such as {example}, but is of type {found}")
    })
}

/// One of the words in quotes of the kind.
pub(super) fn one_of_words(kind: &Kind, value: &Value) -> Result<(), String> {
    let known = || kind.words.split('"').skip(1).step_by(2);
    let said = string(kind, value)?;
    if known().any(|known| known == said) {
        return Ok(());
    }
    let near = meant(nearest(said, known()));
    Err(format!("must be {}{near}", kind.words))
}

/// For serde: a duration.
pub(super) fn read_duration<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(value)?;
    duration::wait(&text).map_err(D::Error::custom)
}

/// For serde: an age.
pub(super) fn read_age<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(value)?;
    age::parse(&text).map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use crate::{
        domain::rotation::{LONGEST_SETTLE_WINDOW, settle_window},
        intake::duration::LONGEST_WAIT,
    };

    #[test]
    fn no_settle_window_is_longer_than_the_longest() {
        assert_eq!(settle_window(LONGEST_WAIT), LONGEST_SETTLE_WINDOW);
    }
}
