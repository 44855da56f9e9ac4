//! Options override variables, and variables override the file; the profile that needs no file.

use std::fs;

use groupdesk::{
    config::{
        ConfigError, DirectoryAt, Environment, KeySource, NewDirectory, Overrides, Settings,
        directory_of, new_directory, paths,
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

#[test]
fn profiles_keep_the_order_of_the_file() {
    let settings = Home::with_file(TWO).load().expect("good");
    let names: Vec<_> = settings.profiles.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!(settings.operator, "li");
}

#[test]
fn a_flag_overrides_a_variable_and_a_variable_overrides_the_file() {
    let home = Home::with_file(TWO);
    assert_eq!(
        home.load().expect("good").profile(None).expect("one").name,
        "b"
    );
    let home = home.set("GROUPDESK_PROFILE", "a");
    assert_eq!(
        home.load().expect("good").profile(None).expect("one").name,
        "a"
    );
    let flags = Overrides {
        profile: Some("b".into()),
        ..home.overrides()
    };
    let settings = Settings::load(&flags).expect("good");
    assert_eq!(settings.profile(None).expect("one").name, "b");
    assert_eq!(settings.profile(Some("a")).expect("one").name, "a");
}

#[test]
fn flags_and_variables_override_paths_too() {
    let home = Home::with_file(TWO);
    let (one, other) = (
        home.write("one.toml", &profile_and("")),
        home.write("other.toml", TWO),
    );
    let home = home
        .set("GROUPDESK_CONFIG", one.to_str().expect("UTF-8"))
        .set("GROUPDESK_DIRECTORY", "/from/variable.db");
    let settings = home.load().expect("good");
    assert_eq!(settings.profiles[0].name, "eu-live");
    assert_eq!(settings.file, Some(one));
    assert_eq!(
        settings.directory,
        DirectoryAt::File("/from/variable.db".into())
    );
    let flags = Overrides {
        config: Some(other.clone()),
        directory: Some(home.folder.path().join("flag.db")),
        ..home.overrides()
    };
    let settings = Settings::load(&flags).expect("good");
    assert_eq!((settings.file, settings.profiles.len()), (Some(other), 2));
    assert_eq!(
        settings.directory,
        DirectoryAt::File(home.folder.path().join("flag.db"))
    );
    let nowhere = Overrides {
        directory: Some(home.folder.path().join("nope/flag.db")),
        ..home.overrides()
    };
    let refused = Settings::load(&nowhere).expect_err("no such folder");
    assert!(
        refused.to_string().contains("nothing was created"),
        "{refused}"
    );
}

/// The folder of a named file is not created either, whoever names it.
#[test]
fn what_looks_like_an_address_is_no_directory_and_is_not_repeated() {
    for text in [
        format!("host=db1 dbname=desk password={CANARY}"),
        format!("postgresql:desk?password={CANARY}"),
        format!("Postgres://ana:{CANARY}@db1/desk"),
        format!("sqlite:///{CANARY}.db"),
        format!("s3://{CANARY}/desk.db"),
        format!("{CANARY}@db1/desk"),
        "db1:5432/desk".into(),
    ] {
        let flag = Overrides {
            directory: Some(text.clone().into()),
            ..Home::with_file(TWO).overrides()
        };
        let variable = Home::with_file(TWO).set("GROUPDESK_DIRECTORY", &text);
        for (by, overrides) in [
            ("--directory", flag),
            ("GROUPDESK_DIRECTORY", variable.overrides()),
        ] {
            let refused = Settings::load(&overrides).expect_err(&text).to_string();
            assert_has(&refused, &format!("{by} is neither a file nor the address"));
            assert_has(&refused, "postgres://USER@HOST/DATABASE");
            assert_lacks(&refused, CANARY);
            let refused = directory_of(&overrides).expect_err(&text).to_string();
            assert_has(&refused, "nothing was created");
        }
    }
    let home = Home::with_file(TWO).set("GROUPDESK_DIRECTORY", "db1/desk");
    let refused = home.load().expect_err("no folder").to_string();
    assert_has(
        &refused,
        "GROUPDESK_DIRECTORY is in the folder db1, which does not exist",
    );
    let home = Home::with_file(TWO).set("GROUPDESK_CONFIG", "https://db1/config.toml");
    let refused = home.load().expect_err("no file").to_string();
    assert_has(&refused, "GROUPDESK_CONFIG is not a file");
}

#[test]
fn a_tilde_in_a_variable_is_the_home() {
    let home = Home::with_file(TWO);
    let one = home.write("one.toml", &profile_and(""));
    let mut home = home
        .set("GROUPDESK_CONFIG", "~/.config/groupdesk/one.toml")
        .set("GROUPDESK_DIRECTORY", "~/desk.db");
    let settings = home.load().expect("good");
    assert_eq!(settings.file, Some(one));
    let expected = home.folder.path().join("desk.db");
    assert_eq!(settings.directory, DirectoryAt::File(expected.clone()));
    assert_eq!(
        new_directory(&home.overrides(), &settings.directory),
        Some(NewDirectory::Missing(expected.clone()))
    );
    // What a file with the line ends of another system leaves around it.
    for value in ["~/desk.db\r", "~/desk.db\r\n", "\u{feff}~/desk.db"] {
        home = home.set("GROUPDESK_DIRECTORY", value);
        let at = home.load().expect("good").directory;
        assert_eq!(at, DirectoryAt::File(expected.clone()), "{value:?}");
    }
    fs::write(&expected, "").expect("written");
    assert_eq!(
        new_directory(&home.overrides(), &settings.directory),
        Some(NewDirectory::Empty(expected.clone()))
    );
    fs::write(expected.with_extension("db-wal"), "log").expect("written");
    assert_eq!(new_directory(&home.overrides(), &settings.directory), None);
    let other = home.set("GROUPDESK_DIRECTORY", "~ben/desk.db");
    let refused = other.load().expect_err("of another person").to_string();
    assert_has(&refused, "GROUPDESK_DIRECTORY begins with \"~\" and a name");
}

const TEAM: &str = "[directory]\nurl = \"postgres://ana@db1/desk\"\nca_file = \"team-ca.pem\"\n\
                    password = { command = [\"pass\", \"show\", \"desk\"] }\n";

#[test]
fn a_team_directory_of_the_file_is_overridden_by_flag_and_variable() {
    let home = Home::with_file(TEAM);
    let DirectoryAt::Team(team) = home.load().expect("good").directory else {
        panic!("a team's");
    };
    assert_eq!(
        (team.url.as_str(), team.schema.as_str()),
        ("postgres://ana@db1/desk", "groupdesk")
    );
    assert_eq!(
        team.ca_file,
        Some(home.folder.path().join(".config/groupdesk/team-ca.pem"))
    );
    let flags = Overrides {
        directory: Some("postgres://ana@db2/desk".into()),
        ..home.overrides()
    };
    let DirectoryAt::Team(other) = Settings::load(&flags).expect("good").directory else {
        panic!("a team's");
    };
    assert_eq!(other.url, "postgres://ana@db2/desk");
    assert_eq!(
        (other.ca_file, other.password),
        (team.ca_file, team.password)
    );
    let mistaken = Overrides {
        directory: Some(format!("postgres://ana:{CANARY}@db2/desk").into()),
        ..home.overrides()
    };
    let mistaken = format!("{:?}", Settings::load(&mistaken).expect("good").directory);
    assert_has(&mistaken, "groupdesk");
    assert_lacks(&mistaken, CANARY);
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
    assert_eq!(
        settings.directory,
        DirectoryAt::File(data.join("directory.db"))
    );
    assert_eq!(
        paths::service_database(&home.env()).expect("a home"),
        data.join("service.db")
    );
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
fn a_file_that_somebody_named_must_exist() {
    let home = Home::new().set("GROUPDESK_CONFIG", "/nowhere/config.toml");
    let text = refusal(&home);
    assert_has(&text, "/nowhere/config.toml");
    assert_has(&text, "GROUPDESK_CONFIG");
    let flags = Overrides {
        config: Some("/nowhere/else.toml".into()),
        ..home.overrides()
    };
    let text = Settings::load(&flags).expect_err("refused").to_string();
    assert_has(&text, "else.toml");
    assert_has(&text, "--config");
}

#[test]
fn a_file_that_everybody_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::with_file(TWO);
    let file = home.folder.path().join(".config/groupdesk/config.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).expect("set");
    assert!(refusal(&home).contains("chmod o-w"));
}

#[test]
fn an_unknown_profile_names_the_nearest_and_all() {
    let home = Home::with_file(&TWO.replace("profiles.a", "profiles.eu-live"));
    let settings = home.load().expect("good");
    let text = settings
        .profile(Some("eu-lvie"))
        .expect_err("unknown")
        .to_string();
    assert_eq!(
        text,
        "profile \"eu-lvie\" not found; did you mean \"eu-live\"? (known profiles: b, eu-live)"
    );
    let text = refusal(&home.set("GROUPDESK_PROFILE", "eu-lvie"));
    assert_has(
        &text,
        "profile \"eu-lvie\" (from GROUPDESK_PROFILE) not found; did you mean \"eu-live\"?",
    );
}

#[test]
fn several_profiles_without_a_default_ask_for_a_choice() {
    let text = TWO.replace("default_profile = \"b\"\n", "");
    let settings = Home::with_file(&text).load().expect("good");
    let error = settings.profile(None).expect_err("no default");
    assert!(
        matches!(&error, ConfigError::NoDefault { known } if *known == ["b", "a"]),
        "{error}"
    );
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
    assert_eq!(settings.profiles.len(), 3);
    assert_eq!(
        settings.profile(None).expect("one").name,
        "env-api.example.com"
    );
    let settings = home.set("GROUPDESK_PROFILE", "a").load().expect("good");
    assert_eq!(settings.profile(None).expect("one").name, "a");
}

#[test]
fn half_a_profile_of_variables_says_what_is_missing() {
    let url = |home: Home| home.set("GROUPDESK_BASE_URL", "https://api.example.com");
    let text = refusal(&url(Home::new()));
    assert!(text.contains("GROUPDESK_API_KEY is not"), "{text}");
    let text = refusal(&url(Home::new()).set("GROUPDESK_API_KEY", ""));
    assert!(text.contains("GROUPDESK_API_KEY is not"), "{text}");
    for other in [
        "GROUPDESK_API_KEY",
        "GROUPDESK_ENVIRONMENT",
        "GROUPDESK_PATH",
    ] {
        let text = refusal(&Home::new().set(other, CANARY));
        assert_has(&text, other);
        assert_has(&text, "GROUPDESK_BASE_URL is not");
    }
}

#[test]
fn a_profile_of_the_file_may_use_the_same_variable_for_its_key() {
    let text = profile_and("").replace("EU_KEY", "GROUPDESK_API_KEY");
    let home = Home::with_file(&text).set("GROUPDESK_API_KEY", CANARY);
    assert_eq!(home.load().expect("good").profiles.len(), 1);
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
fn read_only_from_the_flag_holds_for_every_profile() {
    let home = Home::with_file(TWO);
    let settings = Settings::load(&Overrides {
        read_only: true,
        ..home.overrides()
    })
    .expect("good");
    assert!(settings.profiles.iter().all(|profile| profile.read_only));
}

#[test]
fn variables_without_a_home_are_enough_when_the_directory_is_named() {
    let env: Environment = [
        ("GROUPDESK_BASE_URL", "https://api.example.com"),
        ("GROUPDESK_API_KEY", CANARY),
    ]
    .into_iter()
    .collect();
    let overrides = Overrides {
        env,
        ..Overrides::default()
    };
    let text = Settings::load(&overrides).expect_err("no home").to_string();
    assert!(text.contains("GROUPDESK_DIRECTORY"), "{text}");
    let overrides = Overrides {
        directory: Some("/d.db".into()),
        ..overrides
    };
    let settings = Settings::load(&overrides).expect("good");
    assert_eq!(settings.file, None);
    assert!(settings.profile(None).is_ok());
    assert!(!format!("{overrides:?}").contains(CANARY));
}
