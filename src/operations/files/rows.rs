//! Sends the rows of a file to the service: a run with one create or update for each (`operations::run`).

use std::{collections::VecDeque, io};

use tokio::sync::mpsc;

use super::import::{Permit, RowEnd};
use crate::{
    directory::Import,
    domain::{annotation::AnnotationChange, text::listed},
    formats::GroupRow,
    operations::{
        prelude::*,
        run::{self, Consequence, Context, Event, Hold, Kind, Run, RunLimits, Slot, Sum, Work},
    },
};

/// Rows in order, with their numbers.
pub type Rows = mpsc::Receiver<io::Result<Vec<(usize, GroupRow)>>>;

/// What is to be sent, as the plan showed it.
#[derive(Debug)]
pub struct RowsToSend {
    pub rows: Rows,
    /// How many there are.
    pub planned: usize,
    pub permit: Arc<Permit>,
    /// Notes the rows that are done, if the file has a journal.
    pub journal: Option<Import>,
    /// The values that updating rows start from.
    pub bases: HashMap<usize, DesiredFields>,
    /// The changes to annotations.
    pub annotations: HashMap<usize, AnnotationChange>,
    /// The fields of rows with single parts.
    pub completed: HashMap<usize, DesiredFields>,
}

/// Sending rows.
#[derive(Debug)]
pub struct SendingRows;

impl Kind for SendingRows {
    type Key = usize;
    type End = RowSent;
    type Sum = Sum<RowCounts>;
    type Counts = RowCounts;
}

/// How a row ended.
#[derive(Debug)]
pub struct RowSent {
    pub number: usize,
    pub id: UserGroupId,
    pub end: RowEnd,
    /// Its note, labels or favourite were changed in the directory.
    pub is_annotated: bool,
    /// Counts over all rows after this one.
    pub counts: RowCounts,
}

/// How many rows had which outcome. They add up to all rows, without `annotated`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    pub created: usize,
    pub existed: usize,
    pub updated: usize,
    /// Unchanged according to a read in this run.
    pub unchanged: usize,
    /// As wanted according to what is known; not read in this run.
    pub as_known: usize,
    pub failed: usize,
    pub unknown: usize,
    /// Done by an earlier run of the same file.
    pub done_before: usize,
    pub not_started: usize,
    /// How many of the completed rows changed a note, labels or favourite here.
    pub annotated: usize,
}

impl RowCounts {
    fn ended(&mut self, row: &RowSent) {
        let place = match (&row.end, row.end.outcome()) {
            (RowEnd::NotStarted, _) => return,
            _ if row.end.is_unknown() => &mut self.unknown,
            (RowEnd::Done { .. }, "created") => &mut self.created,
            (RowEnd::Done { .. }, "existed") => &mut self.existed,
            (RowEnd::Done { .. }, "updated") => &mut self.updated,
            (RowEnd::Done { read_at: None, .. }, "unchanged") => &mut self.as_known,
            (RowEnd::Done { .. }, "unchanged") => &mut self.unchanged,
            _ => &mut self.failed,
        };
        *place += 1;
        self.not_started = self.not_started.saturating_sub(1);
        self.annotated += usize::from(row.is_annotated);
    }

    /// Those after which nothing is left to do.
    pub fn complete(&self) -> usize {
        self.created
            + self.existed
            + self.updated
            + self.unchanged
            + self.as_known
            + self.done_before
    }
}

impl run::Counts for RowCounts {
    fn done(&self) -> usize {
        self.complete() + self.failed + self.unknown
    }

    fn planned(&self) -> usize {
        self.done() + self.not_started
    }
}

/// For example `1 unknown, 2 created; 3 rows`. What needs a person comes first; zeros are left out, and rows that were not read are not called unchanged.
impl fmt::Display for RowCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.unknown, "unknown"),
            (self.failed, "failed"),
            (self.created, "created"),
            (self.existed, "existed"),
            (self.updated, "updated"),
            (self.done_before, "done before"),
            (self.unchanged, "unchanged"),
            (self.as_known, "without difference"),
            (self.not_started, "not started"),
            (self.annotated, "annotated"),
        ];
        let rows = counted(run::Counts::planned(self), "row");
        match listed(parts) {
            none if none.is_empty() => f.write_str(&rows),
            parts => write!(f, "{parts}; {rows}"),
        }
    }
}

struct Queue {
    operations: Operations,
    all: RowsToSend,
    waiting: VecDeque<(usize, GroupRow)>,
    /// Rows that an earlier run has done.
    done_before: HashSet<usize>,
    counts: RowCounts,
}

impl Operations {
    /// Sends the rows that an earlier run has not done. The journal is closed when all are done.
    pub fn send_rows(&self, all: RowsToSend, pace: RunLimits) -> Run<SendingRows> {
        let done = all.journal.iter().flat_map(|journal| &journal.done);
        let done_before: HashSet<_> = done.copied().collect();
        let counts = RowCounts {
            done_before: done_before.len(),
            not_started: all.planned.saturating_sub(done_before.len()),
            ..RowCounts::default()
        };
        let queue = Queue {
            // Whoever runs it waits for the directory, and so do the answers.
            operations: self.keeping_outcomes(),
            all,
            waiting: VecDeque::new(),
            done_before,
            counts,
        };
        let (context, run) = Context::new(counts);
        tokio::spawn(queue.run(pace, context));
        run
    }
}

impl Queue {
    async fn run(mut self, pace: RunLimits, run: Context<SendingRows>) {
        let mut halt = run::drive(&mut self, pace, &run).await;
        let counts = self.counts;
        if let Some(journal) = &self.all.journal
            && halt.is_none()
            && counts.complete() == run::Counts::planned(&counts)
            && let Err(error) = self.operations.end_import(journal.id).await
        {
            let why = format!("{error}; importing the same file again would send nothing");
            halt = Some(run.halted(Halt::Cannot(why)));
        }
        run.tell(Event::Finished(Sum { counts, halt }));
    }
}

impl Work for Queue {
    type Kind = SendingRows;
    type Item = (usize, GroupRow);
    type Outcome = RowSent;

    async fn next(&mut self) -> Result<Option<(usize, GroupRow)>, Halt> {
        while self.waiting.is_empty() {
            let Some(rows) = self.all.rows.recv().await else {
                return Ok(None);
            };
            let rows = rows.map_err(|error| {
                Halt::Cannot(format!("the copy of the file cannot be read: {error}"))
            })?;
            let left = rows.into_iter();
            let left = left.filter(|(number, _)| !self.done_before.contains(number));
            self.waiting.extend(left);
        }
        Ok(self.waiting.pop_front())
    }

    fn begin(
        &self,
        (number, mut row): (usize, GroupRow),
        run: Context<SendingRows>,
        slot: Slot,
    ) -> BoxFuture<'static, RowSent> {
        let all = &self.all;
        if let Some(fields) = all.completed.get(&number) {
            row.fields = fields.clone();
        }
        row.annotation = all.annotations.get(&number).cloned().unwrap_or_default();
        let (operations, permit) = (self.operations.clone(), Arc::clone(&all.permit));
        let place = all.journal.as_ref().map(|journal| (journal.id, number));
        let base = all.bases.get(&number).cloned();
        async move {
            let steered = (&run.control, slot);
            let held = |hold: Hold| run.tell(hold.into());
            let sent = operations.send_row(&permit, place, &row, base.as_ref(), steered, held);
            let end = sent.await;
            RowSent {
                number,
                is_annotated: !row.annotation.is_empty() && end.is_annotated(),
                id: row.id,
                end,
                counts: RowCounts::default(),
            }
        }
        .boxed()
    }

    fn ended(&mut self, mut row: RowSent, run: &Context<SendingRows>) -> Consequence {
        self.counts.ended(&row);
        row.counts = self.counts;
        let consequence = match &row.end {
            RowEnd::NotStarted if run.control.command().is_stop() => Consequence::NotStarted,
            // Somebody else changed the annotations first, or more differs than was confirmed: that says nothing about the
            // next row.
            RowEnd::NotStarted | RowEnd::NotThere => Consequence::Neutral,
            RowEnd::Done { .. } if row.end.leaves_annotations() => Consequence::Neutral,
            // Of the next row is as little known.
            RowEnd::Failed(failure @ Failure::NotKnownEnough(unknown))
                if !unknown.is_of_one_group() =>
            {
                Consequence::Stop(Halt::Cannot(failure.to_string()))
            }
            RowEnd::Failed(failure) if !row.end.is_alarm() || failure.concerns_all() => {
                failure.into()
            }
            end if end.is_alarm() => Consequence::Stop(Halt::Alarm(row.id.clone())),
            _ => Consequence::Good,
        };
        run.tell(Event::Ended(Box::new(row)));
        consequence
    }
}
