//! What the stories share: the world they play in.

pub(crate) mod faults;
pub(crate) mod pty;
pub(crate) mod service;
