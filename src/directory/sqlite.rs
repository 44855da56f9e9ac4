//! The SQLite backend: one connection on one thread, with group commit. It keeps every request whole, answers after the
//! commit, and trusts no connection that failed to write.

mod backup;
mod batches;
mod console;
mod drafts;
pub(super) mod facts;
mod fault;
mod fingerprints;
mod groups;
mod handoff;
mod history;
mod imports;
mod inspect;
mod journal;
pub(super) mod mutations;
mod open;
pub(super) mod places;
mod rows;
mod schema;
pub(super) mod task;

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::mpsc,
};

pub(super) use rusqlite::Connection;
use rusqlite::{Transaction, TransactionBehavior};

use super::{DirectoryError, PlaceId, Record, Recorded, Reply, request::Request};
use crate::domain::token::Fingerprinter;
pub(super) use fault::Fault;
use task::{Access, Task, Work};

pub use backup::{backup_of, backups_of, copy_to};
pub use inspect::{Contents, Inspected, foresee_in, inspect};

/// Most requests in one transaction.
const MOST: usize = 256;

/// Does requests until nobody can send any more. What is queued is done in one transaction, and answered after its
/// commit. Reads that nobody waits for are left out; writes never are.
pub(super) fn serve(mut store: Store, requests: &mpsc::Receiver<Request>) {
    while let Ok(first) = requests.recv() {
        let mut queue = vec![work(first)];
        queue.extend(requests.try_iter().take(MOST - 1).map(work));
        let mut batch = Vec::with_capacity(queue.len());
        for work in queue {
            // The write lock is not kept while a long list is read.
            if work.access() == Access::Long {
                store.settle(std::mem::take(&mut batch));
                store.settle(vec![work]);
            } else {
                batch.push(work);
            }
        }
        store.settle(batch);
    }
}

fn work(request: Request) -> Box<dyn Work + Send> {
    macro_rules! read {
        ($reply:ident, $work:expr) => {
            Task::work(Access::Short, $work, $reply)
        };
    }
    macro_rules! list {
        ($reply:ident, $work:expr) => {
            Task::work(Access::Long, $work, $reply)
        };
    }
    macro_rules! write {
        ($reply:ident, $work:expr) => {
            Task::work(Access::Write, $work, $reply)
        };
    }
    match request {
        Request::Task(work) => work,
        Request::Groups { place, reply } => list!(reply, move |c| groups::all(c, place)),
        Request::EachGroup { place, take, reply } => {
            list!(reply, move |c| groups::each(c, place, take))
        }
        Request::Group { place, id, reply } => {
            read!(reply, move |c| groups::one(c, place, &id))
        }
        Request::SomeGroups { place, ids, reply } => {
            read!(reply, move |c| groups::some(c, place, &ids))
        }
        Request::Standing { place, id, reply } => {
            read!(reply, move |c| groups::snapshot(c, place, &id))
        }
        Request::Record {
            place,
            records,
            reply,
        } => write!(reply, move |tx| record_all(tx, place, records)),
        Request::Import {
            place,
            rows,
            at,
            by,
            reply,
        } => write!(reply, move |tx| groups::import(tx, place, &rows, at, &by)),
        Request::OpenImport {
            place,
            digest,
            reply,
        } => list!(reply, move |c| imports::open(c, place, digest)),
        Request::BeginImport {
            place,
            digest,
            at,
            by,
            reply,
        } => write!(reply, move |tx| imports::begin(tx, place, digest, at, &by)),
        Request::EndRow {
            import,
            row,
            outcome,
            reply,
        } => write!(reply, move |tx| imports::end_row(tx, import, row, outcome)),
        Request::EndImport { import, at, reply } => {
            write!(reply, move |tx| imports::end(tx, import, at))
        }
        Request::History { filter, reply } => list!(reply, move |c| history::list(c, filter)),
        Request::Begin {
            place,
            intent,
            reply,
        } => write!(reply, move |tx| journal::begin(tx, place, &intent)),
        Request::EndHandOff {
            id,
            handoff,
            entry,
            reply,
        } => write!(reply, move |tx| handoff::end(tx, id, &handoff, &entry)),
        Request::BeginBatch {
            place,
            batch,
            reply,
        } => write!(reply, move |tx| batches::begin(tx, place, &batch)),
        Request::Batches { place, reply } => {
            list!(reply, move |c| batches::list(c, place))
        }
        Request::BatchItems { place, id, reply } => {
            list!(reply, move |c| batches::items(c, place, id))
        }
        Request::EndItem {
            item,
            ending,
            note,
            reply,
        } => write!(reply, move |tx| batches::end_item(tx, item, ending, &note)),
        Request::EndBatch { id, at, reply } => write!(reply, move |tx| batches::end(tx, id, at)),
        Request::Drafts { place, reply } => read!(reply, move |c| drafts::list(c, place)),
        Request::SaveDraft {
            place,
            draft,
            by,
            seen,
            reply,
        } => write!(reply, move |tx| drafts::save(tx, place, &draft, &by, seen)),
        Request::ForgetDraft {
            place,
            id,
            until,
            reply,
        } => write!(reply, move |tx| drafts::forget(tx, place, &id, until)),
        Request::Rotation { id, reply } => read!(reply, move |c| journal::one(c, id)),
        Request::Rotations { filter, reply } if filter.user_group_id.is_some() => {
            read!(reply, move |c| journal::list(c, filter))
        }
        Request::Rotations { filter, reply } => list!(reply, move |c| journal::list(c, filter)),
        Request::Happenings { id, reply } => read!(reply, move |c| journal::events(c, id)),
        Request::View { profile, reply } => read!(reply, move |c| console::view(c, &profile)),
        Request::KeepView {
            profile,
            view,
            reply,
        } => write!(reply, move |tx| console::keep_view(tx, &profile, &view)),
        Request::Owners { fingerprint, reply } => {
            read!(reply, move |c| fingerprints::owners(c, fingerprint))
        }
    }
}

/// Work that only this backend knows how to do.
pub(super) fn task<T: Send + 'static>(
    access: Access,
    work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    reply: Reply<T>,
) -> Box<dyn Work + Send> {
    Task::work(access, work, reply)
}

fn record_all(
    tx: &Connection,
    place: PlaceId,
    records: Vec<Record>,
) -> Result<Vec<Recorded>, Fault> {
    records
        .into_iter()
        .map(|record| {
            // First, because it is the part that is refused most often.
            if let Some(step) = &record.rotation {
                journal::step(tx, place, step)?;
            }
            if let Some(step) = &record.mutation {
                mutations::step(tx, place, step)?;
            }
            if let Some(step) = &record.handoff {
                handoff::set(tx, place, step)?;
            }
            if let Some(entry) = &record.entry {
                history::add(tx, place, record.key, entry)?;
            }
            if let (Some(what), Some(entry)) = (&record.alarm, &record.entry) {
                places::raise(tx, place, what, entry)?;
            }
            record.observation.map_or_else(
                || Ok(Recorded::default()),
                |observation| {
                    let drawn = groups::ObservedUnder {
                        upon: record.upon,
                        since: record.since,
                        key: record.key,
                        created: record.created,
                    };
                    groups::observe(tx, place, observation, drawn)
                },
            )
        })
        .collect()
}

/// The connection to one directory file.
pub(super) struct Store {
    path: PathBuf,
    /// Device and inode: a file that was swapped must not be mistaken for this one.
    identity: (u64, u64),
    /// `None` after a failure; opened again by the next request.
    connection: Option<Connection>,
    /// A seam: tests make it fail.
    commit: fn(Transaction<'_>) -> rusqlite::Result<()>,
}

impl Store {
    pub(super) fn open(path: &Path) -> Result<(Self, Fingerprinter), DirectoryError> {
        let (connection, fingerprinter) = open::open(path)?;
        let identity = identity(path)?;
        let store = Self {
            path: path.to_owned(),
            identity,
            connection: Some(connection),
            commit: |tx| tx.commit(),
        };
        Ok((store, fingerprinter))
    }

    /// Does a batch in order and answers it: in one transaction where something is written, each piece of work whole
    /// or not at all.
    fn settle(&mut self, mut batch: Vec<Box<dyn Work + Send>>) {
        batch.retain(|work| work.is_wanted());
        let writes = batch.iter().any(|work| work.access() == Access::Write);
        let outcomes = if writes {
            self.transact(&mut batch)
        } else {
            self.look(&mut batch)
        };
        match outcomes {
            Ok(outcomes) => {
                for (work, outcome) in batch.into_iter().zip(outcomes) {
                    work.reply(outcome);
                }
            }
            Err(error) => {
                for work in batch {
                    work.reply(Err(error.clone()));
                }
            }
        }
    }

    /// Reads, all of one snapshot; each fails for itself. `Err`: not even begun.
    fn look(
        &mut self,
        batch: &mut [Box<dyn Work + Send>],
    ) -> Result<Vec<Result<(), DirectoryError>>, DirectoryError> {
        let path = self.path.clone();
        let connection = self.connection()?;
        let mut spoilt = false;
        let done = connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .map_err(Fault::from)
            .map(|snapshot| {
                let outcomes = batch.iter_mut().map(|work| {
                    work.run(&snapshot).map_err(|fault| {
                        spoilt |= fault.ends_the_connection();
                        fault.explain(&path)
                    })
                });
                outcomes.collect()
            });
        if spoilt {
            self.connection = None;
        }
        self.checked(done)
    }

    /// One transaction that holds the write lock from the start. `Err` undoes all of it.
    fn transact(
        &mut self,
        batch: &mut [Box<dyn Work + Send>],
    ) -> Result<Vec<Result<(), DirectoryError>>, DirectoryError> {
        self.same_file()?;
        let commit = self.commit;
        let path = self.path.clone();
        let connection = self.connection()?;
        let begun = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Fault::from);
        let done = begun.and_then(|tx| {
            open::still_ours(&tx)?;
            let mut outcomes = Vec::with_capacity(batch.len());
            for work in batch {
                outcomes.push(apart(&tx, work.as_mut())?.map_err(|fault| fault.explain(&path)));
            }
            commit(tx).map_err(Fault::Commit)?;
            Ok(outcomes)
        });
        self.checked(done)
    }

    fn connection(&mut self) -> Result<&mut Connection, DirectoryError> {
        if self.connection.is_none() {
            self.same_file()?;
            let (connection, _) = open::open(&self.path)?;
            return Ok(self.connection.insert(connection));
        }
        self.connection
            .as_mut()
            .ok_or_else(|| DirectoryError::Stopped {
                path: self.path.clone(),
            })
    }

    /// Writing into a file that was moved or deleted would remember nothing.
    fn same_file(&self) -> Result<(), DirectoryError> {
        match identity(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(DirectoryError::Gone {
                path: self.path.clone(),
            }),
        }
    }

    /// After a failed fsync a later commit can report success over lost pages: such a connection is given up.
    fn checked<T>(&mut self, done: Result<T, Fault>) -> Result<T, DirectoryError> {
        done.map_err(|fault| {
            if fault.ends_the_connection() {
                self.connection = None;
            }
            fault.explain(&self.path)
        })
    }
}

/// Does one piece of work so that it can be undone alone. The outer error undoes its neighbours too.
fn apart(tx: &Transaction<'_>, work: &mut dyn Work) -> Result<Result<(), Fault>, Fault> {
    tx.prepare_cached("SAVEPOINT apart")?.execute([])?;
    let done = work.run(tx);
    match done {
        Err(fault) if fault.ends_the_connection() => return Err(fault),
        Err(_) => {
            tx.prepare_cached("ROLLBACK TO apart")?.execute([])?;
        }
        Ok(()) => {}
    }
    tx.prepare_cached("RELEASE apart")?.execute([])?;
    Ok(done)
}

fn identity(path: &Path) -> Result<(u64, u64), DirectoryError> {
    let metadata = std::fs::metadata(path).map_err(|source| DirectoryError::Unusable {
        path: path.to_owned(),
        source: source.into(),
    })?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests;
