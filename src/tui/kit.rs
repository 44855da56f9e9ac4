//! What pages are made of. Knows no page: a page says what it is about, and the kit does the rest.

pub mod filter;
pub mod list_page;
pub mod view;
