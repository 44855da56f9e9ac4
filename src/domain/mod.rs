//! The rules of the house: what a user group is, what is known of it and from whom, what a change is, how a
//! rotation proceeds. No I/O, no async, no clock: time comes in as an argument.

pub mod age;
pub mod batch;
pub mod change;
pub mod draft;
pub mod elsewhere;
pub mod exchange;
pub mod facts;
pub mod fold;
pub mod group;
pub mod handoff;
pub mod history;
pub mod known;
pub mod merge;
pub mod mutation;
pub mod near;
pub mod past;
pub mod pasted;
pub mod refresh;
pub mod rotation;
pub mod search;
pub mod size;
pub mod strict_json;
pub mod text;
pub mod token;
mod united;
pub mod update;
