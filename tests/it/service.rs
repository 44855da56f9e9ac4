//! The embedded User Group Service over real HTTP.

mod described;
mod facts;
mod heads;
mod keys;
mod model;
mod pressure;
mod races;
mod refusals;
mod rules;
mod shared;
mod slow;
mod storage;
mod unauthenticated;
