//! A hostile world: faults, bad input, lost lines, hostile text. `GROUPDESK_LONG=all` runs every case of the long ones.

mod corpus;
mod service;
