//! Who has written says so, and who watches hears it: a notification is a hint to look, and decides nothing. It leaves behind
//! the commit, in a transaction of its own: within one, the server would do all commits one after another.

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
use tokio_postgres::{Client, SimpleQueryMessage, config::TargetSessionAttrs};
use tokio_util::task::AbortOnDropHandle;

use super::{
    Failure, ServerFault, Then,
    server::{PATIENCE, SETTINGS, Server},
};

/// Hints of one console are so far apart; the last one always goes out.
pub(super) const APART: Duration = Duration::from_millis(50);
/// One looks so often in any case, and so often where hints do not arrive.
const IN_ANY_CASE: Duration = Duration::from_secs(5);
const UNHEARD: Duration = Duration::from_secs(1);
/// A hint to oneself is waited for as long.
const OWN: Duration = Duration::from_secs(2);
/// Until a line is made again; doubled each time.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Looks without hints until the next try, where the server says no.
const REFUSED: usize = 60;
/// The same, a second apart, where there is only a standby: nobody can listen there.
const STANDBY: usize = 5;

/// The channel has the name of this very directory.
const CHANNEL: &str =
    "SELECT 'groupdesk_' || left(replace(instance::text, '-', ''), 16) FROM installation";

/// Says that this writer has written. Who misses it looks all the same.
pub(super) fn hint(writer: i64) -> String {
    format!(
        "SELECT set_config('synchronous_commit', 'off', true), \
         pg_notify('groupdesk_' || left(replace(instance::text, '-', ''), 16), '{writer}') FROM installation"
    )
}

/// Hears hints on a line of its own as long as it lives.
pub(crate) struct Hints {
    heard: Arc<Notify>,
    /// Why there is no line; `None` while there is one, and before the first was made.
    down: watch::Receiver<Option<ServerFault>>,
    _task: AbortOnDropHandle<()>,
}

impl Hints {
    /// Inside a runtime.
    pub(crate) fn of(server: Server) -> Self {
        let heard = Arc::new(Notify::new());
        let (down, is_down) = watch::channel(None);
        let listening = listen(server, Arc::clone(&heard), down);
        Self {
            heard,
            down: is_down,
            _task: AbortOnDropHandle::new(tokio::spawn(listening)),
        }
    }

    /// Waits until something may have been written.
    pub(crate) async fn next(&self) {
        self.heard.notified().await;
    }

    /// Why there is no line, whenever that changes.
    pub(crate) fn down(&self) -> watch::Receiver<Option<ServerFault>> {
        self.down.clone()
    }
}

async fn listen(server: Server, heard: Arc<Notify>, down: watch::Sender<Option<ServerFault>>) {
    let mut pause = AGAIN.0;
    loop {
        let mut is_up = false;
        let ended = hear(&server, &heard, &down, &mut is_up).await;
        if matches!(ended, Err((_, Then::Reconnect))) && !is_up && can_be_read(&server).await {
            down.send_replace(None);
            for _ in 0..STANDBY {
                heard.notify_one();
                sleep(UNHEARD).await;
            }
            continue;
        }
        let fault = match &ended {
            Ok(()) => ServerFault::Unreachable,
            Err((fault, _)) => fault.clone(),
        };
        down.send_replace(Some(fault));
        // What was said meanwhile.
        heard.notify_one();
        pause = if is_up {
            AGAIN.0
        } else {
            (pause * 2).min(AGAIN.1)
        };
        // A password that is refused again and again locks somebody out.
        let is_refused = matches!(ended, Err((_, Then::GiveUp)));
        if !is_refused {
            sleep(pause).await;
            continue;
        }
        for _ in 0..REFUSED {
            sleep(IN_ANY_CASE).await;
            heard.notify_one();
        }
    }
}

async fn can_be_read(server: &Server) -> bool {
    let connected = timeout(PATIENCE, server.connect(TargetSessionAttrs::Any)).await;
    matches!(connected, Ok(Ok(_)))
}

/// Until the line breaks.
async fn hear(
    server: &Server,
    heard: &Arc<Notify>,
    down: &watch::Sender<Option<ServerFault>>,
    is_up: &mut bool,
) -> Result<(), Failure> {
    let own = server.writer().to_string();
    // A number of its own: the writer's is nothing new.
    let test = format!("?{own}");
    let is_heard = Arc::new(AtomicBool::new(false));
    let hearing = {
        let (heard, is_heard, test) = (Arc::clone(heard), Arc::clone(&is_heard), test.clone());
        move |said: &str| {
            if said == test {
                is_heard.store(true, Ordering::SeqCst);
            } else if said != own && !said.starts_with('?') {
                heard.notify_one();
            }
        }
    };
    server.know_password().await?;
    let listening = timeout(PATIENCE, subscribe(server, hearing, &test)).await;
    let silent = (ServerFault::Unreachable, Then::Reconnect);
    let (_client, mut talk) = listening.map_err(|_| silent)??;
    *is_up = true;
    down.send_replace(None);
    heard.notify_one();
    let mut every = OWN;
    loop {
        tokio::select! {
            _ = &mut talk => return Ok(()),
            () = sleep(every) => heard.notify_one(),
        }
        every = if is_heard.load(Ordering::SeqCst) {
            IN_ANY_CASE
        } else {
            UNHEARD
        };
    }
}

/// Begins to listen, and says something to oneself.
async fn subscribe(
    server: &Server,
    hearing: impl FnMut(&str) + Send + 'static,
    test: &str,
) -> Result<(Client, JoinHandle<()>), Failure> {
    let kind = TargetSessionAttrs::ReadWrite;
    let (client, talk, _) = server.connect_hearing(kind, hearing).await?;
    let failed = |error| ServerFault::of(&error);
    let settings = format!("{SETTINGS}\"{}\", pg_temp; {CHANNEL}", server.schema());
    let told = client.simple_query(&settings).await.map_err(failed)?;
    let channel = told.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    // Sixteen digits: nothing to be quoted.
    let channel = channel.unwrap_or_default();
    let listen = format!("LISTEN {channel}; NOTIFY {channel}, '{test}'");
    client.batch_execute(&listen).await.map_err(failed)?;
    Ok((client, talk))
}
