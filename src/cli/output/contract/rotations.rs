//! Rotations: the journal, settling, hand-offs, and bulk rotations.

use super::{
    Field, Shape, field, shape,
    shared::{
        HANDED_OFF, MILLISECONDS, NEW_TOKEN, PLACE_NAME, REPLACED, REQUESTS, STOPPED, THE_GROUP,
        WARNINGS,
    },
};

#[rustfmt::skip] // A table: one field a line.
const ROTATION: &[Field] = &[
    field("rotation", "number", "", "its number, for settle, abandon and handoff"),
    THE_GROUP,
    field("state", "text", "", "open: intended, sent, rotated, unknown; ended: confirmed, recovered, not_applied, superseded, conflict, abandoned"),
    field("previous_fingerprint", "text", "", "of the token that is replaced"),
    NEW_TOKEN,
    field("started_at", "time", "", "when it was started"),
    field("by", "text", "", "who started it: user@machine"),
    field("reason", "text", "none was given", "the reason given with --reason"),
    field("handoff", "text", "", "of the new token: none, pending, done or failed"),
    PLACE_NAME,
];

#[rustfmt::skip] // A table: one field a line.
const SKIPPED: &[Field] = &[
    field("skipped", "object[]", "", "groups that are now skipped"),
    field("skipped[].user_group_id", "text", "", "the group"),
    field("skipped[].why", "text", "", "why not; human-readable, may change"),
];

#[rustfmt::skip] // A table: one field a line.
pub(super) const SHAPES: &[Shape] = &[
    shape("rotation", "an entry in the journal of rotations, newest first", &[ROTATION]),
    shape("settled", "a rotation whose group was read again", &[
        ROTATION,
        &[field("why", "text", "it is settled", "why it is still open, or an alarm")],
    ]),
    shape("hand-off", "a new token that was handed off again", &[
        &[
            field("rotation", "number", "", "number of the rotation"),
            field("user_group_id", "text", "", "the group; missing with error"),
            field("fingerprint", "text", "not known", "of the token; missing with error and due_in"),
            field("handoff", "object", "", "the result; missing with error"),
        ],
        HANDED_OFF,
        &[field("error", "text", "", "why it could not be tried; there only then")],
        &[field("due_in", "text", "", "the profile that began it, which hands it off; there only where that is another one")],
    ]),
    shape("bulk-item", "a group of a bulk rotation or a bulk edit, as it ends", &[&[
        field("batch", "number", "", "number of the batch, for batches resume and retry"),
        THE_GROUP,
        field("outcome", "text", "", "a value of `answer` or of `failure`"),
        field("rotation", "number", "none was started", "number of the rotation"),
        REPLACED,
        NEW_TOKEN,
        field("settled", "bool", "", "an earlier run started it, and it was only read now"),
        MILLISECONDS,
        field("note", "text", "none", "more information; human-readable, may change"),
        WARNINGS,
    ]]),
    shape("bulk-sum", "the last line of a bulk rotation or a bulk edit: confirmed + rotated + not_applied + unknown + conflict + abandoned + \
                not_started = planned", &[
        &[
            field("batch", "number", "nothing to do", "number of the batch"),
            field("planned", "number", "", "groups of the batch"),
            field("confirmed", "number", "", "rotated and read back, or updated"),
            field("rotated", "number", "", "rotated, not read back"),
            field("not_applied", "number", "", "nothing was changed; may be tried again"),
            field("unknown", "number", "", "may or may not have been changed; settled by reading only"),
            field("conflict", "number", "", "the responses contradict each other"),
            field("abandoned", "number", "", "closed without a result"),
            field("not_started", "number", "", "left for batches resume"),
            field("not_handed_off", "number", "", "new tokens that have not arrived"),
            STOPPED,
        ],
        SKIPPED,
    ]),
    shape("bulk-plan", "what a bulk rotation would do", &[
        REQUESTS,
        &[field("ready", "text[]", "", "IDs of the groups that would be rotated")],
        SKIPPED,
    ]),
    shape("edit-plan", "what one change over many groups would do", &[
        REQUESTS,
        &[
            field("change", "text", "", "what is set or removed; human-readable, may change"),
            field("changing", "object[]", "", "groups that would be updated"),
            field("changing[].user_group_id", "text", "", "the group"),
            field("changing[].before", "text", "the row does not exist", "what the row is; of a property its JSON"),
            field("changing[].after", "text", "the row goes", "what it would be"),
            field("same", "text[]", "", "IDs of groups that are as wanted already"),
        ],
        SKIPPED,
        &[field("unread", "number", "", "of so many that would be updated, a field that cannot be read is sent as last sent from here")],
    ]),
];
