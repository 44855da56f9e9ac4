//! `--token-out`: a new file, or standard output where no person looks at it. The file is made before anything is sent, so that a file that cannot be made costs no token, and is
//! taken away again when no token came.

use std::{
    fs::File,
    io::{self, IsTerminal, Seek, Write},
    path::{Path, PathBuf},
};

use crate::{
    cli::{args::Command, error::CliError, output},
    domain::token::Token,
    platform::private_files,
};

/// Whether standard output is meant, for the token alone.
pub(crate) fn is_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// Gives standard output to the tokens where they go there; refused where somebody would see them.
pub(crate) fn prepare(command: Option<&Command>) -> Result<(), CliError> {
    let (out, output) = match command {
        Some(Command::Get(get)) => (&get.token.token_out, None),
        Some(Command::Create(create)) => (&create.token.token_out, None),
        Some(Command::Update(update)) => (&update.token.token_out, None),
        Some(Command::Rotate(rotate)) => (&rotate.token.token_out, None),
        Some(Command::Export(export)) => (&export.token_out, Some(&export.output)),
        _ => return Ok(()),
    };
    if !out.as_deref().is_some_and(is_output) {
        return Ok(());
    }
    if io::stdout().is_terminal() {
        return Err(CliError::Usage(
            "--token-out - writes to standard output, and that is a terminal, which shows and keeps what is written: name a \
             new file, or send the output to a program or a file. Nothing was sent"
                .into(),
        ));
    }
    let is_shared = |output: &Option<PathBuf>| output.as_deref().is_none_or(is_output);
    if output.is_some_and(is_shared) {
        return Err(CliError::Usage(
            "the groups go to standard output, and --token-out - sends the tokens there, too: name a file with --output. \
             Nothing was sent"
                .into(),
        ));
    }
    output::keep_output_for_tokens();
    Ok(())
}

/// A new 0600 file that waits for a token, or standard output. Dropped without one, the file is removed.
pub(crate) struct TokenFile {
    path: PathBuf,
    /// Not there for standard output.
    file: Option<File>,
    /// It may hold something, and is not removed.
    touched: bool,
    written: Option<Token>,
}

impl TokenFile {
    /// Makes the file; one that exists is refused.
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        let make = || {
            private_files::new_token_file(path).map_err(|error| {
                CliError::Usage(format!(
                    "cannot make the file for the token; nothing was sent: {error}"
                ))
            })
        };
        let file = if is_output(path) { None } else { Some(make()?) };
        Ok(Self {
            path: path.to_owned(),
            file,
            touched: false,
            written: None,
        })
    }

    /// Whether what was written can be replaced by another token.
    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the token durably, over another one that was written before.
    pub(crate) fn write(&mut self, token: &Token) -> io::Result<()> {
        if self.written.as_ref() == Some(token) {
            return Ok(());
        }
        if self.file.is_none() {
            output::token(token.expose())?;
            self.written = Some(token.clone());
            return Ok(());
        }
        self.touched = true;
        if let Err(error) = self.put(token) {
            // Half a token is none, and would stand in the way of the next attempt.
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

    /// For a message.
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
            // An empty file that stays does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
