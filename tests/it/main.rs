//! The integration tests in one binary; one file per topic.

mod support;

mod app;
mod batch;
mod canary;
mod cli;
mod client;
mod config;
mod console;
mod crash;
mod directory;
mod documents;
mod fuzzed;
mod golden;
mod house;
mod intake;
mod operations;
mod packaging;
mod pictures;
mod pty;
mod service;
