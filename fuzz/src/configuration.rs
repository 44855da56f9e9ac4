//! The configuration file: any text is read or refused with a position; adding and removing a profile change nothing
//! else.

use std::{fs, path::PathBuf, sync::LazyLock};

use groupdesk::config::{
    ConfigError, Environment, KeySource, Overrides, Settings,
    edit::{EditError, Opened},
    new_profile::NewProfile,
};

use super::{is_safe, is_within};

static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a folder"));

/// The file of this thread; the environment of the process is not used.
fn overrides() -> Overrides {
    let name = format!("{:?}.toml", std::thread::current().id());
    Overrides {
        config: Some(FOLDER.path().join(name)),
        directory: Some(PathBuf::from("/nowhere/directory.db")),
        env: [("HOME", "/home/ana"), ("USER", "ana")]
            .into_iter()
            .collect::<Environment>(),
        ..Overrides::default()
    }
}

pub fn run(data: &[u8]) {
    let overrides = overrides();
    let file = overrides.config.clone().expect("it was set");
    fs::write(&file, data).expect("written");
    match Settings::load(&overrides) {
        Err(error) => refused(&error, data),
        Ok(settings) => changed(&settings, &overrides, data),
    }
}

fn refused(error: &ConfigError, data: &[u8]) {
    is_safe(&error.to_string());
    if let ConfigError::Wrong { problems, .. } = error {
        assert!(!problems.is_empty());
        let text = String::from_utf8_lossy(data);
        for problem in problems {
            is_within(&text, problem.line, problem.column);
        }
    }
}

fn changed(settings: &Settings, overrides: &Overrides, data: &[u8]) {
    let file = overrides.config.as_ref().expect("it was set");
    let new = NewProfile {
        read_only: false,
        name: "added-here".into(),
        base_url: "https://api.example.com".into(),
        path: None,
        environment: None,
        ca_file: None,
        api_key: KeySource::Env("EU_KEY".into()),
    };
    let opened = || Opened::read(overrides);
    match opened().and_then(|opened| opened.added(&new)) {
        Ok((edit, profile)) => {
            edit.make().expect("it can be written");
            let more = Settings::load(overrides).expect("what was written can be read");
            let (last, others) = more.profiles.split_last().expect("one was added");
            assert_eq!(last, &profile);
            assert_eq!(others, settings.profiles);
            assert_eq!(
                (&more.operator, &more.keys),
                (&settings.operator, &settings.keys)
            );
            let removing = opened().and_then(|opened| opened.removed("added-here"));
            removing
                .expect("it was added")
                .make()
                .expect("it can be written");
            let again = Settings::load(overrides).expect("it can be read");
            assert_eq!(again.profiles, settings.profiles);
        }
        Err(error) => {
            is_safe(&error.to_string());
            assert!(
                matches!(error, EditError::ByHand(_) | EditError::Exists(..)),
                "{error:?}"
            );
            assert_eq!(
                fs::read(file).expect("readable"),
                data,
                "nothing was changed"
            );
        }
    }
    for profile in &settings.profiles {
        fs::write(file, data).expect("written");
        match opened().and_then(|opened| opened.removed(&profile.name)) {
            Ok(edit) => {
                edit.make().expect("it can be written");
                let left = Settings::load(overrides).expect("it can be read");
                let others = settings
                    .profiles
                    .iter()
                    .filter(|other| other.name != profile.name);
                assert!(left.profiles.iter().eq(others));
            }
            Err(error) => {
                is_safe(&error.to_string());
                assert!(matches!(error, EditError::ByHand(_)), "{error:?}");
            }
        }
    }
}
