//! Bulk runs: `rotate` and `update` of several groups, `batches resume`, `retry` and `reverse`; their text and their JSON. The run
//! itself is in `operations::batch`. A signal stops it; requests in flight are finished and recorded.

pub(crate) mod edit;
mod prepare;

use std::future::{self, ready};

use super::{
    handoff,
    prelude::*,
    run::{RunReport, Summary, follow_until},
};
use crate::{
    cli::{
        args::{AgainBatch, ResumeBatch, Rotate, Update},
        output::{
            json::{
                COUNTS, LEFT_OUT, REQUESTS, WARNINGS, counts, left_out as skipped, requests,
                warnings,
            },
            token_file::TokenLines,
        },
        process::exit::RunEnd,
    },
    directory::BatchId,
    domain::batch::{BatchKind, Counts, ItemStatus, NOT_IN_FILE, Plan},
    operations::{
        Batch,
        batch::{Bulk, Ended, Report, RunLimits, ScheduledRun, TokenSink},
    },
};

/// In JSON.
pub(super) const UNWRITTEN: &str = "new tokens that are not in the file of --token-out";

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
        let asked = prepare::RotateRequest {
            selected: Selected {
                ids: operations.groups_to_retry(batch.id).await?,
                all_named: true,
            },
            include_recent: false,
            retries: Some(batch.id),
            mutation: arguments.mutation,
            reason: arguments.reason.or(batch.reason),
            options: arguments.pace.options(before),
            token_out,
            selected_at: (
                operations.now(),
                operations.directory().last_number().await?,
            ),
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
    let session = signals.unless_signalled(Session::open(global)).await?;
    // A run waits for a server that is away.
    session.operations.directory().set_is_of_command(false);
    signals.unless_signalled(session.say_other_places()).await?;
    let known = session.refuse_unknown_key();
    signals.unless_signalled(known).await?;
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
            progress.result(output::compact(item(ended)));
        }
        if is_noteworthy(ended) {
            progress.alarm(line(ended));
        } else if !progress.has_bar && !session.json {
            progress.say(line(ended));
        }
        Some(ended.counts)
    }

    fn again(&self) -> Option<String> {
        let (number, more) = (self.batch.0, again_with(self.tokens.is_some()));
        Some(format!("{RESUME} {number}{more}"))
    }

    async fn summary(self, session: &Session, sum: Report) -> Summary {
        let operations = &session.operations;
        let mut batch = operations.batch(sum.batch).await.ok();
        let waiting = batch.as_ref();
        let waiting = waiting.map_or(0, |batch| batch.not_handed_off + batch.unwritten);
        let mut next = Vec::new();
        if let Some(batch) = &mut batch {
            batch.no_retry = operations.why_no_retry(batch).await.unwrap_or_default();
            next = how_to_retry(batch, self.tokens.is_some());
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
            is_left: counts.not_applied + counts.not_started + waiting > 0 || left_out,
            first_failure: None,
            halt: sum.halt.as_ref(),
        });
        let summary = || summary(Some(&sum), &self.skipped, batch.as_ref());
        Summary {
            exit,
            alarms: for_a_person(session, &sum, batch.as_ref()),
            result: session.json.then(|| output::compact(summary())),
            said: Some(format!("batch {}: {said}", sum.batch.0)),
            next,
            is_left: counts.not_started > 0,
        }
    }
}

/// How many groups of each kind are named before a confirmation.
pub(super) const NAMED: usize = 20;

/// What `handoff` of a group of a batch means.
pub(super) const HAND_OFF_STATE: &str = "hand-off of the new token: none, pending, done or failed";

shape! {
    pub(crate) ITEM = "bulk-item", "a group of a bulk rotation or bulk edit, as soon as it ends";
    pub(crate) fn item(ended: &Ended) {
        "batch": number = ended.key.batch.0, "number of the batch, for batches resume and retry";
        "user_group_id": text = ended.user_group_id.as_str(), "the group";
        "outcome": text = ended.outcome, "a value of `answer` or of `failure`";
        "rotation": number or "none was started" = ended.rotation.map(|rotation| rotation.0), "number of the rotation";
        "previous_fingerprint": text or "unknown" = ended.previous, "fingerprint of the replaced token";
        "fingerprint": text or "unknown" = ended.fingerprint, "fingerprint of the new token";
        "handoff": text = ended.handoff.as_str(), HAND_OFF_STATE;
        "settled": bool = ended.settled, "whether an earlier run started it and this run only checked it";
        "milliseconds": number = ended.took.as_millis() as u64, "how long it took";
        "note": text or "none" = ended.note.as_deref().map(proposals::complete), "more information; human-readable, may change";
        ..WARNINGS = warnings(&ended.warnings);
    }

    pub(crate) SUM = "bulk-sum", "the last line of a bulk rotation or a bulk edit: confirmed + rotated + not_applied + unknown + conflict + abandoned + \
                not_started = planned";
    /// Without a report there was nothing to do.
    pub(crate) fn summary(report: Option<&Report>, left_out: &[(UserGroupId, String)], batch: Option<&Batch>) {
        "batch": number or "nothing to do" = report.map(|report| report.batch.0), "number of the batch";
        ..COUNTS = counts(&report.map(|report| report.counts).unwrap_or_default());
        "not_handed_off": number = batch.map_or(0, |batch| batch.not_handed_off), "new tokens that were not delivered";
        "unwritten": number = batch.map_or(0, |batch| batch.unwritten), UNWRITTEN;
        "stopped": text or "it ran to its end" = report.and_then(|report| report.halt.as_ref()), "why it stopped; human-readable, may change";
        ..LEFT_OUT = skipped(left_out.iter().map(|(id, why)| (id, why.clone())));
    }

    pub(crate) PLAN = "bulk-plan", "what a bulk rotation would do";
    pub(crate) fn dry_run(plan: &Plan, url: &str) {
        ..REQUESTS = requests("POST", url);
        "ready": texts = plan.ready.iter().map(UserGroupId::as_str), "IDs of the groups that would be rotated";
        ..LEFT_OUT = skipped(plan.skipped.iter().map(|(id, why)| (id, why.to_string())));
    }
}

pub(super) fn line(ended: &Ended) -> String {
    let mut parts = vec![format!(
        "{} {}",
        ended.user_group_id,
        ended.outcome.replace('_', " ")
    )];
    if let Some(new) = ended.fingerprint {
        let old = ended.previous.map(|old| old.to_string());
        parts.push(format!("{} -> {new}", old.unwrap_or_else(|| "-".into())));
    }
    let note = ended.note.as_ref();
    parts.extend(note.map(|note| format!("- {}", visible(note))));
    parts.extend(unsaid(ended).map(|unsaid| format!("! {unsaid}")));
    let warnings = ended.warnings.iter();
    parts.extend(warnings.map(|warning| format!("! {warning}")));
    parts.join(" ")
}

/// What the result of an item leaves unsaid: a rotation that may be somebody else's, as after a single one.
fn unsaid(ended: &Ended) -> Option<String> {
    let mut unclear = [Ending::Recovered, Ending::Superseded].into_iter();
    let ending = unclear.find(|one| one.as_str() == ended.outcome)?;
    human::note(ending, &ended.user_group_id)
}

/// The preview for a person.
pub(super) fn plan(plan: &Plan) -> String {
    let (ready, skipped) = (plan.ready.len(), plan.skipped.len());
    let mut lines = vec![format!("{ready} ready, {skipped} skipped")];
    let ready = plan.ready.iter().take(NAMED);
    lines.extend(ready.map(|id| format!("  rotate {id}")));
    lines.extend(more(plan.ready.len()));
    if plan.skipped.len() > NAMED {
        let reasons = plan.reasons().into_iter();
        lines.extend(reasons.map(|(count, why)| format!("  {count} skipped: {why}")));
    }
    let skipped = plan.skipped.iter().take(NAMED);
    lines.extend(skipped.map(|(id, skip)| format!("  skip   {id}: {skip}")));
    lines.extend(more(plan.skipped.len()));
    if plan.skipped.iter().any(|(_, skip)| skip.is_recent()) {
        lines.push("  --include-recent also includes groups rotated less than 24 h ago".into());
    }
    lines.join("\n")
}

pub(super) fn more(count: usize) -> Option<String> {
    (count > NAMED).then(|| format!("  and {} more", count - NAMED))
}

/// What needs a person before anything else.
pub(super) fn for_a_person(
    session: &Session,
    report: &Report,
    batch: Option<&Batch>,
) -> Vec<String> {
    let unknown = (report.counts.unknown > 0).then(|| {
        let number = report.batch.0;
        format!("to check unknown results: groupdesk batches check {number}")
    });
    let tokens = match batch.map_or(0, |batch| batch.not_handed_off) {
        0 => None,
        1 => Some("1 new token has".to_owned()),
        count => Some(format!("{count} new tokens have")),
    };
    let tokens = tokens.map(|tokens| {
        let when = handoff::when_to_retry(session);
        format!(
            "{tokens} not been handed off; {when}: groupdesk rotations handoff --pending --failed"
        )
    });
    let unwritten = batch.and_then(unwritten);
    let all = [unknown, tokens, unwritten].into_iter();
    all.flatten().collect()
}

/// The command that writes the new tokens that are missing in the file of a batch.
pub(super) fn unwritten(batch: &Batch) -> Option<String> {
    let tokens = match batch.unwritten {
        0 => return None,
        1 => "1 new token is".to_owned(),
        count => format!("{count} new tokens are"),
    };
    Some(format!(
        "{tokens} {NOT_IN_FILE}. To write: {RESUME} {} --token-out FILE",
        batch.id.0
    ))
}

/// How to retry what certainly did not happen, or why a retry would take nothing.
fn how_to_retry(batch: &Batch, has_token_file: bool) -> Vec<String> {
    let (number, more) = (batch.id.0, again_with(has_token_file));
    let retry = match &batch.no_retry {
        Some(why) => Some(format!("nothing to retry in batch {number}: {why}")),
        None => (batch.counts.not_applied > 0).then(|| {
            format!("to retry groups that were not changed: groupdesk batches retry {number}{more}")
        }),
    };
    Vec::from_iter(retry)
}

/// What a retry needs in addition.
pub(crate) fn again_with(has_token_file: bool) -> &'static str {
    if has_token_file {
        " --token-out FILE"
    } else {
        ""
    }
}

/// The command that resumes a batch, without the batch number.
pub(super) const RESUME: &str = "groupdesk batches resume";

/// Whether the item is worth a line of its own when a progress bar shows the rest.
pub(super) fn is_noteworthy(ended: &Ended) -> bool {
    unsaid(ended).is_some()
        || ended.status != ItemStatus::Confirmed
        || ended.note.is_some()
        || !ended.warnings.is_empty()
}

/// Who is running the batch, or why its last run stopped starting items.
pub(crate) fn runner(batch: &Batch) -> Option<String> {
    let told = batch.last_run_in_words(when::second);
    told.map(|told| visible(&told).into_owned())
}
