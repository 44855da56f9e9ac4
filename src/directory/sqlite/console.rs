//! How the list of a profile was left. A comfort: what cannot be understood any more is left out.

use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use crate::{
    directory::sql,
    search::{ListView, SortBy},
};

pub(in crate::directory) fn view(
    connection: &Connection,
    profile: &str,
) -> Result<Option<ListView>, Fault> {
    let view = connection
        .prepare_cached(sql::VIEW)?
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

pub(in crate::directory) fn keep_view(
    tx: &Connection,
    profile: &str,
    view: &ListView,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::KEEP_VIEW)?.execute(params![
        profile,
        view.filter,
        view.sort.as_str(),
        view.reverse,
        view.best_first
    ])?;
    Ok(())
}
