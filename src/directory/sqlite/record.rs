//! Records what an exchange with the service brought: the group, the history and the journals, in one transaction.

use std::cell::Cell;

use super::{
    facts, fault::Fault, groups, handoff, history, journal, mutations, order, places,
    snapshot::TakeSnapshot,
};
use crate::{
    database::{Request, Results, Statements, Tx},
    directory::{
        Directory, DirectoryError, GroupSnapshot, PlaceId, Record, Recorded, SnapshotExtras,
        lanes::Subject, unsettled_here::CountedStep,
    },
    domain::{
        group::UserGroupId,
        known::{KnownGroup, Observation},
        mutation,
        rotation::State,
        token::Fingerprint,
    },
};

/// Bytes. Smaller observations are copied, so that their transaction may be done again.
const LARGE: usize = 16 * 1024;

impl Directory {
    /// Records the result of one exchange: the group, the history and the journal, in one transaction.
    ///
    /// Times are stored in whole microseconds. A history entry keeps the profile that it names. With
    /// [`DirectoryError::MovedOn`] nothing of the record is written.
    pub async fn record(&self, place: PlaceId, record: Record) -> Result<Recorded, DirectoryError> {
        let mut recorded = self.record_all(place, vec![record]).await?;
        Ok(recorded.pop().unwrap_or_default())
    }

    /// Writes many records in one transaction, all or nothing. The results are in the same order.
    pub async fn record_all(
        &self,
        place: PlaceId,
        records: Vec<Record>,
    ) -> Result<Vec<Recorded>, DirectoryError> {
        let counted_steps = CountedStep::of_all(&records);
        let subject = match &records[..] {
            [record] => Subject::of(place, record),
            _ => None,
        };
        let mut records = records;
        let observed = records.iter().filter_map(|one| one.observation.as_ref());
        let is_large = observed.map(Observation::weight).sum::<usize>() > LARGE;
        let write = move |tx: &Tx<'_>| write_all(tx, place, &mut records, is_large);
        let written = if is_large {
            self.write_large(subject, write).await
        } else {
            self.write_about(subject, write).await
        };
        for one in counted_steps {
            one.written(written.is_ok());
        }
        written
    }

    /// Decides from the state of a group what an answer means, and records it, in one transaction: nothing that another
    /// process records comes in between. `weight` is about the number of bytes that will be recorded; above a limit
    /// `decide` is called only once on a file, and may give its values away. It must have no other effect.
    pub async fn decide<T: Send + 'static>(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        fingerprint: Option<Fingerprint>,
        weight: usize,
        mut decide: impl FnMut(&GroupSnapshot, bool) -> (Vec<Record>, T) + Send + 'static,
    ) -> Result<(Vec<Recorded>, T), DirectoryError> {
        let request = TakeSnapshot {
            place,
            id: id.clone(),
            extras: SnapshotExtras {
                fingerprint,
                ..SnapshotExtras::default()
            },
            locks: true,
        };
        let subject = Some(Subject::Group(place, id.clone()));
        let is_large = weight > LARGE;
        let write = move |tx: &Tx<'_>| {
            let may_take = is_large && tx.sqlite().is_some();
            let mut counted_steps = Vec::new();
            let decided = decide_and_write(tx, &request, may_take, |found| {
                let (records, answer) = decide(found, may_take);
                counted_steps = CountedStep::of_all(&records);
                (records, answer)
            });
            decided.map(|decided| (decided, counted_steps))
        };
        let written = if is_large {
            self.write_large(subject, write).await
        } else {
            self.write_about(subject, write).await
        };
        let (decided, counted_steps) = written?;
        for one in counted_steps {
            one.written(true);
        }
        Ok(decided)
    }
}

/// Records the result of one exchange: group, history and journals.
pub(super) struct WriteRecord<'r> {
    pub(super) place: PlaceId,
    /// Without its observation.
    pub(super) record: &'r Record,
    pub(super) id: Option<UserGroupId>,
    /// Becomes the group: moved out, so that the largest values exist only once.
    pub(super) observation: Cell<Option<Observation>>,
    /// The group, if it was read and locked before in the same transaction.
    pub(super) known: Cell<Option<KnownGroup>>,
    pub(super) is_known: bool,
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
type Decided<T> = (Vec<Record>, T);

/// Reads what is known of a group, locked, and records what `decide` makes of it.
fn decide_and_write<T>(
    tx: &Tx<'_>,
    snapshot: &TakeSnapshot,
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

/// Writes all of them; only the last one is sent with the commit.
fn write_all(
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
