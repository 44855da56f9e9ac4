//! The JSON objects that several commands print, which other programs rely on: groups, answers, rotations and entries
//! of the history. An object that one command prints is declared beside that command ([`super::shape`]).

use super::shape::{NOTHING, Object, shape};
use crate::{
    cli::{
        output::{
            human::{Column, Columns, Listed},
            proposals,
        },
        prelude::*,
        process::exit::Exit,
    },
    directory::{Numbered, Owner},
    domain::{
        annotation::Label, batch::Counts, handoff::HandOff, history::Entry,
        operation_record::OperationRecord, token::Token,
    },
    operations::{HandedOff, Mutation, Recovered, RotationRow, TokenReport},
    platform::os_error::in_plain_words,
};

shape! {
    pub(crate) PLACE = "", "";
    /// The name of the place.
    pub(crate) fn of_place(place: Option<&str>) {
        "environment": text or "the profile was never bound" = place, "the name of its environment, the same for all who share the directory";
    }

    FIELDS = "", "";
    /// A group without its annotations. `place` is the name of its place, here and below.
    pub(crate) fn group(group: &KnownGroup, place: Option<&str>) {
        "user_group_id": text = group.id.as_str(), "the ID of the group";
        "name": text or "unknown" = group.name.as_ref().map(|known| known.value.as_str()), "its name";
        "team_id": number or "unknown" = group.team_id.as_ref().map(|known| known.value), "ID of its team in the service";
        "environment_tag": text or "unknown, or the service returned none" = group.environment_tag.as_ref().map(|known| known.value.as_str()), "Customer or Testing, as last returned";
        "fingerprint": text or "unknown" = group.fingerprint.as_ref().map(|known| known.value), "fingerprint of its current token, according to the directory";
        "mapping": texts_by_key or "unknown" = group.mapping.as_ref().map(|known| &known.value), "data source IDs by schema ID, as last returned, sent or imported";
        "properties": any or "unknown" = group.properties.as_ref().map(|known| &known.value), "as last returned, sent or imported";
        "last_rotated": time or "unknown" = group.last_rotated.as_ref().map(|last| last.at), "when its current token was first seen";
        "last_seen": time or "never" = group.last_seen, "when it was last seen in the service";
        ..PLACE = of_place(place);
    }

    pub(crate) GROUP = "group", "what the directory knows about a group; nothing was sent";
    /// A group with its annotations, as far as the columns need them.
    pub(crate) fn listed((known, beside): &Listed, columns: &Columns, place: Option<&str>) {
        ..FIELDS = group(known, place);
        maybe "note": text or "there is none" = columns.shows(&Column::Note).then(|| beside.as_ref()?.note.as_ref()), "its note; this field and those after it are only present if list --columns includes them";
        maybe "labels": texts = columns.shows(&Column::Labels).then(|| beside.iter().flat_map(|beside| beside.labels.iter().map(Label::as_str))), "its labels, without the #";
        maybe "favourite": bool = columns.shows(&Column::Favourite).then(|| beside.as_ref().is_some_and(|beside| beside.is_favourite)), "whether it is a favourite";
    }

    OUTCOME = "", "";
    fn outcome(done: &Done) {
        "outcome": text = done.ending.as_str(), "found, created, existed (already existed, unchanged), updated, rotated (not read back), confirmed \
        (rotated and read back), recovered (the response was lost, the token is new), superseded (then rotated by another process), \
        created_by_get (an alarm: reading created the group)";
    }

    pub(crate) WARNINGS = "", "";
    pub(crate) fn warnings(warnings: &[Warning]) {
        "warnings": texts = warnings.iter().map(|warning| proposals::complete(&warning.to_string()).into_owned()), "information for the user";
    }

    REVEALED = "", "";
    fn revealed(token: Option<&Token>) {
        maybe "token": text = token.map(Token::expose), "the current token; only present with --reveal and without an alarm";
    }

    pub(crate) ANSWER = "answer", "a group, and the result of the command";
    /// What `get`, `create` and `update` print. `token` includes the token, as requested.
    pub(crate) fn answer(done: &Done, place: Option<&str>, token: Option<&Token>) {
        ..FIELDS = group(&done.group, place);
        ..OUTCOME = outcome(done);
        ..WARNINGS = warnings(&done.warnings);
        ..REVEALED = revealed(token);
    }

    pub(crate) ROTATED = "rotated", "a group whose token was rotated";
    pub(crate) fn rotated(done: &Done, place: Option<&str>, handed: Option<&HandedOff>, token: Option<&Token>) {
        ..FIELDS = group(&done.group, place);
        ..OUTCOME = outcome(done);
        "previous_fingerprint": text or "unknown" = done.previous_fingerprint, "fingerprint of the replaced token";
        "handoff": {HAND_OFF} or "nothing is handed off" = handed.map(|handed| hand_off(&handed.handoff)), "result of the hand-off of the new token";
        ..WARNINGS = warnings(&done.warnings);
        ..REVEALED = revealed(token);
    }

    pub(crate) HAND_OFF = "", "";
    /// The state of a hand-off.
    pub(crate) fn hand_off(handoff: &HandOff) {
        "state": text = handoff.state.as_str(), "pending, done or failed";
        "exit": number or "it has not run, or did not exit by itself" = handoff.exit, "exit code of the command";
        "note": text or "nothing was reported" = handoff.note.as_ref(), "what the command reported, without secrets";
    }

    pub(crate) REQUESTS = "", "";
    /// What a dry run of many requests says first.
    pub(crate) fn requests(method: &str, url: &str) {
        "dry_run": bool = true, "true";
        "outcome": text or "always" = NOTHING, "nothing was sent";
        "method": text = method, "method of the requests that would be sent";
        "url": text = url, "URL of the requests";
    }

    pub(crate) ONE_REQUEST = "", "";
    /// What a dry run of one request says first.
    pub(crate) fn one_request(method: &str, url: &str) {
        "outcome": text or "always" = NOTHING, "nothing was sent";
        "dry_run": bool = true, "true";
        "method": text = method, "method of the request that would be sent";
        "url": text = url, "URL of the request";
    }

    pub(crate) COUNTS = "", "";
    /// The groups of a batch; from `confirmed` to `not_started` they add up to `planned`.
    pub(crate) fn counts(counts: &Counts) {
        "planned": number = counts.planned(), "groups of the batch";
        "confirmed": number = counts.confirmed, "rotated and read back, or updated";
        "rotated": number = counts.rotated, "rotated, not read back";
        "not_applied": number = counts.not_applied, "nothing was changed; may be tried again";
        "unknown": number = counts.unknown, "may or may not have been changed; only a read resolves it";
        "conflict": number = counts.conflict, "the responses contradict each other";
        "abandoned": number = counts.abandoned, "closed with a reason, without a result";
        "not_started": number = counts.not_started, "groups that batches resume would start";
    }

    SKIPPED = "", "";
    fn skipped((id, why): (&UserGroupId, String)) {
        "user_group_id": text = id.as_str(), "the group";
        "why": text = why, "why not; human-readable, may change";
    }

    pub(crate) LEFT_OUT = "", "";
    /// The groups that are left out, each with the reason.
    pub(crate) fn left_out<'g>(groups: impl Iterator<Item = (&'g UserGroupId, String)>) {
        "skipped": [SKIPPED] = groups.map(skipped), "groups that are now skipped";
    }

    pub(crate) ENTRY = "entry", "a history entry, newest first";
    pub(crate) fn entry(line: &Numbered<Entry>, place: Option<&str>) {
        "number": number = line.number, "number of the entry; newer entries have higher numbers";
        "at": time = line.value.at, "when it was written";
        "by": text = line.value.by, "who did it: user@machine";
        "profile": text = line.value.profile, "where";
        "user_group_id": text = line.value.user_group_id.as_str(), "the group";
        "operation": text = line.value.operation.as_str(), "get, create, update, rotate or handoff";
        "outcome": text = line.value.ending.as_str(), "a value of `answer`, or not_applied, conflict, refused, unknown, unreachable, handed_off, \
        handoff_failed";
        "previous_fingerprint": text or "no token was replaced, or unknown" = line.value.previous_fingerprint, "fingerprint of the previous token";
        "fingerprint": text or "unknown" = line.value.fingerprint, "fingerprint of the new token";
        "reason": text or "no reason was given" = line.value.reason.as_ref(), "the reason given with --reason";
        "changes": any or "nothing was changed" = line.value.changes.as_ref(), "as in `request`";
        "note": text or "none" = line.value.note.as_ref(), "details";
        ..PLACE = of_place(place);
    }
}

/// The first entry of a record, with the outcome, token and note of the last.
fn in_one(record: &OperationRecord) -> Numbered<Entry> {
    let (number, first) = record.first();
    let (_, last) = record.last();
    Numbered {
        number: *number,
        value: Entry {
            ending: last.ending,
            fingerprint: last.fingerprint.or(first.fingerprint),
            note: last.note.clone().or(first.note.clone()),
            ..first.clone()
        },
    }
}

shape! {
    pub(crate) OPERATION = "operation", "one operation: the first of its history entries, with the outcome, token and note of the last";
    /// An operation record, as `history --by-operation` prints them.
    pub(crate) fn operation_record(record: &OperationRecord, place: Option<&str>) {
        ..ENTRY = entry(&in_one(record), place);
        "ended_at": time = record.last().1.at, "when the last of them was written";
        "handoff": text or "nothing was handed off" = record.handed_off().map(Ending::as_str), "how the hand-off of the new token ended: handed_off or not_handed_off";
        "steps": [STEP] = record.steps.iter().map(step), "the entries, oldest first";
    }

    STEP = "", "";
    fn step((number, step): &(i64, Entry)) {
        "number": number = *number, "number of the entry";
        "at": time = step.at, "when it was written";
        "by": text = step.by, "who did it";
        "operation": text = step.operation.as_str(), "as in `entry`";
        "outcome": text = step.ending.as_str(), "as in `entry`";
        "note": text or "none" = step.note.as_ref(), "details";
    }

    pub(crate) CHANGE = "change", "a create, update or first read that was started, newest first";
    /// As `history --open` prints it.
    pub(crate) fn change(change: &Mutation, place: Option<&str>) {
        "change": text = format_args!("m{}", change.id.0), "m and its number, for abandon";
        "at": time = change.since(), "when it was sent, or started if it was not sent";
        "by": text = change.by, "who started it: user@machine";
        "profile": text = change.profile, "where";
        "user_group_id": text = change.user_group_id.as_str(), "the group";
        "operation": text = change.operation.as_str(), "create, update or get";
        "state": text = change.state.as_str(), "in progress: intended, sent; result unknown, and it may still take effect: unknown; result \
        unknown: open; ended";
        "outcome": text or "it has not ended" = change.ending.map(Ending::as_str), "as in `entry`";
        "changes": any or "nothing was to be changed" = change.changes.as_ref(), "as in `request`";
        "note": text or "none" = change.note.as_ref(), "details";
        ..PLACE = of_place(place);
    }

    pub(crate) ROTATION = "rotation", "an entry in the journal of rotations, newest first";
    pub(crate) fn rotation(row: &RotationRow, place: Option<&str>) {
        "rotation": number = row.id.0, "its number, for check, abandon and handoff";
        "user_group_id": text = row.user_group_id.as_str(), "the group";
        "state": text = row.rotation.state.as_str(), "open: intended, sent, rotated, unknown; ended: confirmed, recovered, not_applied, superseded, conflict, abandoned";
        "previous_fingerprint": text = row.rotation.previous, "fingerprint of the token that is replaced";
        "fingerprint": text or "unknown" = row.rotation.fingerprint, "fingerprint of the new token";
        "started_at": time = row.started_at, "when it was started";
        "by": text = row.by, "who started it: user@machine";
        "reason": text or "no reason was given" = row.reason.as_ref(), "the reason given with --reason";
        "handoff": text = row.handoff.state.as_str(), "hand-off of the new token: none, pending, done or failed";
        ..PLACE = of_place(place);
    }
}

fn why_open(recovered: &Recovered) -> Option<String> {
    match recovered {
        Recovered::Settled(_) => None,
        Recovered::Alarmed(_, alarm) => Some(alarm.to_string()),
        Recovered::Open(open) => Some(open.why.clone()),
    }
}

shape! {
    pub(crate) SETTLED = "checked", "a rotation whose group was read again";
    pub(crate) fn recovered(recovered: &Recovered, place: Option<&str>) {
        ..ROTATION = rotation(recovered.row(), place);
        "why": text or "it is resolved" = why_open(recovered), "why it is still open, or an alarm";
    }
}

/// The groups that have or had one token.
pub(crate) fn owners(answered: &TokenReport) -> impl Iterator<Item = Object> {
    answered.owners.iter().map(|one| owner(answered, one))
}

shape! {
    pub(crate) OWNER = "owner", "a group that has or had a token in the text; without any: an empty array and exit 1";
    fn owner(answered: &TokenReport, owner: &Owner) {
        "profile": text = owner.environment, "the same as environment; your profile may have another name";
        "user_group_id": text = owner.user_group_id.as_str(), "the group";
        "current": bool = owner.current, "whether it is the group's current token, according to the directory";
        "last_seen": time = owner.last_seen, "when that token was last seen";
        "fingerprint": text = answered.fingerprint, "fingerprint of that token";
        "environment": text = owner.environment, "the environment that has the group";
    }

    pub(crate) FAILURE = "failure", "why a command failed";
    /// What is printed when a command fails.
    pub(crate) fn failure(ending: Option<Ending>, error: &str, exit: Exit) {
        "outcome": text or "nothing was sent" = ending.map(Ending::as_str), "refused, unreachable, not_applied, unknown (it may have taken effect), conflict, created_by_get, or the result of a change, if it could not be printed (created, updated, confirmed)";
        "error": text = in_plain_words(&proposals::complete(error)), "what is wrong and what to do; human-readable, may change";
        "exit": number = exit as u8, "the exit code";
    }
}
