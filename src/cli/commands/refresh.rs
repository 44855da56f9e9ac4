//! `get --refresh-all`: which groups are read, the confirmation where reading may create many, the run and its report. The
//! run itself is `operations`'; a signal stops it, and what is in flight is finished and written down.

mod report;

use jiff::Timestamp;

use crate::{
    cli::{
        args::{Get, Global, Order},
        error::CliError,
        input::{
            chosen::Listing,
            confirm::{self, Question},
        },
        output::{self, progress::Progress},
        process::{
            exit::Exit,
            graceful_shutdown::{Shutdown, ShutdownRequest},
            signals::Signals,
        },
        session::{InFlight, Session},
    },
    domain::refresh::Counts,
    operations::{Refresh, RefreshEvent, RefreshRun, batch::RunLimits},
};
use report::Report;

/// A reading that may be run.
struct Ready {
    run: RefreshRun,
    report: Report,
}

pub(crate) async fn run(global: &Global, arguments: Get) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let session = Session::open(global, InFlight::default())?;
    let prepared = tokio::select! {
        biased;
        // Nothing is sent before this is over.
        () = signals.next() => return Err(CliError::Interrupted { in_flight: false }),
        prepared = Box::pin(prepare(&session, &arguments)) => prepared?,
    };
    match prepared {
        Some(ready) => drive(&session, ready, &mut signals).await,
        None => Ok(Exit::Done),
    }
}

/// Everything up to the first read; `None` where there is nothing to run.
async fn prepare(session: &Session, arguments: &Get) -> Result<Option<Ready>, CliError> {
    let operations = &session.operations;
    let options = &arguments.refresh;
    session.say_where();
    let filter = options.filter.filter.as_deref().unwrap_or_default();
    let since = since(session, filter, options.resume).await?;
    let undone = "nothing was sent";
    let listing = Listing::of(session, &options.filter, &Order::default(), None, undone).await?;
    let of = if listing.is_filtered() {
        Some(session.ids_listed(&listing).await?.into_iter().collect())
    } else {
        None
    };
    let plan = operations
        .plan_refresh(since, arguments.assurance.exists, of.as_ref())
        .await?;
    let report = Report {
        known: plan.ids.len() + plan.done_before + plan.never_seen - plan.unseen(),
        never_seen: plan.never_seen - plan.unseen(),
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
    let begun = match operations.open_refresh(filter).await? {
        Some(open) if options.resume => open,
        _ => operations.begin_refresh(filter).await?,
    };
    let pace = RunLimits {
        concurrency: options.concurrency.into(),
        rate: options.rate,
        stop_after: options.stop_after.into(),
    };
    let run = operations.run_refresh(begun.id, plan, pace, options.keep_going)?;
    Ok(Some(Ready { run, report }))
}

/// From when on a group counts as read.
async fn since(
    session: &Session,
    filter: &str,
    resume: bool,
) -> Result<Option<Timestamp>, CliError> {
    let open = session.operations.open_refresh(filter).await?;
    match open {
        Some(open) if resume => {
            output::say(&format!(
                "going on with the reading begun {:.0} by {}",
                open.started_at, open.by
            ));
            Ok(Some(open.started_at))
        }
        None if resume => Err(CliError::Guarded(
            "no reading of all groups is unfinished in this profile; nothing was sent. Leave --resume out to begin one"
                .into(),
        )),
        _ => Ok(None),
    }
}

/// Reading is level 0 of docs/design/console.md; what may create many groups asks as what does create many.
async fn confirm(session: &Session, yes: bool, plan: &Refresh) -> Result<(), CliError> {
    confirm::can_be_asked(session, yes)?;
    let profile = &session.operations.profile().name;
    let words = format!("refresh {} in {profile}", plan.ids.len());
    let what = "A read of a group that does not exist creates it; none can be deleted again.";
    confirm::confirm(yes, what, Question::TypeWords(&words)).await
}

/// Tells what happens until the run has ended. The first signal stops it; Ctrl-C again leaves at once.
async fn drive(session: &Session, ready: Ready, signals: &mut Signals) -> Result<Exit, CliError> {
    let Ready { mut run, report } = ready;
    let progress = Progress::start(report.known);
    let mut told = report::Told::default();
    let mut finishing = Shutdown::of(signals);
    let ended = loop {
        tokio::select! {
            biased;
            news = run.progress.recv() => match news {
                Some(RefreshEvent::Finished { counts, halt }) => break Some((counts, halt)),
                Some(RefreshEvent::Ended(read)) => told.group(session, &progress, &read),
                Some(RefreshEvent::Throttled(wait)) => progress.held(wait),
                Some(RefreshEvent::Halted(halt)) => progress.alarm(halt.to_string()),
                None => break None,
            },
            asked = finishing.asked(&run.control, &progress) => if asked == ShutdownRequest::ToLeave {
                break None;
            },
        }
    };
    let Some((counts, halt)) = ended else {
        let _ = progress.end(Exit::Interrupted).await;
        output::alarm("go on with: groupdesk get --refresh-all --resume");
        return Err(CliError::Interrupted { in_flight: true });
    };
    let sum = report.sum(session, &counts, halt.as_ref());
    progress.result(sum);
    for line in advice(&counts) {
        progress.say(line.into());
    }
    progress.end(told.exit(&counts, halt.as_ref())).await
}

/// What to do next.
fn advice(counts: &Counts) -> impl Iterator<Item = &'static str> {
    let vanished = counts.created_again + counts.created > 0;
    let lines = [
        (
            vanished,
            "! groups were CREATED by reading them: check base_url, API key and environment of the profile before anything else",
        ),
        (
            !counts.is_complete(),
            "the rest, and what failed: groupdesk get --refresh-all --resume",
        ),
    ];
    lines
        .into_iter()
        .filter_map(|(holds, line)| holds.then_some(line))
}
