//! `batches`: bulk rotations and bulk edits as the journal has them. `batch` resumes them.

use super::{
    batch::{self, runner},
    prelude::*,
};
use crate::{
    cli::{
        args::{Batches, BatchesCommand},
        output::json::{COUNTS, PLACE, counts, of_place},
    },
    domain::{
        batch::{BatchKind, NOT_IN_FILE, Runner, RunnerState},
        text::listed,
    },
    operations::{Batch, BatchId, BatchItem},
};

const STATE: usize = 1;
/// How many groups are read at the same time.
const AT_ONCE: usize = 4;

impl Run for Batches {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("batches", &["groupdesk batches --unfinished", "groupdesk batches resume 12"], &[array("", &[&BATCH])]),
        page("batches list", &["groupdesk batches list", "groupdesk batches list --unfinished --json | jq '.[].batch'"],
            &[array("", &[&BATCH])]),
        page("batches show", &[
            "groupdesk batches show 12",
            r#"groupdesk batches show 12 --json | jq '.items[] | select(.outcome == "unknown")'"#,
        ], &[row("BATCH", &[&SHOWN])]),
        page("batches resume", &["groupdesk batches resume 12", "groupdesk batches resume 12 --yes --json"],
            &[lines("[BATCH]", &[&batch::ITEM, &batch::SUM])]),
        page("batches check", &["groupdesk batches check 12", "groupdesk batches check 12 --json | jq .unknown"],
            &[one("BATCH", &[&SHOWN])]),
        page("batches retry", &["groupdesk batches retry 12 --dry-run", "groupdesk batches retry 12 --yes --token-out new-tokens.jsonl"],
            &[
            lines("BATCH", &[&batch::ITEM, &batch::SUM]),
            one("BATCH --dry-run", &[&batch::PLAN, &batch::edit::PLAN]),
        ]),
        page("batches reverse", &["groupdesk batches reverse 12 --dry-run", "groupdesk batches reverse 12 --yes --json"],
            &[lines("BATCH", &[&batch::ITEM, &batch::SUM]), one("BATCH --dry-run", &[&batch::edit::PLAN])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        match self.chosen()? {
            BatchesCommand::List { unfinished } => {
                in_session(global, async |session| list(session, unfinished).await).await
            }
            BatchesCommand::Show { number } => {
                in_session(global, async |session| show(session, number).await).await
            }
            BatchesCommand::Check { number } => {
                in_session(global, async |session| check(session, number).await).await
            }
            BatchesCommand::Resume(resume) => {
                token_file::prepare(resume.token_out.as_deref(), false)?;
                batch::resume_one(global, resume).await
            }
            BatchesCommand::Retry { batch, token_out } => {
                token_file::prepare(token_out.as_deref(), false)?;
                batch::retry(global, batch, token_out).await
            }
            BatchesCommand::Reverse(batch) => batch::reverse(global, batch).await,
        }
    }
}

async fn list(session: &Session, unfinished: bool) -> Result<Exit, CliError> {
    let mut batches = session.operations.batches().await?;
    batches.retain(|batch| !unfinished || batch.ended_at.is_none());
    let none = if unfinished {
        "no unfinished batches"
    } else {
        "no batches yet"
    };
    let text = |now| {
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
        let header = ["BATCH", "STATE", "WHAT", "STARTED", "BY", "DONE", "DETAILS"];
        human::rows(header, lines, Some(STATE))
    };
    session.list(&batches, value, none, text).await
}

async fn show(session: &Session, number: i64) -> Result<Exit, CliError> {
    let id = BatchId(number);
    let batch = session.operations.batch(id).await?;
    let items = session.operations.batch_items(id).await?;
    if session.json {
        let place = session.operations.place_name().await?;
        output::json(&with_items(&batch, &items, place.as_deref()))?;
        return Ok(Exit::Done);
    }
    output::context(&format!(
        "batch {number}: {}, started {} by {}: {}",
        what(&batch),
        when::second(batch.started_at),
        visible(&batch.by),
        batch.in_words()
    ));
    if let Some(told) = runner(&batch) {
        output::context(&told);
    }
    if let Some(told) = batch::unwritten(&batch) {
        output::context(&told);
    }
    let lines = items.iter().map(|item| {
        [
            item.user_group_id.to_string(),
            human::word(item.outcome()),
            visible(&item.story().unwrap_or_default()).into_owned(),
        ]
    });
    output::result(&human::rows(["ID", "STATE", "NOTE"], lines, Some(STATE)))?;
    Ok(Exit::Done)
}

/// Reads the groups of the batch whose outcome is not known, then shows the batch.
async fn check(session: &Session, number: i64) -> Result<Exit, CliError> {
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
                output::note_change();
            }
        }
        BatchKind::Edit(_) => {
            operations.settle_changes().await?;
            output::note_change();
        }
    }
    show(session, number).await?;
    let counts = operations.batch(batch.id).await?.counts;
    let is_amiss = counts.unknown + counts.conflict > 0;
    Ok(Exit::done_unless(is_amiss, Exit::Unknown))
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
        Some(_) => {
            let waiting = batch.not_handed_off;
            let mut left = counts.planned() - counts.succeeded();
            if waiting > 0 {
                // The token of an abandoned rotation may be such a one.
                left = left.saturating_sub(counts.abandoned);
            }
            let parts = [
                (left, "not applied"),
                (waiting, "not handed off"),
                (batch.unwritten, NOT_IN_FILE),
            ];
            match listed(parts) {
                none if none.is_empty() => "done".into(),
                parts => format!("done: {parts}"),
            }
        }
    }
}

fn what(batch: &Batch) -> String {
    match &batch.kind {
        BatchKind::Rotate => "rotate".into(),
        BatchKind::Edit(change) => visible(&format!("edit: {change}")).into_owned(),
    }
}

fn edited(batch: &Batch) -> Option<String> {
    match &batch.kind {
        BatchKind::Rotate => None,
        BatchKind::Edit(change) => Some(change.to_string()),
    }
}

fn alive(batch: &Batch) -> Option<&Runner> {
    batch.runner.as_ref().filter(|runner| runner.is_alive())
}

shape! {
    BATCH = "batch", "a bulk rotation or a bulk edit, newest first";
    fn value(batch: &Batch, place: Option<&str>) {
        "batch": number = batch.id.0, "its number, for batches show and resume";
        ..PLACE = of_place(place);
        "operation": text = if edited(batch).is_some() { "edit" } else { "rotate" }, "rotate or edit";
        "change": text or "it rotates" = edited(batch), "what is set or removed; human-readable, may change";
        "by": text = batch.by, "who started it: user@machine";
        "reason": text or "no reason was given" = batch.reason.as_ref(), "the reason it was started";
        "started_at": time = batch.started_at, "when it was started";
        "ended_at": time or "something is left to do" = batch.ended_at, "when the last group ended";
        "stopped": text or "it did not stop, is running, or an older version ran it" = runner(batch).filter(|_| !batch.is_run()), "why its last run stopped; \
        human-readable, may change";
        "run_by": text or "no process is running it" = alive(batch).map(|runner| &runner.by), "who is running it: user@machine";
        "run_state": text or "no process is running it" = alive(batch).map(|runner| state_word(runner.state)), "running or paused";
        "run_since": time or "no process is running it" = alive(batch).map(|runner| runner.since), "when it was started or paused";
        ..COUNTS = counts(&batch.counts);
        "not_handed_off": number = batch.not_handed_off, "new tokens that were not delivered";
        "unwritten": number = batch.unwritten, batch::UNWRITTEN;
    }

    SHOWN = "batch-shown", "a batch with each of its groups";
    fn with_items(batch: &Batch, items: &[BatchItem], place: Option<&str>) {
        ..BATCH = value(batch, place);
        "items": [ITEM] = items.iter().map(item), "its groups, in their order";
    }
}

fn state_word(state: RunnerState) -> &'static str {
    match state {
        RunnerState::Running => "running",
        RunnerState::Paused => "paused",
        RunnerState::Killed | RunnerState::Silent | RunnerState::Revoked => "gone",
    }
}

shape! {
    ITEM = "", "";
    fn item(item: &BatchItem) {
        "user_group_id": text = item.user_group_id.as_str(), "the group";
        "outcome": text = item.outcome(), "as in `bulk-item`; not_started: nothing was sent";
        "rotation": number or "none was started" = item.rotation.map(|rotation| rotation.0), "number of the rotation";
        "by": text or "nothing was started" = item.by.as_ref(), "who started its rotation or update: user@machine";
        "at": time or "nothing was started" = item.at, "when that was sent, or started if it was not";
        "previous_fingerprint": text or "it is unknown" = item.previous, "fingerprint of the previous token";
        "fingerprint": text or "it is unknown" = item.fingerprint, "fingerprint of the new token";
        "handoff": text = item.handoff.state.as_str(), batch::HAND_OFF_STATE;
        "note": text or "none" = item.story().as_deref().map(proposals::complete), "more information; human-readable, may change";
    }
}
