//! `rotate` for many groups: which, what will happen, the typed confirmation, the run and its report. The run itself is
//! `operations::batch`'s; a signal stops it, and what is in flight is finished and recorded.

mod report;
mod select;
pub(crate) mod tokens;

use std::{collections::HashSet, sync::Arc};

use futures_util::StreamExt;

use crate::{
    cli::{
        args::{BatchArgs, Global, ResumeBatch, Rotate},
        error::CliError,
        input::confirm::{self, Question},
        output::{self, progress::Progress},
        process::{
            exit::Exit,
            graceful_shutdown::{Shutdown, ShutdownRequest},
            signals::Signals,
        },
        session::{InFlight, Session},
    },
    config::guard::Level,
    directory::BatchId,
    domain::{
        batch::{BatchKind, ItemStatus, Plan, Skip},
        handoff::HandOffState,
    },
    operations::{
        Batch, Guarded, UnknownIdPolicy,
        batch::{BatchEvent, Report, Run, RunLimits, TokenSink},
    },
    search::suggest::near,
};
use tokens::TokenLines;

/// A batch that may be run.
struct Ready {
    batch: BatchId,
    plan: Plan,
    /// The person named every group.
    all_named: bool,
    tokens: Option<Arc<TokenLines>>,
    /// It edits, and rotates nothing.
    is_edit: bool,
}

/// `groupdesk rotate` for anything but one id.
pub(crate) async fn run(global: &Global, arguments: Rotate) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let session = Session::open(global, InFlight::default())?;
    let pace = pace(&arguments.bulk);
    let ready = tokio::select! {
        biased;
        // Nothing is rotated before this is over.
        () = signals.next() => return Err(CliError::Interrupted { in_flight: false }),
        ready = Box::pin(prepare(&session, arguments, pace)) => ready?,
    };
    match ready {
        Ok(ready) => begin(&session, &ready, pace, &mut signals).await,
        Err(exit) => Ok(exit),
    }
}

/// `groupdesk batches resume`: rotations and edits.
pub(crate) async fn resume_one(global: &Global, arguments: ResumeBatch) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let session = Session::open(global, InFlight::default())?;
    confirm::can_be_asked(&session, arguments.yes)?;
    session.say_where();
    let ready = tokio::select! {
        biased;
        // Nothing is sent before this is over.
        () = signals.next() => return Err(CliError::Interrupted { in_flight: false }),
        ready = Box::pin(resume(&session, &arguments, false)) => ready?,
    };
    begin(&session, &ready, RunLimits::default(), &mut signals).await
}

async fn begin(
    session: &Session,
    ready: &Ready,
    pace: RunLimits,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    let keep = ready
        .tokens
        .clone()
        .map(|tokens| tokens as Arc<dyn TokenSink>);
    let run = session
        .operations
        .run_batch(ready.batch, pace, keep)
        .await?;
    drive(session, run, ready, signals).await
}

fn pace(bulk: &BatchArgs) -> RunLimits {
    let usual = RunLimits::default();
    RunLimits {
        concurrency: bulk.concurrency.map_or(usual.concurrency, usize::from),
        rate: bulk.rate,
        stop_after: bulk.stop_after.map_or(usual.stop_after, usize::from),
    }
}

/// Everything up to the durable batch, or how it ends where nothing is run.
async fn prepare(
    session: &Session,
    arguments: Rotate,
    pace: RunLimits,
) -> Result<Result<Ready, Exit>, CliError> {
    let operations = &session.operations;
    operations.permitted(Guarded::Bulk)?;
    if arguments.assurance.exists || arguments.token.reveal {
        return Err(CliError::Usage(
            "--exists and --reveal are for one group; for many, tokens go to --token-out FILE. Nothing was sent".into(),
        ));
    }
    if !arguments.mutation.dry_run {
        confirm::can_be_asked(session, arguments.mutation.yes)?;
    }
    session.say_where();
    if let Some(batch) = arguments.bulk.resume {
        let number = match batch {
            Some(number) => number,
            None => newest_unfinished(session).await?,
        };
        let resumed = ResumeBatch {
            number,
            yes: arguments.mutation.yes,
            token_out: arguments.token.token_out,
        };
        return Ok(Ok(resume(session, &resumed, true).await?));
    }
    let include_recent = arguments.bulk.include_recent;
    let (ids, all_named) = select::select(session, arguments.ids, &arguments.bulk).await?;
    let mut plan = operations.plan_batch(&ids, include_recent).await?;
    say_near(session, &plan).await?;
    if arguments.mutation.dry_run {
        let unread = look(session, &plan, pace).await;
        // What was read may have changed what is known.
        plan = operations.plan_batch(&ids, include_recent).await?;
        say_plan(session, &plan, &unread)?;
        return Ok(Err(of_dry_run(&plan, &unread, all_named)));
    }
    if ids.is_empty() && !all_named {
        // A nightly job has done its work.
        output::say("no group is meant by that; nothing to rotate, nothing was sent");
        if session.json {
            output::json_line(&report::summary(None, &plan, 0))?;
        }
        return Ok(Err(Exit::Done));
    }
    output::context(&report::plan(&plan));
    if plan.ready.is_empty() {
        return Err(CliError::Guarded(
            "no group can be rotated now; nothing was sent".into(),
        ));
    }
    operations.ready().await?;
    confirm(session, arguments.mutation.yes, plan.ready.len()).await?;
    let tokens = token_lines(session, arguments.token.token_out.as_deref())?;
    let batch = operations.begin_batch(&plan, arguments.reason).await?;
    Ok(Ok(Ready {
        batch,
        plan,
        all_named,
        tokens,
        is_edit: false,
    }))
}

/// Ids that are not known here may be mistyped; not more of them are told than the plan names.
async fn say_near(session: &Session, plan: &Plan) -> Result<(), CliError> {
    let skipped = plan.skipped.iter().take(report::NAMED);
    let unknown = skipped.filter(|(_, why)| *why == Skip::NotKnown);
    let unknown: Vec<_> = unknown.map(|(id, _)| id).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let known = session.operations.known_ids().await?;
    for id in unknown {
        let near = near(id.as_str(), &known, 3);
        let near: Vec<_> = near.iter().map(|id| format!("\"{id}\"")).collect();
        if !near.is_empty() {
            output::say(&format!(
                "! \"{id}\" is not known here; did you mean {}?",
                near.join(", ")
            ));
        }
    }
    Ok(())
}

/// The newest rotation of which something is left.
async fn newest_unfinished(session: &Session) -> Result<i64, CliError> {
    let batches = session.operations.batches().await?;
    let mut unfinished = batches
        .iter()
        .filter(|batch| batch.ended_at.is_none() && batch.kind == BatchKind::Rotate);
    let newest = unfinished.next().map(|batch| batch.id.0);
    newest.ok_or_else(|| {
        CliError::Guarded("no batch of this profile is unfinished; nothing was sent".into())
    })
}

/// A batch of edits is not for `rotate`.
fn rotates(batch: &Batch) -> Result<(), CliError> {
    match batch.kind {
        BatchKind::Rotate => Ok(()),
        BatchKind::Edit(_) => Err(CliError::Guarded(format!(
            "batch {0} is an edit, no rotation; nothing was sent; `groupdesk batches resume {0}` or the console resumes it",
            batch.id.0
        ))),
    }
}

/// Checks what is left of a batch and asks.
async fn resume(
    session: &Session,
    arguments: &ResumeBatch,
    only_rotations: bool,
) -> Result<Ready, CliError> {
    let operations = &session.operations;
    let resumption = operations
        .plan_resumption(BatchId(arguments.number), true)
        .await?;
    let batch = &resumption.batch;
    let is_edit = matches!(batch.kind, BatchKind::Edit(_));
    if only_rotations {
        rotates(batch)?;
    }
    if is_edit && arguments.token_out.is_some() {
        return Err(CliError::Usage(format!(
            "batch {} is an edit and makes no tokens; leave --token-out out. Nothing was sent",
            batch.id.0
        )));
    }
    output::context(&format!(
        "batch {} of {}, begun {:.0}: {}",
        batch.id.0, batch.by, batch.started_at, batch.counts
    ));
    for (id, skip) in resumption.refused.iter().take(report::NAMED) {
        output::context(&format!("will be refused as things stand: {id}: {skip}"));
    }
    if let Some(by) = &resumption.run_by {
        output::context(&format!(
            "! batch {} may still be running: {by} sent something of it a moment ago",
            batch.id.0
        ));
    }
    operations.ready().await?;
    if resumption.left() > 0 {
        let words = resumption.words(&operations.profile().name);
        let question = match resumption.level {
            Level::Words => Question::TypeWords(&words),
            Level::Button | Level::Key | Level::Typed => Question::YesOrNo,
        };
        let effect = match &batch.kind {
            BatchKind::Rotate => "every old token stops working at once".into(),
            BatchKind::Edit(change) => format!("one update each, after a read: {change}"),
        };
        let what = format!("{} left: {effect}.", resumption.left());
        confirm::confirm(arguments.yes, &what, question).await?;
    }
    let tokens = token_lines(session, arguments.token_out.as_deref())?;
    Ok(Ready {
        batch: batch.id,
        plan: Plan::default(),
        all_named: true,
        tokens,
        is_edit,
    })
}

/// Level 4 of docs/design/console.md.
async fn confirm(session: &Session, yes: bool, count: usize) -> Result<(), CliError> {
    let words = format!("rotate {count} in {}", session.operations.profile().name);
    let what = "Every old token stops working at once.";
    confirm::confirm(yes, what, Question::TypeWords(&words)).await
}

fn token_lines(
    session: &Session,
    file: Option<&std::path::Path>,
) -> Result<Option<Arc<TokenLines>>, CliError> {
    let fingerprinter = session.operations.directory().fingerprinter();
    file.map(|file| TokenLines::create(file, fingerprinter).map(Arc::new))
        .transpose()
}

/// Reads what would be rotated: only known ids. What could not be read comes back, with why.
async fn look(session: &Session, plan: &Plan, pace: RunLimits) -> Vec<String> {
    let reads = plan.ready.iter().map(|id| async move {
        let read = session
            .operations
            .look_up(id, UnknownIdPolicy::KnownOnly)
            .await;
        match read {
            Ok(done) => {
                let mut alarms = done.warnings.iter().filter(|warning| warning.is_alarm());
                alarms.next().map(|alarm| format!("{id}: {alarm}"))
            }
            Err(failure) => Some(format!("{id}: {failure}")),
        }
    });
    let reads = futures_util::stream::iter(reads).buffer_unordered(pace.concurrency);
    reads.filter_map(|read| async move { read }).collect().await
}

/// As the run itself would end, as far as a plan can tell.
fn of_dry_run(plan: &Plan, unread: &[String], all_named: bool) -> Exit {
    let left_out = all_named && !plan.skipped.is_empty();
    if left_out && plan.ready.is_empty() {
        Exit::Guarded
    } else if left_out || !unread.is_empty() {
        Exit::Partly
    } else {
        Exit::Done
    }
}

fn say_plan(session: &Session, plan: &Plan, unread: &[String]) -> Result<(), CliError> {
    for line in unread {
        output::alarm(&format!("! {line}"));
    }
    let url = session.operations.profile().url();
    if session.json {
        return output::json(&report::dry_run(plan, &url));
    }
    output::result(&format!(
        "{}\nwould send {} POST {url}, one for each; nothing was rotated",
        report::plan(plan),
        plan.ready.len()
    ))
}

/// Tells what happens until the run has ended. The first signal stops it; Ctrl-C again leaves at once.
async fn drive(
    session: &Session,
    mut run: Run,
    ready: &Ready,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    let batch = ready.batch.0;
    let progress = Progress::start(run.batch.counts.planned());
    progress.say(format!("batch {batch}"));
    progress.counts(run.batch.counts.done(), &run.batch.counts);
    let mut finishing = Shutdown::of(signals);
    let report = loop {
        tokio::select! {
            biased;
            news = run.progress.recv() => match news {
                Some(BatchEvent::Finished(report)) => break Some(report),
                Some(news) => tell(session, &progress, news),
                None => break None,
            },
            asked = finishing.asked(&run.control, &progress) => if asked == ShutdownRequest::ToLeave {
                break None;
            },
        }
    };
    let Some(report) = report else {
        let _ = progress.end(Exit::Interrupted).await;
        output::alarm(&format!(
            "the journal knows how far it came; go on with: {} {batch}",
            report::resuming(ready.is_edit)
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
        let summary = report::summary(Some(report), &ready.plan, not_handed_off);
        progress.result(report::compact(&summary));
    }
    let left_out = ready.all_named && !ready.plan.skipped.is_empty();
    let exit = Exit::of_batch(report, left_out, not_handed_off);
    if exit == Exit::Done {
        progress.say(report::ending(report, ready.is_edit));
    } else {
        progress.alarm(report::ending(report, ready.is_edit));
    }
    if not_handed_off > 0 {
        progress.alarm(report::not_handed_off(not_handed_off));
    }
    progress.end(exit).await
}

/// New tokens of the batch that have not arrived, be it of an earlier run.
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
                progress.result(report::compact(&report::item(&ended)));
            }
            if report::is_noteworthy(&ended) {
                progress.alarm(report::line(&ended));
            } else if !progress.has_bar && !session.json {
                progress.say(report::line(&ended));
            }
            progress.counts(ended.counts.done(), &ended.counts);
        }
        BatchEvent::Throttled(wait) => progress.held(wait),
        BatchEvent::Halted(halt) => progress.alarm(halt.to_string()),
        BatchEvent::Started(_) | BatchEvent::Finished(_) => {}
    }
}
