//! Files of groups, with every row checked before anything is done. They are first copied to unnamed private files, so
//! that exactly the checked content is used, even if it comes from a pipe.

use std::{
    fs::File,
    io::{Read as _, Seek, Write},
};

use tokio::sync::mpsc;

use crate::{
    cli::commands::prelude::*,
    domain::{
        pasted::{Shape, shape, suspicious_words},
        text::oddities,
    },
    formats::{Ids, Reader, RowResult, is_json, shown_id},
    intake::text,
    operations::Rows,
    platform::{os_error::in_plain_words, private_files::temporary_folder},
};

/// Bytes that are copied at a time.
const CHUNK_SIZE: usize = 64 * 1024;
/// Rows per message from the reading thread.
const CHUNK_ROWS: usize = 500;
/// How many odd ids are named.
const MAX_ODD: usize = 20;

/// Files in which every row is valid.
pub(crate) struct Checked {
    files: Vec<Copied>,
    pub(crate) rows: usize,
    pub(crate) digest: [u8; 32],
    pub(crate) ids: Ids,
}

/// The copy of a file.
struct Copied {
    file: File,
    is_json: bool,
}

impl Copied {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            file: self.file.try_clone()?,
            ..*self
        })
    }
}

impl Checked {
    /// Reads and checks everything. Returns `None` if rows are invalid; each of them was reported. It may wait for
    /// standard input.
    pub(crate) async fn of(sources: Vec<PathBuf>, json: bool) -> Result<Option<Self>, CliError> {
        blocking("reading was interrupted", move || check(&sources, json)).await
    }

    /// Reads the rows again from the start.
    pub(crate) fn read(&self) -> Result<Rows, CliError> {
        let files = self.files.iter().map(Copied::try_clone);
        let files = files.collect::<io::Result<Vec<_>>>();
        let files = files.map_err(|error| unreadable(&error))?;
        let (sender, rows) = mpsc::channel(1);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = send(files, &sender) {
                // The receiver may be gone.
                drop(sender.blocking_send(Err(error)));
            }
        });
        Ok(rows)
    }
}

/// Unpacks a received chunk of rows.
pub(crate) fn chunk(
    chunk: io::Result<Vec<(usize, GroupRow)>>,
) -> Result<Vec<(usize, GroupRow)>, CliError> {
    chunk.map_err(|error| unreadable(&error))
}

fn unreadable(error: &io::Error) -> CliError {
    CliError::Usage(format!("the copy of the file cannot be read: {error}"))
}

fn send(
    files: Vec<Copied>,
    sender: &mpsc::Sender<io::Result<Vec<(usize, GroupRow)>>>,
) -> io::Result<()> {
    let mut reader = Reader::default();
    let mut rows = Vec::new();
    let mut wrong = None;
    for Copied { mut file, is_json } in files {
        file.rewind()?;
        if is_json {
            reader.expect_json();
        }
        let mut bytes = vec![0; CHUNK_SIZE];
        loop {
            let count = file.read(&mut bytes)?;
            let mut out = |read: RowResult| match read.row {
                Ok(row) => rows.push((read.number, row)),
                Err(why) => wrong = Some(why),
            };
            let done = match count {
                0 => reader.end(&mut out).map(drop),
                count => reader.push(&bytes[..count], &mut out),
            };
            done.map_err(io::Error::other)?;
            if let Some(why) = wrong.take() {
                return Err(io::Error::other(why));
            }
            if rows.len() >= CHUNK_ROWS
                && sender.blocking_send(Ok(std::mem::take(&mut rows))).is_err()
            {
                return Ok(());
            }
            if count == 0 {
                break;
            }
        }
    }
    // The receiver may be gone.
    drop(sender.blocking_send(Ok(rows)));
    Ok(())
}

fn check(sources: &[PathBuf], json: bool) -> Result<Option<Checked>, CliError> {
    let mut reader = Reader::default();
    let mut files = Vec::new();
    let (mut bad, mut odd) = (0_usize, 0_usize);
    for source in sources {
        let name = text::name(source);
        reader.begin_file(&name);
        let is_json = is_json(source);
        if is_json {
            reader.expect_json();
        }
        let before = reader.rows();
        let mut faults = Faults::default();
        let failed = |why: String| {
            let why = with_state(&why, "nothing was changed");
            CliError::Usage(format!("{name}: {why}"))
        };
        let prefix = if sources.len() > 1 {
            format!("{name}, ")
        } else {
            String::new()
        };
        let mut printed = Ok(());
        let mut out = |read: RowResult| {
            let place = || format!("{prefix}row {}, line {}", read.number, read.line);
            match read.row {
                Ok(row) => {
                    let mut say = |what: &str| {
                        odd += 1;
                        if odd <= MAX_ODD {
                            output::context(&format!("! {}: {what}", place()));
                        }
                    };
                    for oddity in oddities(row.id.as_str()) {
                        let (at, what) = (oddity.position, oddity.what);
                        say(&format!("character {at} of the ID: {what}"));
                    }
                    if let Some(twin) = read.twin {
                        let id = shown_id(&row.id);
                        say(&format!("the ID \"{id}\" looks like that of row {twin}"));
                    }
                }
                Err(why) => {
                    let why = masked(why);
                    bad += 1;
                    faults.add(&place(), read.line, &why);
                    if json && printed.is_ok() {
                        printed = output::json_line(wrong(&name, (read.number, read.line), &why));
                    }
                }
            }
        };
        let copied = copy(source, &mut reader, &mut out);
        faults.print();
        let (file, remarks) = copied.map_err(failed)?;
        printed?;
        if reader.rows() == before {
            output::context(&format!(
                "! {name}: it has no rows: did the command before it fail?"
            ));
        }
        if let Some(remarks) = remarks {
            output::context(&format!("{name}: {remarks}"));
        }
        files.push(Copied { file, is_json });
    }
    if odd > MAX_ODD {
        output::context(&format!("! and {} more such warnings", odd - MAX_ODD));
    }
    let rows = reader.rows();
    if bad > 0 {
        let error = format!(
            "{bad} of {} {} invalid; nothing was changed",
            counted(rows, "row"),
            if bad == 1 { "is" } else { "are" }
        );
        output::alarm(&format!("error: {error}"));
        if json {
            output::json_line(wrong_sum(rows, bad, &error))?;
        }
        return Ok(None);
    }
    Ok(Some(Checked {
        files,
        rows,
        digest: reader.digest(),
        ids: reader.into_ids(),
    }))
}

/// Without words that have the shape of a token: no directory is open yet that could tell whether they are one.
fn masked(why: String) -> String {
    let words = suspicious_words(&why).filter(|word| shape(word) == Some(Shape::Token));
    let words: Vec<_> = words.map(str::to_owned).collect();
    words.iter().fold(why, |why, word| why.replace(word, "…"))
}

fn copy(
    source: &Path,
    reader: &mut Reader,
    out: &mut impl FnMut(RowResult),
) -> Result<(File, Option<String>), String> {
    let to_text = |error: io::Error| error.to_string();
    let mut from = text::source(source).map_err(to_text)?;
    let mut copy = tempfile::tempfile_in(temporary_folder())
        .map_err(|error| format!("cannot be copied to a temporary file ({error}); set TMPDIR"))?;
    let mut bytes = vec![0; CHUNK_SIZE];
    loop {
        let count = match from.read(&mut bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.to_string()),
        };
        if count == 0 {
            let remarks = reader.end(out)?;
            return Ok((copy, remarks));
        }
        reader.push(&bytes[..count], out)?;
        copy.write_all(&bytes[..count]).map_err(to_text)?;
    }
}

shape! {
    pub(crate) WRONG = "wrong-row", "an invalid row; nothing was sent";
    fn wrong(file: &str, (row, line): (usize, usize), error: &str) {
        "file": text = file, "the file, or standard input";
        "row": number = row, "row number in the files, from 1";
        "line": number = line, "line of the file where the row begins";
        "error": text = in_plain_words(error), "what is wrong; human-readable, may change";
    }

    pub(crate) WRONG_SUM = "wrong-sum", "the last line; the exit code is 2";
    fn wrong_sum(rows: usize, bad: usize, error: &str) {
        "rows": number = rows, "rows of the files";
        "bad": number = bad, "number of invalid rows";
        "error": text = in_plain_words(error), "the same as text; human-readable, may change";
    }
}

/// How many further lines are named.
const NAMED: usize = 10;
/// How many kinds of faults are shown.
const KINDS: usize = 50;

/// One kind of fault: its message without what differs from row to row.
struct Fault {
    kind: String,
    place: String,
    why: String,
    more: usize,
    lines: Vec<usize>,
}

#[derive(Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn add(&mut self, place: &str, line: usize, why: &str) {
        let kind = kind(why);
        if let Some(known) = self.0.iter_mut().find(|fault| fault.kind == kind) {
            known.more += 1;
            if known.lines.len() < NAMED {
                known.lines.push(line);
            }
            return;
        }
        // Kinds beyond those that are shown are counted together.
        if self.0.len() > KINDS {
            if let Some(last) = self.0.last_mut() {
                last.more += 1;
            }
            return;
        }
        self.0.push(Fault {
            kind,
            place: place.to_owned(),
            why: why.to_owned(),
            more: 0,
            lines: Vec::new(),
        });
    }

    pub(super) fn print(&self) {
        for fault in &self.0 {
            output::alarm(&fault.line());
        }
    }
}

impl Fault {
    fn line(&self) -> String {
        let mut line = format!("x {}: {}", self.place, self.why);
        if self.more > 0 {
            let lines: Vec<_> = self.lines.iter().map(ToString::to_string).collect();
            let open = if self.more > lines.len() { ", …" } else { "" };
            let rows = if self.more == 1 { "row" } else { "rows" };
            let more = format!(
                " (and {} more {rows} like it: line {}{open})",
                self.more,
                lines.join(", ")
            );
            line.push_str(&more);
        }
        line
    }
}

/// The message without its numbers and quoted words.
fn kind(why: &str) -> String {
    let mut kind = String::with_capacity(why.len());
    let mut is_quoted = false;
    for letter in why.chars() {
        if letter == '"' {
            is_quoted = !is_quoted;
        } else if !is_quoted && !letter.is_ascii_digit() {
            kind.push(letter);
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_occurs_in_many_rows_is_one_line() {
        let mut faults = Faults::default();
        for line in 2..202 {
            let why = format!("mapping: line 1, column {line}: not JSON");
            faults.add(&format!("row {}, line {line}", line - 1), line, &why);
        }
        faults.add("row 201, line 202", 202, "the ID \"a\" is empty");
        let lines: Vec<_> = faults.0.iter().map(Fault::line).collect();
        assert_eq!(
            lines,
            [
                "x row 1, line 2: mapping: line 1, column 2: not JSON (and 199 more rows like it: line 3, 4, 5, 6, 7, 8, 9, \
                 10, 11, 12, …)",
                "x row 201, line 202: the ID \"a\" is empty",
            ]
        );
    }
}
