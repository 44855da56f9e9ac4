//! Requests about the scheduled rotation of a place.

use jiff::Timestamp;

use super::{BatchRun, RunId};
use crate::{
    database::Access,
    directory::{Directory, DirectoryError, PlaceId, sqlite::scheduled},
};

impl Directory {
    /// Returns the scheduled rotation of a place whose end was not recorded, if any.
    pub async fn scheduled_run(&self, place: PlaceId) -> Result<Option<BatchRun>, DirectoryError> {
        self.execute(Access::Short, move |c| scheduled::current(c, place))
            .await
    }

    /// Records that a scheduled rotation begins, unless another one is recorded (other than the unchanged `gone` one).
    /// Returns whether it was recorded.
    pub async fn begin_scheduled_run(
        &self,
        place: PlaceId,
        run: BatchRun,
        gone: Option<BatchRun>,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| scheduled::take(tx, place, &run, gone.as_ref()))
            .await
    }

    /// Records a heartbeat, or the end if `ends` is set. Returns false if another run has taken over.
    pub async fn beat_scheduled_run(
        &self,
        run: (PlaceId, RunId),
        at: Timestamp,
        ends: bool,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| scheduled::beat(tx, run, at, ends))
            .await
    }
}
