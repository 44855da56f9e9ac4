//! How the list of a profile was left. A comfort: what cannot be understood any more is left out.

use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use crate::search::{ListView, SortBy};

const VIEW: &str = "SELECT filter, sort, reverse, best_first FROM console_views WHERE profile = $1";

pub(crate) fn view(connection: &Connection, profile: &str) -> Result<Option<ListView>, Fault> {
    let view = connection
        .prepare_cached(VIEW)?
        .query_row([profile], |row| {
            let sort: String = row.get(1)?;
            Ok(ListView {
                filter: row.get(0)?,
                sort: SortBy::parse(&sort).unwrap_or_default(),
                reverse: row.get(2)?,
                best_first: row.get(3)?,
            })
        })
        .optional()?;
    Ok(view)
}

const KEEP_VIEW: &str = "\
INSERT INTO console_views (profile, filter, sort, reverse, best_first) VALUES ($1, $2, $3, $4, $5) \
ON CONFLICT (profile) DO UPDATE SET filter = excluded.filter, sort = excluded.sort, reverse = excluded.reverse, \
 best_first = excluded.best_first";

pub(crate) fn keep_view(tx: &Connection, profile: &str, view: &ListView) -> Result<(), Fault> {
    tx.prepare_cached(KEEP_VIEW)?.execute(params![
        profile,
        view.filter,
        view.sort.as_str(),
        view.reverse,
        view.best_first
    ])?;
    Ok(())
}
