//! What the stories share: the world they play in.

pub(crate) mod clock;
pub(crate) mod console;
pub(crate) mod faults;
pub(crate) mod long;
pub(crate) mod meddler;
pub(crate) mod odd;
pub(crate) mod pty;
pub(crate) mod saying;
pub(crate) mod service;
pub(crate) mod stall;
pub(crate) mod steady;
pub(crate) mod until;
pub(crate) mod world;
