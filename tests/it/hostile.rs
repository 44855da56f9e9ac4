//! A hostile world: faults, bad input, lost lines, hostile text. `GROUPDESK_LONG=all` runs every case of the long ones.

mod answers;
mod bodies;
mod line;
mod proxies;
mod redirects;
mod stage;
mod tls;
