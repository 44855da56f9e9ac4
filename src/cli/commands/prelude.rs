//! What many commands use.

pub(in crate::cli) use clap::{Args, Subcommand};

pub(in crate::cli) use super::{
    Run,
    contract::{Page, array, lines, one, page, row},
};
pub(in crate::cli) use crate::{
    cli::{
        args::{Global, Mutation, Replace, TokenArgs},
        error::blocking,
        input::{
            confirm::{self, Question, Review},
            listing::ListedFor,
            selection::{Given, Selected},
        },
        output::{
            self,
            form::Form,
            human, json,
            progress::Progress,
            proposals, review,
            shape::{Object, shape},
            token_file,
        },
        prelude::*,
        process::{exit::Exit, signals::Signals},
        session::{self, Session, in_session, in_session_with},
    },
    config::guard::Weight,
    directory::BatchOptions,
    operations::{Clock, Sending},
};
