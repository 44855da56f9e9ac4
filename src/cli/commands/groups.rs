//! `list`, `show` and `get`: what is known, and one read.

use super::mutations;
use crate::{
    cli::{
        args::{Get, List, Selection},
        error::CliError,
        input::{chosen::Listing, selection::Selected},
        output::{self, form::Form, human, json},
        process::exit::Exit,
        session::Session,
    },
    domain::group::UserGroupId,
};

const UNDONE: &str = "nothing was listed";

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
    let filter = filter.filter.as_deref();
    let mut listing = Listing::of(session, filter, &order, None, UNDONE).await?;
    listing.with_annotations = columns.are_beside();
    if session.json {
        let place = session.operations.place_name().await?;
        let (mut items, mut is_empty) = (output::form::Items::default(), true);
        let is_csv = output::form::chosen() == Some(Form::Csv);
        session
            .each_listed(&listing, async |groups| {
                is_empty &= groups.is_empty();
                let groups = groups.iter();
                let text = if is_csv && columns.is_chosen() {
                    items.text(groups.map(|listed| columns.values(listed, max_age)))
                } else {
                    let place = place.as_deref();
                    items.text(groups.map(|group| json::Group::listed(group, &columns, place)))
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

pub(crate) async fn show(session: &Session, groups: &Selection) -> Result<Exit, CliError> {
    match groups.single() {
        Some(id) => show_one(session, id).await,
        None => show_several(session, groups).await,
    }
}

/// Nothing is printed where one that was named is not known.
async fn show_several(session: &Session, groups: &Selection) -> Result<Exit, CliError> {
    let selected = Selected::of(session, groups, None, "nothing was shown").await?;
    let mut found = Vec::new();
    let known = session.operations.show_all(&selected.ids).await?;
    for (id, group) in selected.ids.iter().zip(known) {
        found.push(match group {
            Some(group) => group,
            None => session.known_here(id).await?,
        });
    }
    if session.json {
        let place = session.operations.place_name().await?;
        let found = found
            .iter()
            .map(|group| json::Group::of(group, place.as_deref()));
        output::json(&found.collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        output::say("no group is found by the filter");
    }
    let now = session.operations.now();
    let found = found.iter().map(|group| human::group(group, now));
    let found: Vec<_> = found.collect();
    if !found.is_empty() {
        output::result(&found.join("\n"))?;
    }
    Ok(Exit::Done)
}

async fn show_one(session: &Session, id: &UserGroupId) -> Result<Exit, CliError> {
    let group = session.known_here(id).await?;
    if session.json {
        let place = session.operations.place_name().await?;
        output::json(&json::Group::of(&group, place.as_deref()))?;
    } else {
        output::result(&human::group(&group, session.operations.now()))?;
    }
    Ok(Exit::Done)
}

pub(crate) async fn get(session: &Session, arguments: Get) -> Result<Exit, CliError> {
    let Some(id) = arguments.single().cloned() else {
        return Ok(Exit::Usage);
    };
    let Get {
        assurance: exists,
        token,
        ..
    } = arguments;
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
