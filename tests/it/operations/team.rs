//! The tests of what is recorded, and in which order, with a shared directory on PostgreSQL: whatever the service or the
//! connection to it does, the records are the same. What is sent and said does not depend on the database.

use super::*;

mod kept_outcomes;
mod taken_over;
mod wrong_clocks;

#[path = "annotations.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod annotations;
#[path = "create.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod create;
#[path = "facts.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod facts;
#[path = "handoff_records.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod handoff_records;
#[path = "left_behind.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod left_behind;
#[path = "lost_answers.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod lost_answers;
#[path = "moments.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod moments;
#[path = "order.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod order;
#[path = "places.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod places;
#[path = "recover.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod recover;
