//! Profiles, the embedded service, the doctor, and what describes groupdesk itself.

use super::{Field, Shape, field};

const PROFILE: Field = field("profile", "text", "", "its name");
const FILE: Field = field("file", "text", "", "the configuration file");

/// What every step of a test of a connection says; they stand below `steps`, or below `check.steps`.
macro_rules! steps {
    ($steps:literal) => {
        &[
            field(concat!($steps, "[].what"), "text", "", "what was done"),
            field(
                concat!($steps, "[].ms"),
                "number",
                "",
                "how long it took, in milliseconds",
            ),
            field(concat!($steps, "[].ok"), "bool", "", "it worked"),
            field(
                concat!($steps, "[].result"),
                "text",
                "",
                "what was seen; for people",
            ),
        ]
    };
}

#[rustfmt::skip] // A table: one field a line.
const KEY: &[Field] = &[
    field("id", "number", "", "its number, for revoke"),
    field("environment", "text", "", "the environment it belongs to"),
    field("tag", "text", "the environment has none", "Customer or Testing"),
    field("read_only", "bool", "", "it may get, but change nothing"),
    field("created_at", "time", "", "when it was made"),
    field("revoked_at", "time", "it was not revoked", "when it was revoked"),
    field("expires_at", "time", "it does not end by itself", "from then on it is refused"),
    field("last_used_at", "time", "it was not used yet", "when it was last used, to the minute"),
];

#[rustfmt::skip] // A table: one field a line.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "profile",
        about: "a profile of the configuration, never a key",
        fields: &[&[
            PROFILE,
            field("default", "bool", "", "it is the default_profile of the configuration"),
            field("url", "text", "", "where its requests go"),
            field("environment", "text", "the configuration expects none", "the tag that answers must carry"),
            field("production", "bool", "", "it counts as production"),
            field("read_only", "bool", "", "every change is refused"),
            field("api_key_from", "text", "", "where its API key comes from; for people"),
            field("ca_file", "text", "none", "the file of authorities that it trusts beside those of the system"),
            field("handoff", "text", "none", "the command that takes new tokens; for people"),
            field("max_bulk", "number", "", "most groups of one bulk rotation"),
            field("guards", "object[]", "", "what the configuration guards"),
            field("guards[].operation", "text", "", "which operation"),
            field("guards[].rule", "text", "", "what it asks; for people"),
            field("guards[].reason", "text", "", "why, as the configuration says"),
        ]],
    },
    Shape {
        name: "profile-added",
        about: "a profile that was, or would be, written",
        fields: &[
            &[
                PROFILE,
                FILE,
                field("written", "bool", "", "false with --dry-run, and where the test failed"),
                field("lines", "text", "", "the lines for the file"),
                field("check", "object", "--no-check was said", "the test of the connection"),
                field("check.finding", "text", "it could not be tested", "a word of `check`"),
                field("check.text", "text", "", "the same for people"),
                field("check.steps", "object[]", "", "as in `check`; not there where it could not be tested"),
            ],
            steps!("check.steps"),
        ],
    },
    Shape {
        name: "check",
        about: "the test of a connection",
        fields: &[
            &[
                field("finding", "text", "", "accepted, may_not_change, key_refused, not_reached, no_answer, not_found, slash, redirected, web_page, busy, service_failed or strange"),
                field("text", "text", "", "the same for people"),
                field("steps", "object[]", "", "what was done, in order"),
            ],
            steps!("steps"),
            &[field("profile", "text", "", "the profile")],
        ],
    },
    Shape {
        name: "profile-renamed",
        about: "a profile that has, or would have, another name",
        fields: &[&[
            PROFILE,
            field("was", "text", "", "its name before"),
            FILE,
            field("dry_run", "bool", "", "nothing was changed"),
            field("lines", "text", "", "the lines that changed"),
        ]],
    },
    Shape {
        name: "configuration-file",
        about: "where the configuration file is",
        fields: &[&[
            FILE,
            field("exists", "bool", "", "it is there"),
            field("named_by", "text", "it is the usual one", "the option or variable that named it"),
        ]],
    },
    Shape {
        name: "configuration",
        about: "a configuration file that is right",
        fields: &[&[
            FILE,
            field("valid", "bool", "", "true; a wrong one is an error"),
            field("profiles", "text[]", "", "the names of its profiles"),
        ]],
    },
    Shape {
        name: "configuration-changed",
        about: "what came of changing the configuration file by hand",
        fields: &[&[
            field("written", "bool", "", "false where nothing was changed"),
            field("file", "text", "nothing was changed", "the configuration file"),
        ]],
    },
    Shape {
        name: "profile-removed",
        about: "a profile that was, or would be, taken out",
        fields: &[&[
            PROFILE,
            FILE,
            field("dry_run", "bool", "", "nothing was changed"),
            field("lines", "text", "", "the lines that go"),
        ]],
    },
    Shape {
        name: "profile-key",
        about: "what the kernel's keyring holds now",
        fields: &[&[PROFILE, field("stored", "bool", "", "false after --forget")]],
    },
    Shape {
        name: "fact",
        about: "what the service of a profile is known to do where its interface is silent",
        fields: &[&[
            field("fact", "text", "", "properties_on_get, absent_name, absent_properties, absent_mapping or sole_writer"),
            field("value", "text", "", "returned, echoed or unknown; of an absent field keep, clear or unknown; of sole_writer yes or no"),
            field("source", "text", "", "proven, told or unknown"),
            field("at", "time", "nobody has said anything", "since when"),
            field("by", "text", "nobody has said anything", "by whom"),
        ]],
    },
    Shape {
        name: "demo",
        about: "a demo that runs until it is stopped; one line, printed when it is ready",
        fields: &[&[
            field("url", "text", "", "where its service listens"),
            field("config", "text", "", "for GROUPDESK_CONFIG"),
            field("directory", "text", "", "for GROUPDESK_DIRECTORY"),
        ]],
    },
    Shape {
        name: "serving",
        about: "a service that runs until it is stopped; one line, printed when it listens",
        fields: &[&[
            field("listening", "text", "", "its URL"),
            field("metrics", "text", "without --metrics", "the URL of its metrics"),
        ]],
    },
    Shape {
        name: "request-served",
        about: "a request that the service answered; with or without --json",
        fields: &[&[
            field("time", "time", "", "when it was answered"),
            field("operation", "text", "", "get_or_create, update, rotate, other or unreadable"),
            field("verdict", "text", "", "ok, the code of the refusal, or caller_left"),
            field("status", "number", "the caller left before", "of HTTP"),
            field("duration_ms", "number", "", "from the head of the request to the answer, in milliseconds"),
            field("key", "number", "no key was recognised", "number of the API key"),
            field("user_group_id", "text", "without --log-ids, or none was read", "the group"),
        ]],
    },
    Shape {
        name: "key",
        about: "an API key of the embedded service, never the key itself",
        fields: &[KEY],
    },
    Shape {
        name: "key-made",
        about: "a new API key of the embedded service",
        fields: &[
            KEY,
            &[field("key", "text", "", "the key itself; shown this once")],
        ],
    },
    Shape {
        name: "service-set-up",
        about: "a schema for the embedded service, made in a database",
        fields: &[&[
            field("storage", "text", "", "its address and schema"),
            field("role", "text", "only its owner may serve from it", "who else may"),
        ]],
    },
    Shape {
        name: "service-copy",
        about: "a copy of the embedded service's database",
        fields: &[&[
            field("file", "text", "", "the copy"),
            field("bytes", "number", "", "its size"),
            field("groups", "number", "", "groups in it"),
            field("keys", "number", "", "API keys in it, the revoked ones too"),
        ]],
    },
    Shape {
        name: "service-check",
        about: "something that was looked at in the embedded service's database",
        fields: &[&[
            field("about", "text", "", "files, schema, integrity, references, groups, tokens, environments or keys"),
            field("ok", "bool", "", "nothing is wrong with it"),
            field("found", "text", "", "what was found; for people"),
        ]],
    },
    Shape {
        name: "report",
        about: "what doctor found; safe to paste",
        fields: &[&[
            field("version", "text", "", "of groupdesk"),
            field("worst", "text", "", "the worst severity"),
            field("findings", "object[]", "", "in the order they were looked at"),
            field("findings[].area", "text", "", "groupdesk, configuration, key, network, service, clock, directory or terminal"),
            field("findings[].severity", "text", "", "ok, note, warning or problem"),
            field("findings[].found", "text", "", "what was found; for people"),
            field("findings[].advice", "text", "nothing has to be done", "what to do; for people"),
        ]],
    },
    Shape {
        name: "script",
        about: "completions for a shell",
        fields: &[&[
            field("shell", "text", "", "bash, zsh or fish"),
            field("script", "text", "", "the script"),
        ]],
    },
    Shape {
        name: "version",
        about: "which groupdesk this is",
        fields: &[&[
            field("version", "text", "", "its version"),
            field("released", "text", "", "the day of its release"),
        ]],
    },
    Shape {
        name: "page",
        about: "the manual page of groupdesk; with a folder, an array of the names of the files",
        fields: &[&[
            field("name", "text", "", "name of its file"),
            field("text", "text", "", "its roff"),
        ]],
    },
    Shape {
        name: "help",
        about: "a help text",
        fields: &[&[
            field("command", "text", "", "what it is about"),
            field("text", "text", "", "for people"),
        ]],
    },
    Shape {
        name: "contract",
        about: "this text for programs",
        fields: &[&[
            field("promise", "text", "", "what holds for all of it"),
            field("commands", "object[]", "", "what prints what"),
            field("commands[].command", "text", "", "the command, as it is typed"),
            field("commands[].form", "text", "", "one object, array or lines"),
            field("commands[].shapes", "text[]", "", "names of shapes; of lines the last one is the last line"),
            field("shapes", "object[]", "", "what is printed"),
            field("shapes[].shape", "text", "", "its name"),
            field("shapes[].about", "text", "", "what it is"),
            field("shapes[].fields", "object[]", "", "its fields, in their order"),
            field("shapes[].fields[].field", "text", "", "its name; below another as handoff.state, of an array as steps[].what"),
            field("shapes[].fields[].type", "text", "", "text, number, bool, time or object; [] is an array of it; object of ... has keys of the person's own"),
            field("shapes[].fields[].null", "text", "it is never null", "when it is null"),
            field("shapes[].fields[].meaning", "text", "", "what it says"),
        ]],
    },
    Shape {
        name: "exit-code",
        about: "an exit code",
        fields: &[&[
            field("code", "number", "", "the code"),
            field("meaning", "text", "", "what it means"),
        ]],
    },
];
