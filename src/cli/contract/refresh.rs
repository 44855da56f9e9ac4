//! Reading all known groups again.

use super::{Shape, field};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "refreshed",
        about: "a group that was read again, as it ends",
        fields: &[&[
            field("user_group_id", "text", "", "the group"),
            field(
                "outcome",
                "text",
                "",
                "unchanged, changed, first_seen, created_again (it had vanished; an alarm), created, wrong_environment or failed",
            ),
            field("changed", "text[]", "", "what was changed elsewhere"),
            field(
                "previous_fingerprint",
                "text",
                "not known",
                "of the token known before",
            ),
            field("fingerprint", "text", "not known", "of the token now"),
            field("milliseconds", "number", "", "how long it took"),
            field(
                "note",
                "text",
                "it was read",
                "why it could not be read; for people",
            ),
            field("warnings", "text[]", "", "what a person should know"),
        ]],
    },
    Shape {
        name: "refresh-sum",
        about: "the last line: unchanged + changed + first_seen + created_again + created + wrong_environment + failed + \
                done_before + not_started = planned",
        fields: &[&[
            field("planned", "number", "", "groups that are to be read"),
            field("unchanged", "number", "", "as they were known"),
            field("changed", "number", "", "changed elsewhere"),
            field("first_seen", "number", "", "seen for the first time"),
            field(
                "created_again",
                "number",
                "",
                "had vanished, and were made again by reading",
            ),
            field("created", "number", "", "made by reading"),
            field("wrong_environment", "number", "", "of another environment"),
            field("failed", "number", "", "not read"),
            field("done_before", "number", "", "read by an interrupted run"),
            field("not_started", "number", "", "nothing was sent"),
            field(
                "never_seen",
                "number",
                "",
                "left out: only files told of them",
            ),
            field(
                "stopped",
                "text",
                "it ran to its end",
                "why it stopped; for people",
            ),
        ]],
    },
    Shape {
        name: "refresh-plan",
        about: "what get --refresh-all would do",
        fields: &[&[
            field("dry_run", "bool", "", "true"),
            field("outcome", "text", "always", "nothing was done"),
            field("method", "text", "", "of the requests that would be sent"),
            field("url", "text", "", "where they would go"),
            field("planned", "number", "", "groups of the whole"),
            field("done_before", "number", "", "read by an interrupted run"),
            field("to_read", "number", "", "groups that would be read"),
            field(
                "never_seen",
                "number",
                "",
                "left out: only files told of them",
            ),
        ]],
    },
];
