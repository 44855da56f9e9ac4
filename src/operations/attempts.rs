//! Attempts to record what has become of a request, and what is in memory only until one succeeds.

use tokio::{sync::watch, time::sleep};

use super::{Failpoint, prelude::*};

/// Before the next attempt where the directory refuses at once: a password must not be tried all the time.
const SHUT_OUT: Duration = Duration::from_secs(2);

/// What is in memory only, because the directory is away or does not let this operator in.
#[derive(Debug, Clone, Default)]
pub struct Unrecorded {
    pub(crate) outcomes: usize,
    /// Why the last attempt failed.
    pub(crate) why: Option<DirectoryError>,
}

impl Unrecorded {
    /// What waits, why, and what to do; `None` if nothing waits.
    pub fn text(&self) -> Option<String> {
        let why = self.why.as_ref().filter(|_| self.outcomes > 0)?;
        let what = counted(self.outcomes, "response");
        let (is, verb) = if self.outcomes == 1 {
            ("is", "it is")
        } else {
            ("are", "they are")
        };
        Some(format!(
            "{what} of the service {is} not recorded yet, and only in memory, with any new token: {why}. Do not end groupdesk: it \
             tries again until {verb} recorded. If it must end, `groupdesk attention` shows what to check afterwards"
        ))
    }
}

/// What is to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recording {
    /// What has become of a request: nobody else knows it, so it is never given up.
    Outcome,
    /// That nothing was sent, which is found out later as well.
    NotSent,
}

/// The attempts to record one thing.
pub(super) struct Attempts<'o> {
    operations: &'o Operations,
    what: Recording,
    is_waiting: bool,
}

impl Attempts<'_> {
    /// Whether to try again after this: the directory is away, which each attempt waits for, or does not let this operator
    /// in for now. If they may write, it has refused this row, which is final.
    pub(super) async fn go_on<T>(&mut self, tried: &Result<T, DirectoryError>) -> bool {
        let (operations, Err(error)) = (self.operations, tried) else {
            return false;
        };
        if !operations.keeps_outcomes() {
            return false;
        }
        let is_away = error.may_be_repeated();
        let is_outcome = self.what == Recording::Outcome;
        let is_shut_out = !is_away
            && is_outcome
            && error.is_of_access()
            && (!error.is_of_rights() || !operations.directory().lets_write().await);
        if is_outcome && (is_away || is_shut_out) {
            let is_first = !std::mem::replace(&mut self.is_waiting, true);
            operations.0.unrecorded.send_modify(|unrecorded| {
                unrecorded.outcomes += usize::from(is_first);
                unrecorded.why = Some(error.clone());
            });
        }
        if is_shut_out {
            operations.reached(Failpoint::ShutOut);
            sleep(SHUT_OUT).await;
        }
        is_away || is_shut_out
    }
}

impl Drop for Attempts<'_> {
    fn drop(&mut self) {
        if self.is_waiting {
            let unrecorded = &self.operations.0.unrecorded;
            unrecorded.send_modify(|unrecorded| unrecorded.outcomes -= 1);
        }
    }
}

impl Operations {
    /// The same operations for a program or a run that stays open: what has become of a request that was sent is kept in
    /// memory until the directory is back, and recorded then.
    #[must_use]
    pub fn keeping_outcomes(&self) -> Self {
        Self {
            3: true,
            ..self.clone()
        }
    }

    pub(super) fn keeps_outcomes(&self) -> bool {
        self.3
    }

    /// What has become of requests and waits to be recorded, now and whenever that changes.
    pub fn unrecorded(&self) -> watch::Receiver<Unrecorded> {
        self.0.unrecorded.subscribe()
    }

    pub(super) fn recording(&self, what: Recording) -> Attempts<'_> {
        Attempts {
            operations: self,
            what,
            is_waiting: false,
        }
    }
}
