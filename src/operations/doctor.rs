//! Looks at everything this installation needs and says what is wrong with it: plain findings, safe to paste. Nothing is created
//! or changed; without an id no group is read, and with one only a group that the directory knows.

mod configuration;
mod directory;
mod places;
mod service;
mod terminal;

use std::path::Path;

use super::Clock;
use crate::{
    api::recording::Listener,
    config::{KeyOverride, Overrides, Problem},
    domain::{group::UserGroupId, text::visible},
};

pub use terminal::Terminal;

/// How bad it is; the later, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Ok,
    /// Good to know.
    Note,
    /// It works, but not as well or as safely as it could.
    Warning,
    /// Something does not work.
    Problem,
}

impl Severity {
    pub const ALL: [Self; 4] = [Self::Ok, Self::Note, Self::Warning, Self::Problem];

    /// The word of the report and of its JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    Groupdesk,
    Configuration,
    Key,
    /// Name, connection, TLS.
    Network,
    /// What answers there.
    Service,
    Clock,
    Directory,
    Terminal,
}

impl Area {
    /// The word of the report and of its JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Groupdesk => "groupdesk",
            Self::Configuration => "configuration",
            Self::Key => "key",
            Self::Network => "network",
            Self::Service => "service",
            Self::Clock => "clock",
            Self::Directory => "directory",
            Self::Terminal => "terminal",
        }
    }
}

/// One thing that was looked at. No key, no token, no group but the one that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub area: Area,
    pub severity: Severity,
    pub found: String,
    /// What to do; `None` where there is nothing to do.
    pub advice: Option<String>,
}

/// All findings, in the order of looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub findings: Vec<Finding>,
}

impl Report {
    /// The worst of all.
    pub fn worst(&self) -> Severity {
        let severities = self.findings.iter().map(|finding| finding.severity);
        severities.max().unwrap_or(Severity::Ok)
    }

    /// What does not work.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.severity == Severity::Problem)
    }

    /// How many findings are as bad as that.
    pub fn count(&self, severity: Severity) -> usize {
        let severities = self.findings.iter().map(|finding| finding.severity);
        severities.filter(|one| *one == severity).count()
    }

    fn ok(&mut self, area: Area, found: impl Into<String>) {
        self.add(area, Severity::Ok, found, None);
    }

    fn note(&mut self, area: Area, found: impl Into<String>, advice: &str) {
        self.add(area, Severity::Note, found, Some(advice));
    }

    fn warning(&mut self, area: Area, found: impl Into<String>, advice: &str) {
        self.add(area, Severity::Warning, found, Some(advice));
    }

    fn problem(&mut self, area: Area, found: impl Into<String>, advice: &str) {
        self.add(area, Severity::Problem, found, Some(advice));
    }

    fn add(
        &mut self,
        area: Area,
        severity: Severity,
        found: impl Into<String>,
        advice: Option<&str>,
    ) {
        self.findings.push(Finding {
            area,
            severity,
            found: found.into(),
            advice: advice
                .filter(|advice| !advice.is_empty())
                .map(str::to_owned),
        });
    }
}

/// What to look at, and with whose eyes.
#[derive(Debug, Clone)]
pub struct DoctorRequest {
    pub overrides: Overrides,
    pub terminal: Terminal,
    /// What is wrong with the keys of the configuration: the console knows.
    pub wrong_keys: fn(&[KeyOverride]) -> Vec<Problem>,
    /// A group to read, so that the body of a get is tried too.
    pub id: Option<UserGroupId>,
    pub clock: Clock,
    /// Who else wants to know of the exchanges.
    pub listener: Option<Listener>,
}

/// Looks at everything; what cannot be looked at is a finding too.
pub async fn examine(visit: &DoctorRequest) -> Report {
    let mut report = Report {
        findings: Vec::new(),
    };
    report.ok(
        Area::Groupdesk,
        format!(
            "version {}, {} {}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
    );
    let settings = configuration::look(visit, &mut report);
    let profiles = settings
        .as_ref()
        .map(|(settings, _)| settings.profiles.as_slice());
    let directory = directory::look(&visit.overrides, profiles, &mut report).await;
    match &settings {
        Some((settings, profile)) => {
            service::look(visit, settings, profile, directory.as_ref(), &mut report).await;
        }
        None => report.note(
            Area::Service,
            "not asked: there is no profile to ask it with",
            "Put the configuration right first, then look again.",
        ),
    }
    terminal::look(visit, &mut report).await;
    let home = visit.overrides.env.get("HOME").map(Path::new);
    for finding in &mut report.findings {
        finding.found = short(&finding.found, home);
        finding.advice = finding.advice.as_deref().map(|text| short(text, home));
    }
    report
}

/// Without the name of the person in the paths, and with everything visible.
fn short(text: &str, home: Option<&Path>) -> String {
    let home = home
        .map(|home| home.to_string_lossy())
        .map(|home| home.trim_end_matches('/').to_owned())
        .filter(|home| home.len() > 1);
    match home {
        Some(home) => visible(&text.replace(&format!("{home}/"), "~/")).into_owned(),
        None => visible(text).into_owned(),
    }
}

/// One, or so many of them.
fn many(count: u32, one: &str, more: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {more}"),
    }
}
