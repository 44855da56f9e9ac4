//! Changes existing content of the configuration file: all of it, or the name of a profile. The
//! result is validated by the usual rules before it is written, and everything else stays as a person wrote it.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use super::{Edit, EditError, config_file, folder_of, is_table_of, parsed, quoted};
use crate::config::{
    environment::Environment,
    error::ConfigError,
    file,
    new_profile::{self, key},
    schema::ConfigFile,
    settings::{Overrides, unknown},
};

/// The configuration file as it was read.
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

    /// Renames a profile.
    pub fn renamed(&self, name: &str, to: &str) -> Result<Edit, EditError> {
        let (text, range, mut wanted) = self.section_in(name)?;
        new_profile::is_name(to).map_err(EditError::Wrong)?;
        if wanted.profiles.iter().any(|profile| profile.name == to) {
            return Err(EditError::Exists(to.to_owned(), self.file.clone()));
        }
        let (mut after, mut lines, mut at, mut at_top) = (String::new(), String::new(), 0, true);
        for line in text.split_inclusive('\n') {
            let plain = line.trim();
            at_top &= !plain.starts_with('[');
            let is_default =
                at_top && plain.split('=').next().map(str::trim) == Some("default_profile");
            let other = if range.contains(&at) && is_table_of(plain, name) {
                in_place(
                    line,
                    &[key(name), quoted(name), format!("'{name}'")],
                    &key(to),
                    '.',
                )
            } else if is_default && wanted.default_profile.as_deref() == Some(name) {
                in_place(line, &[quoted(name), format!("'{name}'")], &quoted(to), '=')
            } else {
                None
            };
            at += line.len();
            if let Some(other) = &other {
                lines.push_str(other);
            }
            after.push_str(other.as_deref().unwrap_or(line));
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
        let now = self.parsed(&after)?;
        if (now.profiles, now.default_profile, now.operator)
            != (wanted.profiles, wanted.default_profile, wanted.operator)
        {
            return Err(EditError::ByHand(self.file.clone()));
        }
        Ok(self.edit(after, lines))
    }

    fn edit(&self, after: String, lines: String) -> Edit {
        Edit {
            file: self.file.clone(),
            lines,
            before: self.text.clone(),
            after,
        }
    }

    fn parsed(&self, text: &str) -> Result<ConfigFile, ConfigError> {
        let folder = folder_of(&self.file).unwrap_or(Path::new("/"));
        parsed(text, folder, &self.env).map_err(|problems| ConfigError::Wrong {
            file: self.file.clone(),
            problems,
        })
    }

    /// The text, the position of the profile in it, and the parsed file.
    fn section_in(&self, name: &str) -> Result<(&str, Range<usize>, ConfigFile), EditError> {
        let text = self.text.as_deref().unwrap_or_default();
        let written = self.parsed(text)?;
        if !written.profiles.iter().any(|profile| profile.name == name) {
            return Err(unknown(name, None, &written.profiles).into());
        }
        let range = range(text, name).ok_or_else(|| EditError::ByHand(self.file.clone()))?;
        Ok((text, range, written))
    }
}

/// From the first table of a profile to its last line that is not blank or a comment; `None` if other tables are in
/// between.
fn range(text: &str, name: &str) -> Option<Range<usize>> {
    let mut found: Option<Range<usize>> = None;
    let (mut at, mut is_inside) = (0, false);
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        if plain.starts_with('[') {
            let was_inside = std::mem::replace(&mut is_inside, is_table_of(plain, name));
            if is_inside && !was_inside && found.is_some() {
                return None;
            }
        }
        let end = at + line.len();
        if is_inside && !plain.is_empty() && !plain.starts_with('#') {
            let start = found.as_ref().map_or(at, |found| found.start);
            found = Some(start..end);
        }
        at = end;
    }
    found
}

/// Replaces the first of `words` that follows the character `behind`; `None` if none of them does.
fn in_place(line: &str, words: &[String], to: &str, behind: char) -> Option<String> {
    let (head, rest) = line.split_at(line.find(behind)? + 1);
    let gap = rest.len() - rest.trim_start().len();
    let (gap, rest) = rest.split_at(gap);
    let rest = words
        .iter()
        .find_map(|word| rest.strip_prefix(word.as_str()))?;
    Some(format!("{head}{gap}{to}{rest}"))
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
            opened().renamed("a", "b"),
            Err(EditError::Exists(..))
        ));
        assert!(opened().renamed("c", "d").is_err());
    }
}
