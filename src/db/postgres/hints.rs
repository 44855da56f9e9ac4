//! Writers notify watchers with NOTIFY hints. A hint only says that it is worth looking, and decides nothing. It is
//! sent after the commit, in a transaction of its own: within the same one, the server would serialize all commits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_postgres::Client;
use tokio_util::task::AbortOnDropHandle;

use super::{
    Failure, ServerFault, Then,
    server::{PATIENCE, Server},
};

/// Minimum interval between two hints of one console; the last one is always sent.
pub(super) const MIN_INTERVAL: Duration = Duration::from_millis(50);
/// Interval at which watchers look in any case, also if hints do not arrive.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
const POLL_INTERVAL_UNHEARD: Duration = Duration::from_secs(1);
/// How long to wait for one's own test hint.
const OWN_HINT_TIMEOUT: Duration = Duration::from_secs(2);
/// First and maximum pause before reconnecting; doubled each time.
const RECONNECT_PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Looks without hints before the next attempt, if the server refused the connection.
const POLLS_AFTER_REFUSAL: usize = 60;

/// The channel name is unique to this directory.
const CHANNEL: &str =
    "SELECT 'groupdesk_' || left(replace(instance::text, '-', ''), 16) FROM installation";

/// Announces that this writer has written. Watchers that miss it look at regular intervals anyway.
pub(super) fn hint(writer: i64) -> String {
    format!(
        "SELECT set_config('synchronous_commit', 'off', true), \
         pg_notify('groupdesk_' || left(replace(instance::text, '-', ''), 16), '{writer}') FROM installation"
    )
}

/// Receives hints on a connection of its own as long as it lives.
pub(crate) struct Hints {
    hint_received: Arc<Notify>,
    /// Why there is no connection; `None` while there is one, and before the first attempt.
    down: watch::Receiver<Option<ServerFault>>,
    _task: AbortOnDropHandle<()>,
}

impl Hints {
    /// Must be called inside a Tokio runtime.
    pub(crate) fn of(server: Server) -> Self {
        let hint_received = Arc::new(Notify::new());
        let (down, is_down) = watch::channel(None);
        let listening = listen(server, Arc::clone(&hint_received), down);
        Self {
            hint_received,
            down: is_down,
            _task: AbortOnDropHandle::new(tokio::spawn(listening)),
        }
    }

    /// Waits until something may have been written.
    pub(crate) async fn next(&self) {
        self.hint_received.notified().await;
    }

    /// Reports changes of whether, and why, there is no connection.
    pub(crate) fn down(&self) -> watch::Receiver<Option<ServerFault>> {
        self.down.clone()
    }
}

async fn listen(
    server: Server,
    hint_received: Arc<Notify>,
    down: watch::Sender<Option<ServerFault>>,
) {
    let mut pause = RECONNECT_PAUSE.0;
    loop {
        let mut is_up = false;
        let ended = listen_once(&server, &hint_received, &down, &mut is_up).await;
        let fault = match &ended {
            Ok(()) => ServerFault::Unreachable,
            Err((fault, _)) => fault.clone(),
        };
        down.send_replace(Some(fault));
        // Hints may have been missed while there was no connection.
        hint_received.notify_one();
        pause = if is_up {
            RECONNECT_PAUSE.0
        } else {
            (pause * 2).min(RECONNECT_PAUSE.1)
        };
        // Retrying a refused password quickly could lock the account.
        let is_refused = matches!(ended, Err((_, Then::GiveUp)));
        if !is_refused {
            sleep(pause).await;
            continue;
        }
        for _ in 0..POLLS_AFTER_REFUSAL {
            sleep(POLL_INTERVAL).await;
            hint_received.notify_one();
        }
    }
}

/// Listens until the connection breaks.
async fn listen_once(
    server: &Server,
    hint_received: &Arc<Notify>,
    down: &watch::Sender<Option<ServerFault>>,
    is_up: &mut bool,
) -> Result<(), Failure> {
    let own = server.writer.to_string();
    // The payload differs from the writer's own hints, which are ignored.
    let test = format!("?{own}");
    let is_own_hint_received = Arc::new(AtomicBool::new(false));
    let hearing = {
        let (hint_received, is_own_hint_received, test) = (
            Arc::clone(hint_received),
            Arc::clone(&is_own_hint_received),
            test.clone(),
        );
        move |payload: &str| {
            if payload == test {
                is_own_hint_received.store(true, Ordering::SeqCst);
            } else if payload != own && !payload.starts_with('?') {
                hint_received.notify_one();
            }
        }
    };
    server.fetch_password().await?;
    let listening = timeout(PATIENCE, subscribe(server, hearing, &test)).await;
    let silent = (ServerFault::Unreachable, Then::Reconnect);
    let (_client, mut talk) = listening.map_err(|_| silent)??;
    *is_up = true;
    down.send_replace(None);
    hint_received.notify_one();
    let mut every = OWN_HINT_TIMEOUT;
    loop {
        tokio::select! {
            _ = &mut talk => return Ok(()),
            () = sleep(every) => hint_received.notify_one(),
        }
        every = if is_own_hint_received.load(Ordering::SeqCst) {
            POLL_INTERVAL
        } else {
            POLL_INTERVAL_UNHEARD
        };
    }
}

/// Begins to listen, and sends a test hint to itself.
async fn subscribe(
    server: &Server,
    hearing: impl FnMut(&str) + Send + 'static,
    test: &str,
) -> Result<(Client, JoinHandle<()>), Failure> {
    let (client, talk, _) = server.connect_with_listener(hearing).await?;
    let failed = |error| ServerFault::of_request(&error);
    let row = server.configure(&client, CHANNEL).await?;
    let channel = row.as_ref().and_then(|row| row.get(0));
    // Sixteen hex digits need no quoting.
    let channel = channel.unwrap_or_default();
    let listen = format!("LISTEN {channel}; NOTIFY {channel}, '{test}'");
    client.batch_execute(&listen).await.map_err(failed)?;
    Ok((client, talk))
}
