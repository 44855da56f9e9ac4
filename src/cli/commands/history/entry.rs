//! One entry of the history: what it changed, and undoing it.

use crate::{
    cli::commands::{
        mutations::{How, read_to_update, send},
        prelude::*,
    },
    directory::{HistoryFilter, Numbered},
    domain::{
        group::InvalidId,
        history::{Entry, Operation},
        merge, undo,
        update::Edit,
    },
    operations::changes_json,
};

/// A history entry.
#[derive(Debug, Clone)]
pub(super) enum EntryRef {
    Number(i64),
    /// The last update of this group.
    LastOf(UserGroupId),
}

pub(super) fn which(text: &str) -> Result<EntryRef, String> {
    if let Ok(number) = text.parse() {
        return Ok(EntryRef::Number(number));
    }
    let id = text.parse();
    let id = id.map_err(|error: InvalidId| error.to_string())?;
    Ok(EntryRef::LastOf(id))
}

/// The history entry that is meant.
async fn line(
    session: &Session,
    line: &EntryRef,
    undone: &'static str,
) -> Result<Numbered<Entry>, CliError> {
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
                session.known_here(id, undone).await?;
            }
            found.ok_or_else(|| {
                CliError::Guarded(format!("the history has no update of \"{id}\"; {undone}"))
            })
        }
    }
}

pub(super) async fn diff(session: &Session, which: &EntryRef, now: bool) -> Result<Exit, CliError> {
    let line = line(session, which, "nothing was shown").await?;
    let number = line.number;
    let entry = line.value;
    let why_not = |why: &str| CliError::Guarded(format!("entry {number}: {why}"));
    let (before, after) = undo::changed(&entry).map_err(why_not)?;
    let change = if now {
        let known = session
            .known_here(&entry.user_group_id, "nothing was shown")
            .await?;
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
        visible(&entry.by),
        human::ago(entry.at, now)
    ));
}

pub(super) async fn restore(
    session: &Session,
    which: &EntryRef,
    replace: Vec<Field>,
    mutation: Mutation,
) -> Result<Exit, CliError> {
    let line = line(session, which, "nothing was sent").await?;
    let why_not =
        |why: &str| CliError::Guarded(format!("entry {}: {why}; nothing was sent", line.number));
    let (parts, before) = undo::before(&line.value).map_err(why_not)?;
    let id = line.value.user_group_id.clone();
    print_context(session, line.number, &line.value, session.operations.now());
    let how = How {
        replace,
        undoes: true,
        ..How::of(mutation)
    };
    let (read, file) = read_to_update(session, &id, &how).await?;
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
        ..Edit::default()
    };
    send(session, &id, &edit, read, how, file).await
}
