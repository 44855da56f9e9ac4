//! The User Group Service as its callers see it: its JSON, the three operations over HTTP, and the judging of
//! answers. It remembers nothing and decides nothing for the operator.

pub mod answer;
pub mod client;
pub mod wire;
