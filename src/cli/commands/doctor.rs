//! `doctor`: what is wrong with this installation and its way to the service, and what to do. It works even when
//! nothing else does.

use super::{help::VERSION, prelude::*};
use crate::{
    cli::{output::exchanges, session::overrides},
    operations::doctor::{DoctorRequest, Finding, Report, Severity, Terminal, examine},
    platform::os_error::in_plain_words,
    tui::{keymap, theme::Theme},
};

/// Width when there is no terminal, because the report goes into tickets.
const COLUMNS: usize = 80;

/// Check configuration, API key, service, directory and terminal; changes nothing
#[derive(Debug, Args)]
#[command(
    after_help = "The report is safe to share: it contains no API key, no token, and no group except the one named with \
        --id.\n\nExit codes: 0 nothing worse than a warning, 2 a problem of the configuration or the directory, 4 \
        API key missing or refused, 5 service unreachable, 8 team directory unreachable or access denied, 1 any other problem."
)]
pub(crate) struct Doctor {
    /// Also read this group, which must be in the directory, to check whether a GET body reaches the service
    #[arg(long, value_name = "ID")]
    id: Option<UserGroupId>,
}

impl Run for Doctor {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("doctor", &[
            "groupdesk doctor",
            r#"groupdesk doctor --id acme-eu --json | jq '.findings[] | select(.severity == "problem")'"#,
        ], &[one("", &[&REPORT])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
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
            id: self.id,
            clock: Clock::System,
            listener: exchanges::listener(),
        };
        let examined = async { Ok(Box::pin(examine(&visit)).await) };
        let report = signals.unless_signalled(examined).await?;
        output::either(global.json, || object(&report), || text(&report))?;
        Ok(Exit::from_report(&report))
    }
}

shape! {
    REPORT = "report", "what doctor found; safe to paste";
    fn object(report: &Report) {
        "version": text = VERSION, "version of groupdesk";
        "worst": text = report.worst().as_str(), "the worst severity";
        "findings": [FINDING] = report.findings.iter().map(finding), "in the order of the checks";
    }

    FINDING = "", "";
    fn finding(finding: &Finding) {
        "area": text = finding.area.as_str(), "groupdesk, configuration, key, network, service, clock, directory or terminal";
        "severity": text = finding.severity.as_str(), "ok, note, warning or problem";
        "found": text = found(finding), "what was found; human-readable, may change";
        "advice": text or "nothing needs to be done" = finding.advice.as_deref().map(proposals::complete), "what to do; human-readable, may change";
    }
}

/// What was found. It may propose a command as well.
fn found(finding: &Finding) -> String {
    proposals::complete(&in_plain_words(&finding.found)).into_owned()
}

fn text(report: &Report) -> String {
    let lines = report.findings.iter().map(|finding| {
        let mut found = found(finding);
        if let Some(advice) = &finding.advice {
            found.push_str("\n-> ");
            found.push_str(&proposals::complete(advice));
        }
        let (severity, area) = (finding.severity.as_str(), finding.area.as_str());
        [severity.to_owned(), area.to_owned(), found]
    });
    let columns = human::terminal_width().unwrap_or(COLUMNS);
    let lines = human::rows_within(Some(columns), [""; 3], lines, Some(0));
    let counts = Severity::ALL.map(|severity| match (report.count(severity), severity) {
        (count, Severity::Ok) => format!("{count} ok"),
        (count, severity) => counted(count, severity.as_str()),
    });
    format!("{lines}\n{}", counts.join(", "))
}
