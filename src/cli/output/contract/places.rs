//! Places, and the profiles bound to them.

use super::{Field, Shape, field};

#[rustfmt::skip] // A table: one field a line.
const PLACE: &[Field] = &[
    field("place", "text", "", "its name"),
    field("urls", "text[]", "", "its addresses"),
    field("environment", "text", "no profile names one and no answer brought one", "the tag that answers must not contradict"),
    field("profiles", "text[]", "", "profiles that are bound to it"),
    field("groups", "number", "", "groups that are known there"),
    field("open", "number", "", "rotations and hand-offs that are not finished"),
    field("last_used", "time", "never", "its newest line of the history"),
    field("keys", "object[]", "", "its API keys, by fingerprint"),
    field("keys[].fingerprint", "text", "", "8 hexadecimal digits"),
    field("keys[].state", "text", "", "trusted, trial or withdrawn"),
    field("keys[].added_at", "time", "", "since when it is known"),
    field("keys[].by", "text", "", "who brought it"),
    field("alarms", "object[]", "", "alarms that nobody has acknowledged"),
    field("alarms[].user_group_id", "text", "it is of no group", "the group whose answer raised it"),
    field("alarms[].what", "text", "", "what the answer contradicted"),
    field("alarms[].at", "time", "", "when it was raised"),
    field("alarms[].by", "text", "", "who sent the request"),
];

#[rustfmt::skip] // A table: one field a line.
const EVENTS: &[Field] = &[
    field("events", "object[]", "", "what was said about it, the oldest first"),
    field("events[].at", "time", "", "when"),
    field("events[].by", "text", "", "who"),
    field("events[].profile", "text", "", "the profile it was said with; empty where none was"),
    field("events[].event", "text", "", "what was said or happened"),
    field("events[].note", "text", "nothing more is known", "more of it, for people"),
];

#[rustfmt::skip] // A table: one field a line.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "directory-copy",
        about: "a copy of the directory",
        fields: &[&[field("file", "text", "", "the new file")]],
    },
    Shape {
        name: "binding",
        about: "which place a profile means",
        fields: &[&[
            field("profile", "text", "", "its name"),
            field("place", "text", "", "the name of the place"),
            field("on_trial", "bool", "", "its API key may only read what proves it"),
            field("bound", "bool", "", "false: the binding was taken back"),
        ]],
    },
    Shape {
        name: "place",
        about: "one environment of one service",
        fields: &[PLACE],
    },
    Shape {
        name: "place-shown",
        about: "a place, and what was said about it",
        fields: &[PLACE, EVENTS],
    },
];
