//! Follows what others change in the place of a profile.

use std::collections::BTreeSet;

use super::prelude::*;
use crate::{
    directory::{HistoryCursor, Numbered, Watch},
    operations::{ChangeCursor, Changes, DirectoryError, fail_at},
};

/// Follows the place that the profile is bound to, also after it is bound to another one.
pub struct Feed {
    operations: Operations,
    /// Whether something may have been written, and how the directory can be reached.
    pub watch: Watch,
}

impl Operations {
    /// Returns the cursor from which a feed misses nothing written from now on.
    pub async fn cursor(&self) -> Result<ChangeCursor, DirectoryError> {
        self.directory().cursor(self.place().await?).await
    }

    /// Follows changes of others from this cursor on. Must be called inside a Tokio runtime.
    pub fn feed(&self, from: ChangeCursor) -> Feed {
        let mut watch = self.directory().watch(from);
        if fail_at("file-events").is_err() {
            watch.disable_events();
        }
        Feed {
            operations: self.clone(),
            watch,
        }
    }
}

/// Follows the history of a place: returns each entry once, whoever wrote it.
pub struct HistoryFeed {
    feed: Feed,
    cursor: HistoryCursor,
    /// Numbers of the entries already returned; only the most recent are kept.
    returned: BTreeSet<i64>,
}

/// How many numbers are remembered: a cursor never returns an entry that is older than that many others.
const REMEMBERED: usize = 10_000;

impl Operations {
    /// Follows the history from now on. Must be called inside a Tokio runtime.
    pub async fn history_feed(&self) -> Result<HistoryFeed, DirectoryError> {
        let place = self.place().await?;
        let (cursor, _) = self.directory().history_since(place, None).await?;
        Ok(HistoryFeed {
            feed: self.feed(self.cursor().await?),
            cursor,
            returned: BTreeSet::new(),
        })
    }
}

impl HistoryFeed {
    /// Whether this entry is new, and marks it as seen.
    pub fn is_new(&mut self, number: i64) -> bool {
        let is_new = self.returned.insert(number);
        if self.returned.len() > REMEMBERED {
            self.returned.pop_first();
        }
        is_new
    }

    /// Returns the entries written since the last call, oldest first.
    pub async fn read_new(&mut self) -> Result<Vec<Numbered<Entry>>, DirectoryError> {
        let operations = &self.feed.operations;
        let place = operations.place().await?;
        let cursor = Some(self.cursor.clone());
        let (next, mut entries) = operations.directory().history_since(place, cursor).await?;
        self.cursor = next;
        entries.retain(|entry| self.is_new(entry.number));
        Ok(entries)
    }

    /// The feed that signals when something may have been written.
    pub fn feed(&mut self) -> &mut Feed {
        &mut self.feed
    }
}

impl Feed {
    /// Returns what others have changed since the last call; `None` if nobody else has written.
    pub async fn read_changes(&mut self) -> Result<Option<Changes>, DirectoryError> {
        let place = self.operations.place().await?;
        loop {
            let begun = self.watch.position();
            let mut changes = self.watch.read_changes(place).await?;
            if let Some(changes) = &mut changes {
                changes.at_work = self.operations.at_work(&changes.open).await?;
            }
            if !self.watch.missed(begun) {
                return Ok(changes);
            }
        }
    }
}
