//! Reading all known groups again.

use super::{
    Field, Shape, field, shape,
    shared::{MILLISECONDS, NOT_STARTED, REQUESTS, STOPPED, THE_GROUP, WARNINGS},
};

const DONE_BEFORE: Field = field("done_before", "number", "", "read by an interrupted run");
const NEVER_SEEN: Field = field(
    "never_seen",
    "number",
    "",
    "skipped, because they come from files",
);

#[rustfmt::skip] // A table: one field a line.
pub(super) const SHAPES: &[Shape] = &[
    shape("refreshed", "a group that was read again, as it ends", &[&[
        THE_GROUP,
        field("outcome", "text", "", "unchanged, changed, first_seen, created_again (it had vanished; an alarm), created, wrong_environment or failed"),
        field("changed", "text[]", "", "what was changed elsewhere"),
        field("previous_fingerprint", "text", "not known", "of the token known before"),
        field("fingerprint", "text", "not known", "of the token now"),
        MILLISECONDS,
        field("note", "text", "it was read", "why it could not be read; human-readable, may change"),
        WARNINGS,
    ]]),
    shape("refresh-sum", "the last line: unchanged + changed + first_seen + created_again + created + wrong_environment + failed + \
                done_before + not_started = planned", &[&[
        field("planned", "number", "", "groups that are to be read"),
        field("unchanged", "number", "", "as they were known"),
        field("changed", "number", "", "changed elsewhere"),
        field("first_seen", "number", "", "seen for the first time"),
        field("created_again", "number", "", "had vanished, and were made again by reading"),
        field("created", "number", "", "made by reading"),
        field("wrong_environment", "number", "", "of another environment"),
        field("failed", "number", "", "not read"),
        DONE_BEFORE,
        NOT_STARTED,
        NEVER_SEEN,
        STOPPED,
    ]]),
    shape("refresh-plan", "what get of several groups or of all would do", &[
        REQUESTS,
        &[
            field("planned", "number", "", "groups of the whole"),
            DONE_BEFORE,
            field("to_read", "number", "", "groups that would be read"),
            NEVER_SEEN,
        ],
    ]),
];
