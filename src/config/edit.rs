//! Adds a profile to the configuration file, or removes one. Everything else in the file stays as a person wrote it.
//! The new text is validated by the usual rules before it is written, and it never contains an API key.

mod changing;

pub use changing::Opened;

use std::{
    fs::{self, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::{
    environment::{Environment, PathContext},
    error::ConfigError,
    file,
    new_profile::{Field, NewProfile, key},
    profile::Profile,
    schema::{self, ConfigFile},
    scrub::shown,
    settings::{Overrides, file_of, unknown},
};
use crate::platform::private_files::{private_folder, write_new_private};

/// Why the file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{}", listed(.0))]
    Wrong(Vec<(Field, String)>),
    #[error("profile \"{}\" already exists in {}; choose another name, or remove that one first", shown(.0), shown(&.1.to_string_lossy()))]
    Exists(String, PathBuf),
    #[error("groupdesk cannot change {} safely; edit it yourself", shown(&.0.to_string_lossy()))]
    ByHand(PathBuf),
    #[error("{} was changed by somebody else in the meantime; try again", shown(&.0.to_string_lossy()))]
    Changed(PathBuf),
    #[error("{} is a broken link; create the file, or remove the link", shown(&.0.to_string_lossy()))]
    LeadsNowhere(PathBuf),
    #[error("the configuration file cannot be written: {0}")]
    Unwritable(io::Error),
}

fn listed(problems: &[(Field, String)]) -> String {
    let lines: Vec<_> = problems.iter().map(|(_, what)| what.as_str()).collect();
    lines.join("\n")
}

/// A planned change of the configuration file that is not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub file: PathBuf,
    /// The lines that are added or removed.
    pub lines: String,
    /// The file as it was read; `None` if it does not exist.
    before: Option<String>,
    after: String,
}

impl Edit {
    pub fn is_new_file(&self) -> bool {
        self.before.is_none()
    }

    /// Takes the change back after it was written, if nobody has changed the file since.
    pub fn undo(&self) -> Result<(), EditError> {
        let Some(before) = &self.before else {
            let now = fs::read(&self.file).map_err(EditError::Unwritable)?;
            if now != self.after.as_bytes() {
                return Err(EditError::Changed(self.file.clone()));
            }
            return fs::remove_file(&self.file).map_err(EditError::Unwritable);
        };
        let back = Self {
            before: Some(self.after.clone()),
            after: before.clone(),
            ..self.clone()
        };
        back.make()
    }

    /// Writes the change durably. A new file gets mode 0600 in a 0700 folder, an existing one keeps its mode, and a
    /// symbolic link stays a link.
    pub fn make(&self) -> Result<(), EditError> {
        let Some(before) = &self.before else {
            if let Some(folder) = folder_of(&self.file) {
                private_folder(folder).map_err(EditError::Unwritable)?;
            }
            return match write_new_private(&self.file, self.after.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(if self.file.is_symlink() {
                        EditError::LeadsNowhere(self.file.clone())
                    } else {
                        EditError::Changed(self.file.clone())
                    })
                }
                written => written.map_err(EditError::Unwritable),
            };
        };
        let target = self.file.canonicalize().map_err(EditError::Unwritable)?;
        let mode = target
            .metadata()
            .map_err(EditError::Unwritable)?
            .permissions()
            .mode();
        let mut next = tempfile::Builder::new()
            .prefix(".config-")
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(folder_of(&target).unwrap_or(Path::new("/")))
            .map_err(EditError::Unwritable)?;
        next.write_all(self.after.as_bytes())
            .and_then(|()| {
                next.as_file()
                    .set_permissions(Permissions::from_mode(mode & 0o777))
            })
            .and_then(|()| next.as_file().sync_all())
            .map_err(EditError::Unwritable)?;
        if file::text(&self.file, None)?.as_ref() != Some(before) {
            return Err(EditError::Changed(self.file.clone()));
        }
        next.persist(&target)
            .map_err(|error| EditError::Unwritable(error.error))?;
        Ok(())
    }
}

/// Plans the addition of a profile, and how it will be read. Writes nothing.
pub fn adding(new: &NewProfile, overrides: &Overrides) -> Result<(Edit, Profile), EditError> {
    let file = config_file(overrides)?;
    let env = &overrides.env;
    let folder = folder_of(&file).unwrap_or(Path::new("/")).to_owned();
    let profile = new.check(&folder, env).map_err(EditError::Wrong)?;
    let before = file::text(&file, None)?;
    let read = |text: &str| parsed(text, &folder, env);
    let lines = new.lines();
    let Some(text) = before else {
        let lines = format!("default_profile = {}\n\n{lines}", quoted(&new.name));
        let edit = Edit {
            file,
            after: lines.clone(),
            lines,
            before: None,
        };
        return Ok((edit, profile));
    };
    let written = read(&text).map_err(|problems| ConfigError::Wrong {
        file: file.clone(),
        problems,
    })?;
    if written.profiles.iter().any(|known| known.name == new.name) {
        return Err(EditError::Exists(new.name.clone(), file));
    }
    // With a second profile it would be unclear which one is the default.
    let head = match (&written.default_profile, written.profiles.as_slice()) {
        (None, [only]) => format!("default_profile = {}\n\n", quoted(&only.name)),
        _ => String::new(),
    };
    let gap = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let after = format!("{head}{text}{gap}{lines}");
    let is_as_meant = read(&after).is_ok_and(|after| {
        let mut profiles = after.profiles.into_iter();
        profiles.next_back().as_ref() == Some(&profile) && profiles.eq(written.profiles)
    });
    if !is_as_meant {
        return Err(EditError::ByHand(file));
    }
    let edit = Edit {
        file,
        lines: format!("{head}{lines}"),
        before: Some(text),
        after,
    };
    Ok((edit, profile))
}

/// Plans the removal of a profile. Writes nothing.
pub fn removing(name: &str, overrides: &Overrides) -> Result<Edit, EditError> {
    let file = config_file(overrides)?;
    let folder = folder_of(&file).unwrap_or(Path::new("/")).to_owned();
    let env = &overrides.env;
    let text = file::text(&file, None)?.unwrap_or_default();
    let written = parsed(&text, &folder, env).map_err(|problems| ConfigError::Wrong {
        file: file.clone(),
        problems,
    })?;
    let is_there = written.profiles.iter().any(|profile| profile.name == name);
    if !is_there {
        return Err(unknown(name, None, &written.profiles).into());
    }
    let is_default = written.default_profile.as_deref() == Some(name);
    let (after, lines) = without(&text, name, is_default);
    let is_as_meant = parsed(&after, &folder, env).is_ok_and(|after| {
        let left = written
            .profiles
            .iter()
            .filter(|profile| profile.name != name);
        after.profiles.iter().eq(left)
            && after.operator == written.operator
            && (is_default || after.default_profile == written.default_profile)
    });
    if !is_as_meant {
        return Err(EditError::ByHand(file));
    }
    Ok(Edit {
        file,
        lines,
        before: Some(text),
        after,
    })
}

/// Splits the text into the part without the profile's tables, and the part that was removed. Comments above the next
/// table belong to that table.
fn without(text: &str, name: &str, is_default: bool) -> (String, String) {
    let (mut kept, mut gone) = (String::new(), String::new());
    let mut waiting = String::new();
    let mut inside = false;
    let mut at_top = true;
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        if plain.starts_with('[') {
            at_top = false;
            let is_meant = is_table_of(plain, name);
            // Comments and blank lines in between belong to the table that follows.
            let place = if is_meant && inside {
                &mut gone
            } else {
                &mut kept
            };
            place.push_str(&std::mem::take(&mut waiting));
            inside = is_meant;
        } else if inside && (plain.is_empty() || plain.starts_with('#')) {
            waiting.push_str(line);
            continue;
        } else if inside {
            gone.push_str(&std::mem::take(&mut waiting));
        }
        let is_default_line = at_top && is_default && {
            let key = plain.split('=').next().unwrap_or_default().trim();
            key == "default_profile"
        };
        let place = if inside || is_default_line {
            &mut gone
        } else {
            &mut kept
        };
        place.push_str(line);
    }
    kept.push_str(&waiting);
    (kept, gone)
}

/// Whether a line is the header of the profile's table or of a table inside it.
fn is_table_of(line: &str, name: &str) -> bool {
    let inner = line.trim_start_matches('[').trim_start();
    let Some(rest) = inner.strip_prefix("profiles") else {
        return false;
    };
    let Some(rest) = rest.trim_start().strip_prefix('.') else {
        return false;
    };
    let rest = rest.trim_start();
    let ways = [key(name), quoted(name), format!("'{name}'")];
    ways.iter().any(|way| {
        rest.strip_prefix(way.as_str())
            .is_some_and(|after| after.trim_start().starts_with([']', '.']))
    })
}

fn parsed(text: &str, folder: &Path, env: &Environment) -> Result<ConfigFile, Vec<super::Problem>> {
    schema::read(text, PathContext { folder, env })
}

fn quoted(name: &str) -> String {
    toml::Value::from(name).to_string()
}

/// The path of the configuration file, whether or not it exists.
pub fn config_file(overrides: &Overrides) -> Result<PathBuf, ConfigError> {
    let (file, _) = file_of(overrides)?;
    let file = file.ok_or(ConfigError::NoHome("the configuration", "GROUPDESK_CONFIG"))?;
    Ok(std::path::absolute(&file).unwrap_or(file))
}

fn folder_of(file: &Path) -> Option<&Path> {
    file.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
}
