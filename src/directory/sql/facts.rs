//! The facts of a place, and the tag that its answers carry.

use super::{fault::Fault, states::restored};
use crate::{
    db::{Access, TimelineCheck, Tx, row, values},
    directory::{Directory, PlaceId, Result, Statement, columns::timestamp},
    domain::{
        facts::{Basis, Fact, Facts, Field, Stated, THE_SERVICE},
        group::EnvironmentTag,
    },
    platform::clock::Clock,
};

impl Directory {
    /// Returns the facts of this place; by default nothing is known.
    pub async fn facts(&self, place: PlaceId) -> Result<Facts> {
        self.execute(Access::Short, move |tx| {
            Ok(of(tx.ask(OF_PLACE, values![place])?.all()?))
        })
        .await
    }

    /// Records the stated facts, replacing what was known before.
    pub async fn state_facts(&self, place: PlaceId, statements: Vec<Statement>) -> Result<()> {
        self.write(move |tx| state(tx, place, &statements)).await
    }
}

/// Fact, value, basis, when in microseconds, by whom.
type Row = (String, String, String, i64, String);

/// What was restored or copied may lack changes that were sent, or be changed beside its source: that it is the only
/// writer has to be said again.
pub(in crate::directory) const WITHDRAW_SOLE_WRITER: &str = concat!(
    "UPDATE facts SET value = 'no', source = 'proven', at = $1, by = ",
    restored!(),
    " WHERE fact = 'sole_writer' AND (value = 'yes' OR by = ",
    restored!(),
    ")"
);

/// The statements about the only writer that do not hold for an older copy, and the number of the latest change: of one that was
/// restored already, what was sent since may be missing the next time.
const SAID: &str = concat!(
    "SELECT place, at, (SELECT COALESCE(MAX(id), 0) FROM mutations) FROM facts \
     WHERE fact = 'sole_writer' AND (value = 'yes' OR by = ",
    restored!(),
    ")"
);

/// Remembers outside a file its latest change. Whether the file lacks changes that were seen before: then it was restored.
pub(in crate::directory) fn lacks_changes(
    tx: &Tx<'_>,
    seen: &TimelineCheck,
) -> Result<bool, Fault> {
    let said = tx.all::<(i64, i64, i64)>(SAID, values![])?;
    let is_behind =
        |(place, at, latest): (i64, i64, i64)| seen(&format!("{place}-{at}"), latest).is_err();
    Ok(said.into_iter().any(is_behind))
}

/// The statements no longer count if the file lacks changes. Asked again with the lock of a writer: another process may
/// have made a change, and remembered it, after a read began.
pub(in crate::directory) fn withdraw_if_restored(
    tx: &Tx<'_>,
    seen: &TimelineCheck,
) -> Result<(), Fault> {
    if lacks_changes(tx, seen)? {
        tx.write(WITHDRAW_SOLE_WRITER, values![Clock::System.now()])?;
    }
    Ok(())
}

pub(super) const OF_PLACE: &str = "SELECT fact, value, source, at, by FROM facts WHERE place = $1";

pub(super) fn of(rows: Vec<Row>) -> Facts {
    fn stated<T>(value: T, basis: Basis, at: i64, by: String) -> Stated<T> {
        Stated {
            value,
            basis,
            at: timestamp(at),
            by: Some(by),
        }
    }
    let mut facts = Facts::default();
    for (fact, value, basis, at, by) in rows {
        // A fact that a later version wrote counts as unknown.
        let (Some(fact), Some(basis)) = (Fact::parse(&fact, &value), Basis::parse(&basis)) else {
            continue;
        };
        // As 0.2.0 wrote it.
        let is_announced = basis == Basis::Told && by == THE_SERVICE;
        let basis = if is_announced {
            Basis::Announced
        } else {
            basis
        };
        match fact {
            Fact::PropertiesOnGet(value) => facts.properties_on_get = stated(value, basis, at, by),
            Fact::OmittedField(field, value) => {
                let slot = match field {
                    Field::Name => &mut facts.absent_name,
                    Field::Mapping => &mut facts.absent_mapping,
                    Field::Properties => &mut facts.absent_properties,
                };
                *slot = stated(value, basis, at, by);
            }
            Fact::SoleWriter(value) => facts.sole_writer = stated(value, basis, at, by),
        }
    }
    facts
}

/// The first tag in an answer becomes the tag of the place, if no profile names one.
pub(super) fn first_tag(tx: &Tx<'_>, place: PlaceId, tag: &EnvironmentTag) -> Result<(), Fault> {
    let text = "UPDATE places SET tag = $1 WHERE number = $2 AND tag IS NULL";
    Ok(tx.put(text, values![tag, place])?)
}

pub(super) fn state(tx: &Tx<'_>, place: PlaceId, statements: &[Statement]) -> Result<(), Fault> {
    for Statement {
        fact,
        basis,
        at,
        by,
    } in statements
    {
        let row = row! {
            place,
            fact: fact.name(),
            value: fact.value(),
            source: *basis,
            at,
            by,
        };
        tx.upsert("facts", 2, row)?;
    }
    Ok(())
}
