//! What nearly every command uses.

pub(in crate::cli) use std::path::{Path, PathBuf};

pub(in crate::cli) use clap::{Args, Subcommand};
pub(in crate::cli) use jiff::Timestamp;

pub(in crate::cli) use super::{
    Run,
    contract::{Page, array, lines, one, page, row},
};
pub(in crate::cli) use crate::{
    cli::{
        args::{Global, Mutation, TokenArgs},
        error::{CliError, blocking},
        input::confirm::{self, Question, Review},
        output::{
            self, human, json, proposals, review,
            shape::{Object, shape},
        },
        process::{exit::Exit, signals::Signals},
        session::{self, Session, in_session, in_session_with},
    },
    domain::{
        change::DesiredFields,
        group::UserGroupId,
        history::Ending,
        known::KnownGroup,
        proposal::quoted,
        text::{counted, visible},
        when,
    },
    operations::{Clock, Done, Failure, Guarded, Operations, UnknownIdPolicy},
};
