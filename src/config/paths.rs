//! Default paths: the XDG folders of the environment that is passed in.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::{
    environment::Environment,
    error::{ConfigError, UnusablePath},
};
use crate::domain::{
    dash::begins_long,
    pasted::{Shape, shape},
};

const FOLDER: &str = "groupdesk";
const HOME: &str = "HOME";

/// `groupdesk/config.toml` in the XDG configuration folder; `None` if there is no home folder.
pub fn config_file(env: &Environment) -> Option<PathBuf> {
    base(env, "XDG_CONFIG_HOME", ".config").map(|base| base.join(FOLDER).join("config.toml"))
}

/// The directory's database, `groupdesk/directory.db` in the XDG data folder.
pub fn directory(env: &Environment) -> Result<PathBuf, ConfigError> {
    data(env, "directory.db").ok_or(ConfigError::NoHome("the directory", "GROUPDESK_DIRECTORY"))
}

/// The embedded service's database, `groupdesk/service.db` in the XDG data folder.
pub fn service_database(env: &Environment) -> Result<PathBuf, ConfigError> {
    data(env, "service.db").ok_or(ConfigError::NoHome(
        "the service's database",
        "XDG_DATA_HOME",
    ))
}

/// Where the timelines of team directories are remembered, in the XDG data folder.
pub fn timelines(env: &Environment) -> Option<PathBuf> {
    data(env, "timelines")
}

/// The path, with `~` at its beginning replaced by the home folder. Everything that takes a path from a person goes through
/// here: a shell replaces it neither after `=` nor in a variable.
pub fn from_home(path: &Path, home: Option<PathBuf>) -> Result<PathBuf, UnusablePath> {
    let Some(text) = path.to_str().filter(|text| text.starts_with('~')) else {
        return Ok(path.to_owned());
    };
    let rest = match text.strip_prefix("~/") {
        Some(rest) => rest.trim_start_matches('/'),
        None if text == "~" => "",
        None => return Err(UnusablePath::OtherHome),
    };
    let home = home.filter(|home| home.is_absolute());
    let home = home.ok_or(UnusablePath::NoHome)?;
    Ok(if rest.is_empty() {
        home
    } else {
        home.join(rest)
    })
}

/// [`from_home`], relative to `folder`.
pub(super) fn resolve(
    path: &Path,
    folder: &Path,
    env: &Environment,
) -> Result<PathBuf, UnusablePath> {
    from_home(path, home(env)).map(|path| folder.join(path))
}

/// The path that a variable names.
pub(super) fn of_variable(
    env: &Environment,
    name: &'static str,
) -> Result<Option<PathBuf>, ConfigError> {
    let path = env
        .get(name)
        .map(|path| from_home(Path::new(path), home(env)));
    path.transpose()
        .map_err(|why| ConfigError::variable(name, why.to_string()))
}

/// Whether a text was meant as an address or a connection string and not as a file: `s3://x`, `db1:5432/desk`,
/// `host=db1 dbname=desk`, `ben@db1/desk`; or is a new file that would have an option, a variable, quotes or a token as its
/// name. A file of such a name is written with its folder: `./a:b`. A `~` at its beginning is replaced before.
pub fn is_no_file(text: &str) -> bool {
    // A variable may hold one by mistake.
    let is_token = !text.contains('/') && shape(text) == Some(Shape::Token);
    let is_mistyped = is_token || begins_long(text) || text.starts_with(['"', '\'']);
    is_like_an_address(text) || is_mistyped && !Path::new(text).exists() || unusable(text).is_some()
}

/// Why a new file cannot have such a name, mostly not even with its folder.
pub fn unusable(text: &str) -> Option<UnusablePath> {
    let is_variable = |part: &str| part.starts_with('$') || part.contains("${");
    // Folders that exist have the name that is written.
    let new = Path::new(text)
        .ancestors()
        .take_while(|path| !path.exists());
    let mut new = new.filter_map(Path::file_name).map(OsStr::to_string_lossy);
    let why = if text.trim() != text {
        UnusablePath::Blank
    } else if text.contains(char::is_control) {
        UnusablePath::Control
    } else if !text.starts_with("./") && new.any(|part| is_variable(&part)) {
        UnusablePath::Variable
    } else {
        return None;
    };
    (!is_like_an_address(text) && !Path::new(text).exists()).then_some(why)
}

fn is_like_an_address(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    text.contains("://")
        || text.starts_with("//")
        || text.contains("?host=")
        || text == "-"
        || text.trim().is_empty()
        || first.contains([':', '=', '@', '\\'])
}

/// Refuses what is no file, see [`is_no_file`]; `by` is what named it.
pub fn file_of_person(by: &'static str, file: &Path) -> Result<(), ConfigError> {
    checked(by, file, ConfigError::NoFile { by })
}

/// The same where the address of a database could stand.
pub fn file_or_address(by: &'static str, file: &Path) -> Result<(), ConfigError> {
    checked(by, file, ConfigError::NoPlace { by })
}

/// The same for a folder that may be new.
pub fn folder_of_person(by: &'static str, folder: &Path) -> Result<(), ConfigError> {
    if folder.is_dir() {
        return Ok(());
    }
    checked(by, folder, ConfigError::NotAFolder { by })
}

fn checked(by: &'static str, path: &Path, otherwise: ConfigError) -> Result<(), ConfigError> {
    let text = path.to_string_lossy();
    match unusable(&text) {
        Some(why) => Err(ConfigError::UnusablePath { by, why }),
        None if is_no_file(&text) => Err(otherwise),
        None => Ok(()),
    }
}

fn data(env: &Environment, file: &str) -> Option<PathBuf> {
    base(env, "XDG_DATA_HOME", ".local/share").map(|base| base.join(FOLDER).join(file))
}

/// A relative XDG folder is ignored, as the XDG base directory specification demands.
fn base(env: &Environment, variable: &str, below_home: &str) -> Option<PathBuf> {
    absolute(env, variable).or_else(|| home(env).map(|home| home.join(below_home)))
}

pub(super) fn home(env: &Environment) -> Option<PathBuf> {
    absolute(env, HOME)
}

fn absolute(env: &Environment, variable: &str) -> Option<PathBuf> {
    let path = env.get(variable).map(PathBuf::from)?;
    let path = if variable == HOME {
        path
    } else {
        from_home(&path, home(env)).ok()?
    };
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xdg_folders_come_first_then_the_home() {
        let env: Environment = [("HOME", "/home/ana"), ("XDG_DATA_HOME", "/data")]
            .into_iter()
            .collect();
        assert_eq!(
            config_file(&env),
            Some("/home/ana/.config/groupdesk/config.toml".into())
        );
        assert_eq!(
            directory(&env).expect("a home"),
            Path::new("/data/groupdesk/directory.db")
        );
        let relative: Environment = [("HOME", "/home/ana"), ("XDG_DATA_HOME", "data")]
            .into_iter()
            .collect();
        assert_eq!(
            service_database(&relative).expect("a home"),
            Path::new("/home/ana/.local/share/groupdesk/service.db")
        );
    }

    #[test]
    fn without_a_home_the_message_names_the_variable() {
        let error = directory(&Environment::default())
            .expect_err("no home")
            .to_string();
        assert!(error.contains("GROUPDESK_DIRECTORY"), "{error}");
        assert_eq!(config_file(&Environment::default()), None);
    }

    #[test]
    fn a_tilde_is_the_home_and_the_rest_is_relative_to_the_file() {
        let env: Environment = [("HOME", "/home/ana")].into_iter().collect();
        let resolved = |text| resolve(Path::new(text), Path::new("/etc/desk"), &env);
        assert_eq!(resolved("~"), Ok("/home/ana".into()));
        assert_eq!(resolved("~/k"), Ok("/home/ana/k".into()));
        assert_eq!(resolved("~//k"), Ok("/home/ana/k".into()));
        assert_eq!(resolved("k"), Ok("/etc/desk/k".into()));
        assert_eq!(resolved("/k/~"), Ok("/k/~".into()));
        assert_eq!(resolved("./~/k"), Ok("/etc/desk/./~/k".into()));
        assert_eq!(resolved("~li/k"), Err(UnusablePath::OtherHome));
        let nowhere = from_home(Path::new("~/k"), None);
        assert_eq!(nowhere, Err(UnusablePath::NoHome));
        let env: Environment = [("HOME", "/home/ana"), ("XDG_DATA_HOME", "~/data")]
            .into_iter()
            .collect();
        assert_eq!(
            directory(&env).expect("a home"),
            Path::new("/home/ana/data/groupdesk/directory.db")
        );
    }

    #[test]
    fn what_looks_like_an_address_is_no_file() {
        for text in [
            "host=db1 dbname=desk user=ben",
            " dbname=desk",
            "service=desk",
            "postgresql:///desk",
            "postgres:/db1/desk",
            "Postgres://db1/desk",
            "postgresql:desk",
            "pg://db1/desk",
            "http://db1/desk",
            "sqlite:///desk.db",
            "file:desk.db",
            "s3://bucket/desk.db",
            "db1:5432/desk",
            "[::1]:5432/desk",
            "ben@db1/desk",
            "desk?host=/run/postgresql",
            "/desk?host=/run/postgresql",
            "//db1/desk",
            "C:\\desk.db",
            ":memory:",
            "-",
            "\"postgres://db1/desk\"",
            "\"desk.db\"",
            "'desk.db'",
            "desk.db ",
            "/data/desk.db\n",
            "$DESK",
            "${HOME}/desk.db",
            "/data/$DESK/desk.db",
            "../$DESK",
            "data/desk-${NAME}.db",
            "./desk.db ",
            "—desk.db",
            "ーdesk.db",
        ] {
            assert!(is_no_file(text), "{text}");
        }
        for text in [
            "desk.db",
            "/data/a=b.db",
            "./a:b",
            "../x@y",
            "~/desk.db",
            "a/b:c",
            "./$DESK",
            "./${DESK}/$DESK",
            "desk$1.db",
            "./—desk.db",
            "my desk.db",
        ] {
            assert!(!is_no_file(text), "{text}");
        }
    }
    #[test]
    fn what_is_wrong_with_a_name_is_said_and_what_exists_is_taken() {
        let told = |text: &str| {
            let error = file_of_person("FILE", Path::new(text)).expect_err(text);
            error.to_string()
        };
        assert!(told("./desk.db ").contains("a blank"));
        assert!(told("./desk\n.db").contains("a control character"));
        assert!(told("/data/$DESK").contains("a variable"));
        assert!(told("desk.db:").contains("./NAME"));
        let here = tempfile::tempdir().expect("a folder");
        let folder = here.path().join("$x");
        std::fs::create_dir(&folder).expect("created");
        assert!(file_of_person("FILE", &folder.join("new.db")).is_ok());
        assert!(file_of_person("FILE", &folder.join("$y.db")).is_err());
        for name in ["$DESK", "desk ", "a\nb"] {
            let file = here.path().join(name);
            assert!(file_of_person("FILE", &file).is_err(), "{name:?}");
            std::fs::write(&file, "").expect("written");
            assert!(file_of_person("FILE", &file).is_ok(), "{name:?}");
        }
    }
}
