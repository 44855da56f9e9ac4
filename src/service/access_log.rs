//! One line of JSON per request, for whoever keeps logs: when, what, how it ended, how long it took, by which key. Never a
//! key or a token; ids only where that was asked for. Whoever reads slowly holds nothing up: lines are left out, and counted.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{Builder, JoinHandle},
    time::Duration,
};

use jiff::Timestamp;
use serde::Serialize;

/// Lines that wait to be written; more are left out.
const WAITING: usize = 8_192;

/// One request.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    /// When it was answered, UTC.
    pub(super) time: String,
    pub(super) operation: &'static str,
    pub(super) verdict: &'static str,
    /// Null where the caller left before there was an answer.
    pub(super) status: Option<u16>,
    pub(super) duration_ms: f64,
    /// Its number; null where none was recognised.
    pub(super) key: Option<i64>,
    /// Only where it was asked for.
    pub(super) user_group_id: Option<&'a str>,
}

/// To the millisecond.
pub(super) fn now() -> String {
    Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}

/// In milliseconds, to the microsecond.
pub(super) fn milliseconds(took: Duration) -> f64 {
    took.as_micros() as f64 / 1_000.0
}

/// Writes lines on a thread of its own; dropped, it waits until what is queued is written.
#[derive(Debug)]
pub struct AccessLog {
    lines: Option<SyncSender<String>>,
    thread: Option<JoinHandle<()>>,
    with_ids: bool,
}

impl AccessLog {
    /// `write` takes a line without its end, and says whether anybody still reads. `with_ids`: lines name the group.
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

    /// False: it was left out.
    pub(super) fn write(&self, line: &Line<'_>) -> bool {
        let (Some(lines), Ok(text)) = (&self.lines, serde_json::to_string(line)) else {
            return false;
        };
        lines.try_send(text).is_ok()
    }
}

/// Where nobody reads any more, the channel closes, and lines count as left out.
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
            // It has ended, however that came.
            drop(thread.join());
        }
    }
}
