//! The facts of a place, and the tag that its answers carry.

use super::fault::Fault;
use crate::{
    database::{Access, Results, Row, Statements, values},
    directory::{Directory, DirectoryError, Fact, PlaceId, Statement, columns},
    domain::{
        facts::{Basis, Facts, Field, Stated},
        group::EnvironmentTag,
    },
};

impl Directory {
    /// Returns the facts of this place; by default nothing is known.
    pub async fn facts(&self, place: PlaceId) -> Result<Facts, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            let mut facts = Facts::default();
            tx.each(FACTS, values![place.0], |row| take(&mut facts, row))?;
            Ok(facts)
        })
        .await
    }

    /// Records the stated facts, replacing what was known before.
    pub async fn state_facts(
        &self,
        place: PlaceId,
        statements: Vec<Statement>,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| Ok(tx.write_all(state(place, &statements))?))
            .await
    }
}

const FACTS: &str = "SELECT fact, value, source, at, by FROM facts WHERE place = $1";

/// Adds the same query to other statements.
pub(super) fn query(reads: &mut Statements, place: PlaceId) {
    reads.add(FACTS, values![place.0]);
}

pub(super) fn parse(found: &mut Results) -> Result<Facts, Fault> {
    let mut facts = Facts::default();
    found.next().all(|row| take(&mut facts, row))?;
    Ok(facts)
}

fn take(facts: &mut Facts, row: &Row<'_>) -> Result<(), Fault> {
    // A fact that a later version wrote counts as unknown.
    let (Some(fact), Some(basis)) = (
        Fact::parse(row.text(0)?, row.text(1)?),
        Basis::parse(row.text(2)?),
    ) else {
        return Ok(());
    };
    let at = columns::timestamp(row.get(3)?);
    let by = Some(row.get(4)?);
    match fact {
        Fact::PropertiesOnGet(value) => {
            facts.properties_on_get = stated(value, basis, at, by);
        }
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
    Ok(())
}

const FIRST_TAG: &str = "UPDATE places SET tag = $1 WHERE number = $2 AND tag IS NULL";

/// The first tag in an answer becomes the tag of the place, if no profile names one.
pub(super) fn first_tag(writes: &mut Statements, place: PlaceId, tag: &EnvironmentTag) {
    writes.add(FIRST_TAG, values![tag.as_str(), place.0]);
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

pub(crate) fn state(place: PlaceId, statements: &[Statement]) -> Statements {
    let mut writes = Statements::default();
    for statement in statements {
        let values = values![
            place.0,
            statement.fact.name(),
            statement.fact.value(),
            statement.basis.as_str(),
            columns::micros(statement.at),
            &statement.by,
        ];
        writes.add(STATE_FACT, values);
    }
    writes
}
