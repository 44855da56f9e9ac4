//! A thread with a line of its own: what is asked of it is done in the order of asking, and what somebody else made
//! impossible meanwhile is done again.

use std::{
    io,
    sync::mpsc,
    thread::{Builder, JoinHandle},
    time::Instant,
};

use super::{
    Fault, Tx,
    postgres::{Line, Open, PATIENCE, Server, ServerFault, Then},
    task::Reply,
};

/// How often one piece of work is done again.
const TRIES: usize = 5;

type Job = Box<dyn FnOnce(&mut Line) + Send>;

/// Dropping it waits until all of its work is done.
pub(crate) struct Lane(Option<(mpsc::Sender<Job>, JoinHandle<()>)>);

impl Lane {
    pub(crate) fn start(name: &str, server: Server) -> io::Result<Self> {
        let (sender, queue) = mpsc::channel::<Job>();
        let mut line = Line::new(server)?;
        let thread = Builder::new().name(name.into()).spawn(move || {
            while let Ok(job) = queue.recv() {
                job(&mut line);
            }
        })?;
        Ok(Self(Some((sender, thread))))
    }

    /// A write: done whether anybody still waits for it or not.
    pub(crate) fn write<T, E>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T, E> + Send + 'static,
        reply: impl Reply<T, E> + 'static,
    ) where
        T: 'static,
        E: From<Fault> + 'static,
    {
        self.queue(Box::new(move |line| reply.send(write(line, &work))));
    }

    pub(crate) fn read<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
        reply: impl Reply<T, E> + 'static,
    ) where
        T: 'static,
        E: From<Fault> + 'static,
    {
        self.queue(Box::new(move |line| {
            if reply.is_awaited() {
                let tx = Tx::of_server(Open::reading(line));
                let answer = work(&tx);
                reply.send(answer);
                // Nobody has to wait for it.
                tx.end();
            }
        }));
    }

    /// What can be done once only, or makes the tables: where its commit is not answered, it is not known.
    pub(crate) fn write_once<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
        reply: impl Reply<T, E> + 'static,
    ) where
        T: 'static,
        E: From<Fault> + 'static,
    {
        self.queue(Box::new(move |line| {
            let tx = Tx::of_server(Open::writing(line, None, Instant::now() + PATIENCE));
            let done = work(&tx).and_then(|done| {
                tx.commit()?;
                Ok(done)
            });
            tx.end();
            reply.send(done);
        }));
    }

    /// Where the thread has stopped, the reply is dropped, which says so.
    fn queue(&self, job: Job) {
        if let Some((sender, _)) = &self.0 {
            let _ = sender.send(job);
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // Whoever waited for a panic over there knows of it already.
            drop(thread.join());
        }
    }
}

fn write<T, E: From<Fault>>(
    line: &mut Line,
    work: &impl Fn(&Tx<'_>) -> Result<T, E>,
) -> Result<T, E> {
    // However often it is tried, who asked waits once.
    let deadline = Instant::now() + PATIENCE;
    let mut tries = 0;
    loop {
        let stamp = stamp().ok_or(ServerFault::Other("no random numbers".into()));
        let stamp = stamp.map_err(Fault::from)?;
        let tx = Tx::of_server(Open::writing(line, Some(stamp), deadline));
        let answer = work(&tx).and_then(|answer| {
            tx.commit()?;
            Ok(answer)
        });
        let failure = tx.end();
        match failure {
            Some((_, Then::Again | Then::Reconnect))
                if tries < TRIES && Instant::now() < deadline =>
            {
                tries += 1;
            }
            _ => return answer,
        }
    }
}

/// A random UUID, as text.
fn stamp() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}
