//! Putting aside for a day what waits. It is back after the day, and at once where it stands otherwise by then.

use std::{collections::HashMap, time::Duration};

use jiff::Timestamp;

use super::{Concern, Matter};
use crate::{
    directory::{DirectoryError, HiddenConcern, PlaceId, RotationId},
    operations::Operations,
};

const DAY: Duration = Duration::from_hours(24);

fn hand_off(rotation: RotationId) -> String {
    format!("hand-off/{}", rotation.0)
}

impl Matter {
    /// What it is about, the same however it stands.
    fn key(&self) -> String {
        match self {
            Self::Rotation(id, ..) => format!("rotation/{}", id.0),
            Self::Change(id, ..) => format!("change/{}", id.0),
            Self::HandOff { rotation, .. } => hand_off(*rotation),
            Self::Batch(batch) => format!("batch/{}", batch.id.0),
            Self::ChangedElsewhere(id) => format!("changed/{id}"),
            Self::Over(..) => "over".into(),
            Self::Due(..) => "due".into(),
            Self::Draft(id, _) => format!("draft/{id}"),
            Self::NoProfile(_) => "no-profile".into(),
        }
    }

    /// Nobody knows yet what came of a change: that is counted also while it is not shown.
    fn is_unclear(&self) -> bool {
        matches!(self, Self::Rotation(..) | Self::Change(..))
    }
}

impl Concern {
    /// Unfinished or failed work that was not put aside, as opposed to what only grows old. What is unclear counts always.
    pub fn is_counted(&self) -> bool {
        self.matter.is_counted() && (self.hidden_until.is_none() || self.matter.is_unclear())
    }

    /// How it stands; as long as it is the same it may be put aside. Ages grow by themselves and are no part of it.
    fn stands(&self) -> String {
        let how = match &self.matter {
            Matter::Rotation(_, state, _) => state.as_str().into(),
            Matter::HandOff { state, exit, .. } => format!("{} {exit:?}", state.as_str()),
            Matter::Batch(batch) => {
                let counts = &batch.counts;
                return format!(
                    "{} left, {} unknown, {} done",
                    counts.not_started,
                    counts.unknown,
                    counts.done()
                );
            }
            Matter::Over(count, _) | Matter::Due(count, _) | Matter::NoProfile(count) => {
                return count.to_string();
            }
            Matter::Change(..) | Matter::ChangedElsewhere(_) | Matter::Draft(..) => String::new(),
        };
        let since = self.since.map(Timestamp::as_microsecond);
        format!("{how} {}", since.unwrap_or_default())
    }
}

/// What is put aside in a place, by what it is about.
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

    /// Marks what is put aside and still stands as it did.
    pub(super) fn mark(&self, concern: &mut Concern) {
        if self.0.is_empty() {
            return;
        }
        let hidden = self.0.get(&concern.matter.key());
        let hidden = hidden.filter(|hidden| hidden.stands == concern.stands());
        concern.hidden_until = hidden.map(|hidden| hidden.until);
    }
}

impl Operations {
    /// Puts something that waits aside for a day, for all who use this directory; until when. Nothing is sent.
    pub async fn hide_concern(&self, concern: &Concern) -> Result<Timestamp, DirectoryError> {
        let now = self.now();
        let until = now + DAY;
        let hidden = HiddenConcern {
            concern: concern.matter.key(),
            stands: concern.stands(),
            until,
            by: self.operator().to_owned(),
        };
        let directory = self.directory();
        directory.hide_concern(concern.held_by, hidden, now).await?;
        Ok(until)
    }

    /// Shows a hand-off again: it is run once more, and whoever put it aside is to see how that ends.
    pub(in crate::operations) async fn unhide_hand_off(
        &self,
        place: PlaceId,
        rotation: RotationId,
    ) -> Result<(), DirectoryError> {
        let key = hand_off(rotation);
        self.directory().unhide_concern(place, key).await
    }

    /// Shows it again.
    pub async fn unhide_concern(&self, concern: &Concern) -> Result<(), DirectoryError> {
        let directory = self.directory();
        let key = concern.matter.key();
        directory.unhide_concern(concern.held_by, key).await
    }
}
