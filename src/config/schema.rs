//! The content of `config.toml`. Pure: takes the text and returns profiles or problems. The tables are declared beside
//! what becomes of them: `Profile`, `HandOffCommand`, `Guard`, `TeamSettings`, and `[theme]` in `ui`.

use toml::de::{DeTable, DeValue};

use super::{
    address,
    directory::TeamSettings,
    environment::PathContext,
    error::{Problem, meant},
    key_source::{resolve, resolve_program},
    kind::{
        self, Declared,
        DefaultValue::{Value, Words},
        FLAG, Kind, OPERATOR,
    },
    name::{nearest, objection},
    profile::Profile,
    scrub::shown,
    table::{Entry, Others, Problems, about, check, entries, entries_of, table, table_of},
    ui::{self, KeyOverride, THEME, UiSettings},
};
use crate::intake::signs;

/// The parsed file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ConfigFile {
    pub(super) default_profile: Option<String>,
    pub(super) operator: Option<String>,
    pub(super) ui: UiSettings,
    /// The directory of a team.
    pub(super) directory: Option<TeamSettings>,
    /// In file order.
    pub(super) profiles: Vec<Profile>,
    /// In file order. Only the console can interpret them.
    pub(super) keys: Vec<KeyOverride>,
}

table! {
    /// What is in no table.
    pub(super) struct Top of "" {
        default_profile: Option<String>, Kind::text("\"eu-live\"", kind::any), Words("the only profile"), "profile to use if none is given";
        operator: Option<String>, OPERATOR, Words("USER@host"), "your name in the history; at most 64 characters";
        mouse: bool, FLAG, Value("false"),
            "use the mouse: the wheel scrolls, a click selects a row or sorts, a second click opens the row (reads its group), and a click on a lower-case key in the footer presses it; no click confirms, sends or rotates";
        plain: bool, FLAG, Value("false"), "run the console for screen readers, like --plain";
    }
}

/// Parses a configuration file. All problems are reported together.
pub(super) fn read(text: &str, around: PathContext) -> Result<ConfigFile, Vec<Problem>> {
    let mut problems = Problems::of(text);
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        // Use only the parser's own message: its `Display` quotes the line, which may contain an API key.
        let at = error.span().map_or(text.len(), |span| span.start);
        let sign = sign_near(text, at).unwrap_or_default();
        problems.add(at, format!("not TOML: {}{sign}", error.message()));
    }
    if !problems.is_empty() {
        return Err(problems.into_list());
    }
    let others = Others {
        tables: &["theme", "directory", "profiles", "keys"],
        of_a_profile: Profile::SETTINGS,
    };
    let document = document.get_ref();
    let top = check(
        Top::SETTINGS,
        ("the file", 0),
        document,
        others,
        &mut problems,
    );
    let mut file = ConfigFile::default();
    let mut names = Vec::new();
    for entry in entries(document) {
        match entry.key {
            "theme" => {
                let what = "theme must be a table: put [theme] on its own line";
                if let Some(table) = table_of(&entry, what, &mut problems) {
                    let at = ("[theme]", entry.value_at());
                    let theme = check(THEME, at, table, Others::default(), &mut problems);
                    file.ui.set_theme(&theme);
                }
            }
            "directory" => file.directory = directory(&entry, around, &mut problems),
            "profiles" => {
                let what = "profiles must be a table: put [profiles.NAME] on its own line";
                for entry in entries_of(&entry, what, &mut problems) {
                    names.push(entry.key);
                    file.profiles.extend(profile(&entry, around, &mut problems));
                }
            }
            "keys" => file.keys = ui::read_keys(&entry, &mut problems),
            _ => {}
        }
    }
    if let Some(read) = top.read::<Top>(0, &mut problems) {
        file.ui.mouse = read.mouse;
        file.ui.plain = read.plain;
        file.operator = read.operator;
        file.default_profile = read.default_profile;
    }
    if let Some(name) = &file.default_profile
        && !names.contains(&name.as_str())
    {
        let near = meant(nearest(name, names.iter().copied()));
        let what = format!(
            "default_profile: profile \"{}\" not found{near}",
            shown(name)
        );
        problems.add(top.place("default_profile").unwrap_or_default(), what);
    }
    if problems.is_empty() {
        Ok(file)
    } else {
        Err(problems.into_list())
    }
}

/// The sign of a word processor on the rest of the line where the parser stopped, or directly before that.
fn sign_near(text: &str, at: usize) -> Option<String> {
    let before = &text[..text.floor_char_boundary(at)];
    let line = &text[before.rfind('\n').map_or(0, |end| end + 1)..];
    let line = line.split('\n').next()?;
    let from = before
        .rsplit('\n')
        .next()?
        .chars()
        .count()
        .saturating_sub(1);
    let rest: String = line.chars().skip(from).collect();
    let (column, sign) = signs::first(&rest)?;
    Some(format!("; column {}: {sign}", from + column))
}

fn directory(entry: &Entry, around: PathContext, problems: &mut Problems) -> Option<TeamSettings> {
    let what = "directory must be a table: put [directory] on its own line. To use a file, set GROUPDESK_DIRECTORY";
    let at = entry.value_at();
    let table = table_of(entry, what, problems)?;
    let of = ("[directory]", at);
    let checked = check(
        TeamSettings::SETTINGS,
        of,
        table,
        Others::default(),
        problems,
    );
    let mut team: TeamSettings = checked.read(at, problems)?;
    for (key, why) in team.resolve(around) {
        problems.add(
            checked.place(key).unwrap_or(at),
            about(&format!("directory.{key}"), &why),
        );
    }
    Some(team)
}

fn profile(entry: &Entry, around: PathContext, problems: &mut Problems) -> Option<Profile> {
    let at = entry.key_at;
    if let Some(objection) = objection(entry.key) {
        problems.add(at, format!("the name of the profile {objection}"));
    }
    let DeValue::Table(table) = entry.value.get_ref() else {
        let what = "a profile must be a table: put [profiles.NAME] on its own line";
        problems.add(at, what);
        return None;
    };
    let of = ("the profile", at);
    let mut checked = check(Profile::SETTINGS, of, table, Others::default(), problems);
    let tag = checked.value("environment").and_then(toml::Value::as_str);
    let is_production = tag != Some("Testing");
    checked.otherwise("production", is_production);
    let mut profile: Profile = checked.read(at, problems)?;
    entry.key.clone_into(&mut profile.name);
    let mut tell = |key: &str, what: String| {
        problems.add(checked.place(key).unwrap_or(at), about(key, &what));
    };
    match address::base_url(&profile.base_url, profile.allow_plain_http) {
        Ok(base_url) => profile.base_url = base_url,
        Err(error) => tell("base_url", error.to_string()),
    }
    let end = profile.path.trim_end_matches('/');
    if !end.is_empty() && profile.base_url.ends_with(end) {
        let what = format!("already ends with the path; remove \"{end}\" from it");
        tell("base_url", what);
    }
    if profile.connect_timeout > profile.timeout {
        if checked.place("connect_timeout").is_some() {
            let what = "is longer than timeout, which applies to the whole request; shorten it";
            tell("connect_timeout", what.into());
        }
        profile.connect_timeout = profile.timeout;
    }
    let mut tell_of = |key: &str, resolved: Result<(), String>| {
        if let Err(why) = resolved {
            tell(key, why);
        }
    };
    tell_of("api_key", profile.api_key.resolve(around));
    if let Some(file) = &mut profile.ca_file {
        tell_of("ca_file", resolve(file, around));
    }
    if let Some(handoff) = &mut profile.handoff {
        tell_of("handoff", resolve_program(&mut handoff.command, around));
    }
    Some(profile)
}
