//! What many commands use.

pub(in crate::cli) use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

pub(in crate::cli) use clap::{Args, Subcommand};
pub(in crate::cli) use jiff::Timestamp;

pub(in crate::cli) use super::{
    Run,
    contract::{Page, array, lines, one, page, row},
};
pub(in crate::cli) use crate::{
    cli::{
        args::{Global, Mutation, Replace, TokenArgs},
        error::{CliError, blocking},
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
        process::{exit::Exit, signals::Signals},
        session::{self, Session, in_session, in_session_with},
    },
    config::{Environment, Settings, guard::Weight, paths},
    directory::BatchOptions,
    domain::{
        batch::StopCause,
        change::{Change, DesiredFields},
        facts::Field,
        group::UserGroupId,
        history::Ending,
        known::KnownGroup,
        proposal::quoted,
        text::{counted, visible},
        when,
    },
    formats::GroupRow,
    operations::{Clock, Done, Failure, Guarded, Operations, Sending, UnknownIdPolicy, Warning},
};
