//! Default paths: the XDG folders of the environment that is passed in.

use std::path::{Path, PathBuf};

use super::{environment::Environment, error::ConfigError};

const FOLDER: &str = "groupdesk";

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

/// Expands a leading `~/` and resolves relative paths against `folder`.
pub(super) fn resolve(text: &str, folder: &Path, env: &Environment) -> Option<PathBuf> {
    match text.strip_prefix('~') {
        Some("") => home(env),
        Some(rest) => home(env)
            .zip(rest.strip_prefix('/'))
            .map(|(home, rest)| home.join(rest)),
        None => Some(folder.join(text)),
    }
}

fn data(env: &Environment, file: &str) -> Option<PathBuf> {
    base(env, "XDG_DATA_HOME", ".local/share").map(|base| base.join(FOLDER).join(file))
}

/// A relative XDG folder is ignored, as the XDG base directory specification demands.
fn base(env: &Environment, variable: &str, below_home: &str) -> Option<PathBuf> {
    absolute(env, variable).or_else(|| home(env).map(|home| home.join(below_home)))
}

fn home(env: &Environment) -> Option<PathBuf> {
    absolute(env, "HOME")
}

fn absolute(env: &Environment, variable: &str) -> Option<PathBuf> {
    env.get(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
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
        let resolved = |text| resolve(text, Path::new("/etc/desk"), &env);
        assert_eq!(resolved("~/k"), Some("/home/ana/k".into()));
        assert_eq!(resolved("k"), Some("/etc/desk/k".into()));
        assert_eq!(resolved("/k"), Some("/k".into()));
        assert_eq!(resolved("~li/k"), None);
    }
}
