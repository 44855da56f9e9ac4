//! `doctor`: what is wrong with this installation and its way to the service, and what to do. It works even when
//! nothing else does.

use std::io::{self, IsTerminal};

use serde_json::{Value, json};

use super::profile::facts;
use crate::{
    cli::{
        args::{Doctor, Global},
        error::CliError,
        input::confirm::{self, Confirmation},
        output::{self, exchanges, human},
        process::{exit::Exit, signals::Signals},
        session::{InFlight, Session, overrides},
    },
    config::{DirectoryAt, directory_of, guard::Level},
    directory::Directory,
    domain::group::UserGroupId,
    operations::{
        Clock, Guarded, UnknownIdPolicy,
        doctor::{DoctorRequest, Finding, Report, Severity, Terminal, examine},
    },
    tui::{keymap, theme::Theme},
};

/// Width when there is no terminal, because the report goes into tickets.
const COLUMNS: usize = 80;

/// Changes the group and changes it back. Asks the person to type its id.
async fn probe(global: &Global, id: &UserGroupId, yes: bool) -> Result<Exit, CliError> {
    let session = Session::open(global, InFlight::default())?;
    session.operations.permitted(Guarded::Update)?;
    session
        .operations
        .known(id, UnknownIdPolicy::KnownOnly)
        .await?;
    confirm::ensure_can_ask(&session, yes)?;
    session.say_where();
    let what = format!(
        "Change \"{id}\" several times, and put it back as it is known here? Its dashboards may fail meanwhile."
    );
    let asking = Confirmation::about(&session, Guarded::Update, id, Level::Typed);
    confirm::confirm(yes, &what, asking.question(id)).await?;
    let probing = Box::pin(session.operations.probe_facts(id));
    let facts = session.in_flight.during(probing).await;
    facts::print(&session, &facts?)?;
    Ok(Exit::Done)
}

pub(crate) async fn run(global: &Global, arguments: Doctor) -> Result<Exit, CliError> {
    if let Some(id) = &arguments.probe {
        return probe(global, id, arguments.yes).await;
    }
    let mut signals = Signals::new()?;
    let overrides = overrides(global);
    if arguments.rebuild {
        let at = directory_of(&overrides)?;
        // A missing directory is reported, not created. A team's directory has no backup copies.
        if let DirectoryAt::File(file) = at
            && file.symlink_metadata().is_ok()
        {
            let directory = Directory::open(&file)?;
            directory.rebuild_copies().await?;
            // Close it before the file is inspected.
            drop(directory);
        }
    }
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

fn object(report: &Report) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "area": finding.area.as_str(),
            "severity": finding.severity.as_str(),
            "found": finding.found,
            "advice": finding.advice,
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "worst": report.worst().as_str(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn text(report: &Report) -> String {
    let lines = report.findings.iter().map(|finding| {
        let mut found = finding.found.clone();
        if let Some(advice) = &finding.advice {
            found.push_str("\n-> ");
            found.push_str(advice);
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
