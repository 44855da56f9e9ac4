//! Places, and the profiles bound to them.

use super::{Field, Shape, field, shape};

#[rustfmt::skip] // A table: one field a line.
const PLACE: &[Field] = &[
    field("environment", "text", "", "its name"),
    field("urls", "text[]", "", "its addresses"),
    field("environment_tag", "text", "no profile sets one and no response had one", "the tag that responses must not contradict"),
    field("profiles", "text[]", "", "profiles that are bound to it"),
    field("groups", "number", "", "groups that are known there"),
    field("open", "number", "", "rotations and hand-offs that are not finished"),
    field("last_used", "time", "never", "its newest history entry"),
    field("keys", "object[]", "", "its API keys, by fingerprint"),
    field("keys[].fingerprint", "text", "", "8 hexadecimal digits"),
    field("keys[].state", "text", "", "trusted, trial or withdrawn"),
    field("keys[].added_at", "time", "", "since when it is known"),
    field("keys[].by", "text", "", "who brought it"),
    field("alarms", "object[]", "", "alarms that are not acknowledged"),
    field("alarms[].user_group_id", "text", "it is of no group", "the group whose response raised it"),
    field("alarms[].what", "text", "", "what the response contradicted"),
    field("alarms[].at", "time", "", "when it was raised"),
    field("alarms[].by", "text", "", "who sent the request"),
];

#[rustfmt::skip] // A table: one field a line.
const EVENTS: &[Field] = &[
    field("events", "object[]", "", "what was decided or happened, oldest first"),
    field("events[].at", "time", "", "when"),
    field("events[].by", "text", "", "who"),
    field("events[].profile", "text", "", "the profile it was said with; empty where none was"),
    field("events[].event", "text", "", "what was said or happened"),
    field("events[].note", "text", "nothing more is known", "details; human-readable, may change"),
];

#[rustfmt::skip] // A table: one field a line.
pub(super) const SHAPES: &[Shape] = &[
    shape("directory-copy", "a copy of the directory", &[&[field("file", "text", "", "the new file")]]),
    shape("directory-set-up", "a directory for a team that was set up", &[&[field("directory", "text", "", "its address and schema")]]),
    shape("directory-copied", "a file that was copied or moved into the directory of a team, or the other way round", &[&[
        field("file", "text", "", "the file"),
        field("directory", "text", "", "the address and schema of the other"),
        field("rows", "object of number", "", "by table, how many rows were copied"),
    ]]),
    shape("directory-status", "the directory that is in use", &[&[
        field("directory", "text", "", "the file, or the address and schema"),
        field("kind", "text", "", "file or team"),
        field("server", "text", "of a file", "the version of PostgreSQL"),
        field("user", "text", "of a file", "as whom one is there"),
        field("role", "text", "of a file", "viewer, operator, admin or owner"),
        field("schema", "number", "of a file", "the version of the tables"),
        field("synchronous_standby_names", "text", "of a file", "empty: the last confirmed changes may be lost in a failover"),
        field("sessions", "number", "of a file", "groupdesk connections to the database"),
        field("timeline", "text", "of a file", "another one after a failover"),
        field("moved_to", "text", "of a file, or it was not moved", "the address of where all of it is now"),
        field("open_rotations", "object[]", "", "rotations that are not settled"),
        field("open_rotations[].id", "number", "", "number of a rotation that is not settled"),
        field("open_rotations[].user_group_id", "text", "", "its group"),
        field("open_rotations[].state", "text", "", "as in rotations"),
        field("open_rotations[].by", "text", "", "who started it"),
    ]]),
    shape("directory-migrated", "what was done, or would be, to the tables of a team's directory", &[&[
        field("from", "number", "", "their version before"),
        field("to", "number", "", "the version of this groupdesk"),
        field("is_done", "bool", "", "false with --check"),
        field("reads_from", "number", "", "the oldest version that a groupdesk may know and read them"),
        field("writes_from", "number", "", "the same for writing"),
    ]]),
    shape("audited", "a change in a team directory, or a history entry without one", &[&[
        field("number", "number", "a history entry", "counted up"),
        field("at", "time", "", "by the clock of the database"),
        field("who", "text", "", "the role of the database"),
        field("address", "text", "on the same machine", "where from"),
        field("what", "text", "", "rotation, group, the operation of a change, role, fingerprint key, timeline, copy; or history"),
        field("environment", "text", "of no environment", "its name"),
        field("user_group_id", "text", "of no group", "the group"),
        field("rotation", "number", "of no rotation", "its number"),
        field("before", "text", "nothing was there", "the state before; of a role, whose"),
        field("after", "text", "nothing is there", "the state after; of a group, what changed"),
    ]]),
    shape("directory-right", "the access of a role to a team directory", &[&[
        field("name", "text", "", "the role of the database"),
        field("role", "text", "it was removed", "viewer, operator or admin"),
    ]]),
    shape("binding", "which environment a profile means", &[&[
        field("profile", "text", "", "its name"),
        field("environment", "text", "", "the name of the environment"),
        field("on_trial", "bool", "", "its API key may only read groups that verify it"),
        field("bound", "bool", "", "false: the binding was taken back"),
    ]]),
    shape("environment", "one environment of one service", &[PLACE]),
    shape("environment-shown", "an environment, and what was said about it", &[PLACE, EVENTS]),
];
