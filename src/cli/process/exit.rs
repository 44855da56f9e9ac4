//! The exit codes of docs/reference/exit-codes.md, and the only place that chooses among them.

use std::process::ExitCode;

use crate::{
    cli::prelude::*,
    domain::{batch::Halt, rotation::State},
    operations::{
        Class, Finding, Probe, Recovered,
        doctor::{Area, Report},
    },
};

/// How the command ended, for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    /// Refused by the service, not applied, or an unusable answer; nothing was changed.
    Refused = 1,
    /// Usage or configuration error, or a problem with local files; nothing was sent.
    Usage = 2,
    /// Not confirmed, or stopped by a guard.
    Guarded = 3,
    /// The API key is missing or refused.
    Key = 4,
    Unreachable = 5,
    /// Done only in part: some items of a bulk run were not done, or a hand-off failed.
    Partly = 6,
    /// The change may or may not have taken effect.
    Unknown = 7,
    /// A team's directory cannot be reached or refuses; no change was sent.
    Directory = 8,
    /// The comparison found a difference.
    Different = 10,
    Interrupted = 130,
}

/// The explanations in the help and the manual.
pub(crate) const CODES: [(Exit, &str); 11] = [
    (Exit::Done, "done"),
    (Exit::Refused, "refused by the service"),
    (Exit::Usage, "usage or configuration error"),
    (Exit::Guarded, "not confirmed, or blocked by a safety check"),
    (Exit::Key, "API key missing or refused"),
    (Exit::Unreachable, "service unreachable"),
    (Exit::Partly, "partly done (bulk, hand-off)"),
    (Exit::Unknown, "result unknown"),
    (
        Exit::Directory,
        "team directory unreachable, or access denied",
    ),
    (
        Exit::Different,
        "differences found (diff, apply --detailed-exitcode)",
    ),
    (Exit::Interrupted, "interrupted"),
];

/// [`CODES`] on one line, as the help shows them.
pub(crate) fn codes() -> String {
    let codes = CODES.map(|(exit, meaning)| format!("{} {meaning}", exit as u8));
    format!("Exit codes: {}.", codes.join(", "))
}

/// How a run over many groups ended.
pub(crate) struct RunEnd<'h> {
    /// Items that may or may not have taken effect, or contradict each other.
    pub(crate) unknown: usize,
    /// Items that raised an alarm.
    pub(crate) alarms: usize,
    pub(crate) done: usize,
    /// Something is left to do.
    pub(crate) is_left: bool,
    /// The exit code if nothing was done.
    pub(crate) first_failure: Option<Exit>,
    pub(crate) halt: Option<&'h Halt>,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// An answer is a success, unless it raises an alarm (hazards 1 and 11 of docs/design/service.md).
    pub(crate) fn from_done(done: &Done) -> Self {
        let alarm =
            done.ending == Ending::CreatedByGet || done.warnings.iter().any(Warning::is_alarm);
        Self::done_unless(alarm, Self::Guarded)
    }

    /// For `doctor`: the exit code that other commands would have. The first cause decides.
    pub(crate) fn from_report(report: &Report) -> Self {
        let has = |areas: &[Area]| {
            let mut problems = report.problems();
            problems.any(|finding| areas.contains(&finding.area))
        };
        if has(&[Area::Configuration]) {
            Self::Usage
        } else if report.is_team_refused {
            Self::Directory
        } else if has(&[Area::Directory]) {
            Self::Usage
        } else if has(&[Area::Key]) {
            Self::Key
        } else if has(&[Area::Network]) {
            Self::Unreachable
        } else if report.problems().next().is_some() {
            Self::Refused
        } else {
            Self::Done
        }
    }

    /// For a run over many groups.
    pub(crate) fn from_run(run: &RunEnd) -> Self {
        match (run.halt, run.first_failure) {
            _ if run.unknown > 0 => Self::Unknown,
            _ if run.alarms > 0 => Self::Guarded,
            (Some(Halt::Asked(_)), _) => Self::Interrupted,
            (_, Some(first)) if run.done == 0 => first,
            (None, None) => Self::all(!run.is_left),
            _ => Self::Partly,
        }
    }

    /// For a comparison.
    pub(crate) fn from_difference(is_different: bool) -> Self {
        Self::done_unless(is_different, Self::Different)
    }

    /// For several items, all of which should be done.
    pub(crate) fn all(done: bool) -> Self {
        Self::done_unless(!done, Self::Partly)
    }

    pub(crate) fn done_unless(is_amiss: bool, then: Self) -> Self {
        if is_amiss { then } else { Self::Done }
    }

    /// For settling open rotations.
    pub(crate) fn from_recovered(all: &[Recovered]) -> Self {
        let is_clear = |recovered: &Recovered| match recovered {
            Recovered::Settled(row) => row.rotation.state != State::Conflict,
            Recovered::Alarmed(..) | Recovered::Open(_) => false,
        };
        Self::done_unless(!all.iter().all(is_clear), Self::Unknown)
    }

    /// For a connection test.
    pub(crate) fn from_probe(probe: &Probe) -> Self {
        match probe.finding {
            Finding::Accepted | Finding::MayNotChange => Self::Done,
            Finding::KeyRefused => Self::Key,
            Finding::NotReached | Finding::NoAnswer => Self::Unreachable,
            Finding::NotFound
            | Finding::Slash
            | Finding::Redirected
            | Finding::WebPage
            | Finding::Busy
            | Finding::ServiceFailed
            | Finding::Strange => Self::Refused,
        }
    }

    pub(crate) fn from_error(error: &CliError) -> Self {
        match error {
            CliError::Failed { failure } => failure.class().into(),
            CliError::Directory(error) => Class::from(error).into(),
            CliError::Config(_)
            | CliError::Store(_)
            | CliError::Usage(_)
            | CliError::Output(_)
            | CliError::Unexpected(_) => Self::Usage,
            CliError::Unwritten { .. } | CliError::DoneUnwritten(_) | CliError::Partly(_) => {
                Self::Partly
            }
            CliError::Guarded(_) => Self::Guarded,
            CliError::Interrupted { .. } => Self::Interrupted,
        }
    }
}

impl From<Class> for Exit {
    fn from(class: Class) -> Self {
        match class {
            Class::Refused => Self::Refused,
            Class::Usage => Self::Usage,
            Class::Guarded => Self::Guarded,
            Class::Key => Self::Key,
            Class::Unreachable => Self::Unreachable,
            Class::Unknown => Self::Unknown,
            Class::Directory => Self::Directory,
            Class::Cancelled => Self::Interrupted,
        }
    }
}
