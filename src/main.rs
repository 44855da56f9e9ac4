//! The binary: makes errors of the program itself readable, hands over to the command line, and says what it did not
//! expect.

use std::process::ExitCode;

use groupdesk::cli::{self, process::panic_report};

fn main() -> ExitCode {
    panic_report::install();
    cli::main().unwrap_or_else(|report| panic_report::say(&report))
}
