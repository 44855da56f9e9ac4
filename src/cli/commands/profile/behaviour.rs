//! `profile behaviour`: shows and records undocumented behaviour of a profile's place, as people declare it.

use clap::Args;

use super::Setup;
use crate::{
    cli::{
        error::CliError,
        output::{self, human, shape::shape},
        process::exit::Exit,
        session::{InFlight, Session},
    },
    domain::{
        facts::{self, Basis, Field, GetBehaviour, OmittedField, Stated},
        text::visible,
    },
    operations::{Fact, THE_SERVICE},
};

#[derive(Debug, Args)]
pub(crate) struct Behaviour {
    /// Profile [default: the profile in use]
    name: Option<String>,
    /// What a get with properties returns: the stored properties (returned) or those of the request (echoed)
    #[arg(long, value_name = "VALUE", value_parser = ["returned", "echoed", "unknown"])]
    properties_on_get: Option<String>,
    /// What the service does to fields that an update omits; for one field: mapping=clear
    #[arg(long, alias = "absent-fields", value_name = "[FIELD=]keep|clear|unknown", value_parser = omitted)]
    omitted_fields: Vec<OmittedFields>,
    /// Whether all changes to this environment go through this directory
    #[arg(long, value_name = "yes|no", value_parser = ["yes", "no"])]
    sole_writer: Option<String>,
}

#[derive(Debug, Clone)]
struct OmittedFields(Vec<Field>, OmittedField);

fn omitted(text: &str) -> Result<OmittedFields, String> {
    let (fields, value) = match text.split_once('=') {
        Some((name, value)) => {
            let field = Field::ALL.into_iter().find(|field| field.as_str() == name);
            let field = field.ok_or("expected name, mapping or properties")?;
            (vec![field], value)
        }
        None => (Field::ALL.to_vec(), text),
    };
    let value = OmittedField::parse(value).ok_or("expected keep, clear or unknown")?;
    Ok(OmittedFields(fields, value))
}

impl Behaviour {
    fn stated_facts(&self) -> Vec<Fact> {
        let on_get = self
            .properties_on_get
            .as_deref()
            .and_then(GetBehaviour::parse);
        let absent = self
            .omitted_fields
            .iter()
            .flat_map(|OmittedFields(fields, value)| {
                fields
                    .iter()
                    .map(|field| Fact::OmittedField(*field, *value))
            });
        let sole = self.sole_writer.as_deref();
        on_get
            .map(Fact::PropertiesOnGet)
            .into_iter()
            .chain(absent)
            .chain(sole.map(|sole| Fact::SoleWriter(sole == "yes")))
            .collect()
    }
}

pub(super) async fn run(context: &Setup, arguments: Behaviour) -> Result<Exit, CliError> {
    let mut overrides = context.overrides.clone();
    if let Some(name) = &arguments.name {
        // An unknown one is no fault of --profile.
        context.settings()?.profile(Some(name))?;
        overrides.profile = Some(name.clone());
    }
    let session = Session::of(
        &overrides,
        context.json,
        context.no_input,
        InFlight::default(),
    )?;
    let told = arguments.stated_facts();
    let operations = &session.operations;
    let facts = if told.is_empty() {
        operations.facts().await?
    } else {
        let facts = operations.state_facts(told).await?;
        output::note_change();
        facts
    };
    print(&session, &facts)?;
    Ok(Exit::Done)
}

/// Prints each fact, who declared it and when.
fn print(session: &Session, facts: &facts::Facts) -> Result<(), CliError> {
    let lines = lines(facts);
    if session.json {
        output::json(&lines.iter().map(object).collect::<Vec<_>>())
    } else {
        output::result(&text(&lines, session.operations.now()))
    }
}

/// One fact as it is printed.
struct FactLine {
    fact: &'static str,
    value: &'static str,
    basis: Basis,
    at: Option<jiff::Timestamp>,
    by: Option<String>,
}

impl FactLine {
    fn of<T>(fact: &'static str, value: &'static str, stated: &Stated<T>) -> Self {
        Self {
            fact,
            value,
            basis: stated.basis,
            at: stated.at,
            by: stated.by.clone(),
        }
    }
}

shape! {
    pub(crate) FACT = "fact", "how the service of a profile behaves where its API is undocumented";
    fn object(line: &FactLine) {
        "fact": text = line.fact, "properties_on_get, absent_name, absent_properties, absent_mapping or sole_writer";
        "value": text = line.value, "for properties_on_get: returned, echoed or unknown; for absent_*: keep, clear or unknown; for sole_writer: yes or no";
        "source": text = line.basis.as_str(), "proven, told (set by you or announced by the service) or unknown";
        "at": time or "it was never set" = line.at, "since when";
        "by": text or "it was never set" = line.by.as_ref(), "by whom";
    }
}

fn lines(facts: &facts::Facts) -> Vec<FactLine> {
    let on_get = &facts.properties_on_get;
    let absent = [
        ("absent_name", Field::Name),
        ("absent_properties", Field::Properties),
        ("absent_mapping", Field::Mapping),
    ];
    let mut lines = vec![FactLine::of(
        "properties_on_get",
        on_get.value.as_str(),
        on_get,
    )];
    lines.extend(absent.map(|(fact, field)| {
        let stated = facts.absent(field);
        FactLine::of(fact, stated.value.as_str(), stated)
    }));
    let sole = &facts.sole_writer;
    let value = if sole.value { "yes" } else { "no" };
    lines.push(FactLine::of("sole_writer", value, sole));
    lines
}

fn text(lines: &[FactLine], now: jiff::Timestamp) -> String {
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            let by = line.by.as_deref().map(visible).unwrap_or_default();
            [
                line.fact.replace("absent_", "omitted ").replace('_', " "),
                line.value.to_owned(),
                source(line).to_owned(),
                line.at.map_or_else(String::new, |at| human::ago(at, now)),
                by.into_owned(),
            ]
        })
        .collect();
    human::rows(["BEHAVIOUR", "VALUE", "SOURCE", "SINCE", "BY"], &rows, None)
}

fn source(line: &FactLine) -> &'static str {
    match line.basis {
        Basis::Told if line.by.as_deref() == Some(THE_SERVICE) => "announced",
        Basis::Told => "set",
        Basis::Proven => "observed",
        Basis::Unknown => "-",
    }
}
