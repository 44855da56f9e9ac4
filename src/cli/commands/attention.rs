//! `attention`: what waits for a person, the worst first, each with the command that goes on with it.

use serde_json::json;

use crate::{
    cli::{
        error::CliError,
        output::{self, human},
        process::exit::Exit,
        session::Session,
    },
    domain::{age::USUAL_LIMIT, text::visible},
    operations::{
        Operations,
        attention::{Concern, Matter},
    },
};

const WHAT: usize = 0;

pub(crate) async fn run(session: &Session, all: bool) -> Result<Exit, CliError> {
    let profiles = if all {
        session.operations_of_all()
    } else {
        vec![session.operations.clone()]
    };
    let found = Operations::attention(&profiles, 0, true).await?.concerns;
    let limit = |concern: &Concern| {
        let profile = concern.profile.and_then(|index| profiles.get(index));
        profile.and_then(|operations| operations.profile().max_token_age)
    };
    let shown: Vec<_> = found
        .iter()
        .map(|concern| {
            let (what, object) = words(&concern.matter);
            let limit = limit(concern).unwrap_or(USUAL_LIMIT);
            let next = next(&concern.matter, &format!("{}d", limit.as_secs() / 86_400));
            (concern, what, object, next)
        })
        .collect();
    if session.json {
        let values = shown.iter().map(|(concern, what, object, next)| {
            json!({
                "what": what,
                "counted": concern.matter.is_counted(),
                "profile": concern.place,
                "object": object,
                "since": concern.since.map(|at| at.to_string()),
                "by": concern.by,
                "next": next,
            })
        });
        output::json(&values.collect::<Vec<_>>())?;
    } else if shown.is_empty() {
        output::say("nothing waits");
    } else {
        let now = session.operations.now();
        let lines = shown.iter().map(|(concern, what, object, next)| {
            [
                (*what).to_owned(),
                visible(&concern.place).into_owned(),
                object.clone(),
                concern
                    .since
                    .map_or_else(String::new, |at| human::ago(at, now)),
                next.clone(),
            ]
        });
        let lines = lines.collect::<Vec<_>>();
        let header = ["WHAT", "PROFILE", "WHICH", "SINCE", "NEXT"];
        output::result(&human::rows(header, &lines, Some(WHAT)))?;
    }
    let waits = found.iter().any(|concern| concern.matter.is_counted());
    Ok(if waits { Exit::Unknown } else { Exit::Done })
}

/// What it is, as a word of the JSON output, and of what.
fn words(matter: &Matter) -> (&'static str, String) {
    match matter {
        Matter::Rotation(_, _, id) => ("rotation unknown", id.to_string()),
        Matter::Change(_, _, id) => ("change unknown", id.to_string()),
        Matter::HandOff { id, .. } => ("hand-off not done", id.to_string()),
        Matter::Batch(batch) => ("batch unfinished", batch.id.0.to_string()),
        Matter::ChangedElsewhere(id) => ("changed elsewhere", id.to_string()),
        Matter::Over(count, _) => ("tokens over their limit", count.to_string()),
        Matter::Due(count, _) => ("tokens due", count.to_string()),
        Matter::Draft(id, _) => ("draft", id.to_string()),
        Matter::NoProfile(count) => ("open, and no profile means the place", count.to_string()),
    }
}

/// The command that goes on with it.
fn next(matter: &Matter, limit: &str) -> String {
    match matter {
        Matter::Rotation(id, ..) => format!("groupdesk rotations settle {}", id.0),
        Matter::Change(..) => "groupdesk rotations settle".into(),
        Matter::HandOff { rotation, .. } => format!("groupdesk rotations handoff {}", rotation.0),
        Matter::Batch(batch) => format!("groupdesk batches resume {}", batch.id.0),
        Matter::ChangedElsewhere(id) => format!("groupdesk history {id}"),
        Matter::Over(..) => format!("groupdesk rotate --older-than {limit} --dry-run"),
        Matter::Due(..) => "groupdesk list".into(),
        Matter::Draft(..) => "e on the group in the console".into(),
        Matter::NoProfile(_) => "groupdesk place list".into(),
    }
}
