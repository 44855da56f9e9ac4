//! `apply`: brings groups to the state that files describe. It shows the plan, asks for confirmation, then sends the
//! differences; a second run finds nothing to do. It can never delete a group.

use std::path::{Path, PathBuf};

use super::import::{
    checked::Checked,
    plan::{self, ImportOptions},
    send,
    shown::{self, ShownPlan, planned_row},
};
use super::prelude::*;
use crate::{
    cli::{
        args::{Mutation, Order, Speed},
        input::{confirm::Review, listing::Listing},
        output,
        process::signals::Signals,
        session::InFlight,
    },
    domain::text::visible,
    formats::{Ids, Plan},
    intake,
    operations::{Permit, Sending},
};

/// Extensions of the files that are read from a folder.
const ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "csv", "tsv"];
/// How many files that are not read are named.
const NAMED: usize = 10;

/// Send everything that differs.
const ALL: Sending = Sending {
    create: true,
    update: true,
    only_differences: true,
};

/// Apply files to the service: create missing groups and update those that differ
#[derive(Debug, Args)]
#[command(
    after_help = "Groups cannot be deleted: --prune-report only lists groups that are missing from the files. In a folder, \
        apply reads the .json, .jsonl, .ndjson, .csv and .tsv files in name order, skips hidden files, and lists all \
        others."
)]
pub(crate) struct Apply {
    /// File in import format, or a folder of such files
    #[arg(value_name = "DIR|FILE")]
    path: PathBuf,
    /// Read the groups of the files before the plan
    #[arg(long)]
    refresh: bool,
    /// With --dry-run: exit with 10 if anything would change, otherwise with 0
    #[arg(long, requires = "dry_run")]
    detailed_exitcode: bool,
    /// List known groups that are missing from the files
    #[arg(long)]
    prune_report: bool,
    /// Limit --prune-report to groups that match this filter, as in list --filter
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "prune_report"
    )]
    filter: Option<String>,
    #[command(flatten)]
    speed: Speed,
    #[command(flatten)]
    mutation: Mutation,
}

impl Run for Apply {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("apply", &["groupdesk apply groups/ --dry-run --detailed-exitcode", "groupdesk apply groups.jsonl --prune-report --yes"],
            &[lines("PATH", &[&shown::ROW, &send::ROW, &send::SUM]), lines("PATH --dry-run", &[&shown::ROW, &shown::SUM])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        self.mutation.no_curl("it works for one group only")?;
        let mut signals = Signals::new()?;
        let sources = sources(&self.path)?;
        let checked = signals.unless_signalled(Checked::of(sources, global.json));
        let Some(checked) = checked.await? else {
            return Ok(Exit::Usage);
        };
        let session = Session::open(global, InFlight::default())?;
        session.say_where();
        let prepared = signals.unless_signalled(prepare(&session, &self, &checked));
        let (permit, shown) = match prepared.await? {
            Ok(ready) => ready,
            Err(exit) => return Ok(exit),
        };
        let rows = shown.into_rows(&checked, permit, None)?;
        send::run(&session, &mut signals, rows, self.speed.pace()).await
    }
}

fn sending(plan: Plan) -> Sending {
    Sending {
        create: plan.create > 0,
        // A group that is to be created may turn out to exist already.
        update: true,
        only_differences: true,
    }
}

/// The rows of these files and folders, or `None` if some are wrong, which were reported.
pub(crate) async fn checked(paths: &[PathBuf], json: bool) -> Result<Option<Checked>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(sources(path)?);
    }
    Checked::of(files, json).await
}

/// Compares the files with what is known. Sends nothing but reads.
pub(crate) async fn compare(
    session: &Session,
    checked: &Checked,
    refreshes: bool,
) -> Result<Exit, CliError> {
    let options = ImportOptions {
        sending: ALL,
        refreshes,
        replaces: true,
    };
    let shown = plan::print_plan(session, checked, options, true).await?;
    shown::print_summary(session, ALL, &shown)?;
    Ok(Exit::from_difference(is_different(&shown)))
}

fn is_different(shown: &ShownPlan) -> bool {
    shown.plan.to_do() > 0 || !shown.annotations.is_empty()
}

/// Everything up to the confirmation. The inner `Err` is an exit without anything left to send.
async fn prepare(
    session: &Session,
    arguments: &Apply,
    checked: &Checked,
) -> Result<Result<(Permit, ShownPlan), Exit>, CliError> {
    session.say_other_places().await?;
    let options = ImportOptions {
        sending: ALL,
        refreshes: arguments.refresh,
        replaces: true,
    };
    let shown = plan::print_plan(session, checked, options, false).await?;
    let plan = shown.plan;
    if arguments.prune_report {
        prune_report(session, arguments.filter.as_deref(), &checked.ids).await?;
    }
    if arguments.mutation.dry_run {
        shown::print_summary(session, ALL, &shown)?;
        let is_told = arguments.detailed_exitcode && is_different(&shown);
        return Ok(Err(Exit::from_difference(is_told)));
    }
    shown::print_head(session, ALL, &shown)?;
    let operations = &session.operations;
    let review = Review::new(session, arguments.mutation.yes);
    if plan.to_do() == 0 {
        send::ask_without_change(&review, &shown).await?;
        return Ok(Ok((Permit::nothing(), shown)));
    }
    let permit = operations.sending_permitted(sending(plan), plan.to_do())?;
    review.can_ask()?;
    operations.ready().await?;
    let profile = &operations.profile().name;
    let words = format!("apply {} in {profile}", plan.to_do());
    let what = "This creates and changes groups. Groups cannot be deleted.";
    review.ask_losing(shown.lost(), what, &words).await?;
    Ok(Ok((permit, shown)))
}

/// Reports known groups that are not in the files.
async fn prune_report(session: &Session, filter: Option<&str>, ids: &Ids) -> Result<(), CliError> {
    let undone = "nothing was sent";
    let listing = Listing::of(session, filter, &Order::default(), None, undone).await?;
    session
        .each_listed(&listing, async |groups| {
            let mut text = String::new();
            let groups = groups.iter().map(|(group, _)| group);
            for group in groups.filter(|group| !ids.has(&group.id)) {
                let line = if session.json {
                    output::compact(planned_row(None, &group.id, "not_in_files"))
                } else {
                    format!("not in the files: {}", group.id)
                };
                text.push_str(&line);
                text.push('\n');
            }
            output::chunk(&text)
        })
        .await
}

/// The file itself, or the files of a folder in name order; what a folder has besides is listed.
fn sources(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error: std::io::Error| CliError::Usage(format!("{}: {error}", path.display()));
    let (mut files, mut ignored) = (Vec::new(), Vec::new());
    for entry in path.read_dir().map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let Some(name) = file.file_name() else {
            continue;
        };
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let is_meant = file.extension().is_some_and(|ending| {
            let mut endings = ENDINGS.iter();
            endings.any(|known| ending.eq_ignore_ascii_case(known))
        });
        if !is_meant {
            ignored.push(left_out(&file));
            continue;
        }
        // If the file were skipped silently, its groups would not end up as wanted.
        let why = match std::fs::metadata(&file) {
            Ok(found) if found.is_file() => {
                files.push(file);
                continue;
            }
            Ok(_) => "it is not a regular file".to_owned(),
            Err(error) => error.to_string(),
        };
        return Err(CliError::Usage(format!(
            "{}: {why}; nothing was done. Remove it from the folder",
            file.display()
        )));
    }
    ignored.sort();
    if !ignored.is_empty() {
        let more = ignored.len().saturating_sub(NAMED);
        ignored.truncate(NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        output::context(&format!(
            "! not read in {}: {}{more}",
            path.display(),
            ignored.join(", ")
        ));
    }
    if files.is_empty() {
        return Err(CliError::Usage(format!(
            "{} has no file that ends in .json, .jsonl, .ndjson, .csv or .tsv; nothing was done",
            path.display()
        )));
    }
    files.sort();
    Ok(files)
}

/// A file of a folder that is not read, with the reason if its content shows one.
fn left_out(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    let name = visible(&name.to_string_lossy()).into_owned();
    if file.is_dir() {
        return format!("{name}/ (a folder; pass it separately)");
    }
    let is_file = file.is_file();
    let start = is_file.then(|| intake::text::start(file)).flatten();
    let kind = start.and_then(|start| intake::kind::foreign(&start));
    kind.map_or_else(|| name.clone(), |kind| format!("{name} ({kind})"))
}
