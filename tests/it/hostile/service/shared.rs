//! The same with the storage on PostgreSQL.

#[path = "model.rs"]
#[expect(clippy::duplicate_mod, reason = "told of both storages")]
mod model;
#[path = "races.rs"]
#[expect(clippy::duplicate_mod, reason = "told of both storages")]
mod races;
