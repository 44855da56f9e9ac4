//! Passes a new token to the profile's hand-off command (docs/design/rotation.md, "Hand-off"). `pending` is durable
//! together with the rotation, before the command runs; the result is recorded afterwards. A token that a read
//! contradicts is never handed off.

mod command;
mod scrub;

use std::{cmp::Reverse, ffi::OsStr};

use super::{
    at_work::{Running, hand_off_window, hands_off},
    prelude::*,
};
use crate::{
    config::HandOffCommand,
    directory::{HandOffStep, HandOffTaker, RotationFilter},
    domain::handoff::HandOff,
    platform::child,
};

/// The state of a hand-off after an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedOff {
    pub rotation: RotationId,
    pub user_group_id: UserGroupId,
    /// Fingerprint of the token that was handed off: the group's current one.
    pub fingerprint: Option<Fingerprint>,
    /// Pending if the command was not run or its result could not be recorded; the note says why.
    pub handoff: HandOff,
}

impl HandedOff {
    /// Whether the token was handed off and that is recorded.
    pub fn is_done(&self) -> bool {
        self.handoff.state == HandOffState::Done
    }
}

/// The command took its token, but only after a later rotation: what it wrote may have replaced the newer token.
const DELIVERED_LATE: &str = "delivered, but a later rotation has since replaced the token, and your dashboards may have the older one. To hand off \
                              the newest token, run `groupdesk rotations handoff`";
const OVERTAKEN: &str =
    "a later rotation overtook it. To hand off the newest token, run `groupdesk rotations handoff`";

/// What a colleague began to hand off less than this ago, by the directory's own clock, is not handed off again once it is
/// done.
const JUST_HANDED_OFF: Duration = Duration::from_mins(1);

/// A token to hand off, and the rotation it belongs to.
struct HandOffRequest<'a> {
    row: &'a RotationRow,
    group: &'a KnownGroup,
    token: &'a Token,
}

/// Why the hand-off command cannot be started with these variables.
pub fn hand_off_cannot_start(
    command: &HandOffCommand,
    variables: &[(&OsStr, &OsStr)],
) -> Option<String> {
    let error = child::can_start(&command.command, variables).err()?;
    Some(format!(
        "the hand-off command {command} cannot be run ({error}), so a new token would not be delivered. Correct `handoff` \
         of the profile in the configuration file"
    ))
}

/// The command was not run.
fn not_handed_off(why: impl fmt::Display) -> Failure {
    Failure::usage(format!(
        "not handed off, and the command was not run: {why}"
    ))
}

impl Operations {
    /// Whether the rotation was started under this profile: only then is its hand-off run here automatically.
    pub fn is_begun_here(&self, row: &RotationRow) -> bool {
        row.profile == self.profile().name
    }

    /// Whether the new token of a rotation is to be handed off, by this profile or by the one that began it. A profile of
    /// that name may also be that of a colleague, without a hand-off.
    pub(super) fn hands_off(&self, row: &RotationRow) -> bool {
        row.hands_off || self.is_begun_here(row) && self.profile().handoff.is_some()
    }

    /// Returns the rotations of this place whose new token waits for its hand-off, most recently started first. Those
    /// that another profile began are left to that profile; those that another process may have in hand are left out.
    pub async fn pending_hand_offs(&self) -> Result<Vec<RotationRow>, DirectoryError> {
        let mut rows = self.hand_offs(HandOffState::Pending).await?;
        rows.retain(|row| self.in_hand_elsewhere_for(row).is_none());
        Ok(rows)
    }

    /// The same, and those whose hand-off failed: all new tokens that have not arrived. Those that this process is about to
    /// hand off itself are left out as well.
    pub async fn due_hand_offs(&self) -> Result<Vec<RotationRow>, DirectoryError> {
        let mut rows = self.pending_hand_offs().await?;
        let is_at_work = |row: &RotationRow| self.directory().is_at_work(row.id);
        rows.retain(|row| !is_at_work(row) || self.in_hand_for(row).is_none());
        rows.extend(self.hand_offs(HandOffState::Failed).await?);
        rows.sort_unstable_by_key(|row| Reverse(row.id));
        Ok(rows)
    }

    /// Returns the rotations of this place whose hand-off is in this state, most recently started first.
    pub async fn hand_offs(&self, state: HandOffState) -> Result<Vec<RotationRow>, DirectoryError> {
        self.hand_offs_of(self.place().await?, state).await
    }

    pub(super) async fn hand_offs_of(
        &self,
        place: PlaceId,
        state: HandOffState,
    ) -> Result<Vec<RotationRow>, DirectoryError> {
        let filter = RotationFilter {
            place: Some(place),
            handoff: Some(state),
            ..RotationFilter::default()
        };
        self.directory().rotations(filter).await
    }

    /// Hands off the token of a rotation that has just been done; `None` if there is nothing to hand off.
    ///
    /// Call it after [`Operations::confirm`]: a read that failed delays nothing, but a token that a read contradicts
    /// stays pending. Runs the command of the profile, for its time limit at most.
    pub async fn hand_off(&self, done: &Done) -> Option<HandedOff> {
        let handed = Box::pin(self.hand_off_once(done)).await;
        if let Some(id) = done.rotation {
            self.directory().note_at_work(id, false);
        }
        handed
    }

    async fn hand_off_once(&self, done: &Done) -> Option<HandedOff> {
        let command = self.profile().handoff.as_ref()?;
        let id = done.rotation?;
        if let Err(forbidden) = self.permitted(Guarded::HandOff) {
            // The new token stays pending, as after a crash; an operator who is allowed to can hand it off.
            let why = forbidden.to_string();
            // The rotation was sent.
            let why = why.replace("nothing was sent", "the command was not run");
            return Some(pending(id, &done.group.id, why));
        }
        let row = match self.directory().rotation(id).await {
            Ok(row) => row
                .filter(|row| self.is_begun_here(row) && row.handoff.state != HandOffState::None)?,
            Err(error) => {
                let why = format!("the rotations cannot be read: {error}");
                return Some(pending(id, &done.group.id, why));
            }
        };
        if let Some(why) = self.in_hand_elsewhere_for(&row) {
            return Some(pending(id, &done.group.id, why.to_string()));
        }
        if row.handoff.state == HandOffState::Done {
            // By somebody who did not wait.
            return Some(HandedOff {
                handoff: row.handoff,
                ..pending(id, &done.group.id, String::new())
            });
        }
        let is_contradicted = done.ending == Ending::Rotated
            && (done.has_alarm() || done.warnings.contains(&Warning::StaleAnswer));
        let why = match done.token() {
            None if done.withholds_token() => {
                "reading it back raised an alarm; check the group first"
            }
            _ if is_contradicted => {
                "reading it back did not return the new token; check the group first"
            }
            None => "the current token is not known; read the group again",
            Some(token) => {
                let request = HandOffRequest {
                    row: &row,
                    group: &done.group,
                    token,
                };
                match self.take(&row, None).await {
                    Ok(running) => {
                        return Some(self.run_hand_off(command, request, running).await);
                    }
                    Err(why) => return Some(pending(id, &row.user_group_id, why)),
                }
            }
        };
        Some(pending(id, &row.user_group_id, why.into()))
    }

    /// Refuses what another run may be handing off, and what a colleague has just handed off.
    fn not_in_hand_elsewhere(&self, row: &RotationRow) -> Result<(), Failure> {
        if let Some(in_hand) = self.in_hand_elsewhere_for(row) {
            return Err(not_handed_off(in_hand));
        }
        let of_others = row
            .taker
            .as_ref()
            .filter(|taker| taker.by != self.operator() && row.handoff.state == HandOffState::Done);
        let ago = of_others.and_then(HandOffTaker::ago);
        if let Some((taker, left)) =
            of_others.zip(ago.and_then(|ago| JUST_HANDED_OFF.checked_sub(ago)))
        {
            return Err(not_handed_off(format!(
                "{}. To repeat it, try again in {} s",
                taken_by(taker),
                left.as_secs() + 1
            )));
        }
        Ok(())
    }

    /// Takes the hand-off of a rotation as it was read; the error is why it could not be taken, as text.
    async fn take(&self, row: &RotationRow, moved_to: Option<String>) -> Result<Running, String> {
        let running = Running::begin();
        let taker = HandOffTaker {
            run: running.id(),
            by: self.operator().to_owned(),
            process: process::this().map(str::to_owned),
            limit: hand_off_window(self.profile()),
            at: self.now(),
            boot_clock: None,
        };
        let taken = self
            .directory()
            .take_hand_off(row.clone(), taker, moved_to)
            .await;
        let now = match taken {
            Ok(None) => return Ok(running),
            Ok(Some(now)) => now,
            Err(error) => return Err(error.to_string()),
        };
        Err(match (self.in_hand_for(&now), &now.taker) {
            _ if now.handoff.state == HandOffState::None => OVERTAKEN.into(),
            (Some(in_hand), _) => in_hand.to_string(),
            (None, Some(taker)) => taken_by(taker),
            (None, None) => OVERTAKEN.into(),
        })
    }

    /// Hands off again, or for the first time after a crash: the token is read from the service again, and the current
    /// one is handed off, whoever made it. Nothing is rotated. From then on the hand-off belongs to this profile. Refused
    /// while another process may have it in hand.
    pub async fn hand_off_again(&self, id: RotationId) -> Result<HandedOff, Failure> {
        self.permitted(Guarded::HandOff)?;
        let Some(command) = &self.profile().handoff else {
            return Err(not_handed_off(
                "the profile has no handoff; add one in the configuration",
            ));
        };
        let row = self.rotation_here(id).await?;
        let row =
            row.ok_or_else(|| not_handed_off("this profile has no rotation with that number"))?;
        self.not_in_hand_elsewhere(&row)?;
        let group = row.user_group_id;
        let read = self.look_up(&group, UnknownIdPolicy::KnownOnly).await?;
        if let Some(alarm) = read.warnings.iter().find(|warning| warning.is_alarm()) {
            return Err(Failure::HandOffAlarm(alarm.clone()));
        }
        let Some(token) = read.token() else {
            return Err(not_handed_off(Warning::StaleAnswer));
        };
        // The read may have settled the rotation.
        let row = self.rotation_here(id).await?;
        let row = row.ok_or_else(|| not_handed_off("the rotation no longer exists"))?;
        // Or its process has rotated meanwhile, and hands off now.
        self.not_in_hand_elsewhere(&row)?;
        let current = self.directory().fingerprinter().of(token);
        let state = row.rotation.state;
        if !state.has_new_token() {
            let state = state.as_str().replace('_', " ");
            return Err(not_handed_off(format!("the rotation is {state}")));
        }
        if current == row.rotation.previous {
            return Err(not_handed_off("the service still has the old token"));
        }
        let here = Some(self.profile().name.clone());
        let running = self.take(&row, here).await.map_err(not_handed_off)?;
        let request = HandOffRequest {
            row: &row,
            group: &read.group,
            token,
        };
        Ok(self.run_hand_off(command, request, running).await)
    }

    async fn rotation_here(&self, id: RotationId) -> Result<Option<RotationRow>, Failure> {
        let place = self.place().await.map_err(not_handed_off)?;
        let row = self.directory().rotation(id).await;
        let row = row.map_err(not_handed_off)?;
        Ok(row.filter(|row| row.place == place))
    }

    async fn run_hand_off(
        &self,
        command: &HandOffCommand,
        request: HandOffRequest<'_>,
        running: Running,
    ) -> HandedOff {
        let HandOffRequest { row, group, token } = request;
        let fingerprint = self.directory().fingerprinter().of(token);
        let message = command::message(&self.profile().name, row, group, token, fingerprint);
        let variables = self.variables_for_commands();
        let handoff = command::run(command, variables, &message, token).await;
        let overtaken = HandOff {
            state: HandOffState::Failed,
            note: Some(match handoff.state {
                HandOffState::Done => DELIVERED_LATE.into(),
                _ => OVERTAKEN.into(),
            }),
            ..handoff
        };
        let entry = |handoff: &HandOff| self.hand_off_entry(command, row, fingerprint, handoff);
        let (done, late) = (entry(&handoff), entry(&overtaken));
        let written =
            self.directory()
                .end_hand_off((row.id, running.id()), handoff.clone(), done, late);
        let handoff = match written.await {
            Ok(Some(recorded)) => recorded,
            Ok(None) => overtaken,
            Err(error) => {
                let ended = handoff.note.as_deref().unwrap_or("the hand-off succeeded");
                HandOff {
                    state: HandOffState::Pending,
                    note: Some(format!(
                        "{ended}; the result could not be recorded: {error}"
                    )),
                    ..handoff
                }
            }
        };
        HandedOff {
            rotation: row.id,
            user_group_id: row.user_group_id.clone(),
            fingerprint: Some(fingerprint),
            handoff,
        }
    }

    /// Refuses a rotation if the hand-off command of the profile cannot be started: the new token would stay behind.
    pub fn can_hand_off(&self) -> Result<(), Failure> {
        let command = self.profile().handoff.as_ref();
        let why = command
            .and_then(|command| hand_off_cannot_start(command, &self.variables_for_commands()));
        why.map_or(Ok(()), |why| {
            Err(Failure::usage(format!("{why}; nothing was sent")))
        })
    }

    /// The environment variables for commands: those of this process without the API keys of any profile.
    pub fn variables_for_commands(&self) -> Vec<(&OsStr, &OsStr)> {
        self.0.environment.for_commands()
    }

    fn hand_off_entry(
        &self,
        command: &HandOffCommand,
        row: &RotationRow,
        fingerprint: Fingerprint,
        handoff: &HandOff,
    ) -> Entry {
        let ending = match handoff.state {
            HandOffState::Done => Ending::HandedOff,
            HandOffState::None | HandOffState::Pending | HandOffState::Failed => {
                Ending::NotHandedOff
            }
        };
        let note = match &handoff.note {
            Some(note) => format!("{command}: {note}"),
            None => format!("to {command}"),
        };
        Entry {
            previous_fingerprint: Some(row.rotation.previous),
            fingerprint: Some(fingerprint),
            reason: row.reason.clone(),
            note: Some(note),
            ..self.entry(Operation::HandOff, &row.user_group_id, ending)
        }
    }
}

/// How the hand-off changes with a step of a rotation; to be written in the same transaction.
pub(super) fn hand_off_after(
    id: RotationId,
    hands_off: bool,
    before: State,
    after: State,
) -> Option<HandOffStep> {
    let after = match after {
        State::Rotated | State::Recovered if hands_off && before != after => HandOff::pending(),
        // The token it would hand off is in doubt.
        State::Conflict if before == State::Rotated => HandOff::default(),
        _ => return None,
    };
    Some(HandOffStep { id, after })
}

/// Who has taken a hand-off, and when.
fn taken_by(taker: &HandOffTaker) -> String {
    let by = visible(&taker.by);
    match taker.ago() {
        Some(ago) => hands_off(&by, ago),
        None => format!("{by} has started to hand it off"),
    }
}

fn pending(rotation: RotationId, id: &UserGroupId, why: String) -> HandedOff {
    HandedOff {
        rotation,
        user_group_id: id.clone(),
        fingerprint: None,
        handoff: HandOff {
            note: Some(why),
            ..HandOff::pending()
        },
    }
}
