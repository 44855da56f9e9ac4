//! The outcomes of the rows that were sent: counts, report lines, the summary, and the exit code.

use std::fmt::Write;

use jiff::Timestamp;

use super::plan::{ANNOTATED, annotated};
use crate::{
    cli::{
        output::{
            self,
            json::{WARNINGS, warnings},
            progress::Progress,
            shape::shape,
        },
        process::exit::Exit,
    },
    domain::{
        group::UserGroupId,
        text::{counted, visible},
    },
    operations::{RowEnd, Warning},
};

/// How many rows had which outcome. With `done_before` and the rows not started they add up to all rows.
#[derive(Debug, Default)]
pub(super) struct Counts {
    created: usize,
    existed: usize,
    updated: usize,
    /// Unchanged according to a read in this run.
    unchanged: usize,
    /// As wanted according to what is known; not read in this run.
    as_known: usize,
    failed: usize,
    unknown: usize,
    /// How many of the completed rows changed a note, labels or favourite here.
    annotated: usize,
    pub(super) done_before: usize,
}

impl Counts {
    fn count(&mut self, end: &RowEnd) {
        let place = match (end, end.outcome()) {
            (RowEnd::NotStarted, _) => return,
            _ if end.is_unknown() => &mut self.unknown,
            (RowEnd::Done { .. }, "created") => &mut self.created,
            (RowEnd::Done { .. }, "existed") => &mut self.existed,
            (RowEnd::Done { .. }, "updated") => &mut self.updated,
            (RowEnd::Done { read_at: None, .. }, "unchanged") => &mut self.as_known,
            (RowEnd::Done { .. }, "unchanged") => &mut self.unchanged,
            _ => &mut self.failed,
        };
        *place += 1;
    }

    pub(super) fn done(&self) -> usize {
        self.created
            + self.existed
            + self.updated
            + self.unchanged
            + self.as_known
            + self.done_before
    }

    pub(super) fn ended(&self) -> usize {
        self.done() + self.failed + self.unknown
    }

    fn parts(&self) -> [(&'static str, usize); 7] {
        [
            ("created", self.created),
            ("existed", self.existed),
            ("updated", self.updated),
            ("unchanged", self.unchanged + self.as_known),
            ("failed", self.failed),
            ("unknown", self.unknown),
            ("done_before", self.done_before),
        ]
    }

    /// The counts for people. Rows that were not read are not called unchanged.
    fn for_people(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let unchanged = ("unchanged", self.unchanged);
        let as_known = ("as last known", self.as_known);
        let parts = self.parts().into_iter();
        parts
            .filter(|(name, _)| *name != "unchanged")
            .chain([unchanged, as_known])
    }

    /// The counts that are not zero.
    pub(super) fn words(&self) -> String {
        words(self.for_people())
    }
}

fn words(parts: impl IntoIterator<Item = (&'static str, usize)>) -> String {
    let parts = parts.into_iter().filter(|(_, count)| *count > 0);
    let parts: Vec<_> = parts
        .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
        .collect();
    parts.join(", ")
}

const INTERRUPTED: &str = "interrupted";

/// The state of a run so far.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) counts: Counts,
    /// Stop after this many failures in a row, as the next would probably fail too; 0 never stops.
    stop_after: usize,
    in_a_row: usize,
    pub(super) stopped: Option<String>,
    interrupted: bool,
    alarmed: bool,
    first_failure: Option<Exit>,
}

impl Run {
    pub(super) fn new(stop_after: usize) -> Self {
        Self {
            stop_after,
            ..Self::default()
        }
    }

    pub(super) fn interrupt(&mut self) {
        self.interrupted = true;
        self.stopped.get_or_insert_with(|| INTERRUPTED.into());
    }

    pub(super) fn ended(&mut self, number: usize, end: &RowEnd, is_annotated: bool) {
        self.counts.count(end);
        self.counts.annotated += usize::from(is_annotated);
        let failure = match end {
            // Somebody else changed the annotations first, which says nothing about the next row.
            RowEnd::Done { .. } if end.leaves_annotations() => {
                self.first_failure.get_or_insert(Exit::Partly);
                return;
            }
            RowEnd::Done { .. } => end.is_alarm().then_some(Exit::Guarded),
            // A row that was not started says nothing about the next one.
            RowEnd::NotStarted => return,
            RowEnd::NotThere => {
                self.first_failure.get_or_insert(Exit::Guarded);
                return;
            }
            // Says nothing about the next row, but the plan was carried out only in part.
            RowEnd::Failed(_) if end.is_changed_since() => {
                self.first_failure.get_or_insert(Exit::Partly);
                return;
            }
            RowEnd::Failed(failure) => Some(Exit::from_failure(failure)),
        };
        self.in_a_row = failure.map_or(0, |_| self.in_a_row + 1);
        if end.is_alarm() {
            self.alarmed = true;
            self.stopped.get_or_insert_with(|| {
                format!("stopped at row {number}: the next could fail the same")
            });
        } else if self.in_a_row >= self.stop_after && self.stop_after > 0 {
            let in_a_row = self.stop_after;
            self.stopped
                .get_or_insert_with(|| format!("{in_a_row} failures in a row"));
        }
        self.first_failure = self.first_failure.or(failure);
    }

    fn not_started(&self, rows: usize) -> usize {
        rows - self.counts.ended()
    }

    /// Whether every row is recorded as done. A row that ended with an alarm is not.
    pub(super) fn is_complete(&self, rows: usize) -> bool {
        self.counts.done() == rows && !self.alarmed
    }

    /// Call when no more rows will be started. An interrupt that came too late to leave anything out does not count.
    pub(super) fn end(&mut self, rows: usize) {
        if self.interrupted && self.not_started(rows) == 0 {
            self.interrupted = false;
            self.stopped.take_if(|stopped| stopped == INTERRUPTED);
        }
    }

    pub(super) fn print_summary(&self, as_json: bool, progress: &Progress, rows: usize) {
        let not_started = self.not_started(rows);
        if !self.is_complete(rows) {
            progress.say(
                "to resume, run the same command again; finished rows are not sent again".into(),
            );
        }
        if as_json {
            progress.result(output::compact(sum(self, rows)));
            return;
        }
        if let Some(stopped) = &self.stopped {
            progress.alarm(format!("! {stopped}"));
        }
        let annotated = ("annotated", self.counts.annotated);
        let words = words(
            self.counts
                .for_people()
                .chain([("not_started", not_started), annotated]),
        );
        let comma = if words.is_empty() { "" } else { "; " };
        progress.result(format!("{words}{comma}{}", counted(rows, "row")));
    }

    pub(super) fn exit(&self, rows: usize) -> Exit {
        match self.first_failure {
            _ if self.counts.unknown > 0 => Exit::Unknown,
            _ if self.interrupted => Exit::Interrupted,
            Some(first) if self.counts.done() == 0 => first,
            Some(_) => Exit::Partly,
            None if self.not_started(rows) > 0 => Exit::Partly,
            None => Exit::Done,
        }
    }
}

/// The report line of one row, or `None` if there is nothing to report. `only_odd`: report only what a person has to
/// look at.
pub(super) fn row_line(
    (as_json, only_odd): (bool, bool),
    number: usize,
    id: &UserGroupId,
    end: &RowEnd,
    is_annotated: bool,
) -> Option<String> {
    if matches!(end, RowEnd::NotStarted) {
        return None;
    }
    if as_json {
        return Some(output::compact(row(number, id, end, is_annotated)));
    }
    let note = note(end);
    let warnings: Vec<_> = warned(end).iter().map(ToString::to_string).collect();
    let is_plain = warnings.is_empty() && note.is_none();
    if is_plain && (only_odd || !is_annotated && end.outcome() == "unchanged") {
        return None;
    }
    let mut text = format!(
        "{} {}{}",
        visible(id.as_str()),
        end.outcome().replace('_', " "),
        if is_annotated { ", annotated" } else { "" }
    );
    if let Some(note) = &note {
        write!(text, "\n  x {}", visible(note)).expect("a String takes it");
    }
    for warning in &warnings {
        write!(text, "\n  ! {}", visible(warning)).expect("a String takes it");
    }
    Some(text)
}

/// What is wrong with the row.
fn note(end: &RowEnd) -> Option<String> {
    match end {
        RowEnd::NotThere => {
            Some("never seen in the service; nothing was sent. To create it, add --create".into())
        }
        RowEnd::Failed(failure) => Some(failure.to_string()),
        RowEnd::Done { .. } | RowEnd::NotStarted => None,
    }
}

fn warned(end: &RowEnd) -> &[Warning] {
    match end {
        RowEnd::Done { warnings, .. } => warnings,
        RowEnd::NotThere | RowEnd::NotStarted | RowEnd::Failed(_) => &[],
    }
}

fn read_at(end: &RowEnd) -> Option<Timestamp> {
    match end {
        RowEnd::Done { read_at, .. } => *read_at,
        RowEnd::NotThere | RowEnd::NotStarted | RowEnd::Failed(_) => None,
    }
}

shape! {
    pub(crate) ROW = "sent-row", "result of a sent row, as soon as it ends";
    fn row(number: usize, id: &UserGroupId, end: &RowEnd, is_annotated: bool) {
        "row": number = number, "row number in the files, from 1";
        "user_group_id": text = id.as_str(), "the group";
        "outcome": text = if end.is_unknown() { "unknown" } else { end.outcome() }, "created, existed, updated, unchanged, not_known, failed, or a value of `failure`";
        "note": text or "none" = note(end), "what is wrong; human-readable, may change";
        ..WARNINGS = warnings(warned(end));
        "read_at": time or "it was not read in this run" = read_at(end), "when the group was last seen in the service";
        maybe "annotated": bool = is_annotated.then_some(true), "only present if its note, labels or favourite were changed in the directory";
    }
}

shape! {
    pub(crate) SUM = "sent-sum", "the last line: created + existed + updated + unchanged + failed + unknown + done_before + not_started = rows";
    fn sum(run: &Run, rows: usize) {
        "rows": number = rows, "rows of the files";
        "created": number = run.counts.created, "groups that were created";
        "existed": number = run.counts.existed, "groups that already existed; unchanged";
        "updated": number = run.counts.updated, "groups that were changed";
        "unchanged": number = run.counts.unchanged + run.counts.as_known, "groups that already had these values";
        "failed": number = run.counts.failed, "groups that failed";
        "unknown": number = run.counts.unknown, "groups whose change may or may not have taken effect";
        "done_before": number = run.counts.done_before, "rows that an earlier run of the same file has done";
        "not_started": number = run.not_started(rows), "groups for which nothing was sent";
        "stopped": text or "it ran to its end" = run.stopped.as_ref(), "why it stopped; human-readable, may change";
        maybe "annotations": {ANNOTATED} = (run.counts.annotated > 0).then(|| annotated((run.counts.annotated, 0))), "notes, labels and favourites; only present if a row changes any";
    }
}
