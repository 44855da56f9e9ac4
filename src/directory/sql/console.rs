//! The list view as a profile last left it, and views saved under a name. A convenience: what can no longer be decoded
//! is left out.

use super::{fault::Fault, open};
use crate::{
    db::{Access, NewRow, Tx, record, row, values},
    directory::{Directory, Result, Role},
    domain::annotation::Attribution,
    search::{ListView, SavedView},
};

record!(ListView, "console_views" { filter, sort, reverse, best_first, columns });
record!(SavedView, "saved_views" { name, view, written });

const ONE: &str = "SELECT * FROM saved_views WHERE name = $1";

/// The columns of a view, after these.
fn with_view(mut row: NewRow, view: &ListView) -> NewRow {
    row.extend(row! {
        filter: &view.filter,
        sort: &view.sort,
        reverse: view.reverse,
        best_first: view.best_first,
        columns: &view.columns,
    });
    row
}

pub(super) fn saved_views(tx: &Tx<'_>) -> Result<Vec<SavedView>, Fault> {
    Ok(tx.readable("SELECT * FROM saved_views ORDER BY name", values![])?)
}

impl Directory {
    /// Returns the list view as this profile last left it, if it was saved.
    pub async fn view(&self, profile: &str) -> Result<Option<ListView>> {
        let text = "SELECT * FROM console_views WHERE profile = $1";
        self.one(text, values![profile]).await
    }

    /// Saves the list view of a profile, replacing the previous one. A viewer leaves nothing behind.
    pub async fn keep_view(&self, profile: &str, view: ListView) -> Result<()> {
        if self.role() == Some(Role::Viewer) {
            return Ok(());
        }
        let profile = profile.to_owned();
        self.write(move |tx| {
            let text = "DELETE FROM console_views WHERE profile = $1";
            tx.put(text, values![&profile])?;
            let row = with_view(row! { profile: &profile }, &view);
            Ok(tx.insert("console_views", row)?)
        })
        .await
    }

    /// Returns the saved list views, by name.
    pub async fn saved_views(&self) -> Result<Vec<SavedView>> {
        self.execute(Access::Short, saved_views).await
    }

    /// Saves a view under a name. Returns the one that has this name if it is not `seen`, or belongs to a colleague on a
    /// server: then nothing is saved.
    pub async fn save_view(
        &self,
        name: &str,
        view: ListView,
        seen: Option<SavedView>,
        written: Attribution,
    ) -> Result<Result<(), SavedView>> {
        let name = name.to_owned();
        self.write_beside(move |tx| {
            let there: Option<SavedView> = tx.one(ONE, values![&name])?;
            let own: Option<SavedView> = tx.lock(ONE, values![&name])?.one()?;
            if let Some(other) = there.filter(|_| own.is_none() || own != seen) {
                return Ok(Err(other));
            }
            let row = row! { name: &name, at: written.at, by: &written.by };
            let row = with_view(row, &view);
            tx.keep("saved_views", 1, row, own.is_none())?;
            open::shared_by_consoles_written();
            Ok(Ok(()))
        })
        .await
    }

    /// Removes a saved view; returns whether there was this one, and it does not belong to a colleague on a server.
    pub async fn remove_view(&self, seen: SavedView) -> Result<bool> {
        self.write_beside(move |tx| {
            let there: Option<SavedView> = tx.lock(ONE, values![&seen.name])?.one()?;
            let is_seen = there.is_some_and(|there| there == seen);
            if is_seen {
                let text = "DELETE FROM saved_views WHERE name = $1";
                tx.put(text, values![&seen.name])?;
                open::shared_by_consoles_written();
            }
            Ok(is_seen)
        })
        .await
    }
}
