//! Checks everything this installation needs and reports problems as plain findings that are safe to paste. Nothing is
//! created or changed; a group is read only if its id is given and the directory knows it.

mod configuration;
mod directory;
mod places;
mod service;
mod terminal;

use std::path::Path;

use super::Clock;
use crate::{
    api::recording::Listener,
    config::{KeyOverride, Overrides, Problem, scrub::shown},
    directory::DirectoryError,
    domain::{group::UserGroupId, text::visible, word_enum::word_enum},
};

pub use terminal::Terminal;

word_enum! {
    /// How bad it is; the later, the worse. The words are those of the report and of its JSON.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        Ok = "ok",
        /// Good to know.
        Note = "note",
        /// It works, but not as well or as safely as it could.
        Warning = "warning",
        /// Something does not work.
        Problem = "problem",
    }
}

word_enum! {
    /// What a finding is about, in the words of the report and of its JSON.
    pub enum Area {
        Groupdesk = "groupdesk",
        Configuration = "configuration",
        Key = "key",
        /// Name, connection, TLS.
        Network = "network",
        /// What answers there.
        Service = "service",
        Clock = "clock",
        Directory = "directory",
        Terminal = "terminal",
    }
}

/// The result of one check. Contains no key, no token, and no group but the requested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub area: Area,
    pub severity: Severity,
    pub found: String,
    /// What to do, if anything.
    pub advice: Option<String>,
}

/// All findings, in the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub findings: Vec<Finding>,
    /// A problem of the directory is that a team's server cannot be reached or refuses.
    pub is_team_refused: bool,
}

impl Report {
    /// The highest severity of all findings.
    pub fn worst(&self) -> Severity {
        let severities = self.findings.iter().map(|finding| finding.severity);
        severities.max().unwrap_or(Severity::Ok)
    }

    /// The findings that say that something does not work.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.severity == Severity::Problem)
    }

    /// The number of findings of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let severities = self.findings.iter().map(|finding| finding.severity);
        severities.filter(|one| *one == severity).count()
    }

    fn about(&mut self, area: Area) -> Finder<'_> {
        let findings = &mut self.findings;
        Finder { findings, area }
    }

    /// The directory cannot be used.
    fn no_directory(&mut self, error: &DirectoryError, advice: &str) {
        self.is_team_refused |= matches!(error, DirectoryError::Team { .. });
        self.about(Area::Directory)
            .problem(error.to_string(), advice);
    }
}

/// Adds findings about one area.
struct Finder<'r> {
    findings: &'r mut Vec<Finding>,
    area: Area,
}

impl Finder<'_> {
    fn ok(self, found: impl Into<String>) {
        self.add(Severity::Ok, found, "");
    }

    fn note(self, found: impl Into<String>, advice: &str) {
        self.add(Severity::Note, found, advice);
    }

    fn warning(self, found: impl Into<String>, advice: &str) {
        self.add(Severity::Warning, found, advice);
    }

    fn problem(self, found: impl Into<String>, advice: &str) {
        self.add(Severity::Problem, found, advice);
    }

    /// An empty advice is none.
    fn add(self, severity: Severity, found: impl Into<String>, advice: &str) {
        self.findings.push(Finding {
            area: self.area,
            severity,
            found: found.into(),
            advice: (!advice.is_empty()).then(|| advice.to_owned()),
        });
    }
}

/// What to check, and the environment to check it in.
#[derive(Debug, Clone)]
pub struct DoctorRequest {
    pub overrides: Overrides,
    pub terminal: Terminal,
    /// Finds problems with the configured key bindings; only the console knows the keys.
    pub wrong_keys: fn(&[KeyOverride]) -> Vec<Problem>,
    /// A group to read, so that the body of a get is tested as well.
    pub id: Option<UserGroupId>,
    pub clock: Clock,
    /// Also notified of the exchanges.
    pub listener: Option<Listener>,
}

/// Runs all checks. A check that cannot be made is a finding as well.
pub async fn examine(request: &DoctorRequest) -> Report {
    let mut report = Report {
        findings: Vec::new(),
        is_team_refused: false,
    };
    report.about(Area::Groupdesk).ok(format!(
        "version {}, {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    ));
    let settings = configuration::check(request, &mut report);
    let profiles = settings
        .as_ref()
        .map(|(settings, _)| settings.profiles.as_slice());
    let directory = directory::check(request, profiles, &mut report).await;
    match &settings {
        Some((settings, profile)) => {
            service::check(request, settings, profile, directory.as_ref(), &mut report).await;
        }
        None => report.about(Area::Service).note(
            "not tested: there is no profile to test it with",
            "Fix the configuration first, then run doctor again.",
        ),
    }
    terminal::check(request, &mut report).await;
    let home = request.overrides.env.get("HOME").map(Path::new);
    for finding in &mut report.findings {
        finding.found = shorten_home(&finding.found, home);
        finding.advice = finding
            .advice
            .as_deref()
            .map(|text| shorten_home(text, home));
    }
    report
}

/// A path, fit to be shown.
fn path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// Replaces the home folder, which contains the name of the user, and makes invisible characters visible.
fn shorten_home(text: &str, home: Option<&Path>) -> String {
    let home = home
        .map(|home| home.to_string_lossy())
        .map(|home| home.trim_end_matches('/').to_owned())
        .filter(|home| home.len() > 1);
    match home {
        Some(home) => visible(&text.replace(&format!("{home}/"), "~/")).into_owned(),
        None => visible(text).into_owned(),
    }
}
