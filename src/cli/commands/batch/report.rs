//! The text and the JSON of a bulk rotation.

use serde_json::{Value, json};

use crate::{
    api::inspect::escape_hidden,
    domain::{
        batch::{ItemStatus, Plan},
        group::UserGroupId,
        text::visible,
    },
    operations::batch::{Ended, Report},
};

/// How many groups of each kind are named before a confirmation.
pub(super) const NAMED: usize = 20;

pub(super) fn compact(value: &Value) -> String {
    escape_hidden(&value.to_string())
}

/// One item with its outcome.
pub(super) fn item(ended: &Ended) -> Value {
    json!({
        "batch": ended.key.batch.0,
        "user_group_id": ended.user_group_id.as_str(),
        "outcome": ended.outcome,
        "rotation": ended.rotation.map(|rotation| rotation.0),
        "previous_fingerprint": ended.previous.map(|fingerprint| fingerprint.to_string()),
        "fingerprint": ended.fingerprint.map(|fingerprint| fingerprint.to_string()),
        "settled": ended.settled,
        "milliseconds": ended.took.as_millis() as u64,
        "note": ended.note,
        "warnings": ended.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// The last line. Without a report there was nothing to do.
pub(super) fn summary(
    report: Option<&Report>,
    left_out: &[(UserGroupId, String)],
    not_handed_off: usize,
) -> Value {
    let counts = report.map(|report| report.counts).unwrap_or_default();
    let mut summary = json!({ "batch": report.map(|report| report.batch.0) });
    counts.add_to(&mut summary);
    summary["not_handed_off"] = not_handed_off.into();
    summary["stopped"] = report
        .and_then(|report| Some(report.halt.as_ref()?.to_string()))
        .into();
    summary["skipped"] = skipped(left_out.iter().map(|(id, why)| (id, why)));
    summary
}

pub(super) fn dry_run(plan: &Plan, url: &str) -> Value {
    let ready: Vec<_> = plan.ready.iter().map(UserGroupId::as_str).collect();
    json!({
        "dry_run": true,
        "outcome": null,
        "method": "POST",
        "url": url,
        "ready": ready,
        "skipped": skipped(plan.skipped.iter().map(|(id, why)| (id, why))),
    })
}

/// The groups that are left out, each with the reason.
pub(super) fn skipped<'a>(
    left_out: impl Iterator<Item = (&'a UserGroupId, impl ToString)>,
) -> Value {
    left_out
        .map(|(id, why)| json!({"user_group_id": id.as_str(), "why": why.to_string()}))
        .collect()
}

pub(super) fn line(ended: &Ended) -> String {
    let mut parts = vec![format!(
        "{} {}",
        ended.user_group_id,
        ended.outcome.replace('_', " ")
    )];
    if let Some(new) = ended.fingerprint {
        let old = ended.previous.map(|old| old.to_string());
        parts.push(format!("{} -> {new}", old.unwrap_or_else(|| "?".into())));
    }
    parts.extend(
        ended
            .note
            .as_ref()
            .map(|note| format!("- {}", visible(note))),
    );
    let warnings = ended.warnings.iter();
    parts.extend(warnings.map(|warning| format!("! {warning}")));
    parts.join(" ")
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

/// The counts, and what to do next.
pub(super) fn ending(report: &Report) -> String {
    let Report {
        batch,
        counts,
        halt,
    } = report;
    let mut lines = vec![format!("batch {}: {counts}", batch.0)];
    lines.extend(halt.as_ref().map(ToString::to_string));
    let number = batch.0;
    if counts.unknown > 0 {
        lines.push(format!(
            "to check unknown results: groupdesk batches check {number}"
        ));
    }
    if counts.not_applied > 0 {
        lines.push(format!(
            "to retry groups that were not changed: groupdesk batches retry {number}"
        ));
    }
    if counts.not_started > 0 {
        lines.push(format!("to resume: {RESUME} {number}"));
    }
    lines.join("\n")
}

/// The command that resumes a batch, without the batch number.
pub(super) const RESUME: &str = "groupdesk batches resume";

/// What to do about new tokens that are not handed off.
pub(super) fn not_handed_off(count: usize) -> String {
    let tokens = match count {
        1 => "1 new token has".to_owned(),
        _ => format!("{count} new tokens have"),
    };
    format!(
        "{tokens} not been handed off. Run groupdesk rotations handoff --pending, or --failed for failed ones"
    )
}

/// Whether the item is worth a line of its own when a progress bar shows the rest.
pub(super) fn is_noteworthy(ended: &Ended) -> bool {
    ended.status != ItemStatus::Confirmed || ended.note.is_some() || !ended.warnings.is_empty()
}
