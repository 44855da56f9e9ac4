//! Rotations that a process left open (docs/design/rotation.md): found, ended if nothing was sent, or closed by a person.

use super::settle::{Evidence, OpenBeforeGet};
use crate::{
    directory::{Noted, RotationFilter, RotationStep},
    domain::{operation_record::SETTLED, rotation::Event},
    operations::prelude::*,
};

/// Maximum number of gets per group: the old token must be read twice (docs/design/rotation.md, "The states").
pub(crate) const READS: usize = 2;

/// What became of an open rotation.
#[derive(Debug, Clone)]
pub enum Recovered {
    /// Nothing is left to be found out; the row as it stands now.
    Settled(RotationRow),
    /// Settled as a conflict: the read raised this alarm.
    Alarmed(RotationRow, Warning),
    Open(StillOpen),
}

/// A rotation that could not be settled yet.
#[derive(Debug, Clone)]
pub struct StillOpen {
    pub row: RotationRow,
    /// The reason, as text.
    pub why: String,
    /// When another read can settle it; `None` if waiting alone does not help.
    pub again_in: Option<Duration>,
}

impl Recovered {
    pub fn row(&self) -> &RotationRow {
        match self {
            Self::Settled(row) | Self::Alarmed(row, _) => row,
            Self::Open(open) => &open.row,
        }
    }
}

impl Operations {
    /// Returns the rotations of this place, most recently started first.
    pub async fn rotations(&self) -> Result<Vec<RotationRow>, DirectoryError> {
        let filter = RotationFilter {
            place: Some(self.place().await?),
            ..RotationFilter::default()
        };
        self.directory().rotations(filter).await
    }

    /// Returns one rotation of this place.
    pub async fn rotation(&self, id: RotationId) -> Result<RotationRow, Failure> {
        let place = self.place().await.map_err(Failure::NothingSent)?;
        let row = self.directory().rotation(id).await;
        row.map_err(Failure::NothingSent)?
            .filter(|row| row.place == place)
            .ok_or(Failure::NoRotation { id })
    }

    /// Ends orphaned rotations. One left before sending: nothing was sent, no get is needed. One left after sending:
    /// unknown from now on.
    pub(crate) async fn expire_orphaned_rotations(
        &self,
        rows: Vec<RotationRow>,
    ) -> Result<Vec<RotationRow>, DirectoryError> {
        let mut is_any = false;
        for row in &rows {
            let open_before = OpenBeforeGet {
                open: vec![row.clone()],
                mutations: Vec::new(),
                noted: Noted::default(),
                at: self.moment(),
                written: None,
            };
            let settled = self.plan_settlement(&open_before, &Evidence::Nothing);
            if settled.steps.is_empty() {
                continue;
            }
            is_any = true;
            match self.directory().record_all(row.place, settled.steps).await {
                // Another process has advanced it already.
                Ok(_) | Err(DirectoryError::MovedOn { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if is_any {
            return self.reload_rows(rows).await;
        }
        Ok(rows)
    }

    pub(super) async fn reload_rows(
        &self,
        rows: Vec<RotationRow>,
    ) -> Result<Vec<RotationRow>, DirectoryError> {
        let mut now = Vec::with_capacity(rows.len());
        for row in rows {
            let read = self.directory().rotation(row.id).await?;
            now.push(read.unwrap_or(row));
        }
        Ok(now)
    }

    /// Whether a get can decide anything about it now.
    pub(super) fn is_due(&self, row: &RotationRow, is_first: bool) -> bool {
        match row.rotation.state {
            State::Unknown if !is_first => self.settle_window_left(row).is_none(),
            State::Rotated | State::Unknown => is_first,
            _ => false,
        }
    }

    /// The rest of the settle window.
    pub(crate) fn settle_window_left(&self, row: &RotationRow) -> Option<Duration> {
        let since = self.since_sent(row, &self.moment());
        let window = self.settle_window_of(row.settles_in);
        let left = window.saturating_sub(since);
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn recovery_result(
        &self,
        row: RotationRow,
        why: Option<&str>,
        alarm: Option<&Warning>,
    ) -> Recovered {
        if !row.rotation.state.is_open() {
            let alarm = alarm.filter(|_| row.rotation.state == State::Conflict);
            return match alarm {
                Some(alarm) => Recovered::Alarmed(row, alarm.clone()),
                None => Recovered::Settled(row),
            };
        }
        let again_in = self.settle_window_left(&row);
        let why = why.map_or_else(|| waiting(&row), str::to_owned);
        Recovered::Open(StillOpen { row, why, again_in })
    }

    /// Closes an open rotation without settling it; the operator says why. Nothing is sent, and its token may be
    /// rotated again.
    ///
    /// Refused while its process may still be working on it, or its request may still take effect.
    pub async fn abandon(&self, id: RotationId, reason: &str) -> Result<RotationRow, Failure> {
        self.permitted(Guarded::Abandon)?;
        let reason = self.checked_reason(reason).await?;
        self.may_record().await?;
        let row = self.rotation(id).await?;
        let before = row.rotation;
        let after = before
            .step(Event::Abandon, self.settle_window())
            .map_err(|_| {
                Failure::guarded(format!(
                    "rotation {} is {}: there is nothing to abandon, and nothing was changed",
                    id.0,
                    before.state.as_str().replace('_', " ")
                ))
            })?;
        let may_take_effect = match before.state {
            State::Intended | State::Sent => true,
            State::Unknown => !before.refused,
            _ => false,
        };
        if let Some(wait) = self.settle_window_left(&row).filter(|_| may_take_effect) {
            return Err(Failure::guarded(format!(
                "rotation {} was started by {} a moment ago and may still take effect; nothing was changed. Try again in {} s",
                id.0,
                row.by,
                wait.as_secs() + 1
            )));
        }
        let was = format!("{SETTLED} {}; it was {}", row.by, before.state.as_str());
        let record = Record {
            entry: Some(Entry {
                previous_fingerprint: Some(after.previous),
                fingerprint: after.fingerprint,
                reason: Some(reason.clone()),
                note: Some(was),
                ..self.entry(Operation::Rotate, &row.user_group_id, Ending::Abandoned)
            }),
            rotation: Some(RotationStep {
                id,
                from: before.state,
                event: Event::Abandon,
                after,
                at: self.now(),
                note: Some(format!("abandoned by {}: {reason}", self.operator())),
                written: false,
            }),
            ..Record::default()
        };
        let written = self.directory().record(row.place, record).await;
        written.map_err(Failure::NothingSent)?;
        self.rotation(id).await
    }
}

fn waiting(row: &RotationRow) -> String {
    match row.rotation.state {
        State::Intended | State::Sent => format!(
            "started by {} a moment ago: it may still be running",
            row.by
        ),
        _ => "the service still has the old token, and the request may still take effect".into(),
    }
}
