//! `import`: rows of a file into the directory, with nothing sent; with `--create` and `--update` to the service too,
//! after a confirmation, and going on where an earlier run of the same file was interrupted.

pub(super) mod checked;
pub(super) mod plan;
pub(super) mod send;

use std::collections::HashMap;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    args::{Global, Import as Arguments},
    ask::{self, Question},
    exit::Exit,
    print,
    session::{InFlight, Session},
    signals::Signals,
    stop::Stop,
};
use crate::{
    domain::{
        exchange::Row,
        group::UserGroupId,
        known::{KnownGroup, Taken},
    },
    operations::{Import, Sending},
};
use checked::{Checked, line, piece};
use send::Job;

pub(super) async fn run(global: &Global, arguments: Arguments) -> Result<Exit, Stop> {
    let mut signals = Signals::new()?;
    let session = Session::open(global, InFlight::default())?;
    let sending = Sending {
        create: arguments.create,
        update: arguments.update,
        only_differences: false,
    };
    let sends = sending.create || sending.update;
    if sends {
        session.operations.sending_permitted(sending)?;
        if !arguments.mutation.dry_run {
            ask::can_be_asked(&session, arguments.mutation.yes)?;
        }
        session.say_where();
    }
    let prepared = async {
        let sources = vec![arguments.file.clone()];
        let Some(checked) = Checked::of(sources, session.json).await? else {
            return Ok(Err(Exit::Usage));
        };
        if !sends {
            let dry_run = arguments.mutation.dry_run;
            return take_in(&session, &checked, dry_run).await.map(Err);
        }
        if arguments.mutation.dry_run {
            let plan = plan::tell(&session, &checked, sending, |_| {}).await?;
            plan::say_sum(&session, &checked, plan)?;
            return Ok(Err(Exit::Done));
        }
        let import = begin(&session, &checked, sending, arguments.again).await?;
        let left = checked.rows - import.done.len();
        if left > 0 {
            session.operations.ready().await?;
            let words = format!("import {left} in {}", session.operations.profile().name);
            let what = "Each row is sent; no group can be deleted again.";
            ask::confirm(arguments.mutation.yes, what, Question::TypeWords(&words)).await?;
        }
        Ok(Ok((checked, import)))
    };
    let prepared: Result<_, Exit> = tokio::select! {
        biased;
        // Nothing is sent before this is over, and what was taken in may be taken in again.
        () = signals.next() => return Err(Stop::Interrupted { in_flight: false }),
        prepared = Box::pin(prepared) => prepared?,
    };
    let (checked, import) = match prepared {
        Ok(ready) => ready,
        Err(exit) => return Ok(exit),
    };
    let job = Job {
        sending,
        concurrency: arguments.pace.concurrency.into(),
        import: Some(import),
    };
    send::run(&session, &mut signals, &checked, job).await
}

/// The journal of this file and of what is asked for.
async fn begin(
    session: &Session,
    checked: &Checked,
    sending: Sending,
    again: bool,
) -> Result<Import, Stop> {
    let asked = [u8::from(sending.create), u8::from(sending.update)];
    let digest = Sha256::new().chain_update(asked);
    let digest: [u8; 32] = digest.chain_update(checked.digest).finalize().into();
    let operations = &session.operations;
    let mut import = operations.begin_import(digest).await?;
    if again && !import.done.is_empty() {
        operations.end_import(import.id).await?;
        import = operations.begin_import(digest).await?;
    }
    if !import.done.is_empty() {
        print::context(&format!(
            "going on with the import begun {:.0} by {}: {} of {} rows are done; --again sends all",
            import.started_at,
            import.by,
            import.done.len(),
            checked.rows
        ));
    }
    Ok(import)
}

/// How many rows came to what.
#[derive(Default)]
struct Tally {
    added: usize,
    filled: usize,
    kept: usize,
    unchanged: usize,
}

impl Tally {
    fn count(&mut self, taken: Taken) {
        match taken {
            Taken::Added => self.added += 1,
            Taken::Filled => self.filled += 1,
            Taken::Kept => self.kept += 1,
            Taken::Unchanged => self.unchanged += 1,
        }
    }
}

/// Into the directory; nothing is sent.
async fn take_in(session: &Session, checked: &Checked, dry_run: bool) -> Result<Exit, Stop> {
    let operations = &session.operations;
    let known = if dry_run {
        let groups = operations.list().await?.into_iter();
        Some(groups.map(|group| (group.id.clone(), group)).collect())
    } else {
        None
    };
    let mut rows = checked.read()?;
    let mut tally = Tally::default();
    while let Some(next) = rows.recv().await {
        let (numbers, rows): (Vec<_>, Vec<_>) = piece(next)?.into_iter().unzip();
        let ids: Vec<_> = rows.iter().map(|row| row.id.clone()).collect();
        let taken = match &known {
            Some(known) => rows.iter().map(|row| would_take(known, row)).collect(),
            None => operations.import(rows).await?,
        };
        for ((number, id), taken) in numbers.into_iter().zip(ids).zip(taken) {
            tally.count(taken);
            if session.json {
                line(&json!({
                    "row": number,
                    "user_group_id": id.as_str(),
                    "outcome": taken.as_str(),
                }))?;
            } else if taken == Taken::Kept {
                print::say(&format!(
                    "! row {number}: \"{id}\" differs from what the service is known to have; that stays"
                ));
            }
        }
    }
    say_tally(session, &tally, checked.rows, dry_run)?;
    Ok(Exit::Done)
}

fn would_take(known: &HashMap<UserGroupId, KnownGroup>, row: &Row) -> Taken {
    known.get(&row.id).map_or(Taken::Added, |group| {
        let mut group = group.clone();
        group.import(&row.said, jiff::Timestamp::UNIX_EPOCH, "")
    })
}

fn say_tally(session: &Session, tally: &Tally, rows: usize, dry_run: bool) -> Result<(), Stop> {
    let Tally {
        added,
        filled,
        kept,
        unchanged,
    } = tally;
    if session.json {
        return line(&json!({
            "rows": rows,
            "added": added,
            "filled": filled,
            "kept": kept,
            "unchanged": unchanged,
            "dry_run": dry_run,
        }));
    }
    let profile = &session.operations.profile().name;
    let done = if dry_run { "would be" } else { "were" };
    print::result(&format!(
        "{rows} rows for the directory of {profile}; nothing was sent, and these {done}\n\
         added      {added:>7}  ids that were not known here\n\
         filled     {filled:>7}  gaps in what was known\n\
         kept       {kept:>7}  what the service is known to have differs, and stays\n\
         unchanged  {unchanged:>7}"
    ))
}
