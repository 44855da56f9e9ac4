//! A profile that somebody wants to add: the lines it becomes in the configuration file, validated by the same rules as
//! every file. It contains no API key, only the source of one.

use std::path::{Path, PathBuf};

use toml::Value;

use super::{
    address::DEFAULT_PATH,
    environment::{Environment, PathContext},
    profile::{KeySource, Profile},
    schema,
};
use crate::domain::{group::EnvironmentTag, text::joined};

/// A field that a person fills in. Every problem names its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Name,
    BaseUrl,
    Path,
    Environment,
    ApiKey,
    CaFile,
}

/// A profile to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProfile {
    pub name: String,
    pub base_url: String,
    /// `None` for the default.
    pub path: Option<String>,
    /// `None` if it was not given; the profile then counts as production.
    pub environment: Option<EnvironmentTag>,
    /// A file is kept as typed; a relative path is relative to the folder of the configuration file.
    pub api_key: KeySource,
    /// Certificate authorities to trust besides those of the system; as typed.
    pub ca_file: Option<PathBuf>,
    /// The key is not allowed to change anything.
    pub read_only: bool,
}

impl NewProfile {
    /// The lines for the file, each with a line break at its end.
    pub fn lines(&self) -> String {
        let lines = self.fields().into_iter().map(|(_, line)| line + "\n");
        lines.collect()
    }

    fn fields(&self) -> Vec<(Field, String)> {
        let mut fields = vec![(Field::Name, format!("[profiles.{}]", key(&self.name)))];
        let mut add = |field, key: &str, value: Option<String>| {
            fields.extend(value.map(|value| (field, format!("{key} = {value}"))));
        };
        add(Field::BaseUrl, "base_url", Some(quoted(&self.base_url)));
        let path = self.path.as_deref().filter(|path| *path != DEFAULT_PATH);
        add(Field::Path, "path", path.map(quoted));
        let path_of = |file: &PathBuf| quoted(&file.to_string_lossy());
        let source = match &self.api_key {
            KeySource::Env(name) => Some(format!("env = {}", quoted(name))),
            KeySource::File(file) => Some(format!("file = {}", path_of(file))),
            KeySource::Command(argv) => {
                let words = joined(argv.iter().map(|word| quoted(word)), ", ");
                Some(format!("command = [{words}]"))
            }
            KeySource::Keyring(name) => Some(format!("keyring = {}", quoted(name))),
            KeySource::Unset => None,
        };
        let source = source.map(|source| format!("{{ {source} }}"));
        add(Field::ApiKey, "api_key", source);
        add(Field::CaFile, "ca_file", self.ca_file.as_ref().map(path_of));
        let tag = self.environment.as_ref().map(|tag| quoted(tag.as_str()));
        add(Field::Environment, "environment", tag);
        let read_only = self.read_only.then(|| "true".to_owned());
        add(Field::ApiKey, "read_only", read_only);
        fields
    }

    /// The profile as the file will define it, or all problems with their fields.
    pub fn check(&self, folder: &Path, env: &Environment) -> Result<Profile, Vec<(Field, String)>> {
        is_name(&self.name)?;
        let fields = self.fields();
        let text = self.lines();
        let around = PathContext { folder, env };
        match schema::read(&text, around) {
            Ok(written) => written
                .profiles
                .into_iter()
                .next()
                .ok_or_else(|| vec![(Field::Name, "cannot be used; choose another".to_owned())]),
            Err(problems) => Err(problems
                .into_iter()
                .map(|problem| {
                    let field = fields.get(problem.line.saturating_sub(1));
                    (field.map_or(Field::Name, |(field, _)| *field), problem.what)
                })
                .collect()),
        }
    }
}

/// Refuses an address in place of a name.
pub(super) fn is_name(name: &str) -> Result<(), Vec<(Field, String)>> {
    if name.contains([':', '/']) {
        let what = "looks like a URL; use a short name, for example eu-live";
        return Err(vec![(Field::Name, what.to_owned())]);
    }
    Ok(())
}

/// A key of a TOML table, quoted if necessary.
pub(super) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A text as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(name: &str, base_url: &str, api_key: KeySource) -> NewProfile {
        NewProfile {
            name: name.into(),
            base_url: base_url.into(),
            path: None,
            environment: None,
            api_key,
            ca_file: None,
            read_only: false,
        }
    }

    #[test]
    fn what_is_written_is_read_as_it_was_meant() {
        let env = Environment::default();
        for (name, api_key) in [
            ("eu-live", KeySource::Env("EU_KEY".into())),
            ("EU live \"x\"", KeySource::Keyring("EU live".into())),
            (
                "東京",
                KeySource::Command(vec!["pass".into(), "a \"b\"\\".into(), String::new()]),
            ),
            ("a.b", KeySource::File("/keys/a b".into())),
        ] {
            let new = NewProfile {
                path: Some("/v2/user/".into()),
                environment: Some(EnvironmentTag::Testing),
                ..new(name, "https://api.example.com/", api_key.clone())
            };
            let read = new.check(Path::new("/etc"), &env).expect("a good one");
            assert_eq!(read.name, name);
            assert_eq!(read.api_key, api_key);
            assert_eq!(read.url(), "https://api.example.com/v2/user/");
            assert!(!read.production);
        }
        let unsaid = new("a", "https://a.example", KeySource::Env("A".into()));
        let read = unsaid.check(Path::new("/etc"), &env).expect("a good one");
        assert!(read.production, "what is not known counts as production");
    }

    #[test]
    fn a_problem_names_its_field() {
        let of = |name: &str, url: &str, key: &str| {
            let wrong = new(name, url, KeySource::Env(key.into()));
            let problems = wrong.check(Path::new("/etc"), &Environment::default());
            let problems = problems.expect_err("wrong").into_iter();
            problems.map(|(field, _)| field).collect::<Vec<_>>()
        };
        let all = of("", "ftp://api.example.com", "not a name");
        assert_eq!(all, [Field::Name, Field::BaseUrl, Field::ApiKey]);
        let address = "https://api.example.com";
        assert_eq!(of(address, address, "A")[0], Field::Name);
    }
}
