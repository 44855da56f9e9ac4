//! What `profile` asks a person for: lines, an API key that is not echoed, and the plain questions of `profile add` about
//! undocumented behaviour of the service. Enter leaves such an answer unknown, which is the safe default.

use std::io::{BufRead, Read};

use secrecy::SecretString;
use zeroize::Zeroizing;

use crate::{
    cli::{commands::prelude::*, input::confirm::NoEcho},
    config::given_key,
    domain::facts::{Basis, Fact, GetBehaviour, OmittedField},
    intake::secret,
};

/// Asks for the facts of the place that nobody has declared or proven yet.
pub(super) async fn ask_facts(added: &Operations) -> Result<(), CliError> {
    let Ok(known) = added.facts().await else {
        return Ok(());
    };
    let is_open = |basis| basis == Basis::Unknown;
    let mut facts = Vec::new();
    if Field::ALL
        .iter()
        .all(|field| is_open(known.absent(*field).basis))
    {
        let question = "What does the service do to fields that an update omits? keep, clear, or Enter if unknown:";
        match line(question).await?.to_lowercase().as_str() {
            "" => {}
            word => match OmittedField::parse(word) {
                Some(absent) => {
                    facts.extend(Field::ALL.map(|field| Fact::OmittedField(field, absent)));
                }
                None => not_understood(),
            },
        }
    }
    if is_open(known.properties_on_get.basis) {
        let question =
            "Does reading a group return its stored properties? yes, no, or Enter if unknown:";
        match yes_or_no(question).await? {
            Some(true) => facts.push(Fact::PropertiesOnGet(GetBehaviour::Returned)),
            Some(false) => facts.push(Fact::PropertiesOnGet(GetBehaviour::Echoed)),
            None => {}
        }
    }
    if is_open(known.sole_writer.basis) {
        let question = "Is this environment also changed without this directory? yes, no, or Enter if unknown:";
        if let Some(others) = yes_or_no(question).await? {
            facts.push(Fact::SoleWriter(!others));
        }
    }
    if facts.is_empty() {
        return Ok(());
    }
    match added.state_facts(facts).await {
        Ok(_) => Ok(()),
        // The profile is written. Facts have to wait until it is known which place it belongs to.
        Err(failure @ Failure::Place(_)) => {
            let name = &added.profile().name;
            output::alarm(&format!(
                "! {failure}. To set it later: groupdesk profile behaviour {}",
                quoted(name)
            ));
            Ok(())
        }
        Err(failure) => Err(failure.into()),
    }
}

async fn yes_or_no(question: &str) -> Result<Option<bool>, CliError> {
    let answer = line(question).await?.to_lowercase();
    Ok(match answer.as_str() {
        "" => None,
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => {
            not_understood();
            None
        }
    })
}

fn not_understood() {
    output::say(
        "not a valid answer; left unknown. To set it later: groupdesk profile behaviour NAME",
    );
}

pub(super) use crate::cli::input::confirm::has_person;

/// In bytes. Longer than any key; more than that is something else.
const LONGEST: u64 = 64 * 1024;

/// Reads one line; empty if nothing was typed.
pub(super) async fn line(question: &str) -> Result<String, CliError> {
    output::ask(question);
    let line = confirm::line(|error| unreadable(&error)).await?;
    Ok(line.trim().to_owned())
}

/// Reads an API key from a prompt without echo, or from standard input. Returns `None` if there is none.
pub(super) async fn key(no_input: bool) -> Result<Option<SecretString>, CliError> {
    if io::stdin().is_terminal() && no_input {
        return Ok(None);
    }
    let quiet = NoEcho::new().map_err(|error| unreadable(&error))?;
    let is_typed = quiet.is_terminal();
    if is_typed {
        output::ask("API key (not shown):");
    }
    let read = move || read(is_typed).map_err(|error| unreadable(&error));
    let text = blocking("the key was not read", read).await?;
    drop(quiet);
    if secret::plain(&text).trim_ascii().is_empty() {
        return Ok(None);
    }
    given_key(&*text).map(Some).map_err(CliError::Usage)
}

/// Reads one line if it is typed, otherwise everything.
fn read(is_typed: bool) -> io::Result<Zeroizing<Vec<u8>>> {
    // Allocated at the maximum size, so that growing leaves no copy of the key in memory.
    let mut text = Zeroizing::new(Vec::with_capacity(LONGEST as usize));
    let mut input = io::stdin().lock().take(LONGEST);
    if is_typed {
        input.read_until(b'\n', &mut text)?;
    } else {
        input.read_to_end(&mut text)?;
    }
    Ok(text)
}

fn unreadable(error: &io::Error) -> CliError {
    CliError::Usage(format!(
        "standard input cannot be read: {error}; nothing was saved"
    ))
}
