//! The console as a pure state: key scripts in, effects out, compared. No terminal, no network, no clock.

mod attention;
mod batch;
mod batches;
mod bulk_edit;
mod code_points;
mod commands;
mod compare;
mod confirm;
mod drafts;
mod drafts_kept;
mod exchanges;
mod external_editor;
mod find;
mod first_rows;
mod footer_keys;
mod form;
mod groups;
mod handoff;
mod in_flight;
mod keys;
mod late_outcomes;
mod later_views;
mod messages;
mod outage;
mod places;
mod quitting;
mod random;
mod recovery;
mod review;
mod safety;
mod scene;
mod views;
mod widths;

pub(crate) use code_points::{escape, is_dangerous};
pub(crate) use groups::known_group;
pub(crate) use scene::{Scene, TESTING, canned_outcome};
