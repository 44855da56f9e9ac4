//! Profiles, the embedded service, the doctor, and what describes groupdesk itself.

use super::{Field, Shape, field, shape};

const PROFILE: Field = field("profile", "text", "", "its name");
const FILE: Field = field("file", "text", "", "the configuration file");

/// The fields of each step of a connection test, found below `steps` or below `check.steps`.
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
                "what was seen; human-readable, may change",
            ),
        ]
    };
}

#[rustfmt::skip] // A table: one field a line.
const KEY: &[Field] = &[
    field("id", "number", "", "its number, for revoke"),
    field("name", "text", "it has none", "who or what uses it"),
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
    shape("profile", "a profile of the configuration, never a key", &[&[
        PROFILE,
        field("default", "bool", "", "it is the default_profile of the configuration"),
        field("url", "text", "", "where its requests go"),
        field("environment", "text", "the configuration expects none", "the tag that responses must have"),
        field("production", "bool", "", "it counts as production"),
        field("read_only", "bool", "", "every change is refused"),
        field("api_key_from", "text", "", "source of its API key; human-readable, may change"),
        field("ca_file", "text", "none", "the file of CA certificates that it trusts in addition to those of the system"),
        field("handoff", "text", "none", "the command that receives new tokens; human-readable, may change"),
        field("max_bulk", "number", "", "most groups of one bulk rotation"),
        field("guards", "object[]", "", "what the configuration guards"),
        field("guards[].operation", "text", "", "which operation"),
        field("guards[].rule", "text", "", "what it requires; human-readable, may change"),
        field("guards[].reason", "text", "", "why, as the configuration says"),
    ]]),
    shape("profile-added", "a profile that was, or would be, written", &[
        &[
            PROFILE,
            FILE,
            field("written", "bool", "", "false with --dry-run, and where the test failed"),
            field("lines", "text", "", "the lines for the file"),
            field("check", "object", "--no-check was given", "the test of the connection"),
            field("check.finding", "text", "it could not be tested", "a word of `check`"),
            field("check.text", "text", "", "the same, human-readable; may change"),
            field("check.steps", "object[]", "", "as in `check`; missing if it could not be tested"),
        ],
        steps!("check.steps"),
    ]),
    shape("check", "the test of a connection", &[
        &[
            field("finding", "text", "", "accepted, may_not_change, key_refused, not_reached, no_answer, not_found, slash, redirected, web_page, busy, service_failed or strange"),
            field("text", "text", "", "the same, human-readable; may change"),
            field("steps", "object[]", "", "what was done, in order"),
        ],
        steps!("steps"),
        &[field("profile", "text", "", "the profile")],
    ]),
    shape("profile-renamed", "a profile that has, or would have, another name", &[&[
        PROFILE,
        field("was", "text", "", "its name before"),
        FILE,
        field("dry_run", "bool", "", "nothing was changed"),
        field("lines", "text", "", "the lines that changed"),
    ]]),
    shape("configuration-file", "where the configuration file is", &[&[
        FILE,
        field("exists", "bool", "", "it is there"),
        field("named_by", "text", "it is the usual one", "the option or variable that named it"),
    ]]),
    shape("configuration", "a valid configuration file", &[&[
        FILE,
        field("valid", "bool", "", "true; a wrong one is an error"),
        field("profiles", "text[]", "", "the names of its profiles"),
    ]]),
    shape("configuration-changed", "result of editing the configuration file", &[&[
        field("written", "bool", "", "false where nothing was changed"),
        field("file", "text", "nothing was changed", "the configuration file"),
    ]]),
    shape("profile-removed", "a profile that was, or would be, removed", &[&[
        PROFILE,
        FILE,
        field("dry_run", "bool", "", "nothing was changed"),
        field("lines", "text", "", "the lines that go"),
    ]]),
    shape("profile-key", "the state of the kernel keyring", &[&[PROFILE, field("stored", "bool", "", "false after --forget")]]),
    shape("fact", "what the service of a profile is known to do where its interface is silent", &[&[
        field("fact", "text", "", "properties_on_get, absent_name, absent_properties, absent_mapping or sole_writer"),
        field("value", "text", "", "returned, echoed or unknown; of an absent field keep, clear or unknown; of sole_writer yes or no"),
        field("source", "text", "", "proven, told or unknown"),
        field("at", "time", "it was never set", "since when"),
        field("by", "text", "it was never set", "by whom"),
    ]]),
    shape("demo", "a demo that runs until it is stopped; one line, printed when it is ready", &[&[
        field("url", "text", "", "where its service listens"),
        field("config", "text", "", "for GROUPDESK_CONFIG"),
        field("directory", "text", "", "for GROUPDESK_DIRECTORY"),
    ]]),
    shape("serving", "a service that runs until it is stopped; one line, printed when it listens", &[&[
        field("listening", "text", "", "its URL"),
        field("metrics", "text", "without --metrics", "the URL of its metrics"),
    ]]),
    shape("request-served", "a request to the service; with or without --json", &[&[
        field("time", "time", "", "when it was answered or the caller left"),
        field("operation", "text", "", "get_or_create, update, rotate, other or unreadable"),
        field("verdict", "text", "", "ok, the code of the refusal, or caller_left"),
        field("status", "number", "the caller left before", "of HTTP"),
        field("duration_ms", "number", "", "from the head of the request to the response, in milliseconds"),
        field("key", "number", "no key was recognised", "number of the API key"),
        field("key_name", "text", "the key has no name, or none was recognised", "name of the API key"),
        field("user_group_id", "text", "without --log-ids, or none was read", "the group"),
    ]]),
    shape("key", "an API key of the embedded service, never the key itself", &[KEY]),
    shape("key-made", "a new API key of the embedded service", &[
        KEY,
        &[field("key", "text", "", "the key itself; shown this once")],
    ]),
    shape("service-set-up", "a schema for the embedded service, made in a database", &[&[
        field("storage", "text", "", "its address and schema"),
        field("role", "text", "only its owner may serve from it", "who else may"),
    ]]),
    shape("service-copy", "a copy of the embedded service's database", &[&[
        field("file", "text", "", "the copy"),
        field("bytes", "number", "", "its size"),
        field("groups", "number", "", "groups in it"),
        field("keys", "number", "", "API keys in it, the revoked ones too"),
    ]]),
    shape("service-check", "something that was looked at in the embedded service's database", &[&[
        field("about", "text", "", "files, schema, integrity, references, groups, tokens, environments or keys"),
        field("ok", "bool", "", "nothing is wrong with it"),
        field("found", "text", "", "what was found; human-readable, may change"),
    ]]),
    shape("report", "what doctor found; safe to paste", &[&[
        field("version", "text", "", "of groupdesk"),
        field("worst", "text", "", "the worst severity"),
        field("findings", "object[]", "", "in the order they were looked at"),
        field("findings[].area", "text", "", "groupdesk, configuration, key, network, service, clock, directory or terminal"),
        field("findings[].severity", "text", "", "ok, note, warning or problem"),
        field("findings[].found", "text", "", "what was found; human-readable, may change"),
        field("findings[].advice", "text", "nothing has to be done", "what to do; human-readable, may change"),
    ]]),
    shape("script", "completions for a shell", &[&[
        field("shell", "text", "", "bash, zsh or fish"),
        field("script", "text", "", "the script"),
    ]]),
    shape("version", "which groupdesk this is", &[&[
        field("version", "text", "", "its version"),
        field("released", "text", "", "the day of its release"),
    ]]),
    shape("page", "the manual page of groupdesk; with a folder, an array of the names of the files", &[&[
        field("name", "text", "", "name of its file"),
        field("text", "text", "", "its roff"),
    ]]),
    shape("help", "a help text", &[&[
        field("command", "text", "", "what it is about"),
        field("text", "text", "", "human-readable, may change"),
    ]]),
    shape("contract", "this text for programs", &[&[
        field("promise", "text", "", "the rules for all of the output"),
        field("commands", "object[]", "", "what prints what"),
        field("commands[].command", "text", "", "the command as typed"),
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
    ]]),
    shape("exit-code", "an exit code", &[&[
        field("code", "number", "", "the code"),
        field("meaning", "text", "", "what it means"),
    ]]),
];
