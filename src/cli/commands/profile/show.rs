//! Profiles and connection tests as they are printed.

use serde_json::{Value, json};

use super::Setup;
use crate::{
    cli::{
        error::CliError,
        output::{self, human},
        process::exit::Exit,
    },
    config::{
        guard::{Guard, Level, Rule},
        profile::Profile,
    },
    domain::{group::EnvironmentTag, text::visible},
    operations::Probe,
};

pub(super) fn list(context: &Setup) -> Result<Exit, CliError> {
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
                rights(profile).to_owned(),
                visible(&profile.url()).into_owned(),
                visible(&profile.api_key.to_string()).into_owned(),
            ]
        });
        let header = ["", "PROFILE", "ENVIRONMENT", "RIGHTS", "URL", "KEY FROM"];
        human::rows(header, &lines.collect::<Vec<_>>(), None)
    })
}

pub(super) fn show(context: &Setup, name: Option<&str>) -> Result<Exit, CliError> {
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
        format!("rights       {}", rights(profile)),
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
    let lines: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    output::result(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn rights(profile: &Profile) -> &'static str {
    if profile.read_only {
        "read-only"
    } else {
        "read-write"
    }
}

fn rule(guard: &Guard) -> String {
    let what = match guard.rule {
        Rule::AtLeast(Level::Button) => "asks for a review".to_owned(),
        Rule::AtLeast(Level::Key) => "asks for y".to_owned(),
        Rule::AtLeast(Level::Typed) => "asks for the ID, typed".to_owned(),
        Rule::AtLeast(Level::Words) => "asks for a typed phrase".to_owned(),
        Rule::Forbid => "is forbidden".to_owned(),
        Rule::Max(most) => format!("takes at most {most}"),
    };
    format!("{} {what}: {}", guard.operation.as_str(), guard.reason)
}

fn object(profile: &Profile, usual: Option<&str>) -> Value {
    let guards = profile.guards.iter().map(|guard| {
        json!({
            "operation": guard.operation.as_str(),
            "rule": rule(guard),
            "reason": guard.reason,
        })
    });
    json!({
        "profile": profile.name,
        "default": usual == Some(profile.name.as_str()),
        "url": profile.url(),
        "environment": profile.environment.as_ref().map(EnvironmentTag::as_str),
        "production": profile.production,
        "read_only": profile.read_only,
        "api_key_from": profile.api_key.to_string(),
        "ca_file": profile.ca_file.as_ref().map(|file| file.display().to_string()),
        "handoff": profile.handoff.as_ref().map(ToString::to_string),
        "max_bulk": profile.max_bulk,
        "guards": guards.collect::<Vec<_>>(),
    })
}

/// The result of a connection test, as JSON.
pub(super) fn probe(probe: &Probe) -> Value {
    let steps = probe.steps.iter().map(|step| {
        json!({
            "what": step.what,
            "ms": step.took.as_millis() as u64,
            "ok": step.result.is_ok(),
            "result": match &step.result {
                Ok(text) | Err(text) => text,
            },
        })
    });
    json!({
        "finding": probe.finding.as_str(),
        "text": probe.text,
        "steps": steps.collect::<Vec<_>>(),
    })
}

/// The result of a connection test, as lines of text.
pub(super) fn probe_text(probe: &Probe) -> String {
    let mut lines: Vec<String> = probe
        .steps
        .iter()
        .map(|step| {
            let (sign, text) = match &step.result {
                Ok(text) => ('+', text),
                Err(text) => ('x', text),
            };
            format!("{sign} {}: {text}, {} ms", step.what, step.took.as_millis())
        })
        .collect();
    lines.push(probe.text.clone());
    lines.join("\n")
}
