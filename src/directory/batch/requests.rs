//! What is asked of a directory about the scheduled rotation of a place.

use jiff::Timestamp;

use super::{BatchRun, RunId};
use crate::{
    database::Access,
    directory::{Directory, DirectoryError, PlaceId, sqlite::scheduled},
};

impl Directory {
    /// The scheduled rotation of a place whose end was not written down.
    pub async fn scheduled_run(&self, place: PlaceId) -> Result<Option<BatchRun>, DirectoryError> {
        self.ask(Access::Short, move |c| scheduled::stands(c, place))
            .await
    }

    /// Writes down that one begins, unless another one stands there that is not the `gone` one as it was found; whether it did.
    pub async fn begin_scheduled_run(
        &self,
        place: PlaceId,
        run: BatchRun,
        gone: Option<BatchRun>,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| scheduled::take(tx, place, &run, gone.as_ref()))
            .await
    }

    /// Writes down that it is still there, or `ends`; false where another one took its place.
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
