//! The binary: installs the panic and error reports, runs the command line, and prints a report of any error it
//! did not expect.

use std::process::ExitCode;

use groupdesk::cli::{self, process::panic_report};

fn main() -> ExitCode {
    panic_report::install();
    cli::main().unwrap_or_else(|report| panic_report::say(&report))
}
