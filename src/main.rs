//! The binary: hands over to the command line and nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    groupdesk::cli::main()
}
