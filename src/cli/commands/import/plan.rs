//! What the rows of a file would change, according to the directory. Sends nothing.

use std::{collections::HashSet, fmt::Write};

use super::{
    checked::{Checked, chunk},
    shown::{
        Blind, PlannedRow, ShownPlan, annotation_lines, lines, planned_row, word, word_for_people,
    },
};
use crate::{
    cli::{
        commands::{prelude::*, run::unreported},
        output::exchanges,
    },
    domain::{annotation::AnnotationPlan, capitalised},
    formats::RowPlan,
    operations::{Refresh, run::RunLimits},
};

/// How many rows are named before a confirmation.
const NAMED: usize = 20;

/// What the command was asked to do.
#[derive(Clone, Copy)]
pub(crate) struct ImportOptions {
    pub(crate) sending: Sending,
    /// Whether it is sent; else the plan is a comparison.
    pub(crate) sends: bool,
    pub(crate) replace: Replace,
    /// Read the groups before planning.
    pub(crate) refreshes: bool,
    /// Also replace notes and labels that a person wrote.
    pub(crate) replaces: bool,
}

/// How many groups are read at the same time before planning.
const AT_ONCE: usize = 8;

/// Reads the groups of all rows that the service was seen to have; returns these rows.
async fn refresh(session: &Session, checked: &Checked) -> Result<HashSet<usize>, CliError> {
    let mut all = HashSet::new();
    let mut plan = Refresh::default();
    let mut rows = checked.read()?;
    while let Some(next) = rows.recv().await {
        let some = chunk(next)?
            .into_iter()
            .map(|(number, row)| (number, row.id));
        let (numbers, ids): (Vec<_>, Vec<_>) = some.unzip();
        let known = session.operations.show_by_ids(ids).await?;
        for (number, group) in numbers.into_iter().zip(known) {
            if let Some(group) = group.filter(KnownGroup::is_seen) {
                all.insert(number);
                plan.ids.push(group.id);
            }
        }
    }
    let pace = RunLimits {
        concurrency: AT_ONCE,
        rate: None,
        stop_after: 1,
    };
    let reading = session
        .operations
        .run_refresh(None, plan, pace, false, None)?;
    let mut failed = None;
    let sum = unreported(session, reading, |read| {
        let is_alarm = read.warnings.iter().any(Warning::is_alarm);
        let alarm = "a group raised an alarm while it was read; nothing was sent";
        let alarm = is_alarm.then(|| CliError::Guarded(alarm.into()));
        let failure = read.failure.map(CliError::from).or(alarm);
        failed = failed.take().or(failure);
    });
    let sum = sum.await;
    if let Some(failed) = failed {
        return Err(failed);
    }
    // Whatever stopped it, not all was read, as the plan would say.
    match sum.ok_or(CliError::Interrupted { in_flight: false })?.halt {
        None => Ok(all),
        Some(halt) => Err(CliError::Guarded(format!(
            "not all groups were read: {halt}; nothing was sent"
        ))),
    }
}

/// Starts a plan; with `refreshes` after reading the groups.
async fn begin(
    session: &Session,
    checked: &Checked,
    options: ImportOptions,
) -> Result<ShownPlan, CliError> {
    session.say_unknown_key().await?;
    let mut shown = ShownPlan::default();
    if options.refreshes {
        shown.read = refresh(session, checked).await?;
    }
    if options.sends {
        let replace = options.replace.fields();
        let foresight = session.operations.foresight(options.sending, replace);
        shown.blind = Blind::new(foresight.await?);
    }
    // What was just read makes more tokens known.
    refuse_secrets(session, checked).await?;
    Ok(shown)
}

/// Refuses a file with a secret before any of its rows is shown, kept or sent.
pub(super) async fn refuse_secrets(session: &Session, checked: &Checked) -> Result<(), CliError> {
    let mut rows = checked.read()?;
    while let Some(next) = rows.recv().await {
        let (some, operations) = (chunk(next)?, &session.operations);
        operations.no_secret_in_rows(&some, &checked.ids).await?;
    }
    Ok(())
}

/// Plans each row. Prints it at once for programs; for people [`print_summary`](super::shown::print_summary) comes first. `shows_all`: also more rows
/// than a person wants to read.
pub(crate) async fn print_plan(
    session: &Session,
    checked: &Checked,
    options: ImportOptions,
    shows_all: bool,
) -> Result<ShownPlan, CliError> {
    let mut shown = begin(session, checked, options).await?;
    let mut rows = checked.read()?;
    let shows_all = shows_all || exchanges::are_printed();
    let mut count = 0;
    while let Some(next) = rows.recv().await {
        let mut text = String::new();
        for one in planned(session, chunk(next)?, options).await? {
            shown.add(&one);
            let oddities = shown.look_at(session, &one).await?;
            if session.json {
                let read_at = shown.read_at(&one);
                let planned = Some((&one, &oddities, read_at));
                text.push_str(&output::compact(planned_row(
                    planned,
                    &one.row.id,
                    word(options.sending, one.planned.action),
                )));
                text.push('\n');
                continue;
            }
            let entry = lines(options.sending, &one);
            count += usize::from(!entry.is_empty());
            if shows_all || count <= NAMED {
                shown.named.push_str(&entry);
            } else {
                shown.more += usize::from(!entry.is_empty());
            }
        }
        if !text.is_empty() {
            output::result(&text)?;
        }
    }
    Ok(shown)
}

/// Shows a person, before the confirmation, how many rows require what, and the first of them.
pub(super) async fn print_review(
    session: &Session,
    checked: &Checked,
    options: ImportOptions,
    done: &[usize],
) -> Result<ShownPlan, CliError> {
    let done: HashSet<usize> = done.iter().copied().collect();
    let mut shown = begin(session, checked, options).await?;
    let mut named = String::new();
    let mut rows = checked.read()?;
    while let Some(next) = rows.recv().await {
        let mut left = chunk(next)?;
        left.retain(|(number, _)| !done.contains(number));
        for one in planned(session, left, options).await? {
            shown.add(&one);
            shown.look_at(session, &one).await?;
            if shown.plan.all() <= NAMED {
                let word = word_for_people(word(options.sending, one.planned.action));
                let _ = writeln!(named, "  {word} {}", visible(one.row.id.as_str()));
                annotation_lines(&mut named, "    ", &one.annotations);
            }
        }
    }
    let all = shown.plan.all();
    let more = all.saturating_sub(NAMED);
    if more > 0 {
        let _ = writeln!(named, "  and {more} more");
    }
    output::context(&format!(
        "{}, according to the directory: {}\n{named}",
        counted(all, "row"),
        shown.head(options.sending).join("\n")
    ));
    Ok(shown)
}

/// Lays the single rows and keys of the rows over what is known of their groups.
pub(super) async fn complete(
    session: &Session,
    rows: &mut [GroupRow],
    numbers: &[usize],
    known: &[Option<KnownGroup>],
    may_be_new: bool,
) -> Result<(), CliError> {
    let mut unknown = Vec::new();
    for ((row, number), known) in rows.iter_mut().zip(numbers).zip(known) {
        if row.parts.is_empty() {
            continue;
        }
        let is_there = |group: &&KnownGroup| group.is_seen() || !may_be_new;
        let known = known.as_ref().filter(is_there);
        let base = match known {
            Some(group) => Some(DesiredFields::of(group)),
            // Of a group that is only recorded, single rows would pass for the whole.
            None if !may_be_new => Some(DesiredFields::default()),
            None => None,
        };
        let parts = std::mem::take(&mut row.parts);
        if let Err(field) = parts.complete(&mut row.fields, base.as_ref()) {
            let is_seen = known.is_some_and(KnownGroup::is_seen);
            unknown.push((number, row.id.clone(), field, is_seen));
        }
        row.parts = parts;
    }
    let Some((number, id, field, is_seen)) = unknown.first() else {
        return Ok(());
    };
    let (is, it, name) = (field.is(), field.it(), field.as_str());
    let facts = session.operations.facts().await?;
    let how = if *is_seen && facts.readable().contains(field) {
        let same = unknown
            .iter()
            .filter(|other| (other.2, other.3) == (*field, true));
        capitalised(&proposals::to_read(same.map(|other| &other.1)))
    } else {
        format!("Use a column {name} with all of {it}")
    };
    Err(CliError::Usage(format!(
        "row {number}: the {name} of \"{id}\" {is} unknown, so single parts of {it} cannot be changed; nothing was changed. \
         {how}"
    )))
}

async fn planned(
    session: &Session,
    rows: Vec<(usize, GroupRow)>,
    options: ImportOptions,
) -> Result<impl Iterator<Item = PlannedRow>, CliError> {
    let (numbers, mut rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let ids = rows.iter().map(|row| row.id.clone()).collect();
    let known = session.operations.show_by_ids(ids).await?;
    complete(session, &mut rows, &numbers, &known, true).await?;
    let annotations = annotation_plans(session, &rows, options.replaces).await?;
    let rows = numbers.into_iter().zip(rows).zip(known).zip(annotations);
    Ok(rows.map(move |(((number, row), known), annotations)| {
        let planned = RowPlan::of(&row, known.as_ref());
        let is_left_out = word(options.sending, planned.action) == "not_known";
        PlannedRow {
            number,
            row,
            planned,
            known,
            annotations: if is_left_out {
                AnnotationPlan::default()
            } else {
                annotations
            },
        }
    }))
}

/// What the rows would change in annotations, in row order.
pub(super) async fn annotation_plans(
    session: &Session,
    rows: &[GroupRow],
    replaces: bool,
) -> Result<Vec<AnnotationPlan>, CliError> {
    if rows.iter().all(|row| row.annotation.is_empty()) {
        return Ok(vec![AnnotationPlan::default(); rows.len()]);
    }
    let ids = rows.iter().map(|row| row.id.clone()).collect();
    let here = session.operations.annotations_of(ids).await?;
    let rows = rows.iter().zip(here);
    let plans = rows.map(|(row, here)| row.annotation.plan(&here.unwrap_or_default(), replaces));
    Ok(plans.collect())
}
