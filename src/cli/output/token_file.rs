//! `--token-out`: a new file, or standard output if no person is looking at it. The file is created before anything is
//! sent, so that a file that cannot be created costs no token. It is removed if no token comes.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    sync::{Mutex, PoisonError},
};

use zeroize::Zeroizing;

use crate::{
    cli::{args::TokenArgs, output, prelude::*, process::stdio},
    domain::token::{Fingerprinter, Token},
    operations::batch::TokenSink,
    platform::private_files,
};

/// Whether the path means standard output, which then carries only the token.
pub(crate) fn is_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// As [`prepare`] for one group; a token that is printed needs an output as well.
pub(crate) fn prepare_for(token: &TokenArgs) -> Result<(), CliError> {
    if token.reveal {
        needs_output("--reveal")?;
    }
    prepare(token.token_out.as_deref(), false)
}

/// Refuses to lose what is printed once.
pub(crate) fn needs_output(option: &str) -> Result<(), CliError> {
    if !stdio::out_was_closed() {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "{option} needs standard output, which is closed or discarded; nothing was sent"
    )))
}

/// Reserves standard output for tokens if they go there. Fails if a person would see them, or if the result, which
/// `is_shared` tells, would go there as well; and if the file could not be created, also for a dry run.
pub(crate) fn prepare(out: Option<&Path>, is_shared: bool) -> Result<(), CliError> {
    let Some(out) = out else {
        return Ok(());
    };
    if !is_output(out) {
        return private_files::can_be_token_file(out).map_err(|error| not_created(&error));
    }
    if io::stdout().is_terminal() {
        return Err(CliError::Usage(
            "--token-out - would print the token to the terminal, which may keep it; nothing was sent. Use a new file, or redirect the output"
                .into(),
        ));
    }
    needs_output("--token-out -")?;
    if is_shared {
        return Err(CliError::Usage(
            "groups and tokens cannot both go to standard output; nothing was sent. For the groups, add --file FILE"
                .into(),
        ));
    }
    output::keep_output_for_tokens();
    Ok(())
}

/// Why a file for tokens was not created: the cause, the state, what to do.
fn not_created(error: &io::Error) -> CliError {
    let why = with_state(&error.to_string(), "nothing was sent");
    CliError::Usage(format!("cannot create the token file: {why}"))
}

/// A new file with mode 0600 that waits for a token, or standard output. The file is removed on drop if there was no
/// token.
pub(crate) struct TokenFile {
    path: PathBuf,
    /// `None` for standard output.
    file: Option<File>,
    /// The file may contain a token and must not be removed.
    touched: bool,
    written: Option<Token>,
}

impl TokenFile {
    /// Creates the file. Fails if it exists already.
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        let mut created = Self {
            path: path.to_owned(),
            file: None,
            touched: false,
            written: None,
        };
        if !is_output(path) {
            let file = private_files::new_token_file(path).map_err(|error| not_created(&error))?;
            created.file = Some(file);
        }
        Ok(created)
    }

    /// Makes the name of the file durable, for tokens that replace others; else it is removed.
    fn sync_folder(&self) -> Result<(), CliError> {
        let folder = private_files::folder_of(&self.path).unwrap_or(Path::new("."));
        let sync = |_: &File| File::open(folder)?.sync_all();
        let synced = self.file.as_ref().map_or(Ok(()), sync);
        synced.map_err(|error| not_created(&error))
    }

    /// Whether a written token can be replaced by another one.
    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the token durably, replacing one that was written before.
    pub(crate) fn write(&mut self, token: &Token) -> io::Result<()> {
        if self.written.as_ref() == Some(token) {
            return Ok(());
        }
        if self.file.is_none() {
            output::token(token.expose()).map_err(|error| private_files::explained(&error))?;
            self.written = Some(token.clone());
            return Ok(());
        }
        self.touched = true;
        if let Err(error) = self.put(token) {
            // Half a token is useless and would get in the way of the next attempt.
            self.touched = false;
            return Err(private_files::explained(&error));
        }
        self.written = Some(token.clone());
        Ok(())
    }

    fn put(&mut self, token: &Token) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(token.expose().as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    }

    /// Appends a line, durably; nothing of it stays if that fails.
    fn append(&mut self, line: &str) -> io::Result<()> {
        let explained = |name: &str, error: &io::Error| {
            let why = private_files::explained(error);
            io::Error::new(why.kind(), format!("{name} {why}"))
        };
        let Some(file) = &mut self.file else {
            return output::token(line).map_err(|error| explained("standard output", &error));
        };
        // Of its exact size, so that no shorter copy is left unwiped.
        let line = Zeroizing::new([line.as_bytes(), b"\n"].concat());
        let before = file.stream_position()?;
        let written = file.write_all(&line).and_then(|()| file.sync_all());
        if let Err(error) = written {
            let cut = file
                .set_len(before)
                .and_then(|()| file.seek(SeekFrom::Start(before)));
            self.touched |= cut.is_err();
            return Err(explained("the token file", &error));
        }
        self.touched = true;
        Ok(())
    }

    /// Whether a token was written.
    pub(crate) fn has_token(&self) -> bool {
        self.written.is_some()
    }

    /// The destination, for a message.
    pub(crate) fn place(&self) -> String {
        match self.file {
            Some(_) => self.path.display().to_string(),
            None => "standard output".into(),
        }
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        if self.file.is_some() && !self.touched {
            // An empty file that stays behind does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The tokens of a bulk run: lines of `{"user_group_id", "token", "fingerprint"}`, each durable before the next step of its
/// rotation.
pub(crate) struct TokenLines {
    file: Mutex<TokenFile>,
    fingerprinter: Fingerprinter,
}

impl TokenLines {
    /// Creates the file. Fails if it exists already or is inside a git work tree.
    pub(crate) fn create(path: &Path, fingerprinter: &Fingerprinter) -> Result<Self, CliError> {
        let file = TokenFile::create(path)?;
        file.sync_folder()?;
        Ok(Self {
            file: Mutex::new(file),
            fingerprinter: fingerprinter.clone(),
        })
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
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.append(&line)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    use super::*;

    #[test]
    fn half_a_line_does_not_stay() {
        // A file that is full after one page.
        let file = memfd_create("tokens", MemfdFlags::ALLOW_SEALING).expect("created");
        let file = File::from(file);
        file.set_len(4096).expect("long enough");
        fcntl_add_seals(&file, SealFlags::GROW).expect("sealed");
        let mut tokens = TokenFile {
            path: PathBuf::from("none"),
            file: Some(file),
            touched: true,
            written: None,
        };
        tokens.append("first").expect("it fits");
        assert!(tokens.append(&"x".repeat(5000)).is_err());
        tokens.touched = true;
        let mut file = tokens.file.as_ref().expect("a file");
        let mut text = String::new();
        file.rewind().expect("a file");
        file.read_to_string(&mut text).expect("text");
        assert_eq!(text, "first\n");
    }
}
