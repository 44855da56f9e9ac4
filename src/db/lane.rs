//! A lane executes requests on its own connection to a server, in the order in which they are made. A request that
//! fails because of a concurrent change is executed again.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use super::{
    Access, Fault, Tx, Work,
    postgres::{Failure, ServerConnection, ServerFault, ServerTransaction},
};

/// How often one piece of work is attempted.
const TRIES: usize = 5;

/// Executes work until all senders are gone.
pub(super) fn serve<E: From<Fault>>(
    mut connection: ServerConnection,
    queue: &Receiver<Box<dyn Work<E>>>,
) {
    while let Some(mut work) = next(&mut connection, queue) {
        if !work.is_wanted() {
            continue;
        }
        let writes = work.access().writes();
        connection.begin_work(work.requested_at(), writes, work.is_awaited());
        match work.access() {
            Access::Short | Access::Long => {
                let tx = Tx::of_server(ServerTransaction::reading(&mut connection));
                let done = work.run(&tx);
                work.reply(done);
                // Nobody has to wait for the end of a read.
                tx.end();
            }
            Access::Write => {
                let done = write(&mut connection, &mut *work);
                work.reply(done);
            }
            Access::WriteOnce => {
                let transaction = ServerTransaction::writing(&mut connection, None);
                let (done, _) = attempt(transaction, &mut *work);
                work.reply(done);
            }
        }
    }
}

/// The next piece of work; if none is queued, others are first notified of what was written.
fn next<W>(connection: &mut ServerConnection, queue: &Receiver<W>) -> Option<W> {
    loop {
        match connection.hint_due_in() {
            None => return queue.recv().ok(),
            Some(Duration::ZERO) => connection.send_hint(),
            Some(left) => match queue.recv_timeout(left) {
                Ok(work) => return Some(work),
                Err(RecvTimeoutError::Timeout) => connection.send_hint(),
                Err(RecvTimeoutError::Disconnected) => {
                    connection.send_hint();
                    return None;
                }
            },
        }
    }
}

fn write<E: From<Fault>>(
    connection: &mut ServerConnection,
    work: &mut dyn Work<E>,
) -> Result<(), E> {
    let mut tries = 0;
    // What a server that answers refuses says more than that it stopped answering after that.
    let mut refused = None;
    loop {
        let stamp = stamp().ok_or(ServerFault::Other("no random numbers".into()));
        let stamp = stamp.map_err(Fault::from)?;
        let (done, failure) = attempt(ServerTransaction::writing(connection, Some(stamp)), work);
        let is_unreachable = matches!(failure, Some((ServerFault::Unreachable, _)));
        match failure {
            Some((_, then)) if tries < TRIES && connection.may_repeat(then) => {
                tries += 1;
                if !is_unreachable {
                    refused = Some(done);
                }
            }
            _ => {
                return match refused {
                    Some(refused) if is_unreachable => refused,
                    _ => done,
                };
            }
        }
    }
}

/// Executes the work in a transaction and commits.
fn attempt<E: From<Fault>>(
    transaction: ServerTransaction<'_>,
    work: &mut dyn Work<E>,
) -> (Result<(), E>, Option<Failure>) {
    let tx = Tx::of_server(transaction);
    let done = work.run(&tx).and_then(|()| Ok(tx.commit()?));
    (done, tx.end())
}

/// A random UUID, as text.
fn stamp() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}
