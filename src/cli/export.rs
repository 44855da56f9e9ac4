//! `export`: what the directory knows, as a file that `import` and `apply` read. Tokens only when asked for, from the
//! service, into a file of their own.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
};

use futures_util::StreamExt;

use super::{
    args::{Export, FileFormat, Global},
    bulk::tokens::TokenLines,
    exit::Exit,
    print,
    session::{InFlight, Session},
    signals::Signals,
    stop::Stop,
};
use crate::{
    api::inspect::escape_hidden,
    domain::{
        exchange::{Format, Row},
        group::UserGroupId,
        known::KnownGroup,
        text::visible,
    },
    operations::{Assurance, bulk::Keep},
};

pub(super) async fn run(global: &Global, arguments: Export) -> Result<Exit, Stop> {
    let mut signals = Signals::new()?;
    let session = Session::open(global, InFlight::default())?;
    let format = match arguments.format {
        Some(FileFormat::Csv) => Format::Csv,
        Some(FileFormat::Json) => Format::Json,
        None if session.json => Format::Json,
        Some(FileFormat::Jsonl) | None => Format::JsonLines,
    };
    let exit = match &arguments.token_out {
        Some(file) => {
            let concurrency = arguments.pace.concurrency.into();
            tokens(&session, &mut signals, file, concurrency).await?
        }
        None => Exit::Done,
    };
    let groups = tokio::select! {
        biased;
        () = signals.next() => return Err(Stop::Interrupted { in_flight: false }),
        groups = session.operations.list() => groups?,
    };
    let count = groups.len();
    if let Some(path) = &arguments.output {
        to_file(path, format, groups)
            .map_err(|error| Stop::Usage(format!("cannot write {}: {error}", path.display())))?;
        print::say(&format!("{count} groups are in {}", path.display()));
        return Ok(exit);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    // A terminal must not act on what stands in a name.
    let shown = io::stdout().is_terminal();
    match write(&mut out, format, groups, shown) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Stop::Output(error)),
        _ => Ok(exit),
    }
}

/// Whole or not at all; what the file held before is replaced.
fn to_file(path: &Path, format: Format, groups: Vec<KnownGroup>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    write(&mut BufWriter::new(&mut file), format, groups, false)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn write(
    out: &mut impl Write,
    format: Format,
    groups: Vec<KnownGroup>,
    shown: bool,
) -> io::Result<()> {
    out.write_all(format.head().as_bytes())?;
    for (index, group) in groups.into_iter().enumerate() {
        let text = format.row(&Row::of(group), index == 0);
        let text = match format {
            Format::Csv if shown => format!("{}\n", visible(text.trim_end())),
            Format::Csv => text,
            Format::Json | Format::JsonLines => escape_hidden(&text),
        };
        out.write_all(text.as_bytes())?;
    }
    out.write_all(format.foot().as_bytes())?;
    out.flush()
}

/// Reads the token of every group that the service is known to have. An alarm stops it.
async fn tokens(
    session: &Session,
    signals: &mut Signals,
    file: &Path,
    concurrency: usize,
) -> Result<Exit, Stop> {
    session.say_where();
    let operations = &session.operations;
    operations.ready().await?;
    let lines = TokenLines::create(file, operations.directory().fingerprinter())?;
    let groups = operations.list().await?.into_iter();
    let (seen, unseen): (Vec<_>, Vec<_>) = groups.partition(|group| group.last_seen.is_some());
    if !unseen.is_empty() {
        print::say(&format!(
            "! {} groups were never seen at the service and are left out: reading one could create it",
            unseen.len()
        ));
    }
    let ids: Vec<UserGroupId> = seen.into_iter().map(|group| group.id).collect();
    let (all, mut kept, mut failed) = (ids.len(), 0_usize, 0_usize);
    let mut reads = futures_util::stream::iter(ids)
        .map(|id| async move {
            let read = Box::pin(operations.look_up(&id, Assurance::KnownOnly)).await;
            (id, read)
        })
        .buffer_unordered(concurrency);
    loop {
        let next = tokio::select! {
            biased;
            () = signals.next() => return Err(Stop::Interrupted { in_flight: false }),
            next = reads.next() => next,
        };
        let Some((id, read)) = next else { break };
        match read {
            Ok(done) => {
                if let Some(alarm) = done.warnings.iter().find(|warning| warning.is_alarm()) {
                    return Err(Stop::Guarded(format!(
                        "\"{id}\": {alarm} Nothing further was read"
                    )));
                }
                if done.token.is_none() {
                    failed += 1;
                    print::alarm(&format!(
                        "x \"{id}\": its token did not come; read it again"
                    ));
                    continue;
                }
                lines.keep(&done).map_err(|error| {
                    Stop::Usage(format!("cannot write {}: {error}", file.display()))
                })?;
                kept += 1;
            }
            Err(failure) => {
                failed += 1;
                print::alarm(&format!("x \"{id}\": {failure}"));
                let exit = Exit::of_failure(&failure);
                if matches!(exit, Exit::Key | Exit::Guarded | Exit::Usage) {
                    return Err(failure.into());
                }
            }
        }
    }
    print::say(&format!("{kept} of {all} tokens are in {}", file.display()));
    Ok(if failed > 0 { Exit::Partly } else { Exit::Done })
}
