//! The journal of files that are sent row by row.

use jiff::Timestamp;

use super::{annotations, fault::Fault, groups};
use crate::{
    db::{Access, Tx, record, values},
    directory::{Directory, ImportId, PlaceId, Result, columns::at_stored_precision},
    domain::{
        annotation::{AnnotationPlan, Attribution},
        known::{ImportResult, KnownGroup},
    },
    formats::GroupRow,
};

/// The result for a row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub result: ImportResult,
    pub annotations: AnnotationPlan,
}

/// An import and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub id: ImportId,
    pub started_at: Timestamp,
    pub by: String,
    /// Numbers of the rows that are done, in order; of a refresh, those of the groups.
    pub done: Vec<usize>,
}

impl Directory {
    /// Adds ids with the values of the file where nothing better is known, in one transaction. Notes and labels that
    /// somebody wrote are kept unless `replaces` is set. The results are in the order of the rows.
    pub async fn import(
        &self,
        place: PlaceId,
        rows: Vec<GroupRow>,
        at: Timestamp,
        by: &str,
        replaces: bool,
    ) -> Result<Vec<Imported>> {
        let by = by.to_owned();
        self.write(move |tx| {
            let rows = rows.iter();
            rows.map(|row| import_row(tx, place, row, (at, &by), replaces))
                .collect()
        })
        .await
    }

    /// Returns the unfinished import with this digest that this person would continue, if any: their own, or else one of a
    /// colleague that no later one has made superfluous.
    pub async fn open_import(
        &self,
        place: PlaceId,
        digest: [u8; 32],
        by: &str,
    ) -> Result<Option<Import>> {
        let by = by.to_owned();
        self.execute(Access::Long, move |tx| open(tx, place, digest, &by))
            .await
    }

    /// Continues the unfinished import of the file with this digest, or begins one. `restart`: from the beginning; what this
    /// person left of it ends, what others began stays.
    pub async fn begin_import(
        &self,
        place: PlaceId,
        digest: [u8; 32],
        at: Timestamp,
        by: &str,
        restart: bool,
    ) -> Result<Import> {
        let by = by.to_owned();
        self.write(move |tx| {
            if restart {
                for import in tx.all(OWN, values![place, &digest, &by])? {
                    end(tx, import, at)?;
                }
            } else if let Some(import) = open(tx, place, digest, &by)? {
                return Ok(import);
            }
            let import = tx.one(ADD_IMPORT, values![place, &digest, at, &by])?;
            import.ok_or(Fault::Row("imports"))
        })
        .await
    }

    /// Records that a row is done, so that it is not sent again.
    pub async fn end_row(&self, import: ImportId, row: usize, outcome: &'static str) -> Result<()> {
        self.write(move |tx| Ok(tx.put(END_ROW, values![import, row, outcome])?))
            .await
    }

    /// Closes an import whose rows are all done; if the same file is imported again, it starts from the beginning.
    pub async fn end_import(&self, import: ImportId, at: Timestamp) -> Result<()> {
        self.write(move |tx| end(tx, import, at)).await
    }
}

const ADD_IMPORT: &str = "\
INSERT INTO imports (place, profile, digest, started_at, by) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4) RETURNING *";

record!(Import, "imports" { id, started_at, by } with { done: Vec::new() });

const OPEN: &str = "\
SELECT * FROM imports WHERE place = $1 AND digest = $2 AND ended_at IS NULL AND (by = $3 OR id > COALESCE(\
  (SELECT MAX(later.id) FROM imports later WHERE later.place = $1 AND later.digest = $2 AND later.ended_at IS NOT NULL), 0)) \
ORDER BY by = $3 DESC, id DESC LIMIT 1";

const OWN: &str =
    "SELECT id FROM imports WHERE place = $1 AND digest = $2 AND by = $3 AND ended_at IS NULL";

/// The unfinished import with this digest that this person would continue.
fn open(tx: &Tx<'_>, place: PlaceId, digest: [u8; 32], by: &str) -> Result<Option<Import>, Fault> {
    let Some(mut import) = tx.one::<Import>(OPEN, values![place, &digest, by])? else {
        return Ok(None);
    };
    let text = "SELECT number FROM import_rows WHERE import_id = $1 ORDER BY number";
    import.done = tx.all(text, values![import.id])?;
    Ok(Some(import))
}

const END_ROW: &str = "\
INSERT INTO import_rows (import_id, number, outcome) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

/// Its rows are only for resuming it.
const FORGET_ROWS: &str = "DELETE FROM import_rows WHERE import_id = $1";
const END_IMPORT: &str = "UPDATE imports SET ended_at = $1 WHERE id = $2";

fn end(tx: &Tx<'_>, import: ImportId, at: Timestamp) -> Result<(), Fault> {
    tx.put(END_IMPORT, values![at, import])?;
    Ok(tx.put(FORGET_ROWS, values![import])?)
}

/// Imports a row of a file: adds an unknown id, values where nothing better is known, and annotations. `replaces`: also
/// notes and labels that somebody wrote.
fn import_row(
    tx: &Tx<'_>,
    place: PlaceId,
    row: &GroupRow,
    (at, by): (Timestamp, &str),
    replaces: bool,
) -> Result<Imported, Fault> {
    let at = at_stored_precision(at);
    let has_annotation = !row.annotation.is_empty();
    let known = tx.lock(groups::GROUP, values![place, &row.id])?;
    let annotation = has_annotation.then(|| tx.lock(annotations::ONE, values![place, &row.id]));
    let annotation = annotation.transpose()?;
    let known = groups::known(known)?;
    let is_new = known.is_none();
    let mut group = known.unwrap_or_else(|| KnownGroup::new(row.id.clone()));
    let before = group.clone();
    let taken = group.import(&row.fields, at, by);
    if is_new || group != before {
        groups::save(tx, place, &group, None, is_new)?;
    }
    let mut plan = AnnotationPlan::default();
    if let Some(annotation) = annotation {
        let (is_new, mut annotation) = annotations::known(annotation)?;
        plan = row.annotation.plan(&annotation, replaces);
        let written = Attribution { at, by: by.into() };
        // The change is based on what was just read, so it is never refused.
        if annotation.apply(&plan.change, &written) == Ok(true) {
            annotations::keep(tx, place, &group.id, (is_new, &annotation))?;
        }
    }
    Ok(Imported {
        result: if is_new { ImportResult::Added } else { taken },
        annotations: plan,
    })
}
