//! Sends rows concurrently and reports each outcome. A signal stops rows that are not started; those in flight are
//! finished. Alarms, a refused key, and three failures in a row stop the run too.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use super::{
    checked::{Checked, Rows, chunk},
    tally::{Run, row_line},
};
use crate::{
    cli::{
        error::CliError,
        output::{exchanges, progress::Progress},
        process::{
            exit::Exit,
            graceful_shutdown::{Shutdown, ShutdownRequest},
            signals::Signals,
        },
        session::Session,
    },
    domain::{annotation::AnnotationChange, change::DesiredFields, group::UserGroupId},
    formats::GroupRow,
    operations::{
        Import, Permit, RowEnd,
        batch::{Control, RunLimits, SlotPool},
    },
};

pub(crate) struct Job {
    pub(crate) permit: Permit,
    pub(crate) pace: RunLimits,
    /// The import's journal, if there is one.
    pub(crate) import: Option<Import>,
    /// The values that updating rows start from, as the plan showed them.
    pub(crate) bases: HashMap<usize, DesiredFields>,
    /// The changes to annotations, as the plan showed them.
    pub(crate) annotations: HashMap<usize, AnnotationChange>,
    /// The fields of rows with single parts, as the plan showed them.
    pub(crate) completed: HashMap<usize, DesiredFields>,
}

/// Row number, group, outcome, and whether its note or labels were to change.
type Ended = (usize, UserGroupId, RowEnd, bool);

/// Rows that are not started yet.
struct Queue {
    rows: Rows,
    waiting: VecDeque<(usize, GroupRow)>,
    /// The file was read to its end.
    is_all: bool,
    /// Rows that an earlier run has done.
    done: HashSet<usize>,
}

impl Queue {
    /// Queues the next rows of the file (`None` at its end). Returns how many of them an earlier run has done.
    fn take(
        &mut self,
        next: Option<std::io::Result<Vec<(usize, GroupRow)>>>,
    ) -> Result<usize, CliError> {
        let Some(next) = next else {
            self.is_all = true;
            return Ok(0);
        };
        let rows = chunk(next)?;
        let all = rows.len();
        let done = &self.done;
        let left = rows
            .into_iter()
            .filter(|(number, _)| !done.contains(number));
        let before = self.waiting.len();
        self.waiting.extend(left);
        Ok(all - (self.waiting.len() - before))
    }
}

pub(crate) async fn run(
    session: &Session,
    signals: &mut Signals,
    checked: &Checked,
    job: Job,
) -> Result<Exit, CliError> {
    let import = job.import.as_ref().map(|import| import.id);
    let mut queue = Queue {
        rows: checked.read()?,
        waiting: VecDeque::new(),
        is_all: false,
        done: job
            .import
            .iter()
            .flat_map(|import| import.done.iter().copied())
            .collect(),
    };
    let control = Control::default();
    let progress = Progress::start(checked.rows);
    // Next to a progress bar nobody reads a line for each of a thousand rows.
    let only_odd = progress.beside_bar && !exchanges::are_printed();
    let held = |wait: Duration| progress.held(wait);
    let mut flying: FuturesUnordered<BoxFuture<'_, Ended>> = FuturesUnordered::new();
    let mut run = Run::new(job.pace.stop_after);
    let mut starts = job.pace.pace();
    let slots = SlotPool::of(job.pace);
    let mut finishing = Shutdown::of(signals);
    let left_at_once = loop {
        let is_stopped = run.stopped.is_some();
        let has_slot = slots.is_free(flying.len());
        let wants = !is_stopped && has_slot && !queue.waiting.is_empty();
        let reads = !is_stopped && queue.waiting.is_empty() && !queue.is_all;
        if flying.is_empty() && !wants && !reads {
            break false;
        }
        tokio::select! {
            biased;
            Some((number, id, end, annotates)) = flying.next(), if !flying.is_empty() => {
                let is_annotated = annotates && end.is_annotated();
                run.ended(number, &end, is_annotated);
                if let Some(line) = row_line((session.json, only_odd), number, &id, &end, is_annotated) {
                    progress.result(line);
                }
                progress.counts(run.counts.ended(), &run.counts.words());
                if run.stopped.is_some() {
                    // Requests that wait for a busy service have changed nothing, so they can be cancelled.
                    control.end();
                }
            }
            asked = finishing.next_request(&control, &progress) => {
                if asked == ShutdownRequest::Abandon {
                    break true;
                }
                run.interrupt();
            }
            next = queue.rows.recv(), if reads => run.counts.done_before += queue.take(next)?,
            () = slots.freed(), if !has_slot => {}
            may = control.may_begin(starts.next_start()), if wants => {
                if may && let Some((number, mut row)) = queue.waiting.pop_front() {
                    starts.begun();
                    let place = import.map(|import| (import, number));
                    let (permit, control, slot) = (&job.permit, &control, slots.slot());
                    let base = job.bases.get(&number);
                    if let Some(fields) = job.completed.get(&number) {
                        row.fields = fields.clone();
                    }
                    row.annotation = job.annotations.get(&number).cloned().unwrap_or_default();
                    let sent = async move {
                        let operations = &session.operations;
                        let steered = (control, slot);
                        let end = operations.send_row(permit, place, &row, base, steered, held).await;
                        (number, row.id, end, !row.annotation.is_empty())
                    };
                    flying.push(sent.boxed());
                }
            }
        }
    };
    if left_at_once {
        drop(flying);
        progress.alarm(
            "the result of requests in progress is unknown. To resume, run the same command again"
                .into(),
        );
        let _ = progress.end(Exit::Interrupted).await;
        return Err(CliError::Interrupted { in_flight: true });
    }
    drop(flying);
    run.end(checked.rows);
    if let Some(import) = import
        && run.is_complete(checked.rows)
        && let Err(error) = session.operations.end_import(import).await
    {
        progress.alarm(format!("! {error}; the same file again would send nothing"));
    }
    run.print_summary(session.json, &progress, checked.rows);
    progress.end(run.exit(checked.rows)).await
}
