//! Notes, labels and favourites of a place. Entries that can no longer be decoded are left out.

use std::collections::{BTreeMap, BTreeSet};

use super::fault::Fault;
use crate::{
    database::{Access, Results, Row, Statements, Value, values},
    directory::{Directory, DirectoryError, PlaceId, columns},
    domain::{
        annotation::{Annotation, AnnotationChange, Attribution, InvalidAnnotation, Label},
        group::UserGroupId,
    },
};

impl Directory {
    /// Returns the notes, labels and favourites of a place.
    pub async fn annotations(
        &self,
        place: PlaceId,
    ) -> Result<BTreeMap<UserGroupId, Annotation>, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            let mut all = BTreeMap::new();
            tx.each(ALL, values![place.0], |row| {
                if let Ok(id) = UserGroupId::parse(row.text(7)?) {
                    all.insert(id, read(row)?);
                }
                Ok::<_, Fault>(())
            })?;
            Ok(all)
        })
        .await
    }

    /// As [`Self::annotations`], for these groups, in the order of `ids`. Meant for up to a few hundred ids.
    pub async fn annotations_by_ids(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<Annotation>>, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            let all = ids
                .iter()
                .map(|id| tx.one(ONE, values![place.0, id.as_str()], read));
            all.collect()
        })
        .await
    }

    /// Changes the annotations of these groups, all or none, and returns the result in the same order.
    pub async fn annotate(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
        change: AnnotationChange,
        by: Attribution,
    ) -> Result<Result<Vec<(UserGroupId, Annotation)>, InvalidAnnotation>, DirectoryError> {
        self.write(move |tx| {
            // Each id once and in a fixed order, so that two writers holding row locks never wait for each other.
            let sorted: BTreeSet<_> = ids.iter().collect();
            let mut reads = Statements::default();
            for id in &sorted {
                query(&mut reads, place, id);
            }
            let mut found = tx.read(reads)?;
            let mut writes = Statements::default();
            let mut changed = BTreeMap::new();
            for id in sorted {
                let (is_new, mut annotation) = parse(&mut found)?;
                match annotation.apply(&change, &by) {
                    Ok(true) => keep(&mut writes, place, id, (is_new, &annotation))?,
                    Ok(false) => {}
                    Err(invalid) => return Ok(Err(invalid)),
                }
                changed.insert(id, annotation);
            }
            tx.write_all_later(writes)?;
            let asked = ids.iter();
            let changed = asked.filter_map(|id| Some((id.clone(), changed.get(id)?.clone())));
            Ok(Ok(changed.collect()))
        })
        .await
    }
}

const TABLE: &str = "annotations";

const ALL: &str = "\
SELECT note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite, user_group_id \
FROM annotations WHERE place = $1";

const ONE: &str = "\
SELECT note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite \
FROM annotations WHERE place = $1 AND user_group_id = $2";

/// On a server with several writers this fails if another one was faster; then the request starts again.
const ADD: &str = "\
INSERT INTO annotations (note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite, place, user_group_id) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// The row was read in the same transaction.
const REPLACE: &str = "\
UPDATE annotations SET note = $1, noted_at = $2, noted_by = $3, labels = $4, labelled_at = $5, labelled_by = $6, \
 favourite = $7 WHERE place = $8 AND user_group_id = $9";

/// Adds the statement whose rows [`parse`] reads.
pub(super) fn query(reads: &mut Statements, place: PlaceId, id: &UserGroupId) {
    reads.lock(ONE, values![place.0, id.as_str()]);
}

/// Whether the row is new, and its content.
pub(super) fn parse(found: &mut Results) -> Result<(bool, Annotation), Fault> {
    let known = found.next().first(read)?;
    Ok((known.is_none(), known.unwrap_or_default()))
}

pub(super) fn keep(
    writes: &mut Statements,
    place: PlaceId,
    id: &UserGroupId,
    (is_new, annotation): (bool, &Annotation),
) -> Result<(), Fault> {
    let text = if is_new { ADD } else { REPLACE };
    writes.add(text, row(place, id, annotation)?);
    Ok(())
}

fn row(place: PlaceId, id: &UserGroupId, annotation: &Annotation) -> Result<Vec<Value>, Fault> {
    let labels: Vec<&str> = annotation.labels.iter().map(Label::as_str).collect();
    let labels = serde_json::to_string(&labels).map_err(|_| Fault::Row(TABLE))?;
    let (noted_at, noted_by) = split(annotation.noted.as_ref());
    let (labelled_at, labelled_by) = split(annotation.labelled.as_ref());
    Ok(values![
        annotation.note.as_ref(),
        noted_at,
        noted_by,
        labels,
        labelled_at,
        labelled_by,
        annotation.is_favourite,
        place.0,
        id.as_str(),
    ])
}

fn split(written: Option<&Attribution>) -> (Option<i64>, Option<&str>) {
    let at = written.map(|written| columns::micros(written.at));
    (at, written.map(|written| written.by.as_str()))
}

fn read(row: &Row<'_>) -> Result<Annotation, Fault> {
    let labels: Vec<String> = serde_json::from_str(row.text(3)?).unwrap_or_default();
    let labels = labels.iter().filter_map(|label| Label::parse(label).ok());
    Ok(Annotation {
        note: row.get(0)?,
        noted: written(row.get(1)?, row.get(2)?),
        labels: labels.collect::<BTreeSet<_>>(),
        labelled: written(row.get(4)?, row.get(5)?),
        is_favourite: row.get(6)?,
    })
}

fn written(at: Option<i64>, by: Option<String>) -> Option<Attribution> {
    Some(Attribution {
        at: columns::timestamp(at?)?,
        by: by?,
    })
}
