//! The connection of a thread, and group commit: a batch is one transaction, and each piece of work in it is done
//! completely or not at all. If one fails, the transaction is rolled back and done again with a savepoint for each. A
//! connection that failed to write is never used again.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::Receiver,
};

use rusqlite::{Connection, Transaction};

use super::{Access, Database, Tx, Work};

/// Maximum number of pieces of work per transaction.
const MAX_BATCH: usize = 256;

pub(crate) struct Session<D: Database> {
    pub(crate) database: D,
    /// `None` after a failure; reopened by the next piece of work.
    pub(crate) connection: Option<Connection>,
}

impl<D: Database> Session<D> {
    /// Executes work until all senders are gone.
    pub(super) fn serve(mut self, queue: &Receiver<Box<dyn Work<D::Error>>>) {
        while let Ok(first) = queue.recv() {
            let queued: Vec<_> = queue.try_iter().take(MAX_BATCH - 1).collect();
            let mut batch = Vec::with_capacity(queued.len() + 1);
            for work in std::iter::once(first).chain(queued) {
                // Do not hold the write lock while a long list is read.
                if work.access() == Access::Long {
                    self.process_batch(std::mem::take(&mut batch));
                    self.process_batch(vec![work]);
                } else {
                    batch.push(work);
                }
            }
            self.process_batch(batch);
        }
    }

    /// Executes a batch in order and answers it. Reads that nobody waits for are skipped; writes never are.
    pub(crate) fn process_batch(&mut self, mut batch: Vec<Box<dyn Work<D::Error>>>) {
        batch.retain(|work| work.is_wanted());
        let done = catch_unwind(AssertUnwindSafe(|| self.transact(&mut batch)))
            .unwrap_or_else(|panic| Err(self.database.panicked(panic)));
        let outcomes = match done {
            Ok(outcomes) => {
                let failures = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
                failures.for_each(|error| self.failed(error));
                outcomes
            }
            Err(error) => {
                self.failed(&error);
                vec![Err(error); batch.len()]
            }
        };
        let database = &self.database;
        self.connection = self.connection.take().filter(|open| database.is_kept(open));
        for (work, outcome) in batch.into_iter().zip(outcomes) {
            work.reply(outcome);
        }
    }

    /// The result of each piece of work. `Err` means that all of them were undone.
    fn transact(
        &mut self,
        batch: &mut [Box<dyn Work<D::Error>>],
    ) -> Result<Vec<Result<(), D::Error>>, D::Error> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(self.database.open()?),
        };
        if !batch.iter().any(|work| work.access().writes()) {
            // All of one snapshot; each fails for itself.
            let snapshot = Snapshot::begin(connection)?;
            let snapshot = Tx::of(snapshot.0);
            return Ok(batch.iter_mut().map(|work| work.run(&snapshot)).collect());
        }
        if let [work] = batch {
            // Nothing else would have to stay if it is rolled back.
            let tx = self.database.begin(connection)?;
            return match work.run(&Tx::of(&tx)) {
                Ok(()) => self.database.commit(tx).map(|()| vec![Ok(())]),
                Err(error) if D::undoes_all(&error) => Err(error),
                Err(error) => Ok(vec![Err(error)]),
            };
        }
        if batch.iter().all(|work| work.is_repeatable()) {
            // A savepoint costs a copy of every page that is touched, and is rarely needed.
            let tx = self.database.begin(connection)?;
            match batch.iter_mut().try_for_each(|work| work.run(&Tx::of(&tx))) {
                Ok(()) => {
                    self.database.commit(tx)?;
                    return Ok(vec![Ok(()); batch.len()]);
                }
                Err(error) if D::undoes_all(&error) => return Err(error),
                // Roll everything back and do it again, each in a savepoint.
                Err(_) => drop(tx),
            }
        }
        let tx = self.database.begin(connection)?;
        let mut outcomes = Vec::with_capacity(batch.len());
        for work in batch {
            outcomes.push(run_in_savepoint::<D>(&tx, work.as_mut())?);
        }
        self.database.commit(tx)?;
        Ok(outcomes)
    }

    fn failed(&mut self, error: &D::Error) {
        if D::ends_the_connection(error) {
            self.connection = None;
        }
        self.database.failed(error);
    }
}

/// A read transaction, until it is dropped. A transaction of rusqlite would parse its statements again each time.
struct Snapshot<'c>(&'c Connection);

impl<'c> Snapshot<'c> {
    fn begin(connection: &'c Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(connection))
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // Nothing was written. If it cannot be ended, the next one cannot begin and reports that.
        let end = self.0.prepare_cached("ROLLBACK");
        drop(end.and_then(|mut end| end.execute([])));
    }
}

/// Does one piece of work so that it can be undone alone. The outer error undoes its neighbours too.
fn run_in_savepoint<D: Database>(
    tx: &Transaction<'_>,
    work: &mut dyn Work<D::Error>,
) -> Result<Result<(), D::Error>, D::Error> {
    tx.prepare_cached("SAVEPOINT one_task")?.execute([])?;
    let done = work.run(&Tx::of(tx));
    match done {
        Err(error) if D::undoes_all(&error) => return Err(error),
        Err(_) => {
            tx.prepare_cached("ROLLBACK TO one_task")?.execute([])?;
        }
        Ok(()) => {}
    }
    tx.prepare_cached("RELEASE one_task")?.execute([])?;
    Ok(done)
}
