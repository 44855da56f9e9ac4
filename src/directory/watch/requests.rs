//! The hint and the look.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use super::{ChangeCursor, Changes, HistoryCursor};
use crate::{
    database::{Access, Hints, ServerFault, Tx},
    directory::{
        Directory, DirectoryError, Location, Numbered, PlaceId, TeamFault, sqlite::changes,
    },
    domain::history::Entry,
    platform::file_events::FileEvents,
};

/// Who says that something was written.
enum Events {
    File(FileEvents),
    Team(Hints),
}

/// Watches one place from a cursor on.
pub struct Watch {
    directory: Directory,
    cursor: ChangeCursor,
    events: Option<Events>,
    refused: Option<TeamFault>,
}

impl Directory {
    fn explain_line(&self, fault: impl Into<TeamFault>) -> DirectoryError {
        DirectoryError::Team {
            at: self.location().shown().display().to_string(),
            fault: fault.into(),
        }
    }

    /// Where a look begins that is to miss nothing of what is written after this.
    pub async fn cursor(&self, place: PlaceId) -> Result<ChangeCursor, DirectoryError> {
        // Where the looks are done: what only this directory writes meanwhile needs none.
        self.ask(Access::Long, move |c| changes::cursor(c, place))
            .await
    }

    /// The lines of the history of a place that were not seen, the oldest first, and where the next look begins; without a cursor
    /// only that. After a lost line one may be told twice.
    pub async fn history_since(
        &self,
        place: PlaceId,
        cursor: Option<HistoryCursor>,
    ) -> Result<(HistoryCursor, Vec<Numbered<Entry>>), DirectoryError> {
        let look = move |tx: &Tx<'_>| changes::history(tx, place, cursor.as_ref());
        self.ask(Access::Long, look).await
    }

    /// Watches what others write from there on; what this directory writes itself is no news. Inside a runtime.
    pub fn watch(&self, from: ChangeCursor) -> Watch {
        Watch {
            directory: self.clone(),
            cursor: from,
            // A commit is appended to the log before it counts; a server says it behind the commit.
            events: match self.log() {
                Some(log) => FileEvents::of(&log).map(Events::File),
                None => self.0.engine.hints().map(Events::Team),
            },
            refused: None,
        }
    }
}

/// The line to a directory, as long as somebody wants to know whether it is there. That to a file never breaks.
pub struct WatchedLine {
    directory: Directory,
    down: Option<watch::Receiver<Option<ServerFault>>>,
}

impl WatchedLine {
    /// Waits until there has been no line for so long; why. For ever where there is one.
    pub async fn lost_for(&mut self, time: Duration) -> DirectoryError {
        let Some(down) = &mut self.down else {
            return std::future::pending().await;
        };
        loop {
            // Whoever tells has gone where it fails: nothing is lost then.
            if down.wait_for(Option::is_some).await.is_err() {
                return std::future::pending().await;
            }
            let is_back = timeout(time, down.wait_for(Option::is_none)).await.is_ok();
            let fault = down.borrow().clone().filter(|_| !is_back);
            if let Some(fault) = fault {
                return self.directory.explain_line(fault);
            }
        }
    }

    /// There is none now.
    pub fn is_lost(&self) -> bool {
        let down = self.down.as_ref();
        down.is_some_and(|down| down.borrow().is_some())
    }
}

impl Watch {
    /// Whether the system says when something is written. Elsewhere one looks now and then.
    pub fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// As where the file lies on a file system that does not say when it is written to.
    pub fn forget_events(&mut self) {
        self.events = None;
    }

    /// Waits until something may have been written; for ever where nobody says so.
    pub async fn stirred(&mut self) {
        match &mut self.events {
            Some(Events::File(events)) => events.next().await,
            Some(Events::Team(hints)) => hints.next().await,
            None => std::future::pending().await,
        }
    }

    /// The line by which one hears of others.
    pub fn line(&self) -> WatchedLine {
        WatchedLine {
            directory: self.directory.clone(),
            down: match &self.events {
                Some(Events::Team(hints)) => Some(hints.down()),
                Some(Events::File(_)) | None => None,
            },
        }
    }

    /// What others have changed in the place since the last look; `None` where nobody else has written. Waits for
    /// whoever is committing, so that a hint from the middle of a commit is enough.
    pub async fn look(&mut self, place: PlaceId) -> Result<Option<Changes>, DirectoryError> {
        let seen = self.cursor.clone();
        // On a server nobody has to wait.
        let access = match self.directory.location() {
            Location::File(_) => Access::Write,
            Location::Team(_) => Access::Long,
        };
        let look = move |tx: &Tx<'_>| changes::since(tx, place, &seen);
        let looked = self.directory.ask(access, look).await?;
        self.cursor = looked.next;
        self.refused = looked.refused;
        Ok(looked.changes)
    }

    /// Why nothing can be written, though it could be read, at the last look: rights or tables changed meanwhile.
    pub fn refused(&self) -> Option<DirectoryError> {
        let fault = self.refused.clone()?;
        Some(self.directory.explain_line(fault))
    }
}
