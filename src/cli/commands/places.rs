//! `environment`: the environments that the directory knows, how they are told apart, and what people have declared
//! about them.

use super::prelude::*;
use crate::{
    cli::args::new_name,
    domain::group::EnvironmentTag,
    operations::{Alarm, Place, PlaceEvent, PlaceKey, PlaceProblem},
};

/// Manage the environments that profiles connect to
#[derive(Debug, Args)]
#[command(alias = "place")]
pub(crate) struct Environment {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List environments, without contacting the service
    List,
    /// Show an environment: URLs, API key fingerprints, alarms and recorded decisions
    Show {
        /// The environment
        name: String,
    },
    /// Rename an environment
    Rename {
        /// The environment
        name: String,
        /// Its new name
        #[arg(value_parser = new_name)]
        to: String,
    },
    /// Merge two records of the same environment; keeps the data of both
    Merge {
        /// Environment to merge; it is removed
        name: String,
        /// Environment to keep
        into: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Acknowledge the alarms of an environment, so that requests are sent again
    Acknowledge {
        /// The environment
        name: String,
        /// What you found; recorded with the environment
        #[arg(long)]
        reason: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

impl Run for Environment {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("environment", &["groupdesk environment list", "groupdesk environment acknowledge live --reason 'wrong key replaced'"], &[]),
        page("environment list", &["groupdesk environment list", "groupdesk environment list --json | jq '.[].profiles'"],
            &[array("", &[&PLACE])]),
        page("environment show", &["groupdesk environment show live", "groupdesk environment show live --json | jq .keys"],
            &[row("NAME", &[&SHOWN])]),
        page("environment rename", &["groupdesk environment rename live eu-live", "groupdesk environment rename live-2 eu-test --json"],
            &[one("NAME TO", &[&PLACE])]),
        page("environment merge", &["groupdesk environment merge old live", "groupdesk environment merge old live --yes --json"],
            &[one("NAME INTO", &[&PLACE])]),
        page("environment acknowledge", &[
            "groupdesk environment acknowledge live --reason 'the key was of testing; replaced'",
            "groupdesk environment acknowledge live --reason 'proxy fixed' --yes",
        ], &[one("NAME", &[&PLACE])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        in_session(global, async |session| run(session, self.command).await).await
    }
}

async fn run(session: &Session, command: Command) -> Result<Exit, CliError> {
    let operations = &session.operations;
    match command {
        Command::List => list(session).await,
        Command::Show { name } => show(session, &name).await,
        Command::Rename { name, to } => {
            let place = named(operations, &name).await?;
            operations.rename_place(&place, &to).await?;
            done(session, &to).await
        }
        Command::Merge { name, into, yes } => {
            let (from, into) = (
                named(operations, &name).await?,
                named(operations, &into).await?,
            );
            if from.id == into.id {
                return Err(CliError::Usage(format!(
                    "{} is one environment, so there is nothing to merge; nothing was changed. For a list: groupdesk environment list",
                    visible(&from.name)
                )));
            }
            let what = format!(
                "{} ({}) becomes part of {} ({}); this cannot be undone.",
                from.name,
                counted(from.groups as usize, "group"),
                into.name,
                counted(into.groups as usize, "group")
            );
            let words = format!("merge {} into {}", from.name, into.name);
            let review = Review::new(session, yes);
            review.ask(&what, Question::TypeWords(&words)).await?;
            operations.merge_places(&from, &into).await?;
            done(session, &into.name).await
        }
        Command::Acknowledge { name, reason, yes } => {
            let place = named(operations, &name).await?;
            if place.alarms.is_empty() {
                return Err(CliError::Usage(format!("environment {name} has no alarm")));
            }
            let alarms = place.alarms.iter().map(|alarm| alarm.what.as_str());
            let what = alarms.collect::<Vec<_>>().join("\n");
            let what = visible(&what).into_owned();
            let review = Review::new(session, yes);
            review.ask(&what, Question::YesOrNo).await?;
            operations.acknowledge(&place, &reason).await?;
            done(session, &place.name).await
        }
    }
}

/// Returns the place of that name, for a command that changes something.
pub(crate) async fn named(operations: &Operations, name: &str) -> Result<Place, CliError> {
    find(operations, name, "nothing was changed").await
}

/// The same for any command; `undone` says what was not done.
async fn find(
    operations: &Operations,
    name: &str,
    undone: &'static str,
) -> Result<Place, CliError> {
    let places = operations.directory().places().await?;
    match places.iter().find(|place| place.name == name) {
        Some(place) => Ok(place.clone()),
        None => Err(Failure::from(PlaceProblem::no_place(name, &places, undone)).into()),
    }
}

/// Prints the place as it is after a change.
async fn done(session: &Session, name: &str) -> Result<Exit, CliError> {
    output::note_change();
    let place = named(&session.operations, name).await?;
    output::either(session.json, || json(&place), || table([&place]))
}

async fn list(session: &Session) -> Result<Exit, CliError> {
    let places = session.operations.directory().places().await?;
    let none = "no environments yet; the first request of a profile creates one";
    output::list(session.json, &places, json, none, || table(&places))
}

const COLUMNS: [&str; 6] = ["ENVIRONMENT", "GROUPS", "OPEN", "ALARMS", "PROFILES", "URL"];

fn table<'a>(places: impl IntoIterator<Item = &'a Place>) -> String {
    let or_none = |texts: &[String]| match texts {
        [] => "-".to_owned(),
        texts => texts.join(", "),
    };
    let row = |place: &Place| {
        [
            visible(&place.name).into_owned(),
            place.groups.to_string(),
            place.open.to_string(),
            place.alarms.len().to_string(),
            or_none(&place.profiles),
            or_none(&place.urls),
        ]
    };
    human::rows(COLUMNS, places.into_iter().map(row), None)
}

async fn show(session: &Session, name: &str) -> Result<Exit, CliError> {
    let operations = &session.operations;
    let place = find(operations, name, "nothing was shown").await?;
    let events = operations.directory().place_events(place.id).await?;
    if session.json {
        output::json(&with_events(&place, &events))?;
        return Ok(Exit::Done);
    }
    let tag = place.tag.as_ref().map_or("unknown", |tag| tag.as_str());
    let mut lines = vec![table([&place]), format!("tag       {tag}")];
    for key in &place.keys {
        let (state, since) = (key.state.as_str(), when::minute(key.added_at));
        let by = or_unknown(&key.added_by);
        lines.push(format!(
            "key       {} {state}, since {since} by {by}",
            key.fingerprint
        ));
    }
    for alarm in &place.alarms {
        let (at, what) = (when::minute(alarm.at), visible(&alarm.what));
        lines.push(format!("ALARM     {at} {what}"));
    }
    for event in &events {
        // Without a note, what it is about is the environment.
        let what = match event.event.as_str() {
            "made" => "created",
            other => other,
        };
        let note = event
            .note
            .as_deref()
            .map(|note| format!(" {}", visible(note)));
        let (at, note) = (when::minute(event.at), note.unwrap_or_default());
        lines.push(format!("{at}  {what}{note} by {}", or_unknown(&event.by)));
    }
    output::result(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn or_unknown(who: &str) -> &str {
    if who.is_empty() { "unknown" } else { who }
}

shape! {
    PLACE = "environment", "one environment of one service";
    fn json(place: &Place) {
        "environment": text = place.name, "its name";
        "urls": texts = &place.urls, "its URLs";
        "environment_tag": text or "no profile sets one and no response had one" = place.tag.as_ref().map(EnvironmentTag::as_str), "the tag that responses must not contradict";
        "profiles": texts = &place.profiles, "profiles that are bound to it";
        "groups": number = place.groups, "groups that are known there";
        "open": number = place.open, "rotations, hand-offs, creates and updates that are not finished";
        "last_used": time or "never" = place.last_used, "its newest history entry";
        "keys": [KEY] = place.keys.iter().map(key), "its API keys, by fingerprint";
        "alarms": [ALARM] = place.alarms.iter().map(alarm), "alarms that are not acknowledged";
    }

    KEY = "", "";
    fn key(key: &PlaceKey) {
        "fingerprint": text = key.fingerprint, "8 hexadecimal digits";
        "state": text = key.state.as_str(), "trusted, trial or withdrawn";
        "added_at": time = key.added_at, "since when it is known";
        "by": text = key.added_by, "who added it; empty if unknown";
    }

    ALARM = "", "";
    fn alarm(alarm: &Alarm) {
        "user_group_id": text or "it concerns no group" = alarm.user_group_id.as_ref(), "the group whose response raised it";
        "what": text = alarm.what, "what the response contradicted";
        "at": time = alarm.at, "when it was raised";
        "by": text = alarm.by, "who sent the request";
    }

    SHOWN = "environment-shown", "an environment with its history";
    fn with_events(place: &Place, events: &[PlaceEvent]) {
        ..PLACE = json(place);
        "events": [EVENT] = events.iter().map(event), "what was decided or happened, oldest first";
    }

    EVENT = "", "";
    fn event(event: &PlaceEvent) {
        "at": time = event.at, "when";
        "by": text = event.by, "who; empty if unknown";
        "profile": text = event.profile, "the profile that was in use; empty if there was none";
        "event": text = event.event, "what was decided or happened";
        "note": text or "there are none" = event.note.as_ref(), "details; human-readable, may change";
    }
}
