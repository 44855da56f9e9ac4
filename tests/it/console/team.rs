//! The same stories with a directory that a team shares, on PostgreSQL: two consoles on two machines see each other.

use super::{open_with, scene};

#[path = "live.rs"]
#[expect(clippy::duplicate_mod, reason = "told of both databases")]
mod live;
