//! Reads the token of every group that the service is known to have, and writes the tokens to a file of their own. An
//! alarm stops it, and so do several failures in a row.

use std::{path::Path, time::Duration};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use crate::{
    cli::{
        commands::batch::tokens::TokenLines,
        error::CliError,
        input::listing::Listing,
        output::{self, progress::Progress, token_file::is_output},
        process::{exit::Exit, signals::Signals},
        session::Session,
    },
    domain::{group::UserGroupId, text::counted},
    operations::{
        Done, Failure,
        batch::{Control, RunLimits, TokenSink},
    },
};

type Read = (UserGroupId, Result<Done, Failure>);

pub(super) async fn read(
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
    let (mut seen, mut unseen) = (Vec::new(), 0);
    session
        .each_listed(listing, async |groups| {
            for (group, _) in groups {
                if group.last_seen.is_some() {
                    seen.push(group.id);
                } else {
                    unseen += 1;
                }
            }
            Ok(true)
        })
        .await?;
    if unseen > 0 {
        output::alarm(&format!(
            "! skipped {} that {} never seen in the service: reading one could create it",
            counted(unseen, "group"),
            if unseen == 1 { "was" } else { "were" }
        ));
    }
    let mut ids = seen.into_iter();
    let all = ids.len();
    let (mut kept, mut failed, mut in_a_row) = (0_usize, 0_usize, 0_usize);
    let control = Control::default();
    let progress = Progress::start(all);
    let mut reads: FuturesUnordered<BoxFuture<'_, Read>> = FuturesUnordered::new();
    let mut starts = pace.pace();
    let held = |wait: Duration| progress.held(wait);
    let stopped = loop {
        let wants = ids.len() > 0 && reads.len() < pace.concurrency.max(1);
        if !wants && reads.is_empty() {
            break None;
        }
        let (id, read) = tokio::select! {
            biased;
            () = signals.next() => break Some(CliError::Interrupted { in_flight: false }),
            Some(read) = reads.next(), if !reads.is_empty() => read,
            may = control.may_begin(starts.next_start()), if wants => {
                if may && let Some(id) = ids.next() {
                    starts.begun();
                    let control = &control;
                    let read = async move {
                        let read = operations.read_with_retries(&id, control, held).await;
                        (id, read)
                    };
                    reads.push(read.boxed());
                }
                continue;
            }
        };
        let done = match read {
            Ok(done) => done,
            Err(failure) => {
                failed += 1;
                in_a_row += 1;
                progress.alarm(format!("x \"{id}\": {failure}"));
                let exit = Exit::from_failure(&failure);
                if matches!(exit, Exit::Key | Exit::Guarded | Exit::Usage) {
                    break Some(failure.into());
                }
                if in_a_row == pace.stop_after {
                    progress.alarm(format!("! {in_a_row} failures in a row"));
                    break None;
                }
                continue;
            }
        };
        in_a_row = 0;
        if let Some(alarm) = done.warnings.iter().find(|warning| warning.is_alarm()) {
            break Some(CliError::Guarded(format!(
                "\"{id}\": {alarm} Nothing further was read"
            )));
        }
        if done.token.is_none() {
            failed += 1;
            progress.alarm(format!(
                "x \"{id}\": the response has no token; read it again"
            ));
        } else if let Err(error) = lines.keep(&done) {
            let place = file.display();
            break Some(CliError::Usage(format!("cannot write {place}: {error}")));
        } else {
            kept += 1;
        }
        progress.counts(kept + failed, &format!("{kept} read, {failed} failed"));
    };
    drop(reads);
    let place = file.display();
    progress.say(match kept {
        _ if is_output(file) => format!("read {kept} of {}", counted(all, "token")),
        0 => format!(
            "read 0 of {}; {place} was not created",
            counted(all, "token")
        ),
        _ => format!("saved {kept} of {} to {place}", counted(all, "token")),
    });
    let ended = progress.end(Exit::all(kept == all)).await;
    match stopped {
        Some(stop) => Err(stop),
        None => ended,
    }
}
