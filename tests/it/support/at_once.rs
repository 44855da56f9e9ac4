//! What tests want at once; groupdesk's commands take it in steps, and show something in between.

use std::sync::{Arc, Mutex};

use groupdesk::{
    demo::{DemoError, EmptyWorld, Setup, World},
    directory::{BatchId, BatchOptions, BatchRun, Directory, DirectoryError, PlaceId, RunId},
    domain::{
        batch::Plan, change::DesiredFields, group::UserGroupId, known::KnownGroup, update::Edit,
    },
    operations::{
        Clock, Done, Failure, Operations, UnknownIdPolicy,
        batch::{BatchEvent, Ended, Report, Run, RunLimits},
    },
};
use jiff::Timestamp;

pub(crate) trait AllGroups {
    /// Every group that the directory knows in a place, ordered by id.
    async fn groups(&self, place: PlaceId) -> Result<Vec<KnownGroup>, DirectoryError>;
}

impl AllGroups for Directory {
    async fn groups(&self, place: PlaceId) -> Result<Vec<KnownGroup>, DirectoryError> {
        let all = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&all);
        let take = move |groups| {
            taken.lock().expect("alive").extend::<Vec<_>>(groups);
            true
        };
        self.each_group(place, take).await?;
        let mut all = all.lock().expect("alive");
        Ok(std::mem::take(&mut *all))
    }
}

pub(crate) trait AtOnce {
    fn operations(&self) -> &Operations;

    async fn list(&self) -> Result<Vec<KnownGroup>, DirectoryError> {
        let operations = self.operations();
        let place = operations.place().await?;
        operations.directory().groups(place).await
    }

    /// Rotates the token that the directory knows.
    async fn rotate(
        &self,
        id: &UserGroupId,
        reason: Option<String>,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        let operations = self.operations();
        let known = operations.known(id, assurance).await?;
        let seen = known.and_then(|group| group.fingerprint);
        let seen = seen.map(|known| known.value);
        operations.rotate_seen(id, seen, reason, assurance).await
    }

    /// Creates the batch of a plan, without a reason.
    async fn begin(&self, plan: &Plan) -> Result<BatchId, Failure> {
        let begun = self
            .operations()
            .begin_batch(plan, None, BatchOptions::default());
        begun.await
    }

    /// Runs a batch to its end: what became of its items, and the report.
    async fn run_through(
        &self,
        batch: BatchId,
        limits: RunLimits,
    ) -> Result<(Vec<Ended>, Report), Failure> {
        let run = self.operations().run_batch(batch, limits, None).await?;
        Ok(watch(run).await)
    }

    /// Replaces every field that differs; if `base` equals `wanted`, all of them.
    async fn update(
        &self,
        id: &UserGroupId,
        base: &DesiredFields,
        wanted: &DesiredFields,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        let nothing = DesiredFields::default();
        let base = if base == wanted { &nothing } else { base };
        let edit = Edit::whole(base, wanted);
        Box::pin(self.operations().update_edit(id, &edit, assurance)).await
    }
}

impl AtOnce for Operations {
    fn operations(&self) -> &Operations {
        self
    }
}

/// The world of `groupdesk demo`, with the samples or this many generated groups.
pub(crate) async fn demo(groups: Option<usize>, clock: Clock) -> Result<World, DemoError> {
    let empty = EmptyWorld::open().await?;
    empty.fill(groups, clock, Setup::default(), |_| {}).await
}

pub(crate) fn one_at_a_time() -> RunLimits {
    RunLimits {
        concurrency: 1,
        ..RunLimits::default()
    }
}

/// All events until the run ends.
pub(crate) async fn watch(run: Run) -> (Vec<Ended>, Report) {
    let mut progress = run.progress;
    let mut ended = Vec::new();
    loop {
        match progress.recv().await.expect("the run tells how it ended") {
            BatchEvent::Ended(one) => ended.push(*one),
            BatchEvent::Finished(report) => return (ended, report),
            BatchEvent::Started(_)
            | BatchEvent::Throttled(_)
            | BatchEvent::NoDirectory(_)
            | BatchEvent::Halted(_) => {}
        }
    }
}

/// A run that began at this time, and was not heard of since.
pub(crate) fn begun_run(id: RunId, by: &str, at: Timestamp) -> BatchRun {
    BatchRun {
        id,
        by: by.into(),
        process: None,
        is_paused: false,
        since: at,
        seen: at,
        boot_clock: None,
        is_revoked: false,
    }
}
