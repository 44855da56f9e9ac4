//! The SQL backend: the requests of a directory as functions on a connection, and how its file is opened, written, and
//! recognised as a different one. Each SQL text is next to its function, in the dialect that SQLite and PostgreSQL
//! share. Parameters are `$1`, `$2`, … and must first appear in that order, because SQLite numbers them by first
//! appearance.

pub(super) mod annotations;
pub(super) mod backup;
pub(super) mod batches;
pub(super) mod changes;
mod completion;
pub(super) mod console;
pub(super) mod drafts;
mod edits;
pub(super) mod facts;
mod fault;
pub(super) mod fingerprints;
pub(super) mod groups;
pub(super) mod handoff;
pub(super) mod history;
pub(super) mod imports;
mod inspect;
pub(super) mod journal;
pub(super) mod list;
pub(super) mod moved;
pub(super) mod mutations;
mod open;
pub(super) mod order;
pub(super) mod places;
mod rows;
pub(super) mod scheduled;
mod schema;
mod select;
pub(super) mod snapshot;
mod stops;
pub(super) mod under_way;

use std::{
    cell::Cell,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

pub(super) use rusqlite::Connection;
use rusqlite::{Transaction, TransactionBehavior};

use super::{DirectoryError, GroupSnapshot, PlaceId, Record, Recorded};
use crate::{
    database::{Database, Request, Results, Session, Statements, Tx},
    domain::{
        group::UserGroupId,
        known::{KnownGroup, Observation},
        mutation,
        rotation::State,
        token::Fingerprinter,
    },
};
pub(super) use fault::Fault;
pub(super) use schema::with_suffix;

pub use backup::{backup_of, backups_of, copy_to};
pub use completion::{CompletedProfile, ids_beginning};
pub use inspect::{Contents, Inspected, inspect, preview_binding_in};

/// Records the result of one exchange: group, history and journals.
struct WriteRecord<'r> {
    place: PlaceId,
    /// Without its observation.
    record: &'r Record,
    id: Option<UserGroupId>,
    /// Becomes the group: moved out, so that the largest values exist only once.
    observation: Cell<Option<Observation>>,
    /// The group, if it was read and locked before in the same transaction.
    known: Cell<Option<KnownGroup>>,
    is_known: bool,
}

impl<'r> WriteRecord<'r> {
    /// With `may_take`, SQLite does this only once, so the observation can be moved; otherwise it may run again.
    fn of(tx: &Tx<'_>, place: PlaceId, record: &'r mut Record, may_take: bool) -> Self {
        let observation = match tx.sqlite() {
            Some(_) if may_take => record.observation.take(),
            _ => record.observation.clone(),
        };
        Self {
            place,
            record,
            id: observation.as_ref().map(|seen| seen.id.clone()),
            observation: observation.into(),
            known: Cell::new(None),
            is_known: false,
        }
    }

    /// The group that is concerned.
    fn subject(&self) -> Option<&UserGroupId> {
        let entry = self.record.entry.as_ref();
        self.id.as_ref().or(entry.map(|entry| &entry.user_group_id))
    }

    /// Counts what a step changes, or may have changed, at the service.
    fn count(&self, writes: &mut Statements) {
        let Some(id) = self.subject() else {
            return;
        };
        if let Some(step) = &self.record.mutation
            && step.from != mutation::State::Intended
            && step.to != mutation::State::Sent
        {
            order::count(writes, self.place, id, order::Part::Fields, None);
        }
        if let Some(step) = &self.record.rotation
            && matches!(step.after.state, State::Rotated | State::Recovered)
            && step.from != step.after.state
        {
            order::count(writes, self.place, id, order::Part::Token, Some(step.id));
        }
    }
}

impl Request for WriteRecord<'_> {
    type Answer = Recorded;
    type Error = Fault;

    fn read(&self) -> Statements {
        let mut reads = Statements::default();
        if let Some(step) = &self.record.rotation {
            journal::query(&mut reads, step.id);
        }
        if let Some(step) = &self.record.mutation {
            mutations::claim_step(&mut reads, self.place, step);
        }
        if let Some(step) = &self.record.handoff {
            handoff::query(&mut reads, step);
        }
        if let Some(id) = self.id.as_ref().filter(|_| !self.is_known) {
            groups::query_locked(&mut reads, self.place, id);
        }
        reads
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, Recorded), Fault> {
        let Self { place, record, .. } = *self;
        let mut writes = Statements::default();
        // First, because this part is refused most often.
        if let Some(step) = &record.rotation {
            journal::step(found, &mut writes, place, step)?;
        }
        if let Some(step) = &record.mutation {
            mutations::step(found, step)?;
        }
        if let Some(step) = &record.handoff {
            handoff::set(found, &mut writes, place, step)?;
        }
        if let Some(entry) = &record.entry {
            history::add(&mut writes, place, record.key, entry);
        }
        if let (Some(what), Some(entry)) = (&record.alarm, &record.entry) {
            places::raise(&mut writes, place, what, entry);
        }
        for (id, rest) in &record.replaces {
            mutations::replace_sent(&mut writes, *id, rest);
        }
        writes.append(facts::state(place, &record.facts));
        let recorded = match self.observation.take() {
            Some(observation) => {
                let known = if self.is_known {
                    self.known.take()
                } else {
                    groups::parse(found)?
                };
                groups::observe(known, &mut writes, place, record, observation)?
            }
            None => Recorded::default(),
        };
        // Last: the token of a rotation is counted for that rotation.
        self.count(&mut writes);
        Ok((writes, recorded))
    }

    fn read_after(&self) -> Statements {
        let mut reads = Statements::default();
        if let Some(id) = self.id.as_ref().filter(|_| !self.record.discards_result) {
            journal::query_open(&mut reads, self.place, id);
            mutations::query_open(&mut reads, self.place, id);
            facts::query(&mut reads, self.place);
        }
        reads
    }

    fn finish(&self, recorded: &mut Recorded, after: &mut Results) {
        recorded.open = after.next().readable(journal::parse_row);
        recorded.mutations = after.next().readable(mutations::parse_row);
        recorded.facts = facts::parse(after).unwrap_or_default();
    }
}

/// What is to be recorded, and what the caller wants to know.
pub(crate) type Decided<T> = (Vec<Record>, T);

/// Reads what is known of a group, locked, and records what `decide` makes of it.
pub(super) fn decide<T>(
    tx: &Tx<'_>,
    snapshot: &snapshot::TakeSnapshot,
    may_take: bool,
    decide: impl FnOnce(&GroupSnapshot) -> Decided<T>,
) -> Result<(Vec<Recorded>, T), Fault> {
    let found = tx.run(snapshot)?;
    let (mut records, answer) = decide(&found);
    let mut known = found.group;
    let mut is_current = true;
    let last = records.len().saturating_sub(1);
    let mut all = Vec::with_capacity(records.len());
    for (at, record) in records.iter_mut().enumerate() {
        let mut request = WriteRecord::of(tx, snapshot.place, record, may_take);
        if request.id.as_ref() == Some(&snapshot.id) {
            request.is_known = is_current;
            request.known = Cell::new(known.take());
            is_current = false;
        }
        let recorded = if at == last {
            tx.run_last(&request)?
        } else {
            tx.run(&request)?
        };
        all.push(recorded);
    }
    Ok((all, answer))
}

pub(super) fn record_all(
    tx: &Tx<'_>,
    place: PlaceId,
    records: &mut [Record],
    may_take: bool,
) -> Result<Vec<Recorded>, Fault> {
    let last = records.len().saturating_sub(1);
    let recorded = records.iter_mut().enumerate().map(|(at, record)| {
        let request = WriteRecord::of(tx, place, record, may_take);
        let recorded = if at == last {
            tx.run_last(&request)?
        } else {
            tx.run(&request)?
        };
        Ok(recorded)
    });
    recorded.collect()
}

/// An open directory file.
pub(super) struct File {
    path: PathBuf,
    /// Device and inode: a file that was swapped must not be mistaken for this one.
    identity: (u64, u64),
    /// Replaceable so that tests can make it fail.
    commit: fn(Transaction<'_>) -> rusqlite::Result<()>,
}

impl File {
    pub(super) fn open(path: &Path) -> Result<(Session<Self>, Fingerprinter), DirectoryError> {
        let (connection, fingerprinter) = open::open(path)?;
        let database = Self {
            path: path.to_owned(),
            identity: identity(path)?,
            commit: |tx| tx.commit(),
        };
        let session = Session {
            database,
            connection: Some(connection),
        };
        Ok((session, fingerprinter))
    }

    /// Writes into a file that was moved or deleted would be lost.
    fn is_the_same(&self) -> Result<(), DirectoryError> {
        match identity(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(DirectoryError::Gone {
                path: self.path.clone(),
            }),
        }
    }
}

impl Database for File {
    type Error = Fault;

    fn open(&self) -> Result<Connection, Fault> {
        self.is_the_same()?;
        Ok(open::open(&self.path)?.0)
    }

    fn begin<'c>(&self, connection: &'c mut Connection) -> Result<Transaction<'c>, Fault> {
        self.is_the_same()?;
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        open::check_version(&tx)?;
        Ok(tx)
    }

    fn commit(&self, tx: Transaction<'_>) -> Result<(), Fault> {
        (self.commit)(tx).map_err(Fault::commit)
    }

    fn ends_the_connection(fault: &Fault) -> bool {
        fault.ends_the_connection()
    }
}

fn identity(path: &Path) -> Result<(u64, u64), DirectoryError> {
    let metadata = std::fs::metadata(path).map_err(|source| DirectoryError::Unusable {
        path: path.to_owned(),
        source: source.into(),
    })?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod decisions;
#[cfg(test)]
mod tests;
