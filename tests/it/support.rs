//! What the integration tests share: above all the world in which they take place.

pub(crate) mod bare;
pub(crate) mod canary;
pub(crate) mod cases;
pub(crate) mod clock;
pub(crate) mod console;
pub(crate) mod cutter;
pub(crate) mod faults;
pub(crate) mod fields;
pub(crate) mod long;
pub(crate) mod normalized;
pub(crate) mod parrot;
pub(crate) mod pooler;
pub(crate) mod postgres;
pub(crate) mod proxy;
pub(crate) mod pty;
pub(crate) mod random;
pub(crate) mod service;
pub(crate) mod snapshots;
pub(crate) mod stage;
pub(crate) mod stall;
pub(crate) mod stderr;
pub(crate) mod texts;
pub(crate) mod undocumented;
pub(crate) mod wait;
pub(crate) mod watched;
pub(crate) mod world;
