//! groupdesk: a safe terminal console for a *User Group Service*.
//!
//! What each module owns and whom it may use; arrows only downwards, checked by `tests/it/house.rs`:
//!
//! ```text
//! main -> cli -> { tui, operations, service, config, directory, api, domain }
//! tui -> { operations, config, domain }
//! operations -> { api, directory, config, domain }
//! api -> { domain, config }      directory -> { domain, config::files }      config -> domain
//! service -> { api::wire, config::files }                                    domain -> nothing of ours
//! ```
//!
//! `service` must not share our judging or our validation: a test could then agree with our own mistake.

pub mod api;
pub mod cli;
pub mod config;
pub mod directory;
pub mod domain;
pub mod operations;
pub mod service;
pub mod tui;
