//! Follows what others change in the place of a profile.

use std::collections::BTreeSet;

use crate::{
    directory::{HistoryCursor, Numbered, Watch, WatchedLine},
    domain::history::Entry,
    operations::{ChangeCursor, Changes, DirectoryError, Operations, break_at},
};

/// Follows the place that the profile is bound to, also after it is bound to another one.
pub struct Feed {
    operations: Operations,
    watch: Watch,
}

impl Operations {
    /// Returns the cursor from which a feed misses nothing written from now on.
    pub async fn cursor(&self) -> Result<ChangeCursor, DirectoryError> {
        self.directory().cursor(self.place().await?).await
    }

    /// Follows changes of others from this cursor on. Must be called inside a Tokio runtime.
    pub fn feed(&self, from: ChangeCursor) -> Feed {
        let mut watch = self.directory().watch(from);
        if break_at("file-events").is_err() {
            watch.forget_events();
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
    told: BTreeSet<i64>,
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
            told: BTreeSet::new(),
        })
    }
}

impl HistoryFeed {
    /// Whether this entry is new, and marks it as seen.
    pub fn is_new(&mut self, line: i64) -> bool {
        let is_new = self.told.insert(line);
        if self.told.len() > REMEMBERED {
            self.told.pop_first();
        }
        is_new
    }

    /// Returns the entries written since the last look, oldest first.
    pub async fn look(&mut self) -> Result<Vec<Numbered<Entry>>, DirectoryError> {
        let operations = &self.feed.operations;
        let place = operations.place().await?;
        let cursor = Some(self.cursor.clone());
        let (next, mut lines) = operations.directory().history_since(place, cursor).await?;
        self.cursor = next;
        lines.retain(|line| self.is_new(line.number));
        Ok(lines)
    }

    /// The feed that signals when something may have been written.
    pub fn feed(&mut self) -> &mut Feed {
        &mut self.feed
    }
}

impl Feed {
    /// Whether the feed is notified of writes. Otherwise the caller has to poll.
    pub fn has_events(&self) -> bool {
        self.watch.has_events()
    }

    /// Waits until something may have been written; for ever if there are no notifications.
    pub async fn stirred(&mut self) {
        self.watch.stirred().await;
    }

    /// The state of the connection to the directory.
    pub fn line(&self) -> WatchedLine {
        self.watch.line()
    }

    /// Why the directory could not be written at the last look, although it could be read.
    pub fn refused(&self) -> Option<DirectoryError> {
        self.watch.refused()
    }

    /// Returns what others have changed since the last look; `None` if nobody else has written.
    pub async fn look(&mut self) -> Result<Option<Changes>, DirectoryError> {
        let place = self.operations.place().await?;
        let mut changes = self.watch.look(place).await?;
        if let Some(changes) = &mut changes {
            changes.at_work = self.operations.at_work(&changes.open).await?;
        }
        Ok(changes)
    }
}
