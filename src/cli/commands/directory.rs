//! `directory`: the file with everything known here, or the database in which a team keeps it. A copy of the file moves
//! everything to another machine: groups, history, journals, and the fingerprint key, which an export does not contain.

use clap::ValueEnum;

use super::prelude::*;
use crate::{
    config::{DirectoryAt, TeamSettings, directory_of, is_address},
    directory::{self, TeamLocation},
    operations::team_location,
};

/// Manage the directory of known groups: back up, copy or share it with a team
#[derive(Debug, Args)]
pub(crate) struct Directory {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Back up the whole directory to a new file, even while it is in use
    #[command(
        after_help = "To move the directory, copy the backup to the other machine and pass it with --directory, or replace \
            ~/.local/share/groupdesk/directory.db with it. Then use only one of the two. In the backup, --sole-writer is no: after \
            a restore, send whole mappings before you set it again."
    )]
    Backup {
        /// New file (mode 600)
        file: PathBuf,
    },
    /// Set up a directory for a team, in a schema of a PostgreSQL database
    #[command(
        after_help = "Requires the CREATE privilege on that database. Afterwards, add people with `directory grant`, and set \
            url under [directory] in each configuration file."
    )]
    Init {
        /// Database URL [default: the configured directory]
        url: Option<String>,
        /// Print the SQL for the database administrator instead of running it; the user in the URL becomes the admin
        #[arg(long)]
        print: bool,
    },
    /// Copy a directory file into a team directory, or a team directory into a file
    #[command(
        after_help = "The target must be empty, or a new file. Copies everything: groups, history, journals and the fingerprint key. Reads the copy back and compares \
            it before committing. A file gets only the drafts and bindings that you can see."
    )]
    Copy {
        /// Source file or database URL
        from: String,
        /// Target file or database URL [default: the configured directory]
        to: Option<String>,
    },
    /// Copy a directory as `directory copy` does, then block all access to the source
    #[command(after_help = "The source keeps its data and reports the new location.")]
    Move {
        /// Source file or database URL
        from: String,
        /// Target file or database URL [default: the configured directory]
        to: Option<String>,
    },
    /// Show the directory in use: its location, your database role and open rotations
    Status,
    /// Upgrade the tables of a team directory to the version of this groupdesk
    #[command(
        after_help = "Blocks all writes while it runs, and upgrades either everything or nothing. Make a backup with pg_dump \
            first."
    )]
    Migrate {
        /// Show what would be done, without doing it
        #[arg(long)]
        check: bool,
        /// Print the SQL for the database administrator instead of running it
        #[arg(long, conflicts_with = "check")]
        print: bool,
    },
    /// List who has access to a team directory, and in which role
    #[command(
        after_help = "Lists database roles, also those that have access as members of another role. Database superusers have \
            access as well, and are not listed."
    )]
    Members,
    /// Give a database role access to a team directory
    Grant {
        /// Database role
        name: String,
        /// Access level
        role: Role,
    },
    /// Remove a database role's access to a team directory
    Revoke {
        /// Database role
        name: String,
    },
}

/// Access of a role to a team directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    /// Can read the directory; needs no API key
    Viewer,
    /// Can read and write, but not delete history or journals
    Operator,
    /// Can also grant access, migrate, copy and move
    Admin,
}

impl From<Role> for directory::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Operator => Self::Operator,
            Role::Admin => Self::Admin,
        }
    }
}

impl Run for Directory {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("directory", &["groupdesk directory backup directory-2026-11.db", "groupdesk directory backup /mnt/safe/directory.db --json"],
            &[]),
        page("directory backup", &[
            "groupdesk directory backup directory-2026-11.db",
            "groupdesk directory backup /mnt/safe/directory.db --json",
        ], &[one("FILE", &[&COPY])]),
        page("directory init", &["groupdesk directory init postgres://ana@db1/desk", "groupdesk directory init --print | psql desk"],
            &[one("[URL]", &[&SET_UP])]),
        page("directory copy", &[
            "groupdesk directory copy ~/.local/share/groupdesk/directory.db",
            "groupdesk directory copy postgres://ana@db1/desk alone.db",
        ], &[one("FROM [TO]", &[&COPIED])]),
        page("directory move", &[
            "groupdesk directory move ~/.local/share/groupdesk/directory.db",
            "groupdesk directory move postgres://ana@db1/desk alone.db",
        ], &[one("FROM [TO]", &[&COPIED])]),
        page("directory status", &["groupdesk directory status", "groupdesk directory status --json"], &[one("", &[&STATUS])]),
        page("directory migrate", &["groupdesk directory migrate --check", "groupdesk directory migrate"], &[one("", &[&MIGRATED])]),
        page("directory members", &["groupdesk directory members", "groupdesk directory members --json"], &[array("", &[&RIGHT])]),
        page("directory grant", &["groupdesk directory grant ben operator", "groupdesk directory grant cleo viewer --json"],
            &[one("NAME ROLE", &[&RIGHT])]),
        page("directory revoke", &["groupdesk directory revoke ben", "groupdesk directory revoke ben --json"], &[one("NAME", &[&RIGHT])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        run(global, self.command).await
    }
}

async fn run(global: &Global, command: Command) -> Result<Exit, CliError> {
    let overrides = session::overrides(global);
    match command {
        Command::Backup { file } => {
            let from = match directory_of(&overrides)? {
                DirectoryAt::File(from) => from,
                DirectoryAt::Team(team) => {
                    return Err(CliError::Usage(format!(
                        "`directory backup` is for files. Back up a team directory with: pg_dump --schema={}",
                        team.schema
                    )));
                }
            };
            paths::file_of_person("the copy", &file)?;
            let to = file.clone();
            blocking("the copy was interrupted", move || {
                directory::copy_to(&from, &to)
            })
            .await?;
            output::note_change();
            let file = file.display().to_string();
            let line = format!("backed up the directory to {file}");
            output::done(global.json, &backed_up(&file), &line)
        }
        Command::Init { print: true, url } => {
            let settings = match team_settings(&overrides, url.as_deref()) {
                Ok(settings) => settings,
                // No address is needed here: the database administrator knows it.
                Err(CliError::Usage(_)) => TeamSettings::at("", None),
                Err(error) => return Err(error),
            };
            let team = TeamLocation::parse(&settings.url, &settings.schema).ok();
            let admin = team.and_then(|team| team.reaches().into_iter().next());
            let admin = admin.map(|(.., user)| user);
            output::result(&directory::set_up_sql(&settings.schema, admin.as_deref()))?;
            Ok(Exit::Done)
        }
        Command::Init { url, print: false } => {
            let team = team(&overrides, url.as_deref())?;
            let at = team.to_string();
            blocking("the setup was interrupted", move || {
                directory::set_up(&team)
            })
            .await?;
            output::note_change();
            let line =
                format!("set up {at}. To add people: groupdesk directory grant NAME operator");
            output::done(global.json, &set_up(&at), &line)
        }
        Command::Copy { from, to } => copy(global, &overrides, (from, to), false).await,
        Command::Move { from, to } => copy(global, &overrides, (from, to), true).await,
        Command::Status => status(global, &overrides).await,
        Command::Members => {
            let members = on_team(&overrides, directory::members).await?;
            let value = |(name, role): &(String, directory::Role)| right(name, Some(*role));
            let rows = || {
                let members = members.iter();
                let rows =
                    members.map(|(name, role)| [visible(name).into_owned(), role.to_string()]);
                human::rows(["NAME", "ROLE"], rows, None)
            };
            let none = "no role of the database has access; to add one: groupdesk directory grant NAME operator";
            output::list(global.json, &members, value, none, rows)
        }
        Command::Grant { name, role } => {
            let (to, role) = (name.clone(), directory::Role::from(role));
            on_team(&overrides, move |team| directory::grant(team, &to, role)).await?;
            output::note_change();
            let line = format!("{name} now has the role {role} in the directory");
            output::done(global.json, &right(&name, Some(role)), &line)
        }
        Command::Migrate { check, print } => {
            let team = team(&overrides, None)?;
            let is_done = !check && !print;
            let migrated = blocking(
                "it was interrupted; it runs completely or not at all",
                move || directory::migrate(&team, directory::MIGRATIONS, is_done),
            );
            let migrated = migrated.await?;
            if is_done && migrated.from != migrated.to {
                output::note_change();
            }
            if print {
                output::result(&migrated.sql)?;
                return Ok(Exit::Done);
            }
            let (from, to) = (migrated.from, migrated.to);
            let line = if from == to {
                format!("the tables are up to date (version {to})")
            } else {
                let done = if is_done {
                    "were upgraded"
                } else {
                    "would be upgraded"
                };
                format!(
                    "the tables {done} from version {from} to {to}; reading them needs a groupdesk that knows version {} or \
                     later, writing version {} or later",
                    migrated.reads_from, migrated.writes_from
                )
            };
            output::done(global.json, &upgraded(&migrated, is_done), &line)
        }
        Command::Revoke { name } => {
            let from = name.clone();
            let revoked = on_team(&overrides, move |team| directory::revoke(team, &from)).await?;
            output::note_change();
            let line = if revoked {
                format!("{name} no longer has access to the directory")
            } else {
                format!("{name} had no access to the directory; nothing was changed")
            };
            output::done(global.json, &right(&name, None), &line)
        }
    }
}

/// Copies from a file into a team's database, or the other way round.
async fn copy(
    global: &Global,
    overrides: &Overrides,
    (from, to): (String, Option<String>),
    is_moved: bool,
) -> Result<Exit, CliError> {
    let (file, at, copied) = if is_address(&from) {
        let to = to.filter(|to| !is_address(to));
        let to = to.as_deref().map(file_at).transpose()?;
        let to = to.ok_or_else(|| {
            CliError::Usage(
                "a team directory can only be copied to a new file; nothing was copied. Pass the file as TO. To copy to another \
                 database, copy that file there afterwards"
                    .into(),
            )
        })?;
        let team = team(overrides, Some(&from))?;
        let (file, at) = (to.display().to_string(), team.to_string());
        let copying = blocking("the copy was interrupted", move || {
            directory::copy_from_team(&team, &to, is_moved)
        });
        (file, at, copying.await?)
    } else {
        let from = file_at(&from)?;
        if !from.is_file() {
            return Err(CliError::Usage(format!(
                "{} does not exist or is not a file; nothing was copied. Copy a file to a team database, or a team \
                 database to a file",
                from.display()
            )));
        }
        let team = team(overrides, to.as_deref())?;
        let (file, at) = (from.display().to_string(), team.to_string());
        let copying = blocking("the copy was interrupted", move || {
            directory::copy_to_team(&from, &team, is_moved)
        });
        (file, at, copying.await?)
    };
    output::note_change();
    let rows: u64 = copied.iter().map(|(_, rows)| rows).sum();
    let after = if is_moved {
        "the source is now blocked"
    } else {
        "use only one of them from now on"
    };
    let rows = counted(rows as usize, "row");
    let line = format!("{file} and {at} are identical ({rows}, compared); {after}");
    output::done(global.json, &copied_rows(&file, &at, &copied), &line)
}

async fn status(global: &Global, overrides: &Overrides) -> Result<Exit, CliError> {
    let at = directory_of(overrides)?;
    let (shown, status, mut lines, open) = match &at {
        DirectoryAt::File(file) => {
            let file = file.display().to_string();
            let directory = blocking("it was interrupted", {
                let (at, overrides) = (at.clone(), overrides.clone());
                move || session::open_named(&at, &overrides)
            });
            let directory = directory.await?;
            let open = directory.rotations(directory::RotationFilter {
                open_only: true,
                ..directory::RotationFilter::default()
            });
            let open = open.await?.into_iter().rev().map(|row| {
                (
                    row.id.0,
                    row.user_group_id.to_string(),
                    row.rotation.state.as_str().to_owned(),
                    row.by,
                )
            });
            let lines = vec![format!("{file}, a file on this machine")];
            (file, None, lines, open.collect())
        }
        DirectoryAt::Team(settings) => {
            let team = team_location(settings, &overrides.env)?;
            let shown = team.to_string();
            let status =
                blocking("it was interrupted", move || directory::team_status(&team)).await?;
            let mut lines = vec![
                format!("{shown}, shared by a team"),
                format!(
                    "PostgreSQL {}, as {} ({}), version {} of its schema; groupdesk connections: {}; timeline {}",
                    status.server,
                    status.user,
                    status.role,
                    status.schema,
                    status.sessions,
                    status.timeline
                ),
            ];
            if status.synchronous.is_empty() {
                lines.push("commits are not confirmed by a standby".into());
            }
            if !status.is_readable {
                lines.push("this groupdesk cannot work with it: update groupdesk, or have an admin run `groupdesk directory migrate`".into());
            }
            lines.extend(
                status
                    .moved_to
                    .as_ref()
                    .map(|to| format!("moved to {to}; this directory is read-only")),
            );
            let open = status.open.clone();
            (shown, Some(status), lines, open)
        }
    };
    lines.push(match open.len() {
        0 => "no open rotations".into(),
        count => format!("open rotations: {count}"),
    });
    lines.extend(open.iter().map(|(id, group, state, by)| {
        format!("  {id} {}, {state}, by {}", visible(group), visible(by))
    }));
    output::either(
        global.json,
        || status_object(&shown, status.as_ref(), &open),
        || lines.join("\n"),
    )
}

/// The team directory that is meant: the one given here, or the configured one.
fn team_settings(overrides: &Overrides, url: Option<&str>) -> Result<TeamSettings, CliError> {
    match (url, directory_of(overrides)?) {
        (Some(url), DirectoryAt::Team(team)) => Ok(TeamSettings::at(url, Some(&team))),
        (Some(url), DirectoryAt::File(_)) => Ok(TeamSettings::at(url, None)),
        (None, DirectoryAt::Team(team)) => Ok(team),
        (None, DirectoryAt::File(_)) => Err(CliError::Usage(
            "this needs a team directory, but the configured directory is a file; pass postgres://USER@HOST/DATABASE, or set url \
             under [directory] in the configuration file"
                .into(),
        )),
    }
}

/// Does something with the configured team directory.
async fn on_team<T: Send + 'static>(
    overrides: &Overrides,
    work: impl FnOnce(&TeamLocation) -> Result<T, directory::DirectoryError> + Send + 'static,
) -> Result<T, CliError> {
    let team = team(overrides, None)?;
    blocking("it was interrupted", move || work(&team)).await
}

fn team(overrides: &Overrides, url: Option<&str>) -> Result<TeamLocation, CliError> {
    let settings = team_settings(overrides, url)?;
    Ok(team_location(&settings, &overrides.env)?)
}

/// A file that stands where the address of a database could.
fn file_at(text: &str) -> Result<PathBuf, CliError> {
    let file = paths::from_home(Path::new(text), std::env::home_dir());
    let file = file.map_err(|why| CliError::Usage(format!("a path {why}; nothing was copied")))?;
    paths::file_or_address("an argument", &file)?;
    Ok(file)
}

/// Number, group, state and author of a rotation.
type OpenRotation = (i64, String, String, String);

shape! {
    STATUS = "directory-status", "the directory that is in use";
    fn status_object(at: &str, team: Option<&directory::TeamStatus>, open: &[OpenRotation]) {
        "directory": text = at, "the file, or the URL and schema";
        "kind": text = if team.is_some() { "team" } else { "file" }, "file or team";
        "server": text or "it is a file" = team.map(|team| &team.server), "the version of PostgreSQL";
        "user": text or "it is a file" = team.map(|team| &team.user), "the database user";
        "role": text or "it is a file" = team.map(|team| team.role.as_str()), "viewer, operator, admin or owner";
        "schema": number or "it is a file" = team.map(|team| team.schema), "the version of the tables";
        "synchronous_standby_names": text or "it is a file" = team.map(|team| &team.synchronous), "as set on the server; if empty, the last confirmed changes can be lost in a failover";
        "sessions": number or "it is a file" = team.map(|team| team.sessions), "groupdesk connections to the database";
        "timeline": text or "it is a file" = team.map(|team| &team.timeline), "its timeline; a failover changes it";
        "moved_to": text or "it is a file, or was not moved" = team.and_then(|team| team.moved_to.as_ref()), "its new location";
        "open_rotations": [OPEN_ROTATION] = open.iter().map(open_rotation), "open rotations";
    }

    OPEN_ROTATION = "", "";
    fn open_rotation((id, group, state, by): &OpenRotation) {
        "id": number = *id, "number of an open rotation";
        "user_group_id": text = group, "its group";
        "state": text = state, "as in `rotation`";
        "by": text = by, "who started it";
    }

    COPY = "directory-copy", "a copy of the directory";
    fn backed_up(file: &str) {
        "file": text = file, "the new file";
    }

    SET_UP = "directory-set-up", "a directory for a team that was set up";
    fn set_up(at: &str) {
        "directory": text = at, "its URL and schema";
    }

    COPIED = "directory-copied", "a file that was copied or moved into a team directory, or a team directory into a file";
    fn copied_rows(file: &str, at: &str, rows: &[(&'static str, u64)]) {
        "file": text = file, "the file";
        "directory": text = at, "URL and schema of the team directory";
        "rows": numbers_by_key = rows.iter().copied(), "number of copied rows, by table";
    }

    MIGRATED = "directory-migrated", "what was done, or would be, to the tables of a team's directory";
    fn upgraded(migrated: &directory::Migrated, is_done: bool) {
        "from": number = migrated.from, "the previous schema version";
        "to": number = migrated.to, "the schema version of this groupdesk";
        "is_done": bool = is_done, "false with --check";
        "reads_from": number = migrated.reads_from, "the oldest schema version whose groupdesk can still read them";
        "writes_from": number = migrated.writes_from, "the oldest schema version whose groupdesk can still write them";
    }

    RIGHT = "directory-right", "the access of a role to a team directory";
    fn right(name: &str, role: Option<directory::Role>) {
        "name": text = name, "the database role";
        "role": text or "it was removed" = role.map(directory::Role::as_str), "viewer, operator or admin";
    }
}
