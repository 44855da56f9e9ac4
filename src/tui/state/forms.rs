//! The input of forms, separate from the panes that show them.

pub(crate) mod connect;
pub mod group;
