//! The storage thread: takes what is queued, runs it in one transaction, replies after the commit (group commit).
//! An acknowledged write is durable; after a failure nothing of the transaction is acknowledged.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::Receiver,
    },
    time::Duration,
};

use rusqlite::{Connection, TransactionBehavior};

use super::{
    ReportFailure, StoreError, database,
    task::{Access, Work},
};

/// Most pieces of work in one transaction.
const BATCH: usize = 256;

pub(super) struct Thread {
    pub(super) path: PathBuf,
    pub(super) busy_timeout: Duration,
    pub(super) report: Option<ReportFailure>,
    /// `None` after a failure, until the next work opens it anew.
    pub(super) connection: Option<Connection>,
    pub(super) queue: Receiver<Box<dyn Work>>,
    pub(super) pending_writes: Arc<AtomicUsize>,
}

impl Thread {
    /// Works until every sender is gone and the queue is empty.
    pub(super) fn run(mut self) {
        while let Ok(first) = self.queue.recv() {
            let mut batch = vec![first];
            batch.extend(self.queue.try_iter().take(BATCH - 1));
            self.settle(batch);
        }
    }

    fn settle(&mut self, mut batch: Vec<Box<dyn Work>>) {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.transact(&mut batch)))
            .unwrap_or_else(|_| Err(StoreError::Failed("a piece of work panicked".into())));
        let outcomes = match outcome {
            Ok(outcomes) => outcomes,
            Err(error) => {
                // After one failed fsync later commits can report success: never go on with this connection.
                if error != StoreError::Busy {
                    self.connection = None;
                }
                self.tell(&error);
                vec![Err(error); batch.len()]
            }
        };
        for (work, outcome) in batch.into_iter().zip(outcomes) {
            if let Err(error @ StoreError::Unexpected(_)) = &outcome {
                self.tell(error);
            }
            if work.access() == Access::Write {
                self.pending_writes.fetch_sub(1, Ordering::SeqCst);
            }
            work.reply(outcome);
        }
    }

    /// Runs a batch in one transaction, each piece in a savepoint of its own. `Err` undoes all.
    fn transact(
        &mut self,
        batch: &mut [Box<dyn Work>],
    ) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(database::open(&self.path, self.busy_timeout)?),
        };
        let behavior = if batch.iter().any(|work| work.access() == Access::Write) {
            TransactionBehavior::Immediate
        } else {
            TransactionBehavior::Deferred
        };
        let transaction = connection.transaction_with_behavior(behavior)?;
        let mut outcomes = Vec::with_capacity(batch.len());
        for work in batch {
            transaction.prepare_cached("SAVEPOINT piece")?.execute([])?;
            let done = match work.run(&transaction) {
                Err(error) if error.spoils_all() => return Err(error),
                Err(error) => {
                    transaction
                        .prepare_cached("ROLLBACK TO piece")?
                        .execute([])?;
                    Err(error)
                }
                Ok(()) => Ok(()),
            };
            transaction.prepare_cached("RELEASE piece")?.execute([])?;
            outcomes.push(done);
        }
        transaction
            .commit()
            .map_err(|error| match StoreError::from(error) {
                StoreError::Unexpected(text) => StoreError::Failed(text),
                other => other,
            })?;
        Ok(outcomes)
    }

    fn tell(&self, error: &StoreError) {
        if let Some(report) = &self.report {
            report(error);
        }
    }
}
