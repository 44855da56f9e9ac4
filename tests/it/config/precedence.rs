//! Options override variables, and variables override the file; the profile that needs no file.

use std::fs;

use groupdesk::{
    config::{
        ConfigError, DirectoryAt, KeySource, NewDirectory, Overrides, Settings, directory_of,
        new_directory, paths,
    },
    domain::group::EnvironmentTag,
};

use super::{CANARY, Home, profile_and};
use crate::support::assertions::{assert_has, assert_lacks};

const TWO: &str = "default_profile = \"b\"\noperator = \"li\"\n\
    [profiles.b]\nbase_url = \"https://b.example\"\napi_key = { env = \"B\" }\n\
    [profiles.a]\nbase_url = \"https://a.example\"\napi_key = { env = \"A\" }\n";

fn without_file() -> Home {
    Home::new()
        .set("GROUPDESK_BASE_URL", "https://api.example.com/")
        .set("GROUPDESK_API_KEY", CANARY)
}

fn refusal(home: &Home) -> String {
    let error = home.load().expect_err("refused");
    assert!(!format!("{error} {error:?}").contains(CANARY));
    error.to_string()
}

/// The profile that is used unless another is asked for.
fn used(settings: &Settings) -> &str {
    &settings.profile(None).expect("one").name
}

/// With this directory named by a flag.
fn at(home: &Home, directory: impl Into<std::path::PathBuf>) -> Overrides {
    Overrides {
        directory: Some(directory.into()),
        ..home.overrides()
    }
}

#[test]
fn a_flag_overrides_a_variable_and_a_variable_overrides_the_file() {
    let home = Home::with_file(TWO);
    let settings = home.load().expect("good");
    let names: Vec<_> = settings.profiles.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["b", "a"], "in the order of the file");
    assert_eq!((used(&settings), &*settings.operator), ("b", "li"));
    let home = home.set("GROUPDESK_PROFILE", "a");
    assert_eq!(used(&home.load().expect("good")), "a");
    let flags = Overrides {
        profile: Some("b".into()),
        read_only: true,
        ..home.overrides()
    };
    let settings = Settings::load(&flags).expect("good");
    assert_eq!(used(&settings), "b");
    assert_eq!(settings.profile(Some("a")).expect("one").name, "a");
    assert!(settings.profiles.iter().all(|profile| profile.read_only));
}

#[test]
fn flags_and_variables_override_paths_too() {
    let home = Home::with_file(TWO);
    let one = home.write("one.toml", &profile_and(""));
    let other = home.write("other.toml", TWO);
    let home = home
        .set("GROUPDESK_CONFIG", one.to_str().expect("UTF-8"))
        .set("GROUPDESK_DIRECTORY", "/from/variable.db");
    let settings = home.load().expect("good");
    assert_eq!(settings.profiles[0].name, "eu-live");
    assert_eq!(settings.file, Some(one));
    let expected = DirectoryAt::File("/from/variable.db".into());
    assert_eq!(settings.directory, expected);
    let file = home.folder.path().join("flag.db");
    let flags = Overrides {
        config: Some(other.clone()),
        ..at(&home, &file)
    };
    let settings = Settings::load(&flags).expect("good");
    assert_eq!((settings.file, settings.profiles.len()), (Some(other), 2));
    assert_eq!(settings.directory, DirectoryAt::File(file));
    let nowhere = at(&home, home.folder.path().join("nope/flag.db"));
    let refused = Settings::load(&nowhere).expect_err("no such folder");
    assert_has(&refused.to_string(), "nothing was created");
}

/// The folder of a named file is not created either, whoever names it. Which texts those are: in `config::paths`.
#[test]
fn what_looks_like_an_address_is_no_directory_and_is_not_repeated() {
    for text in [
        format!("host=db1 dbname=desk password={CANARY}"),
        format!("Postgres://ana:{CANARY}@db1/desk"),
        "db1:5432/desk".into(),
        "groups.json".into(),
    ] {
        let home = Home::with_file(TWO);
        let flag = ("--directory", at(&home, &text));
        let home = home.set("GROUPDESK_DIRECTORY", &text);
        for (by, overrides) in [flag, ("GROUPDESK_DIRECTORY", home.overrides())] {
            let refused = Settings::load(&overrides).expect_err(&text).to_string();
            assert_has(&refused, &format!("{by} is neither a file nor the address"));
            assert_has(&refused, "postgres://USER@HOST/DATABASE");
            assert_lacks(&refused, CANARY);
            let refused = directory_of(&overrides).expect_err(&text).to_string();
            assert_has(&refused, "nothing was created");
        }
    }
    for (name, value, words) in [
        (
            "DIRECTORY",
            "db1/desk",
            "is in the folder db1, which does not exist",
        ),
        ("CONFIG", "https://db1/config.toml", "is not a file"),
        (
            "DIRECTORY",
            "postgres://${USER}@db1/desk",
            "contains a variable",
        ),
    ] {
        let name = format!("GROUPDESK_{name}");
        let refused = refusal(&Home::with_file(TWO).set(&name, value));
        assert_has(&refused, &format!("{name} {words}"));
    }
}

#[test]
fn a_tilde_in_a_variable_is_the_home() {
    let home = Home::with_file(TWO);
    let one = home.write("one.toml", &profile_and(""));
    let mut home = home.set("GROUPDESK_CONFIG", "~/.config/groupdesk/one.toml");
    let expected = home.folder.path().join("desk.db");
    let file = DirectoryAt::File(expected.clone());
    // Also with what a file with the line ends of another system leaves around it.
    for value in [
        "~/desk.db\r",
        "~/desk.db\r\n",
        "\u{feff}~/desk.db",
        "~/desk.db",
    ] {
        home = home.set("GROUPDESK_DIRECTORY", value);
        let settings = home.load().expect("good");
        assert_eq!(
            (settings.file.as_ref(), &settings.directory),
            (Some(&one), &file),
            "{value:?}"
        );
    }
    let new = || new_directory(&home.overrides(), &file);
    assert_eq!(new(), Some(NewDirectory::Missing(expected.clone())));
    fs::write(&expected, "").expect("written");
    assert_eq!(new(), Some(NewDirectory::Empty(expected.clone())));
    fs::write(expected.with_extension("db-wal"), "log").expect("written");
    assert_eq!(new(), None);
    let refused = refusal(&home.set("GROUPDESK_DIRECTORY", "~ben/desk.db"));
    assert_has(&refused, "GROUPDESK_DIRECTORY begins with \"~\" and a name");
}

const TEAM: &str = "[directory]\nurl = \"postgres://ana@db1/desk\"\nca_file = \"team-ca.pem\"\n\
                    password = { command = [\"pass\", \"show\", \"desk\"] }\n";

#[test]
fn a_team_directory_of_the_file_is_overridden_by_flag_and_variable() {
    let home = Home::with_file(TEAM);
    let team = |overrides: &Overrides| match Settings::load(overrides).expect("good").directory {
        DirectoryAt::Team(team) => team,
        DirectoryAt::File(_) => panic!("a team's"),
    };
    let of_file = team(&home.overrides());
    assert_eq!(of_file.url, "postgres://ana@db1/desk");
    assert_eq!(of_file.schema, "groupdesk");
    let ca_file = home.folder.path().join(".config/groupdesk/team-ca.pem");
    assert_eq!(of_file.ca_file, Some(ca_file));
    let mut other = team(&at(&home, "postgres://ana@db2/desk"));
    assert_eq!(other.url, "postgres://ana@db2/desk");
    other.url.clone_from(&of_file.url);
    assert_eq!(other, of_file, "all else is that of the file");
    let mistaken = team(&at(&home, format!("postgres://ana:{CANARY}@db2/desk")));
    assert_lacks(&format!("{mistaken:?}"), CANARY);
    let home = home.set("GROUPDESK_DIRECTORY", "/from/variable.db");
    let at = home.load().expect("good").directory;
    assert_eq!(at, DirectoryAt::File("/from/variable.db".into()));
}

#[test]
fn errors_about_a_team_directory_do_not_repeat_its_values() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("directory = \"desk.db\"", "put [directory] on its own line"),
        ("[directory]\nschema = \"x\"", "has no url"),
        ("[directory]\nurl = \"hunter2-db1\"", "must be the address of a PostgreSQL database"),
        ("[directory]\nurl = \"postgres://a@b/c\"\npassword = \"hunter2\"", "must not contain the password itself"),
        ("[directory]\nurl = \"postgres://a@b/c\"\nuser = \"hunter2\"", "unknown key \"user\""),
    ];
    for (text, words) in table {
        let told = refusal(&Home::with_file(text));
        assert!(told.contains(words) && !told.contains("hunter2"), "{told}");
    }
}

#[test]
fn nothing_at_all_is_no_error_until_a_profile_is_needed() {
    let home = Home::new();
    let settings = home.load().expect("nothing is wrong");
    assert!(settings.profiles.is_empty() && settings.default_profile.is_none());
    let data = home.folder.path().join(".local/share/groupdesk");
    let directory = DirectoryAt::File(data.join("directory.db"));
    assert_eq!(settings.directory, directory);
    let service = paths::service_database(&home.env()).expect("a home");
    assert_eq!(service, data.join("service.db"));
    assert!(
        settings.operator.starts_with("ana@"),
        "{}",
        settings.operator
    );
    let error = settings.profile(None).expect_err("none").to_string();
    assert_has(&error, "config.toml");
    assert_has(&error, "GROUPDESK_BASE_URL");
}

#[test]
fn a_file_that_somebody_named_must_exist_and_not_everybody_may_write_to_it() {
    use std::os::unix::fs::PermissionsExt;
    let named = Home::new().set("GROUPDESK_CONFIG", "/nowhere/config.toml");
    let text = refusal(&named);
    assert_has(&text, "/nowhere/config.toml");
    assert_has(&text, "GROUPDESK_CONFIG");
    let flags = Overrides {
        config: Some("/nowhere/else.toml".into()),
        ..named.overrides()
    };
    let text = Settings::load(&flags).expect_err("refused").to_string();
    assert_has(&text, "else.toml");
    assert_has(&text, "--config");
    // A directory is often larger than a configuration may be.
    let directory = format!("SQLite format 3\0{}", "x".repeat(2 << 20));
    for (name, text, todo) in [
        (
            "desk.db",
            &*directory,
            "pass it with --directory; it is set by --config",
        ),
        (
            "groups.yaml",
            "---\n",
            "it is YAML, not a configuration; use another file",
        ),
    ] {
        let flags = Overrides {
            config: Some(named.write(name, text)),
            ..named.overrides()
        };
        let text = Settings::load(&flags).expect_err("refused").to_string();
        assert_has(&text, todo);
        assert_lacks(&text, ":1:1:");
    }
    let home = Home::with_file(TWO);
    let file = home.folder.path().join(".config/groupdesk/config.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("set");
    assert_has(&refusal(&home), "chmod o-w");
}

#[test]
fn a_mistyped_variable_and_one_for_an_option_without_are_refused() {
    for (name, expected) in [
        ("GROUPDESK_PROFIL", "rename it to GROUPDESK_PROFILE"),
        ("GROUPDESK_READ_ONLY", "pass --read-only"),
    ] {
        let home = Home::with_file(TWO).set(name, "a");
        assert_has(&refusal(&home), expected);
    }
    // A variable for a key may have any name.
    let file = TWO.replace("\"A\"", "\"GROUPDESK_PATHS\"");
    let home = Home::with_file(&file).set("GROUPDESK_PATHS", "canary");
    assert!(home.load().is_ok());
}

#[test]
fn an_unknown_profile_names_the_nearest_and_all_and_without_a_default_one_is_asked_for() {
    let home = Home::with_file(&TWO.replace("profiles.a", "profiles.eu-live"));
    let settings = home.load().expect("good");
    let unknown = settings.profile(Some("eu-lvie")).expect_err("unknown");
    let near = "not found; did you mean \"eu-live\"?";
    let expected = format!("profile \"eu-lvie\" {near} (known profiles: b, eu-live)");
    assert_eq!(unknown.to_string(), expected);
    let text = refusal(&home.set("GROUPDESK_PROFILE", "eu-lvie"));
    let expected = format!("profile \"eu-lvie\" (from GROUPDESK_PROFILE) {near}");
    assert_has(&text, &expected);
    let text = TWO.replace("default_profile = \"b\"\n", "");
    let settings = Home::with_file(&text).load().expect("good");
    let error = settings.profile(None).expect_err("no default");
    let is_asked = matches!(&error, ConfigError::NoDefault { known } if *known == ["b", "a"]);
    assert!(is_asked, "{error}");
}

#[test]
fn two_variables_make_a_profile_without_any_file() {
    let settings = without_file().load().expect("good");
    let profile = settings.profile(None).expect("the one");
    assert_eq!(profile.name, "env-api.example.com");
    assert_eq!(profile.url(), "https://api.example.com/api/user");
    assert_eq!(profile.api_key, KeySource::Env("GROUPDESK_API_KEY".into()));
    assert!(profile.production);
    assert!(!format!("{settings:?}").contains(CANARY));

    let home = without_file()
        .set("GROUPDESK_ENVIRONMENT", "Testing")
        .set("GROUPDESK_PATH", "/v2/");
    let settings = home.load().expect("good");
    let profile = settings.profile(None).expect("the one");
    assert_eq!(profile.name, "env-api.example.com-v2-testing");
    assert_eq!(profile.environment, Some(EnvironmentTag::Testing));
    assert_eq!((profile.production, profile.path.as_str()), (false, "/v2/"));
}

#[test]
fn a_profile_of_variables_is_the_default_even_with_a_file() {
    let home = without_file();
    home.write("config.toml", TWO);
    let settings = home.load().expect("good");
    assert_eq!(
        (used(&settings), settings.profiles.len()),
        ("env-api.example.com", 3)
    );
    let settings = home.set("GROUPDESK_PROFILE", "a").load().expect("good");
    assert_eq!(used(&settings), "a");
    // A profile of the file may use the same variable for its key.
    let text = profile_and("").replace("EU_KEY", "GROUPDESK_API_KEY");
    let home = Home::with_file(&text).set("GROUPDESK_API_KEY", CANARY);
    assert_eq!(home.load().expect("good").profiles.len(), 1);
}

#[test]
fn half_a_profile_of_variables_says_what_is_missing() {
    let url = Home::new().set("GROUPDESK_BASE_URL", "https://api.example.com");
    assert_has(&refusal(&url), "GROUPDESK_API_KEY is not");
    let empty = url.set("GROUPDESK_API_KEY", "");
    assert_has(&refusal(&empty), "GROUPDESK_API_KEY is not");
    for other in ["API_KEY", "ENVIRONMENT", "PATH"] {
        let other = format!("GROUPDESK_{other}");
        let text = refusal(&Home::new().set(&other, CANARY));
        assert_has(&text, &other);
        assert_has(&text, "GROUPDESK_BASE_URL is not");
    }
}

#[test]
fn wrong_variables_are_named_and_not_quoted() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("GROUPDESK_ENVIRONMENT", "Costumer", "did you mean \"Customer\"?"),
        ("GROUPDESK_PATH", "api", "GROUPDESK_PATH must begin with \"/\""),
        ("GROUPDESK_BASE_URL", "http://api.example.com", "GROUPDESK_BASE_URL would send the API key unprotected"),
        ("GROUPDESK_BASE_URL", "https://x:canary-5up3r53cr3t@api.example.com", "user name or password"),
    ];
    for (name, value, words) in table {
        let text = refusal(&without_file().set(name, value));
        assert!(text.contains(name) && text.contains(words), "{text}");
    }
}

#[test]
fn variables_without_a_home_are_enough_when_the_directory_is_named() {
    let variables = [
        ("GROUPDESK_BASE_URL", "https://api.example.com"),
        ("GROUPDESK_API_KEY", CANARY),
    ];
    let mut overrides = Overrides {
        env: variables.into_iter().collect(),
        ..Overrides::default()
    };
    let text = Settings::load(&overrides).expect_err("no home").to_string();
    assert_has(&text, "GROUPDESK_DIRECTORY");
    overrides.directory = Some("/d.db".into());
    let settings = Settings::load(&overrides).expect("good");
    assert_eq!(settings.file, None);
    assert!(settings.profile(None).is_ok());
    assert!(!format!("{overrides:?}").contains(CANARY));
}
