//! The same tests with the storage on PostgreSQL, and one that is only about a connection to a server.

mod not_done;
mod revoked;
mod round_trips;

#[path = "keys.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both storages")]
mod keys;
#[path = "model.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both storages")]
mod model;
#[path = "races.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both storages")]
mod races;
#[path = "refusals.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both storages")]
mod refusals;
#[path = "rules.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both storages")]
mod rules;
