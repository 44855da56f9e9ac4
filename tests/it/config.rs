//! What the configuration file may say, and the home folder that these stories share.

mod edit;
mod errors;
mod guards;
mod keyring;
mod keys;
mod precedence;
mod reference;
mod ui;

use std::{fs::Permissions, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use groupdesk::{
    config::{ConfigError, Environment, KeySource, Overrides, Problem, Profile, Settings},
    domain::group::EnvironmentTag,
};
use tempfile::TempDir;

/// Stands for every secret that a person may put into the wrong place.
const CANARY: &str = "canary-5up3r53cr3t";

/// A home folder with a configuration file in the default place.
struct Home {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Home {
    fn new() -> Self {
        let folder = crate::support::folder::temporary();
        let home = folder.path().to_str().expect("UTF-8").to_owned();
        let variables = vec![("HOME".into(), home), ("USER".into(), "ana".into())];
        Self { folder, variables }
    }

    fn with_file(text: &str) -> Self {
        let home = Self::new();
        home.write("config.toml", text);
        home
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// A file in the folder of the configuration file.
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.folder.path().join(".config/groupdesk");
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(name);
        std::fs::write(&file, text).expect("written");
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("set");
        file
    }

    fn env(&self) -> Environment {
        self.variables.iter().cloned().collect()
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            env: self.env(),
            ..Overrides::default()
        }
    }

    fn load(&self) -> Result<Settings, ConfigError> {
        Settings::load(&self.overrides())
    }
}

/// The problems of a file that must have some; none of their texts may hold the canary.
fn problems(text: &str) -> Vec<Problem> {
    let error = Home::with_file(text).load().expect_err("the file is wrong");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(CANARY), "{shown}");
    match error {
        ConfigError::Wrong { problems, .. } => problems,
        other => panic!("no problem of the file: {other}"),
    }
}

/// Checks that the file has a problem at this line and column, with these words.
#[track_caller]
fn has_problem(text: &str, place: (usize, usize), words: &str) {
    let found = problems(text);
    let mut all = found.iter().filter(|one| (one.line, one.column) == place);
    assert!(all.any(|one| one.what.contains(words)), "{text}: {found:?}");
}

/// A good profile, from line 1 to 3, and then `lines`, from line 4.
fn profile_and(lines: &str) -> String {
    format!(
        "[profiles.eu-live]\nbase_url = \"https://api.example.com\"\napi_key = {{ env = \"EU_KEY\" }}\n{lines}"
    )
}

#[test]
fn a_short_profile_gets_careful_defaults() {
    let settings = Home::with_file(&profile_and("")).load().expect("good");
    let key = KeySource::Env("EU_KEY".into());
    let expected = Profile::new("eu-live", "https://api.example.com", key);
    assert_eq!(settings.profile(None).expect("the only one"), &expected);
}

#[test]
fn max_bulk_is_a_whole_number() {
    let read = |line: &str| Home::with_file(&profile_and(line)).load();
    let settings = read("max_bulk = 2_000").expect("a good file");
    assert_eq!(settings.profiles[0].max_bulk, 2000);
    for wrong in ["-1", "1.5", "\"9\"", "true", "1000001"] {
        let found = problems(&profile_and(&format!("max_bulk = {wrong}")));
        assert!(found[0].what.starts_with("max_bulk must be"), "{wrong}");
    }
}

#[test]
fn only_the_testing_tag_makes_a_profile_not_production() {
    for (lines, production) in [
        ("", true),
        ("environment = \"Customer\"", true),
        ("environment = \"Testing\"", false),
        ("environment = \"Testing\"\nproduction = true", true),
        ("production = false", false),
    ] {
        let settings = Home::with_file(&profile_and(lines)).load().expect("good");
        assert_eq!(settings.profiles[0].production, production, "{lines}");
    }
}

#[test]
fn every_key_is_read() {
    let lines = "path = \"/v2/user/\"\nenvironment = \"Testing\"\nread_only = true\ntimeout = \"2m\"\n\
                 connect_timeout = \"1500ms\"\nproxy_from_environment = true\nread_properties = true\nallow_plain_http = true\nca_file = \"own.pem\"";
    let text = profile_and(lines).replace("https://api.example.com", "http://api.example.com/");
    let settings = Home::with_file(&text).load().expect("a good file");
    let profile = &settings.profiles[0];
    assert_eq!(profile.url(), "http://api.example.com/v2/user/");
    assert_eq!(profile.host(), "api.example.com");
    assert_eq!(profile.environment, Some(EnvironmentTag::Testing));
    assert_eq!(profile.timeout, Duration::from_mins(2));
    assert_eq!(profile.connect_timeout, Duration::from_millis(1500));
    assert!(profile.read_only && profile.allow_plain_http);
    assert!(profile.proxy_from_environment && profile.read_properties);
    let file = profile.ca_file.as_ref().expect("a file");
    assert!(file.is_absolute() && file.ends_with("own.pem"), "{file:?}");
}

#[test]
fn a_hand_off_and_an_age_are_read() {
    let lines = "max_token_age = \"12w\"\nhandoff = { command = [\"~/put\", \"eu\"] }";
    let settings = Home::with_file(&profile_and(lines)).load().expect("good");
    let profile = &settings.profiles[0];
    let age = Duration::from_hours(24 * 7 * 12);
    assert_eq!(profile.max_token_age, Some(age));
    let handoff = profile.handoff.as_ref().expect("one");
    assert!(handoff.command[0].ends_with("/put") && handoff.command[0].starts_with('/'));
    assert_eq!(handoff.command[1], "eu");
    assert_eq!(handoff.timeout, Duration::from_secs(30));
    assert!(!format!("{handoff:?} {handoff}").contains("\"eu\""));
}

#[test]
fn the_example_is_a_good_file() {
    let text = include_str!("../../assets/config.example.toml");
    let settings = Home::with_file(text).load().expect("a good file");
    assert_eq!(settings.profiles.len(), 2);
    assert_eq!(settings.default_profile.as_deref(), Some("eu-testing"));
    assert!(settings.profiles[0].production && !settings.profiles[1].production);
}
