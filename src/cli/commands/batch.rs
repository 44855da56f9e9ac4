//! Bulk runs: `rotate` and `update` of several groups, `batches resume`, `retry` and `reverse`. The run itself is in
//! `operations::batch`. A signal stops it; requests in flight are finished and recorded.

pub(crate) mod edit;
mod prepare;
pub(crate) mod report;
pub(crate) mod tokens;

use std::{collections::HashSet, path::PathBuf, pin::pin, sync::Arc};

use futures_util::FutureExt;

use crate::{
    cli::{
        args::{AgainBatch, Global, ResumeBatch, Rotate, Update},
        error::CliError,
        input::selection::Selected,
        output::{self, progress::Progress},
        process::{
            exit::Exit,
            graceful_shutdown::{Shutdown, ShutdownRequest},
            signals::Signals,
        },
        session::{InFlight, Session},
    },
    directory::{BatchId, BatchOptions},
    domain::{
        batch::{BatchKind, ItemStatus, StopCause},
        group::UserGroupId,
        handoff::HandOffState,
    },
    operations::batch::{BatchEvent, Report, Run, RunLimits, ScheduledRun, TokenSink},
};
use tokens::TokenLines;

/// A batch that is ready to run.
struct Ready {
    batch: BatchId,
    /// The groups that are left out, each with the reason.
    skipped: Vec<(UserGroupId, String)>,
    /// The person named every group explicitly.
    all_named: bool,
    tokens: Option<Arc<TokenLines>>,
    /// While this is held, no other scheduled run of the place can start.
    schedule: Option<ScheduledRun>,
    pace: RunLimits,
}

/// A batch that is ready to run, or the exit code when there is nothing to run.
type Prepared = Result<Ready, Exit>;

/// `groupdesk rotate` for anything but a single id.
pub(crate) async fn run(global: &Global, arguments: Rotate) -> Result<Exit, CliError> {
    run_prepared(global, async |session| {
        prepare::rotate(session, arguments).await
    })
    .await
}

/// `groupdesk update` for anything but a single id.
pub(crate) async fn update(global: &Global, arguments: Update) -> Result<Exit, CliError> {
    run_prepared(global, async |session| {
        edit::update(session, arguments).await
    })
    .await
}

/// `groupdesk batches resume`, for rotations and edits.
pub(crate) async fn resume_one(global: &Global, arguments: ResumeBatch) -> Result<Exit, CliError> {
    run_prepared(global, async |session| {
        prepare::resume(session, &arguments).await
    })
    .await
}

/// `groupdesk batches retry`, for rotations and edits.
pub(crate) async fn retry(
    global: &Global,
    arguments: AgainBatch,
    token_out: Option<PathBuf>,
) -> Result<Exit, CliError> {
    run_prepared(global, async |session| {
        let operations = &session.operations;
        let batch = operations.batch(BatchId(arguments.number)).await?;
        let before = operations.batch_options(batch.id).await?;
        if matches!(batch.kind, BatchKind::Edit(_)) {
            prepare::no_tokens(batch.id, token_out.as_deref())?;
            let arguments = AgainBatch {
                reason: arguments.reason.or(batch.reason),
                ..arguments
            };
            return edit::again(session, arguments, before, false).await;
        }
        if !arguments.mutation.dry_run {
            let has_file = token_out.is_some();
            operations
                .options_again(batch.id, "retry", has_file)
                .await?;
        }
        let options = arguments.pace.options(before);
        let asked = prepare::RotateRequest {
            selected: Selected {
                ids: operations.not_applied_groups(batch.id).await?,
                all_named: true,
            },
            include_recent: false,
            retries: Some(batch.id),
            mutation: arguments.mutation,
            reason: arguments.reason.or(batch.reason),
            options: BatchOptions {
                token_out: token_out.is_some(),
                ..options
            },
            token_out,
            selected_at: (operations.now(), operations.last_number().await?),
            scheduled: None,
        };
        prepare::begin(session, asked).await
    })
    .await
}

/// `groupdesk batches reverse`, for edits.
pub(crate) async fn reverse(global: &Global, arguments: AgainBatch) -> Result<Exit, CliError> {
    run_prepared(global, async |session| {
        let usual = BatchOptions::default();
        edit::again(session, arguments, usual, true).await
    })
    .await
}

/// Prepares a batch and runs it. A signal during the preparation ends the command, and nothing is sent.
async fn run_prepared(
    global: &Global,
    prepare: impl AsyncFnOnce(&Session) -> Result<Prepared, CliError>,
) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let session = Session::open(global, InFlight::default())?;
    // A run waits for a server that is away.
    session.operations.directory().set_is_of_command(false);
    signals.unless_signalled(session.say_other_places()).await?;
    signals
        .unless_signalled(session.refuse_unknown_key())
        .await?;
    match signals.unless_signalled(prepare(&session)).await? {
        Ok(mut ready) => {
            let schedule = ready.schedule.take();
            let work = begin(&session, &ready, (schedule.as_ref(), &mut signals));
            let ended = Box::pin(work).await;
            if let Some(schedule) = schedule {
                schedule.end().await;
            }
            ended
        }
        Err(exit) => Ok(exit),
    }
}

async fn begin(
    session: &Session,
    ready: &Ready,
    stops: (Option<&ScheduledRun>, &mut Signals),
) -> Result<Exit, CliError> {
    let keep = ready
        .tokens
        .clone()
        .map(|tokens| tokens as Arc<dyn TokenSink>);
    let run = session
        .operations
        .run_batch(ready.batch, ready.pace, keep)
        .await?;
    drive(session, run, ready, stops).await
}

/// Reports progress until the run has ended. The first signal stops the run; a second Ctrl-C leaves at once.
async fn drive(
    session: &Session,
    mut run: Run,
    ready: &Ready,
    (schedule, signals): (Option<&ScheduledRun>, &mut Signals),
) -> Result<Exit, CliError> {
    let batch = ready.batch.0;
    let progress = Progress::start(run.batch.counts.planned());
    progress.say(format!("batch {batch}"));
    progress.counts(run.batch.counts.done(), &run.batch.counts);
    let mut finishing = Shutdown::of(signals);
    let taken_over = async {
        match schedule {
            Some(schedule) => schedule.taken_over().await,
            None => std::future::pending().await,
        }
    };
    let mut taken_over = pin!(taken_over.fuse());
    let report = loop {
        tokio::select! {
            biased;
            news = run.progress.recv() => match news {
                Some(BatchEvent::Finished(report)) => break Some(report),
                Some(news) => tell(session, &progress, news),
                None => break None,
            },
            () = &mut taken_over => run.control.stop(StopCause::TakenOver),
            asked = finishing.next_request(&run.control, &progress) => if asked == ShutdownRequest::Abandon {
                break None;
            },
        }
    };
    let Some(report) = report else {
        let _ = progress.end(Exit::Interrupted).await;
        output::alarm(&format!(
            "progress is saved. To resume: {} {batch}{}",
            report::RESUME,
            report::again_with(ready.tokens.is_some())
        ));
        return Err(CliError::Interrupted { in_flight: true });
    };
    finish(session, progress, &report, ready).await
}

async fn finish(
    session: &Session,
    progress: Progress,
    report: &Report,
    ready: &Ready,
) -> Result<Exit, CliError> {
    let not_handed_off = not_handed_off(session, report.batch).await;
    if session.json {
        let summary = report::summary(Some(report), &ready.skipped, not_handed_off);
        progress.result(output::compact(summary));
    }
    let left_out = ready.all_named && !ready.skipped.is_empty();
    let exit = Exit::from_batch(report, left_out, not_handed_off);
    if exit == Exit::Done {
        progress.say(report::ending(report, ready.tokens.is_some()));
    } else {
        progress.alarm(report::ending(report, ready.tokens.is_some()));
    }
    if not_handed_off > 0 {
        progress.alarm(report::not_handed_off(not_handed_off));
    }
    progress.end(exit).await
}

/// Counts the batch's new tokens that are not handed off yet, including those of earlier runs.
async fn not_handed_off(session: &Session, batch: BatchId) -> usize {
    let operations = &session.operations;
    let mut rotations = HashSet::new();
    for state in [HandOffState::Pending, HandOffState::Failed] {
        let rows = operations.hand_offs(state).await.unwrap_or_default();
        rotations.extend(rows.into_iter().map(|row| row.id.0));
    }
    let items = operations.batch_items(batch).await.unwrap_or_default();
    let ours = items.iter().filter_map(|item| item.rotation);
    ours.filter(|id| rotations.contains(&id.0)).count()
}

fn tell(session: &Session, progress: &Progress, news: BatchEvent) {
    match news {
        BatchEvent::Ended(ended) if ended.status == ItemStatus::NotStarted => {
            if let Some(note) = ended.note {
                progress.say(format!("{}: {note}", ended.user_group_id));
            }
        }
        BatchEvent::Ended(ended) => {
            if session.json {
                progress.result(output::compact(report::item(&ended)));
            }
            if report::is_noteworthy(&ended) {
                progress.alarm(report::line(&ended));
            } else if !progress.has_bar && !session.json {
                progress.say(report::line(&ended));
            }
            progress.counts(ended.counts.done(), &ended.counts);
        }
        BatchEvent::Throttled(wait) => progress.held(wait),
        BatchEvent::NoDirectory(_) => {
            progress.say("the directory cannot be reached; waiting, nothing is sent".into());
        }
        // Reported with the summary.
        BatchEvent::Halted(_) | BatchEvent::Started(_) | BatchEvent::Finished(_) => {}
    }
}
