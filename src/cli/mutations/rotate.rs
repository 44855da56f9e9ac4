//! `rotate`: asks, rotates once, puts the new token where it was asked for, and confirms it by reading it back.

use super::{Rotation, answer, assurance, token_file, write_token};
use crate::{
    cli::{
        args::Rotate,
        ask::{self, Question},
        exit::Exit,
        handoff, print,
        session::Session,
        stop::Stop,
    },
    domain::{group::UserGroupId, history::Ending},
};

/// One group; several are `bulk`'s business.
pub(in crate::cli) async fn rotate(
    session: &Session,
    id: UserGroupId,
    arguments: Rotate,
) -> Result<Exit, Stop> {
    let Rotate {
        reason,
        assurance: exists,
        mutation,
        token,
        ..
    } = arguments;
    let assurance = assurance(exists.exists);
    session.operations.writable()?;
    let known = session.operations.known(&id, assurance).await?;
    let seen = known
        .and_then(|group| group.fingerprint)
        .map(|known| known.value);
    let fingerprint = seen.map_or_else(|| "not known here".to_owned(), |seen| seen.to_string());
    if mutation.dry_run {
        session.say_where();
        return dry_rotation(session, &id, &fingerprint);
    }
    ask::can_be_asked(session, mutation.yes)?;
    session.say_where();
    let mut file = token_file(&token)?;
    let question = if session.operations.profile().production {
        Question::TypeId(&id)
    } else {
        Question::YesOrNo
    };
    let what = format!(
        "Rotate the token of \"{id}\" (now {fingerprint})? The old token stops working at once."
    );
    ask::confirm(mutation.yes, &what, question).await?;
    let rotated = session
        .in_flight
        .during(Box::pin(
            session.operations.rotate_seen(&id, seen, reason, assurance),
        ))
        .await
        .map_err(Stop::from)?;
    // Before the confirming get: whatever happens now, the person has the token. A failure is told below.
    drop(write_token(&rotated, file.as_mut()));
    let done = if rotated.ending == Ending::Rotated {
        session
            .in_flight
            .during(Box::pin(session.operations.confirm(rotated)))
            .await
    } else {
        rotated
    };
    // After the confirming get: a token that it contradicts must not reach the dashboards.
    let handed = handoff::after(session, &done).await;
    let rotation = Rotation {
        handed: handed.as_ref(),
    };
    answer(session, &done, Some(rotation), &token, file.as_mut())
}

fn dry_rotation(session: &Session, id: &UserGroupId, fingerprint: &str) -> Result<Exit, Stop> {
    let url = session.operations.profile().url();
    if session.json {
        print::json(&serde_json::json!({
            "outcome": null,
            "dry_run": true,
            "method": "POST",
            "url": url,
            "user_group_id": id.as_str(),
            "fingerprint": fingerprint,
        }))?;
    } else {
        print::result(&format!(
            "would read \"{id}\", then send one POST {url} with its current token (last seen: {fingerprint})"
        ))?;
    }
    Ok(Exit::Done)
}
