//! The console as a pure state: key scripts in, effects out, compared. No terminal, no network, no clock.

mod bulk;
mod compare;
mod confirm;
mod drafts;
mod drafts_kept;
mod exchanges;
mod find;
mod form;
mod groups;
mod handing;
mod keys;
mod leaving;
mod outside;
mod places;
mod random;
mod recovery;
mod review;
mod safety;
mod scene;
mod tickets;

pub(crate) use groups::learnt;
pub(crate) use scene::{Scene, TESTING, canned};
