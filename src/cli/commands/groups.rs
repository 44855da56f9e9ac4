//! `list`, `show`, `get` and `history`: what is known, and one read.

use std::collections::BTreeSet;

use super::mutations;
use crate::{
    cli::{
        args::{Filter, Get, List, Order},
        error::CliError,
        input::chosen::Listing,
        output::{self, form::Form, human, json},
        process::exit::Exit,
        session::Session,
    },
    domain::{group::UserGroupId, known::KnownGroup},
    operations::Failure,
};

/// Written as they are read: a long list is never held as a whole.
pub(crate) async fn list(session: &Session, arguments: List) -> Result<Exit, CliError> {
    let List {
        filter,
        order,
        columns,
        output,
    } = arguments;
    let is_wide = output.form == Some(Form::Wide);
    let columns = columns.or_usual(is_wide);
    let max_age = session.operations.profile().max_token_age;
    let mut listing = Listing::of(session, &filter, &order, None, "nothing was listed").await?;
    listing.with_annotations = columns.are_beside();
    if session.json {
        let (mut items, mut is_empty) = (output::form::Items::default(), true);
        let is_csv = output::form::chosen() == Some(Form::Csv);
        session
            .each_listed(&listing, async |groups| {
                is_empty &= groups.is_empty();
                let groups = groups.iter();
                let text = if is_csv && columns.is_chosen() {
                    items.text(groups.map(|listed| columns.values(listed, max_age)))
                } else {
                    items.text(groups.map(|listed| json::Group::listed(listed, &columns)))
                };
                output::piece(&text?)
            })
            .await?;
        if is_empty {
            session.say_elsewhere().await?;
        }
        output::piece(items.end())?;
        return Ok(Exit::Done);
    }
    let mut list = human::List::new(columns, is_wide, session.operations.now(), max_age);
    let mut is_empty = true;
    session
        .each_listed(&listing, async |groups| {
            is_empty &= groups.is_empty();
            list.measure(&groups);
            Ok(true)
        })
        .await?;
    if is_empty {
        if !session.say_elsewhere().await? {
            let profile = &session.operations.profile().name;
            output::say(&if listing.is_filtered() {
                format!("no group of profile {profile} is found by the filter")
            } else {
                format!(
                    "the directory knows no group of profile {profile} yet; read one with `groupdesk get ID --exists`, or make one with `groupdesk create ID`"
                )
            });
        }
        return Ok(Exit::Done);
    }
    session
        .each_listed(&listing, async |groups| {
            if groups.is_empty() {
                return Ok(true);
            }
            output::piece(&list.lines(&groups))
        })
        .await?;
    Ok(Exit::Done)
}

pub(crate) async fn show(session: &Session, id: &UserGroupId) -> Result<Exit, CliError> {
    let group = known_here(session, id).await?;
    if session.json {
        output::json(&json::Group::of(&group))?;
    } else {
        output::result(&human::group(&group, session.operations.now()))?;
    }
    Ok(Exit::Done)
}

/// What the directory knows of the group, also where only a file told of it; refuses an id that it does not know at all.
async fn known_here(session: &Session, id: &UserGroupId) -> Result<KnownGroup, CliError> {
    let operations = &session.operations;
    if let Some(group) = operations.show(id).await? {
        return Ok(group);
    }
    let known = operations.known(id, mutations::assurance(false)).await;
    if let Err(Failure::NotKnown { .. }) = &known {
        session.say_elsewhere().await?;
    }
    Ok(known?.ok_or_else(|| Failure::NotKnown {
        id: id.clone(),
        near: Vec::new(),
    })?)
}

pub(crate) async fn get(session: &Session, arguments: Get) -> Result<Exit, CliError> {
    let Get {
        id,
        assurance: exists,
        token,
        ..
    } = arguments;
    let Some(id) = id else {
        return Ok(Exit::Usage);
    };
    let assurance = mutations::assurance(exists.exists);
    let known = session.operations.known(&id, assurance).await?;
    if exists.exists {
        // This read could create (hazard 1).
        session.say_where();
    }
    let mut file = mutations::token_file(&token)?;
    let read = Box::pin(session.operations.look_up(&id, assurance));
    let done = mutations::reading(session, known.as_ref(), read).await?;
    mutations::answer(session, &done, None, &token, file.as_mut())
}

/// Creates and updates whose end is open: the group is read again by whoever wants to know.
pub(crate) async fn open_changes(
    session: &Session,
    id: Option<&UserGroupId>,
) -> Result<Exit, CliError> {
    let mut changes = session.operations.open_changes().await?;
    changes.retain(|change| id.is_none_or(|id| change.user_group_id == *id));
    if session.json {
        output::json(&changes.iter().map(json::change).collect::<Vec<_>>())?;
    } else if changes.is_empty() {
        output::say("no create and no update is open");
    } else {
        output::result(&human::changes(&changes, session.operations.now()))?;
    }
    Ok(Exit::Done)
}

pub(crate) async fn history(
    session: &Session,
    id: Option<UserGroupId>,
    filter: &Filter,
    limit: Option<usize>,
    reverse: bool,
) -> Result<Exit, CliError> {
    let order = Order::default();
    let listing = Listing::of(session, filter, &order, None, "nothing was listed").await?;
    let mut lines = if listing.is_filtered() {
        let of = session.ids_listed(&listing).await?;
        let of: BTreeSet<_> = of.into_iter().collect();
        let mut lines = session.operations.history(id.clone(), None).await?;
        lines.retain(|line| of.contains(&line.value.user_group_id));
        lines.truncate(limit.unwrap_or(usize::MAX));
        lines
    } else {
        session.operations.history(id.clone(), limit).await?
    };
    if reverse {
        lines.reverse();
    }
    if let Some(id) = id.filter(|_| lines.is_empty()) {
        // Nobody is to take a mistyped id for a group that nothing was done to.
        known_here(session, &id).await?;
    }
    if session.json {
        if lines.is_empty() {
            session.say_elsewhere().await?;
        }
        output::json(&lines.iter().map(json::entry).collect::<Vec<_>>())?;
    } else if lines.is_empty() {
        if !session.say_elsewhere().await? {
            output::say("nothing has been done yet");
        }
    } else {
        output::result(&human::history(&lines, session.operations.now()))?;
    }
    Ok(Exit::Done)
}
