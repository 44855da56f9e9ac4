//! What nearly every command uses.

pub(in crate::cli) use clap::{Args, Subcommand};

pub(in crate::cli) use super::{
    Run,
    contract::{Page, array, lines, one, page, row},
};
pub(in crate::cli) use crate::cli::{
    args::Global,
    error::CliError,
    output::{self, shape::shape},
    process::exit::Exit,
    session::{Session, in_session, in_session_with},
};
