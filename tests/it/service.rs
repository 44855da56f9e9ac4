//! The embedded User Group Service over real HTTP.

mod facts;
mod keys;
mod pressure;
mod refusals;
mod rules;
mod shared;
mod storage;
