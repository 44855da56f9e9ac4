//! `batches`: bulk rotations and bulk edits as the journal has them. `batch` resumes them.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    cli::{
        error::CliError,
        output::{self, human},
        process::exit::Exit,
        session::Session,
    },
    domain::{
        batch::{BatchKind, RunnerState},
        text::visible,
    },
    operations::{Batch, BatchId, BatchItem},
};

const STATE: usize = 1;
/// How many groups are read at the same time.
const AT_ONCE: usize = 4;

pub(crate) async fn list(session: &Session, unfinished: bool) -> Result<Exit, CliError> {
    let mut batches = session.operations.batches().await?;
    batches.retain(|batch| !unfinished || batch.ended_at.is_none());
    let place = session.place_for_json().await?;
    let value = |batch: &Batch| value(batch, place.as_deref());
    let none = if unfinished {
        "no batch is unfinished"
    } else {
        "no batch yet"
    };
    if batches.is_empty() {
        session.say_elsewhere().await?;
    }
    output::list(session.json, &batches, value, none, || {
        let now = session.operations.now();
        let lines = batches.iter().map(|batch| {
            let counts = &batch.counts;
            [
                batch.id.0.to_string(),
                state(batch),
                what(batch),
                human::ago(batch.started_at, now),
                visible(&batch.by).into_owned(),
                format!("{} of {}", counts.succeeded(), counts.planned()),
                visible(batch.reason.as_deref().unwrap_or_default()).into_owned(),
            ]
        });
        let header = ["BATCH", "STATE", "WHAT", "STARTED", "WHO", "DONE", "WHY"];
        let lines = lines.collect::<Vec<_>>();
        human::rows(header, &lines, Some(STATE))
    })
}

pub(crate) async fn show(session: &Session, number: i64) -> Result<Exit, CliError> {
    let id = BatchId(number);
    let batch = session.operations.batch(id).await?;
    let items = session.operations.batch_items(id).await?;
    if session.json {
        let place = session.operations.place_name().await?;
        let mut shown = value(&batch, place.as_deref());
        shown["items"] = items.iter().map(item).collect();
        output::json(&shown)?;
        return Ok(Exit::Done);
    }
    let now = session.operations.now();
    output::context(&format!(
        "batch {number}: {}, started {} by {}: {}",
        what(&batch),
        human::ago(batch.started_at, now),
        visible(&batch.by),
        batch.counts
    ));
    if let Some(told) = runner(&batch) {
        output::context(&told);
    }
    let lines = items.iter().map(|item| {
        [
            item.user_group_id.to_string(),
            human::word(item.outcome()),
            visible(&item.story().unwrap_or_default()).into_owned(),
        ]
    });
    let lines = lines.collect::<Vec<_>>();
    output::result(&human::rows(["ID", "STATE", "NOTE"], &lines, Some(STATE)))?;
    Ok(Exit::Done)
}

/// Reads the groups of the batch whose outcome is not known, then shows the batch.
pub(crate) async fn check(session: &Session, number: i64) -> Result<Exit, CliError> {
    let operations = &session.operations;
    let batch = operations.batch(BatchId(number)).await?;
    operations.bound().await?;
    match batch.kind {
        BatchKind::Rotate => {
            let items = operations.batch_items(batch.id).await?.into_iter();
            let open = items.filter(BatchItem::is_open);
            let open: Vec<_> = open.filter_map(|item| item.rotation).collect();
            // An empty list would mean every rotation of the place.
            if !open.is_empty() {
                operations.recover(&open, AT_ONCE, |_| {}).await?;
            }
        }
        BatchKind::Edit(_) => drop(operations.settle_changes().await?),
    }
    show(session, number).await?;
    let counts = operations.batch(batch.id).await?.counts;
    Ok(if counts.unknown + counts.conflict > 0 {
        Exit::Unknown
    } else {
        Exit::Done
    })
}

fn state(batch: &Batch) -> String {
    let counts = &batch.counts;
    match batch.ended_at {
        None => {
            let left = counts.not_started + counts.unknown;
            match runner(batch) {
                Some(told) if batch.is_run() => format!("{told}; {left} left"),
                Some(told) => format!("unfinished: {left} left, {told}"),
                None => format!("unfinished: {left} left"),
            }
        }
        Some(_) if counts.unknown > 0 => format!("{} unknown", counts.unknown),
        Some(_) => match counts.planned() - counts.succeeded() {
            0 => "finished".into(),
            left => format!("ended: {left} not done"),
        },
    }
}

/// Who is running the batch, or why its last run stopped starting items.
pub(super) fn runner(batch: &Batch) -> Option<String> {
    let moment = |at: Timestamp| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    let told = batch.last_run_in_words(moment);
    told.map(|told| visible(&told).into_owned())
}

fn what(batch: &Batch) -> String {
    match &batch.kind {
        BatchKind::Rotate => "rotate".into(),
        BatchKind::Edit(change) => visible(&format!("edit: {change}")).into_owned(),
    }
}

fn value(batch: &Batch, place: Option<&str>) -> Value {
    let change = match &batch.kind {
        BatchKind::Rotate => None,
        BatchKind::Edit(change) => Some(change.to_string()),
    };
    let alive = batch.runner.as_ref().filter(|runner| runner.is_alive());
    let mut value = json!({
        "batch": batch.id.0,
        "environment": place,
        "operation": if change.is_some() { "edit" } else { "rotate" },
        "change": change,
        "by": batch.by,
        "reason": batch.reason,
        "started_at": batch.started_at.to_string(),
        "ended_at": batch.ended_at.map(|at| at.to_string()),
        "stopped": runner(batch).filter(|_| !batch.is_run()),
        "run_by": alive.map(|runner| runner.by.as_str()),
        "run_state": alive.map(|runner| state_word(runner.state)),
        "run_since": alive.map(|runner| runner.since.to_string()),
    });
    batch.counts.add_to(&mut value);
    value
}

fn state_word(state: RunnerState) -> &'static str {
    match state {
        RunnerState::Running => "running",
        RunnerState::Paused => "paused",
        RunnerState::Killed | RunnerState::Silent => "gone",
    }
}

fn item(item: &BatchItem) -> Value {
    json!({
        "user_group_id": item.user_group_id.as_str(),
        "outcome": item.outcome(),
        "rotation": item.rotation.map(|rotation| rotation.0),
        "note": item.story(),
    })
}
