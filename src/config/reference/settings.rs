//! The settings, one per line.

use super::{
    DefaultValue,
    DefaultValue::{Required, Value, Words},
    Setting,
};

const fn setting(
    table: &'static str,
    key: &'static str,
    kind: &'static str,
    usual: DefaultValue,
    meaning: &'static str,
) -> Setting {
    Setting {
        table,
        key,
        kind,
        usual,
        meaning,
    }
}

const COLOUR: &str = "colour";
const OF_BASE: DefaultValue = Words("by base");
const ONE_OF: DefaultValue = Words("exactly one of the four");
const ONE_RULE: DefaultValue = Words("exactly one of level, forbid, max");

/// Every key that the file may have.
#[rustfmt::skip] // A table: one setting a line.
pub const SETTINGS: [Setting; 69] = [
    setting("", "default_profile", "text", Words("the only profile"), "profile to use if none is given"),
    setting("", "operator", "text", Words("USER@host"), "your name in the history; at most 64 characters"),
    setting("", "mouse", "flag", Value("false"), "use the mouse: the wheel scrolls, a click selects a row or sorts, a second \
    click opens the row (reads its group), and a click on a lower-case key in the footer presses it; no click confirms, sends or \
    rotates"),
    setting("", "plain", "flag", Value("false"), "run the console for screen readers, like --plain"),
    setting("directory", "url", "text", Required, "URL of the team directory: postgres://USER@HOST,HOST/DATABASE, without a \
    password; set this table only for a team"),
    setting("directory", "schema", "text", Value("\"groupdesk\""), "the schema in that database"),
    setting("directory", "password", "table", Words("none is sent"), "source of the password, never the password itself: exactly one of env, file, command and keyring, as in api_key"),
    setting("directory", "ca", "text", Words("none"), "CA certificates in PEM that are trusted in addition to those of the \
    system; relative to the configuration file, ~/ is the home"),
    setting("directory", "cert", "text", Words("none"), "client certificate (PEM) to log in with instead of a password; needs key"),
    setting("directory", "key", "text", Words("none"), "the private key of cert, in PEM"),
    setting("directory", "fingerprint_key", "table", Words("in the database"), "source of the fingerprint key outside the \
    database, never the key itself: one of env, file, command and keyring; 64 hexadecimal digits"),
    setting("directory", "connections", "1 to 16", Value("4"), "maximum number of connections for writing; raise it only for bulk work. One for short reads and one for notifications are added"),
    setting("directory", "require_synchronous", "flag", Value("false"), "refuse to write unless a synchronous standby must confirm each commit (synchronous_standby_names is not empty)"),
    setting("theme", "base", "\"terminal\", \"light\" or \"dark\"", Words("detected from the terminal's background"), "the 16 colours of the terminal, or fixed colours for a light or dark background"),
    setting("theme", "production", COLOUR, OF_BASE, "the word PRODUCTION"),
    setting("theme", "testing", COLOUR, OF_BASE, "the word TESTING"),
    setting("theme", "changed", COLOUR, OF_BASE, "what a change replaces"),
    setting("theme", "added", COLOUR, OF_BASE, "what a change adds"),
    setting("theme", "removed", COLOUR, OF_BASE, "what a change removes"),
    setting("theme", "error", COLOUR, OF_BASE, "what failed"),
    setting("theme", "warning", COLOUR, OF_BASE, "warnings"),
    setting("theme", "ok", COLOUR, OF_BASE, "success"),
    setting("theme", "unknown", COLOUR, OF_BASE, "an unknown result"),
    setting("theme", "key", COLOUR, OF_BASE, "a key in the footer or the help"),
    setting("theme", "matched", COLOUR, OF_BASE, "text that matches the filter"),
    setting("theme", "json_key", COLOUR, OF_BASE, "keys of a JSON object"),
    setting("theme", "json_string", COLOUR, OF_BASE, "JSON strings"),
    setting("theme", "json_value", COLOUR, OF_BASE, "numbers, true, false and null"),
    setting("theme", "dim", COLOUR, OF_BASE, "secondary text"),
    setting("theme", "focus", COLOUR, OF_BASE, "border and title of the active pane"),
    setting("theme", "cursor", COLOUR, OF_BASE, "background of the selected row"),
    setting("theme", "mark", COLOUR, OF_BASE, "marked rows"),
    setting("theme", "heading", COLOUR, OF_BASE, "column titles, labels of details"),
    setting("theme", "age_due", COLOUR, OF_BASE, "a token in the last sixth of its age limit"),
    setting("theme", "age_over", COLOUR, OF_BASE, "a token over its age limit"),
    setting("theme", "age_far", COLOUR, OF_BASE, "a token over twice its age limit"),
    setting("theme", "news", COLOUR, OF_BASE, "changes made by others"),
    setting("theme", "info", COLOUR, OF_BASE, "a plain message"),
    setting("theme", "label", COLOUR, OF_BASE, "labels and favourites"),
    setting("theme", "backdrop", COLOUR, OF_BASE, "background behind a dialogue"),
    setting("profiles.NAME", "base_url", "text", Required, "URL of the service, without the path; https://, or http:// for this machine"),
    setting("profiles.NAME", "api_key", "table", Words("none: nothing can be sent"), "source of the API key, never the key itself; see below. Without it, only the directory can be read"),
    setting("profiles.NAME", "path", "text", Value("\"/api/user\""), "path of the API, below base_url"),
    setting("profiles.NAME", "environment", "\"Customer\" or \"Testing\"", Words("any tag is accepted"), "environment tag that \
    responses must have; another tag raises an alarm"),
    setting("profiles.NAME", "production", "flag", Words("true, unless environment = \"Testing\""), "marked on every screen, and asks for stronger confirmations"),
    setting("profiles.NAME", "read_only", "flag", Value("false"), "refuses every change before anything is sent"),
    setting("profiles.NAME", "timeout", "duration", Value("\"30s\""), "time limit for a request and its response; at most \"10m\""),
    setting("profiles.NAME", "connect_timeout", "duration", Value("\"5s\""), "time limit for connecting; not longer than timeout"),
    setting("profiles.NAME", "allow_plain_http", "flag", Value("false"), "allows http:// to other machines: the API key travels unprotected"),
    setting("profiles.NAME", "ca_file", "text", Words("none"), "CA certificates in PEM that are trusted in addition to those of \
    the system; relative to the configuration file, ~/ is the home"),
    setting("profiles.NAME", "proxy_from_environment", "flag", Value("false"), "uses the proxy in HTTPS_PROXY or HTTP_PROXY"),
    setting("profiles.NAME", "read_properties", "flag", Value("false"), "sends the known properties with a get, so that the service returns its own; only where a get changes nothing"),
    setting("profiles.NAME", "key_changes", "flag", Value("false"), "the API key changes regularly: a new key is accepted \
    automatically, and verified by the first group that is read"),
    setting("profiles.NAME", "handoff", "table", Words("none"), "command that receives each new token; see below"),
    setting("profiles.NAME", "max_token_age", "age", Words("90d in the console and in filters"), "age limit: a token whose last \
    known rotation is longer ago is overdue; at most \"3650d\""),
    setting("profiles.NAME", "max_bulk", "0 to 1000000", Value("500"), "maximum number of groups in one bulk rotation; 0 forbids bulk rotation"),
    setting("profiles.NAME", "guard", "list of tables", Value("[]"), "rules that block operations or ask for stronger \
    confirmation; see below"),
    setting("profiles.NAME.api_key", "env", "text", ONE_OF, "the name of an environment variable"),
    setting("profiles.NAME.api_key", "file", "text", ONE_OF, "a file that others cannot read (0600); relative to the configuration file, ~/ is the home"),
    setting("profiles.NAME.api_key", "command", "list of strings", ONE_OF, "a program and its arguments, run without a shell for at most 10 s; its first line is the key. On the command line it may ask on the terminal, for at most 2 minutes; in the console it cannot ask"),
    setting("profiles.NAME.api_key", "keyring", "text", ONE_OF, "entry of the kernel keyring; to store the key there, run groupdesk profile key NAME"),
    setting("profiles.NAME.handoff", "command", "list of strings", Required, "a program and its arguments, run without a shell; receives one JSON object on standard input"),
    setting("profiles.NAME.handoff", "timeout", "duration", Value("\"30s\""), "the command is killed after this long"),
    setting("profiles.NAME.guard", "operation", "create, update, rotate, bulk, hand_off or abandon", Required, "operation that \
    the guard applies to; forbidding rotate also forbids bulk"),
    setting("profiles.NAME.guard", "level", "\"review\", \"key\", \"typed\" or \"words\"", ONE_RULE, "for create, update and \
    rotate: minimum confirmation: a review and y, y, typing the ID, or typing a phrase"),
    setting("profiles.NAME.guard", "forbid", "true", ONE_RULE, "refused before anything is sent, in the console and on the command line"),
    setting("profiles.NAME.guard", "max", "0 to 1000000", ONE_RULE, "for bulk: maximum number of groups at once"),
    setting("profiles.NAME.guard", "reason", "text", Required, "shown when the guard applies; at most 200 characters"),
    setting("keys.SCREEN", "ACTION", "list of keys", Words("see Keys"), "other keys for an action of a screen; the help (?) shows both names"),
];
