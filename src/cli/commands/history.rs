//! `history`: who did what, printed as it is read from the directory; the changes of one entry; and undoing an update.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::mutations::{How, may_update, read_first, reading, send};
use crate::{
    cli::{
        args::{EntryRef, History, HistoryCommand, Mutation, Order, TokenArgs},
        error::CliError,
        input::listing::Listing,
        output::{
            self,
            form::Items,
            human, json, review,
            shape::{Object, shape},
        },
        process::exit::Exit,
        session::Session,
    },
    directory::{HistoryFilter, Numbered},
    domain::{
        change::{Change, DesiredFields},
        facts::Field,
        group::UserGroupId,
        history::{Ending, Entry, Operation},
        merge,
        operation_record::{OperationRecord, RecordGrouper},
        undo,
        update::Edit,
    },
    operations::{Mutation as OpenChange, UnknownIdPolicy, changes_json},
};

const UNDONE: &str = "nothing was listed";

pub(crate) async fn run(session: &Session, arguments: History) -> Result<Exit, CliError> {
    match arguments.command {
        Some(HistoryCommand::Diff { line, now }) => diff(session, &line, now).await,
        Some(HistoryCommand::Restore {
            line,
            replace,
            mutation,
        }) => restore(session, &line, replace.fields(), mutation).await,
        None if arguments.open => open_changes(session, arguments.id.as_ref()).await,
        None => list(session, arguments).await,
    }
}

/// Creates and updates whose outcome is open. Reading the group again settles them.
async fn open_changes(session: &Session, id: Option<&UserGroupId>) -> Result<Exit, CliError> {
    let mut changes = session.operations.open_changes().await?;
    changes.retain(|change| id.is_none_or(|id| change.user_group_id == *id));
    let place = session.place_for_json().await?;
    let value = |change: &OpenChange| json::change(change, place.as_deref());
    let none = "no open creates or updates";
    let text = || human::changes(&changes, session.operations.now());
    output::list(session.json, &changes, value, none, text)
}

/// An entry of the history, or several of one operation.
enum Printed {
    Line(Box<Numbered<Entry>>),
    Record(OperationRecord),
}

impl Printed {
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
    kept: Vec<Printed>,
    is_kept: bool,
    left: usize,
    count: usize,
}

impl Printer<'_> {
    /// Returns whether more entries are wanted.
    fn print(&mut self, mut items: Vec<Printed>) -> Result<bool, CliError> {
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
            let lines: Vec<_> = self.kept.into_iter().map(Printed::line).collect();
            output::result(&human::history(&lines, self.session.operations.now()))?;
        }
        Ok(())
    }
}

async fn list(session: &Session, arguments: History) -> Result<Exit, CliError> {
    let now = session.operations.now();
    let filter = arguments.filter.filter.as_deref();
    let listing = Listing::of(session, filter, &Order::default(), None, UNDONE).await?;
    let of: Option<BTreeSet<_>> = if listing.is_filtered() {
        Some(session.ids_listed(&listing).await?.into_iter().collect())
    } else {
        None
    };
    let at = |when: Option<crate::domain::when::Time>| when.map(|when| when.at(now));
    let wanted = HistoryFilter {
        user_group_id: arguments.id.clone(),
        since: at(arguments.since),
        until: at(arguments.until),
        by: arguments.by,
        operations: arguments.operation,
        ..HistoryFilter::default()
    };
    let is_narrowed = wanted
        != HistoryFilter {
            user_group_id: arguments.id.clone(),
            ..HistoryFilter::default()
        };
    let mut printer = Printer {
        session,
        place: session.operations.place_name().await?,
        items: Items::default(),
        kept: Vec::new(),
        is_kept: arguments.reverse || !session.json,
        left: arguments.limit.map_or(usize::MAX, |limit| limit as usize),
        count: 0,
    };
    let mut records = arguments.by_operation.then(RecordGrouper::default);
    session
        .operations
        .each_history(wanted, async |lines| -> Result<bool, CliError> {
            let lines = lines.into_iter();
            let lines = lines.filter(|line| {
                of.as_ref()
                    .is_none_or(|of| of.contains(&line.value.user_group_id))
            });
            let mut items = Vec::new();
            for line in lines {
                match &mut records {
                    None => items.push(Printed::Line(Box::new(line))),
                    Some(records) => {
                        let whole = records.push(line.number, line.value);
                        items.extend(whole.into_iter().map(Printed::Record));
                    }
                }
            }
            printer.print(items)
        })
        .await?;
    if let Some(records) = records {
        printer.print(records.finish().into_iter().map(Printed::Record).collect())?;
    }
    let is_empty = printer.count == 0;
    if let Some(id) = arguments.id.filter(|_| is_empty) {
        // A mistyped id must not look like a group that nothing was ever done to.
        session.known_here(&id).await?;
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

/// The history entry that is meant.
async fn line(session: &Session, line: &EntryRef) -> Result<Numbered<Entry>, CliError> {
    let operations = &session.operations;
    match line {
        EntryRef::Number(number) => operations.history_entry(*number).await?.ok_or_else(|| {
            CliError::Usage(format!(
                "entry {number} not found in the history of this profile; for entry numbers, run `groupdesk history --json`"
            ))
        }),
        EntryRef::LastOf(id) => {
            let wanted = HistoryFilter {
                user_group_id: Some(id.clone()),
                operations: vec![Operation::Update],
                ..HistoryFilter::default()
            };
            let mut found = None;
            operations
                .each_history(wanted, async |lines| -> Result<bool, CliError> {
                    let mut lines = lines.into_iter();
                    found = lines.find(|line| line.value.ending == Ending::Updated);
                    Ok(found.is_none())
                })
                .await?;
            if found.is_none() {
                session.known_here(id).await?;
            }
            found.ok_or_else(|| {
                CliError::Guarded(format!("the history has no update of \"{id}\"; nothing was sent"))
            })
        }
    }
}

async fn diff(session: &Session, which: &EntryRef, now: bool) -> Result<Exit, CliError> {
    let line = line(session, which).await?;
    let number = line.number;
    let entry = line.value;
    let why_not = |why: &str| CliError::Guarded(format!("entry {number}: {why}"));
    let (before, after) = undo::changed(&entry).map_err(why_not)?;
    let change = if now {
        let known = session.known_here(&entry.user_group_id).await?;
        let known = DesiredFields::of(&known);
        let parts = merge::parts(&[&before, &after]);
        if !parts.iter().all(|part| part.is_known_in(&known)) {
            return Err(why_not("the current values are unknown"));
        }
        let mut present = after.clone();
        for part in &parts {
            part.carry(&known, &mut present);
        }
        Change::between(&after, &present)
    } else {
        Change::between(&before, &after)
    };
    if session.json {
        let against = if now { "now" } else { "before" };
        output::json(&difference(number, &entry, against, &change))?;
    } else {
        print_context(session, number, &entry, session.operations.now());
        if change.is_empty() {
            output::say("no difference");
        } else {
            output::result(&review::lines(&change, false))?;
        }
    }
    Ok(Exit::from_difference(now && !change.is_empty()))
}

shape! {
    pub(crate) DIFFERENCE = "line-difference", "what a history entry changed, or its present state";
    fn difference(number: i64, entry: &Entry, against: &str, change: &Change) {
        "number": number = number, "number of the entry";
        "at": time = entry.at, "when it was written";
        "user_group_id": text = entry.user_group_id.as_str(), "the group";
        "operation": text = entry.operation.as_str(), "update or create";
        "against": text = against, "before: what it changed; now: what has changed since";
        "changes": any or "nothing differs" = changes_json(change), "as in `request`";
    }
}

fn print_context(session: &Session, number: i64, entry: &Entry, now: Timestamp) {
    output::context(&format!(
        "{} \"{}\", entry {number}: {} by {}, {}",
        session.operations.profile().name,
        entry.user_group_id,
        entry.operation.as_str(),
        crate::domain::text::visible(&entry.by),
        human::ago(entry.at, now)
    ));
}

async fn restore(
    session: &Session,
    which: &EntryRef,
    replace: Vec<Field>,
    mutation: Mutation,
) -> Result<Exit, CliError> {
    let line = line(session, which).await?;
    let why_not =
        |why: &str| CliError::Guarded(format!("entry {}: {why}; nothing was sent", line.number));
    let (parts, before) = undo::before(&line.value).map_err(why_not)?;
    let id = line.value.user_group_id.clone();
    print_context(session, line.number, &line.value, session.operations.now());
    let how = How {
        replace,
        if_unchanged: false,
        assurance: UnknownIdPolicy::KnownOnly,
        mutation,
        token: TokenArgs::default(),
    };
    let known = may_update(session, &id, &how).await?;
    let first = read_first(session, &id, how.assurance, false);
    let read = reading(session, known.as_ref(), first).await?;
    let base = DesiredFields::of(&read.group);
    if !parts.iter().all(|part| part.is_known_in(&base)) {
        return Err(why_not("the current values are unknown"));
    }
    let mut wanted = base.clone();
    for part in &parts {
        part.carry(&before, &mut wanted);
    }
    let edit = Edit {
        base,
        wanted,
        whole: Vec::new(),
        replace: how.replace.clone(),
        sends_unchanged: false,
    };
    send(session, &id, &edit, read, how, None).await
}
