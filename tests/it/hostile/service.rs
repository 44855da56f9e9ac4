//! The embedded service among many callers, slow callers, idle callers and wrong callers.

mod described;
mod heads;
mod model;
mod races;
mod shared;
mod slow;
mod unauthenticated;
