//! `view`: saved views of the list, shared with the console.

use serde_json::{Value, json};

use crate::{
    cli::{
        args::ViewCommand,
        error::CliError,
        output::{self, human},
        process::exit::Exit,
        session::Session,
    },
    domain::text::visible,
    search::{ListColumn, ListView, Query, SavedView},
};

pub(crate) async fn run(session: &Session, command: ViewCommand) -> Result<Exit, CliError> {
    match command {
        ViewCommand::List { .. } => list(session).await,
        ViewCommand::Save {
            name,
            filter,
            sort,
            reverse,
            columns,
        } => {
            let columns = ListColumn::parse_all(&columns).ok_or_else(|| {
                CliError::Usage(
                    "--columns takes name, id, age, token, map, props, due, labels, by, read, tag and prop.KEY, with commas \
                     between; nothing was saved"
                        .into(),
                )
            })?;
            let view = ListView {
                filter: filter.filter.unwrap_or_default(),
                sort: sort.unwrap_or_default(),
                reverse,
                columns,
                ..ListView::default()
            };
            save(session, &name, view).await
        }
        ViewCommand::Remove { name } => remove(session, &name).await,
    }
}

async fn list(session: &Session) -> Result<Exit, CliError> {
    let views = session.operations.saved_views().await?;
    output::list(session.json, &views, value, "no view is saved", || {
        let now = session.operations.now();
        let rows = views.iter().map(|saved| {
            let view = &saved.view;
            let order = if view.reverse { "-" } else { "" };
            [
                format!("@{}", saved.name),
                format!("{order}{}", view.sort),
                visible(&ListColumn::text_of(&view.columns)).into_owned(),
                visible(&saved.written.by).into_owned(),
                human::ago(saved.written.at, now),
                visible(&view.filter).into_owned(),
            ]
        });
        let header = ["NAME", "ORDER", "COLUMNS", "WHO", "SAVED", "FILTER"];
        human::rows(header, &rows.collect::<Vec<_>>(), None)
    })
}

async fn save(session: &Session, name: &str, view: ListView) -> Result<Exit, CliError> {
    let operations = &session.operations;
    let views = operations.filters_of_views().await?;
    let query = Query::parse_with(&view.filter, operations.profile().max_token_age, &views);
    if let Some(wrong) = query.wrong.first() {
        return Err(CliError::Usage(format!(
            "--filter: {wrong}; nothing was saved"
        )));
    }
    let kept = operations.save_view(name, view).await?;
    let mut saved = operations.saved_views().await?.into_iter();
    let saved = saved.find(|saved| saved.name == kept);
    match saved {
        Some(saved) if session.json => output::json(&value(&saved))?,
        _ => output::say(&format!("saved: --filter @{kept}")),
    }
    Ok(Exit::Done)
}

async fn remove(session: &Session, name: &str) -> Result<Exit, CliError> {
    let name = name.trim_start_matches('@').to_lowercase();
    if !session.operations.remove_view(&name).await? {
        return Err(CliError::Guarded(format!(
            "no view is called \"{}\"; `groupdesk view list` lists them",
            visible(&name)
        )));
    }
    let line = format!("@{name} is removed");
    output::done(session.json, &json!({ "removed": name }), &line)
}

fn value(saved: &SavedView) -> Value {
    let columns = saved.view.columns.iter().map(ToString::to_string);
    json!({
        "name": saved.name,
        "filter": saved.view.filter,
        "sort": saved.view.sort.to_string(),
        "reverse": saved.view.reverse,
        "columns": columns.collect::<Vec<_>>(),
        "by": saved.written.by,
        "at": saved.written.at.to_string(),
    })
}
