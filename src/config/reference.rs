//! The meaning of every setting of `config.toml`, put together from the declared tables, and of every variable.
//! docs/reference/configuration.md is generated from it, and the variables of the manual page.

use std::sync::LazyLock;

pub use super::kind::{DefaultValue, Setting};
use super::{
    directory::TeamSettings,
    guard,
    key_source::SOURCES,
    kind::Declared,
    profile::{HandOffCommand, Profile},
    schema::Top,
    ui::{KEYS, THEME},
};

/// Every key that the file may have, one table after the other as in the documentation.
pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let tables = [
        Top::SETTINGS,
        TeamSettings::SETTINGS,
        THEME,
        Profile::SETTINGS,
        SOURCES,
        HandOffCommand::SETTINGS,
        guard::SETTINGS,
        KEYS,
    ];
    tables.concat()
});

/// The environment variables that groupdesk reads, grouped by purpose, and their meaning. A flag overrides a variable,
/// and a variable overrides the file; an empty variable counts as not set.
#[rustfmt::skip] // A table: one variable a line.
pub const VARIABLES: [(&str, &str); 26] = [
    ("GROUPDESK_CONFIG", "configuration file; --config overrides it"),
    ("GROUPDESK_PROFILE", "profile to use; --profile overrides it"),
    ("GROUPDESK_DIRECTORY", "directory file, or URL of a team directory; --directory overrides it"),
    ("GROUPDESK_BASE_URL", "with GROUPDESK_API_KEY: defines a profile without a configuration file, and uses it"),
    ("GROUPDESK_COMPLETE", "shell that asks for completions; set by the scripts of `completions`"),
    ("GROUPDESK_API_KEY", "the API key of that profile"),
    ("GROUPDESK_ENVIRONMENT", "its environment tag, Customer or Testing; a profile without a tag counts as production"),
    ("GROUPDESK_PATH", "its path, if it is not /api/user"),
    ("XDG_CONFIG_HOME", "folder of groupdesk/config.toml; default ~/.config"),
    ("XDG_DATA_HOME", "folder of groupdesk/directory.db and service.db; default ~/.local/share"),
    ("XDG_RUNTIME_DIR", "folder for texts that are open in your editor, if it is private; otherwise TMPDIR"),
    ("TMPDIR", "folder for temporary files of the demo, import and apply; default /tmp"),
    ("HOME", "your home folder, used if the XDG variables are not set"),
    ("PGPASSFILE", "file with passwords for a team's database, if [directory] has no password; default ~/.pgpass"),
    ("USER, LOGNAME", "the operator, if operator is not set"),
    ("VISUAL, EDITOR", "your editor, run as git does it"),
    ("COLUMNS", "width of tables, also in a pipe"),
    ("NO_COLOR", "no colour; bold, underline and reverse stay"),
    ("COLORFGBG", "the background colour, if base is not set and the terminal does not report it"),
    ("TERM", "dumb: no colour, and the console needs --plain; linux: like --ascii"),
    ("LC_ALL, LC_CTYPE, LANG", "the first one that is set is the locale; if it is not UTF-8, like --ascii"),
    ("TERM_PROGRAM, WT_SESSION", "shows whether the terminal supports synchronised output"),
    ("COLORTERM", "the number of colours; only doctor shows it"),
    ("TMUX, STY, SSH_CONNECTION, SSH_TTY", "what is between groupdesk and the terminal; only doctor shows it"),
    ("HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", "proxy, used only with proxy_from_environment = true"),
    ("GROUPDESK_DEBUGGABLE", "1 allows debuggers and the system's core dumps"),
];
