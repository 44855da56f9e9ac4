//! What `list --watch` and `history --follow` share: they wait for what comes, until somebody ends it or nobody reads any
//! more.

use rustix::event::{PollFd, PollFlags, poll};

use super::prelude::*;
use crate::{
    cli::output::form::chosen,
    operations::{DirectoryError, Feed},
};

/// Minimum time between two looks, so that changes written together are printed together.
const MIN_INTERVAL: Duration = Duration::from_millis(200);

/// Polling interval when nothing announces writes.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Waits before the next attempt.
pub(super) async fn pause() {
    tokio::time::sleep(POLL_INTERVAL).await;
}

/// Waits for the next change.
pub(super) async fn wait(feed: &mut Feed) {
    tokio::time::sleep(MIN_INTERVAL).await;
    if feed.watch.has_events() {
        feed.watch.maybe_written().await;
    } else {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// The connection to a directory. Its loss is reported once, and it is retried.
#[derive(Default)]
pub(super) struct LossReporter {
    is_lost: bool,
}

impl LossReporter {
    pub(super) fn report<T>(
        &mut self,
        seen: Result<T, DirectoryError>,
    ) -> Result<Option<T>, CliError> {
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
pub(super) async fn until_signal(
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
        let session = Session::open(global).await?;
        session.say_other_places().await?;
        session.explained(work(&session).await).await
    };
    tokio::select! {
        biased;
        () = signals.next() => Ok(Exit::Interrupted),
        ended = Box::pin(work) => ended,
        () = output_closed() => Ok(Exit::Done),
    }
}

/// Waits until nobody reads standard output any more; without end if it is a file.
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
