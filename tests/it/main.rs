//! The tests that drive the whole thing; one binary, one file per story.

mod support;

mod canary;
mod cli;
mod client;
mod config;
mod console;
mod directory;
mod golden;
mod house;
mod operations;
mod pty;
mod service;
