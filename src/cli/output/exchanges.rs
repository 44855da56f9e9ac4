//! `--verbose`: prints each exchange to standard error when it begins and when it ends. What is kept of an exchange
//! contains no secret.

use std::{
    fmt::Write as _,
    sync::{Mutex, OnceLock, PoisonError},
};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::alarm;
use crate::operations::{Body, ExchangeKind, Listener, RecordedExchange};

static PRINTER: OnceLock<Printer> = OnceLock::new();

struct Printer {
    to: mpsc::UnboundedSender<RecordedExchange>,
    task: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
}

/// Starts printing exchanges. Must be called inside a runtime.
pub(crate) fn start() {
    PRINTER.get_or_init(|| {
        let (to, mut all) = mpsc::unbounded_channel();
        let (end, ends) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut ends = ends;
            loop {
                tokio::select! {
                    biased;
                    Some(one) = all.recv() => alarm(&text(&one)),
                    _ = &mut ends => return,
                }
            }
        });
        Printer {
            to,
            task: Mutex::new(Some((end, task))),
        }
    });
}

/// The listener that prints exchanges; `None` without `--verbose`.
pub(crate) fn listener() -> Option<Listener> {
    let printer = PRINTER.get()?;
    Some(Listener::new(0, printer.to.clone()))
}

/// Whether `--verbose` was given.
pub(crate) fn are_printed() -> bool {
    PRINTER.get().is_some()
}

/// Waits until everything that has happened so far is printed.
pub(crate) async fn end() {
    let Some(printer) = PRINTER.get() else { return };
    let task = printer
        .task
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some((end, task)) = task {
        // Exchanges that are already queued are printed first.
        let _ = end.send(());
        drop(task.await);
    }
}

fn text(one: &RecordedExchange) -> String {
    let number = one.number;
    if one.kind == ExchangeKind::InFlight {
        let about = one.id.as_ref().map(|id| format!(", \"{id}\""));
        let about = about.unwrap_or_default();
        let first = format!("{} {}{about}", one.call.method(), one.url);
        return lines('>', number, &first, &[], Some(&one.request));
    }
    let status = one.status.map(|status| format!("HTTP {status} "));
    let took = one.duration.as_millis();
    let first = format!("{}after {took} ms", status.unwrap_or_default());
    let words = if one.words.is_empty() {
        first
    } else {
        format!("{first}: {}", one.words)
    };
    lines('<', number, &words, &one.headers, one.answer.as_ref())
}

fn lines(
    sign: char,
    number: u64,
    first: &str,
    headers: &[(String, String)],
    body: Option<&Body>,
) -> String {
    let mut text = format!("{sign} {number} {first}");
    for (name, value) in headers {
        let _ = write!(text, "\n{sign} {number} {name}: {value}");
    }
    let Some(body) = body else { return text };
    for line in body.text.lines() {
        let _ = write!(text, "\n{sign} {number} | {line}");
    }
    if body.is_cut {
        let _ = write!(text, "\n{sign} {number} | ... {} bytes in all", body.size);
    }
    text
}
