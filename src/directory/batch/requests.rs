//! Requests about the options of a batch, the scheduled rotation of a place, and about what its batches left undone.

use jiff::Timestamp;

use super::{BatchId, BatchOptions, BatchRun, RunId};
use crate::{
    database::Access,
    directory::{
        Directory, DirectoryError, PlaceId,
        sqlite::{batches, scheduled},
    },
    domain::group::UserGroupId,
};

impl Directory {
    /// Returns what the command of a batch was told about how to run it.
    pub async fn batch_options(
        &self,
        place: PlaceId,
        id: BatchId,
    ) -> Result<BatchOptions, DirectoryError> {
        self.execute(Access::Short, move |c| batches::options(c, place, id))
            .await
    }

    /// Returns the groups that ended batches of this place did not change and no later batch of the same kind took,
    /// each with its batch, the newest batch first.
    pub async fn failed_items(
        &self,
        place: PlaceId,
    ) -> Result<Vec<(BatchId, UserGroupId)>, DirectoryError> {
        self.execute(Access::Long, move |c| batches::failed(c, place))
            .await
    }

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
