//! Sends requests to the directory's threads and receives their answers.

use tokio::sync::oneshot;

use super::{
    Directory, DirectoryError, Role,
    lanes::{LaneGuard, Subject},
    sql::Fault,
};
use crate::database::{Access, Reply, Tx, Work, once_on_sqlite, repeatable, task};

/// Sends the answer to the caller; the lane is released first, so that the caller finds it free.
struct Answer<T>(oneshot::Sender<Result<T, Fault>>, LaneGuard);

impl<T: Send> Reply<T, Fault> for Answer<T> {
    fn is_awaited(&self) -> bool {
        self.0.is_awaited()
    }

    fn send(self, answer: Result<T, Fault>) {
        drop(self.1);
        Reply::send(self.0, answer);
    }
}

impl Directory {
    /// A write on the directory's thread. On a server it may be executed again from the start, so it must have no
    /// effect outside the database.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, DirectoryError> {
        self.write_about(None, work).await
    }

    /// A write about one subject.
    pub(super) async fn write_about<T: Send + 'static>(
        &self,
        subject: Option<Subject>,
        work: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, DirectoryError> {
        self.write_with(subject, work, repeatable).await
    }

    /// The same for large values, which SQLite's thread moves out instead of copying.
    pub(super) async fn write_large<T: Send + 'static>(
        &self,
        subject: Option<Subject>,
        work: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, DirectoryError> {
        self.write_with(subject, work, once_on_sqlite).await
    }

    async fn write_with<T: Send + 'static, W>(
        &self,
        subject: Option<Subject>,
        work: W,
        task: impl FnOnce(Access, W, Answer<T>) -> Box<dyn Work<Fault>>,
    ) -> Result<T, DirectoryError> {
        self.may(Role::Operator)?;
        let engine = &self.0.engine;
        let (guard, (reply, answer)) = (engine.lane_of(subject), oneshot::channel());
        let lane = guard.lane;
        let work = task(Access::Write, work, Answer(reply, guard));
        engine.execute(lane, work, answer).await
    }

    /// Work that is executed once: a read, or something that cannot be repeated.
    pub(super) async fn execute<T: Send + 'static>(
        &self,
        access: Access,
        work: impl FnOnce(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, DirectoryError> {
        let engine = &self.0.engine;
        let (reply, answer) = oneshot::channel();
        if access == Access::Short {
            return engine.execute(0, task(access, work, reply), answer).await;
        }
        let guard = engine.lane_of(None);
        let work = task(access, work, Answer(reply, guard));
        engine.execute(0, work, answer).await
    }
}
