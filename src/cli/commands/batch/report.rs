//! The text and the JSON of a bulk rotation.

use crate::{
    cli::{
        commands::handoff,
        output::{
            human,
            json::{
                COUNTS, LEFT_OUT, REQUESTS, WARNINGS, counts, left_out as skipped, requests,
                warnings,
            },
            proposals,
            shape::shape,
        },
        session::Session,
    },
    domain::{
        batch::{ItemStatus, Plan},
        group::UserGroupId,
        history::Ending,
        text::visible,
        when,
    },
    operations::{
        Batch,
        batch::{Ended, Report},
    },
};

/// How many groups of each kind are named before a confirmation.
pub(super) const NAMED: usize = 20;

shape! {
    pub(crate) ITEM = "bulk-item", "a group of a bulk rotation or bulk edit, as soon as it ends";
    pub(crate) fn item(ended: &Ended) {
        "batch": number = ended.key.batch.0, "number of the batch, for batches resume and retry";
        "user_group_id": text = ended.user_group_id.as_str(), "the group";
        "outcome": text = ended.outcome, "a value of `answer` or of `failure`";
        "rotation": number or "none was started" = ended.rotation.map(|rotation| rotation.0), "number of the rotation";
        "previous_fingerprint": text or "unknown" = ended.previous, "fingerprint of the replaced token";
        "fingerprint": text or "unknown" = ended.fingerprint, "fingerprint of the new token";
        "settled": bool = ended.settled, "whether an earlier run started it and this run only checked it";
        "milliseconds": number = ended.took.as_millis() as u64, "how long it took";
        "note": text or "none" = ended.note.as_deref().map(proposals::complete), "more information; human-readable, may change";
        ..WARNINGS = warnings(&ended.warnings);
    }
}

shape! {
    pub(crate) SUM = "bulk-sum", "the last line of a bulk rotation or a bulk edit: confirmed + rotated + not_applied + unknown + conflict + abandoned + \
                not_started = planned";
    /// Without a report there was nothing to do.
    pub(crate) fn summary(report: Option<&Report>, left_out: &[(UserGroupId, String)], not_handed_off: usize) {
        "batch": number or "nothing to do" = report.map(|report| report.batch.0), "number of the batch";
        ..COUNTS = counts(&report.map(|report| report.counts).unwrap_or_default());
        "not_handed_off": number = not_handed_off, "new tokens that were not delivered";
        "stopped": text or "it ran to its end" = report.and_then(|report| report.halt.as_ref()), "why it stopped; human-readable, may change";
        ..LEFT_OUT = skipped(left_out.iter().map(|(id, why)| (id, why.clone())));
    }
}

shape! {
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
    parts.extend(
        ended
            .note
            .as_ref()
            .map(|note| format!("- {}", visible(note))),
    );
    parts.extend(unsaid(ended).map(|unsaid| format!("! {unsaid}")));
    let warnings = ended.warnings.iter();
    parts.extend(warnings.map(|warning| format!("! {warning}")));
    parts.join(" ")
}

/// What the result of an item leaves unsaid: a rotation that may be somebody else's, as after a single one.
fn unsaid(ended: &Ended) -> Option<String> {
    let unclear = [Ending::Recovered, Ending::Superseded];
    let ending = unclear
        .into_iter()
        .find(|one| one.as_str() == ended.outcome)?;
    human::note(ending, &ended.user_group_id)
}

/// The preview for a person.
pub(super) fn plan(plan: &Plan) -> String {
    let mut lines = vec![format!(
        "{} ready, {} skipped",
        plan.ready.len(),
        plan.skipped.len()
    )];
    lines.extend(
        plan.ready
            .iter()
            .take(NAMED)
            .map(|id| format!("  rotate {id}")),
    );
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
    not_handed_off: usize,
) -> Vec<String> {
    let unknown = (report.counts.unknown > 0).then(|| {
        let number = report.batch.0;
        format!("to check unknown results: groupdesk batches check {number}")
    });
    let tokens = match not_handed_off {
        0 => None,
        1 => Some("1 new token has".to_owned()),
        count => Some(format!("{count} new tokens have")),
    };
    let tokens = tokens.map(|tokens| {
        let when = handoff::when_to_retry(session);
        format!("{tokens} not been handed off; {when}: groupdesk rotations handoff --pending, or --failed for failed ones")
    });
    unknown.into_iter().chain(tokens).collect()
}

/// How to retry what certainly did not happen, or why a retry would take nothing.
pub(super) fn retry(batch: &Batch, has_token_file: bool) -> Vec<String> {
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
