//! The list view as a profile last left it, and views saved under a name. A convenience: what can no longer be decoded
//! is left out.

use super::fault::Fault;
use crate::{
    database::{Access, Row, values},
    directory::{Directory, DirectoryError, Role, columns},
    domain::annotation::Attribution,
    search::{ListColumn, ListView, SavedView, SortBy},
};

impl Directory {
    /// Returns the list view as this profile last left it, if it was saved.
    pub async fn view(&self, profile: &str) -> Result<Option<ListView>, DirectoryError> {
        let profile = profile.to_owned();
        self.execute(Access::Short, move |tx| {
            let profile = &profile;
            tx.one(VIEW, values![profile], read)
        })
        .await
    }

    /// Saves the list view of a profile, replacing the previous one. A viewer leaves nothing behind.
    pub async fn keep_view(&self, profile: &str, view: ListView) -> Result<(), DirectoryError> {
        if self.role() == Some(Role::Viewer) {
            return Ok(());
        }
        let profile = profile.to_owned();
        self.write(move |tx| {
            let profile = &profile;
            let values = values![
                profile,
                &view.filter,
                view.sort.to_string(),
                view.reverse,
                view.best_first,
                ListColumn::text_of(&view.columns),
            ];
            tx.write(FORGET_VIEW, values![profile])?;
            tx.write(KEEP_VIEW, values)?;
            Ok(())
        })
        .await
    }

    /// Returns the saved list views, by name.
    pub async fn saved_views(&self) -> Result<Vec<SavedView>, DirectoryError> {
        self.execute(Access::Short, |tx| {
            let saved = tx.all(SAVED, values![], |row| {
                let Some(at) = columns::timestamp(row.get(6)?) else {
                    return Ok(None);
                };
                let by = row.get(7)?;
                Ok::<_, Fault>(Some(SavedView {
                    name: row.get(5)?,
                    view: read(row)?,
                    written: Attribution { at, by },
                }))
            })?;
            Ok(saved.into_iter().flatten().collect())
        })
        .await
    }

    /// Saves a view under a name, replacing any of that name.
    pub async fn save_view(
        &self,
        name: &str,
        view: ListView,
        by: Attribution,
    ) -> Result<(), DirectoryError> {
        let name = name.to_owned();
        self.write(move |tx| {
            let name = &name;
            let written = &by;
            let values = values![
                name,
                &view.filter,
                view.sort.to_string(),
                view.reverse,
                view.best_first,
                ListColumn::text_of(&view.columns),
                columns::micros(written.at),
                &written.by,
            ];
            tx.write(SAVE, values)?;
            Ok(())
        })
        .await
    }

    /// Removes a saved view; returns whether it existed.
    pub async fn remove_view(&self, name: &str) -> Result<bool, DirectoryError> {
        let name = name.to_owned();
        self.write(move |tx| {
            let name = &name;
            let removed = tx.write("DELETE FROM saved_views WHERE name = $1", values![name])?;
            Ok(removed > 0)
        })
        .await
    }
}

const VIEW: &str =
    "SELECT filter, sort, reverse, best_first, columns FROM console_views WHERE profile = $1";

fn read(row: &Row<'_>) -> Result<ListView, Fault> {
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
INSERT INTO console_views (profile, filter, sort, reverse, best_first, columns) VALUES ($1, $2, $3, $4, $5, $6)";
const FORGET_VIEW: &str = "DELETE FROM console_views WHERE profile = $1";

const SAVED: &str = "\
SELECT filter, sort, reverse, best_first, columns, name, at, by FROM saved_views ORDER BY name";

const SAVE: &str = "\
INSERT INTO saved_views (name, filter, sort, reverse, best_first, columns, at, by) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
ON CONFLICT (name) DO UPDATE SET filter = excluded.filter, sort = excluded.sort, reverse = excluded.reverse, \
 best_first = excluded.best_first, columns = excluded.columns, at = excluded.at, by = excluded.by";
