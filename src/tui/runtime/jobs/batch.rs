//! Connects a bulk rotation or a bulk edit with the console: commands in, events out. The engine never waits for the
//! screen; events that the event loop has not taken yet are collected and sent together.

use tokio::sync::{mpsc, watch};

use crate::{
    domain::{
        batch::{EditPlan, Plan},
        group::UserGroupId,
    },
    operations::{
        BatchId, BatchOptions, Cancel, DirectoryError, Failure, Listener, Operations,
        batch::{BatchEvent, Control, Report, Resumption, RunCommand, RunLimits},
    },
    tui::state::message::{BulkEditRequest, JobError, Msg, Outcome, ProfileIndex, Ticket},
};

/// Maximum number of events per message.
const MAX_EVENTS: usize = 4_096;

/// Connects a running job with the event loop.
pub struct JobContext {
    pub ticket: Ticket,
    pub news: mpsc::Sender<Msg>,
    pub command: watch::Receiver<RunCommand>,
    /// Cancels a single change that is not sent yet.
    pub cancel: Cancel,
    /// Is told about requests and responses.
    pub listener: Listener,
}

/// Reads the state of a batch in the journal.
pub(super) async fn read_batch(
    operations: &Operations,
    id: BatchId,
) -> Result<Outcome, DirectoryError> {
    let batch = operations.batch(id).await?;
    let items = operations.batch_items(id).await?;
    Ok(Outcome::Batch(Box::new((batch, items))))
}

pub(super) async fn all_batches(
    all: &[Operations],
    first: ProfileIndex,
) -> Result<Outcome, DirectoryError> {
    let found = Operations::batches_of_all(all, first.0).await?.into_iter();
    let found = found.map(|(index, batch)| (ProfileIndex(index), batch));
    Ok(Outcome::AllBatches(found.collect()))
}

/// Starts a batch and returns when it has ended.
pub(super) async fn run(
    operations: &Operations,
    plan: &Plan,
    (reason, retries): (Option<String>, Option<BatchId>),
    context: JobContext,
) -> Result<Outcome, JobError> {
    check_ready(operations, &context).await?;
    let options = options_again(operations, retries).await?;
    let begun = operations.begin_batch_with(plan, reason, options).await;
    let batch = begun.map_err(failed)?;
    drive(operations, batch, &[], context).await
}

/// Starts a bulk edit and returns when it has ended.
pub(super) async fn edit(
    operations: &Operations,
    plan: &EditPlan,
    retries: Option<BatchId>,
    context: JobContext,
) -> Result<Outcome, JobError> {
    check_ready(operations, &context).await?;
    let options = options_again(operations, retries).await?;
    let begun = operations.begin_edit_with(plan, None, options).await;
    let batch = begun.map_err(failed)?;
    drive(operations, batch, &[], context).await
}

/// What resuming a batch would do.
pub(super) async fn plan_resumption(
    operations: &Operations,
    id: BatchId,
    include_old: bool,
) -> Result<Resumption, Failure> {
    let resumption = operations.plan_resumption(id, include_old).await?;
    if resumption.left() > 0 {
        operations.options_again(id, "resume", false).await?;
    }
    Ok(resumption)
}

/// Those of the batch that is tried again. The console writes no files of tokens.
pub(super) async fn options_again(
    operations: &Operations,
    retries: Option<BatchId>,
) -> Result<BatchOptions, Failure> {
    match retries {
        Some(batch) => operations.options_again(batch, "retry", false).await,
        None => Ok(BatchOptions::default()),
    }
}

/// Plans a bulk edit.
pub(super) async fn plan_edit(
    operations: &Operations,
    asked: BulkEditRequest,
    include_old: bool,
) -> Result<Outcome, DirectoryError> {
    let plan = match asked {
        BulkEditRequest::Groups(change, ids) => {
            Some(operations.plan_edit(change, &ids, include_old).await?)
        }
        BulkEditRequest::Reverse(batch) => operations.plan_reverse_edit(batch, include_old).await?,
        BulkEditRequest::Again(batch) => operations.plan_edit_again(batch, include_old).await?,
    };
    Ok(Outcome::EditPlanned(plan.map(Box::new)))
}

async fn check_ready(operations: &Operations, context: &JobContext) -> Result<(), JobError> {
    operations.ready().await.map_err(failed)?;
    if context.command.borrow().is_stop() {
        return Err(job_error("stopped before anything was sent"));
    }
    Ok(())
}

/// Resumes a batch without these groups, and returns when it has ended.
pub(super) async fn resume(
    operations: &Operations,
    batch: BatchId,
    left_out: &[UserGroupId],
    context: JobContext,
) -> Result<Outcome, JobError> {
    check_ready(operations, &context).await?;
    drive(operations, batch, left_out, context).await
}

async fn drive(
    operations: &Operations,
    batch: BatchId,
    left_out: &[UserGroupId],
    mut context: JobContext,
) -> Result<Outcome, JobError> {
    let options = operations.batch_options(batch).await;
    let options = options.map_err(Failure::NothingSent)?;
    let mut run = operations
        .run_batch_without(batch, left_out, RunLimits::of(options), None)
        .await
        .map_err(failed)?;
    steer(&run.control, *context.command.borrow_and_update());
    let report = follow(&mut run.progress, &run.control, &mut context).await;
    report
        .map(Outcome::BulkEnded)
        .ok_or_else(|| job_error("Internal error, stopped"))
}

async fn follow(
    progress: &mut mpsc::UnboundedReceiver<BatchEvent>,
    control: &Control,
    context: &mut JobContext,
) -> Option<Report> {
    let mut waiting = Vec::new();
    loop {
        tokio::select! {
            biased;
            Ok(()) = context.command.changed() => steer(control, *context.command.borrow_and_update()),
            // Fails when nobody receives any more; the run must still end properly.
            Ok(permit) = context.news.reserve(), if !waiting.is_empty() => {
                permit.send(Msg::BatchEvents(context.ticket, std::mem::take(&mut waiting)));
            }
            count = progress.recv_many(&mut waiting, MAX_EVENTS), if waiting.len() < MAX_EVENTS => {
                if count == 0 {
                    return None;
                }
                if let Some(BatchEvent::Finished(report)) = waiting.last() {
                    let report = report.clone();
                    // The last events are sent before the end of the job.
                    let _ = context.news.send(Msg::BatchEvents(context.ticket, waiting)).await;
                    return Some(report);
                }
            }
            else => return None,
        }
    }
}

fn steer(control: &Control, command: RunCommand) {
    match command {
        RunCommand::Go => control.resume(),
        RunCommand::Pause => control.pause(),
        RunCommand::Stop(cause) => control.stop(cause),
    }
}

fn failed(failure: Failure) -> JobError {
    failure.into()
}

fn job_error(text: &str) -> JobError {
    JobError::of(text)
}
