//! Notes, labels and favourites of a place. Entries that can no longer be decoded are left out.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::fault::Fault;
use crate::{
    db::{self, Access, Asked, Cursor, Read, Tx, record, row, values},
    directory::{Directory, PlaceId, Result},
    domain::{
        annotation::{Annotation, AnnotationChange, Attribution, InvalidAnnotation},
        group::UserGroupId,
    },
};

impl Directory {
    /// Returns the notes, labels and favourites of a place.
    pub async fn annotations(&self, place: PlaceId) -> Result<BTreeMap<UserGroupId, Annotation>> {
        self.execute(Access::Short, move |tx| {
            let mut all = BTreeMap::new();
            tx.each(ALL, values![place], |(id, one): (String, Annotation)| {
                all.extend(UserGroupId::parse(id).map(|id| (id, one)));
                Ok::<_, Fault>(true)
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
    ) -> Result<Vec<Option<Annotation>>> {
        self.execute(Access::Short, move |tx| {
            let all = ids.iter().map(|id| tx.ask(ONE, values![place, id]));
            let all = all.collect::<Result<Vec<_>, _>>()?;
            Ok(all.into_iter().map(Asked::one).collect::<Result<_, _>>()?)
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
    ) -> Result<Result<Vec<(UserGroupId, Annotation)>, InvalidAnnotation>> {
        self.write(move |tx| {
            // Each id once and in a fixed order, so that two writers holding row locks never wait for each other.
            let sorted: BTreeSet<_> = ids.iter().collect();
            let found = sorted.iter().map(|id| tx.lock(ONE, values![place, *id]));
            let found = found.collect::<Result<Vec<_>, _>>()?;
            let mut changed = BTreeMap::new();
            let mut written = Vec::new();
            for (id, found) in sorted.into_iter().zip(found) {
                let (is_new, mut annotation) = known(found)?;
                match annotation.apply(&change, &by) {
                    Ok(true) => written.push((id, is_new)),
                    Ok(false) => {}
                    Err(invalid) => return Ok(Err(invalid)),
                }
                changed.insert(id, annotation);
            }
            for (id, is_new) in written {
                keep(tx, place, id, (is_new, &changed[id]))?;
            }
            let asked = ids.iter();
            let changed = asked.filter_map(|id| Some((id.clone(), changed.get(id)?.clone())));
            Ok(Ok(changed.collect()))
        })
        .await
    }
}

const ALL: &str = "\
SELECT user_group_id, note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite \
FROM annotations WHERE place = $1";

pub(super) const ONE: &str = "SELECT * FROM annotations WHERE place = $1 AND user_group_id = $2";

record!(Annotation, "annotations" {
    note, noted = "noted_at, noted_by", labels, labelled = "labelled_at, labelled_by", is_favourite = "favourite",
});

/// In two columns, named together: when, and by whom.
impl Read for Option<Attribution> {
    fn columns(names: &'static str, list: &mut Vec<&'static str>) {
        list.push(names);
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self, db::Fault> {
        let at: Option<Timestamp> = row.next().unwrap_or_default();
        let by: Option<String> = row.next()?;
        Ok(at.zip(by).map(|(at, by)| Attribution { at, by }))
    }
}

/// Whether the row is new, and its content.
pub(super) fn known(found: Asked<'_, '_, Annotation>) -> Result<(bool, Annotation), Fault> {
    let known = found.one()?;
    Ok((known.is_none(), known.unwrap_or_default()))
}

/// Writes it. On a server with several writers a new row fails if another one was faster; then the work starts again.
pub(super) fn keep(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
    (is_new, annotation): (bool, &Annotation),
) -> Result<(), Fault> {
    let Annotation {
        note,
        noted,
        labels,
        labelled,
        is_favourite,
    } = annotation;
    let (noted, labelled) = (noted.as_ref(), labelled.as_ref());
    let row = row! {
        place,
        user_group_id: id,
        note: note.as_ref(),
        noted_at: noted.map(|noted| noted.at),
        noted_by: noted.map(|noted| &noted.by),
        labels,
        labelled_at: labelled.map(|labelled| labelled.at),
        labelled_by: labelled.map(|labelled| &labelled.by),
        favourite: *is_favourite,
    };
    if is_new {
        tx.insert("annotations", row)?;
    } else {
        tx.update("annotations", 2, row)?;
    }
    Ok(())
}
