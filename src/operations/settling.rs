//! Settling rotations whose outcome is open, by what a get returned (rotation.md, rule 2: only a get decides).

use super::{Failure, Operations, rotating::since};
use crate::{
    directory::{DirectoryError, JournalRow, Record, RotationFilter, RotationStep},
    domain::{
        group::UserGroupId,
        history::{Ending, Entry, Operation},
        rotation::{Event, Rotation, State},
        token::Fingerprint,
    },
};

impl Operations {
    /// Tells every open rotation of the group which token the service holds now. Returns the endings that this
    /// settled; a rotation that another process moved on meanwhile is left to it.
    pub(super) async fn settle(
        &self,
        id: &UserGroupId,
        current: Fingerprint,
    ) -> Result<Vec<Ending>, Failure> {
        let filter = RotationFilter {
            profile: Some(self.profile().name.clone()),
            user_group_id: Some(id.clone()),
            open_only: true,
            ..RotationFilter::default()
        };
        let open = self
            .directory()
            .rotations(filter)
            .await
            .map_err(Failure::NotWritten)?;
        let mut settled = Vec::new();
        for row in open {
            if let Some(after) = self.settle_one(&row, current).await? {
                settled.extend(ending(after.state));
            }
        }
        Ok(settled)
    }

    async fn settle_one(
        &self,
        row: &JournalRow,
        current: Fingerprint,
    ) -> Result<Option<Rotation>, Failure> {
        let now = self.now();
        let since_sent = since(row.sent_at.unwrap_or(row.started_at), now);
        let abandoned_by_its_process = matches!(row.rotation.state, State::Intended | State::Sent)
            && since_sent >= self.horizon();
        let mut rotation = row.rotation;
        if abandoned_by_its_process {
            rotation = match self.step(row, rotation, Event::FoundAtStart).await? {
                Some(after) => after,
                None => return Ok(None),
            };
        }
        if matches!(rotation.state, State::Rotated | State::Unknown) {
            let read = Event::Read {
                fingerprint: current,
                since_sent,
            };
            return self.step(row, rotation, read).await;
        }
        Ok((!rotation.state.is_open()).then_some(rotation))
    }

    /// One journalled step; `None` when another process was faster.
    async fn step(
        &self,
        row: &JournalRow,
        before: Rotation,
        event: Event,
    ) -> Result<Option<Rotation>, Failure> {
        let Ok(after) = before.step(event, self.horizon()) else {
            return Ok(None);
        };
        if after == before {
            return Ok(Some(after));
        }
        let record = Record {
            lesson: None,
            entry: self.settling_entry(row, before, after),
            rotation: Some(RotationStep {
                id: row.id,
                from: before.state,
                event,
                after,
                at: self.now(),
                note: None,
            }),
        };
        match self.directory().record(&self.profile().name, record).await {
            Ok(_) => Ok(Some(after)),
            Err(DirectoryError::MovedOn { .. }) => Ok(None),
            Err(error) => Err(Failure::NotWritten(error)),
        }
    }

    /// A settled outcome is history; that it is still open is not.
    fn settling_entry(&self, row: &JournalRow, before: Rotation, after: Rotation) -> Option<Entry> {
        if before.state == after.state {
            return None;
        }
        Some(Entry {
            previous_fingerprint: Some(after.previous),
            fingerprint: after.fingerprint,
            reason: row.reason.clone(),
            note: Some(if after.state == State::Confirmed {
                "read back: the service holds the new token".to_owned()
            } else {
                format!(
                    "the rotation begun by {} is settled by reading the group",
                    row.by
                )
            }),
            ..self.entry(Operation::Rotate, &row.user_group_id, ending(after.state)?)
        })
    }
}

/// The ending of a state in which nothing is left to be found out; `None` while it is open.
fn ending(state: State) -> Option<Ending> {
    match state {
        State::Confirmed => Some(Ending::Confirmed),
        State::Recovered => Some(Ending::Recovered),
        State::NotApplied => Some(Ending::NotApplied),
        State::Superseded => Some(Ending::Superseded),
        State::Conflict => Some(Ending::Conflict),
        State::Intended | State::Sent | State::Rotated | State::Unknown | State::Abandoned => None,
    }
}
