//! Notes, labels and favourites of a place. Entries that can no longer be decoded are left out.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{fault::Fault, open};
use crate::{
    db::{self, Access, Asked, Cursor, Read, Tx, Value, record, row, values},
    directory::{Directory, PlaceId, Result},
    domain::{
        annotation::{Annotation, AnnotationChange, Attribution, InvalidAnnotation},
        group::UserGroupId,
    },
};

macro_rules! all {
    () => {
        all!("place")
    };
    ($place:literal) => {
        concat!(
            "SELECT user_group_id, note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite \
FROM annotations WHERE ",
            $place,
            " = $1"
        )
    };
}

impl Directory {
    /// Returns the notes, labels and favourites of a place.
    pub async fn annotations(&self, place: PlaceId) -> Result<BTreeMap<UserGroupId, Annotation>> {
        self.execute(Access::Short, move |tx| read(tx, all!(), values![place]))
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
        self.write_beside(move |tx| {
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

/// The number of the last write.
pub(super) const LAST_CHANGE: &str = "SELECT COALESCE(MAX(change), 0) FROM annotations";

/// The sign keeps SQLite from the index of the place, which has all rows of it.
const CHANGED: &str = concat!(all!("+place"), " AND change > $2");

/// As [`CHANGED`], for what a snapshot did not see. The oldest transaction of the snapshot only serves the index.
const CHANGED_IN: &str = concat!(
    all!(),
    " AND changed_in >= pg_snapshot_xmin(($2::text)::pg_snapshot) \
 AND NOT pg_visible_in_snapshot(changed_in, ($2::text)::pg_snapshot)"
);

fn read<C: Default + Extend<(UserGroupId, Annotation)>>(
    tx: &Tx<'_>,
    text: &'static str,
    values: Vec<Value>,
) -> Result<C, Fault> {
    let mut all = C::default();
    tx.each(text, values, |(id, one): (String, Annotation)| {
        all.extend(UserGroupId::parse(id).map(|id| (id, one)));
        Ok::<_, Fault>(true)
    })?;
    Ok(all)
}

/// Those written since, here as well.
pub(super) fn changed(
    tx: &Tx<'_>,
    place: PlaceId,
    since: Value,
) -> Result<Vec<(UserGroupId, Annotation)>, Fault> {
    let text = tx.sqlite().map_or(CHANGED_IN, |_| CHANGED);
    read(tx, text, values![place, since])
}

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

/// Writes it.
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
    open::shared_by_consoles_written();
    Ok(tx.keep("annotations", 2, row, is_new)?)
}
