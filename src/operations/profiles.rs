//! Which environment a profile means, what is known of it, and how new profiles are tested and added.

pub(super) mod connect;
pub(super) mod facts;
pub(super) mod places;
