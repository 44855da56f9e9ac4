//! `directory`: the file that keeps what is known here, or the database in which a team keeps it. A copy of the file moves
//! everything to another machine: groups, history, journals and the key of its fingerprints, which an export does not hold.

use serde_json::json;

use crate::{
    cli::{
        args::{DirectoryCommand as Command, Global},
        error::CliError,
        output,
        process::exit::Exit,
        session,
    },
    config::{DirectoryAt, Overrides, TeamSettings, directory_of},
    directory::{self, DirectoryError, TeamLocation},
    operations::{open_directory, team_location},
};

pub(crate) async fn run(global: &Global, command: Command) -> Result<Exit, CliError> {
    let overrides = session::overrides(global);
    match command {
        Command::Backup { file } => {
            let from = match directory_of(&overrides)? {
                DirectoryAt::File(from) => from,
                DirectoryAt::Team(team) => {
                    return Err(CliError::Usage(format!(
                        "the directory of a team is copied by the tools of its database: pg_dump --schema={}",
                        team.schema
                    )));
                }
            };
            let to = file.clone();
            blocking("the copy broke off", move || directory::copy_to(&from, &to)).await?;
            let file = file.display().to_string();
            said(
                global,
                &json!({ "file": file }),
                &format!("the directory stands in {file}, whole"),
            )
        }
        Command::Init { print: true, url } => {
            let schema = match team_settings(&overrides, url.as_deref()) {
                Ok(settings) => settings.schema,
                // Without any address: whoever runs the database knows it.
                Err(CliError::Usage(_)) => TeamSettings::at("", None).schema,
                Err(error) => return Err(error),
            };
            output::result(&directory::set_up_sql(&schema))?;
            Ok(Exit::Done)
        }
        Command::Init { url, print: false } => {
            let team = team(&overrides, url.as_deref())?;
            let at = team.to_string();
            blocking("the setting up broke off", move || directory::set_up(&team)).await?;
            said(
                global,
                &json!({ "directory": at }),
                &format!(
                    "{at} is set up; let the others in with `groupdesk directory grant NAME operator`"
                ),
            )
        }
        Command::Copy { from, to } => {
            if !from.is_file() {
                return Err(CliError::Usage(format!(
                    "{} is not there, or no file; a directory is copied from a file into the database of a team",
                    from.display()
                )));
            }
            let team = team(&overrides, to.as_deref())?;
            let (file, at) = (from.display().to_string(), team.to_string());
            let copied = blocking("the copy broke off", move || {
                directory::copy_to_team(&from, &team)
            });
            let copied = copied.await?;
            let rows: u64 = copied.iter().map(|(_, rows)| rows).sum();
            let tables: serde_json::Map<_, _> = copied
                .into_iter()
                .map(|(table, rows)| (table.to_owned(), json!(rows)))
                .collect();
            said(
                global,
                &json!({ "file": file, "directory": at, "rows": tables }),
                &format!(
                    "{at} has all of {file}: {rows} rows, compared; work no more with the file"
                ),
            )
        }
        Command::Status => status(global, &overrides).await,
        Command::Grant { name, role: _ } => {
            let team = team(&overrides, None)?;
            let to = name.clone();
            blocking("it broke off", move || directory::grant(&team, &to)).await?;
            said(
                global,
                &json!({ "name": name, "role": "operator" }),
                &format!("{name} may work with the directory"),
            )
        }
        Command::Revoke { name } => {
            let team = team(&overrides, None)?;
            let from = name.clone();
            blocking("it broke off", move || directory::revoke(&team, &from)).await?;
            said(
                global,
                &json!({ "name": name, "role": null }),
                &format!("{name} may not work with the directory any more"),
            )
        }
    }
}

async fn status(global: &Global, overrides: &Overrides) -> Result<Exit, CliError> {
    let at = directory_of(overrides)?;
    let (object, mut lines) = match &at {
        DirectoryAt::File(file) => {
            let file = file.display().to_string();
            (
                json!({
                    "directory": file, "kind": "file", "server": null, "user": null, "schema": null,
                    "synchronous_standby_names": null, "sessions": null,
                }),
                vec![format!("{file}, a file of this machine")],
            )
        }
        DirectoryAt::Team(settings) => {
            let team = team_location(settings, &overrides.env)?;
            let shown = team.to_string();
            let status = blocking("it broke off", move || directory::team_status(&team)).await?;
            let object = json!({
                "directory": shown, "kind": "team", "server": status.server, "user": status.user,
                "schema": status.schema, "synchronous_standby_names": status.synchronous,
                "sessions": status.sessions,
            });
            let lines = vec![
                format!("{shown}, shared by a team"),
                format!(
                    "PostgreSQL {}, as {}, version {} of its schema; lines of groupdesk to it: {}",
                    status.server, status.user, status.schema, status.sessions
                ),
            ];
            (object, lines)
        }
    };
    let directory = open_directory(&at, &overrides.env)?;
    let open = directory.rotations(directory::RotationFilter {
        open_only: true,
        ..directory::RotationFilter::default()
    });
    let open = open.await?;
    lines.push(match open.len() {
        0 => "no open rotation".into(),
        count => format!("open rotations: {count}"),
    });
    let of = |row: &directory::RotationRow| json!({ "id": row.id.0, "user_group_id": row.user_group_id.as_str(), "state": row.rotation.state.as_str(), "by": row.by });
    lines.extend(open.iter().map(|row| {
        format!(
            "  {} {}, {}, by {}",
            row.id.0,
            row.user_group_id,
            row.rotation.state.as_str(),
            row.by
        )
    }));
    let mut object = object;
    object["open_rotations"] = open.iter().map(of).collect();
    if global.json {
        output::json(&object)?;
    } else {
        output::result(&lines.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// The directory of a team that is meant: this one, or the one that is configured.
fn team_settings(overrides: &Overrides, url: Option<&str>) -> Result<TeamSettings, CliError> {
    match (url, directory_of(overrides)?) {
        (Some(url), DirectoryAt::Team(team)) => Ok(TeamSettings::at(url, Some(&team))),
        (Some(url), DirectoryAt::File(_)) => Ok(TeamSettings::at(url, None)),
        (None, DirectoryAt::Team(team)) => Ok(team),
        (None, DirectoryAt::File(_)) => Err(CliError::Usage(
            "the directory that is configured is a file; give the address of a database, postgres://USER@HOST/DATABASE, or \
             name it as url in [directory] of the configuration file"
                .into(),
        )),
    }
}

fn team(overrides: &Overrides, url: Option<&str>) -> Result<TeamLocation, CliError> {
    let settings = team_settings(overrides, url)?;
    Ok(team_location(&settings, &overrides.env)?)
}

async fn blocking<T: Send + 'static>(
    broke_off: &'static str,
    work: impl FnOnce() -> Result<T, DirectoryError> + Send + 'static,
) -> Result<T, CliError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(CliError::unexpected(broke_off))??)
}

fn said(global: &Global, object: &serde_json::Value, line: &str) -> Result<Exit, CliError> {
    if global.json {
        output::json(object)?;
    } else {
        output::say(line);
    }
    Ok(Exit::Done)
}
