//! Bulk runs: `rotate` and `update` of several groups, `batches resume`, `retry` and `reverse`. The run itself is in
//! `operations::batch`. A signal stops it; requests in flight are finished and recorded.

pub(crate) mod edit;
mod prepare;
pub(crate) mod report;
pub(crate) mod tokens;

use std::{
    future::{self, ready},
    path::PathBuf,
    sync::Arc,
};

use crate::{
    cli::{
        args::{AgainBatch, Global, ResumeBatch, Rotate, Update},
        commands::run::{RunReport, Summary, follow_until},
        error::CliError,
        input::selection::{Given, Selected},
        output::{self, progress::Progress},
        process::{
            exit::{Exit, RunEnd},
            signals::Signals,
        },
        session::{InFlight, Session},
    },
    directory::{BatchId, BatchOptions},
    domain::{
        batch::{BatchKind, Counts, ItemStatus, StopCause},
        group::UserGroupId,
    },
    operations::batch::{Bulk, Ended, Report, RunLimits, ScheduledRun, TokenSink},
};
use tokens::TokenLines;

const UNDONE: &str = "nothing was sent";

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
    prepare::check(&arguments)?;
    let (groups, older_than) = (arguments.groups.clone(), arguments.bulk.older_than);
    let given = Given::read(&groups, older_than, UNDONE);
    run_prepared(global, given, async |session, given| {
        prepare::rotate(session, arguments, given).await
    })
    .await
}

/// `groupdesk update` for anything but a single id.
pub(crate) async fn update(global: &Global, arguments: Update) -> Result<Exit, CliError> {
    let change = edit::check(&arguments)?;
    let groups = arguments.groups.clone();
    let given = Given::read(&groups, None, UNDONE);
    run_prepared(global, given, async |session, given| {
        edit::update(session, arguments, change, given).await
    })
    .await
}

/// `groupdesk batches resume`, for rotations and edits.
pub(crate) async fn resume_one(global: &Global, arguments: ResumeBatch) -> Result<Exit, CliError> {
    run_prepared(global, nothing(), async |session, ()| {
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
    run_prepared(global, nothing(), async |session, ()| {
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
    run_prepared(global, nothing(), async |session, ()| {
        let usual = BatchOptions::default();
        edit::again(session, arguments, usual, true).await
    })
    .await
}

/// The input of a run that reads no file.
fn nothing() -> future::Ready<Result<(), CliError>> {
    ready(Ok(()))
}

/// Reads the input, prepares a batch and runs it. A signal during the preparation ends the command, and nothing is sent.
async fn run_prepared<T>(
    global: &Global,
    input: impl Future<Output = Result<T, CliError>>,
    prepare: impl AsyncFnOnce(&Session, T) -> Result<Prepared, CliError>,
) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let input = signals.unless_signalled(input).await?;
    let session = Session::open(global, InFlight::default())?;
    // A run waits for a server that is away.
    session.operations.directory().set_is_of_command(false);
    signals.unless_signalled(session.say_other_places()).await?;
    signals
        .unless_signalled(session.refuse_unknown_key())
        .await?;
    match signals.unless_signalled(prepare(&session, input)).await? {
        Ok(mut ready) => {
            let schedule = ready.schedule.take();
            let work = begin(&session, ready, (schedule.as_ref(), &mut signals));
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
    ready: Ready,
    (schedule, signals): (Option<&ScheduledRun>, &mut Signals),
) -> Result<Exit, CliError> {
    let keep = ready.tokens.clone();
    let keep = keep.map(|tokens| tokens as Arc<dyn TokenSink>);
    let operations = &session.operations;
    let run = operations.run_batch(ready.batch, ready.pace, keep).await?;
    output::say(&format!("batch {}", ready.batch.0));
    let taken_over = async {
        match schedule {
            Some(schedule) => schedule.taken_over().await,
            None => std::future::pending().await,
        }
        StopCause::TakenOver
    };
    follow_until(session, signals, run, ready, taken_over).await
}

impl RunReport for Ready {
    type Of = Bulk;

    fn ended(&mut self, session: &Session, progress: &Progress, ended: &Ended) -> Option<Counts> {
        if ended.status == ItemStatus::NotStarted {
            if let Some(note) = &ended.note {
                progress.say(format!("{}: {note}", ended.user_group_id));
            }
            return None;
        }
        if session.json {
            progress.result(output::compact(report::item(ended)));
        }
        if report::is_noteworthy(ended) {
            progress.alarm(report::line(ended));
        } else if !progress.has_bar && !session.json {
            progress.say(report::line(ended));
        }
        Some(ended.counts)
    }

    fn again(&self) -> Option<String> {
        let (number, more) = (self.batch.0, report::again_with(self.tokens.is_some()));
        Some(format!("{} {number}{more}", report::RESUME))
    }

    async fn summary(self, session: &Session, sum: Report) -> Summary {
        let operations = &session.operations;
        let mut batch = operations.batch(sum.batch).await.ok();
        let not_handed_off = batch.as_ref().map_or(0, |batch| batch.not_handed_off);
        let mut next = Vec::new();
        if let Some(batch) = &mut batch {
            batch.no_retry = operations.why_no_retry(batch).await.unwrap_or_default();
            next = report::retry(batch, self.tokens.is_some());
        }
        let left_out = self.all_named && !self.skipped.is_empty();
        let counts = &sum.counts;
        let said = match &batch {
            Some(batch) => counts.in_words_of(&batch.kind),
            None => counts.to_string(),
        };
        let exit = Exit::from_run(&RunEnd {
            unknown: counts.unknown + counts.conflict,
            alarms: 0,
            done: counts.confirmed,
            is_left: counts.not_applied + counts.not_started + not_handed_off > 0 || left_out,
            first_failure: None,
            halt: sum.halt.as_ref(),
        });
        let summary = session
            .json
            .then(|| report::summary(Some(&sum), &self.skipped, not_handed_off));
        Summary {
            exit,
            alarms: report::for_a_person(session, &sum, not_handed_off),
            result: summary.map(output::compact),
            said: Some(format!("batch {}: {said}", sum.batch.0)),
            next,
            is_left: counts.not_started > 0,
        }
    }
}
