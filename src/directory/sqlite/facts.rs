//! The facts of a place, and the tag that its answers carry.

use rusqlite::{Connection, params};

use super::fault::Fault;
use crate::{
    directory::{Fact, PlaceId, Statement, columns},
    domain::{
        facts::{Basis, Facts, Field, Stated},
        group::EnvironmentTag,
    },
};

const FACTS: &str = "SELECT fact, value, source, at, by FROM facts WHERE place = $1";

pub(crate) fn of(connection: &Connection, place: PlaceId) -> Result<Facts, Fault> {
    let mut statement = connection.prepare_cached(FACTS)?;
    let mut found = statement.query([place.0])?;
    let mut facts = Facts::default();
    while let Some(row) = found.next()? {
        let (name, value, source): (String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        // What a later version wrote counts as not known.
        let (Some(fact), Some(basis)) = (Fact::parse(&name, &value), Basis::parse(&source)) else {
            continue;
        };
        let at = columns::timestamp(row.get(3)?);
        let by: String = row.get(4)?;
        let by = Some(by);
        match fact {
            Fact::PropertiesOnGet(value) => {
                facts.properties_on_get = stated(value, basis, at, by);
            }
            Fact::Absent(field, value) => {
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
    Ok(facts)
}

const FIRST_TAG: &str = "UPDATE places SET tag = $1 WHERE number = $2 AND tag IS NULL";

/// The first tag that an answer brought is the place's, where no profile names one.
pub(super) fn first_tag(
    tx: &Connection,
    place: PlaceId,
    tag: &EnvironmentTag,
) -> Result<(), Fault> {
    tx.prepare_cached(FIRST_TAG)?
        .execute(params![tag.as_str(), place.0])?;
    Ok(())
}

fn stated<T>(value: T, basis: Basis, at: Option<jiff::Timestamp>, by: Option<String>) -> Stated<T> {
    Stated {
        value,
        basis,
        at,
        by,
    }
}

const STATE_FACT: &str = "\
INSERT INTO facts (place, fact, value, source, at, by) VALUES ($1, $2, $3, $4, $5, $6) \
ON CONFLICT (place, fact) DO UPDATE SET value = excluded.value, source = excluded.source, at = excluded.at, \
 by = excluded.by";

pub(crate) fn state(
    tx: &Connection,
    place: PlaceId,
    statements: &[Statement],
) -> Result<(), Fault> {
    for said in statements {
        tx.prepare_cached(STATE_FACT)?.execute(params![
            place.0,
            said.fact.name(),
            said.fact.value(),
            said.basis.as_str(),
            columns::micros(said.at),
            said.by,
        ])?;
    }
    Ok(())
}
