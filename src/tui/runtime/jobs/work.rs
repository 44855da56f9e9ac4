//! Work of jobs that is more than one call. After a write of notes, labels or views, the stored values are read back. Files
//! are always new ones, readable only by the person who asked for them.
//!
//! Connects a bulk rotation or a bulk edit with the console: commands in, events out. The engine never waits for the
//! screen; events that the event loop has not taken yet are collected and sent together.

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc, time::Duration};

use secrecy::SecretString;
use tokio::sync::{mpsc, watch};
use zeroize::Zeroizing;

use super::{Backends, listed, unreadable};
use crate::{
    config::{
        given_key,
        new_profile::{Field, NewProfile},
    },
    domain::{
        Annotation, AnnotationChange, EditPlan, Token, UserGroupId, annotation::InvalidAnnotation,
        batch::Plan, visible,
    },
    formats::{Columns, Format},
    operations::{
        BatchId, BatchOptions, Cancel, Connector, DirectoryError, Failure, Listener, Operations,
        batch::{BatchEvent, Control, Report, Resumption, RunCommand, RunLimits},
        exported_row,
    },
    platform::private_files::{write_new_private, write_new_token},
    search::{Index, ListView, Query, SavedView},
    tui::{
        kit::Severity,
        state::{BulkEditRequest, JobError, Msg, Outcome, ProfileIndex, Ticket},
    },
};

/// The profiles in which the directory knows this id.
pub(super) async fn same_id(backends: &Backends, id: &UserGroupId) -> Result<Outcome, JobError> {
    let mut found = Vec::new();
    for (index, operations) in backends.all().iter().enumerate() {
        let known = operations.show(id).await;
        let known = known.map_err(|error| unreadable(&error))?;
        found.extend(known.map(|group| (ProfileIndex(index), group)));
    }
    Ok(Outcome::SameId(found))
}

pub(super) async fn annotate(
    operations: &Operations,
    ids: Vec<UserGroupId>,
    change: AnnotationChange,
) -> Result<Outcome, JobError> {
    let first = ids.first().cloned();
    match (operations.annotate(ids, change.clone()).await, first) {
        (Err(Failure::Annotation(InvalidAnnotation::NoteChanged(now))), Some(id)) => {
            let typed = change.note.unwrap_or_default();
            Ok(Outcome::NoteChanged(id, now, typed))
        }
        (changed, _) => Ok(Outcome::Annotated(changed?, Box::new(change))),
    }
}

pub(super) async fn save_view(
    operations: &Operations,
    name: &str,
    view: ListView,
    seen: Option<SavedView>,
) -> Result<Outcome, JobError> {
    let filter = view.filter.clone();
    let refused = operations.save_view(name, view, seen.clone()).await?.err();
    let saved = saved_views(operations).await?;
    let done = match refused {
        None => saved_with(
            name,
            remark(&filter, operations.profile().max_token_age, &saved),
        ),
        Some(other) if seen.as_ref() == Some(&other) => {
            (Severity::Warning, not_done("saved", &other, seen.as_ref()))
        }
        Some(other) => return Ok(Outcome::ViewChanged(saved, Box::new(other))),
    };
    Ok(Outcome::SavedViews(saved, done))
}

fn saved_with(name: &str, remark: Option<String>) -> (Severity, String) {
    match remark {
        None => (Severity::Done, format!("View @{name} saved")),
        Some(remark) => (
            Severity::Warning,
            format!("View @{name} saved; its filter: {remark}"),
        ),
    }
}

/// What `list` says of a filter, whether or not it finds groups now.
fn remark(filter: &str, limit: Option<Duration>, saved: &[SavedView]) -> Option<String> {
    let views = saved.iter();
    let views = views.map(|one| (one.name.clone(), one.view.filter.clone()));
    let query = Query::parse_with(filter, limit, &views.collect());
    query.wrong.into_iter().chain(query.doubtful).next()
}

pub(super) async fn remove_view(
    operations: &Operations,
    seen: &SavedView,
) -> Result<Outcome, JobError> {
    let removed = operations.remove_view(seen).await;
    let removed = removed.map_err(Failure::NothingSent)?;
    let (saved, name) = (saved_views(operations).await?, &seen.name);
    let mut others = saved.iter().filter(|_| !removed);
    let done = match others.find(|view| view.name == *name) {
        Some(other) => (Severity::Warning, not_done("removed", other, Some(seen))),
        None if removed => (Severity::Done, format!("View @{name} removed")),
        None => (Severity::Done, format!("View @{name} was removed before")),
    };
    Ok(Outcome::SavedViews(saved, done))
}

async fn saved_views(operations: &Operations) -> Result<Vec<SavedView>, JobError> {
    let saved = operations.saved_views().await;
    Ok(saved.map_err(Failure::NothingSent)?)
}

/// Says why a view was neither saved nor removed. If it is the one that was shown, the database leaves it to its author.
fn not_done(done: &str, there: &SavedView, seen: Option<&SavedView>) -> String {
    let (name, by) = (&there.name, visible(&there.written.by));
    if seen == Some(there) {
        format!("Not {done}: view @{name} belongs to {by}, who alone can replace or remove it")
    } else {
        format!("Not {done}: view @{name} was changed by {by} meanwhile")
    }
}

/// Returns the rotations to settle, after checking whether anything may be sent at all.
pub(super) async fn open_rotations(operations: &Operations) -> Result<Outcome, JobError> {
    if let Some(problem) = operations.place_problem().await {
        return Err(Failure::Place(problem).into());
    }
    // Without a readable API key, the person cannot be asked about the place.
    let elsewhere = operations.known_elsewhere().await;
    if let Some(line) = elsewhere.map_err(|error| unreadable(&error))? {
        return Err(JobError::of(line));
    }
    let open = operations.open_rotations().await;
    let place = operations.bound_place_name();
    listed(open.map(|open| Outcome::OpenRotations(open, place)))
}

pub(super) async fn write_report(report: String, path: PathBuf) -> Result<Outcome, JobError> {
    let to = path.clone();
    let write = move || write_new_private(&to, report.as_bytes());
    on_blocking_thread("the report", write).await?;
    Ok(Outcome::ReportWritten(path))
}

pub(super) async fn write_token(token: Token, path: PathBuf) -> Result<Outcome, JobError> {
    let to = path.clone();
    let write = move || {
        // Briefly twice in memory; whoever wants the token in a file accepts more than that.
        let contents = Zeroizing::new(format!("{}\n", token.expose()));
        write_new_token(&to, contents.as_bytes())
    };
    on_blocking_thread("the token", write).await?;
    Ok(Outcome::TokenWritten(path))
}

/// Leaves out groups that are not known any more.
pub(super) async fn export(
    index: Index,
    annotations: Arc<BTreeMap<UserGroupId, Annotation>>,
    ids: Vec<UserGroupId>,
    (format, columns): (Format, Columns),
    path: PathBuf,
) -> Result<Outcome, JobError> {
    let to = path.clone();
    let write = move || {
        let mut text = format.head(&columns);
        let mut count = 0;
        for group in ids.iter().filter_map(|id| index.group(id)) {
            let beside = annotations.get(&group.id);
            text += &exported_row(format, &columns, (group, beside), count == 0);
            count += 1;
        }
        text += format.foot();
        write_new_private(&to, text.as_bytes()).map(|()| count)
    };
    let count = on_blocking_thread("the export", write).await?;
    Ok(Outcome::Exported(count, path))
}

async fn on_blocking_thread<T: Send + 'static>(
    what: &str,
    write: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, JobError> {
    let text = match tokio::task::spawn_blocking(write).await {
        Ok(Ok(written)) => return Ok(written),
        Ok(Err(error)) => format!("{what} was not written: {error}"),
        Err(_) => format!("{what} was not written: internal error, stopped"),
    };
    Err(JobError::of(text))
}

const NOT_HERE: &str = "profiles cannot be added here";

pub(super) async fn check_profile(
    backends: &Backends,
    new: &NewProfile,
    key: Option<Token>,
) -> Outcome {
    let (connector, key) = match connector(backends, key) {
        Ok(both) => both,
        Err(no) => return no,
    };
    match connector.check(new, key.as_ref()).await {
        Ok(checkup) => Outcome::Checked(Box::new(checkup)),
        Err(error) => Outcome::NotAdded(error.problems()),
    }
}

pub(super) async fn add_profile(
    backends: &Backends,
    new: &NewProfile,
    key: Option<Token>,
) -> Outcome {
    let (connector, key) = match connector(backends, key) {
        Ok(both) => both,
        Err(no) => return no,
    };
    match connector.add(new, key.as_ref()).await {
        Ok(operations) => {
            let profile = operations.profile().clone();
            let operator = operations.operator().to_owned();
            Outcome::ProfileAdded(backends.add(operations), Box::new(profile), operator)
        }
        Err(error) => Outcome::NotAdded(error.problems()),
    }
}

/// The connector, and the key that was typed.
fn connector(
    backends: &Backends,
    key: Option<Token>,
) -> Result<(&Connector, Option<SecretString>), Outcome> {
    let no = |field, why: String| Outcome::NotAdded(vec![(field, why)]);
    let key = key.map(|key| given_key(key.expose())).transpose();
    let key = key.map_err(|error| no(Some(Field::ApiKey), error))?;
    let connector = backends.0.connector.as_ref();
    let connector = connector.ok_or_else(|| no(None, NOT_HERE.into()))?;
    Ok((connector, key))
}

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
    let mut batch = operations.batch(id).await?;
    operations.look_at_retries([&mut batch]).await;
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
    let batch = operations.begin_batch(plan, reason, options).await?;
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
    let batch = operations.begin_edit(plan, None, options).await?;
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
    operations.ready().await?;
    if context.command.borrow().is_stop() {
        return Err(JobError::of("stopped before anything was sent"));
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
        .await?;
    steer(&run.control, *context.command.borrow_and_update());
    let report = follow(&mut run.progress, &run.control, &mut context).await;
    report
        .map(Outcome::BulkEnded)
        .ok_or_else(|| JobError::of("Internal error, stopped"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_with_a_doubtful_filter_is_saved_with_what_a_list_says_of_it() {
        let said = |filter: &str| saved_with("night", remark(filter, None, &[]));
        for (filter, says) in [
            (
                "acme foo:bar",
                "foo:bar: not a test, searched as a word; did you mean prop:foo=bar?",
            ),
            ("-acme*", "-acme*: no wildcards; write -acme"),
            ("@day", "@day: no saved view of this name"),
        ] {
            let text = format!("View @night saved; its filter: {says}");
            assert_eq!(said(filter), (Severity::Warning, text));
        }
        let (severity, text) = said("acme -label:vip");
        assert_eq!((severity, &*text), (Severity::Done, "View @night saved"));
    }
}
