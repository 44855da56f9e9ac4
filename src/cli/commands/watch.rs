//! `list --watch` and `history --follow`: print what is there, then what comes, until somebody ends it or nobody reads
//! any more.

use std::{collections::BTreeSet, io, time::Duration};

use rustix::event::{PollFd, PollFlags, poll};

use super::groups::{Lines, UNDONE};
use crate::{
    cli::{
        args::{Global, History, List, Order},
        error::CliError,
        input::listing::Listing,
        output::{
            self,
            form::{Form, Items, chosen},
            human, json,
        },
        process::{exit::Exit, signals::Signals},
        session::{InFlight, Session},
    },
    directory::{HistoryFilter, Numbered},
    domain::{group::UserGroupId, history::Entry},
    operations::{DirectoryError, Feed},
};

/// How many entries of the history are printed first.
const FIRST_ENTRIES: u32 = 10;

/// Minimum time between two looks, so that changes written together are printed together.
const MIN_INTERVAL: Duration = Duration::from_millis(200);

/// Polling interval when nothing announces writes.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

pub(crate) async fn list(global: &Global, arguments: List) -> Result<Exit, CliError> {
    until_signal(global, async |session| {
        let from = session.operations.cursor().await?;
        let mut feed = session.operations.feed(from);
        let mut lines = Lines::of(session, arguments.columns, arguments.output).await?;
        let filter = arguments.filter.filter.as_deref();
        let has_annotations = lines.has_annotations;
        let listing = async |order: &Order| {
            let mut listing = Listing::of(session, filter, order, None, UNDONE).await?;
            listing.with_annotations = has_annotations;
            Ok::<_, CliError>(listing)
        };
        let first = listing(&arguments.order).await?;
        lines.all(session, &first).await?;
        let mut reporter = LossReporter::default();
        loop {
            let Some(changes) = reporter.report(feed.read_changes().await)? else {
                tokio::time::sleep(POLL_INTERVAL).await;
                continue;
            };
            // What else the filter depends on may have changed too.
            if changes.as_ref().is_some_and(|changes| changes.are_more) {
                output::say("! too many changes: printing the whole list again");
                lines
                    .all(session, &listing(&arguments.order).await?)
                    .await?;
            } else if let Some(changes) = changes {
                let now = listing(&Order::default()).await?;
                let mut groups = changes.groups;
                now.keep(&mut groups);
                let groups = session.with_annotations(&now, groups).await?;
                if !groups.is_empty()
                    && !output::chunk(&lines.later(&groups, session.operations.now())?)?
                {
                    return Ok(Exit::Done);
                }
            }
            wait(&mut feed).await;
        }
    })
    .await
}

pub(crate) async fn history(global: &Global, arguments: History) -> Result<Exit, CliError> {
    until_signal(global, async |session| {
        let operations = &session.operations;
        let mut feed = operations.history_feed().await?;
        let now = operations.now();
        let wanted = HistoryFilter {
            user_group_id: arguments.id.clone(),
            since: arguments.since.map(|since| since.at(now)),
            by: arguments.by.clone(),
            operations: arguments.operation.clone(),
            ..HistoryFilter::default()
        };
        let filter = arguments.filter.filter.as_deref();
        let limit = arguments.limit.unwrap_or(FIRST_ENTRIES) as usize;
        let of = matching_ids(session, filter).await?;
        let mut last = Vec::new();
        operations
            .each_history(wanted.clone(), async |lines| -> Result<bool, CliError> {
                last.extend(lines.into_iter().filter(|line| is_match(of.as_ref(), line)));
                Ok(last.len() < limit)
            })
            .await?;
        last.truncate(limit);
        last.reverse();
        last.retain(|line| feed.is_new(line.number));
        let place = operations.place_name().await?;
        let mut told = (Items::default(), place);
        let mut goes_on = print_entries(session, &mut told, &last)?;
        let mut reporter = LossReporter::default();
        while goes_on {
            let Some(mut lines) = reporter.report(feed.read_new().await)? else {
                tokio::time::sleep(POLL_INTERVAL).await;
                continue;
            };
            lines.retain(|line| wanted.matches(&line.value));
            let of = matching_ids(session, filter.filter(|_| !lines.is_empty())).await?;
            lines.retain(|line| is_match(of.as_ref(), line));
            goes_on = print_entries(session, &mut told, &lines)?;
            wait(feed.feed()).await;
        }
        Ok(Exit::Done)
    })
    .await
}

/// Prints the entries. Returns whether somebody still reads.
fn print_entries(
    session: &Session,
    (items, place): &mut (Items, Option<String>),
    lines: &[Numbered<Entry>],
) -> Result<bool, CliError> {
    if session.json {
        let lines = lines.iter().map(|line| json::entry(line, place.as_deref()));
        return output::chunk(&items.text(lines)?);
    }
    let lines = lines
        .iter()
        .map(|line| human::history_line(&line.value) + "\n");
    output::chunk(&lines.collect::<String>())
}

/// The groups that match the filter now.
async fn matching_ids(
    session: &Session,
    filter: Option<&str>,
) -> Result<Option<BTreeSet<UserGroupId>>, CliError> {
    if filter.is_none() {
        return Ok(None);
    }
    let listing = Listing::of(session, filter, &Order::default(), None, UNDONE).await?;
    let ids = session.ids_listed(&listing).await?;
    Ok(Some(ids.into_iter().collect()))
}

fn is_match(of: Option<&BTreeSet<UserGroupId>>, line: &Numbered<Entry>) -> bool {
    of.is_none_or(|of| of.contains(&line.value.user_group_id))
}

async fn wait(feed: &mut Feed) {
    tokio::time::sleep(MIN_INTERVAL).await;
    if feed.has_events() {
        feed.maybe_written().await;
    } else {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// The connection to a directory. Its loss is reported once, and it is retried.
#[derive(Default)]
struct LossReporter {
    is_lost: bool,
}

impl LossReporter {
    fn report<T>(&mut self, seen: Result<T, DirectoryError>) -> Result<Option<T>, CliError> {
        match seen {
            Err(error) if error.is_unreachable() => {
                if !std::mem::replace(&mut self.is_lost, true) {
                    output::alarm(&format!("! {error}; retrying"));
                }
                Ok(None)
            }
            Ok(seen) => {
                if std::mem::take(&mut self.is_lost) {
                    output::alarm("! the directory is back");
                }
                Ok(Some(seen))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Runs until a signal comes or nobody reads any more.
async fn until_signal(
    global: &Global,
    work: impl AsyncFnOnce(&Session) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    if chosen() == Some(Form::Json) {
        return Err(CliError::Usage(
            "--watch cannot print one JSON document; use -o jsonl, csv, name or table".into(),
        ));
    }
    let mut signals = Signals::new()?;
    let work = async {
        let session = Session::open(global, InFlight::default())?;
        session.say_other_places().await?;
        work(&session).await
    };
    tokio::select! {
        biased;
        () = signals.next() => Ok(Exit::Interrupted),
        ended = Box::pin(work) => ended,
        () = output_closed() => Ok(Exit::Done),
    }
}

/// Waits until nobody reads standard output any more; for ever if it is a file.
async fn output_closed() {
    let waiting = tokio::task::spawn_blocking(|| {
        let out = io::stdout();
        let mut ends = [PollFd::new(&out, PollFlags::empty())];
        let gone = PollFlags::ERR | PollFlags::HUP;
        poll(&mut ends, None).is_ok_and(|_| ends[0].revents().intersects(gone))
    });
    if !waiting.await.is_ok_and(|is_gone| is_gone) {
        std::future::pending::<()>().await;
    }
}
