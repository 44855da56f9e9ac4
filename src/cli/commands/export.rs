//! `export`: writes what the directory knows to a file that `import` and `apply` read. Tokens are only written on
//! request: the token of every group that the service is known to have is read from it, and goes to a file of its own.

use std::{
    fs::File,
    io::{BufWriter, Read, Write},
    os::unix::fs::FileTypeExt,
};

use clap::ValueEnum;
use tokio::sync::mpsc;

use super::{
    prelude::*,
    run::{RunReport, Summary, follow},
};
use crate::{
    cli::{
        args::{Filter, Order, Output, Speed},
        input::listing::Listing,
        output::{
            form,
            human::Listed,
            token_file::{TokenLines, is_output},
        },
        process::exit::RunEnd,
    },
    domain::refresh::Counts,
    formats::{Columns, Format},
    operations::{
        GroupRead, Reading, Refresh, exported_row,
        run::{RunLimits, Sum},
    },
    platform::private_files,
};

/// How long to wait for the writer to remove its half-written file.
const PATIENCE: Duration = Duration::from_secs(1);

/// A chunk of groups with their annotations; `None` marks the end.
type Piece = Option<Vec<Listed>>;

/// The format and the columns in which groups are written.
type Form = (Format, Columns);

/// Export known groups; tokens only with --reveal-tokens
#[derive(Debug, Args)]
#[command(
    after_help = "Columns: user_group_id, name, mapping, properties, note, labels, favourite."
)]
pub(crate) struct Export {
    /// JSON lines, one JSON array, or CSV [default: jsonl; csv for a file .csv; with --json one array]
    #[arg(long, value_enum)]
    format: Option<FileFormat>,
    /// Export the ID and only these columns; prefix each with + to add it to the four default columns
    #[arg(long, value_name = "COLUMNS", value_parser = Columns::parse)]
    columns: Option<Columns>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    order: Order,
    /// Write to this file; - is standard output [default: -]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Also read the token of every group from the service, into the file of --token-out
    #[arg(long, requires = "token_out")]
    reveal_tokens: bool,
    /// Write the tokens to this new file (mode 600), one JSON object per line; - is standard output, unless that is a terminal
    #[arg(long, value_name = "FILE", requires = "reveal_tokens")]
    token_out: Option<PathBuf>,
    #[command(flatten)]
    speed: Speed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FileFormat {
    Jsonl,
    Json,
    Csv,
}

impl Run for Export {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("export", &[
            "groupdesk export --format csv --file groups.csv",
            "groupdesk export --columns +note,+labels --file groups.jsonl",
            "groupdesk export --reveal-tokens --token-out tokens.jsonl --file groups.jsonl",
        ], &[array("", &[&EXPORTED]).with_forms(&[
        form::Form::Json,
        form::Form::Jsonl,
        form::Form::Csv,
    ])]),
    ];

    async fn run(mut self, global: &Global) -> Result<Exit, CliError> {
        let is_chosen = self.format.is_some() || form::chosen().is_some() || global.json;
        let (format, file) = self.target(global)?;
        token_file::prepare(self.token_out.as_deref(), file.is_none())?;
        let mut signals = Signals::new()?;
        let session = signals.unless_signalled(Session::open(global)).await?;
        if let Some(file) = &file {
            no_format(file)?;
        }
        let file = file.as_deref().map(linked).transpose()?;
        if let (Some(file), Some(tokens)) = (&file, &self.token_out)
            && place(file) == place(tokens)
        {
            return Err(CliError::Usage(
                "--file and --token-out must be different files; nothing was sent".into(),
            ));
        }
        if let Some(file) = &file {
            may_replace(file, self.force, session.no_input).await?;
        }
        session.say_other_places().await?;
        session.refuse_unknown_key().await?;
        let (filter, order) = (self.filter.filter.as_deref(), &self.order);
        let sends = match self.token_out {
            Some(_) => ListedFor::Sending,
            None => ListedFor::Reading,
        };
        let mut listing =
            Listing::of(&session, sends, filter, order, None, "nothing was saved").await?;
        let columns = self.columns.unwrap_or_default();
        listing.with_annotations = columns.has_annotations();
        let exit = match &self.token_out {
            Some(out) => {
                let pace = self.speed.pace();
                read_tokens(&session, &mut signals, &listing, out, pace).await?
            }
            None => Exit::Done,
        };
        // A signal, an alarm or a refused key ends the export too.
        if !matches!(exit, Exit::Done | Exit::Partly) {
            return Ok(exit);
        }
        let form = (format, columns);
        let count = groups(&session, &mut signals, &listing, form, file.as_deref()).await?;
        if count == 0 {
            session.say_elsewhere().await?;
        }
        if let Some(path) = &file {
            if let Some(remark) = wrong_ending(path, format, is_chosen) {
                output::say(&remark);
            }
            output::say(&format!(
                "exported {} to {}",
                counted(count, "group"),
                path.display()
            ));
        }
        Ok(exit)
    }
}

impl Export {
    /// The format, and the file if there is one. A file after `-o` is how 0.2.0 named it.
    fn target(&mut self, global: &Global) -> Result<(Format, Option<PathBuf>), CliError> {
        let output = global.output.as_ref();
        if self.format.is_some() && matches!(output, Some(Output::Form(_))) {
            let text = "--format and --output both choose the format; use one of them";
            return Err(CliError::Usage(text.into()));
        }
        if let Some(Output::File(file)) = output {
            if self.file.is_some() {
                let text = "--file and a file after -o cannot be combined; use --file";
                return Err(CliError::Usage(text.into()));
            }
            let home = paths::from_home(file, std::env::home_dir());
            let file = home.map_err(|why| CliError::Usage(format!("the path of -o {why}")))?;
            self.file = Some(file);
        }
        let format = match (self.format, form::chosen()) {
            (Some(FileFormat::Csv), _) | (None, Some(form::Form::Csv)) => Format::Csv,
            (Some(FileFormat::Json), _) | (None, Some(form::Form::Json)) => Format::Json,
            (None, None) if global.json => Format::Json,
            (None, None) if is_csv(self.file.as_deref()) => Format::Csv,
            (Some(FileFormat::Jsonl) | None, _) => Format::JsonLines,
        };
        let file = self.file.clone().filter(|path| path != Path::new("-"));
        Ok((format, file))
    }
}

/// Whether a file is CSV by its name.
fn is_csv(file: Option<&Path>) -> bool {
    let ending = file.and_then(Path::extension);
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
}

/// What is to be said of a file whose ending does not fit what is in it.
fn wrong_ending(file: &Path, format: Format, is_chosen: bool) -> Option<String> {
    const OTHERS: [&str; 9] = [
        "tsv", "tab", "xlsx", "xls", "ods", "numbers", "yaml", "yml", "xml",
    ];
    let ending = file.extension()?.to_str()?.to_lowercase();
    let (is_csv, is_other) = (ending == "csv", OTHERS.contains(&ending.as_str()));
    let is_json = ["json", "jsonl", "ndjson"].contains(&ending.as_str());
    let (written, advice) = match format {
        Format::Csv if is_json => ("CSV", "to import the file, name it .csv"),
        Format::Json | Format::JsonLines if is_csv => ("JSON", "to import the file, name it .json"),
        _ if is_other && !is_chosen => {
            ("JSON lines", "to choose the format: -o json, jsonl or csv")
        }
        _ => return None,
    };
    Some(format!("! written as {written}, not as {ending}; {advice}"))
}

/// Forms of other commands, or that may be expected.
const NO_FILES: [&str; 8] = [
    "json", "jsonl", "csv", "tsv", "table", "wide", "name", "yaml",
];

/// Refuses a file with the name of a format, which was probably meant.
fn no_format(file: &Path) -> Result<(), CliError> {
    let Some(name) = file.to_str().filter(|name| NO_FILES.contains(name)) else {
        return Ok(());
    };
    let format = match name {
        "json" | "jsonl" | "csv" => name,
        _ => "json, jsonl or csv",
    };
    Err(CliError::Usage(format!(
        "\"{name}\" is the name of a format; nothing was saved. To choose the format: -o {format}. For a file of this name: --file \
         ./{name}"
    )))
}

/// A file that is there is replaced only on request, and only if it is an export: never a directory, a configuration, a
/// key or tokens.
async fn may_replace(file: &Path, is_forced: bool, no_input: bool) -> Result<(), CliError> {
    if !file.exists() {
        return Ok(());
    }
    let shown = visible(&file.to_string_lossy()).into_owned();
    if !is_export(file) {
        return Err(CliError::Usage(format!(
            "{shown} already exists and is not an export of groups; nothing was saved. Use a new file"
        )));
    }
    if is_forced {
        return Ok(());
    }
    if !confirm::has_person(no_input) {
        return Err(CliError::Usage(format!(
            "{shown} already exists; nothing was saved. To replace it, add --force"
        )));
    }
    confirm::confirm(false, &format!("Replace {shown}?"), Question::YesOrNo).await
}

/// Whether the file begins as an export does, in any of the formats; an empty file counts.
fn is_export(file: &Path) -> bool {
    const BEGINNING: u64 = 4096;
    let mut read = Vec::new();
    let begun = File::open(file).and_then(|file| file.take(BEGINNING).read_to_end(&mut read));
    if begun.is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&read);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let row = text.strip_prefix('[').unwrap_or(text).trim_start();
    let fields = row.strip_prefix('{').map(str::trim_start);
    let is_row = fields.is_some_and(|fields| fields.starts_with("\"user_group_id\""));
    // A file of --token-out has the token behind the ID.
    let behind = fields.and_then(|fields| fields.split("\",\"").nth(1));
    let has_tokens = behind.is_some_and(|behind| behind.starts_with("token\":"));
    text.is_empty()
        || row.starts_with(']')
        || text.starts_with("user_group_id")
        || is_row && !has_tokens
}

/// Resolves symbolic links, so that the file is replaced and not the link to it.
fn linked(path: &Path) -> Result<PathBuf, CliError> {
    let refused = |why: &str| {
        CliError::Usage(format!(
            "cannot write {}: {why}; nothing was saved",
            path.display()
        ))
    };
    if let Some(why) = private_files::reserved(path) {
        return Err(refused(&format!("it {why}")));
    }
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => {
            let path = path.canonicalize();
            let path = path.map_err(|error| refused(&error.to_string()))?;
            match private_files::reserved(&path) {
                Some(why) => Err(refused(&format!("it {why}"))),
                None => Ok(path),
            }
        }
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
                "nothing was saved: {} {}",
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

/// A reader that no longer exists is not an error.
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
    EXPORTED = "exported", "a group as import and apply read it; --format jsonl has one on each line. A field with an unknown value \
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

async fn read_tokens(
    session: &Session,
    signals: &mut Signals,
    listing: &Listing,
    file: &Path,
    pace: RunLimits,
) -> Result<Exit, CliError> {
    session.say_where();
    let operations = &session.operations;
    operations.ready().await?;
    let lines = TokenLines::create(file, operations.directory().fingerprinter())?;
    let mut plan = Refresh::default();
    session
        .each_listed(listing, async |groups| {
            for (group, _) in groups {
                if group.last_seen.is_some() {
                    plan.ids.push(group.id);
                } else {
                    plan.never_seen += 1;
                }
            }
            Ok(true)
        })
        .await?;
    if plan.never_seen > 0 {
        output::alarm(&format!(
            "! skipped {} that {} never seen in the service: reading one could create it",
            counted(plan.never_seen, "group"),
            if plan.never_seen == 1 { "was" } else { "were" }
        ));
    }
    let run = operations.run_refresh(None, plan, pace, false, Some(Arc::new(lines)))?;
    let report = Report {
        file,
        stopped_by: None,
    };
    follow(session, signals, run, report).await
}

struct Report<'f> {
    file: &'f Path,
    /// An alarm, or a failure that every other read would meet too.
    stopped_by: Option<Exit>,
}

impl RunReport for Report<'_> {
    type Of = Reading;

    fn ended(&mut self, _: &Session, progress: &Progress, read: &GroupRead) -> Option<Counts> {
        if let Some(failure) = &read.failure {
            progress.alarm(format!("x \"{}\": {failure}", read.user_group_id));
            let exit = Exit::from(failure.class());
            if matches!(exit, Exit::Key | Exit::Guarded | Exit::Usage) {
                self.stopped_by.get_or_insert(exit);
            }
        }
        if read.not_kept.is_some() {
            self.stopped_by.get_or_insert(Exit::Usage);
        }
        for warning in read.warnings.iter().filter(|warning| warning.is_alarm()) {
            progress.alarm(format!("x \"{}\": {warning}", read.user_group_id));
            self.stopped_by.get_or_insert(Exit::Guarded);
        }
        Some(read.counts)
    }

    fn again(&self) -> Option<String> {
        None
    }

    async fn summary(self, _: &Session, Sum { counts, halt }: Sum<Counts>) -> Summary {
        let kept = counts.read() - counts.alarms();
        let all = counted(counts.planned(), "token");
        let place = self.file.display();
        let text = match kept {
            _ if is_output(self.file) => format!("read {kept} of {all}"),
            0 => format!("read 0 of {all}; {place} was not created"),
            _ => format!("saved {kept} of {all} to {place}"),
        };
        let exit = Exit::from_run(&RunEnd {
            unknown: 0,
            alarms: counts.alarms(),
            // The groups themselves were exported.
            done: usize::from(self.stopped_by.is_none()),
            is_left: kept < counts.planned(),
            first_failure: self.stopped_by,
            halt: halt.as_ref(),
        });
        Summary {
            said: Some(text),
            ..Summary::of(exit)
        }
    }
}
