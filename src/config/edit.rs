//! Adds a profile to the configuration file, removes or renames one, or replaces the whole text. Everything else in the
//! file stays as a person wrote it.
//! The new text is validated by the usual rules before it is written, and it never contains an API key.

mod lines;

use std::{
    fs::{self, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use self::lines::{in_place, ways, without};
use super::{
    environment::{Environment, PathContext},
    error::ConfigError,
    file,
    new_profile::{self, Field, NewProfile, key, quoted},
    paths,
    profile::Profile,
    schema::{self, ConfigFile},
    scrub::shown,
    settings::{CONFIG_FLAG as FLAG, Overrides, file_of, unknown_profile},
};
use crate::{
    domain::text::joined,
    platform::private_files::{folder_of, private_folder, write_new_private},
};

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
    #[error("{} was changed by another process in the meantime; try again", shown(&.0.to_string_lossy()))]
    Changed(PathBuf),
    #[error("{} is a broken link; create the file, or remove the link", shown(&.0.to_string_lossy()))]
    LeadsNowhere(PathBuf),
    #[error("the configuration file cannot be written: {0}")]
    Unwritable(#[from] io::Error),
}

fn listed(problems: &[(Field, String)]) -> String {
    joined(problems.iter().map(|(_, what)| what.as_str()), "\n")
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
            if fs::read(&self.file)? != self.after.as_bytes() {
                return Err(EditError::Changed(self.file.clone()));
            }
            return Ok(fs::remove_file(&self.file)?);
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
                private_folder(folder)?;
            }
            return match write_new_private(&self.file, self.after.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(if self.file.is_symlink() {
                        EditError::LeadsNowhere(self.file.clone())
                    } else {
                        EditError::Changed(self.file.clone())
                    })
                }
                written => Ok(written?),
            };
        };
        let target = self.file.canonicalize()?;
        let mode = target.metadata()?.permissions().mode() & 0o777;
        let mut next = tempfile::Builder::new()
            .prefix(".config-")
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(folder_of(&target).unwrap_or(Path::new("/")))?;
        next.write_all(self.after.as_bytes())?;
        next.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
        next.as_file().sync_all()?;
        if file::text(&self.file, None)?.as_ref() != Some(before) {
            return Err(EditError::Changed(self.file.clone()));
        }
        next.persist(&target).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The configuration file as it was read. Its changes are planned, and write nothing.
#[derive(Debug)]
pub struct Opened {
    pub file: PathBuf,
    /// `None` if the file does not exist.
    pub text: Option<String>,
    env: Environment,
}

impl Opened {
    /// Reads the file, whether or not it is valid.
    pub fn read(overrides: &Overrides) -> Result<Self, EditError> {
        let file = config_file(overrides)?;
        if let (Some(named), Some(by)) = file_of(overrides)? {
            let is_installed = by != FLAG && named.is_absolute();
            if !is_installed {
                paths::in_a_folder(by, &named)?;
            }
        }
        Ok(Self {
            text: file::text(&file, None)?,
            file,
            env: overrides.env.clone(),
        })
    }

    /// Replaces the whole text.
    pub fn whole(&self, text: &str) -> Result<Edit, EditError> {
        // End the last line, whether or not the editor did.
        let text = format!("{}\n", text.trim_end());
        self.parsed(&text)?;
        Ok(self.edit(text.clone(), text))
    }

    /// Adds a profile. Also returns it as it will be read.
    pub fn added(&self, new: &NewProfile) -> Result<(Edit, Profile), EditError> {
        let profile = new
            .check(self.folder(), &self.env)
            .map_err(EditError::Wrong)?;
        let lines = new.lines();
        let Some(text) = &self.text else {
            let lines = format!("default_profile = {}\n\n{lines}", quoted(&new.name));
            return Ok((self.edit(lines.clone(), lines), profile));
        };
        let mut wanted = self.parsed(text)?;
        self.is_free(&wanted, &new.name, None)?;
        // With a second profile it would be unclear which one is the default.
        let mut head = String::new();
        if let (None, [only]) = (&wanted.default_profile, wanted.profiles.as_slice()) {
            head = format!("default_profile = {}\n\n", quoted(&only.name));
            wanted.default_profile = Some(only.name.clone());
        }
        let gap = if text.is_empty() || text.ends_with("\n\n") {
            ""
        } else if text.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        wanted.profiles.push(profile.clone());
        let after = format!("{head}{text}{gap}{lines}");
        let edit = self.as_wanted(after, format!("{head}{lines}"), wanted)?;
        Ok((edit, profile))
    }

    /// Refuses a name that differs from that of another profile in case only: the two would be taken for each other.
    fn is_free(&self, wanted: &ConfigFile, name: &str, of: Option<&str>) -> Result<(), EditError> {
        let mut others = wanted.profiles.iter().map(|known| &known.name);
        let is_same = |known: &&String| known.to_lowercase() == name.to_lowercase();
        let taken = others.find(|known| Some(known.as_str()) != of && is_same(known));
        taken.map_or(Ok(()), |known| {
            Err(EditError::Exists(known.clone(), self.file.clone()))
        })
    }

    /// Removes a profile.
    pub fn removed(&self, name: &str) -> Result<Edit, EditError> {
        let (text, mut wanted) = self.with(name)?;
        let is_default = wanted.default_profile.as_deref() == Some(name);
        let (after, lines) = without(text, name, is_default);
        wanted.profiles.retain(|profile| profile.name != name);
        if is_default {
            wanted.default_profile = None;
        }
        self.as_wanted(after, lines, wanted)
    }

    /// Renames a profile.
    pub fn renamed(&self, name: &str, to: &str) -> Result<Edit, EditError> {
        let (text, mut wanted) = self.with(name)?;
        new_profile::is_name(to).map_err(EditError::Wrong)?;
        let other_case = Some(name).filter(|name| *name != to);
        self.is_free(&wanted, to, other_case)?;
        let (mut after, mut changed) = (String::new(), String::new());
        let (mut tables, mut was_inside) = (0, false);
        for line in lines::of(text, name) {
            tables += usize::from(line.is_inside && !was_inside);
            was_inside = line.is_inside;
            let other = if line.is_header {
                in_place(line.text, &ways(name), &key(to), '.')
            } else if line.is_default && wanted.default_profile.as_deref() == Some(name) {
                in_place(line.text, &ways(name)[1..], &quoted(to), '=')
            } else {
                None
            };
            changed.extend(other.as_deref());
            after.push_str(other.as_deref().unwrap_or(line.text));
        }
        // With other tables in between, the file is to be edited by hand.
        if tables != 1 {
            return Err(EditError::ByHand(self.file.clone()));
        }
        for profile in &mut wanted.profiles {
            if profile.name == name {
                to.clone_into(&mut profile.name);
            }
        }
        if wanted.default_profile.as_deref() == Some(name) {
            wanted.default_profile = Some(to.to_owned());
        }
        // A bad name is reported by the usual rules for names.
        self.parsed(&after)?;
        self.as_wanted(after, changed, wanted)
    }

    fn edit(&self, after: String, lines: String) -> Edit {
        Edit {
            file: self.file.clone(),
            lines,
            before: self.text.clone(),
            after,
        }
    }

    /// The edit, unless the new text would be read in another way than it is meant.
    fn as_wanted(
        &self,
        after: String,
        lines: String,
        wanted: ConfigFile,
    ) -> Result<Edit, EditError> {
        // Keys of the console have their lines with them, which change.
        let without_keys = |file| ConfigFile {
            keys: Vec::new(),
            ..file
        };
        let now = self.parsed(&after).map(without_keys);
        if now.is_ok_and(|now| now == without_keys(wanted)) {
            Ok(self.edit(after, lines))
        } else {
            Err(EditError::ByHand(self.file.clone()))
        }
    }

    fn folder(&self) -> &Path {
        folder_of(&self.file).unwrap_or(Path::new("/"))
    }

    fn parsed(&self, text: &str) -> Result<ConfigFile, ConfigError> {
        let (folder, env) = (self.folder(), &self.env);
        schema::read(text, PathContext { folder, env }).map_err(|problems| ConfigError::Wrong {
            file: self.file.clone(),
            problems,
        })
    }

    /// The text and what it says, if there is such a profile.
    fn with(&self, name: &str) -> Result<(&str, ConfigFile), EditError> {
        let text = self.text.as_deref().unwrap_or_default();
        let written = self.parsed(text)?;
        if written.profiles.iter().any(|profile| profile.name == name) {
            Ok((text, written))
        } else {
            Err(unknown_profile(name, None, &written.profiles).into())
        }
    }
}

/// The path of the configuration file, whether or not it exists.
pub fn config_file(overrides: &Overrides) -> Result<PathBuf, ConfigError> {
    let (file, _) = file_of(overrides)?;
    let file = file.ok_or(ConfigError::NoHome("the configuration", "GROUPDESK_CONFIG"))?;
    Ok(std::path::absolute(&file).unwrap_or(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# mine\ndefault_profile = 'a' # usual\n\n[profiles.b]\nbase_url = \"https://b.example\"\n\
                        api_key = { env = \"B\" }\n\n# of a\n[ profiles . \"a\" ]\nbase_url = \"https://a.example\"\n\
                        api_key = { env = \"A\" }\n\n[[profiles.a.guard]]\noperation = \"bulk\"\nmax = 5\nreason = \"x\"\n# end\n";

    fn opened() -> Opened {
        Opened {
            file: "/etc/groupdesk.toml".into(),
            text: Some(TEXT.into()),
            env: Environment::default(),
        }
    }

    #[test]
    fn a_profile_gets_another_name_wherever_it_stands() {
        let edit = opened().renamed("a", "eu live").expect("a good one");
        assert!(
            edit.after
                .contains("default_profile = \"eu live\" # usual\n")
        );
        assert!(edit.after.contains("\n[ profiles . \"eu live\" ]\n"));
        assert!(edit.after.contains("\n[[profiles.\"eu live\".guard]]\n"));
        let back = Opened {
            text: Some(edit.after),
            ..opened()
        };
        let back = back.renamed("eu live", "a").expect("a good one");
        let bare = |text: &str| text.replace(['\'', '"'], "");
        assert_eq!(bare(&back.after), bare(TEXT));
        assert!(matches!(
            opened().renamed("a", "B"),
            Err(EditError::Exists(..))
        ));
        assert!(opened().renamed("a", "A").is_ok());
        assert!(opened().renamed("c", "d").is_err());
    }
}
