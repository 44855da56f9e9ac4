//! Groups, answers, requests, failures, and the history.

use super::{
    Field, Shape, field, shape,
    shared::{DRY_RUN, HANDED_OFF, NOTHING_DONE, PLACE_NAME, REPLACED, THE_GROUP, WARNINGS},
};

#[rustfmt::skip] // A table: one field a line.
const GROUP: &[Field] = &[
    field("user_group_id", "text", "", "the ID of the group"),
    field("name", "text", "unknown", "its name"),
    field("team_id", "number", "unknown", "the team the service counts it to"),
    field("environment_tag", "text", "unknown, or the service returned none", "Customer or Testing, as the service said last"),
    field("fingerprint", "text", "unknown", "of its current token, as far as is known"),
    field("mapping", "object of text", "unknown", "data source IDs by schema ID, as last returned, sent or imported"),
    field("properties", "object of anything", "unknown", "as last returned, sent or imported"),
    field("last_rotated", "time", "unknown", "when its token was seen to be a new one"),
    field("last_seen", "time", "never", "when it was last seen in the service"),
    PLACE_NAME,
];

#[rustfmt::skip] // A table: one field a line.
const BESIDE: &[Field] = &[
    field("note", "text", "there is none", "what people noted of it; this and what follows only where list --columns asks for it"),
    field("labels", "text[]", "", "its labels, without the #"),
    field("favourite", "bool", "", "it is a favourite"),
];

#[rustfmt::skip] // A table: one field a line.
const ANSWER: &[Field] = &[
    field("outcome", "text", "", "found, created, existed (was there, unchanged), updated, rotated (not read back), confirmed \
    (rotated and read back), recovered (the response was lost, the token is new), superseded (then rotated by another person), \
    created_by_get (an alarm: reading made the group)"),
    WARNINGS,
    field("token", "text", "", "the current token; there only with --reveal"),
];

#[rustfmt::skip] // A table: one field a line.
const ROTATED: &[Field] = &[
    REPLACED,
    field("handoff", "object", "nothing is handed off", "result of the hand-off of the new token"),
];

#[rustfmt::skip] // A table: one field a line.
const REQUEST: &[Field] = &[
    NOTHING_DONE,
    DRY_RUN,
    field("method", "text", "", "of the request that would be sent"),
    field("url", "text", "", "where it would go"),
];

#[rustfmt::skip] // A table: one field a line.
const ENTRY: &[Field] = &[
    field("number", "number", "", "of the line; it grows"),
    field("at", "time", "", "when it was written"),
    field("by", "text", "", "who did it: user@machine"),
    field("profile", "text", "", "where"),
    THE_GROUP,
    field("operation", "text", "", "get, create, update, rotate or handoff"),
    field("outcome", "text", "", "a value of `answer`, or not_applied, conflict, refused, unknown, unreachable, handed_off, \
    handoff_failed"),
    field("previous_fingerprint", "text", "no token was replaced, or not known", "of the token before"),
    field("fingerprint", "text", "not known", "of the token after"),
    field("reason", "text", "none was given", "why, as --reason said"),
    field("changes", "object of anything", "nothing was changed", "as in `request`"),
    field("note", "text", "none", "what else was seen"),
    PLACE_NAME,
];

#[rustfmt::skip] // A table: one field a line.
pub(super) const SHAPES: &[Shape] = &[
    shape("group", "what the directory knows about a group; nothing was sent", &[GROUP, BESIDE]),
    shape("answer", "a group, and the result of the command", &[GROUP, ANSWER]),
    shape("rotated", "a group whose token was rotated", &[GROUP, ANSWER, ROTATED, HANDED_OFF]),
    shape("request", "what --dry-run would send and change", &[
        REQUEST,
        &[
            field("request", "object of anything", "", "its body, exactly"),
            field("changes", "object of anything", "nothing changes", "by field: name as [before, after]; mapping and properties \
            as objects of such pairs by key; null in a pair means missing"),
            field("curl", "text", "", "the request as a command for a shell, the API key in $GROUPDESK_API_KEY; there only with --curl"),
        ],
    ]),
    shape("difference", "a group in two profiles; exit 0 the same, 10 different", &[&[
        THE_GROUP,
        field("profile", "text", "", "on this side"),
        PLACE_NAME,
        field("with", "text", "", "on the other side"),
        field("with_environment", "text", "the profile was never bound", "the name of the environment on the other side"),
        field("same", "bool", "", "nothing differs, as far as is known"),
        field("changes", "object of anything", "nothing differs", "from this side to the other one, as in `request`"),
        field("not_known", "text[]", "", "name, mapping or properties, where not both sides are known"),
    ]]),
    shape("rotation-request", "what rotate --dry-run would do", &[
        REQUEST,
        &[
            THE_GROUP,
            field("fingerprint", "text", "unknown", "of the token that would be replaced"),
        ],
    ]),
    shape("entry", "a history entry, newest first", &[ENTRY]),
    shape("deed", "the history entries of one operation: the first of them, with the outcome, token and note of the last", &[
        ENTRY,
        &[
            field("ended_at", "time", "", "when the last of them was written"),
            field("handoff", "text", "nothing was handed off", "how the hand-off of the new token ended: handed_off or not_handed_off"),
            field("steps", "object[]", "", "the entries, oldest first"),
            field("steps[].number", "number", "", "of the line"),
            field("steps[].at", "time", "", "when it was written"),
            field("steps[].by", "text", "", "who did it"),
            field("steps[].operation", "text", "", "as in `entry`"),
            field("steps[].outcome", "text", "", "as in `entry`"),
            field("steps[].note", "text", "none", "what else was seen"),
        ],
    ]),
    shape("line-difference", "what a history entry changed, or its present state", &[&[
        field("number", "number", "", "of the line"),
        field("at", "time", "", "when it was written"),
        THE_GROUP,
        field("operation", "text", "", "update or create"),
        field("against", "text", "", "before: what it changed; now: what has changed since"),
        field("changes", "object of anything", "nothing differs", "as in `request`"),
    ]]),
    shape("change", "a create, an update or a first read that was started, newest first", &[&[
        field("change", "text", "", "m and its number, for abandon"),
        field("at", "time", "", "when it was sent, or started if it was not sent"),
        field("by", "text", "", "who started it: user@machine"),
        field("profile", "text", "", "where"),
        THE_GROUP,
        field("operation", "text", "", "create, update or get"),
        field("state", "text", "", "in progress: intended, sent; result unknown, and it may still take effect: unknown; result \
        unknown: open; ended"),
        field("outcome", "text", "it has not ended", "as in `entry`"),
        field("changes", "object of anything", "nothing was to be changed", "as in `request`"),
        field("note", "text", "none", "what else was seen"),
        PLACE_NAME,
    ]]),
    shape("owner", "a group that has or had a token of the text; an empty array and exit 1 where there is none", &[&[
        field("profile", "text", "", "of which profile"),
        THE_GROUP,
        field("current", "bool", "", "it is the token the group has now, as far as is known"),
        field("last_seen", "time", "", "when that token was last seen here"),
        field("fingerprint", "text", "", "of that token"),
        field("environment", "text", "", "the environment that has the group"),
    ]]),
    shape("failure", "why a command did not do what was asked", &[&[
        field("outcome", "text", "nothing was sent", "refused, unreachable, not_applied, unknown (it may have taken effect), conflict or created_by_get"),
        field("error", "text", "", "what is wrong and what to do; human-readable, may change"),
        field("exit", "number", "", "the exit code"),
    ]]),
];
