//! Notes, labels and favourites of a place. What cannot be understood any more is left out.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::Fault;
use crate::{
    directory::{PlaceId, columns},
    domain::{
        annotation::{Annotation, AnnotationChange, InvalidAnnotation, Label, Written},
        group::UserGroupId,
    },
};

const TABLE: &str = "annotations";

const ALL: &str = "\
SELECT note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite, user_group_id \
FROM annotations WHERE place = $1";

pub(crate) fn all(
    connection: &Connection,
    place: PlaceId,
) -> Result<BTreeMap<UserGroupId, Annotation>, Fault> {
    let mut statement = connection.prepare_cached(ALL)?;
    let mut found = statement.query([place.0])?;
    let mut all = BTreeMap::new();
    while let Some(row) = found.next()? {
        let id: String = row.get(7)?;
        if let Ok(id) = UserGroupId::parse(id) {
            all.insert(id, read(row)?);
        }
    }
    Ok(all)
}

const ONE: &str = "\
SELECT note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite \
FROM annotations WHERE place = $1 AND user_group_id = $2";

const KEEP: &str = "\
INSERT INTO annotations (place, user_group_id, note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
ON CONFLICT (place, user_group_id) DO UPDATE SET note = excluded.note, noted_at = excluded.noted_at, \
 noted_by = excluded.noted_by, labels = excluded.labels, labelled_at = excluded.labelled_at, \
 labelled_by = excluded.labelled_by, favourite = excluded.favourite";

/// All or none; the annotations as they are afterwards.
pub(crate) fn change(
    tx: &Connection,
    place: PlaceId,
    ids: &[UserGroupId],
    change: &AnnotationChange,
    by: &Written,
) -> Result<Result<Vec<(UserGroupId, Annotation)>, InvalidAnnotation>, Fault> {
    let mut changed = Vec::with_capacity(ids.len());
    for id in ids {
        let found = tx
            .prepare_cached(ONE)?
            .query_row(params![place.0, id.as_str()], |row| Ok(read(row)))
            .optional()?;
        let mut annotation = found.transpose()?.unwrap_or_default();
        match annotation.apply(change, by) {
            Ok(differs) => changed.push((id.clone(), annotation, differs)),
            Err(invalid) => return Ok(Err(invalid)),
        }
    }
    for (id, annotation, _) in changed.iter().filter(|(.., differs)| *differs) {
        let labels: Vec<&str> = annotation.labels.iter().map(Label::as_str).collect();
        let labels = serde_json::to_string(&labels).map_err(|_| Fault::Row(TABLE))?;
        let (noted_at, noted_by) = split(annotation.noted.as_ref());
        let (labelled_at, labelled_by) = split(annotation.labelled.as_ref());
        tx.prepare_cached(KEEP)?.execute(params![
            place.0,
            id.as_str(),
            annotation.note,
            noted_at,
            noted_by,
            labels,
            labelled_at,
            labelled_by,
            annotation.is_favourite,
        ])?;
    }
    let changed = changed.into_iter();
    Ok(Ok(changed.map(|(id, now, _)| (id, now)).collect()))
}

fn split(written: Option<&Written>) -> (Option<i64>, Option<&str>) {
    let at = written.map(|written| columns::micros(written.at));
    (at, written.map(|written| written.by.as_str()))
}

fn read(row: &Row<'_>) -> Result<Annotation, Fault> {
    let labels: String = row.get(3)?;
    let labels: Vec<String> = serde_json::from_str(&labels).unwrap_or_default();
    let labels = labels.iter().filter_map(|label| Label::parse(label).ok());
    Ok(Annotation {
        note: row.get(0)?,
        noted: written(row.get(1)?, row.get(2)?),
        labels: labels.collect::<BTreeSet<_>>(),
        labelled: written(row.get(4)?, row.get(5)?),
        is_favourite: row.get(6)?,
    })
}

fn written(at: Option<i64>, by: Option<String>) -> Option<Written> {
    Some(Written {
        at: columns::timestamp(at?)?,
        by: by?,
    })
}
