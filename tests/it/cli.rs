//! The shipped binary on the command line: every command for people and for programs, the exit codes, the guards, and
//! that nothing leaks.

mod alarms;
mod apply;
mod bad_input;
mod completions;
mod crowd;
mod demo;
mod desk;
mod doctor;
mod durability;
mod export;
mod failures;
mod groups;
mod guards;
mod handoff;
mod import;
mod profile;
mod prompts;
mod recovery;
mod secrets;
mod serve;
mod signals;
