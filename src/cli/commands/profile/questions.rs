//! The plain questions of `profile add` about undocumented behaviour of the service. Enter leaves the answer unknown,
//! which is the safe default.

use super::input;
use crate::{
    cli::{error::CliError, output},
    domain::{
        facts::{Basis, Field, GetBehaviour, OmittedField},
        proposal::quoted,
    },
    operations::{Fact, Failure, Operations},
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
        match input::line(question).await?.to_lowercase().as_str() {
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
        let question = "Does anybody change this environment without using this directory? yes, no, or Enter if unknown:";
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
    let answer = input::line(question).await?.to_lowercase();
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
