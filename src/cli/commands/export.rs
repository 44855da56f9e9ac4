//! `export`: writes what the directory knows to a file that `import` and `apply` read. Tokens are only written on
//! request; they are read from the service and go to a file of their own.

mod tokens;

use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::sync::mpsc;

use crate::{
    cli::{
        args::{Export, FileFormat, Global},
        error::CliError,
        input::{
            confirm::{self, Question},
            listing::Listing,
        },
        output::{self, human::Listed, shape::shape},
        process::{exit::Exit, signals::Signals},
        session::{InFlight, Session},
    },
    domain::text::{counted, visible},
    formats::{Columns, Format},
    operations::exported_row,
    platform::private_files,
};

/// How long to wait for the writer to remove its half-written file.
const PATIENCE: Duration = Duration::from_secs(1);

/// A chunk of groups with their annotations; `None` marks the end.
type Piece = Option<Vec<Listed>>;

/// The format and the columns in which groups are written.
type Form = (Format, Columns);

pub(crate) async fn run(global: &Global, arguments: Export) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let session = Session::open(global, InFlight::default())?;
    let format = match arguments.format {
        Some(FileFormat::Csv) => Format::Csv,
        Some(FileFormat::Json) => Format::Json,
        None if session.json => Format::Json,
        Some(FileFormat::Jsonl) | None => Format::JsonLines,
    };
    let file = arguments.output.filter(|path| path != Path::new("-"));
    if let Some(file) = &file {
        no_format(file)?;
    }
    let file = file.as_deref().map(target).transpose()?;
    if let (Some(file), Some(tokens)) = (&file, &arguments.token_out)
        && place(file) == place(tokens)
    {
        return Err(CliError::Usage(
            "--file and --token-out must be different files; nothing was sent".into(),
        ));
    }
    if let Some(file) = &file
        && !arguments.force
    {
        may_replace(file, session.no_input).await?;
    }
    session.say_other_places().await?;
    let (filter, order) = (arguments.filter.filter.as_deref(), &arguments.order);
    let mut listing = Listing::of(&session, filter, order, None, "nothing was written").await?;
    listing.with_annotations = arguments.columns.has_annotations();
    let exit = match &arguments.token_out {
        Some(out) => {
            let pace = arguments.speed.pace();
            tokens::read(&session, &mut signals, &listing, out, pace).await?
        }
        None => Exit::Done,
    };
    let form = (format, arguments.columns);
    let count = groups(&session, &mut signals, &listing, form, file.as_deref()).await?;
    if count == 0 {
        session.say_elsewhere().await?;
    }
    if let Some(path) = &file {
        output::say(&format!(
            "exported {} to {}",
            counted(count, "group"),
            path.display()
        ));
    }
    Ok(exit)
}

/// Names of formats, here or of other commands. Until 0.2.0, `-o` was the file, and everywhere else it is the format.
const FORMATS: [&str; 8] = [
    "json", "jsonl", "csv", "tsv", "table", "wide", "name", "yaml",
];

/// Refuses a file with the name of a format, which was probably meant.
fn no_format(file: &Path) -> Result<(), CliError> {
    let Some(name) = file.to_str().filter(|name| FORMATS.contains(name)) else {
        return Ok(());
    };
    let format = match name {
        "json" | "jsonl" | "csv" => format!("--format {name}"),
        _ => "--format json, jsonl or csv".into(),
    };
    Err(CliError::Usage(format!(
        "\"{name}\" is the name of a format, and -o is the file here; nothing was written. To choose the format: {format}. For a file \
         of this name: --file ./{name}"
    )))
}

/// A file that is there is replaced only on request.
async fn may_replace(file: &Path, no_input: bool) -> Result<(), CliError> {
    if !file.exists() {
        return Ok(());
    }
    let shown = visible(&file.to_string_lossy()).into_owned();
    if !confirm::has_person(no_input) {
        return Err(CliError::Usage(format!(
            "{shown} already exists; nothing was written. To replace it, add --force"
        )));
    }
    confirm::confirm(false, &format!("Replace {shown}?"), Question::YesOrNo).await
}

/// Resolves symbolic links, so that the file is replaced and not the link to it.
fn target(path: &Path) -> Result<PathBuf, CliError> {
    let refused = |why: &str| {
        CliError::Usage(format!(
            "cannot write {}: {why}; nothing was written",
            path.display()
        ))
    };
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => path
            .canonicalize()
            .map_err(|error| refused(&error.to_string())),
        Ok(found) if found.is_dir() => Err(refused("it is a folder; use a file in it")),
        Ok(found) if found.file_type().is_char_device() || found.file_type().is_fifo() => Err(
            refused("it is not a regular file, and would be replaced by one; use standard output"),
        ),
        Ok(_) => Err(refused("it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.symlink_metadata().is_ok() {
                return Err(refused("it is a broken link; choose another file"));
            }
            Ok(path.to_owned())
        }
        Err(error) => Err(refused(&error.to_string())),
    }
}

/// Where a new file of this name would be created.
fn place(path: &Path) -> Option<PathBuf> {
    Some(folder(path).canonicalize().ok()?.join(path.file_name()?))
}

/// The folder that contains a file of this name.
fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Writes the groups as they come from the directory and returns how many there were. After a signal no half-written
/// file is left, and a reader that does not read blocks neither signals nor the directory.
async fn groups(
    session: &Session,
    signals: &mut Signals,
    listing: &Listing,
    form: Form,
    file: Option<&Path>,
) -> Result<usize, CliError> {
    let (to_writer, pieces) = mpsc::channel::<Piece>(2);
    let path = file.map(Path::to_owned);
    let mut writing = tokio::task::spawn_blocking(move || match path {
        Some(path) => to_file(&path, &form, pieces),
        None => to_output(&form, pieces),
    });
    let work = async {
        // A writer that has ended reports its own error.
        session
            .each_listed(listing, async |some| {
                Ok(to_writer.send(Some(some)).await.is_ok())
            })
            .await?;
        drop(to_writer.send(None).await);
        let written = (&mut writing).await;
        let written = written.map_err(CliError::unexpected("writing was interrupted"))?;
        written.map_err(|error| match file {
            Some(path) => CliError::Usage(format!(
                "nothing was written: {} {}",
                path.display(),
                private_files::explained(&error)
            )),
            None => CliError::Output(error),
        })
    };
    let worked = tokio::select! {
        biased;
        () = signals.next() => None,
        worked = work => Some(worked),
    };
    let stop = match worked {
        Some(Ok(count)) => return Ok(count),
        Some(Err(stop)) => stop,
        None => CliError::Interrupted { in_flight: false },
    };
    drop(to_writer);
    if !writing.is_finished() {
        // Gives the writer time to remove its half-written file.
        drop(tokio::time::timeout(PATIENCE, writing).await);
    }
    Err(stop)
}

/// Writes the whole file or nothing. Replaces what the file contained before.
fn to_file(path: &Path, form: &Form, pieces: mpsc::Receiver<Piece>) -> io::Result<usize> {
    let folder = folder(path);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let count = write(&mut BufWriter::new(&mut file), form, pieces, false)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The name is durable only once its folder is synced.
    File::open(folder)?.sync_all()?;
    Ok(count)
}

/// A reader that is gone is not an error.
fn to_output(form: &Form, pieces: mpsc::Receiver<Piece>) -> io::Result<usize> {
    // A terminal must not act on control characters in a name.
    let shown = io::stdout().is_terminal();
    match write(&mut BufWriter::new(io::stdout()), form, pieces, shown) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        written => written,
    }
}

/// Fails if the input ends without the end marker.
fn write(
    out: &mut impl Write,
    (format, columns): &Form,
    mut pieces: mpsc::Receiver<Piece>,
    shown: bool,
) -> io::Result<usize> {
    let head = format.head(columns);
    let head = if shown { head.replace('\r', "") } else { head };
    out.write_all(head.as_bytes())?;
    let mut count = 0;
    loop {
        let piece = pieces.blocking_recv();
        let piece = piece.ok_or_else(|| io::Error::other("it was interrupted"))?;
        let Some(groups) = piece else { break };
        for (group, beside) in groups {
            let group = (group, beside.as_ref());
            let text = exported_row(*format, columns, group, count == 0);
            let text = if shown && *format == Format::Csv {
                format!("{}\n", visible(text.trim_end()))
            } else {
                text
            };
            out.write_all(text.as_bytes())?;
            count += 1;
        }
    }
    out.write_all(format.foot().as_bytes())?;
    out.flush()?;
    Ok(count)
}

// The formats write it: `src/formats`.
shape! {
    pub(crate) EXPORTED = "exported", "a group as import and apply read it; --format jsonl has one on each line. A field with an unknown value \
    is missing"; {
        "user_group_id": text, "the group";
        "name": text, "its name";
        "mapping": texts_by_key, "data source IDs by schema ID";
        "properties": any, "its properties";
        "note": text, "its note; this field and those after it are only present if --columns includes them";
        "labels": texts, "its labels, without the #";
        "favourite": bool, "true: it is a favourite";
    }
}
