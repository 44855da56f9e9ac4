//! Hides a concern for a day. It reappears after the day, or at once when its state changes.

use std::{collections::HashMap, time::Duration};

use jiff::Timestamp;

use super::{Concern, ConcernKind};
use crate::{
    directory::{DirectoryError, HiddenConcern, PlaceId, RotationId},
    operations::Operations,
};

const DAY: Duration = Duration::from_hours(24);

fn hand_off_key(rotation: RotationId) -> String {
    format!("hand-off/{}", rotation.0)
}

impl ConcernKind {
    /// Identifies what the concern is about, whatever its state.
    fn key(&self) -> String {
        match self {
            Self::Rotation(id, ..) => format!("rotation/{}", id.0),
            Self::Change(id, ..) => format!("change/{}", id.0),
            Self::HandOff { rotation, .. } => hand_off_key(*rotation),
            Self::Batch(batch) => format!("batch/{}", batch.id.0),
            Self::NotDone(batch, _) => format!("not-done/{}", batch.id.0),
            Self::ChangedElsewhere(id) => format!("changed/{id}"),
            Self::Over(..) => "over".into(),
            Self::Due(..) => "due".into(),
            Self::Draft(id, _) => format!("draft/{id}"),
            Self::NoProfile(_) => "no-profile".into(),
        }
    }

    /// Whether the outcome of a change is unknown: such a concern is counted even while it is hidden.
    fn is_unclear(&self) -> bool {
        matches!(self, Self::Rotation(..) | Self::Change(..))
    }
}

impl Concern {
    /// Whether it counts as unfinished or failed work that is not hidden, as opposed to mere ageing. Unknown outcomes
    /// always count.
    pub fn is_counted(&self) -> bool {
        self.kind.is_counted() && (self.hidden_until.is_none() || self.kind.is_unclear())
    }

    /// Describes the state; the concern stays hidden as long as this is unchanged. Ages grow by themselves and are left
    /// out.
    fn state_text(&self) -> String {
        let how = match &self.kind {
            ConcernKind::Rotation(_, state, _) => state.as_str().into(),
            ConcernKind::HandOff { state, exit, .. } => format!("{} {exit:?}", state.as_str()),
            ConcernKind::Batch(batch) => {
                let counts = &batch.counts;
                return format!(
                    "{} left, {} unknown, {} done",
                    counts.not_started,
                    counts.unknown,
                    counts.done()
                );
            }
            ConcernKind::NotDone(_, count)
            | ConcernKind::Over(count, _)
            | ConcernKind::Due(count, _)
            | ConcernKind::NoProfile(count) => {
                return count.to_string();
            }
            ConcernKind::Change(..) | ConcernKind::ChangedElsewhere(_) | ConcernKind::Draft(..) => {
                String::new()
            }
        };
        let since = self.since.map(Timestamp::as_microsecond);
        format!("{how} {}", since.unwrap_or_default())
    }
}

/// The hidden concerns of a place, by [`ConcernKind::key`].
#[derive(Default)]
pub(super) struct Hidden(HashMap<String, HiddenConcern>);

impl Hidden {
    pub(super) async fn of(
        operations: &Operations,
        place: PlaceId,
    ) -> Result<Self, DirectoryError> {
        let now = operations.now();
        let all = operations.directory().hidden_concerns(place).await?;
        let all = all.into_iter().filter(|hidden| hidden.until > now);
        Ok(Self(
            all.map(|hidden| (hidden.concern.clone(), hidden)).collect(),
        ))
    }

    /// Marks the concern as hidden if its state is the one it was hidden with.
    pub(super) fn mark(&self, concern: &mut Concern) {
        if self.0.is_empty() {
            return;
        }
        let hidden = self.0.get(&concern.kind.key());
        let hidden = hidden.filter(|hidden| hidden.state == concern.state_text());
        concern.hidden_until = hidden.map(|hidden| hidden.until);
    }
}

impl Operations {
    /// Hides a concern for a day, for all users of this directory, and returns until when. Nothing is sent.
    pub async fn hide_concern(&self, concern: &Concern) -> Result<Timestamp, DirectoryError> {
        let now = self.now();
        let until = now + DAY;
        let hidden = HiddenConcern {
            concern: concern.kind.key(),
            state: concern.state_text(),
            until,
            by: self.operator().to_owned(),
        };
        let directory = self.directory();
        directory
            .hide_concern(concern.place_id, hidden, now)
            .await?;
        Ok(until)
    }

    /// Shows a hand-off again: it is being repeated, and whoever hid it should see how that ends.
    pub(in crate::operations) async fn unhide_hand_off(
        &self,
        place: PlaceId,
        rotation: RotationId,
    ) -> Result<(), DirectoryError> {
        let key = hand_off_key(rotation);
        self.directory().unhide_concern(place, key).await
    }

    /// Shows a hidden concern again.
    pub async fn unhide_concern(&self, concern: &Concern) -> Result<(), DirectoryError> {
        let directory = self.directory();
        let key = concern.kind.key();
        directory.unhide_concern(concern.place_id, key).await
    }
}
