//! How each shell sends its request and receives the answer.

use std::{ffi::OsString, io, path::Path};

use clap::{Command, ValueEnum};
use clap_complete::env::{EnvCompleter, Fish, Zsh as PlainZsh};

use super::VARIABLE;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }
}

/// The script with which a shell registers this program for completions.
pub(crate) fn script(shell: Shell) -> io::Result<String> {
    let mut script = Vec::new();
    let shell: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    shell.write_registration(VARIABLE, "groupdesk", "groupdesk", "groupdesk", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Bash, with a function that joins words split at : and = and quotes the suggestions, because an id may contain
/// anything.
pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        _var: &str,
        _name: &str,
        _bin: &str,
        _completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        out.write_all(include_bytes!("groupdesk.bash"))
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let last = words.len().saturating_sub(1);
        for found in clap_complete::engine::complete(command, words, last, folder)? {
            if let Some(value) = found.get_value().to_str().and_then(quoted) {
                writeln!(out, "{value}")?;
            }
        }
        Ok(())
    }
}

/// Quotes a value for the command line. Returns `None` for values with control characters, which cannot be typed on one
/// line.
fn quoted(value: &str) -> Option<String> {
    if value.chars().any(char::is_control) {
        return None;
    }
    let mut quoted = String::with_capacity(value.len());
    for c in value.chars() {
        if !c.is_alphanumeric() && !"-_./:=@%+,".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    Some(quoted)
}

/// Clap's own script, extended so that when zsh autoloads it on first use, it also answers that first request.
pub(super) struct Zsh;

impl EnvCompleter for Zsh {
    fn name(&self) -> &'static str {
        "zsh"
    }

    fn is(&self, name: &str) -> bool {
        name == "zsh"
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        PlainZsh.write_registration(var, name, bin, completer, out)?;
        writeln!(
            out,
            "[[ $funcstack[1] == _{name} ]] && _clap_dynamic_completer_{name} \"$@\""
        )
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        PlainZsh.write_complete(command, words, folder, out)
    }
}
