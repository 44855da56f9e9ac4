//! One line of JSON per request: when, what, how it ended, how long it took, with which key. Never contains a key or a
//! token, and ids only if requested. A slow reader delays nothing: lines are dropped and counted.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{Builder, JoinHandle},
    time::Duration,
};

use jiff::Timestamp;
use serde::Serialize;

/// Maximum number of lines waiting to be written; more are dropped.
pub(super) const WAITING: usize = 8_192;

/// One request.
#[derive(Debug, Serialize)]
pub(super) struct LogEntry<'a> {
    /// When it was answered, in UTC.
    pub(super) time: String,
    pub(super) operation: &'static str,
    pub(super) result: &'static str,
    /// Null if the caller left before there was an answer.
    pub(super) status: Option<u16>,
    pub(super) duration_ms: f64,
    /// Number of the key; null if none was recognised.
    pub(super) key: Option<i64>,
    /// Name of the key; null if it has none.
    pub(super) key_name: Option<&'a str>,
    /// Only if ids were requested.
    pub(super) user_group_id: Option<&'a str>,
}

/// The time, to the millisecond.
pub(super) fn now() -> String {
    Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}

/// In milliseconds, to the microsecond.
pub(super) fn milliseconds(took: Duration) -> f64 {
    took.as_micros() as f64 / 1_000.0
}

/// Writes lines on its own thread. Dropping it waits until the queued lines are written.
#[derive(Debug)]
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
        write: impl FnMut(&str) -> bool + Send + 'static,
    ) -> std::io::Result<Self> {
        let (lines, queued) = sync_channel(WAITING);
        let thread = Builder::new()
            .name("access-log".into())
            .spawn(move || write_all(&queued, write))?;
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

/// If there is no reader any more, the channel closes, and lines count as dropped.
fn write_all(queued: &Receiver<String>, mut write: impl FnMut(&str) -> bool) {
    while let Ok(line) = queued.recv() {
        if !write(&line) {
            return;
        }
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
