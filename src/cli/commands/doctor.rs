//! `doctor`: what is wrong with this installation and its way to the service, and what to do. It works even when
//! nothing else does.

use std::io::{self, IsTerminal};

use super::version::VERSION;
use crate::{
    cli::{
        args::{Doctor, Global},
        error::CliError,
        output::{self, exchanges, human, proposals, shape::shape},
        process::{exit::Exit, signals::Signals},
        session::overrides,
    },
    operations::{
        Clock,
        doctor::{DoctorRequest, Finding, Report, Severity, Terminal, examine},
    },
    tui::{keymap, theme::Theme},
};

/// Width when there is no terminal, because the report goes into tickets.
const COLUMNS: usize = 80;

pub(crate) async fn run(global: &Global, arguments: Doctor) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let overrides = overrides(global);
    let theme = Theme::detect(global.ascii, |name| {
        let value = overrides.env.get(name)?;
        value.to_str().map(str::to_owned)
    });
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let visit = DoctorRequest {
        terminal: Terminal {
            is_there: io::stdin().is_terminal() && io::stdout().is_terminal(),
            size: size.map(|size| (size.ws_col, size.ws_row)),
            ascii: theme.ascii,
            colour: theme.colour,
        },
        overrides,
        wrong_keys: |changes| keymap::resolve(changes).err().unwrap_or_default(),
        id: arguments.id,
        clock: Clock::System,
        listener: exchanges::listener(),
    };
    let report = tokio::select! {
        biased;
        report = Box::pin(examine(&visit)) => report,
        () = signals.next() => return Err(CliError::Interrupted { in_flight: false }),
    };
    output::either(global.json, || object(&report), || text(&report))?;
    Ok(Exit::from_report(&report))
}

shape! {
    pub(crate) REPORT = "report", "what doctor found; safe to paste";
    fn object(report: &Report) {
        "version": text = VERSION, "version of groupdesk";
        "worst": text = report.worst().as_str(), "the worst severity";
        "findings": [FINDING] = report.findings.iter().map(finding), "in the order of the checks";
    }
}

shape! {
    FINDING = "", "";
    fn finding(finding: &Finding) {
        "area": text = finding.area.as_str(), "groupdesk, configuration, key, network, service, clock, directory or terminal";
        "severity": text = finding.severity.as_str(), "ok, note, warning or problem";
        "found": text = finding.found, "what was found; human-readable, may change";
        "advice": text or "nothing needs to be done" = finding.advice.as_deref().map(proposals::complete), "what to do; human-readable, may change";
    }
}

fn text(report: &Report) -> String {
    let lines = report.findings.iter().map(|finding| {
        let mut found = finding.found.clone();
        if let Some(advice) = &finding.advice {
            found.push_str("\n-> ");
            found.push_str(&proposals::complete(advice));
        }
        let (severity, area) = (finding.severity.as_str(), finding.area.as_str());
        [severity.to_owned(), area.to_owned(), found]
    });
    let lines: Vec<_> = lines.collect();
    let columns = human::terminal_width().unwrap_or(COLUMNS);
    let lines = human::rows_within(Some(columns), [""; 3], &lines, Some(0));
    let counts = Severity::ALL.map(|severity| {
        let count = report.count(severity);
        let more = if severity > Severity::Ok && count != 1 {
            "s"
        } else {
            ""
        };
        format!("{count} {}{more}", severity.as_str())
    });
    format!("{lines}\n{}", counts.join(", "))
}
