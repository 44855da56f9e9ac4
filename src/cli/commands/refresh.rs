//! `get` of several or of all groups: which groups are read, the confirmation if the reads may create many, the run and
//! its report. The run itself is in `operations`. A signal stops it; requests in flight are finished and recorded.

pub(crate) mod report;

use std::sync::Arc;

use crate::{
    cli::{
        args::{Get, Global, Order},
        commands::{batch::tokens::TokenLines, run::follow},
        error::CliError,
        input::{
            confirm::{Question, Review},
            known,
            listing::Listing,
            selection::{Given, Selected},
        },
        output,
        process::{exit::Exit, signals::Signals},
        session::{InFlight, Session},
    },
    directory::Import,
    domain::when,
    operations::{
        NextStep, Reading, Refresh,
        run::{Run, TokenSink},
    },
};
use report::Report;

const UNDONE: &str = "nothing was sent";
/// An unknown id among several is more likely a mistake than a group to create.
const UNDONE_OF_SEVERAL: &str = "nothing was sent. --exists reads several groups only if the directory has them. To read \
    another one: groupdesk get ID --exists";

/// A refresh that is ready to run.
type Ready = (Run<Reading>, Report);

pub(crate) async fn run(global: &Global, arguments: Get) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let given = signals.unless_signalled(read(&arguments)).await?;
    let session = Session::open(global, InFlight::default())?;
    let prepared = signals.unless_signalled(prepare(&session, &arguments, given));
    match prepared.await? {
        Some((run, report)) => follow(&session, &mut signals, run, report).await,
        None => Ok(Exit::Done),
    }
}

async fn read(arguments: &Get) -> Result<Given, CliError> {
    if arguments.token.reveal {
        return Err(CliError::Usage(
            "--reveal is for one group; for several, tokens go to --token-out FILE. Nothing was sent".into(),
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
            known::ensure_groups(session, &arguments.groups.ids, UNDONE_OF_SEVERAL).await?;
        }
        let selected = Selected::of(session, (&arguments.groups, given), None, UNDONE).await?;
        if exists && selected.all_named {
            known::ensure_groups(session, &selected.ids, UNDONE_OF_SEVERAL).await?;
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
    output::context(&report::plan(&plan));
    operations.refresh_permitted(&plan, options.keep_going)?;
    if options.dry_run {
        report::dry_run(session, &plan, &report)?;
        return Ok(None);
    }
    if !plan.ids.is_empty() {
        if options.keep_going || plan.unseen() > 0 {
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
    let listing = Listing::of(session, said, &Order::default(), None, UNDONE).await?;
    let of = if listing.is_filtered() {
        Some(session.ids_listed(&listing).await?.into_iter().collect())
    } else {
        None
    };
    let exists = arguments.assurance.exists;
    let plan = session
        .operations
        .plan_refresh(resumed.as_ref(), exists, of.as_ref())
        .await?;
    Ok(plan)
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

/// Reading is level 0 of docs/design/console.md. Reads that may create many groups ask as a bulk create does.
async fn confirm(session: &Session, yes: bool, plan: &Refresh) -> Result<(), CliError> {
    let profile = &session.operations.profile().name;
    let words = format!("refresh {} in {profile}", plan.ids.len());
    let what = "Reading a group that does not exist creates it. Groups cannot be deleted.";
    let review = Review::new(session, yes);
    review.ask(what, Question::TypeWords(&words)).await
}
