//! A connection to a server: reopened when it breaks, with several statements per round trip.

use std::{
    collections::HashMap,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, TryStreamExt, pin_mut};
use tokio::{runtime::Runtime, sync::watch, task::JoinHandle, time::timeout};
use tokio_postgres::{Client, Error};

use super::{
    fault::{Failure, POOLED, ServerFault, Then, is_refusal},
    hints::{MIN_INTERVAL, hint},
    server::{LOCK_TIMEOUT, PATIENCE, Server},
};
use crate::db::{Rows, Statement, Value};

/// Ends a transaction so that it takes effect.
pub(super) const COMMIT: &str = "COMMIT";
/// What is left of the patience, when a connection falls silent, for a new connection and for asking there.
const RESERVE: Duration = Duration::from_secs(3);
/// Between attempts to connect: short, so that the patience is used up.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long to wait for the end of a transaction that has no effect.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to wait for a server that was just found to be gone: for something that is read, and for a write that
/// nobody waits for.
const AFTER_LOSS: [Duration; 2] = [Duration::from_secs(2), Duration::from_millis(300)];
/// The same for everything else that a command requests, whose patience is used up: enough to connect to a server that is
/// back.
const OF_COMMAND: Duration = Duration::from_millis(500);
/// How long a server may take to send the next rows of a long list.
const STREAM_TIMEOUT: Duration = Duration::from_mins(1);
/// Rows handed over together, if there are that many.
const ROWS_PER_CHUNK: usize = 256;

/// Whether the server keeps what it has answered, and can hold any text. Then which cluster it belongs to, and its
/// timeline.
const CHECKS: &str = "\
SELECT current_setting('server_version_num')::int >= 140000, getdatabaseencoding() = 'UTF8', \
 current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on', \
 current_setting('groupdesk.session', true) = 'own', \
 (SELECT system_identifier FROM pg_control_system()), \
 ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint";

/// Why a server cannot hold a directory, for each of the first columns of [`CHECKS`].
const FAILED_CHECKS: [&str; 4] = [
    "it is older than PostgreSQL 14",
    "its encoding is not UTF8",
    "it loses confirmed changes in a crash (fsync or full_page_writes is off)",
    POOLED,
];

struct Session {
    client: Client,
    /// Of its server, when it was opened.
    timeline: i64,
    /// The task of the connection; ends together with the client.
    _talk: JoinHandle<()>,
    /// Set when the server has sent a warning since it was last cleared.
    warned: Arc<AtomicBool>,
    prepared: HashMap<String, tokio_postgres::Statement>,
}

pub(in crate::db) struct ServerConnection {
    pub(super) server: Server,
    runtime: Runtime,
    session: Option<Session>,
    /// How often the connection was opened.
    pub(super) opened: u64,
    /// Until when everything that is done for the present work may take.
    until: Instant,
    /// The same, counted from the latest answer of work that takes many exchanges.
    deadline: Instant,
    /// Whether something was committed and not yet announced.
    is_hint_due: bool,
    last_hint: Option<Instant>,
    /// True once nobody makes requests any more.
    is_closing: watch::Receiver<bool>,
}

impl ServerConnection {
    pub(in crate::db) fn new(
        server: Server,
        is_closing: watch::Receiver<bool>,
    ) -> std::io::Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        Ok(Self {
            server,
            runtime: runtime.enable_all().build()?,
            session: None,
            opened: 0,
            until: Instant::now(),
            deadline: Instant::now(),
            is_hint_due: false,
            last_hint: None,
            is_closing,
        })
    }

    pub(super) fn is_up(&self) -> bool {
        self.session.is_some()
    }

    /// Begins another piece of work, requested at `since`. One patience is for all that is done for it: connecting,
    /// sending, asking whether it was committed, and doing it again. While the server is gone it counts from the
    /// request, so that those who wait together also end together.
    pub(in crate::db) fn begin_work(&mut self, since: Instant, writes: bool, awaited: bool) {
        let now = Instant::now();
        // After a loss, an open session says nothing: it was opened before, and its packets may be dropped as well.
        self.until = match self.server.lost_at() {
            None => now + PATIENCE,
            Some(_) if !awaited || *self.is_closing.borrow() => now + AFTER_LOSS[1],
            Some(lost) if since > lost && self.server.is_of_command.load(Ordering::Relaxed) => {
                now + OF_COMMAND
            }
            Some(lost) if since > lost && !writes => now + AFTER_LOSS[0],
            Some(_) => since + PATIENCE,
        };
        self.deadline = self.until;
    }

    /// Whether there is time to do the work again, after it failed in this way.
    pub(in crate::db) fn may_repeat(&mut self, then: Then) -> bool {
        self.deadline = self.until;
        match then {
            Then::GiveUp => false,
            Then::Reconnect => self.has_time(),
            // It may have to wait for a lock.
            Then::Again => self.send_timeout() > LOCK_TIMEOUT,
        }
    }

    /// Work that takes many exchanges: the server has just answered.
    pub(super) fn renew(&mut self) {
        self.deadline = Instant::now() + PATIENCE;
    }

    pub(super) fn has_time(&self) -> bool {
        !self.left().is_zero()
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// How long to wait for an answer, so that there is time to ask for it on another connection.
    fn send_timeout(&self) -> Duration {
        let left = self.left();
        left.saturating_sub(RESERVE).max(left / 2)
    }

    /// Notes that something was committed that others may want to see.
    pub(super) fn note_commit(&mut self) {
        self.is_hint_due = self.server.hints;
    }

    /// Time until the next hint is due; `None` if there is nothing to announce.
    pub(in crate::db) fn hint_due_in(&self) -> Option<Duration> {
        let passed = self.last_hint.map_or(MIN_INTERVAL, |at| at.elapsed());
        self.is_hint_due
            .then(|| MIN_INTERVAL.saturating_sub(passed))
    }

    /// Sends the hint without waiting: its answer is read together with the next ones.
    pub(in crate::db) fn send_hint(&mut self) {
        (self.is_hint_due, self.last_hint) = (false, Some(Instant::now()));
        let Some(session) = &self.session else {
            return;
        };
        let hint = hint(self.server.writer);
        self.runtime.block_on(async {
            let mut sending = pin!(session.client.batch_execute(&hint));
            let sent = futures_util::poll!(sending.as_mut());
            // Let the task of the connection write it.
            if sent.is_pending() {
                tokio::task::yield_now().await;
                tokio::task::yield_now().await;
            }
        });
    }

    pub(super) fn disconnect(&mut self) {
        self.session = None;
    }

    /// Ensures that a session is open, waiting until the deadline. Sending never opens one: it could be the middle of a
    /// transaction.
    pub(super) fn connect(&mut self) -> Result<(), Failure> {
        let session = self.session.as_ref();
        if session.is_some_and(|session| {
            !session.client.is_closed() && !self.server.is_behind(session.timeline)
        }) {
            return Ok(());
        }
        self.session = None;
        let (server, mut pause) = (self.server.clone(), Duration::from_millis(100));
        // Does not count: a person may have to type the password.
        let asked = Instant::now();
        self.runtime.block_on(server.fetch_password())?;
        self.deadline += asked.elapsed();
        self.until += asked.elapsed();
        let (deadline, is_closing) = (self.deadline, self.is_closing.clone());
        let session = self.runtime.block_on(async {
            let left = || deadline.saturating_duration_since(Instant::now());
            let mut given_up = pin!(given_up(is_closing, &server));
            // What the server said, or how a connection broke, last.
            let mut said = None;
            loop {
                // The rest of the patience may be too short for an attempt: then it says nothing about the server.
                let was_short = left() < RESERVE;
                let opened = tokio::select! {
                    opened = open_within(left(), &server) => opened,
                    () = &mut given_up => Err(Some((ServerFault::Unreachable, Then::GiveUp))),
                };
                said = match opened {
                    Ok(session) => return Ok(session),
                    Err(None) if was_short => said,
                    Err(failure) => failure,
                };
                let gives_up = matches!(said, Some((_, Then::GiveUp)));
                if gives_up || left() <= pause {
                    // The deadline has passed.
                    server.note_lost();
                    let (fault, _) = said.unwrap_or_else(timed_out);
                    return Err((fault, Then::GiveUp));
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        })?;
        self.session = Some(session);
        self.server.note_found();
        self.opened += 1;
        Ok(())
    }

    /// Sends `before`, the statements and `after` at once, and receives the answers. The first failure counts; what
    /// follows it was not executed, or else the connection is closed.
    pub(super) fn send(
        &mut self,
        before: Option<&str>,
        statements: &[Statement],
        after: Option<&str>,
    ) -> Result<Vec<Rows>, Failure> {
        self.send_within(self.send_timeout(), before, statements, after)
    }

    /// Ends a transaction that has no effect; if that takes long, by ending the connection.
    pub(super) fn roll_back(&mut self) {
        let rolled_back = self.send_within(ROLLBACK_TIMEOUT, None, &[], Some("ROLLBACK"));
        if rolled_back.is_err() {
            self.disconnect();
        }
    }

    fn send_within(
        &mut self,
        time: Duration,
        before: Option<&str>,
        statements: &[Statement],
        after: Option<&str>,
    ) -> Result<Vec<Rows>, Failure> {
        let Self {
            runtime, session, ..
        } = self;
        let session = session.as_mut().ok_or_else(timed_out)?;
        let warned = Arc::clone(&session.warned);
        warned.store(false, Ordering::SeqCst);
        let sent = runtime
            .block_on(async { timeout(time, exchange(session, before, statements, after)).await });
        // A commit with a warning was not confirmed by the standby as it should have been: ask on a new connection
        // whether it took effect.
        let commits = after.map_or(before.is_none(), |after| after == COMMIT);
        let (failure, is_refused) = match sent {
            Ok(Ok(_)) if commits && warned.load(Ordering::SeqCst) => (timed_out(), false),
            Ok(Ok(rows)) => {
                self.server.note_found();
                return Ok(rows);
            }
            Ok(Err(error)) => (ServerFault::of_request(&error), is_refusal(&error)),
            Err(_) => (timed_out(), false),
        };
        // If the failure was on our side only, the server would still execute what follows, so hang up.
        if failure.1 == Then::Reconnect || after.is_some() && !is_refused {
            self.disconnect();
        }
        Err(failure)
    }

    /// Passes on the rows of one statement as they arrive; `take` returns whether it wants more.
    pub(super) fn stream(
        &mut self,
        before: Option<&str>,
        statement: &Statement,
        take: &mut dyn FnMut(Vec<Value>) -> bool,
    ) -> Result<(), Failure> {
        let (time, left) = (self.send_timeout(), self.left());
        let Self {
            runtime, session, ..
        } = self;
        let session = session.as_mut().ok_or_else(timed_out)?;
        let begun = runtime.block_on(async {
            let prepared = async {
                if let Some(before) = before {
                    session.client.batch_execute(before).await?;
                }
                prepare(session, std::slice::from_ref(statement)).await
            };
            let prepared = timeout(time, prepared).await;
            let begin = async {
                let text = &session.prepared[statement.text.as_ref()];
                let rows = session.client.query_raw(text, &statement.values).await?;
                Ok(Box::pin(rows.ready_chunks(ROWS_PER_CHUNK)))
            };
            match prepared {
                Ok(Ok(())) => timeout(left, begin).await,
                Ok(Err(error)) => Ok(Err(error)),
                Err(late) => Err(late),
            }
        });
        let streamed = || {
            let mut rows = begun
                .map_err(|_| timed_out())?
                .map_err(|error: Error| ServerFault::of_request(&error))?;
            let mut is_wanted = true;
            // Rows that nobody wants any more must still be received: they come before the next answer on this
            // connection.
            loop {
                let next = runtime.block_on(async { timeout(STREAM_TIMEOUT, rows.next()).await });
                let Some(some) = next.map_err(|_| timed_out())? else {
                    return Ok(());
                };
                // Outside the runtime, because the receiver may block.
                for row in some {
                    let row = row
                        .and_then(|row| row_values(&row))
                        .map_err(|error| ServerFault::of_request(&error))?;
                    is_wanted = is_wanted && take(row);
                }
            }
        };
        let streamed = streamed();
        match &streamed {
            Ok(()) => self.renew(),
            Err((_, Then::Reconnect)) => self.session = None,
            Err(_) => {}
        }
        streamed
    }
}

/// The connection no longer answers; nobody waits for what is in progress on it.
fn timed_out() -> Failure {
    (ServerFault::Unreachable, Then::Reconnect)
}

/// Completes soon after the last request was made, if the server is known to be gone: nobody waits for the answers.
async fn given_up(mut is_closing: watch::Receiver<bool>, server: &Server) {
    let is_closing = is_closing.wait_for(|is_closing| *is_closing).await.is_ok();
    if !is_closing || server.lost_at().is_none() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(AFTER_LOSS[1]).await;
}

/// The failure is `None` if the time is over before an answer.
async fn open_within(time: Duration, server: &Server) -> Result<Session, Option<Failure>> {
    let opened = timeout(time, open(server)).await;
    opened.map_or(Err(None), |opened| opened.map_err(Some))
}

async fn open(server: &Server) -> Result<Session, Failure> {
    let (client, talk, warned) = server.connect().await?;
    let (checks, _) = tokio::join!(server.configure(&client, CHECKS), async {
        // Pipelined after the settings. If the schema does not exist yet, this fails, which does not matter.
        match server.on_connect {
            Some(text) => client.batch_execute(text).await.ok(),
            None => None,
        }
    });
    let checks = checks?;
    let check = |column| checks.as_ref().and_then(|row| row.get(column));
    for (column, why) in FAILED_CHECKS.iter().enumerate() {
        if check(column) != Some("t") {
            return Err((ServerFault::Unfit(why), Then::GiveUp));
        }
    }
    let cluster = check(FAILED_CHECKS.len());
    let timeline = check(FAILED_CHECKS.len() + 1);
    let timeline = timeline.and_then(|timeline| timeline.parse().ok());
    if let (Some(cluster), Some(timeline)) = (cluster, timeline) {
        server.check_timeline(cluster, timeline)?;
    }
    Ok(Session {
        client,
        timeline: timeline.unwrap_or(i64::MAX),
        _talk: talk,
        warned,
        prepared: HashMap::new(),
    })
}

/// Prepares the statements that are new to this session, in one round trip.
async fn prepare(session: &mut Session, statements: &[Statement]) -> Result<(), Error> {
    let mut new: Vec<&str> = Vec::new();
    for statement in statements {
        let text = statement.text.as_ref();
        if !session.prepared.contains_key(text) && !new.contains(&text) {
            new.push(text);
        }
    }
    let client = &session.client;
    let prepared = new.iter().map(|text| client.prepare(text));
    let prepared = in_order(prepared.map(|one| Box::pin(one) as Answer<'_, _>)).await?;
    for (text, one) in new.into_iter().zip(prepared) {
        session.prepared.insert(text.to_owned(), one);
    }
    Ok(())
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + 'a>>;

async fn exchange(
    session: &mut Session,
    before: Option<&str>,
    statements: &[Statement],
    after: Option<&str>,
) -> Result<Vec<Rows>, Error> {
    prepare(session, statements).await?;
    let (client, prepared) = (&session.client, &session.prepared);
    let simple = |text| {
        Box::pin(async move {
            client.batch_execute(text).await?;
            Ok(Rows::default())
        }) as Answer<'_, _>
    };
    let mut answers: Vec<Answer<'_, _>> = Vec::with_capacity(statements.len() + 2);
    answers.extend(before.map(simple));
    answers.extend(statements.iter().map(|statement| {
        Box::pin(async move {
            let found = client.query_raw(&prepared[statement.text.as_ref()], &statement.values);
            let found = found.await?;
            pin_mut!(found);
            let mut rows = Vec::new();
            while let Some(row) = found.try_next().await? {
                rows.push(row_values(&row)?);
            }
            let changed = found.rows_affected().unwrap_or_default();
            Ok(Rows {
                rows,
                changed: usize::try_from(changed).unwrap_or(usize::MAX),
            })
        }) as Answer<'_, _>
    }));
    answers.extend(after.map(simple));
    let skipped = usize::from(before.is_some());
    let mut rows = in_order(answers.into_iter()).await?;
    rows.drain(..skipped);
    rows.truncate(statements.len());
    Ok(rows)
}

fn row_values(row: &tokio_postgres::Row) -> Result<Vec<Value>, Error> {
    (0..row.len()).map(|index| row.try_get(index)).collect()
}

/// Starts the futures one after another, which is the order on the connection, and awaits all; none is started after
/// one that could not be sent.
async fn in_order<'a, T>(answers: impl Iterator<Item = Answer<'a, T>>) -> Result<Vec<T>, Error> {
    let mut begun = Vec::with_capacity(answers.size_hint().0);
    for mut answer in answers {
        let polled = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
        begun.push(match polled {
            Poll::Ready(ready) => Ok(ready?),
            Poll::Pending => Err(answer),
        });
    }
    let mut all = Vec::with_capacity(begun.len());
    for one in begun {
        all.push(match one {
            Ok(ready) => ready,
            Err(pending) => pending.await?,
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long the next work of a connection to a lost server may take.
    fn time_after_loss(is_of_command: bool, writes: bool) -> Duration {
        let server = Server::parse("postgres://ana@%2Ftmp/desk", "desk");
        let server = server.unwrap_or_else(|fault| panic!("{fault:?}"));
        let (_makes_requests, is_closing) = watch::channel(false);
        let mut connection = ServerConnection::new(server.clone(), is_closing).expect("a runtime");
        server.set_is_of_command(is_of_command);
        connection.begin_work(Instant::now(), writes, true);
        assert!(connection.left() > PATIENCE / 2, "nothing is lost yet");
        server.note_lost();
        connection.begin_work(Instant::now(), writes, true);
        connection.left()
    }

    #[test]
    fn a_command_that_waited_for_a_lost_server_waits_no_second_time() {
        for writes in [false, true] {
            assert!(time_after_loss(true, writes) <= OF_COMMAND, "{writes}");
            assert!(time_after_loss(false, writes) > OF_COMMAND, "{writes}");
        }
    }
}
