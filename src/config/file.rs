//! Reads the configuration file from the disk; refuses one that anybody could have written.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

use super::{
    document::place,
    environment::Environment,
    error::ConfigError,
    schema::{self, Surroundings, Written},
};

const LARGEST: u64 = 1024 * 1024;

/// What the file says. `named_by`: the flag or variable that named it; a missing file in the default place is none.
pub(super) fn read(
    file: &Path,
    named_by: Option<&'static str>,
    env: &Environment,
) -> Result<Option<Written>, ConfigError> {
    let Some(text) = text(file, named_by)? else {
        return Ok(None);
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    schema::read(&text, Surroundings { folder, env })
        .map(Some)
        .map_err(|problems| ConfigError::Wrong {
            file: file.to_owned(),
            problems,
        })
}

/// The text of the file; a missing one that nobody named is none.
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
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let up_to = error.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(&error.as_bytes()[..up_to]);
        let what = "is not UTF-8 text; save the file as UTF-8".into();
        ConfigError::Wrong {
            file: file.to_owned(),
            problems: vec![place(&valid, valid.len(), what)],
        }
    })
}

fn bytes(file: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(file)?;
    let metadata = file.metadata()?;
    // Who can write here can send the API key to another host, or run a command as us.
    if metadata.is_file() && metadata.mode() & 0o002 != 0 {
        return Err(io::Error::other(
            "every user can write to it; take that right away with chmod o-w",
        ));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other(
            "it is larger than 1 MiB; name another file",
        ));
    }
    Ok(bytes)
}
