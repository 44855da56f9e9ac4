//! Profiles and connection tests as they are printed; `profile behaviour` shows and records undocumented behaviour of a
//! profile's place, as people declare it.

use super::Setup;
use crate::{
    cli::commands::prelude::*,
    config::{
        guard::{Guard, Level, Rule},
        profile::Profile,
    },
    domain::{
        facts::{self, Basis, Fact, GetBehaviour, OmittedField, Stated, THE_SERVICE},
        group::EnvironmentTag,
    },
    operations::{Probe, Step},
};

pub(super) fn list(context: &Setup<'_>) -> Result<Exit, CliError> {
    let settings = context.settings()?;
    let usual = settings.default_profile.as_deref();
    let value = |profile: &Profile| object(profile, usual);
    let none = "no profiles yet. To add one: groupdesk profile add NAME";
    output::list(context.json, &settings.profiles, value, none, || {
        let lines = settings.profiles.iter().map(|profile| {
            let is_usual = usual == Some(profile.name.as_str());
            [
                if is_usual { "*" } else { "" }.to_owned(),
                visible(&profile.name).into_owned(),
                profile.environment_word().to_owned(),
                profile.rights().to_owned(),
                visible(&profile.url()).into_owned(),
                visible(&profile.api_key.to_string()).into_owned(),
            ]
        });
        let header = ["", "PROFILE", "ENVIRONMENT", "RIGHTS", "URL", "KEY FROM"];
        human::rows(header, lines, None)
    })
}

pub(super) fn show(context: &Setup<'_>, name: Option<&str>) -> Result<Exit, CliError> {
    let settings = context.settings()?;
    let profile = settings.profile(name)?;
    if context.json {
        output::json(&object(profile, settings.default_profile.as_deref()))?;
        return Ok(Exit::Done);
    }
    let tag = profile.environment.as_ref();
    let mut lines = vec![
        format!("profile      {}", profile.name),
        format!("url          {}", profile.url()),
        format!(
            "environment  {}, expects the tag {}",
            profile.environment_word(),
            tag.map_or("(none)", |tag| tag.as_str())
        ),
        format!("API key      {}", profile.api_key),
        format!("rights       {}", profile.rights()),
        format!("max_bulk     {}", profile.max_bulk),
    ];
    if let Some(file) = &profile.ca_file {
        lines.push(format!("ca_file      {}", file.display()));
    }
    if let Some(handoff) = &profile.handoff {
        lines.push(format!("hand-off     {handoff}"));
    }
    for guard in &profile.guards {
        lines.push(format!("guard        {}", rule(guard)));
    }
    output::result(&joined(lines.iter().map(|line| visible(line)), "\n"))?;
    Ok(Exit::Done)
}

fn rule(guard: &Guard) -> String {
    let what = match guard.rule {
        Rule::AtLeast(Level::Button) => "asks for a review".to_owned(),
        Rule::AtLeast(Level::Key) => "asks for y".to_owned(),
        Rule::AtLeast(Level::Typed) => "asks you to type the ID".to_owned(),
        Rule::AtLeast(Level::Words) => "asks you to type a phrase".to_owned(),
        Rule::Forbid => "is forbidden".to_owned(),
        Rule::Max(most) => format!("allows at most {most} at once"),
    };
    format!("{} {what}: {}", guard.operation.as_str(), guard.reason)
}

shape! {
    pub(crate) PROFILE = "profile", "a profile of the configuration, never a key";
    fn object(profile: &Profile, usual: Option<&str>) {
        "profile": text = profile.name, "its name";
        "default": bool = usual == Some(profile.name.as_str()), "whether it is the default_profile";
        "url": text = profile.url(), "its URL";
        "environment": text or "the configuration expects none" = profile.environment.as_ref().map(EnvironmentTag::as_str), "the tag that responses must have";
        "production": bool = profile.production, "whether it counts as production";
        "read_only": bool = profile.read_only, "whether every change is refused";
        "api_key_from": text = profile.api_key, "source of its API key; human-readable, may change";
        "ca_file": text or "none" = profile.ca_file.as_ref().map(|file| file.display()), "the file of CA certificates that it trusts in addition to those of the system";
        "handoff": text or "none" = profile.handoff.as_ref(), "the command that receives new tokens; human-readable, may change";
        "max_bulk": number = profile.max_bulk, "maximum number of groups in one bulk rotation or bulk edit";
        "guards": [GUARD] = profile.guards.iter().map(guard), "its guards";
    }

    GUARD = "", "";
    fn guard(guard: &Guard) {
        "operation": text = guard.operation.as_str(), "the guarded operation";
        "rule": text = rule(guard), "what it requires; human-readable, may change";
        "reason": text = guard.reason, "the reason in the configuration";
    }

    pub(crate) PROBE = "", "";
    /// The result of a connection test, as JSON.
    pub(super) fn probe(probe: &Probe) {
        "finding": text = probe.finding.as_str(), "accepted, may_not_change, key_refused, not_reached, no_answer, not_found, slash, redirected, web_page, busy, service_failed or strange";
        "text": text = probe.text, "the same as text; human-readable, may change";
        "steps": [STEP] = probe.steps.iter().map(step), "the steps of the test, in order";
    }

    pub(super) STEP = "", "";
    pub(super) fn step(step: &Step) {
        "what": text = step.what, "what was done";
        "ms": number = step.took.as_millis() as u64, "how long it took, in milliseconds";
        "ok": bool = step.result.is_ok(), "whether it succeeded";
        "result": text = match &step.result { Ok(text) | Err(text) => text }, "the result; human-readable, may change";
    }
}

/// The result of a connection test, as lines of text.
pub(super) fn probe_text(probe: &Probe) -> String {
    let steps = probe.steps.iter().map(|step| {
        let (sign, text) = match &step.result {
            Ok(text) => ('+', text),
            Err(text) => ('x', text),
        };
        format!("{sign} {}: {text}, {} ms", step.what, step.took.as_millis())
    });
    joined(steps.chain([probe.text.clone()]), "\n")
}

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
        let on_get = self.properties_on_get.as_deref();
        let on_get = on_get.and_then(GetBehaviour::parse);
        let mut facts = Vec::from_iter(on_get.map(Fact::PropertiesOnGet));
        for OmittedFields(fields, value) in &self.omitted_fields {
            facts.extend(
                fields
                    .iter()
                    .map(|field| Fact::OmittedField(*field, *value)),
            );
        }
        let sole = self.sole_writer.as_deref();
        facts.extend(sole.map(|sole| Fact::SoleWriter(sole == "yes")));
        facts
    }
}

pub(super) async fn behaviour(context: &Setup<'_>, arguments: Behaviour) -> Result<Exit, CliError> {
    let mut global = context.global.clone();
    if let Some(name) = &arguments.name {
        // An unknown one is no fault of --profile.
        context.settings()?.profile(Some(name))?;
        global.profile = Some(name.clone());
    }
    let session = Session::open(&global).await?;
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
        output::json(&lines.iter().map(fact).collect::<Vec<_>>())
    } else {
        output::result(&facts_text(&lines, session.operations.now()))
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

    fn is_announced(&self) -> bool {
        self.basis == Basis::Announced
    }
}

shape! {
    pub(crate) FACT = "fact", "how the service of a profile behaves where its API is undocumented";
    fn fact(line: &FactLine) {
        "fact": text = line.fact, "properties_on_get, absent_name, absent_properties, absent_mapping or sole_writer";
        "value": text = line.value, "for properties_on_get: returned, echoed or unknown; for absent_*: keep, clear or unknown; for sole_writer: yes or no";
        // Words of 0.2.0.
        "source": text = if line.is_announced() { Basis::Told } else { line.basis }.as_str(), "proven, told (set by you or announced by the service) or unknown";
        "at": time or "it was never set" = line.at, "since when";
        "by": text or "it was never set" = if line.is_announced() { Some(THE_SERVICE) } else { line.by.as_deref() }, "by whom";
        "recorded_by": text or "the service did not announce it" = line.by.as_ref().filter(|_| line.is_announced()), "who received the announcement";
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

fn facts_text(lines: &[FactLine], now: jiff::Timestamp) -> String {
    let rows = lines.iter().map(|line| {
        let by = line.by.as_deref().map(visible);
        [
            line.fact.replace("absent_", "omitted ").replace('_', " "),
            line.value.to_owned(),
            source(line).to_owned(),
            human::or_dash(line.at.map(|at| human::ago(at, now))),
            human::or_dash(by),
        ]
    });
    human::rows(["BEHAVIOUR", "VALUE", "SOURCE", "SINCE", "BY"], rows, None)
}

fn source(line: &FactLine) -> &'static str {
    match line.basis {
        Basis::Announced => "announced",
        Basis::Told => "set",
        Basis::Proven => "observed",
        Basis::Unknown => "-",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_a_dash() {
        let text = facts_text(
            &lines(&facts::Facts::default()),
            jiff::Timestamp::UNIX_EPOCH,
        );
        for line in text.lines().skip(1) {
            let cells: Vec<_> = line.split_whitespace().collect();
            assert_eq!(cells[cells.len() - 2..], ["-", "-"], "{text}");
        }
    }
}
