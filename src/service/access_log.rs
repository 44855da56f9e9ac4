//! One line of JSON per request: when, what, how it ended, how long it took, with which key. Never contains a key or a
//! token, and ids only if requested. A slow reader delays nothing: lines are dropped and counted.

use std::{
    sync::mpsc::{SyncSender, sync_channel},
    thread::{Builder, JoinHandle},
};

use serde::Serialize;

/// Maximum number of lines waiting to be written; more are dropped.
pub(super) const WAITING: usize = 8_192;

/// One request.
#[derive(Debug, Serialize)]
pub(super) struct LogEntry<'a> {
    /// When it was answered, in UTC, to the millisecond.
    pub(super) time: String,
    pub(super) operation: &'static str,
    pub(super) result: &'static str,
    /// Null if the caller left before there was an answer.
    pub(super) status: Option<u16>,
    /// To the microsecond.
    pub(super) duration_ms: f64,
    /// Number of the key; null if none was recognised.
    pub(super) key: Option<i64>,
    /// Name of the key; null if it has none.
    pub(super) key_name: Option<&'a str>,
    /// Only if ids were requested.
    pub(super) user_group_id: Option<&'a str>,
}

/// Writes lines on its own thread. Dropping it waits until the queued lines are written.
pub struct AccessLog {
    lines: Option<SyncSender<String>>,
    thread: Option<JoinHandle<()>>,
    with_ids: bool,
}

impl AccessLog {
    /// `write` receives a line without line end and returns whether there is still a reader. `with_ids`: lines name the
    /// group.
    pub fn start(
        with_ids: bool,
        mut write: impl FnMut(&str) -> bool + Send + 'static,
    ) -> std::io::Result<Self> {
        let (lines, queued) = sync_channel::<String>(WAITING);
        let thread = Builder::new().name("access-log".into());
        // If there is no reader any more, the channel closes, and lines count as dropped.
        let thread = thread.spawn(move || {
            queued.iter().all(|line| write(&line));
        })?;
        Ok(Self {
            lines: Some(lines),
            thread: Some(thread),
            with_ids,
        })
    }

    pub(super) fn with_ids(&self) -> bool {
        self.with_ids
    }

    /// Queues a line; false if it was dropped.
    pub(super) fn write(&self, line: &LogEntry<'_>) -> bool {
        let (Some(lines), Ok(text)) = (&self.lines, serde_json::to_string(line)) else {
            return false;
        };
        lines.try_send(text).is_ok()
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        drop(self.lines.take());
        if let Some(thread) = self.thread.take() {
            // The thread has ended, even if it panicked.
            drop(thread.join());
        }
    }
}
