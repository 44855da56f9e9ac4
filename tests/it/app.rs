//! The console as a pure state: key scripts in, effects out, compared. No terminal, no network, no clock.

mod bulk;
mod confirm;
mod drafts;
mod exchanges;
mod handing;
mod keys;
mod leaving;
mod places;
mod random;
mod recovery;
mod scene;
mod tickets;
