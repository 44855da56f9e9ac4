//! `--token-out` of bulk runs: one JSON line per new token, durable before the next step of its rotation.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use zeroize::Zeroizing;

use crate::{
    cli::{
        error::CliError,
        output::{
            self,
            token_file::{is_output, not_created},
        },
    },
    domain::token::Fingerprinter,
    operations::{Done, batch::TokenSink},
    platform::private_files,
};

/// A new file with mode 0600, of `{"user_group_id", "token", "fingerprint"}` lines. It is removed on drop if nothing
/// was written.
pub(crate) struct TokenLines {
    path: PathBuf,
    /// `None` when the tokens go to standard output.
    file: Option<Mutex<File>>,
    touched: AtomicBool,
    fingerprinter: Fingerprinter,
}

impl TokenLines {
    /// Creates the file. Fails if it exists already or is inside a git work tree.
    pub(crate) fn create(path: &Path, fingerprinter: &Fingerprinter) -> Result<Self, CliError> {
        if is_output(path) {
            return Ok(Self::new(path, None, fingerprinter));
        }
        let made = private_files::new_token_file(path).and_then(|file| {
            // The name of a new file is durable only once its folder is synced.
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
            Ok(file)
        });
        let file = made.map_err(|error| not_created(&error))?;
        Ok(Self::new(path, Some(file), fingerprinter))
    }

    fn new(path: &Path, file: Option<File>, fingerprinter: &Fingerprinter) -> Self {
        Self {
            path: path.to_owned(),
            file: file.map(Mutex::new),
            touched: AtomicBool::new(false),
            fingerprinter: fingerprinter.clone(),
        }
    }
}

impl TokenSink for TokenLines {
    fn keep(&self, done: &Done) -> io::Result<()> {
        let Some(token) = done.token() else {
            return if done.withholds_token() {
                Err(io::Error::other("its response has an alarm"))
            } else {
                Ok(())
            };
        };
        let json = |text: &str| serde_json::to_string(text).map(Zeroizing::new);
        let line = Zeroizing::new(format!(
            "{{\"user_group_id\":{},\"token\":{},\"fingerprint\":\"{}\"}}",
            *json(done.group.id.as_str())?,
            *json(token.expose())?,
            self.fingerprinter.of(token)
        ));
        let Some(file) = &self.file else {
            return output::token(&line);
        };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        self.touched.store(true, Ordering::SeqCst);
        let line = Zeroizing::new([line.as_bytes(), b"\n"].concat());
        file.write_all(&line)?;
        file.sync_all()
    }
}

impl Drop for TokenLines {
    fn drop(&mut self) {
        if self.file.is_some() && !self.touched.load(Ordering::SeqCst) {
            // An empty file that stays behind does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
