//! A lane executes requests on its own connection to a server, in the order in which they are made. A request that
//! fails because of a concurrent change is executed again.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use super::{
    Access, Fault, Tx, Work,
    postgres::{Failure, Line, Open, PATIENCE, ServerFault, Then},
};

/// How often one piece of work is attempted.
const TRIES: usize = 5;

/// Executes work until all senders are gone.
pub(super) fn serve<E: From<Fault>>(mut line: Line, queue: &Receiver<Box<dyn Work<E>>>) {
    while let Some(mut work) = next(&mut line, queue) {
        if !work.is_wanted() {
            continue;
        }
        match work.access() {
            access @ (Access::Short | Access::Current | Access::Long) => {
                let open = Open::reading(&mut line, access != Access::Current);
                let tx = Tx::of_server(open);
                let done = work.run(&tx);
                work.reply(done);
                // Nobody has to wait for the end of a read.
                tx.end();
            }
            Access::Write => {
                let done = write(&mut line, &mut *work);
                work.reply(done);
            }
            Access::Once => {
                let deadline = Instant::now() + PATIENCE;
                let open = Open::writing(&mut line, None, deadline);
                let (done, _) = attempt(open, &mut *work);
                work.reply(done);
            }
        }
    }
}

/// The next piece of work; if none is queued, others are first notified of what was written.
fn next<W>(line: &mut Line, queue: &Receiver<W>) -> Option<W> {
    loop {
        match line.tells_in() {
            None => return queue.recv().ok(),
            Some(Duration::ZERO) => line.tell(),
            Some(left) => match queue.recv_timeout(left) {
                Ok(work) => return Some(work),
                Err(RecvTimeoutError::Timeout) => line.tell(),
                Err(RecvTimeoutError::Disconnected) => {
                    line.tell();
                    return None;
                }
            },
        }
    }
}

fn write<E: From<Fault>>(line: &mut Line, work: &mut dyn Work<E>) -> Result<(), E> {
    // One deadline for all attempts together.
    let deadline = Instant::now() + PATIENCE;
    let mut tries = 0;
    loop {
        let stamp = stamp().ok_or(ServerFault::Other("no random numbers".into()));
        let stamp = stamp.map_err(Fault::from)?;
        let (done, failure) = attempt(Open::writing(line, Some(stamp), deadline), work);
        match failure {
            Some((_, Then::Again | Then::Reconnect))
                if tries < TRIES && Instant::now() < deadline =>
            {
                tries += 1;
            }
            _ => return done,
        }
    }
}

/// Executes the work in a transaction and commits.
fn attempt<E: From<Fault>>(
    open: Open<'_>,
    work: &mut dyn Work<E>,
) -> (Result<(), E>, Option<Failure>) {
    let tx = Tx::of_server(open);
    let done = work.run(&tx).and_then(|()| Ok(tx.commit()?));
    (done, tx.end())
}

/// A random UUID, as text.
fn stamp() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}
