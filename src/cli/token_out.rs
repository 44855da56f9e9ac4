//! `--token-out`: the file is made before anything is sent, so that a file that cannot be made costs no token, and is
//! taken away again when no token came.

use std::{
    fs::File,
    io::{self, Seek, Write},
    path::{Path, PathBuf},
};

use super::stop::Stop;
use crate::{config::files, domain::token::Token};

/// A new 0600 file that waits for a token. Dropped without one, it is removed.
pub(super) struct TokenFile {
    path: PathBuf,
    file: File,
    /// It may hold something, and is not removed.
    touched: bool,
    written: Option<Token>,
}

impl TokenFile {
    /// Makes the file; one that exists is refused.
    pub(super) fn create(path: &Path) -> Result<Self, Stop> {
        let file = files::new_token_file(path).map_err(|error| {
            Stop::Usage(format!(
                "cannot make the file for the token; nothing was sent: {error}"
            ))
        })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            touched: false,
            written: None,
        })
    }

    /// Writes the token durably, over another one that was written before.
    pub(super) fn write(&mut self, token: &Token) -> io::Result<()> {
        if self.written.as_ref() == Some(token) {
            return Ok(());
        }
        self.touched = true;
        if let Err(error) = self.put(token) {
            // Half a token is none, and would stand in the way of the next attempt.
            self.touched = false;
            return Err(files::explained(&error));
        }
        self.written = Some(token.clone());
        Ok(())
    }

    fn put(&mut self, token: &Token) -> io::Result<()> {
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(token.expose().as_bytes())?;
        self.file.write_all(b"\n")?;
        self.file.sync_all()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        if !self.touched {
            // An empty file that stays does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
