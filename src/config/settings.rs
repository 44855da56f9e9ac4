//! The effective settings: flags override environment variables, and these override the file.

use std::path::{Path, PathBuf};

use super::{
    directory::{DirectoryAt, TeamSettings, is_address},
    environment::Environment,
    error::ConfigError,
    file,
    name::objection,
    paths,
    profile::{KeySource, Profile},
    schema::ConfigFile,
    ui::{KeyOverride, UiSettings},
    variables,
};
use crate::{
    domain::{proposal::Selection, text::has_variable},
    platform::private_files::with_suffix,
};

const FLAG: &str = "--directory";
pub(super) const CONFIG_FLAG: &str = "--config";

/// The flags and the environment. Both override the file, and flags override the environment.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--profile`
    pub profile: Option<String>,
    /// `--directory`: the directory's database file, or the address of a team's.
    pub directory: Option<PathBuf>,
    /// `--read-only`: makes every profile read-only.
    pub read_only: bool,
    pub env: Environment,
}

impl Overrides {
    /// The options among them, for proposed commands. An address that may contain a password is refused when it is
    /// opened, and never repeated.
    pub fn selection(&self, usual_profile: Option<String>) -> Selection {
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let has_password = |at: &str| {
            let user = at
                .split_once("://")
                .and_then(|(_, rest)| rest.rsplit_once('@'));
            at.contains("password") || user.is_some_and(|(user, _)| user.contains(':'))
        };
        let directory = self.directory.as_ref().map(path);
        let directory = directory.filter(|at| !(is_address(at) && has_password(at)));
        Selection::new(self.config.as_ref().map(path), directory, usual_profile)
    }
}

/// All settings of this installation.
#[derive(Debug, Clone)]
pub struct Settings {
    pub profiles: Vec<Profile>,
    /// Changes to the console's key bindings, as written in the file.
    pub keys: Vec<KeyOverride>,
    /// The profile to use if none is requested. One of `profiles`.
    pub default_profile: Option<String>,
    /// The profile that is used without `--profile`.
    pub usual_profile: Option<String>,
    /// Who works here, for the history; for example `ana@bastion2`.
    pub operator: String,
    /// The appearance and behaviour of the console.
    pub ui: UiSettings,
    pub directory: DirectoryAt,
    /// The configuration file that was read, or the default path if it does not exist.
    pub file: Option<PathBuf>,
}

impl Settings {
    /// Reads the file and the variables. A file that was named explicitly must exist; the default one may be missing.
    /// From now on, variables that hold the profiles' keys are hidden from child processes.
    ///
    /// The default profile is the first of these that is given: `--profile`, `GROUPDESK_PROFILE`, the profile made from
    /// `GROUPDESK_BASE_URL`, the file's `default_profile`, the only profile there is.
    pub fn load(overrides: &Overrides) -> Result<Self, ConfigError> {
        let env = &overrides.env;
        let (file, written) = written(overrides)?;
        let ConfigFile {
            default_profile,
            operator,
            ui,
            mut profiles,
            keys,
            directory,
        } = written;
        let from_variables = variables::profile(env, &profiles)?;
        let by_variable = env.text("GROUPDESK_PROFILE")?.map(str::to_owned);
        let mut default_profile = from_variables
            .as_ref()
            .map(|profile| profile.name.clone())
            .or(default_profile);
        profiles.extend(from_variables);
        if let (None, [only]) = (&default_profile, profiles.as_slice()) {
            default_profile = Some(only.name.clone());
        }
        let usual_profile = by_variable.clone().or_else(|| default_profile.clone());
        let by_flag = overrides.profile.clone().map(|name| ("--profile", name));
        let named = by_flag.or(by_variable.map(|name| ("GROUPDESK_PROFILE", name)));
        if let Some((by, name)) = named {
            find(&profiles, &name, Some(by))?;
            default_profile = Some(name);
        }
        let directory = resolved(overrides, directory)?;
        if let DirectoryAt::Team(team) = &directory
            && let Some(KeySource::Env(name)) = &team.password
        {
            env.hide_from_children(name);
        }
        for profile in &mut profiles {
            profile.read_only |= overrides.read_only;
            if let KeySource::Env(name) = &profile.api_key {
                env.hide_from_children(name);
            }
        }
        variables::refuse_mistyped(env)?;
        Ok(Self {
            profiles,
            keys,
            default_profile,
            usual_profile,
            operator: operator.unwrap_or_else(|| operator_of(env)),
            ui,
            directory,
            file,
        })
    }

    /// Returns the profile of that name, or the default one.
    pub fn profile(&self, name: Option<&str>) -> Result<&Profile, ConfigError> {
        match name.or(self.default_profile.as_deref()) {
            Some(name) => find(&self.profiles, name, None),
            None if self.profiles.is_empty() => Err(ConfigError::NoProfile {
                file: self.file.clone(),
            }),
            None => Err(ConfigError::NoDefault {
                known: names(&self.profiles),
            }),
        }
    }
}

/// The configuration file, and the flag or variable that named it.
pub fn file_of(
    overrides: &Overrides,
) -> Result<(Option<PathBuf>, Option<&'static str>), ConfigError> {
    let named = named(
        overrides,
        overrides.config.as_deref(),
        CONFIG_FLAG,
        "GROUPDESK_CONFIG",
    )?;
    match named {
        Some((by, file)) => {
            paths::file_of_person(by, &file)?;
            Ok((Some(file), Some(by)))
        }
        None => Ok((paths::config_file(&overrides.env), None)),
    }
}

/// The configuration file and what it says; nothing if there is none and nobody named it.
fn written(overrides: &Overrides) -> Result<(Option<PathBuf>, ConfigFile), ConfigError> {
    let (file, named_by) = file_of(overrides)?;
    let written = match &file {
        Some(file) => file::read(file, named_by, &overrides.env)?,
        None => None,
    };
    Ok((file, written.unwrap_or_default()))
}

/// Where the directory is: the first of the flag, the variable, the configuration file, and the default file.
pub fn directory_of(overrides: &Overrides) -> Result<DirectoryAt, ConfigError> {
    match written(overrides) {
        Ok((_, written)) => resolved(overrides, written.directory),
        // If the directory file is named explicitly, the configuration file is not needed.
        Err(wrong) => match resolved(overrides, None)? {
            at @ DirectoryAt::File(_) if named_directory(overrides)?.is_some() => Ok(at),
            DirectoryAt::File(_) | DirectoryAt::Team(_) => Err(wrong),
        },
    }
}

/// A file in which opening it begins a new directory, though a person may expect groups in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewDirectory {
    /// It does not exist, and a flag or a variable names it, or groupdesk was used here before: it may be mistyped or elsewhere.
    Missing(PathBuf),
    /// It has 0 bytes: a crash or a copy that failed may have left it so.
    Empty(PathBuf),
}

/// Whether opening this directory would begin a new one, although it is named or there, or was used before.
pub fn new_directory(overrides: &Overrides, at: &DirectoryAt) -> Option<NewDirectory> {
    let DirectoryAt::File(file) = at else {
        return None;
    };
    let log = with_suffix(file, "-wal").metadata();
    let has_log = log.is_ok_and(|log| log.len() > 0);
    match file.metadata() {
        Ok(found) if found.is_file() && found.len() == 0 && !has_log => {
            Some(NewDirectory::Empty(file.clone()))
        }
        Ok(_) => None,
        Err(_) => {
            let is_named = matches!(named_directory(overrides), Ok(Some(_)));
            let is_unexpected = is_named || paths::was_used_before(&overrides.env, file);
            is_unexpected.then(|| NewDirectory::Missing(file.clone()))
        }
    }
}

fn named_directory(overrides: &Overrides) -> Result<Option<(&'static str, PathBuf)>, ConfigError> {
    let flag = overrides.directory.as_deref();
    named(overrides, flag, FLAG, "GROUPDESK_DIRECTORY")
}

/// The path that a flag, or else a variable, gives.
fn named(
    overrides: &Overrides,
    flag: Option<&Path>,
    option: &'static str,
    variable: &'static str,
) -> Result<Option<(&'static str, PathBuf)>, ConfigError> {
    let env = &overrides.env;
    let (by, path) = match (flag, env.get(variable)) {
        (Some(path), _) => (option, path),
        (None, Some(path)) => (variable, Path::new(path)),
        (None, None) => return Ok(None),
    };
    match paths::from_home(path, paths::home(env)) {
        Ok(path) => Ok(Some((by, path))),
        Err(why) => Err(ConfigError::unusable_path(by, why)),
    }
}

/// Neither a look-alike of an address nor the folder of a file that is named for one command is created: both are more
/// likely mistyped. A variable belongs to an installation; its absolute path may be new.
fn resolved(
    overrides: &Overrides,
    written: Option<TeamSettings>,
) -> Result<DirectoryAt, ConfigError> {
    let Some((by, file)) = named_directory(overrides)? else {
        return match written {
            Some(team) => Ok(DirectoryAt::Team(team)),
            None => default_directory(&overrides.env),
        };
    };
    if let Some(url) = file.to_str().filter(|text| is_address(text)) {
        if has_variable(url) {
            let why = "contains a variable, which only a shell replaces; write the address itself";
            return Err(ConfigError::unusable_path(by, why));
        }
        return Ok(DirectoryAt::Team(TeamSettings::at(url, written.as_ref())));
    }
    paths::file_or_address(by, &file)?;
    if by == FLAG || file.is_relative() {
        paths::in_a_folder(by, &file)?;
    }
    Ok(DirectoryAt::File(file))
}

/// The default file.
pub fn default_directory(env: &Environment) -> Result<DirectoryAt, ConfigError> {
    paths::directory(env).map(DirectoryAt::File)
}

fn names(profiles: &[Profile]) -> Vec<String> {
    let names = profiles.iter().map(|profile| &profile.name);
    names.cloned().collect()
}

fn find<'p>(
    profiles: &'p [Profile],
    name: &str,
    named_by: Option<&'static str>,
) -> Result<&'p Profile, ConfigError> {
    profiles
        .iter()
        .find(|profile| profile.name == name)
        .ok_or_else(|| unknown_profile(name, named_by, profiles))
}

/// The error of every front end for a profile that does not exist.
pub fn unknown_profile(
    name: &str,
    named_by: Option<&'static str>,
    profiles: &[Profile],
) -> ConfigError {
    ConfigError::UnknownProfile {
        name: name.to_owned(),
        named_by,
        known: names(profiles),
    }
}

/// `USER@host`, with the user id if the environment has no usable name.
fn operator_of(env: &Environment) -> String {
    let user = ["USER", "LOGNAME"]
        .into_iter()
        .filter_map(|name| env.get(name)?.to_str())
        .find(|name| objection(name).is_none())
        .map_or_else(
            || format!("uid{}", rustix::process::getuid().as_raw()),
            str::to_owned,
        );
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    match host.split('.').next().filter(|host| !host.is_empty()) {
        Some(host) => format!("{user}@{host}"),
        None => user,
    }
}
