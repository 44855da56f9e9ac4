//! The state of the console: pure data, changed only by messages. No I/O, no await, no clock.

pub mod activity;
pub mod batch;
pub mod command;
mod condition;
pub mod confirm;
pub mod context;
pub mod drafts;
pub mod exchanges;
pub mod forms;
pub mod groups;
pub mod in_flight;
pub mod live;
pub mod message;
pub mod navigation;
pub mod notices;
pub mod outage;
pub mod time_format;
