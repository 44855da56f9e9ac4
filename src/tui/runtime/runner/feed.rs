//! Follows what others change in the directory, beside the loop: a look when something was written, the first at once,
//! later ones gathered. Nothing written, nothing done.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    operations::Feed,
    tui::state::message::{Msg, ProfileIndex},
};

/// What is written within this time after a look is told together.
const GATHERED: Duration = Duration::from_millis(100);
/// Until the next try, where the directory cannot be read; as often as that in a row.
const AGAIN: Duration = Duration::from_secs(1);
const TRIES: usize = 5;

/// Ends when it is dropped.
pub(super) struct Following {
    _task: AbortOnDropHandle<()>,
    looks: Arc<Notify>,
}

impl Following {
    pub(super) fn begin(profile: ProfileIndex, feed: Feed, news: &mpsc::Sender<Msg>) -> Self {
        let looks = Arc::new(Notify::new());
        let following = follow(profile, feed, Arc::clone(&looks), news.clone());
        Self {
            _task: AbortOnDropHandle::new(tokio::spawn(following)),
            looks,
        }
    }

    /// The person is there: looks, where nobody says when something is written.
    pub(super) fn look(&self) {
        self.looks.notify_one();
    }
}

async fn follow(
    profile: ProfileIndex,
    mut feed: Feed,
    looks: Arc<Notify>,
    news: mpsc::Sender<Msg>,
) {
    let mut failed = 0;
    loop {
        let looked = Instant::now();
        match feed.look().await {
            Ok(Some(changes)) => {
                let changed = Msg::Changed(profile, Box::new(changes));
                if news.send(changed).await.is_err() {
                    return;
                }
            }
            // Whoever asks for something is told why. A long commit of another process ends.
            Err(_) if failed < TRIES => {
                failed += 1;
                sleep(AGAIN).await;
                continue;
            }
            Ok(None) | Err(_) => {}
        }
        let is_told = feed.has_events();
        tokio::select! {
            () = feed.stirred() => {}
            () = looks.notified(), if !is_told => {}
        }
        failed = 0;
        sleep_until(looked + GATHERED).await;
    }
}
