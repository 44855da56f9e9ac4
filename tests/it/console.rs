//! The whole console against the real service: every story that a person at the screen lives through.

mod bulk;
mod colours;
mod connect;
mod handing;
mod places;
mod recovery;
mod scene;
mod snapshots;
mod story;
mod strangers;
mod trouble;

pub(crate) use scene::{a_world, open};
