//! The text and the JSON of a refresh of many groups, and its exit code.

use std::fmt::Write;

use crate::{
    cli::{
        commands::run::{RunReport, Summary},
        error::CliError,
        output::{
            self, compact, human,
            json::{REQUESTS, WARNINGS, answer, requests, warnings},
            progress::Progress,
            proposals,
            shape::shape,
        },
        process::exit::{Exit, RunEnd},
        session::Session,
    },
    domain::{
        batch::Halt,
        proposal::quoted,
        refresh::{Counts, ReadResult},
        text::visible,
    },
    operations::{GroupRead, Reading, Refresh, run::Sum},
};

/// The report of a refresh.
pub(super) struct Report {
    /// All groups of the refresh, including those read since it began.
    pub(super) known: usize,
    /// Groups left out because only files have mentioned them.
    pub(super) never_seen: usize,
    /// Print each group whole, as a single `get` does. Such a run is not continued.
    pub(super) is_whole: bool,
    /// Limits which groups are read.
    pub(super) filter: Option<String>,
    pub(super) first_failure: Option<Exit>,
}

/// The plan for a person.
pub(super) fn plan(plan: &Refresh) -> String {
    let mut lines = vec![format!("{} to read", plan.ids.len())];
    if plan.done_before > 0 {
        lines.push(format!("{} already read", plan.done_before));
    }
    let mut text = lines.join(", ");
    if plan.never_seen > 0 {
        write!(
            text,
            "\n! never seen in the service, known only from files: {}. {}",
            plan.never_seen,
            if plan.with_never_seen {
                "Reading one that does not exist creates it"
            } else {
                "Skipped; to read them, add --exists"
            }
        )
        .expect("a String takes it");
    }
    text
}

pub(super) fn dry_run(session: &Session, plan: &Refresh, report: &Report) -> Result<(), CliError> {
    let url = session.operations.profile().url();
    if session.json {
        return output::json(&planned(plan, report, &url));
    }
    output::result(&format!(
        "would send {} GET {}, one per group; nothing was sent",
        plan.ids.len(),
        visible(&url)
    ))
}

impl RunReport for Report {
    type Of = Reading;

    const HAS_STEPS: bool = true;

    fn ended(
        &mut self,
        session: &Session,
        progress: &Progress,
        read: &GroupRead,
    ) -> Option<Counts> {
        if let Some(failure) = &read.failure {
            self.first_failure
                .get_or_insert(Exit::from(failure.class()));
        }
        let done = read.done.as_deref();
        if let Some(done) = done.filter(|_| self.is_whole && read.failure.is_none()) {
            human::say_warnings(done);
            if session.json {
                let place = session.operations.bound_place_name();
                progress.result(compact(answer(done, place.as_deref(), None)));
            } else {
                let group = human::group(&done.group, session.operations.now());
                progress.result(format!(
                    "{}\n{group}",
                    done.ending.as_str().replace('_', " ")
                ));
            }
        } else if session.json {
            progress.result(compact(item(read)));
        } else if read.found != ReadResult::Unchanged || !read.warnings.is_empty() {
            progress.result(line(read));
        }
        Some(read.counts)
    }

    fn again(&self) -> Option<String> {
        let filter = self.filter.as_deref();
        let filter = filter.map_or_else(String::new, |text| format!(" --filter {}", quoted(text)));
        (!self.is_whole).then(|| format!("groupdesk get --refresh-all --resume{filter}"))
    }

    async fn summary(self, session: &Session, Sum { counts, halt }: Sum<Counts>) -> Summary {
        let exit = Exit::from_run(&RunEnd {
            unknown: 0,
            alarms: counts.alarms(),
            done: counts.read(),
            is_left: counts.not_started > 0,
            first_failure: self.first_failure,
            halt: halt.as_ref(),
        });
        let result = if session.json {
            compact(sum(&self, &counts, halt.as_ref()))
        } else if self.never_seen > 0 {
            format!("{counts}; {} never seen, skipped", self.never_seen)
        } else {
            counts.to_string()
        };
        let vanished = counts.created_again + counts.created > 0;
        let alarm = "! groups were CREATED by reading them: check base_url, API key and environment of the profile before anything else";
        Summary {
            exit,
            alarms: Vec::from_iter(vanished.then(|| alarm.into())),
            result: Some(result),
            said: None,
            next: Vec::new(),
            is_left: !counts.is_complete(),
        }
    }
}

shape! {
    pub(crate) PLAN = "refresh-plan", "what get of several groups or of all would do";
    fn planned(plan: &Refresh, report: &Report, url: &str) {
        ..REQUESTS = requests("GET", url);
        "planned": number = report.known, "groups in total";
        "done_before": number = plan.done_before, "groups that an interrupted run has read";
        "to_read": number = plan.ids.len(), "groups that would be read";
        "never_seen": number = report.never_seen, "groups that were skipped, because they are known only from files";
    }
}

shape! {
    pub(crate) SUM = "refresh-sum", "the last line: unchanged + changed + first_seen + created_again + created + wrong_environment + failed + \
                done_before + not_started = planned";
    fn sum(report: &Report, counts: &Counts, halt: Option<&Halt>) {
        "planned": number = counts.planned(), "groups that are to be read";
        "unchanged": number = counts.unchanged, "groups that had not changed";
        "changed": number = counts.changed, "groups that were changed elsewhere";
        "first_seen": number = counts.first_seen, "groups that were seen for the first time";
        "created_again": number = counts.created_again, "groups that had vanished; reading created them again";
        "created": number = counts.created, "groups that reading created";
        "wrong_environment": number = counts.wrong_environment, "groups of another environment";
        "failed": number = counts.failed, "groups that could not be read";
        "done_before": number = counts.done_before, "groups that an interrupted run has read";
        "not_started": number = counts.not_started, "groups for which nothing was sent";
        "never_seen": number = report.never_seen, "groups that were skipped, because they are known only from files";
        "stopped": text or "it ran to its end" = halt, "why it stopped; human-readable, may change";
    }
}

shape! {
    pub(crate) ITEM = "refreshed", "a group, as soon as it was read";
    fn item(read: &GroupRead) {
        "user_group_id": text = read.user_group_id.as_str(), "the group";
        "outcome": text = read.found.as_str(), "unchanged, changed, first_seen, created_again (it had vanished; an alarm), created, wrong_environment or failed";
        "changed": texts = read.elsewhere.fields(), "what was changed elsewhere";
        "previous_fingerprint": text or "unknown" = read.previous, "fingerprint of the token known before";
        "fingerprint": text or "unknown" = read.fingerprint, "fingerprint of the current token";
        "milliseconds": number = read.took.as_millis() as u64, "how long it took";
        "note": text or "it was read" = read.failure.as_ref().map(|failure| proposals::complete(&failure.to_string()).into_owned()), "why it could not be read; human-readable, may change";
        ..WARNINGS = warnings(&read.warnings);
    }
}

fn line(read: &GroupRead) -> String {
    let mut text = format!(
        "{} {}",
        read.user_group_id,
        read.found.as_str().replace('_', " ")
    );
    let labels = read.elsewhere.labels();
    if !labels.is_empty() {
        let labels: Vec<_> = labels.iter().map(|label| visible(label)).collect();
        write!(text, ": {}", labels.join(", ")).expect("a String takes it");
    }
    if let Some(failure) = &read.failure {
        write!(text, "\n  x {}", visible(&failure.to_string())).expect("a String takes it");
    }
    for warning in &read.warnings {
        write!(text, "\n  ! {}", visible(&warning.to_string())).expect("a String takes it");
    }
    text
}
