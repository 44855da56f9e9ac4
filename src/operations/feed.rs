//! What others change in the place of a profile, as long as somebody wants to know.

use std::collections::BTreeSet;

use crate::{
    directory::{HistoryCursor, Numbered, Watch, WatchedLine},
    domain::history::Entry,
    operations::{ChangeCursor, Changes, DirectoryError, Operations, break_at},
};

/// Follows the place that the profile means, also when it is bound to another one meanwhile.
pub struct Feed {
    operations: Operations,
    watch: Watch,
}

impl Operations {
    /// Where a feed begins that is to miss nothing of what is written from now on.
    pub async fn cursor(&self) -> Result<ChangeCursor, DirectoryError> {
        self.directory().cursor(self.place().await?).await
    }

    /// Follows what others write from there on. Inside a runtime.
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

/// Follows the history of a place: each line once, whoever wrote it.
pub struct HistoryFeed {
    feed: Feed,
    cursor: HistoryCursor,
    /// Numbers of lines; the newest of them.
    told: BTreeSet<i64>,
}

/// Lines written before this many others were told are not told again: a cursor hands out no line that old.
const REMEMBERED: usize = 10_000;

impl Operations {
    /// Follows the history from now on. Inside a runtime.
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
    /// Whether this line is news; it is none from then on.
    pub fn is_new(&mut self, line: i64) -> bool {
        let is_new = self.told.insert(line);
        if self.told.len() > REMEMBERED {
            self.told.pop_first();
        }
        is_new
    }

    /// What was written since the last look, the oldest first.
    pub async fn look(&mut self) -> Result<Vec<Numbered<Entry>>, DirectoryError> {
        let operations = &self.feed.operations;
        let place = operations.place().await?;
        let cursor = Some(self.cursor.clone());
        let (next, mut lines) = operations.directory().history_since(place, cursor).await?;
        self.cursor = next;
        lines.retain(|line| self.is_new(line.number));
        Ok(lines)
    }

    /// What says that something may have been written.
    pub fn feed(&mut self) -> &mut Feed {
        &mut self.feed
    }
}

impl Feed {
    /// Whether it is told when something is written. Elsewhere one looks now and then.
    pub fn has_events(&self) -> bool {
        self.watch.has_events()
    }

    /// Waits until something may have been written; for ever where nobody says so.
    pub async fn stirred(&mut self) {
        self.watch.stirred().await;
    }

    /// The line to the directory.
    pub fn line(&self) -> WatchedLine {
        self.watch.line()
    }

    /// Why nothing can be written, though it could be read, at the last look.
    pub fn refused(&self) -> Option<DirectoryError> {
        self.watch.refused()
    }

    /// What others have changed since the last look; `None` where nobody else has written.
    pub async fn look(&mut self) -> Result<Option<Changes>, DirectoryError> {
        let place = self.operations.place().await?;
        let mut changes = self.watch.look(place).await?;
        if let Some(changes) = &mut changes {
            changes.at_work = self.operations.at_work(&changes.open).await?;
        }
        Ok(changes)
    }
}
