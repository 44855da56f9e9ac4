//! The shipped binary on the command line: every command for people and for programs, the exit codes, the guards, and
//! that nothing leaks.

mod alarms;
mod apply;
mod bad_input;
mod clock;
mod completions;
mod contract;
mod crowd;
mod demo;
mod desk;
mod doctor;
mod durability;
mod errands;
mod exchange;
mod exits;
mod export;
mod failures;
mod groups;
mod guards;
mod handoff;
mod help;
mod import;
mod limits;
mod looks;
mod pipes;
mod profile;
mod prompts;
mod quiet;
mod recovery;
mod secrets;
mod serve;
mod signals;
mod stalled;
mod token_out;
mod too_large;
mod update;
