//! Default paths: the XDG folders of the environment that is passed in.

use std::{
    borrow::Cow,
    ffi::OsStr,
    net::IpAddr,
    path::{Path, PathBuf},
};

use super::{
    environment::{Environment, PathContext},
    error::ConfigError,
};
use crate::{
    domain::{
        dash::begins_long,
        pasted::{Shape, shape},
        text::has_variable,
    },
    platform::private_files::{LATEST_CHANGES, TIMELINES, folder_of, reserved},
};

const FOLDER: &str = "groupdesk";
const HOME: &str = "HOME";
const DATA: &str = ".local/share";
const DIRECTORY: &str = "directory.db";

/// `groupdesk/config.toml` in the XDG configuration folder; `None` if there is no home folder.
pub fn config_file(env: &Environment) -> Option<PathBuf> {
    base(env, "XDG_CONFIG_HOME", ".config").map(|base| base.join(FOLDER).join("config.toml"))
}

/// The directory's database, `groupdesk/directory.db` in the XDG data folder.
pub fn directory(env: &Environment) -> Result<PathBuf, ConfigError> {
    data(env, DIRECTORY).ok_or(ConfigError::NoHome("the directory", "GROUPDESK_DIRECTORY"))
}

/// Whether groupdesk was used before its directory is begun in this default file: there is a configuration or a directory
/// at home, and `XDG_DATA_HOME` points elsewhere, as in the terminals of some programs; or what it keeps beside one is left.
pub(super) fn was_used_before(env: &Environment, file: &Path) -> bool {
    let at_home = home(env).map(|home| home.join(DATA).join(FOLDER).join(DIRECTORY));
    let is_there = |file: Option<PathBuf>| file.is_some_and(|file| file.exists());
    let is_elsewhere = at_home.as_deref() != Some(file);
    is_elsewhere && (is_there(at_home) || is_there(config_file(env)))
        || is_there(latest_changes(env))
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
    data(env, TIMELINES)
}

/// Where the latest changes of directory files are remembered, in the XDG data folder.
pub fn latest_changes(env: &Environment) -> Option<PathBuf> {
    data(env, LATEST_CHANGES)
}

/// The path, with `~` at its beginning replaced by the home folder. Everything that takes a path from a person goes through
/// here: a shell replaces it neither after `=` nor in a variable.
pub fn from_home(path: &Path, home: Option<PathBuf>) -> Result<PathBuf, &'static str> {
    let Some(text) = path.to_str().filter(|text| text.starts_with('~')) else {
        return Ok(path.to_owned());
    };
    let rest = match text.strip_prefix("~/") {
        Some(rest) => rest.trim_start_matches('/'),
        None if text == "~" => "",
        None => {
            return Err(
                "begins with \"~\" and a name; only ~/ is replaced, by your own home folder: write the whole path",
            );
        }
    };
    let home = home.filter(|home| home.is_absolute());
    let home =
        home.ok_or("begins with \"~\", but the home folder is not known; write the whole path")?;
    Ok(if rest.is_empty() {
        home
    } else {
        home.join(rest)
    })
}

/// [`from_home`], relative to the folder.
pub(super) fn resolve(path: &Path, around: PathContext) -> Result<PathBuf, &'static str> {
    from_home(path, home(around.env)).map(|path| around.folder.join(path))
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
        .map_err(|why| ConfigError::variable(name, why))
}

/// Whether a text was meant as an address or a connection string and not as a file: `s3://x`, `db1:5432/desk`,
/// `host=db1 dbname=desk`, `ben@db1/desk`; or is a new file that would have an option, a variable, quotes, a sign of the
/// shell, a token or a password as in an address in its name, or ends as if copied along. A file of such a name is written with its folder: `./a:b`. A `~` at its beginning is replaced before.
pub fn is_no_file(text: &str) -> bool {
    // A variable may hold one by mistake.
    let is_token = !text.contains('/') && shape(text) == Some(Shape::Token);
    // What a shell replaces, and what was copied along.
    let name = text.rsplit('/').next().unwrap_or_default();
    let is_odd = name.contains(['"', '\'', '`', '*', '?', '<', '>', '|', ';'])
        || name.ends_with([',', ')', '}'])
        // A server.
        || ["localhost", "postgres", "postgresql"].contains(&text)
        || text.parse::<IpAddr>().is_ok();
    let is_odd = text.starts_with(['"', '\'', '`'])
        || is_odd && !text.starts_with("./") && !text.starts_with('/');
    let is_mistyped = is_token || begins_long(text) || is_odd || is_mistyped_address(text);
    is_like_an_address(text) || is_mistyped && !Path::new(text).exists() || unusable(text).is_some()
}

/// Why a new file cannot have such a name, mostly not even with its folder; also a file that exists, if its name is [`reserved`].
pub fn unusable(text: &str) -> Option<&'static str> {
    let reserved = reserved(Path::new(text));
    if reserved.is_some() {
        return reserved;
    }
    let why = if text.trim() != text {
        "begins or ends with a blank; write it without"
    } else if text.contains(char::is_control) {
        "contains a control character, such as a line break; write it without"
    } else if !text.starts_with("./") && new_parts(text).any(|part| has_variable(&part)) {
        "contains a variable, which only a shell replaces; write the path itself, or ./NAME for a file with such a name"
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

/// An address without its colon (`postgres//…`), or whose scheme became a folder: a new part of the path has a password
/// (`ana:secret@db1`), which must not be repeated or become a name.
fn is_mistyped_address(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    let is_scheme = ["postgres", "postgresql"]
        .iter()
        .any(|scheme| first.eq_ignore_ascii_case(scheme));
    let has_password = |part: &str| {
        let rest = part.split_once(':').map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.contains('@'))
    };
    is_scheme && text.contains('/')
        || !text.starts_with("./") && new_parts(text).any(|part| has_password(&part))
}

/// The parts of a path that do not exist yet. Folders that exist have the name that is written.
fn new_parts(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let new = Path::new(text).ancestors();
    let new = new.take_while(|path| !path.exists());
    new.filter_map(Path::file_name).map(OsStr::to_string_lossy)
}

/// Refuses what is no file, see [`is_no_file`]; `by` is what named it.
pub fn file_of_person(by: &'static str, file: &Path) -> Result<(), ConfigError> {
    let otherwise = "is not a file; nothing was created. For a file with such a name write ./NAME";
    checked(by, file, otherwise)
}

/// Endings of files that groupdesk reads or writes beside its directory.
const OTHERS: [&str; 8] = ["json", "jsonl", "csv", "tsv", "toml", "yaml", "sql", "key"];

/// The same where the address of a database could stand. A new file with the ending of another kind of file was not meant.
pub fn file_or_address(by: &'static str, file: &Path) -> Result<(), ConfigError> {
    let otherwise = "is neither a file nor the address of a PostgreSQL database; nothing was created. For a database write \
                     postgres://USER@HOST/DATABASE, for a file with such a name ./NAME";
    let ending = file.extension().and_then(OsStr::to_str);
    let is_other = ending.is_some_and(|ending| OTHERS.contains(&ending)) && file.is_relative();
    if is_other && !file.starts_with(".") && !file.exists() {
        let why = otherwise.to_owned();
        return Err(ConfigError::UnusablePath { by, why });
    }
    checked(by, file, otherwise)
}

/// The same for a folder that may be new.
pub fn folder_of_person(by: &'static str, folder: &Path) -> Result<(), ConfigError> {
    if folder.is_dir() {
        return Ok(());
    }
    let otherwise =
        "is not a folder; nothing was created. For a folder with such a name write ./NAME";
    checked(by, folder, otherwise)
}

/// Refuses a new file in a folder that does not exist either: such a place is more likely mistyped.
pub fn in_a_folder(by: &'static str, file: &Path) -> Result<(), ConfigError> {
    match folder_of(file).filter(|folder| !folder.exists()) {
        None => Ok(()),
        Some(folder) => Err(ConfigError::NoFolder {
            by,
            folder: folder.to_owned(),
        }),
    }
}

fn checked(by: &'static str, path: &Path, otherwise: &str) -> Result<(), ConfigError> {
    let text = path.to_string_lossy();
    if let Some(why) = unusable(&text) {
        return Err(ConfigError::unusable_path(by, why));
    }
    if is_no_file(&text) {
        let why = otherwise.to_owned();
        return Err(ConfigError::UnusablePath { by, why });
    }
    Ok(())
}

fn data(env: &Environment, file: &str) -> Option<PathBuf> {
    base(env, "XDG_DATA_HOME", DATA).map(|base| base.join(FOLDER).join(file))
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

    fn env(variables: &[(&str, &str)]) -> Environment {
        let home = [("HOME", "/home/ana")];
        home.iter().chain(variables).copied().collect()
    }

    #[test]
    fn xdg_folders_come_first_then_the_home() {
        let file = config_file(&env(&[]));
        assert_eq!(file, Some("/home/ana/.config/groupdesk/config.toml".into()));
        for (data, found) in [
            ("/data", "/data"),
            ("data", "/home/ana/.local/share"),
            ("~/data", "/home/ana/data"),
        ] {
            let env = env(&[("XDG_DATA_HOME", data)]);
            let found = Path::new(found).join("groupdesk");
            let (ours, service) = (directory(&env), service_database(&env));
            assert_eq!(ours.expect("a home"), found.join("directory.db"));
            assert_eq!(service.expect("a home"), found.join("service.db"));
        }
        let nothing = Environment::default();
        let error = directory(&nothing).expect_err("no home").to_string();
        assert!(error.contains("GROUPDESK_DIRECTORY"), "{error}");
        assert_eq!(config_file(&nothing), None);
    }

    #[test]
    fn a_directory_is_begun_in_silence_only_if_nothing_was_used_before() {
        let home = tempfile::tempdir().expect("a folder");
        let at = |name: &str| home.path().join(name);
        let variable = |name: &str| at(name).to_str().expect("text").to_owned();
        let (home_folder, data) = (variable(""), variable("snap"));
        let usual: Environment = [("HOME", home_folder.clone())].into_iter().collect();
        let other = [("HOME", home_folder), ("XDG_DATA_HOME", data)];
        let other: Environment = other.into_iter().collect();
        let was_used = |env| was_used_before(env, &directory(env).expect("a home"));
        assert!(!was_used(&usual) && !was_used(&other), "a fresh home");
        let write = |file: PathBuf| {
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
            std::fs::write(&file, "").expect("written");
            file
        };
        let config = write(config_file(&usual).expect("a home"));
        assert!(!was_used(&usual) && was_used(&other));
        std::fs::remove_file(config).expect("removed");
        write(directory(&usual).expect("a home"));
        assert!(was_used(&other));
        assert!(!was_used(&usual));
        write(latest_changes(&usual).expect("a home"));
        assert!(was_used(&usual));
    }

    #[test]
    fn a_tilde_is_the_home_and_the_rest_is_relative_to_the_file() {
        let around = PathContext {
            folder: Path::new("/etc/desk"),
            env: &env(&[]),
        };
        let resolved = |text| resolve(Path::new(text), around);
        for (text, path) in [
            ("~", "/home/ana"),
            ("~/k", "/home/ana/k"),
            ("~//k", "/home/ana/k"),
            ("k", "/etc/desk/k"),
            ("/k/~", "/k/~"),
            ("./~/k", "/etc/desk/./~/k"),
        ] {
            assert_eq!(resolved(text), Ok(path.into()));
        }
        let nowhere = from_home(Path::new("~/k"), None);
        for (wrong, words) in [(resolved("~li/k"), "and a name"), (nowhere, "not known")] {
            assert!(wrong.expect_err(words).contains(words));
        }
    }

    #[test]
    fn what_looks_like_an_address_is_no_file() {
        let addresses = "host=db1 dbname=desk user=ben| dbname=desk|service=desk|postgresql:///desk|\
            postgres:/db1/desk|Postgres://db1/desk|postgresql:desk|pg://db1/desk|http://db1/desk|\
            sqlite:///desk.db|file:desk.db|s3://bucket/desk.db|db1:5432/desk|[::1]:5432/desk|ben@db1/desk|\
            desk?host=/run/postgresql|/desk?host=/run/postgresql|//db1/desk|C:\\desk.db|:memory:|-|\
            \"postgres://db1/desk\"|\"desk.db\"|'desk.db'|desk.db |/data/desk.db\n|$DESK|${HOME}/desk.db|\
            /data/$DESK/desk.db|../$DESK|data/desk-${NAME}.db|./desk.db |—desk.db|ーdesk.db|`pwd`/desk.db|*.db|<FILE>|desk.db;|desk.db,|data/desk-$NAME.db|desk.db-wal|./desk.db-shm|/data/desk.db-journal|/data/latest-changes|127.0.0.1|localhost|postgresql|%TEMP%/desk.db|desk.db'|{{DESK}}|\
            postgres//ana:x@db1/desk|Postgresql//db1/desk|postgres/db1/desk|pg/ana:x@db1|pg/ana:x@db1/desk|/pg/ana:x@db1/desk";
        for text in addresses.split('|') {
            assert!(is_no_file(text), "{text}");
        }
        let files = "desk.db|/data/a=b.db|./a:b|../x@y|~/desk.db|a/b:c|./$DESK|./${DESK}/$DESK|desk$1.db|\
            ./—desk.db|./desk-wal.db|./localhost|my desk.db|./desk(1)|/data/desk'|o'brien/desk.db|\
            ./postgres/desk.db|./a:b@c|/data/desk@10:30.db";
        for text in files.split('|') {
            assert!(!is_no_file(text), "{text}");
        }
    }
    #[test]
    fn what_is_wrong_with_a_name_is_said_and_what_exists_is_taken() {
        for (text, words) in [
            ("./desk.db ", "a blank"),
            ("./desk\n.db", "a control character"),
            ("/data/$DESK", "a variable"),
            ("desk.db:", "./NAME"),
            ("/data/desk.db-wal", "beside a database"),
            ("./timelines", "for itself"),
        ] {
            let error = file_of_person("FILE", Path::new(text)).expect_err(text);
            assert!(error.to_string().contains(words), "{error}");
        }
        let here = tempfile::tempdir().expect("a folder");
        let is_taken = |name: &str| file_of_person("FILE", &here.path().join(name)).is_ok();
        std::fs::create_dir(here.path().join("$x")).expect("created");
        assert!(is_taken("$x/new.db") && !is_taken("$x/$y.db"));
        for (name, is_right) in [("new.db", true), ("new/x.db", false), ("$x/new.db", true)] {
            let taken = in_a_folder("FILE", &here.path().join(name));
            assert_eq!(taken.is_ok(), is_right, "{name}");
        }
        std::fs::write(here.path().join("x.db-wal"), "").expect("written");
        assert!(!is_taken("x.db-wal"), "also one that exists");
        for name in ["$DESK", "desk ", "a\nb"] {
            assert!(!is_taken(name), "{name:?}");
            std::fs::write(here.path().join(name), "").expect("written");
            assert!(is_taken(name), "{name:?}");
        }
    }
}
