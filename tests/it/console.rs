//! The whole console against the real service: the tasks that a person at the screen goes through.

mod attention;
mod batch;
mod bulk_edit;
mod cancelling;
mod changed_keys;
mod colours;
mod compare;
mod connect;
mod drafts;
mod export;
mod find;
mod first_rows;
mod handoff;
mod kept_outcomes;
mod keyboard;
mod live;
mod lost_server;
mod pasted_secrets;
mod place_questions;
mod places;
mod prelude;
mod recovery;
mod requests;
mod review;
mod scene;
mod service_words;
mod snapshots;
mod steps;
mod story;
mod texts;
mod trouble;

pub(crate) use places::assert_screen;
pub(crate) use scene::{NOW, USUAL, a_world, open, open_with};
