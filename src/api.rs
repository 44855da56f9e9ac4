//! The User Group Service as its callers see it: its JSON, the three operations over HTTP, and judging answers. Stores
//! nothing, and decides nothing for the operator.

pub mod address;
pub mod answer;
pub mod body;
pub mod client;
mod facts;
pub mod failure;
pub mod inspect;
mod masking;
pub mod probe;
pub mod proxied;
mod receiving;
pub mod recording;
mod retry_after;
mod secret_text;
pub mod send_by;
pub mod sent;
pub mod tls;
pub mod wire;
mod zeroizing;
