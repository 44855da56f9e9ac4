//! Pending concerns, batches, and annotations of groups.

use super::{
    Field, Shape, field, shape,
    shared::{PLACE_NAME, THE_GROUP},
};

#[rustfmt::skip] // A table: one field a line.
const BATCH: &[Field] = &[
    field("batch", "number", "", "its number, for batches show and resume"),
    PLACE_NAME,
    field("operation", "text", "", "rotate or edit"),
    field("change", "text", "it rotates", "what is set or removed; human-readable, may change"),
    field("by", "text", "", "who started it: user@machine"),
    field("reason", "text", "none was given", "the reason it was started"),
    field("started_at", "time", "", "when it was started"),
    field("ended_at", "time", "something is left to do", "when the last group ended"),
    field("stopped", "text", "it did not stop, is running, or an older version ran it", "why its last run stopped; \
    human-readable, may change"),
    field("run_by", "text", "no process is running it", "who is running it: user@machine"),
    field("run_state", "text", "no process is running it", "running or paused"),
    field("run_since", "time", "no process is running it", "when it was started or paused"),
    field("planned", "number", "", "groups of the batch"),
    field("confirmed", "number", "", "rotated and read back, or updated"),
    field("rotated", "number", "", "rotated, not read back"),
    field("not_applied", "number", "", "nothing was changed; may be tried again"),
    field("unknown", "number", "", "may or may not have been changed; settled by reading only"),
    field("conflict", "number", "", "the responses contradict each other"),
    field("abandoned", "number", "", "closed without a result"),
    field("not_started", "number", "", "left for batches resume"),
];

#[rustfmt::skip] // A table: one field a line.
pub(super) const SHAPES: &[Shape] = &[
    shape("concern", "something that needs attention, most urgent first", &[&[
        field("what", "text", "", "what waits: rotation unknown, change unknown, hand-off not done, batch unfinished, batch running, batch paused, batch not all done, changed elsewhere, tokens over their limit, tokens due, draft"),
        field("counted", "bool", "", "unfinished or failed work: it changes the exit code"),
        field("profile", "text", "", "the profile that means the environment, or the environment"),
        PLACE_NAME,
        field("object", "text", "", "the group, the number of the batch, or how many"),
        field("since", "time", "not known", "since when"),
        field("by", "text", "not known", "who started it: user@machine"),
        field("hidden_until", "time", "not hidden", "hidden in the console until then or until it changes; listed with --hidden, unclear rotations and changes always"),
        field("next", "text", "", "the command to run next; human-readable, may change"),
    ]]),
    shape("batch", "a bulk rotation or a bulk edit, newest first", &[BATCH]),
    shape("batch-shown", "a batch with each of its groups", &[
        BATCH,
        &[
            field("items", "object[]", "", "its groups, in their order"),
            field("items[].user_group_id", "text", "", "the group"),
            field("items[].outcome", "text", "", "as in `bulk-item`; not_started: nothing was sent"),
            field("items[].rotation", "number", "none was started", "number of the rotation"),
            field("items[].note", "text", "none", "more information; human-readable, may change"),
        ],
    ]),
    shape("annotation", "what people wrote about a group in the directory; never sent", &[&[
        THE_GROUP,
        field("note", "text", "none is written", "one line"),
        field("labels", "text[]", "", "without #"),
        field("favourite", "bool", "", "as the console marks it"),
    ]]),
];
