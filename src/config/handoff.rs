//! `handoff` in the configuration file: the command that receives a new token, and its time limit. Its arguments are
//! never quoted, because people paste secrets into them.

use std::time::Duration;

use toml::de::{DeTable, DeValue};

use super::{
    duration,
    environment::PathContext,
    key_source::{command_source, key_in_the_file},
    profile::{HandOffCommand, KeySource},
    toml_reader::{Problems, Section, Spanned, texts},
};

const TIMEOUT: Duration = Duration::from_secs(30);

const SHAPE: &str = "{ command = [\"/usr/local/bin/put-token\", \"eu\"], timeout = \"30s\" }";

pub(super) fn handoff(
    section: &mut Section,
    around: PathContext,
    problems: &mut Problems,
) -> Option<HandOffCommand> {
    let Spanned { at, value } = section.value("handoff")?;
    let DeValue::Table(table) = value else {
        let kind = value.type_str();
        problems.add(
            at,
            format!("handoff must be a table, but is of type {kind}; write {SHAPE}"),
        );
        return None;
    };
    read(table, at, around, problems)
}

fn read(
    table: &DeTable,
    at: usize,
    around: PathContext,
    problems: &mut Problems,
) -> Option<HandOffCommand> {
    let mut section = Section::of(table);
    let command = match section.value("command") {
        None => Err((at, format!("handoff has no command; write {SHAPE}"))),
        Some(Spanned {
            at,
            value: DeValue::String(_),
        }) => Err((
            at,
            format!("handoff.command runs without a shell; write it as a list: {SHAPE}"),
        )),
        Some(Spanned { at, value }) => argv(value, around).ok_or_else(|| {
            (
                at,
                format!(
                    "handoff.command must be a list of strings that begins with a program: {SHAPE}"
                ),
            )
        }),
    };
    let command = command.map_err(|(at, what)| problems.add(at, what)).ok();
    let timeout = match section.text("timeout", "30s", problems) {
        None => TIMEOUT,
        Some(Spanned { at, value }) => duration::parse(value).unwrap_or_else(|error| {
            problems.add(at, format!("handoff.timeout {error}"));
            TIMEOUT
        }),
    };
    section.finish(problems, key_in_the_file);
    Some(HandOffCommand {
        command: command?,
        timeout,
    })
}

fn argv(value: &DeValue, around: PathContext) -> Option<Vec<String>> {
    let DeValue::Array(array) = value else {
        return None;
    };
    match command_source(texts(array)?, around)? {
        KeySource::Command(argv) => Some(argv),
        KeySource::Env(_) | KeySource::File(_) | KeySource::Keyring(_) | KeySource::Unset => None,
    }
}
