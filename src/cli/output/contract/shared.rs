//! Fields that several objects share.

use super::{Field, field};

pub(super) const THE_GROUP: Field = field("user_group_id", "text", "", "the group");
pub(super) const PLACE_NAME: Field = field(
    "environment",
    "text",
    "the profile was never bound",
    "the name of its environment, the same for all who share the directory",
);
pub(super) const WARNINGS: Field = field("warnings", "text[]", "", "information for the user");
pub(super) const MILLISECONDS: Field = field("milliseconds", "number", "", "how long it took");
pub(super) const STOPPED: Field = field(
    "stopped",
    "text",
    "it ran to its end",
    "why it stopped; human-readable, may change",
);
pub(super) const NOT_STARTED: Field = field("not_started", "number", "", "nothing was sent");
pub(super) const REPLACED: Field = field(
    "previous_fingerprint",
    "text",
    "not known",
    "of the token that was replaced",
);
pub(super) const NEW_TOKEN: Field = field("fingerprint", "text", "not known", "of the new token");

pub(super) const DRY_RUN: Field = field("dry_run", "bool", "", "true");
pub(super) const NOTHING_DONE: Field = field("outcome", "text", "always", "nothing was done");
/// The first fields of a dry run of many requests.
#[rustfmt::skip] // A table: one field a line.
pub(super) const REQUESTS: &[Field] = &[
    DRY_RUN,
    NOTHING_DONE,
    field("method", "text", "", "of the requests that would be sent"),
    field("url", "text", "", "where they would go"),
];

/// The fields of `handoff` where it is an object.
#[rustfmt::skip] // A table: one field a line.
pub(super) const HANDED_OFF: &[Field] = &[
    field("handoff.state", "text", "", "pending, done or failed"),
    field("handoff.exit", "number", "it has not run, or did not exit by itself", "exit code of the command"),
    field("handoff.note", "text", "nothing was seen", "what was seen, without secrets"),
];
