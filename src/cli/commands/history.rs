//! `history`: who did what, printed as it is read from the directory; the changes of one entry; and undoing an update.

mod entry;

use self::entry::EntryRef;
use super::{
    groups::UNDONE,
    prelude::*,
    watch::{self, LossReporter},
};
use crate::{
    cli::{args::Filter, output::form::Items},
    directory::{HistoryFilter, Numbered},
    domain::{
        history::{Entry, Operation},
        operation_record::{OperationRecord, RecordGrouper},
        text::person,
        when::Time,
    },
    operations::Mutation as OpenChange,
};

const UNSHOWN: &str = "nothing was shown";
/// How many entries are printed first, before the later ones.
const FIRST_ENTRIES: u32 = 10;

/// Show who changed which group, newest first
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A rotation has one entry for its response and one for the read that confirmed it; --by-operation merges them \
        into one entry with steps. For an audit export, add -o jsonl or csv. A time is 2026-11-30 (UTC), \
        2026-11-30T08:00:00Z, or an age such as 7d. If the ID of a group is diff or restore: groupdesk history -- diff"
)]
pub(crate) struct History {
    /// Show only this group
    id: Option<UserGroupId>,
    #[command(flatten)]
    filter: Filter,
    /// Show only entries from this time on
    #[arg(long, value_name = "TIME")]
    since: Option<Time>,
    /// Show only entries before this time
    #[arg(long, value_name = "TIME")]
    until: Option<Time>,
    /// Show only entries by this user: ana, or ana@bastion2
    #[arg(long, value_name = "WHO", value_parser = who)]
    by: Option<String>,
    /// Show only get, create, update, rotate or handoff; repeatable
    #[arg(long, value_name = "WHAT")]
    operation: Vec<Operation>,
    /// Show one entry per operation, with its steps
    #[arg(long)]
    by_operation: bool,
    /// Maximum number of entries
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// List the oldest entry first
    #[arg(long)]
    reverse: bool,
    /// Print the latest entries (10, or --limit), then each new one, until Ctrl-C
    #[arg(long, short = 'f', conflicts_with_all = ["reverse", "until", "by_operation", "open", "json"])]
    follow: bool,
    /// Show only creates and updates whose result is unknown
    #[arg(long, conflicts_with_all = ["limit", "filter", "reverse", "since", "until", "by", "operation", "by_operation"])]
    open: bool,
    #[command(subcommand)]
    command: Option<HistoryCommand>,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    /// Show what an entry of the history changed, without contacting the service
    #[command(after_help = "Exit codes with --now: 0 same, 10 different.")]
    Diff {
        /// Entry number, as printed by --json; or a group ID, for its last update
        #[arg(value_name = "NUMBER|ID", value_parser = entry::which)]
        line: EntryRef,
        /// Compare with the current values instead of the previous ones
        #[arg(long)]
        now: bool,
    },
    /// Undo an update after a review; restores only the values that it changed
    Restore {
        /// Entry number, as printed by --json; or a group ID, for its last update
        #[arg(value_name = "NUMBER|ID", value_parser = entry::which)]
        line: EntryRef,
        #[command(flatten)]
        replace: Replace,
        #[command(flatten)]
        mutation: Mutation,
    },
}

impl Run for History {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("history", &[
            "groupdesk history --limit 20",
            "groupdesk history --filter label:vip --json",
            "groupdesk history --open",
            "groupdesk history --follow -o jsonl",
            "groupdesk history --since 30d --operation rotate --by-operation -o csv > rotations.csv",
            "groupdesk history --by ana --since 2026-11-01 --until 2026-12-01 -o jsonl",
        ], &[
            array("[ID]", &[&json::ENTRY]),
            array("[ID] --by-operation", &[&json::OPERATION]),
            array("[ID] --open", &[&json::CHANGE]),
        ]),
        page("history diff", &["groupdesk history diff 41", "groupdesk history diff acme-eu --now --json"],
            &[one("NUMBER", &[&entry::DIFFERENCE])]),
        page("history restore", &["groupdesk history restore 41 --dry-run", "groupdesk history restore acme-eu --yes"],
            &[one("NUMBER", &[&json::ANSWER]), one("NUMBER --dry-run", &[&review::REQUEST])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        if self.follow {
            return watch::until_signal(global, async |session| follow(session, self).await).await;
        }
        in_session(global, async |session| run(session, self).await).await
    }
}

/// A user with or without a machine; of a machine alone nothing would be found.
fn who(text: &str) -> Result<String, &'static str> {
    let name = person(text).trim();
    let who = (!name.is_empty()).then(|| text.to_owned());
    who.ok_or("expected a user, such as ana or ana@bastion2")
}

impl History {
    fn wanted(&self, now: Timestamp) -> Result<HistoryFilter, CliError> {
        let at = |when: Option<Time>| when.map(|when| when.at(now));
        let (since, until) = (at(self.since), at(self.until));
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            let text = format!("--since must be before --until; {UNSHOWN}");
            return Err(CliError::Usage(text));
        }
        Ok(HistoryFilter {
            user_group_id: self.id.clone(),
            since,
            until,
            by: self.by.clone(),
            operations: self.operation.clone(),
            ..HistoryFilter::default()
        })
    }
}

async fn run(session: &Session, arguments: History) -> Result<Exit, CliError> {
    match arguments.command {
        Some(HistoryCommand::Diff { line, now }) => entry::diff(session, &line, now).await,
        Some(HistoryCommand::Restore {
            line,
            replace,
            mutation,
        }) => entry::restore(session, &line, replace.fields(), mutation).await,
        None if arguments.open => open_changes(session, arguments.id.as_ref()).await,
        None => list(session, arguments).await,
    }
}

/// Creates and updates whose outcome is open. Reading the group again settles them.
async fn open_changes(session: &Session, id: Option<&UserGroupId>) -> Result<Exit, CliError> {
    let mut changes = session.operations.open_changes().await?;
    changes.retain(|change| id.is_none_or(|id| change.user_group_id == *id));
    if let Some(id) = id.filter(|_| changes.is_empty()) {
        session.known_here(id, UNSHOWN).await?;
    }
    let place = session.place_for_json().await?;
    let value = |change: &OpenChange| json::change(change, place.as_deref());
    let none = "no open creates or updates";
    let text = || human::changes(&changes, session.operations.now());
    output::list(session.json, &changes, value, none, text)
}

/// An entry of the history, or several of one operation.
enum Found {
    Line(Box<Numbered<Entry>>),
    Record(OperationRecord),
}

impl Found {
    fn json(&self, place: Option<&str>) -> Object {
        match self {
            Self::Line(line) => json::entry(line, place),
            Self::Record(record) => json::operation_record(record, place),
        }
    }

    /// The entry as a person reads it.
    fn line(self) -> Numbered<Entry> {
        match self {
            Self::Line(line) => *line,
            Self::Record(record) => {
                let (number, value) = record.whole();
                Numbered { number, value }
            }
        }
    }
}

/// Prints entries as they are read, unless they are wanted oldest first or go into a table that must be measured.
struct Printer<'s> {
    session: &'s Session,
    place: Option<String>,
    items: Items,
    kept: Vec<Found>,
    is_kept: bool,
    left: usize,
    count: usize,
}

impl Printer<'_> {
    /// Returns whether more entries are wanted.
    fn print(&mut self, mut items: Vec<Found>) -> Result<bool, CliError> {
        items.truncate(self.left);
        self.left -= items.len();
        self.count += items.len();
        let wants_more = self.left > 0;
        if self.is_kept {
            self.kept.extend(items);
            return Ok(wants_more);
        }
        let place = self.place.as_deref();
        let text = self.items.text(items.iter().map(|item| item.json(place)))?;
        Ok(output::chunk(&text)? && wants_more)
    }

    fn end(mut self, reverse: bool) -> Result<(), CliError> {
        if reverse {
            self.kept.reverse();
        }
        if self.session.json {
            let place = self.place.as_deref();
            let kept = self.kept.iter().map(|item| item.json(place));
            output::chunk(&self.items.text(kept)?)?;
            output::chunk(&self.items.end())?;
        } else if self.count > 0 {
            let lines: Vec<_> = self.kept.into_iter().map(Found::line).collect();
            output::result(&human::history(&lines, self.session.operations.now()))?;
        }
        Ok(())
    }
}

async fn list(session: &Session, arguments: History) -> Result<Exit, CliError> {
    let operations = &session.operations;
    let of = session
        .matching_ids(
            ListedFor::Reading,
            arguments.filter.filter.as_deref(),
            UNDONE,
        )
        .await?;
    let wanted = arguments.wanted(operations.now())?;
    let is_narrowed = wanted
        != HistoryFilter {
            user_group_id: arguments.id.clone(),
            ..HistoryFilter::default()
        };
    let mut printer = Printer {
        session,
        place: operations.place_name().await?,
        items: Items::default(),
        kept: Vec::new(),
        is_kept: arguments.reverse || !session.json,
        left: arguments.limit.map_or(usize::MAX, |limit| limit as usize),
        count: 0,
    };
    let mut records = arguments.by_operation.then(RecordGrouper::default);
    operations
        .each_history(wanted, async |lines| -> Result<bool, CliError> {
            let lines = lines.into_iter();
            let lines = lines.filter(|line| is_match(of.as_ref(), line));
            printer.print(match &mut records {
                None => lines.map(|line| Found::Line(Box::new(line))).collect(),
                Some(records) => {
                    let whole = lines.flat_map(|line| records.push(line.number, line.value));
                    whole.map(Found::Record).collect()
                }
            })
        })
        .await?;
    if let Some(records) = records {
        printer.print(records.finish().into_iter().map(Found::Record).collect())?;
    }
    let is_empty = printer.count == 0;
    if let Some(id) = arguments.id.filter(|_| is_empty) {
        // A mistyped id must not look like a group that nothing was ever done to.
        session.known_here(&id, UNSHOWN).await?;
    }
    if is_empty && !session.say_elsewhere().await? && !session.json {
        output::say(if is_narrowed || of.is_some() {
            "no matching entries in the history"
        } else {
            "the history is empty"
        });
    }
    printer.end(arguments.reverse)?;
    Ok(Exit::Done)
}

/// Prints the latest entries, then each new one.
async fn follow(session: &Session, arguments: History) -> Result<Exit, CliError> {
    let operations = &session.operations;
    let mut feed = operations.history_feed().await?;
    let wanted = arguments.wanted(operations.now())?;
    let filter = arguments.filter.filter.as_deref();
    let limit = arguments.limit.unwrap_or(FIRST_ENTRIES) as usize;
    let of = session
        .matching_ids(ListedFor::Reading, filter, UNDONE)
        .await?;
    let mut last = Vec::new();
    operations
        .each_history(wanted.clone(), async |lines| -> Result<bool, CliError> {
            last.extend(lines.into_iter().filter(|line| is_match(of.as_ref(), line)));
            Ok(last.len() < limit)
        })
        .await?;
    if let Some(id) = arguments.id.as_ref().filter(|_| last.is_empty()) {
        session.known_here(id, UNSHOWN).await?;
    }
    last.truncate(limit);
    last.reverse();
    last.retain(|line| feed.is_new(line.number));
    let mut told = (Items::default(), operations.place_name().await?);
    let mut goes_on = print_entries(session, &mut told, &last)?;
    let mut reporter = LossReporter::default();
    while goes_on {
        let Some(mut lines) = reporter.report(feed.read_new().await)? else {
            watch::pause().await;
            continue;
        };
        lines.retain(|line| wanted.matches(&line.value));
        let filter = filter.filter(|_| !lines.is_empty());
        let of = session
            .matching_ids(ListedFor::Reading, filter, UNDONE)
            .await?;
        lines.retain(|line| is_match(of.as_ref(), line));
        goes_on = print_entries(session, &mut told, &lines)?;
        watch::wait(feed.feed()).await;
    }
    Ok(Exit::Done)
}

/// Prints the entries. Returns whether somebody still reads.
fn print_entries(
    session: &Session,
    (items, place): &mut (Items, Option<String>),
    lines: &[Numbered<Entry>],
) -> Result<bool, CliError> {
    if session.json {
        let lines = lines.iter().map(|line| json::entry(line, place.as_deref()));
        return output::chunk(&items.text(lines)?);
    }
    let lines = lines
        .iter()
        .map(|line| human::history_line(&line.value) + "\n");
    output::chunk(&lines.collect::<String>())
}

fn is_match(of: Option<&BTreeSet<UserGroupId>>, line: &Numbered<Entry>) -> bool {
    of.is_none_or(|of| of.contains(&line.value.user_group_id))
}
