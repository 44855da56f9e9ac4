//! The batches of this profile or of all profiles: the state of each, and finishing what is unfinished. The list itself
//! only sends reads.

use std::borrow::Cow;

use super::prelude::*;
use crate::{
    domain::{BatchKind, RunnerState, batch::NOT_IN_FILE},
    operations::{Batch, BatchId, NextStep, batch::RunCommand},
    search::{RowFacts, RowTest},
    tui::{
        page::list_page::{
            Can, Col, Command, ListPage, Rows, col, command, open_in, profile_name, unless,
        },
        state::{BatchAim, EditSource},
    },
};

#[derive(Debug, Default)]
pub struct Batches {
    /// Most recently started first, each with its profile.
    rows: Vec<Row>,
}

pub type BatchesPage = ListPage<Batches>;
type Row = (ProfileIndex, Batch);

/// The run of this session, if it is this batch and still running.
fn running<'a>(batch: &Batch, context: &'a Context) -> Option<&'a BatchRun> {
    let run = context.bulk.as_ref();
    run.filter(|run| run.batch == Some(batch.id) && run.is_under_way())
}

/// Whether the batch has not ended and no process is working on it.
fn is_unfinished(batch: &Batch, context: &Context) -> bool {
    is_open(batch, context) && !batch.is_run()
}

/// Whether the process that has the batch starts no further group until somebody resumes it there.
fn is_paused(batch: &Batch, context: &Context) -> bool {
    match (running(batch, context), &batch.runner) {
        (Some(run), _) => run.command == RunCommand::Pause,
        (None, Some(runner)) => batch.ended_at.is_none() && runner.state == RunnerState::Paused,
        (None, None) => false,
    }
}

/// Opens the batch of the row, in its profile.
fn open(page: &BatchesPage, aim: BatchAim, context: &mut Context) {
    let Some((profile, batch)) = page.selected(context) else {
        return;
    };
    let (profile, opening) = match running(batch, context) {
        Some(run) => (run.profile, PaneRequest::WatchBulk(run.ticket)),
        None => (*profile, PaneRequest::Batch(batch.id, aim)),
    };
    open_in(profile, opening, context);
}

/// Whether something may be started for the row.
fn can_start(
    page: &BatchesPage,
    context: &Context,
    why_not: fn(&Batch) -> Option<Cow<'_, str>>,
) -> Can {
    let (profile, batch) = page.row(context)?;
    if let Some(why) = why_not(batch) {
        return Err(why.into_owned().into());
    }
    if context.running_batch().is_some() {
        return Err("another batch is running".into());
    }
    unless(context.why_not(*profile, NextStep::batch(&batch.kind)))
}

fn can_resume(page: &BatchesPage, context: &Context) -> Can {
    let (_, batch) = page.row(context)?;
    if running(batch, context).is_some() {
        if is_paused(batch, context) {
            let open = context.keys.key(Focus::Batches, Action::Enter);
            let resume = context.keys.key(Focus::BulkRun, Action::Pause);
            return Err(format!("this batch is paused: {open}, then {resume} resumes it").into());
        }
        return Err("this batch is running".into());
    }
    can_start(page, context, |batch| {
        batch.ended_at.map(|_| "this batch is finished".into())
    })?;
    Ok(match batch.counts.not_started {
        _ if batch.is_run() => Some("JOIN"),
        0 => Some("CLOSE"),
        _ => None,
    })
}

fn has_no_retry(batch: &Batch) -> Option<Cow<'_, str>> {
    if batch.counts.not_applied == 0 {
        return Some("no group of this batch needs a retry".into());
    }
    let why = batch.no_retry.as_ref()?;
    Some(format!("nothing to retry: {why}").into())
}

fn cannot_be_reversed(batch: &Batch) -> Option<Cow<'_, str>> {
    match batch.kind {
        BatchKind::Rotate => Some("a rotation cannot be undone".into()),
        BatchKind::Edit(_) => {
            (batch.counts.confirmed == 0).then(|| "this batch has changed no group".into())
        }
    }
}

/// The batch of the row, if any of its outcomes is unknown.
fn to_check<'a>(page: &'a BatchesPage, context: &'a Context) -> Option<&'a Row> {
    let here = page.selected(context);
    here.filter(|(_, batch)| batch.counts.unknown > 0 && context.view_only_reason().is_none())
}

impl Rows for Batches {
    type Row = Row;
    type Key = (ProfileIndex, BatchId);
    const PLACE: Focus = Focus::Batches;
    const ROW: &'static str = "batch";
    const TESTS: &'static [RowTest] = &[RowTest::Time, RowTest::Operator, RowTest::Operation];
    const HAS_SCOPE: bool = true;

    fn job(&self) -> Option<Job> {
        Some(Job::AllBatches)
    }

    fn take(&mut self, outcome: &Outcome) -> bool {
        let Outcome::AllBatches(rows) = outcome else {
            return false;
        };
        rows.clone_into(&mut self.rows);
        true
    }

    /// A paused one first: it needs a person.
    fn all<'a>(&'a self, context: &'a Context) -> Vec<&'a Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|(_, batch)| !is_paused(batch, context));
        rows
    }

    fn key((profile, batch): &Row) -> (ProfileIndex, BatchId) {
        (*profile, batch.id)
    }

    fn profile((profile, _): &Row, _context: &Context) -> Option<ProfileIndex> {
        Some(*profile)
    }

    /// The newest that waits for a person, preferring one's own.
    fn first_rank((_, batch): &Row, context: &Context) -> usize {
        match is_unfinished(batch, context) || is_paused(batch, context) {
            true if batch.by == context.operator => 0,
            waits => 2 - usize::from(waits),
        }
    }

    fn facts((_, batch): &Row) -> RowFacts<'_> {
        RowFacts {
            at: Some(batch.started_at),
            by: Some(&batch.by),
            operation: Some(batch.kind.operation()),
            ..RowFacts::default()
        }
    }

    fn columns(&self) -> Vec<Col<Row>> {
        let col = col::<Row>;
        vec![
            col("   NO", (5, 7), 0, |(_, batch), context| {
                let (sign, _, style) = state(batch, context);
                Cell::new(format!("{sign} {:>3}", batch.id.0)).styled(style)
            })
            .spread()
            .right(),
            col("WHAT", (6, 24), 2, |(_, batch), _| Cell::new(what(batch))),
            col("STARTED", (8, 13), 1, |(_, batch), context| {
                Cell::new(context.stamp(batch.started_at))
            })
            .kept(12),
            col("BY", (4, 24), 3, |(_, batch), _| {
                Cell::new(batch.by.as_str())
            }),
            col("DONE", (8, 14), 0, |(_, batch), _| {
                let counts = batch.counts;
                Cell::new(format!("{} of {}", counts.succeeded(), counts.planned()))
            })
            .kept(14),
            col("STATE", (12, 60), 0, |(_, batch), context| {
                let (_, state, style) = state(batch, context);
                Cell::new(state).styled(style)
            })
            .kept(32)
            .sentence(),
            col("PROFILE", (7, 24), 3, |(profile, _), context| {
                Cell::new(profile_name(*profile, context))
            }),
            col("REASON", (6, 60), 4, |(_, batch), _| {
                Cell::new(batch.reason.as_deref().unwrap_or_default())
            })
            .sentence()
            .optional(),
        ]
    }

    fn commands() -> Vec<Command<BatchesPage>> {
        vec![
            command(Action::Resume, can_resume, |page, context| {
                open(page, BatchAim::Resume, context);
            }),
            command(Action::Enter, BatchesPage::always, |page, context| {
                open(page, BatchAim::Look, context);
            }),
            command(
                Action::RetryFailed,
                |page, context| can_start(page, context, has_no_retry),
                |page, context| open(page, BatchAim::Retry, context),
            ),
            command(
                Action::Refresh,
                |page, context| Ok(to_check(page, context).is_none().then_some("refresh")),
                |page, context| match to_check(page, context) {
                    None => page.reload(context),
                    Some((profile, batch)) => {
                        let (profile, job) = (*profile, Job::settle(&batch.kind));
                        let ticket = context.start_in(profile, job);
                        page.working.begin(ticket);
                    }
                },
            ),
            command(
                Action::ReverseEdit,
                |page, context| can_start(page, context, cannot_be_reversed),
                |page, context| {
                    if let Some((profile, batch)) = page.selected(context) {
                        let reverse = PaneRequest::BulkEdit(EditSource::Reverse(batch.id));
                        open_in(*profile, reverse, context);
                    }
                },
            ),
            command(
                Action::WriteFile,
                BatchesPage::needs_row,
                |page, context| open(page, BatchAim::Report, context),
            ),
        ]
    }

    fn status(page: &BatchesPage, context: &Context) -> String {
        let shown = page.shown(context);
        let unfinished = shown
            .iter()
            .filter(|(_, batch)| is_unfinished(batch, context) || is_paused(batch, context));
        let all = if page.is_of_all {
            "   all profiles"
        } else {
            ""
        };
        match shown.len() {
            0 => format!("none{all}"),
            batches => format!("{} unfinished of {batches}{all}", unfinished.count()),
        }
    }

    fn when_empty(&self, context: &Context) -> String {
        if let Some(why) = context.why_forbidden(Guarded::Bulk) {
            return format!("No batches yet, and none can be started: {why}");
        }
        let key = |action| context.keys.key(Focus::List, action);
        let (mark, rotate) = (key(Action::Mark), key(Action::RotateMarked));
        format!("No batches yet: {mark} marks groups in the list, {rotate} rotates them")
    }

    fn detail_rows(_page: &BatchesPage, _context: &Context) -> u16 {
        7
    }

    fn describe(&self, (profile, batch): &Row, page: &mut TextPage, context: &Context) -> String {
        let counts = &batch.counts;
        let at = context.whole_time(batch.started_at);
        let (name, by) = (profile_name(*profile, context), &batch.by);
        let done = match batch.ended_at {
            Some(_) if counts.succeeded() < counts.planned() => format!("{}: ", counts.in_short()),
            _ => String::new(),
        };
        page.text(&format!("{done}{}", batch.in_words()), Style::new());
        page.dim(&format!("{name}, {at}, {by}"));
        let told = batch.last_run_in_words(|at| context.when(at));
        if let Some(told) = told.filter(|_| is_open(batch, context)) {
            let what = if batch.is_run() { "Now" } else { "Last run" };
            page.text(&format!("{what}: {told}"), Style::new());
        }
        let forbidden = context.why_not(*profile, NextStep::batch(&batch.kind));
        next_steps(page, batch, forbidden, context);
        let reason = batch.reason.as_deref();
        let reason = reason.map_or_else(String::new, |reason| format!("  reason: {reason}"));
        format!("Batch {}{reason}", batch.id.0)
    }
}

/// Whether the journal alone says how the batch stands.
fn is_open(batch: &Batch, context: &Context) -> bool {
    batch.ended_at.is_none() && running(batch, context).is_none()
}

/// Writes what can be done about it, each with its key, or why it is forbidden.
fn next_steps(page: &mut TextPage, batch: &Batch, forbidden: Option<String>, context: &Context) {
    let key = |action| context.keys.key(Focus::Batches, action);
    let [resume, enter, read] = [Action::Resume, Action::Enter, Action::Refresh].map(key);
    let counts = &batch.counts;
    let (left, unknown, failed) = (counts.not_started, counts.unknown, counts.not_applied);
    let mut step = |is_there: bool, text: String, style: Style| {
        if is_there {
            page.text(&text, style);
        }
    };
    let plain = Style::new();
    let joins = "joins that run (asks first); no group is processed twice";
    let may = forbidden.is_none();
    let text = if may {
        format!("{enter} watches it. {resume} {joins}.")
    } else {
        format!("{enter} watches it.")
    };
    step(is_open(batch, context) && batch.is_run(), text, plain);
    let is_left = is_unfinished(batch, context);
    if is_left && may {
        let text = match (left, unknown) {
            (0, 0) => format!("{resume} closes it: nothing is left to send."),
            (0, _) => {
                format!("{resume} reads what is unknown, then closes it; nothing is left to send.")
            }
            _ => format!("{resume} checks {left} again, then asks. Nothing is sent twice."),
        };
        step(true, text, plain);
    }
    let again = match batch.kind {
        BatchKind::Rotate => "rotate them",
        BatchKind::Edit(_) => "send them again",
    };
    let text = match context.view_only_reason() {
        Some(why) => format!("UNKNOWN groups cannot be read: {why}; do not {again}."),
        None => format!("{read} reads the UNKNOWN groups; do not {again}."),
    };
    step(unknown > 0, text, context.theme.unknown());
    let retry = key(Action::RetryFailed);
    let text = match &batch.no_retry {
        None => format!("{retry} retries the {failed} not applied, after a new check."),
        Some(why) => format!("Nothing to retry: {why}."),
    };
    step(failed > 0 && (may || batch.no_retry.is_some()), text, plain);
    let reverse = key(Action::ReverseEdit);
    let text = format!("{reverse} prepares the reverse edit.");
    let is_reversible = cannot_be_reversed(batch).is_none();
    step(is_reversible && may, text, plain);
    if let Some(why) = forbidden.filter(|_| is_left || failed > 0 || is_reversible) {
        step(true, format!("Not available: {why}."), plain);
    }
}

/// What the batch does to its groups, in one word.
fn what(batch: &Batch) -> String {
    match batch.kind {
        BatchKind::Rotate => "rotate".into(),
        BatchKind::Edit(ref change) => format!("edit {}", change.label()),
    }
}

/// The sign of a batch, its state in words, and the style.
fn state(batch: &Batch, context: &Context) -> (&'static str, String, Style) {
    let theme = context.theme;
    let counts = &batch.counts;
    if let Some(run) = running(batch, context) {
        let word = run.word().to_owned();
        return if is_paused(batch, context) {
            ("!", word, theme.warning())
        } else {
            ("/", word, theme.focus())
        };
    }
    let told = batch.last_run_in_words(|at| context.when(at));
    if let Some((runner, told)) = batch.runner.as_ref().zip(told.clone())
        && batch.is_run()
    {
        return match runner.state {
            RunnerState::Paused => ("!", told, theme.warning()),
            _ => ("/", told, theme.focus()),
        };
    }
    let unknown = format!("{} UNKNOWN", counts.unknown);
    if is_unfinished(batch, context) {
        let left = told.unwrap_or_else(|| format!("unfinished: {} left", counts.not_started));
        return match (counts.not_started, counts.unknown) {
            (0, 0) => ("!", "not closed: nothing left".into(), theme.warning()),
            (0, _) => ("?", unknown, theme.unknown()),
            (_, 0) => ("x", left, theme.error()),
            (_, _) => ("x", format!("{left}, {unknown}"), theme.error()),
        };
    }
    let left = counts.planned() - counts.succeeded();
    match (counts.unknown, counts.conflict, left) {
        // The token of an abandoned rotation may be such a one.
        (0, 0, left) if batch.not_handed_off > 0 => {
            let waiting = format!("{} NOT handed off", batch.not_handed_off);
            let text = match left.saturating_sub(counts.abandoned) {
                0 => waiting,
                left => format!("{waiting}, {left} not applied"),
            };
            ("x", text, theme.error())
        }
        (0, 0, _) if batch.unwritten > 0 => {
            let text = format!("{} {NOT_IN_FILE}", batch.unwritten);
            ("!", text, theme.warning())
        }
        (0, 0, 0) => ("+", "done".into(), theme.ok()),
        (0, 0, left) => ("!", format!("{left} not applied"), theme.warning()),
        (0, conflicts, _) => ("x", format!("{conflicts} CONFLICT"), theme.error()),
        _ => ("?", unknown, theme.unknown()),
    }
}
