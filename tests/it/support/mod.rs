//! What the stories share: the world they play in.

pub(crate) mod faults;
pub(crate) mod meddler;
pub(crate) mod world;
