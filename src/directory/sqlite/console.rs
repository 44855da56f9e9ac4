//! How the list of a profile was left, and views that were saved under a name. A comfort: what cannot be understood any
//! more is left out.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::Fault;
use crate::{
    directory::columns,
    domain::annotation::Written,
    search::{ListColumn, ListView, SavedView, SortBy},
};

const VIEW: &str =
    "SELECT filter, sort, reverse, best_first, columns FROM console_views WHERE profile = $1";

pub(crate) fn view(connection: &Connection, profile: &str) -> Result<Option<ListView>, Fault> {
    let view = connection
        .prepare_cached(VIEW)?
        .query_row([profile], read)
        .optional()?;
    Ok(view)
}

fn read(row: &Row<'_>) -> rusqlite::Result<ListView> {
    let (sort, columns): (String, String) = (row.get(1)?, row.get(4)?);
    Ok(ListView {
        filter: row.get(0)?,
        sort: SortBy::parse(&sort).unwrap_or_default(),
        reverse: row.get(2)?,
        best_first: row.get(3)?,
        columns: ListColumn::parse_all(&columns).unwrap_or_default(),
    })
}

const KEEP_VIEW: &str = "\
INSERT INTO console_views (profile, filter, sort, reverse, best_first, columns) VALUES ($1, $2, $3, $4, $5, $6) \
ON CONFLICT (profile) DO UPDATE SET filter = excluded.filter, sort = excluded.sort, reverse = excluded.reverse, \
 best_first = excluded.best_first, columns = excluded.columns";

pub(crate) fn keep_view(tx: &Connection, profile: &str, view: &ListView) -> Result<(), Fault> {
    tx.prepare_cached(KEEP_VIEW)?.execute(params![
        profile,
        view.filter,
        view.sort.to_string(),
        view.reverse,
        view.best_first,
        ListColumn::text_of(&view.columns)
    ])?;
    Ok(())
}

const SAVED: &str = "\
SELECT filter, sort, reverse, best_first, columns, name, at, by FROM saved_views ORDER BY name";

pub(crate) fn saved_views(connection: &Connection) -> Result<Vec<SavedView>, Fault> {
    let mut statement = connection.prepare_cached(SAVED)?;
    let mut rows = statement.query([])?;
    let mut saved = Vec::new();
    while let Some(row) = rows.next()? {
        let Some(at) = columns::timestamp(row.get(6)?) else {
            continue;
        };
        saved.push(SavedView {
            name: row.get(5)?,
            view: read(row)?,
            written: Written {
                at,
                by: row.get(7)?,
            },
        });
    }
    Ok(saved)
}

const SAVE: &str = "\
INSERT INTO saved_views (name, filter, sort, reverse, best_first, columns, at, by) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
ON CONFLICT (name) DO UPDATE SET filter = excluded.filter, sort = excluded.sort, reverse = excluded.reverse, \
 best_first = excluded.best_first, columns = excluded.columns, at = excluded.at, by = excluded.by";

pub(crate) fn save_view(
    tx: &Connection,
    name: &str,
    view: &ListView,
    written: &Written,
) -> Result<(), Fault> {
    tx.prepare_cached(SAVE)?.execute(params![
        name,
        view.filter,
        view.sort.to_string(),
        view.reverse,
        view.best_first,
        ListColumn::text_of(&view.columns),
        columns::micros(written.at),
        written.by,
    ])?;
    Ok(())
}

pub(crate) fn remove_view(tx: &Connection, name: &str) -> Result<bool, Fault> {
    let removed = tx
        .prepare_cached("DELETE FROM saved_views WHERE name = $1")?
        .execute([name])?;
    Ok(removed > 0)
}
