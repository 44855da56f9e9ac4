//! `attention`: what needs attention, most urgent first, each with the command that continues it.

use super::{batch::again_with, prelude::*};
use crate::{
    cli::output::json::{PLACE, of_place},
    directory::Role,
    domain::{batch::RunnerState, history::Operation, rotation::State},
    operations::attention::{Concern, ConcernKind},
};

const WHAT: usize = 0;

/// List what needs attention, most urgent first, without contacting the service
#[derive(Debug, Args)]
#[command(
    after_help = "Reads no API key.\n\nExit codes: 0 nothing is unfinished or failed, 7 at least one item is."
)]
pub(crate) struct Attention {
    /// Include all profiles
    #[arg(long)]
    all: bool,
}

impl Run for Attention {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("attention", &["groupdesk attention", "groupdesk attention --all --json | jq '.[] | select(.unfinished)'"],
            &[array("", &[&CONCERN])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        in_session(global, async |session| list(session, self.all).await).await
    }
}

async fn list(session: &Session, all: bool) -> Result<Exit, CliError> {
    session.say_unknown_key().await?;
    let profiles = session.operations_of_all();
    let everywhere = Operations::attention(&profiles, 0, true).await?.concerns;
    let is_here = |concern: &Concern| all || concern.profile.is_none_or(|at| at == 0);
    let (found, others): (Vec<_>, Vec<_>) = everywhere.into_iter().partition(is_here);
    let elsewhere = others.len();
    let waits = found.iter().any(Concern::is_counted);
    let mut options = Vec::new();
    for concern in &found {
        options.push(batch_options(concern, &profiles).await?);
    }
    let shown = found.iter().zip(options).map(|(concern, options)| {
        let (what, object) = words(&concern.kind);
        (concern, what, object, next(concern, &profiles, options))
    });
    let shown: Vec<_> = shown.collect();
    if session.json {
        let places = session.operations.directory().places().await?;
        let place = |concern: &Concern| {
            let mut places = places.iter();
            let place = places.find(|place| place.id == concern.place_id);
            place.map(|place| place.name.as_str())
        };
        let values = shown.iter().map(|(concern, what, object, next)| {
            value(concern, place(concern), (what, object, next))
        });
        output::json(&values.collect::<Vec<_>>())?;
    } else if shown.is_empty() {
        session.say_elsewhere().await?;
        let profile = visible(&session.operations.profile().name);
        output::say(&match elsewhere {
            0 => "nothing needs attention".to_owned(),
            _ => format!("nothing needs attention in profile {profile}"),
        });
    } else {
        let now = session.operations.now();
        let lines = shown.iter().map(|(concern, what, object, next)| {
            let since = concern.since.map(|at| human::ago(at, now));
            [
                (*what).to_owned(),
                visible(&concern.place).into_owned(),
                object.clone(),
                human::or_dash(since),
                next.clone(),
            ]
        });
        let header = ["WHAT", "PROFILE", "WHICH", "SINCE", "NEXT STEP"];
        output::result(&human::rows(header, lines, Some(WHAT)))?;
    }
    if elsewhere > 0 && !session.json {
        output::say(&format!(
            "{} in other profiles. To list all: groupdesk attention --all",
            counted(elsewhere, "item")
        ));
    }
    Ok(Exit::done_unless(waits, Exit::Unknown))
}

/// What the batch of a concern was told, if it is about one.
async fn batch_options(
    concern: &Concern,
    profiles: &[Operations],
) -> Result<BatchOptions, CliError> {
    let operations = concern.profile.and_then(|at| profiles.get(at));
    match (concern.kind.batch(), operations) {
        (Some(batch), Some(operations)) => Ok(operations.batch_options(batch.id).await?),
        _ => Ok(BatchOptions::default()),
    }
}

shape! {
    CONCERN = "concern", "something that needs attention, most urgent first";
    fn value(concern: &Concern, place: Option<&str>, (what, object, next): (&str, &str, &str)) {
        "what": text = what, "what waits: alarm, rotation unknown, rotation not confirmed, rotation conflict, change unknown, hand-off not done, batch unfinished, batch running, batch paused, batch partly done, tokens not in the file, token not in the file, replaced token valid, changed elsewhere, tokens overdue, tokens due soon, draft, new API key";
        "unfinished": bool = concern.is_counted(), "unfinished or failed work: it changes the exit code";
        "profile": text = concern.place, "the profile of the environment, or the environment if no profile has it";
        ..PLACE = of_place(place);
        "object": text = object, "the group, the number of the batch, the environment of an alarm, or how many";
        "since": time or "unknown" = concern.since, "since when";
        "by": text or "unknown" = concern.by.as_ref(), "who started it: user@machine";
        "next": text = next, "the command to run next; human-readable, may change";
    }
}

/// The kind of concern as the JSON output names it, and what it is about.
fn words(kind: &ConcernKind) -> (&'static str, String) {
    match kind {
        ConcernKind::Alarms(environment, _) => ("alarm", visible(environment).into_owned()),
        ConcernKind::Rotation(_, State::Rotated, id) => ("rotation not confirmed", id.to_string()),
        ConcernKind::Rotation(_, State::Conflict, id) => ("rotation conflict", id.to_string()),
        ConcernKind::Rotation(_, _, id) => ("rotation unknown", id.to_string()),
        ConcernKind::Change(_, _, id) => ("change unknown", id.to_string()),
        ConcernKind::HandOff { id, .. } => ("hand-off not done", id.to_string()),
        ConcernKind::Batch(batch) => {
            let what = match batch.runner.as_ref().map(|runner| runner.state) {
                Some(RunnerState::Running) => "batch running",
                Some(RunnerState::Paused) => "batch paused",
                Some(RunnerState::Killed | RunnerState::Silent | RunnerState::Revoked) | None => {
                    "batch unfinished"
                }
            };
            (what, batch.id.0.to_string())
        }
        ConcernKind::NotDone(batch, _) => ("batch partly done", batch.id.0.to_string()),
        ConcernKind::Unwritten(batch) => ("tokens not in the file", batch.id.0.to_string()),
        ConcernKind::UnwrittenToken(_, id) => ("token not in the file", id.to_string()),
        ConcernKind::Revived(_, id) => ("replaced token valid", id.to_string()),
        ConcernKind::ChangedElsewhere(id) => ("changed elsewhere", id.to_string()),
        ConcernKind::Over(count, _) => ("tokens overdue", count.to_string()),
        ConcernKind::Due(count, _) => ("tokens due soon", count.to_string()),
        ConcernKind::Draft(id, _) => ("draft", id.to_string()),
        ConcernKind::NewKey(count) => ("new API key", count.to_string()),
        ConcernKind::NoProfile(count) => (
            "open, but no profile uses the environment",
            count.to_string(),
        ),
    }
}

/// Whether a repetition finds out what became of a change: the service returns an existing group unchanged.
fn may_create(concern: &Concern, at: Option<&Operations>, operation: Operation) -> bool {
    at.is_some_and(|at| {
        matches!(operation, Operation::Create | Operation::Get)
            && at.permitted(Guarded::Create).is_ok()
            && concern.by.as_deref() == Some(at.operator())
    })
}

/// The command that continues with the concern, in the profile of its place.
fn next(concern: &Concern, profiles: &[Operations], options: BatchOptions) -> String {
    let at = concern.acting().and_then(|at| profiles.get(at));
    let profile = at.map(Operations::profile);
    let limit = profile.and_then(|profile| profile.max_token_age);
    let has_handoff = profile.is_some_and(|profile| profile.handoff.is_some());
    let more = again_with(options.token_out || options.hands_off && !has_handoff);
    let any = profiles.first();
    let directory = any.and_then(|any| any.directory().may(Role::Operator).err());
    let is_refused = concern.refused(profile, directory).is_some();
    let filter = || quoted(&concern.kind.filter(limit).unwrap_or_default()).into_owned();
    // Who only reads is shown where to look.
    let look = || match (&concern.kind, concern.kind.group(), concern.kind.batch()) {
        (ConcernKind::Draft(id, _), ..) => id.command("show", ""),
        (_, Some(id), _) => id.command("history", ""),
        (.., Some(batch)) => format!("batches show {}", batch.id.0),
        (ConcernKind::Alarms(environment, _), ..) => {
            format!("environment show {}", quoted(environment))
        }
        (ConcernKind::Over(..) | ConcernKind::Due(..), ..) => {
            format!("list --filter {}", filter())
        }
        _ => "environment list".into(),
    };
    let command = match &concern.kind {
        _ if is_refused => look(),
        ConcernKind::Alarms(environment, _) => {
            format!(
                "environment acknowledge {} --reason WHY",
                quoted(environment)
            )
        }
        ConcernKind::Rotation(id, State::Conflict, _) => {
            format!("rotations abandon {} --reason WHY", id.0)
        }
        ConcernKind::Rotation(id, ..) => format!("rotations check {}", id.0),
        // A check does not read a group that may not exist.
        ConcernKind::Change(_, operation, id) if may_create(concern, at, *operation) => {
            id.command("get", "--exists")
        }
        ConcernKind::Change(..) => "rotations check".into(),
        ConcernKind::UnwrittenToken(_, id) => id.command("get", "--token-out FILE"),
        ConcernKind::Revived(_, id) => id.command("rotate", ""),
        ConcernKind::HandOff { rotation, .. } => format!("rotations handoff {}", rotation.0),
        ConcernKind::Batch(batch) if !batch.is_run() => {
            format!("batches resume {}{more}", batch.id.0)
        }
        ConcernKind::Unwritten(batch) => {
            format!("batches resume {} --token-out FILE", batch.id.0)
        }
        ConcernKind::NotDone(batch, _) if batch.can_be_retried() => {
            format!("batches retry {}{more}", batch.id.0)
        }
        ConcernKind::NewKey(_) => {
            format!("profile bind {} --same-environment", quoted(&concern.place))
        }
        ConcernKind::Over(..) | ConcernKind::Due(..) => {
            format!("rotate --filter {} --dry-run", filter())
        }
        ConcernKind::Draft(_, 1) => "groupdesk, then e on the group".to_owned(),
        ConcernKind::Draft(_, versions) => {
            format!("groupdesk, then e on the group ({versions} versions)")
        }
        _ => look(),
    };
    let text = if command.starts_with("groupdesk") {
        command
    } else {
        format!("groupdesk {command}")
    };
    // Where the profile that began a hand-off is gone, that of the environment shows it.
    let shows = concern.profile.and_then(|at| profiles.get(at));
    let name = profile.or(shows.map(Operations::profile));
    let name = name.map(|profile| profile.name.as_str());
    proposals::complete_for(&text, name).into_owned()
}
