//! The binary: hands over to the command line and nothing else.

fn main() {}
