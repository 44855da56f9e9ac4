//! The report of the rows of a file that were sent, and its exit code. The run itself is in `operations`.

use std::fmt::Write;

use super::shown::{ANNOTATED, ShownPlan, annotated};
use crate::{
    cli::{
        commands::{
            prelude::*,
            run::{RunReport, Summary, follow},
        },
        output::{
            compact, exchanges,
            json::{WARNINGS, warnings},
        },
        process::exit::RunEnd,
    },
    domain::batch::Halt,
    operations::{
        RowCounts, RowEnd, RowSent, RowsToSend, SendingRows,
        run::{Counts, RunLimits, Sum},
    },
};

pub(crate) async fn run(
    session: &Session,
    signals: &mut Signals,
    rows: RowsToSend,
    pace: RunLimits,
) -> Result<Exit, CliError> {
    let run = session.operations.send_rows(rows, pace);
    follow(session, signals, run, Sent::default()).await
}

/// The report so far.
#[derive(Default)]
struct Sent {
    first_failure: Option<Exit>,
    /// A row failed for another reason than the file and its options.
    may_succeed: bool,
}

impl RunReport for Sent {
    type Of = SendingRows;

    fn ended(
        &mut self,
        session: &Session,
        progress: &Progress,
        row: &RowSent,
    ) -> Option<RowCounts> {
        let failure = match &row.end {
            RowEnd::NotStarted => return None,
            RowEnd::Done { .. } if row.end.leaves_annotations() => Some(Exit::Partly),
            RowEnd::Done { .. } => row.end.is_alarm().then_some(Exit::Guarded),
            RowEnd::NotThere => Some(Exit::Guarded),
            // The plan was carried out only in part.
            RowEnd::Failed(_) if row.end.is_changed_since() => Some(Exit::Partly),
            RowEnd::Failed(failure) => Some(Exit::from(failure.class())),
        };
        self.first_failure = self.first_failure.or(failure);
        self.may_succeed |= match &row.end {
            RowEnd::Failed(Failure::NotKnownEnough(unknown)) => unknown.waits_for_a_result(),
            end => matches!(end, RowEnd::Failed(_)),
        };
        // Next to a progress bar nobody reads a line for each of a thousand rows.
        let only_odd = progress.beside_bar && !exchanges::are_printed();
        if session.json {
            progress.result(compact(sent(row)));
        } else if let Some(line) = line(row, only_odd) {
            progress.result(line);
        }
        Some(row.counts)
    }

    fn again(&self) -> Option<String> {
        Some("run the same command again; finished rows are not sent again".into())
    }

    async fn summary(self, session: &Session, Sum { counts, halt }: Sum<RowCounts>) -> Summary {
        let exit = Exit::from_run(&RunEnd {
            unknown: counts.unknown,
            alarms: 0,
            done: counts.complete(),
            is_left: counts.not_started > 0,
            first_failure: self.first_failure,
            halt: halt.as_ref(),
        });
        Summary {
            result: Some(if session.json {
                compact(sum(&counts, halt.as_ref()))
            } else {
                counts.to_string()
            }),
            is_left: self.may_succeed || counts.not_started > 0 || halt.is_some(),
            ..Summary::of(exit)
        }
    }
}

/// Asks where no group is sent: about notes and labels that change, or nothing at all.
pub(crate) async fn ask_without_change(
    review: &Review<'_>,
    shown: &ShownPlan,
) -> Result<(), CliError> {
    let notes = shown.annotations.len();
    if notes == 0 {
        output::say("nothing to create or update, according to the directory");
        return Ok(());
    }
    let what = format!(
        "Notes and labels of {} change in the directory; no group is created or updated.",
        counted(notes, "group")
    );
    if shown.lost().is_none() {
        return review.ask(&what, Question::YesOrNo).await;
    }
    let words = format!("annotate {notes}");
    review.ask_losing(shown.lost(), &what, &words).await
}

/// The report line of one row, or `None` if there is nothing to report. `only_odd`: report only what needs
/// attention.
fn line(row: &RowSent, only_odd: bool) -> Option<String> {
    let note = note(&row.end);
    let warnings: Vec<_> = warned(&row.end).iter().map(ToString::to_string).collect();
    let outcome = row.end.outcome();
    let is_plain = warnings.is_empty() && note.is_none();
    if is_plain && (only_odd || !row.is_annotated && outcome == "unchanged") {
        return None;
    }
    let mut text = format!(
        "{} {}{}",
        visible(row.id.as_str()),
        outcome.replace('_', " "),
        if row.is_annotated { ", annotated" } else { "" }
    );
    if let Some(note) = &note {
        let _ = write!(text, "\n  x {}", visible(note));
    }
    for warning in &warnings {
        let _ = write!(text, "\n  ! {}", visible(warning));
    }
    Some(text)
}

/// What is wrong with the row.
fn note(end: &RowEnd) -> Option<String> {
    match end {
        RowEnd::NotThere => {
            Some("never seen in the service; nothing was sent. To create it, add --create".into())
        }
        RowEnd::Failed(failure) => Some(proposals::complete(&failure.to_string()).into_owned()),
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
    fn sent(row: &RowSent) {
        "row": number = row.number, "row number in the files, from 1";
        "user_group_id": text = row.id.as_str(), "the group";
        "outcome": text = if row.end.is_unknown() { "unknown" } else { row.end.outcome() }, "created, existed, updated, unchanged, not_known, failed, or a value of `failure`";
        "note": text or "none" = note(&row.end), "what is wrong; human-readable, may change";
        ..WARNINGS = warnings(warned(&row.end));
        "read_at": time or "it was not read in this run" = read_at(&row.end), "when the group was last seen in the service";
        maybe "annotated": bool = row.is_annotated.then_some(true), "only present if its note, labels or favourite were changed in the directory";
    }

    pub(crate) SUM = "sent-sum", "the last line: created + existed + updated + unchanged + failed + unknown + done_before + not_started = rows";
    fn sum(counts: &RowCounts, halt: Option<&Halt>) {
        "rows": number = counts.planned(), "rows of the files";
        "created": number = counts.created, "groups that were created";
        "existed": number = counts.existed, "groups that already existed; unchanged";
        "updated": number = counts.updated, "groups that were changed";
        "unchanged": number = counts.unchanged + counts.as_known, "groups that already had these values";
        "failed": number = counts.failed, "groups that failed";
        "unknown": number = counts.unknown, "groups whose change may or may not have taken effect";
        "done_before": number = counts.done_before, "rows that an earlier run of the same file has done";
        "not_started": number = counts.not_started, "groups for which nothing was sent";
        "stopped": text or "it ran to its end" = halt, "why it stopped; human-readable, may change";
        maybe "annotations": {ANNOTATED} = (counts.annotated > 0).then(|| annotated((counts.annotated, 0))), "notes, labels and favourites; only present if a row changes any";
    }
}
