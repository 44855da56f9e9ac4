//! Hands new tokens off: right after a rotation, and later when that failed or was interrupted. It rotates nothing.

use super::prelude::*;
use crate::{
    cli::{
        input::selection,
        output::json::{HAND_OFF, hand_off},
    },
    domain::{self, handoff::HandOffState},
    operations::{HandedOff, InHand, RotationId, RotationRow},
};

/// Deliver new tokens whose hand-off is pending or failed
#[derive(Debug, Args)]
#[command(
    after_help = "Reads each token again and passes it to the command of the profile.\n\nExit codes: 0 all handed off, 6 \
              some were not, also if failed ones were skipped.\n\nA hand-off belongs to the profile that started the rotation. Hand-offs of other profiles of the same environment, and those that another process \
              may be running, are only listed. To run one of another profile here, pass its number."
)]
pub(crate) struct HandOff {
    /// Numbers of rotations, in any state of their hand-off
    #[arg(value_name = "NUMBER", value_parser = rotation_number, conflicts_with_all = ["pending", "failed"])]
    ids: Vec<i64>,
    /// Run pending and interrupted hand-offs (the default)
    #[arg(long)]
    pending: bool,
    /// Run failed hand-offs; with --pending, both
    #[arg(long)]
    failed: bool,
}

pub(super) fn rotation_number(text: &str) -> Result<i64, &'static str> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or("expected the number of a rotation, as `groupdesk rotations` lists it")
}

pub(crate) async fn run(session: &Session, which: HandOff) -> Result<Exit, CliError> {
    session.operations.permitted(Guarded::HandOff)?;
    session.refuse_unknown_key().await?;
    let Chosen {
        ids,
        elsewhere,
        in_progress,
        failed,
    } = chosen(session, which).await?;
    if !ids.is_empty() {
        session.say_where();
    } else if elsewhere.is_empty() && in_progress.is_empty() && failed.is_empty() {
        output::say("no hand-offs are pending");
    }
    let mut results = Vec::new();
    if !failed.is_empty() {
        output::alarm(&format!(
            "! {} skipped. To run {} again: groupdesk rotations handoff --failed",
            match failed.len() {
                1 => "1 failed hand-off was".to_owned(),
                count => format!("{count} failed hand-offs were"),
            },
            if failed.len() == 1 { "it" } else { "them" }
        ));
    }
    results.extend(failed.iter().map(|row| left_alone(row, None, None)));
    for (row, in_hand) in &in_progress {
        let id = &row.user_group_id;
        output::alarm(&format!(
            "! \"{id}\" not handed off a second time: {in_hand}"
        ));
        results.push(left_alone(row, None, Some(&in_hand.by)));
    }
    for row in &elsewhere {
        say_elsewhere(session, row);
        results.push(left_alone(row, Some(&row.profile), None));
    }
    let is_begun_here = |row: &RotationRow| session.operations.is_begun_here(row);
    let mut all_done = !failed.iter().any(is_begun_here);
    for id in ids {
        let running = Box::pin(session.operations.hand_off_again(id));
        let result = match session.in_flight.during(running).await {
            Ok(handed) => {
                output::note_change();
                say(session, &handed);
                all_done &= handed.is_done();
                let told = (&handed.user_group_id, &handed.handoff);
                delivery(id, Ok(told), Some(&handed), None, None)
            }
            Err(failure) => {
                output::alarm(&format!("x rotation {}: {failure}", id.0));
                all_done = false;
                delivery(id, Err(&failure), None, None, None)
            }
        };
        results.push(result);
    }
    if session.json {
        output::json(&results)?;
    }
    // What a colleague hands off is not left to this person; what a process of this person may have left is.
    let is_own = |(_, in_hand): &(RotationRow, InHand)| in_hand.by == session.operations.operator();
    all_done &= !in_progress.iter().any(is_own);
    Ok(Exit::all(all_done))
}

/// The hand-offs to do, oldest first, and those that are left to others.
#[derive(Default)]
struct Chosen {
    ids: Vec<RotationId>,
    /// Of other profiles.
    elsewhere: Vec<RotationRow>,
    /// What other processes may have in hand.
    in_progress: Vec<(RotationRow, InHand)>,
    /// Failed ones, which are only run again if somebody asks for that.
    failed: Vec<RotationRow>,
}

async fn chosen(session: &Session, which: HandOff) -> Result<Chosen, CliError> {
    let operations = &session.operations;
    let mut chosen = Chosen::default();
    if !which.ids.is_empty() {
        selection::rotations(session, &which.ids).await?;
        chosen.ids = which.ids.into_iter().map(RotationId).collect();
        return Ok(chosen);
    }
    let mut rows = Vec::new();
    if which.pending || !which.failed {
        rows.extend(operations.hand_offs(HandOffState::Pending).await?);
    }
    let failed = operations.hand_offs(HandOffState::Failed).await?;
    if which.failed {
        rows.extend(failed);
    } else {
        chosen.failed = failed;
    }
    rows.sort_unstable_by_key(|row| row.id);
    for row in rows {
        if let Some(in_hand) = operations.in_hand_elsewhere_for(&row) {
            chosen.in_progress.push((row, in_hand));
        } else if operations.is_begun_here(&row) {
            chosen.ids.push(row.id);
        } else {
            chosen.elsewhere.push(row);
        }
    }
    Ok(chosen)
}

/// A hand-off that is not tried here.
fn left_alone(row: &RotationRow, due_in: Option<&str>, in_progress_by: Option<&str>) -> Object {
    let told = Ok((&row.user_group_id, &row.handoff));
    delivery(row.id, told, None, due_in, in_progress_by)
}

fn say_elsewhere(session: &Session, row: &RotationRow) {
    let (id, profile) = (row.id.0, visible(&row.profile));
    output::alarm(&format!(
        "! the new token of \"{}\" waits for its hand-off in profile {profile}. To run it there: groupdesk --profile {profile} \
         rotations handoff. To run it here: groupdesk --profile {} rotations handoff {id}",
        row.user_group_id,
        session.operations.profile().name
    ));
}

/// Hands off the token of a rotation that just ended, if the profile says how.
pub(crate) async fn after(session: &Session, done: &Done) -> Option<HandedOff> {
    let command = session.operations.profile().handoff.as_ref()?;
    if session.operations.permitted(Guarded::HandOff).is_ok() {
        output::say(&format!("handing the new token to {command}"));
    }
    let running = Box::pin(session.operations.hand_off(done));
    session.in_flight.during(running).await
}

/// When a hand-off can be tried again: not while a guard forbids it.
pub(super) fn when_to_retry(session: &Session) -> &'static str {
    match session.operations.permitted(Guarded::HandOff) {
        Ok(()) => "to retry",
        Err(_) => "once its guard is removed",
    }
}

/// Prints one line for the person. A token that was not delivered is hard to overlook.
pub(crate) fn say(session: &Session, handed: &HandedOff) {
    let (user_group_id, handoff) = (&handed.user_group_id, &handed.handoff);
    let (exit, note) = handoff.in_words();
    let again = format!(
        "{}, run `groupdesk rotations handoff {}`",
        when_to_retry(session),
        handed.rotation.0
    );
    match handoff.state {
        HandOffState::Done => output::say(&format!("\"{user_group_id}\" handed off{note}")),
        HandOffState::None | HandOffState::Pending => output::alarm(&format!(
            "x NOT HANDED OFF: the new token of \"{user_group_id}\" waits{note}; {again}"
        )),
        HandOffState::Failed if handoff.is_late() => output::alarm(&format!(
            "x HANDED OFF TOO LATE: the token of \"{user_group_id}\"{note}"
        )),
        HandOffState::Failed => output::alarm(&format!(
            "x HAND-OFF FAILED{exit}: the new token of \"{user_group_id}\" was not delivered{note}; {again}"
        )),
    }
}

shape! {
    pub(crate) DELIVERY = "hand-off", "a new token that was handed off again";
    fn delivery(
        id: RotationId,
        tried: Result<(&UserGroupId, &domain::handoff::HandOff), &Failure>,
        here: Option<&HandedOff>,
        due_in: Option<&str>,
        in_progress_by: Option<&str>,
    ) {
        "rotation": number = id.0, "number of the rotation";
        maybe "user_group_id": text = tried.ok().map(|(group, _)| group.as_str()), "the group; missing with error";
        maybe "fingerprint": text or "unknown" = here.map(|handed| handed.fingerprint), "fingerprint of the token; missing with error, due_in and in_progress_by";
        maybe "due_in": text = due_in, "the profile that started it, which hands it off; only present if it is another profile";
        maybe "in_progress_by": text = in_progress_by, "who is handing its token off now, or may be; only present in that case";
        maybe "handoff": {HAND_OFF} = tried.ok().map(|(_, handoff)| hand_off(handoff)), "the result; missing with error";
        maybe "error": text = tried.err(), "why the hand-off was not tried; only present in that case";
    }
}
