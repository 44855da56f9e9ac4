//! Follows the changes of others in the directory, outside of the event loop: looks when something was written; reports
//! the first change at once and gathers later ones. Idle while nothing is written.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    operations::Feed,
    tui::state::{
        message::{Msg, ProfileIndex},
        outage::OutageReason,
    },
};

/// Changes within this time after a look are reported together.
const GATHER_TIME: Duration = Duration::from_millis(100);
/// Time until the next attempt when the directory cannot be read.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// An interruption that is over by then is not mentioned.
const UNREPORTED_OUTAGE: Duration = Duration::from_secs(2);

/// Stops when dropped.
pub(super) struct FeedTask {
    _task: AbortOnDropHandle<()>,
    wake: Arc<Notify>,
}

impl FeedTask {
    /// `reported` is what the console already says about the directory.
    pub(super) fn begin(
        profile: ProfileIndex,
        feed: Feed,
        reported: Option<OutageReason>,
        news: &mpsc::Sender<Msg>,
    ) -> Self {
        let wake = Arc::new(Notify::new());
        let following = follow(profile, feed, reported, Arc::clone(&wake), news.clone());
        Self {
            _task: AbortOnDropHandle::new(tokio::spawn(following)),
            wake,
        }
    }

    /// The person is active: looks for changes if nothing notifies of them.
    pub(super) fn check_now(&self) {
        self.wake.notify_one();
    }
}

async fn follow(
    profile: ProfileIndex,
    mut feed: Feed,
    mut reported: Option<OutageReason>,
    wake: Arc<Notify>,
    news: mpsc::Sender<Msg>,
) {
    let mut line = feed.connection();
    // Since when reading has failed.
    let mut failing: Option<Instant> = None;
    loop {
        let looked = Instant::now();
        let seen = tokio::select! {
            seen = feed.read_changes() => seen,
            error = line.lost_for(UNREPORTED_OUTAGE), if reported.is_none_or(OutageReason::can_be_read) => Err(error),
        };
        let next = match seen {
            Ok(changes) => {
                failing = None;
                let why = feed
                    .write_refusal()
                    .and_then(|error| OutageReason::of(&error));
                let line = (why != reported).then(|| why.map(|why| (Duration::ZERO, why)));
                reported = why;
                let line = line.map(|line| Msg::DirectoryState(profile, line));
                let changes = changes.map(|changes| Msg::Changed(profile, Box::new(changes)));
                Ok(line.into_iter().chain(changes))
            }
            Err(error) => {
                let since = *failing.get_or_insert(looked);
                let lost_for = since.elapsed().max(if line.is_lost() {
                    UNREPORTED_OUTAGE
                } else {
                    Duration::ZERO
                });
                let why = OutageReason::of(&error);
                let why = why.filter(|why| reported != Some(*why) && lost_for >= UNREPORTED_OUTAGE);
                Err(why.map(|why| (lost_for, why)))
            }
        };
        match next {
            Ok(all) => {
                for msg in all {
                    if news.send(msg).await.is_err() {
                        return;
                    }
                }
            }
            Err(lost) => {
                if let Some(lost) = lost {
                    reported = Some(lost.1);
                    if news
                        .send(Msg::DirectoryState(profile, Some(lost)))
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
                // Each attempt waits for the directory as well.
                sleep(RETRY_INTERVAL).await;
                continue;
            }
        }
        let has_events = feed.has_events();
        tokio::select! {
            () = feed.maybe_written() => {}
            () = wake.notified(), if !has_events => {}
        }
        sleep_until(looked + GATHER_TIME).await;
    }
}
