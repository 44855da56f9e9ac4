//! Reads the configuration file from disk. Refuses a file that anybody could have written.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::OFlags;

use super::{
    environment::{Environment, PathContext},
    error::{ConfigError, Problem},
    schema::{self, ConfigFile},
};
use crate::intake::{
    fault::Fault,
    kind::{Foreign, SQLITE, foreign},
    text as intake,
};

const LARGEST: u64 = 1024 * 1024;

/// Parses the file. `named_by` is the flag or variable that named it. Returns `None` if the default file is missing.
pub(super) fn read(
    file: &Path,
    named_by: Option<&'static str>,
    env: &Environment,
) -> Result<Option<ConfigFile>, ConfigError> {
    let Some(text) = text(file, named_by)? else {
        return Ok(None);
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    schema::read(&text, PathContext { folder, env })
        .map(Some)
        .map_err(|problems| ConfigError::Wrong {
            file: file.to_owned(),
            problems,
        })
}

/// The text of the file; `None` if it is missing and nobody named it.
pub(super) fn text(
    file: &Path,
    named_by: Option<&'static str>,
) -> Result<Option<String>, ConfigError> {
    let unreadable = |why| ConfigError::Unreadable {
        file: file.to_owned(),
        named_by,
        why,
    };
    let bytes = match bytes(file) {
        Ok(bytes) => bytes,
        Err(why) if why.kind() == io::ErrorKind::NotFound && named_by.is_none() => return Ok(None),
        Err(why) => return Err(unreadable(why)),
    };
    intake::maybe_empty(&bytes)
        .map(|text| Some(intake::with_line_ends(text)))
        .map_err(|fault| {
            let (line, column, what) = match fault {
                Fault::Encoding(place) => (
                    place.line,
                    place.column,
                    "is not UTF-8 text; save the file as UTF-8".to_owned(),
                ),
                fault => (1, 1, fault.to_string()),
            };
            ConfigError::Wrong {
                file: file.to_owned(),
                problems: vec![Problem { line, column, what }],
            }
        })
}

fn bytes(file: &Path) -> io::Result<Vec<u8>> {
    let is_given = is_given(file);
    let opened = OpenOptions::new()
        .read(true)
        // Opening a FIFO must not block before it can be refused.
        .custom_flags(if is_given {
            0
        } else {
            OFlags::NONBLOCK.bits() as i32
        })
        .open(file)?;
    let metadata = opened.metadata()?;
    if !is_given && !metadata.is_file() {
        return Err(io::Error::other(
            "it is not a regular file; use another file",
        ));
    }
    // Whoever can write this file can send the API key to another host, or run a command as this user.
    if metadata.is_file() && metadata.mode() & 0o002 != 0 {
        return Err(io::Error::other(
            "every user can write to it; remove that permission with chmod o-w",
        ));
    }
    let us = rustix::process::geteuid().as_raw();
    if metadata.is_file() && metadata.uid() != us && metadata.uid() != 0 {
        return Err(io::Error::other(format!(
            "it belongs to another user (number {}), who could send the API key elsewhere; use a file that belongs to you or to root",
            metadata.uid()
        )));
    }
    let mut bytes = Vec::new();
    opened.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if let Some(kind) = foreign(&bytes) {
        return Err(io::Error::other(instead_of(kind)));
    }
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other(
            "it is larger than 1 MiB; use another file",
        ));
    }
    Ok(bytes)
}

/// What to do with a file that is no text: none of its lines can be corrected.
fn instead_of(kind: Foreign) -> String {
    let todo = if kind == SQLITE {
        "to use it as the directory, pass it with --directory"
    } else {
        "use another file"
    };
    format!("it is {}, not a configuration; {todo}", kind.is)
}

/// What a shell passes instead of a file: `<(command)` is a pipe that another process writes to.
fn is_given(file: &Path) -> bool {
    ["/dev/fd", "/proc/self/fd", "/dev/stdin"]
        .iter()
        .any(|place| file.starts_with(place))
}
