//! `get` of several or of all groups: which groups are read, the confirmation if the reads may create many, the run and
//! its report. The run itself is in `operations`. A signal stops it; requests in flight are finished and recorded.

use std::fmt::Write;

use super::{
    import::resembling::Resembling,
    prelude::*,
    run::{RunReport, Summary, follow},
};
use crate::{
    cli::{
        args::Get,
        input::selection::{self, in_quotes},
        output::{
            compact,
            json::{REQUESTS, WARNINGS, answer, requests, warnings},
            token_file::TokenLines,
        },
        process::exit::RunEnd,
    },
    directory::Import,
    domain::{
        batch::Halt,
        refresh::{Counts, ReadResult},
    },
    operations::{
        GroupRead, NextStep, Reading, Refresh,
        run::{Run, Sum, TokenSink},
    },
};

const UNDONE: &str = "nothing was sent";
/// How many groups that resemble others are named.
const NAMED: usize = 5;
/// An unknown id among several is more likely a mistake than a group to create.
const UNDONE_OF_SEVERAL: &str = "nothing was sent. --exists reads several groups only if the directory has them. To read \
    another one: groupdesk get ID --exists";

/// A refresh that is ready to run.
type Ready = (Run<Reading>, Report);

pub(crate) async fn run(global: &Global, arguments: Get) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let given = signals.unless_signalled(read(&arguments)).await?;
    let session = signals.unless_signalled(Session::open(global)).await?;
    let prepared = signals.unless_signalled(prepare(&session, &arguments, given));
    match prepared.await? {
        Some((run, report)) => follow(&session, &mut signals, run, report).await,
        None => Ok(Exit::Done),
    }
}

async fn read(arguments: &Get) -> Result<Given, CliError> {
    if arguments.token.reveal {
        return Err(CliError::Usage(
            "--reveal works for one group only; nothing was sent. For several, use --token-out FILE".into(),
        ));
    }
    if arguments.reading.refresh_all {
        return Ok(Given::default());
    }
    Given::read(&arguments.groups, None, UNDONE).await
}

/// Everything up to the first read. Returns `None` if there is nothing to run.
async fn prepare(
    session: &Session,
    arguments: &Get,
    given: Given,
) -> Result<Option<Ready>, CliError> {
    let operations = &session.operations;
    let options = &arguments.reading;
    session.say_where();
    session.say_other_places().await?;
    operations.may(NextStep::Record)?;
    if operations.place_name().await?.is_none() {
        // An unknown key knows no group, which is not the same as having read all.
        operations.bound().await?;
    }
    let plan = if options.refresh_all {
        plan_all(session, arguments).await?
    } else {
        let exists = arguments.assurance.exists;
        if exists {
            selection::ensure_groups(session, &arguments.groups.ids, UNDONE_OF_SEVERAL).await?;
        }
        let selected = Selected::of(session, (&arguments.groups, given), None, UNDONE).await?;
        if exists && selected.all_named {
            selection::ensure_groups(session, &selected.ids, UNDONE_OF_SEVERAL).await?;
        }
        let planned = operations.plan_reading(&selected.ids, exists, selected.all_named);
        planned.await?
    };
    let report = Report {
        known: plan.ids.len() + plan.done_before + plan.never_seen - plan.unseen(),
        never_seen: plan.never_seen - plan.unseen(),
        is_whole: !options.refresh_all,
        filter: arguments.groups.filter.clone(),
        first_failure: None,
    };
    output::context(&in_words(&plan));
    operations.refresh_permitted(&plan, options.keep_going)?;
    if options.dry_run {
        dry_run(session, &plan, &report)?;
        return Ok(None);
    }
    if !plan.ids.is_empty() {
        if options.keep_going || plan.unseen() > 0 {
            say_what_resembles(session, &plan).await?;
            confirm(session, options.yes, &plan).await?;
        }
        operations.ready().await?;
    }
    let mut tokens: Option<Arc<dyn TokenSink>> = None;
    let begun = if options.refresh_all {
        let filter = arguments.groups.filter.as_deref().unwrap_or_default();
        Some(match operations.open_refresh(filter).await? {
            Some(open) if options.resume => open.id,
            _ => operations.begin_refresh(filter).await?.id,
        })
    } else {
        if let Some(file) = &arguments.token.token_out {
            let fingerprinter = operations.directory().fingerprinter();
            tokens = Some(Arc::new(TokenLines::create(file, fingerprinter)?));
        }
        None
    };
    let pace = options.pace.limits();
    let run = operations.run_refresh(begun, plan, pace, options.keep_going, tokens)?;
    Ok(Some((run, report)))
}

/// All known groups, or those that match the filter.
async fn plan_all(session: &Session, arguments: &Get) -> Result<Refresh, CliError> {
    let said = arguments.groups.filter.as_deref();
    let filter = said.unwrap_or_default();
    let resumed = resumed(session, filter, arguments.reading.resume).await?;
    let of = session
        .matching_ids(ListedFor::Sending, said, UNDONE)
        .await?;
    let exists = arguments.assurance.exists;
    let operations = &session.operations;
    Ok(operations
        .plan_refresh(resumed.as_ref(), exists, of.as_ref())
        .await?)
}

/// With `--resume`, the unfinished refresh: what it has read is not read again.
async fn resumed(
    session: &Session,
    filter: &str,
    resume: bool,
) -> Result<Option<Import>, CliError> {
    let open = session.operations.open_refresh(filter).await?;
    match open {
        Some(open) if resume => {
            output::say(&format!(
                "resuming the refresh started {} by {}",
                when::second(open.started_at),
                open.by
            ));
            Ok(Some(open))
        }
        None if resume => Err(CliError::Guarded(
            "no interrupted --refresh-all in this profile; nothing was sent. To start one, remove --resume"
                .into(),
        )),
        _ => Ok(None),
    }
}

/// Names groups that reading may create and that resemble known ones, as `create` does.
async fn say_what_resembles(session: &Session, plan: &Refresh) -> Result<(), CliError> {
    if plan.unseen() == 0 {
        return Ok(());
    }
    let groups = session.operations.show_all(&plan.ids).await?;
    let unseen = groups
        .into_iter()
        .flatten()
        .filter(|group| !group.is_seen());
    let mut resembling = Resembling::default();
    let mut named = 0;
    for KnownGroup { id, .. } in unseen {
        let near = resembling.near(session, &id).await?;
        if near.is_empty() {
            continue;
        }
        output::context(&format!(
            "! \"{id}\" was never seen in the service; similar known IDs: {}",
            in_quotes(&near)
        ));
        named += 1;
        if named == NAMED {
            break;
        }
    }
    Ok(())
}

/// Reading is level 0 of docs/design/console.md. Reads that may create many groups ask as a bulk create does.
async fn confirm(session: &Session, yes: bool, plan: &Refresh) -> Result<(), CliError> {
    let profile = &session.operations.profile().name;
    let words = format!("refresh {} in {profile}", plan.ids.len());
    let what = "Reading a group that does not exist creates it. Groups cannot be deleted.";
    let review = Review::new(session, yes);
    review.ask(what, Question::TypeWords(&words)).await
}

/// The report of a refresh.
struct Report {
    /// All groups of the refresh, including those read since it began.
    known: usize,
    /// Groups left out because only files have mentioned them.
    never_seen: usize,
    /// Print each group whole, as a single `get` does. Such a run is not continued.
    is_whole: bool,
    /// Limits which groups are read.
    filter: Option<String>,
    first_failure: Option<Exit>,
}

/// The plan for a person.
fn in_words(plan: &Refresh) -> String {
    let mut text = format!("{} to read", plan.ids.len());
    if plan.done_before > 0 {
        let _ = write!(text, ", {} already read", plan.done_before);
    }
    if plan.never_seen > 0 {
        let _ = write!(
            text,
            "\n! never seen in the service, known only from files: {}. {}",
            plan.never_seen,
            if plan.with_never_seen {
                "Reading one that does not exist creates it"
            } else {
                "Skipped; to read them, add --exists"
            }
        );
    }
    text
}

/// The plan for one group, which the directory may not know.
pub(super) fn dry_run_of_one(
    session: &Session,
    id: &UserGroupId,
    known: Option<&KnownGroup>,
) -> Result<Exit, CliError> {
    let never_seen = usize::from(!known.is_some_and(KnownGroup::is_seen));
    let plan = Refresh {
        ids: vec![id.clone()],
        never_seen,
        with_never_seen: true,
        ..Refresh::default()
    };
    let report = Report {
        known: 1 - never_seen,
        never_seen: 0,
        is_whole: true,
        filter: None,
        first_failure: None,
    };
    output::context(&in_words(&plan));
    dry_run(session, &plan, &report)?;
    Ok(Exit::Done)
}

fn dry_run(session: &Session, plan: &Refresh, report: &Report) -> Result<(), CliError> {
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
        let vanished = counts.of(ReadResult::CreatedAgain) + counts.of(ReadResult::Created) > 0;
        let alarm = "! groups were CREATED by reading them: check base_url, API key and environment of the profile before anything else";
        Summary {
            alarms: Vec::from_iter(vanished.then(|| alarm.into())),
            result: Some(result),
            is_left: !counts.is_complete(),
            ..Summary::of(exit)
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

    pub(crate) SUM = "refresh-sum", "the last line: unchanged + changed + first_seen + created_again + created + wrong_environment + failed + \
                done_before + not_started = planned";
    fn sum(report: &Report, counts: &Counts, halt: Option<&Halt>) {
        "planned": number = counts.planned(), "groups that are to be read";
        "unchanged": number = counts.of(ReadResult::Unchanged), "groups that had not changed";
        "changed": number = counts.of(ReadResult::Changed), "groups that were changed elsewhere";
        "first_seen": number = counts.of(ReadResult::FirstSeen), "groups that were seen for the first time";
        "created_again": number = counts.of(ReadResult::CreatedAgain), "groups that had vanished; reading created them again";
        "created": number = counts.of(ReadResult::Created), "groups that reading created";
        "wrong_environment": number = counts.of(ReadResult::WrongEnvironment), "groups of another environment";
        "failed": number = counts.of(ReadResult::Failed), "groups that could not be read";
        "done_before": number = counts.done_before, "groups that an interrupted run has read";
        "not_started": number = counts.not_started, "groups for which nothing was sent";
        "never_seen": number = report.never_seen, "groups that were skipped, because they are known only from files";
        "stopped": text or "it ran to its end" = halt, "why it stopped; human-readable, may change";
    }

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
        let labels = joined(labels.iter().map(|label| visible(label)), ", ");
        let _ = write!(text, ": {labels}");
    }
    if let Some(failure) = &read.failure {
        let _ = write!(text, "\n  x {}", visible(&failure.to_string()));
    }
    for warning in &read.warnings {
        let _ = write!(text, "\n  ! {}", visible(&warning.to_string()));
    }
    text
}
