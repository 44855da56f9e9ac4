//! Unexpected errors as color-eyre reports: what failed and why, the current command, and what was sent. No cause
//! contains a secret, an address or anything that was typed.

use std::{error::Error, fmt, sync::OnceLock};

use color_eyre::{Section, SectionExt, eyre::Report};

use crate::{api::sent::has_sent, directory::has_unsettled_here, tui::terminal::scrub};

static COMMAND: OnceLock<String> = OnceLock::new();

/// Records the current command. Only its name, because arguments may contain anything.
pub(super) fn record_command(words: &str) {
    let command = match words {
        "" => "groupdesk, the console".to_owned(),
        words => format!("groupdesk {words}"),
    };
    COMMAND.get_or_init(|| command);
}

/// The failure with its causes. They are converted to text, so that nothing else of them can be printed.
pub(super) fn report(what: &'static str, error: &(dyn Error + 'static)) -> Report {
    let mut causes = Vec::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        causes.push(scrub(&error.to_string()));
        cause = error.source();
    }
    // Many errors repeat the message of their cause.
    causes.dedup();
    causes.insert(0, what.to_owned());
    let deepest = causes.pop().unwrap_or_default();
    let report = Report::msg(deepest);
    causes.into_iter().rev().fold(report, Report::wrap_err)
}

/// The report as it is shown.
pub(super) fn with_sections(report: Report) -> Report {
    let Sections { command, sent } = Sections::now();
    report
        .section(command.header(Sections::HEADER))
        .section(sent)
}

/// What an error of the program itself reports besides the failure.
struct Sections {
    command: &'static str,
    sent: &'static str,
}

impl Sections {
    const HEADER: &str = "What was being done:";

    fn now() -> Self {
        let command = COMMAND.get().map_or("groupdesk, starting", String::as_str);
        let sent = if has_unsettled_here() {
            "A change may be in progress: see `groupdesk history --open` and `groupdesk rotations --open`."
        } else if has_sent() {
            "No change is in progress; for completed changes, see `groupdesk history`."
        } else {
            "Nothing was sent."
        };
        Self { command, sent }
    }
}

/// The same sections for a panic, evaluated when they are shown.
pub(super) struct PanicSections;

impl fmt::Display for PanicSections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sections { command, sent } = Sections::now();
        write!(f, "{}\n\n{sent}", command.header(Sections::HEADER))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the outer one of https://ana:pw@example.com/")]
    struct Outer(#[source] io::Error);

    #[test]
    fn causes_are_told_one_by_one_and_hold_no_secret() {
        let token = "3fa9c1d290b1e772c04d51aa3fa9c1d2";
        let inner = io::Error::other(format!("no such thing as {token}\nand {token}"));
        let report = report("it could not be", &Outer(inner));
        assert_eq!(
            format!("{report:#}"),
            "it could not be: the outer one of …: no such thing as …"
        );
        let report = with_sections(report);
        let shown = format!("{report:?} {report:#?}");
        assert!(
            !shown.contains("3fa9c1d2") && !shown.contains("pw"),
            "{shown}"
        );
    }
}
