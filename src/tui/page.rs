//! What pages are made of: contracts that know keys and colours. Knows no page: a page says what it is about, and the
//! kit does the rest.

pub mod confirm_box;
pub mod filter;
pub mod footer;
pub mod group_details;
pub mod list_page;
pub mod mouse;
pub mod prompt;
pub mod view;
