//! Sends rows, so many at the same time, and tells how each ended. A signal stops what is not begun; what is in flight is
//! finished. Alarms, a refused key, and three failures in a row stop it too.

use std::{
    collections::{HashSet, VecDeque},
    fmt::Write,
};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use serde_json::json;

use super::checked::{Checked, line, piece};
use crate::{
    cli::{exit::Exit, print, session::Session, signals::Signals, stop::Stop},
    domain::{exchange::Row, group::UserGroupId, text::visible},
    operations::{Import, RowEnd, Sending},
};

/// Failures in a row after which the next would fail too.
const STOP_AFTER: usize = 3;

pub(in crate::cli) struct Job {
    pub(in crate::cli) sending: Sending,
    pub(in crate::cli) concurrency: usize,
    /// The journal, where there is one.
    pub(in crate::cli) import: Option<Import>,
}

type Ended = (usize, UserGroupId, RowEnd);

/// How many rows came to what; with `done_before` and those not started they are all.
#[derive(Default)]
struct Counts {
    created: usize,
    existed: usize,
    updated: usize,
    unchanged: usize,
    failed: usize,
    unknown: usize,
    done_before: usize,
}

impl Counts {
    fn count(&mut self, end: &RowEnd) {
        let place = match (end, end.outcome()) {
            _ if end.is_unknown() => &mut self.unknown,
            (RowEnd::Done { .. }, "created") => &mut self.created,
            (RowEnd::Done { .. }, "existed") => &mut self.existed,
            (RowEnd::Done { .. }, "updated") => &mut self.updated,
            (RowEnd::Done { .. }, "unchanged") => &mut self.unchanged,
            _ => &mut self.failed,
        };
        *place += 1;
    }

    fn done(&self) -> usize {
        self.created + self.existed + self.updated + self.unchanged + self.done_before
    }

    fn ended(&self) -> usize {
        self.done() + self.failed + self.unknown
    }
}

#[derive(Default)]
struct Run {
    counts: Counts,
    in_a_row: usize,
    stopped: Option<String>,
    interrupted: bool,
    first_failure: Option<Exit>,
}

pub(in crate::cli) async fn run(
    session: &Session,
    signals: &mut Signals,
    checked: &Checked,
    job: Job,
) -> Result<Exit, Stop> {
    let done: HashSet<usize> = job.import.iter().flat_map(|i| i.done.clone()).collect();
    let import = job.import.as_ref().map(|import| import.id);
    let mut rows = checked.read()?;
    let mut waiting: VecDeque<(usize, Row)> = VecDeque::new();
    let mut is_all = false;
    let mut flying: FuturesUnordered<BoxFuture<'_, Ended>> = FuturesUnordered::new();
    let mut run = Run::default();
    loop {
        while run.stopped.is_none() && flying.len() < job.concurrency {
            let Some((number, row)) = waiting.pop_front() else {
                break;
            };
            if done.contains(&number) {
                run.counts.done_before += 1;
                continue;
            }
            let place = import.map(|import| (import, number));
            let sent = async move {
                let end = session.operations.send_row(place, &row, job.sending).await;
                (number, row.id, end)
            };
            flying.push(sent.boxed());
        }
        let is_over = run.stopped.is_some() || is_all && waiting.is_empty();
        if is_over && flying.is_empty() {
            break;
        }
        tokio::select! {
            biased;
            Some(ended) = flying.next(), if !flying.is_empty() => run.ended(session, ended)?,
            () = signals.next() => {
                if run.interrupted {
                    return Err(Stop::Interrupted { in_flight: true });
                }
                run.interrupted = true;
                run.stopped = Some("interrupted".into());
                print::alarm("finishing what is in flight; Ctrl-C again leaves");
            }
            next = rows.recv(), if waiting.is_empty() && !is_all && run.stopped.is_none() => match next {
                Some(next) => waiting.extend(piece(next)?),
                None => is_all = true,
            },
        }
    }
    let not_started = checked.rows - run.counts.ended();
    if let Some(import) = import
        && run.counts.done() == checked.rows
    {
        session.operations.end_import(import).await?;
    }
    run.say_sum(session, checked.rows, not_started)?;
    Ok(run.exit(not_started))
}

impl Run {
    fn ended(&mut self, session: &Session, (number, id, end): Ended) -> Result<(), Stop> {
        self.counts.count(&end);
        let failure = match &end {
            RowEnd::Done { .. } => end.is_alarm().then_some(Exit::Guarded),
            RowEnd::NotThere => Some(Exit::Guarded),
            RowEnd::Failed(failure) => Some(Exit::of_failure(failure)),
        };
        self.in_a_row = match (&failure, &end) {
            // It says nothing of the next row.
            (_, RowEnd::NotThere) => self.in_a_row,
            (Some(_), _) => self.in_a_row + 1,
            (None, _) => 0,
        };
        if end.is_alarm() {
            self.stopped.get_or_insert_with(|| {
                format!("stopped at row {number}: the next could fail the same")
            });
        } else if self.in_a_row >= STOP_AFTER {
            self.stopped
                .get_or_insert_with(|| format!("{STOP_AFTER} failures in a row"));
        }
        if self.first_failure.is_none() {
            self.first_failure = failure;
        }
        tell(session, number, &id, &end)
    }

    fn say_sum(&self, session: &Session, rows: usize, not_started: usize) -> Result<(), Stop> {
        let counts = &self.counts;
        let sum = [
            ("created", counts.created),
            ("existed", counts.existed),
            ("updated", counts.updated),
            ("unchanged", counts.unchanged),
            ("failed", counts.failed),
            ("unknown", counts.unknown),
            ("done_before", counts.done_before),
            ("not_started", not_started),
        ];
        if not_started + counts.failed + counts.unknown > 0 {
            print::say(
                "the same command again goes on with what is not done; nothing that is done is sent twice",
            );
        }
        if session.json {
            let mut value = json!({"rows": rows});
            for (name, count) in sum {
                value[name] = count.into();
            }
            value["stopped"] = json!(self.stopped);
            return line(&value);
        }
        if let Some(stopped) = &self.stopped {
            print::alarm(&format!("! {stopped}"));
        }
        let parts: Vec<_> = sum
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
            .collect();
        print::result(&format!("{}; {rows} rows", parts.join(", ")))
    }

    fn exit(&self, not_started: usize) -> Exit {
        if self.interrupted {
            return Exit::Interrupted;
        }
        let counts = &self.counts;
        match self.first_failure {
            _ if counts.unknown > 0 => Exit::Unknown,
            Some(first) if counts.done() == 0 => first,
            Some(_) => Exit::Partly,
            None if not_started > 0 => Exit::Partly,
            None => Exit::Done,
        }
    }
}

fn tell(session: &Session, number: usize, id: &UserGroupId, end: &RowEnd) -> Result<(), Stop> {
    let (note, warnings): (Option<String>, Vec<String>) = match end {
        RowEnd::Done { warnings, .. } => (None, warnings.iter().map(ToString::to_string).collect()),
        RowEnd::NotThere => (
            Some("the service is not known to have it; nothing was sent; --create makes it".into()),
            Vec::new(),
        ),
        RowEnd::Failed(failure) => (Some(failure.to_string()), Vec::new()),
    };
    if session.json {
        return line(&json!({
            "row": number,
            "user_group_id": id.as_str(),
            "outcome": if end.is_unknown() { "unknown" } else { end.outcome() },
            "note": note,
            "warnings": warnings,
        }));
    }
    if warnings.is_empty() && end.outcome() == "unchanged" {
        return Ok(());
    }
    let mut text = format!(
        "{} {}",
        visible(id.as_str()),
        end.outcome().replace('_', " ")
    );
    if let Some(note) = &note {
        write!(text, "\n  x {}", visible(note)).expect("a String takes it");
    }
    for warning in &warnings {
        write!(text, "\n  ! {}", visible(warning)).expect("a String takes it");
    }
    print::result(&text)
}
