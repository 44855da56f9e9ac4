//! What comes before a bulk rotation: selecting the groups, the preview, the typed confirmation, and the durable batch;
//! also the remaining items of a batch that is resumed.

use super::{Prepared, Ready, UNDONE};
use crate::{
    cli::{
        args::{ResumeBatch, Rotate},
        commands::{prelude::*, run::unreported},
        input::selection::alike,
        output::token_file::TokenLines,
    },
    directory::BatchId,
    domain::batch::{BatchKind, ItemStatus, Plan, Skip},
    operations::batch::{Report, RunLimits, ScheduledRun},
    search::SortBy,
};

/// What to rotate, and how.
pub(super) struct RotateRequest {
    pub(super) selected: Selected,
    pub(super) include_recent: bool,
    /// The batch whose groups are tried again: what it included stays included.
    pub(super) retries: Option<BatchId>,
    pub(super) mutation: Mutation,
    pub(super) reason: Option<String>,
    pub(super) options: BatchOptions,
    pub(super) token_out: Option<PathBuf>,
    /// When the groups were selected, and the last number of the directory then.
    pub(super) selected_at: (Timestamp, i64),
    /// For a run by age, as a timer starts it: only one such run at a time, and at most this many groups that can be
    /// rotated.
    pub(super) scheduled: Option<usize>,
}

/// Refuses arguments that are for one group.
pub(super) fn check(arguments: &Rotate) -> Result<(), CliError> {
    if arguments.assurance.exists || arguments.token.reveal {
        return Err(CliError::Usage(
            "--exists and --reveal work for one group only; nothing was sent. For several, use --token-out FILE".into(),
        ));
    }
    no_curl(&arguments.mutation)
}

pub(super) fn no_curl(mutation: &Mutation) -> Result<(), CliError> {
    mutation.no_curl("it works for one group only")
}

/// `rotate` of several groups, up to the durable batch.
pub(super) async fn rotate(
    session: &Session,
    arguments: Rotate,
    given: Given,
) -> Result<Prepared, CliError> {
    let operations = &session.operations;
    operations.permitted(Guarded::Bulk)?;
    operations.can_hand_off()?;
    let selected_at = (
        operations.now(),
        operations.directory().last_number().await?,
    );
    let mut scheduled = None;
    let older_than = arguments.bulk.older_than;
    let mut groups = arguments.groups;
    if older_than.is_some() {
        let order = &mut groups.order;
        order.sort.get_or_insert(SortBy::Rotated);
        // Apply the limit only to groups that can be rotated now; those that cannot must not block the others night
        // after night.
        let limit = order.limit.take();
        scheduled = Some(limit.map_or(usize::MAX, |limit| limit as usize));
    }
    let selected = Selected::of(session, (&groups, given), older_than, UNDONE).await?;
    let request = RotateRequest {
        selected,
        include_recent: arguments.bulk.include_recent,
        retries: None,
        mutation: arguments.mutation,
        reason: arguments.reason,
        options: arguments.bulk.pace.options(BatchOptions::default()),
        token_out: arguments.token.token_out,
        selected_at,
        scheduled,
    };
    begin(session, request).await
}

/// Shows the preview, asks for confirmation, and creates the durable batch.
pub(super) async fn begin(session: &Session, request: RotateRequest) -> Result<Prepared, CliError> {
    let RotateRequest {
        selected: Selected { ids, all_named },
        include_recent,
        retries,
        mutation,
        reason,
        options,
        token_out,
        selected_at: (at, noted),
        scheduled,
    } = request;
    let pace = RunLimits::of(options);
    let options = BatchOptions {
        token_out: token_out.is_some(),
        ..options
    };
    let planned = async || {
        let plan = match retries {
            Some(batch) => session.operations.plan_retry(&ids, batch).await?,
            None => session.operations.plan_batch(&ids, include_recent).await?,
        };
        let plan = plan.first(scheduled.unwrap_or(usize::MAX), &ids);
        Ok::<_, CliError>(Plan { at, noted, ..plan })
    };
    let operations = &session.operations;
    let review = Review::of(session, Guarded::Bulk, &mutation)?;
    no_curl(&mutation)?;
    session.say_where();
    let mut plan = planned().await?;
    say_near(session, &plan).await?;
    if mutation.dry_run {
        let unread = read_for_dry_run(session, &plan, pace).await?;
        // The reads may have changed what is known, so plan again.
        plan = planned().await?;
        say_plan(session, &plan, &unread)?;
        let left_out = (all_named || plan.ready.is_empty()) && !plan.skipped.is_empty();
        let exit = exit_of_dry_run(left_out, plan.ready.len(), unread.is_empty());
        return Ok(Err(exit));
    }
    if ids.is_empty() && !all_named {
        // For a nightly job this is a success.
        output::say("no group matches; nothing was sent");
        if session.json {
            output::json_line(super::summary(None, &[], None))?;
        }
        return Ok(Err(Exit::Done));
    }
    output::context(&super::plan(&plan));
    if plan.ready.is_empty() {
        return Err(CliError::Guarded(
            "no group can be rotated; nothing was sent".into(),
        ));
    }
    review.can_ask()?;
    operations.ready().await?;
    let name = &operations.profile().name;
    let words = format!("rotate {} in {name}", plan.ready.len());
    let what = "Every old token stops working at once.";
    review.ask(what, Question::TypeWords(&words)).await?;
    let schedule = match scheduled {
        Some(_) => Some(begin_scheduled(session).await?),
        None => None,
    };
    let begun = async {
        let tokens = token_lines(session, token_out.as_deref())?;
        let batch = operations.begin_batch(&plan, reason, options).await?;
        Ok::<_, CliError>((tokens, batch))
    };
    let (tokens, batch) = match begun.await {
        Ok(begun) => begun,
        Err(error) => {
            if let Some(schedule) = schedule {
                schedule.end().await;
            }
            return Err(error);
        }
    };
    let skipped = plan.skipped.into_iter();
    Ok(Ok(Ready {
        batch,
        skipped: skipped.map(|(id, skip)| (id, skip.to_string())).collect(),
        all_named,
        tokens,
        schedule,
        pace,
    }))
}

/// Makes sure that no other scheduled run of the place starts until this one ends.
async fn begin_scheduled(session: &Session) -> Result<ScheduledRun, CliError> {
    let begun = session.operations.begin_scheduled_run().await?;
    begun.map_err(|other| {
        CliError::Guarded(format!(
            "another `rotate --older-than` of this environment is {}; nothing was sent",
            other.in_words(when::second)
        ))
    })
}

/// Suggests similar ids for ids that are not known, as they may be mistyped; for no more ids than the plan names.
async fn say_near(session: &Session, plan: &Plan) -> Result<(), CliError> {
    let skipped = plan.skipped.iter().take(super::NAMED);
    let unknown = skipped.filter(|(_, why)| *why == Skip::NotKnown);
    let unknown: Vec<_> = unknown.map(|(id, _)| id).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let known = session.operations.known_ids().await?;
    for id in unknown {
        if let Some(near) = alike(id, &known, 3) {
            output::say(&format!(
                "! \"{id}\" is not in the directory; did you mean {near}?"
            ));
        }
    }
    Ok(())
}

/// The newest unfinished batch.
async fn newest_unfinished(session: &Session) -> Result<i64, CliError> {
    let batches = session.operations.batches().await?;
    let unfinished = batches.iter().filter(|batch| batch.ended_at.is_none());
    // Batches that no process is running come first.
    let newest = unfinished.min_by_key(|batch| batch.is_run());
    let newest = newest.map(|batch| batch.id.0);
    newest.ok_or_else(|| {
        CliError::Guarded("no unfinished batches in this profile; nothing was sent".into())
    })
}

/// Checks what is left of a batch and asks for confirmation.
pub(super) async fn resume(
    session: &Session,
    arguments: &ResumeBatch,
) -> Result<Prepared, CliError> {
    let operations = &session.operations;
    let number = match arguments.number {
        Some(number) => number,
        None => newest_unfinished(session).await?,
    };
    let resumption = operations.plan_resumption(BatchId(number), true).await?;
    let batch = &resumption.batch;
    let writes = batch.unwritten > 0 && arguments.token_out.is_some();
    if batch.ended_at.is_some() && !writes {
        output::say(&format!(
            "batch {} is already finished; nothing was sent",
            batch.id.0
        ));
        if let Some(told) = super::unwritten(batch) {
            output::alarm(&told);
        }
        if session.json {
            let report = Report {
                batch: batch.id,
                counts: batch.counts,
                halt: None,
            };
            output::json_line(super::summary(Some(&report), &[], Some(batch)))?;
        }
        return Ok(Err(Exit::Done));
    }
    let before = operations.batch_options(batch.id).await?;
    let is_edit = matches!(batch.kind, BatchKind::Edit(_));
    if let Some(told) = super::runner(batch).filter(|_| batch.is_run()) {
        if !arguments.join {
            return Err(CliError::Guarded(format!(
                "batch {0} is {told}; nothing was sent. To see its progress: groupdesk batches show {0}. To join it: groupdesk \
                 batches resume {0} --join",
                batch.id.0
            )));
        }
        output::context(&format!("! joins a run of another process: {told}"));
    }
    if is_edit {
        no_tokens(batch.id, arguments.token_out.as_deref())?;
    }
    if resumption.left() > 0 {
        let has_file = arguments.token_out.is_some();
        operations
            .options_again(batch.id, "resume", has_file)
            .await?;
    }
    let review = Review::new(session, arguments.yes);
    session.say_where();
    output::context(&format!(
        "batch {}, started {} by {}: {}",
        batch.id.0,
        when::second(batch.started_at),
        batch.by,
        batch.counts.in_words_of(&batch.kind)
    ));
    let items = resumption.items.iter();
    for item in items.filter(|item| item.status() == ItemStatus::Conflict) {
        let why = item.note.as_deref().unwrap_or("CONFLICT");
        let id = &item.user_group_id;
        output::context(&format!(
            "! stopped at \"{id}\": {why}; investigate before you resume"
        ));
    }
    for (id, skip) in resumption.refused.iter().take(super::NAMED) {
        output::context(&format!("would be skipped now: {id}: {skip}"));
    }
    if resumption.left() > 0 {
        review.can_ask()?;
    }
    operations.ready().await?;
    if resumption.left() > 0 {
        let words = resumption.words(&operations.profile().name);
        let effect = match &batch.kind {
            BatchKind::Rotate => "every old token stops working at once".into(),
            BatchKind::Edit(change) => format!("reads each group, then sends one update: {change}"),
        };
        let what = format!("{} left: {effect}.", resumption.left());
        review.ask_at(resumption.level, &what, &words).await?;
    }
    let tokens = token_lines(session, arguments.token_out.as_deref())?;
    Ok(Ok(Ready {
        batch: batch.id,
        skipped: Vec::new(),
        all_named: true,
        tokens,
        schedule: None,
        pace: RunLimits::of(arguments.pace.options(before)),
    }))
}

/// Refuses a token file for a batch of edits, which has no tokens to write.
pub(super) fn no_tokens(batch: BatchId, file: Option<&Path>) -> Result<(), CliError> {
    match file {
        None => Ok(()),
        Some(_) => Err(CliError::Usage(format!(
            "batch {} is a bulk edit and has no new tokens; nothing was sent. Remove --token-out",
            batch.0
        ))),
    }
}

fn token_lines(
    session: &Session,
    file: Option<&Path>,
) -> Result<Option<Arc<TokenLines>>, CliError> {
    let fingerprinter = session.operations.directory().fingerprinter();
    file.map(|file| TokenLines::create(file, fingerprinter).map(Arc::new))
        .transpose()
}

/// Reads the groups that would be rotated, known ids only. Returns the ones that could not be read, with the reason, and
/// why it stopped.
async fn read_for_dry_run(
    session: &Session,
    plan: &Plan,
    pace: RunLimits,
) -> Result<Vec<String>, CliError> {
    let operations = &session.operations;
    let reads = operations.plan_reading(&plan.ready, false, false).await?;
    let reading = operations.run_refresh(None, reads, pace, false, None)?;
    let mut unread = Vec::new();
    let sum = unreported(session, reading, |read| {
        let alarm = read.warnings.iter().find(|warning| warning.is_alarm());
        let failure = read.failure.as_ref().map(ToString::to_string);
        let why = failure.or(alarm.map(ToString::to_string));
        unread.extend(why.map(|why| format!("{}: {why}", read.user_group_id)));
    });
    let sum = sum.await;
    let halt = sum.ok_or(CliError::Interrupted { in_flight: false })?.halt;
    unread.extend(halt.map(|halt| format!("not all groups were read: {halt}")));
    Ok(unread)
}

/// The exit code the run itself would have, as far as a plan can tell. `left_out`: some groups that the person named
/// are left out.
pub(super) fn exit_of_dry_run(left_out: bool, ready: usize, all_read: bool) -> Exit {
    if left_out && ready == 0 {
        Exit::Guarded
    } else if left_out || !all_read {
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
        return output::json(&super::dry_run(plan, &url));
    }
    output::result(&format!(
        "{}\nwould send {} POST {url}, one per group; nothing was rotated",
        super::plan(plan),
        plan.ready.len()
    ))
}
