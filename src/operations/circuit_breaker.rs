//! Ends the reads of several groups at a failure that would meet all of them: the service or the directory is
//! unavailable, or the key is refused.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Failure;
use crate::api::failure::CallError;

/// Failed gets in a row after which the service counts as down.
const LOST_IN_A_ROW: u32 = 3;

/// Remembers a failure that every other get would meet too, so that they are not all tried.
#[derive(Default)]
pub(crate) struct CircuitBreaker(Mutex<(u32, Option<String>)>);

impl CircuitBreaker {
    pub(crate) fn get(&self) -> Option<String> {
        self.lock().1.clone()
    }

    pub(crate) fn note<T>(&self, answer: &Result<T, Failure>) {
        let mut known = self.lock();
        let concerns_all = match answer {
            Err(Failure::Unreachable(CallError::Lost { .. })) => {
                known.0 += 1;
                known.0 >= LOST_IN_A_ROW
            }
            Err(
                Failure::Unreachable(_)
                | Failure::Place(_)
                | Failure::Key(_)
                | Failure::KeyRefused { .. }
                | Failure::Client(_),
            ) => true,
            Err(Failure::NothingSent(error) | Failure::NotKept(error)) => error.is_unreachable(),
            Ok(_) | Err(_) => {
                known.0 = 0;
                false
            }
        };
        if let (true, Err(failure)) = (concerns_all, answer) {
            known.1.get_or_insert_with(|| failure.to_string());
        }
    }

    fn lock(&self) -> MutexGuard<'_, (u32, Option<String>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
