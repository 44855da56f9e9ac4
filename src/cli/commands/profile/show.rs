//! Profiles and connection tests as they are printed.

use super::Setup;
use crate::{
    cli::{
        error::CliError,
        output::{self, human, shape::shape},
        process::exit::Exit,
    },
    config::{
        guard::{Guard, Level, Rule},
        profile::Profile,
    },
    domain::{group::EnvironmentTag, text::visible},
    operations::{Probe, Step},
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
                profile.rights().to_owned(),
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
    let lines: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    output::result(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn rule(guard: &Guard) -> String {
    let what = match guard.rule {
        Rule::AtLeast(Level::Button) => "asks for a review".to_owned(),
        Rule::AtLeast(Level::Key) => "asks for y".to_owned(),
        Rule::AtLeast(Level::Typed) => "asks you to type the ID".to_owned(),
        Rule::AtLeast(Level::Words) => "asks you to type a phrase".to_owned(),
        Rule::Forbid => "is forbidden".to_owned(),
        Rule::Max(most) => format!("takes at most {most}"),
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
        "max_bulk": number = profile.max_bulk, "maximum number of groups in one bulk rotation";
        "guards": [GUARD] = profile.guards.iter().map(guard), "its guards";
    }
}

shape! {
    GUARD = "", "";
    fn guard(guard: &Guard) {
        "operation": text = guard.operation.as_str(), "the guarded operation";
        "rule": text = rule(guard), "what it requires; human-readable, may change";
        "reason": text = guard.reason, "the reason in the configuration";
    }
}

shape! {
    pub(crate) PROBE = "", "";
    /// The result of a connection test, as JSON.
    pub(super) fn probe(probe: &Probe) {
        "finding": text = probe.finding.as_str(), "accepted, may_not_change, key_refused, not_reached, no_answer, not_found, slash, redirected, web_page, busy, service_failed or strange";
        "text": text = probe.text, "the same as text; human-readable, may change";
        "steps": [STEP] = probe.steps.iter().map(step), "the steps of the test, in order";
    }
}

shape! {
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
