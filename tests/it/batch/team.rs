//! The same tests with a shared directory on PostgreSQL.

use super::*;

#[path = "runs.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod runs;

#[path = "scheduled.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod scheduled;
