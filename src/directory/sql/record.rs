//! Reads the state of one group, and records what an exchange with the service brought: the group, the history and the
//! journals, in one transaction.

use super::{
    facts,
    fault::{Fault, beside},
    groups, history, journal, mutations, order, places,
};
use crate::{
    db::{self, Access, Asked, Tx, values},
    directory::{
        Directory, GroupSnapshot, PlaceId, Record, Recorded, Result, RotationRow, SnapshotExtras,
        lanes::Subject, unsettled_here::CountedStep,
    },
    domain::{
        group::UserGroupId,
        known::{KnownGroup, Observation},
        mutation,
        token::Fingerprint,
    },
};

/// Bytes. Smaller observations are copied, so that their transaction may be done again.
const LARGE: usize = 16 * 1024;

impl Directory {
    /// Records the result of one exchange: the group, the history and the journal, in one transaction.
    ///
    /// Times are stored in whole microseconds. A history entry keeps the profile that it names. With
    /// `DirectoryError::MovedOn` nothing of the record is written.
    pub async fn record(&self, place: PlaceId, record: Record) -> Result<Recorded> {
        let mut recorded = self.record_all(place, vec![record]).await?;
        Ok(recorded.pop().unwrap_or_default())
    }

    /// Writes many records in one transaction, all or nothing. The results are in the same order.
    pub async fn record_all(&self, place: PlaceId, records: Vec<Record>) -> Result<Vec<Recorded>> {
        let counted_steps = CountedStep::of_all(&records);
        let subject = match &records[..] {
            [record] => Subject::of(place, record),
            _ => None,
        };
        let mut records = records;
        let observed = records.iter().filter_map(|one| one.observation.as_ref());
        let is_large = observed.map(Observation::weight).sum::<usize>() > LARGE;
        let write =
            move |tx: &Tx<'_>| write_all(tx, place, &mut records, is_large, None, Vec::new());
        let written = self.write_about(subject, !is_large, write).await;
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
    ) -> Result<(Vec<Recorded>, T)> {
        let extras = SnapshotExtras {
            fingerprint,
            ..SnapshotExtras::default()
        };
        let of_group = id.clone();
        let subject = Some(Subject::Group(place, id.clone()));
        let is_large = weight > LARGE;
        let write = move |tx: &Tx<'_>| {
            let may_take = is_large && tx.sqlite().is_some();
            let mut found = read(tx, place, &of_group, &extras, true, None)?;
            let (mut records, answer) = decide(&found, may_take);
            let counted_steps = CountedStep::of_all(&records);
            let is_as_found = leave_as_found(&mut records);
            let known = Some((&of_group, found.group));
            let open = if is_as_found {
                Vec::new()
            } else {
                std::mem::take(&mut found.open)
            };
            let mut recorded = write_all(tx, place, &mut records, may_take, known, open)?;
            if is_as_found && let Some(recorded) = recorded.last_mut() {
                recorded.open = found.open;
                recorded.mutations = found.mutations;
                recorded.facts = found.facts;
            }
            Ok(((recorded, answer), counted_steps))
        };
        let written = self.write_about(subject, !is_large, write).await;
        let (decided, counted_steps) = written?;
        for one in counted_steps {
            one.written(true);
        }
        Ok(decided)
    }

    /// Returns one group if it is known, what is open of it, the facts of the place, and the requested extras.
    pub async fn snapshot(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        extras: SnapshotExtras,
    ) -> Result<GroupSnapshot> {
        let id = id.clone();
        self.execute(Access::Short, move |tx| {
            read(tx, place, &id, &extras, false, None)
        })
        .await
    }
}

/// Reads the state of one group together: on a server this is one round trip. `locks` keeps it true until the end of the
/// transaction. `known`: the group as it was just written.
pub(super) fn read(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
    extras: &SnapshotExtras,
    locks: bool,
    known: Option<KnownGroup>,
) -> Result<GroupSnapshot, Fault> {
    let of_group = || values![place, id];
    // Rotations before groups, as everywhere.
    let (open, mutations, group) = if locks {
        (
            tx.lock(journal::OPEN_OF_GROUP, of_group())?,
            tx.lock(mutations::OPEN_OF_GROUP, of_group())?,
            tx.lock(groups::GROUP, of_group())?,
        )
    } else {
        (
            tx.ask(journal::OPEN_OF_GROUP, of_group())?,
            tx.ask(mutations::OPEN_OF_GROUP, of_group())?,
            tx.ask_later(groups::GROUP, of_group()),
        )
    };
    // Read after the locks, which may have waited for a change.
    let last = tx.ask_later(order::OF_GROUP, of_group());
    let facts = tx.ask(facts::OF_PLACE, values![place])?;
    let fingerprint = extras.fingerprint;
    let had_token = fingerprint.map(|token| tx.ask::<()>(history::HAD, values![token, place, id]));
    let profile = extras.profile.as_ref();
    let bound = profile.map(|(profile, url)| tx.ask(places::PLACE_OF, values![profile, url]));
    let gate = extras.key.map(|key| places::ask_gate(tx, place, key));
    let (had_token, bound, gate) = (
        had_token.transpose()?,
        bound.transpose()?,
        gate.transpose()?,
    );
    let (open, mutations) = (open.all()?, mutations.all()?);
    let group = match known {
        // On a server the reads may be repeated after the commit, and then belong together.
        Some(known) if tx.sqlite().is_some() => Some(known),
        _ => groups::known(group)?,
    };
    let last = order::of(last.all()?)?;
    let had_token = had_token.map_or(Ok(None), Asked::one)?.is_some();
    let known = group.as_ref().and_then(KnownGroup::token);
    let replaced_by = match fingerprint.filter(|token| had_token && known != Some(*token)) {
        Some(token) => tx.one(journal::REPLACED_BY, values![place, id, token])?,
        None => None,
    };
    Ok(GroupSnapshot {
        group,
        open,
        mutations,
        noted: last.noted,
        token: last.token,
        facts: facts::of(facts.all()?),
        had_token,
        replaced_by: replaced_by.map(Box::new),
        bound: bound.map_or(Ok(None), Asked::one)?,
        gate: gate.map(places::GateAsked::read).transpose()?,
    })
}

/// Whether the only record writes nothing of what is open or stated; then that need not be read again.
fn leave_as_found(records: &mut [Record]) -> bool {
    let [only] = records else { return false };
    let is_as_found = !only.discards_result
        && only.rotation.is_none()
        && only.handoff.is_none()
        && only.mutation.is_none()
        && only.replaces.is_empty()
        && only.facts.is_empty();
    only.discards_result |= is_as_found;
    is_as_found
}

/// Writes all of them. Above a limit (`may_take`) SQLite does this only once, so the observations can be moved;
/// otherwise it may run again. `known`: a group that was read and locked before in the same transaction, and `open` its
/// open rotations.
fn write_all(
    tx: &Tx<'_>,
    place: PlaceId,
    records: &mut [Record],
    may_take: bool,
    mut known: Option<(&UserGroupId, Option<KnownGroup>)>,
    mut open: Vec<RotationRow>,
) -> Result<Vec<Recorded>, Fault> {
    let last = records.len().saturating_sub(1);
    let recorded = records.iter_mut().enumerate().map(|(at, record)| {
        let observation = match tx.sqlite() {
            Some(_) if may_take => record.observation.take(),
            _ => record.observation.clone(),
        };
        let observed = observation.as_ref().map(|seen| &seen.id);
        // What this record writes is read again for the next one.
        let known = known.take_if(|(id, _)| observed == Some(*id));
        let known = known.map_or(Earlier::Unread, |(_, group)| {
            Earlier::Read(group.map(Box::new))
        });
        // What was stepped is read again for the next one.
        let open = std::mem::take(&mut open);
        write(tx, place, record, observation, (known, open), at == last)
    });
    recorded.collect()
}

/// Whether a group was read earlier in the same transaction; `None` if it was not there.
enum Earlier {
    Unread,
    Read(Option<Box<KnownGroup>>),
}

/// Records the result of one exchange: group, history and journals.
fn write(
    tx: &Tx<'_>,
    place: PlaceId,
    record: &Record,
    observation: Option<Observation>,
    (known, open): (Earlier, Vec<RotationRow>),
    is_last: bool,
) -> Result<Recorded, Fault> {
    let id = observation.as_ref().map(|seen| seen.id.clone());
    let entry = record.entry.as_ref();
    // Rotations before groups, as everywhere.
    let of_rotation = |id| tx.lock(journal::ROTATION, values![id]);
    let rotation = asked(record.rotation.as_ref(), |step| {
        let known = open.into_iter().find(|row| row.id == step.id);
        known.map_or_else(|| of_rotation(step.id), |row| Ok(Asked::known(row)))
    })?;
    let mutation = asked(record.mutation.as_ref(), |step| {
        mutations::claim_step(tx, place, step)
    })?;
    let handoff = asked(record.handoff.as_ref(), |step| of_rotation(step.id))?;
    let unread = id.as_ref().filter(|_| matches!(known, Earlier::Unread));
    let group = unread.map(|id| tx.lock(groups::GROUP, values![place, id]));
    let group = group.transpose()?;
    // First, because this part is refused most often.
    if let Some((step, row)) = rotation {
        journal::step(tx, row, place, step)?;
    }
    if let Some((step, claimed)) = mutation {
        claimed.check(step)?;
    }
    if let Some((step, row)) = handoff {
        journal::set_hand_off(tx, row, place, step)?;
    }
    if let Some(entry) = entry {
        history::add(tx, place, record.key, entry, record.change())?;
    }
    if let (Some(what), Some(entry)) = (&record.alarm, entry) {
        let values = values![place, &entry.user_group_id, what, entry.at, &entry.by];
        tx.put(places::ADD_ALARM, values)?;
    }
    for (id, rest) in &record.replaces {
        tx.put(mutations::REPLACE_SENT, values![rest, *id])?;
    }
    if let (Some(token), Some(id)) = (record.revived, &id) {
        tx.put(journal::REVIVE, values![place, id, token])?;
    }
    facts::state(tx, place, &record.facts)?;
    let mut recorded = match observation {
        Some(observation) => {
            let known = match (known, group) {
                (Earlier::Read(known), _) => known.map(|known| *known),
                (Earlier::Unread, Some(group)) => groups::known(group)?,
                (Earlier::Unread, None) => None,
            };
            groups::observe(tx, known, place, record, observation)?
        }
        None => Recorded::default(),
    };
    let subject = id.as_ref().or(entry.map(|entry| &entry.user_group_id));
    if let Some(id) = subject {
        // Last: the token of a rotation is counted for that rotation.
        count(tx, place, id, record)?;
    }
    if let Some(id) = id.as_ref().filter(|_| !record.discards_result) {
        if is_last {
            tx.ends_with_reads();
            if let Some(extras) = &record.then {
                let group = recorded.group.clone();
                recorded.then = beside(tx, read(tx, place, id, extras, false, group))?;
                return Ok(recorded);
            }
        }
        let open = tx.ask(journal::OPEN_OF_GROUP, values![place, id])?;
        let mutations = tx.ask(mutations::OPEN_OF_GROUP, values![place, id])?;
        let facts = tx.ask(facts::OF_PLACE, values![place])?;
        // On a server all is committed when the first of them is answered, so none of them is damaged enough to fail.
        recorded.open = open.readable()?;
        recorded.mutations = mutations.readable()?;
        recorded.facts = facts::of(facts.all().unwrap_or_default());
    }
    Ok(recorded)
}

/// A step, if there is one, with what was asked for it.
fn asked<'r, S, A>(
    step: Option<&'r S>,
    ask: impl FnOnce(&'r S) -> Result<A, db::Fault>,
) -> Result<Option<(&'r S, A)>, db::Fault> {
    step.map(|step| Ok((step, ask(step)?))).transpose()
}

/// Counts what a record changes, or may have changed, at the service.
fn count(tx: &Tx<'_>, place: PlaceId, id: &UserGroupId, record: &Record) -> Result<(), Fault> {
    if let Some(step) = &record.mutation
        && step.from != mutation::State::Intended
        && step.to != mutation::State::Sent
    {
        order::count(tx, place, id, order::Part::Fields, None)?;
    }
    if let Some(step) = &record.rotation
        && record.gives_token()
    {
        order::count(tx, place, id, order::Part::Token, Some(step.id))?;
    }
    Ok(())
}
