//! A hostile world: faults, bad input, lost lines, hostile text. `GROUPDESK_LONG=all` runs every case of the long ones.

mod answers;
mod bodies;
mod code_points;
mod corpus;
mod directory;
mod files;
mod keyboard;
mod line;
mod proxies;
mod redirects;
mod secrets;
mod service;
mod stage;
mod terminal;
mod text;
mod tls;
