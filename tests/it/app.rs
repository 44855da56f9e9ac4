//! The console as a pure state: key scripts in, effects out, compared. No terminal, no network, no clock.

mod bulk;
mod confirm;
mod drafts;
mod handing;
mod leaving;
mod places;
mod random;
mod recovery;
mod safety;
mod scene;
mod tickets;
