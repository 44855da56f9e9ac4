//! Checks the directory file: who may read it, whether it is intact, and what in it needs attention.

use std::{os::unix::fs::MetadataExt, path::Path};

use rustix::fs::Access;

use super::{Area, DoctorRequest, Report, path, places};
use crate::{
    config::{
        ConfigError, DirectoryAt, Overrides, TeamSettings, default_directory, directory_of, paths,
    },
    directory::{
        Contents, Inspected, Location, TeamFault, TimesAtWork, backup_of, backups_of, inspect,
        team_status, what_it_is,
    },
    domain::{age, rotation::settle_window},
    operations::{Clock, Refused, at_work::hand_off_window, prelude::*, team_location},
    platform::private_files::with_suffix,
};

const AREA: Area = Area::Directory;
/// What to do instead of writing to a directory that was moved, and about newer tables.
const MOVED: &str = "This directory was moved: set the new one as url under [directory].";
const MOVED_TO_FILE: &str =
    "This directory was moved to a file: use that with --directory, or ask the admin.";
const RESTORE: &str = "Restore a backup of it.";
const UPDATE: &str = "Update groupdesk.";
/// Clocks of two machines that differ by more are reported.
const CLOCKS_APART: Duration = Duration::from_secs(5);

/// Checks the data file of `serve` if there is one: it holds the tokens themselves.
fn service(overrides: &Overrides, report: &mut Report) {
    if let Ok(file) = paths::service_database(&overrides.env)
        && file.symlink_metadata().is_ok()
    {
        check_permissions(&file, report);
    }
}

/// A directory that can be opened.
pub(super) struct UsableDirectory {
    pub at: DirectoryAt,
    /// Whether opening it leaves its schema unchanged.
    pub is_current: bool,
    /// Whether whoever uses it may only read it, and so needs no API key.
    pub is_viewer: bool,
}

/// Returns the directory, if there is a usable one.
pub(super) async fn check(
    request: &DoctorRequest,
    profiles: Option<&[Profile]>,
    report: &mut Report,
) -> Option<UsableDirectory> {
    let overrides = &request.overrides;
    service(overrides, report);
    let at = match directory_of(overrides) {
        // The problem with the file has been reported already.
        Err(ConfigError::Wrong { .. } | ConfigError::Unreadable { .. }) => {
            default_directory(&overrides.env)
        }
        at => at,
    };
    let file = match at {
        Ok(DirectoryAt::File(file)) => file,
        Ok(DirectoryAt::Team(team)) => return of_team(&team, overrides, profiles, report).await,
        Err(error) => {
            let advice = match error {
                ConfigError::NoFolder { .. } => "groupdesk does nothing until this is fixed.",
                ConfigError::NoHome(..) => "Set it for this shell.",
                _ => "Fix it; groupdesk does nothing until then.",
            };
            report.about(AREA).problem(error.to_string(), advice);
            return None;
        }
    };
    if file.symlink_metadata().is_err() && with_suffix(&file, "-wal").symlink_metadata().is_err() {
        if !check_writable(&file, report) {
            return None;
        }
        report.about(AREA).note(
            format!("there is none yet at {}", path(&file)),
            "groupdesk creates it, for you only, when it first needs it.",
        );
        return None;
    }
    let is_writable = check_writable(&file, report);
    check_permissions(&file, report);
    check_folder_permissions(&file, report);
    let place = file.clone();
    let times = times_at_work(profiles);
    let looking = tokio::task::spawn_blocking(move || inspect(&place, &times)).await;
    match looking {
        Ok(Ok(inspected)) => {
            let instead = (!is_writable).then_some("Make the directory writable first.");
            let around = (profiles, instead);
            let is_whole =
                judge(&file, &inspected, request.clock.now(), around, report) && is_writable;
            places::check(&inspected.places, profiles, instead, report);
            let is_current = inspected.schema == inspected.newest;
            let at = DirectoryAt::File(file);
            is_whole.then_some(UsableDirectory {
                at,
                is_current,
                is_viewer: false,
            })
        }
        Ok(Err(error)) => {
            broken(&error, report);
            copies(&file, report);
            None
        }
        Err(_) => {
            report
                .about(AREA)
                .problem("checking it failed unexpectedly", "Try again.");
            None
        }
    }
}

fn times_at_work(profiles: Option<&[Profile]>) -> TimesAtWork {
    let known = profiles.unwrap_or_default().iter();
    let times = known.map(|profile| {
        let request = settle_window(profile.timeout);
        (profile.name.clone(), (request, hand_off_window(profile)))
    });
    times.collect()
}

/// Checks a directory on a server: whether it is reachable and one of groupdesk's, and what in it waits for a person.
async fn of_team(
    team: &TeamSettings,
    overrides: &Overrides,
    profiles: Option<&[Profile]>,
    report: &mut Report,
) -> Option<UsableDirectory> {
    let asked = async {
        let location = team_location(team, &overrides.env)?;
        let ask = move || team_status(&location).map(|status| (status, location));
        let failed = "checking it failed unexpectedly";
        let asked = tokio::task::spawn_blocking(ask).await;
        asked.unwrap_or_else(|_| Err(DirectoryError::NotAPlace(failed.into())))
    };
    let (status, location) = match asked.await {
        Ok(found) => found,
        Err(error) => {
            report.no_directory(
                &error,
                "Change nothing until then: your team does not see changes made in another directory.",
            );
            return None;
        }
    };
    report.about(AREA).ok(format!(
        "{location}: PostgreSQL {}, as {}, version {} of its schema",
        status.server, status.user, status.schema
    ));
    if status.synchronous.is_empty() && team.require_synchronous {
        report.about(AREA).problem(
            "commits are not confirmed by a standby (synchronous_standby_names is empty), but require_synchronous under \
             [directory] requires it: every change is refused",
            "Ask the database administrator to set synchronous_standby_names, or remove require_synchronous.",
        );
    } else if status.synchronous.is_empty() {
        report.about(AREA).note(
            "commits are not confirmed by a standby (synchronous_standby_names is empty)",
            "After a failover to a standby, check the last rotations: the most recent changes may be missing.",
        );
    }
    if let Some(to) = &status.moved_to {
        report.is_team_refused = true;
        let (moved, advice) = if is_address(to) {
            let advice =
                "Set it as url under [directory]; this directory no longer records anything.";
            (format!("it was moved to {to}"), advice.to_owned())
        } else {
            let to = shown(to);
            let moved = format!("it was moved to the file {to}, on the machine of the admin");
            (
                moved,
                format!(
                    "On that machine, use --directory {to}; elsewhere, ask the admin. This directory no longer records anything."
                ),
            )
        };
        report.about(AREA).problem(moved, &advice);
    }
    let away = status.clock.duration_since(Clock::System.now());
    let away = away.unsigned_abs();
    if away > CLOCKS_APART {
        report.about(AREA).warning(
            format!("its clock and this machine's are {} s apart", away.as_secs()),
            "Ages of rotations use its clock; times in the history use the clock of each machine. Synchronise both with NTP.",
        );
    }
    let is_viewer = match Directory::open(Location::Team(location)) {
        Ok(directory) => {
            let instead = match directory.may(Role::Operator) {
                Ok(()) => None,
                Err(_) if status.moved_to.as_deref().is_some_and(is_address) => Some(MOVED),
                Err(_) if status.moved_to.is_some() => Some(MOVED_TO_FILE),
                Err(DirectoryError::Team {
                    fault: TeamFault::NotWritable,
                    ..
                }) => Some(UPDATE),
                Err(_) => Some("Ask a colleague who may write to this directory."),
            };
            match directory.contents(times_at_work(profiles)).await {
                Ok(contents) => {
                    waiting(&contents, (profiles, instead), report);
                    in_future(&contents, status.clock, "a machine of the team", report);
                }
                Err(error) => report.about(AREA).problem(
                    format!("groupdesk could not count the open items in the directory: {error}"),
                    "Run `groupdesk doctor` again.",
                ),
            }
            if let Ok(found) = directory.places().await {
                // Who else is bound to these places is in the configuration files of others.
                places::check(&found, None, instead, report);
            }
            directory.role() == Some(Role::Viewer)
        }
        Err(error) => {
            report.no_directory(&error, "Ask the database administrator.");
            return None;
        }
    };
    Some(UsableDirectory {
        at: DirectoryAt::Team(team.clone()),
        is_current: true,
        is_viewer,
    })
}

/// Whether a directory was moved to another server; otherwise to a file, which `url` does not accept.
fn is_address(moved_to: &str) -> bool {
    moved_to.contains("://")
}

fn broken(error: &DirectoryError, report: &mut Report) {
    let advice = match error {
        DirectoryError::Locked { .. } => "Run doctor again when the other program has closed it.",
        DirectoryError::Newer { .. } => UPDATE,
        DirectoryError::NotADirectory { path } => {
            let (what, advice) = what_it_is(path);
            let text = format!("{} {what}", path.display());
            return report.about(AREA).problem(text, advice);
        }
        DirectoryError::DamagedRow { .. } => RESTORE,
        _ => {
            "Make it readable and writable again, or copy it elsewhere and pass the copy with --directory. A new directory knows nothing of open rotations."
        }
    };
    report.about(AREA).problem(error.to_string(), advice);
}

/// Reports the state of the file; returns whether it can be opened.
fn judge(
    file: &Path,
    inspected: &Inspected,
    now: Timestamp,
    around: Around<'_>,
    report: &mut Report,
) -> bool {
    let Inspected {
        schema,
        newest,
        bytes,
        faults,
        contents,
        ..
    } = *inspected;
    let size = format!("{}, {} KiB", path(file), bytes.div_ceil(1024));
    let has_log = std::fs::metadata(with_suffix(file, "-wal")).is_ok_and(|log| log.len() > 0);
    if bytes == 0 && !has_log {
        report.about(AREA).problem(
            format!("{} is empty (0 bytes): it was cut, or a copy failed", path(file)),
            "Restore a backup of it. If there is none, remove it: groupdesk then starts with an empty directory.",
        );
        return false;
    }
    if faults > 0 {
        report.about(AREA).problem(
            format!(
                "{size}: SQLite's integrity check found {}",
                counted(faults, "fault")
            ),
            "Keep a copy. Then restore a backup, or move the file away to start with an empty directory; you must then read the \
             IDs again.",
        );
        return false;
    }
    report.about(AREA).ok(format!(
        "{size}: passed the integrity check, version {schema} of its schema"
    ));
    if schema < newest {
        report.about(AREA).note(
            format!("this groupdesk upgrades it to version {newest} when it opens it; older versions cannot open it afterwards"),
            &format!(
                "It keeps a copy of the current version: {}.",
                path(&backup_of(file, schema))
            ),
        );
    }
    copies(file, report);
    if let Some(contents) = contents {
        waiting(&contents, around, report);
        in_future(&contents, now, "this machine", report);
    }
    true
}

/// Reports the copies that were kept before schema upgrades.
fn copies(file: &Path, report: &mut Report) {
    for (version, copy) in backups_of(file) {
        let name = path(&copy);
        report.about(AREA).note(
            format!("{name} is a copy of the directory from before an upgrade (schema version {version})"),
            "An older groupdesk can use a copy of it, with --directory. Remove it when it is no longer needed.",
        );
    }
}

/// Times that a clock wrote which was ahead: ages from them are unknown.
fn in_future(contents: &Contents, now: Timestamp, whose: &str, report: &mut Report) {
    if let Some(latest) = contents.latest
        && age::of(latest, now).is_none()
    {
        report.about(AREA).problem(
            format!(
                "it has times in the future, up to {}: the clock of {whose} was ahead when they were written, or \
                 is behind now",
                when::second(latest)
            ),
            "Check the clock. Ages from these times count as unknown; the next read or rotation of a group corrects its time.",
        );
    }
}

/// Whether the directory can be written; reports it if not.
fn check_writable(file: &Path, report: &mut Report) -> bool {
    // The nearest folder that exists: those below it would be created.
    let folder = file
        .ancestors()
        .skip(1)
        .find(|folder| folder.symlink_metadata().is_ok());
    let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) else {
        return true;
    };
    let may_write = |path: &Path, access| rustix::fs::access(path, access).err();
    let refused = if !folder.is_dir() {
        Some((folder, "it is not a folder".to_owned()))
    } else if let Some(error) = may_write(folder, Access::WRITE_OK | Access::EXEC_OK) {
        Some((folder, error.to_string()))
    } else if file.is_file() {
        may_write(file, Access::WRITE_OK).map(|error| (file, error.to_string()))
    } else {
        None
    };
    let Some((at, why)) = refused else {
        return true;
    };
    report.about(AREA).problem(
        format!("nothing can be written to {}: {why}", path(at)),
        "Make it writable for you, or choose another file with --directory.",
    );
    false
}

/// The profiles of the configuration, if it can be read, and what to do where nothing can be written to the directory.
type Around<'a> = (Option<&'a [Profile]>, Option<&'static str>);

/// How to hand tokens off, if any profile may.
fn to_hand_off((profiles, instead): Around<'_>) -> String {
    let mut refused = instead.map(Refused::Directory);
    let mut last = "";
    for profile in profiles.unwrap_or_default() {
        last = &profile.name;
        refused = NextStep::refused_hand_off(&profile.name, Some(profile), instead);
        if refused.is_none() {
            break;
        }
    }
    match refused {
        None => "To hand them off, run `groupdesk rotations handoff --pending --failed` in the profile that started them."
            .to_owned(),
        Some(Refused::Directory(instead)) => instead.to_owned(),
        Some(why) => format!(
            "No profile here can hand them off: {why} ({last}). For a list, run `groupdesk attention --all`."
        ),
    }
}

fn waiting(contents: &Contents, around: Around<'_>, report: &mut Report) {
    let instead = around.1;
    let groups = counted(contents.groups as usize, "group");
    report
        .about(AREA)
        .ok(format!("{groups} known, in all profiles"));
    match contents.open_rotations {
        0 => report.about(AREA).ok("no open rotations"),
        open => report.about(AREA).warning(
            format!(
                "{}: result unknown, or in conflict",
                counted(open as usize, "open rotation")
            ),
            instead.unwrap_or("To find out by reading, run `groupdesk rotations check` for each profile, which also says how to close a conflict; never rotate again to find out."),
        ),
    }
    if contents.open_changes > 0 {
        let open = match contents.open_changes {
            1 => "1 open create or update".to_owned(),
            open => format!("{open} open creates or updates"),
        };
        report.about(AREA).warning(
            format!("{open}: it is unknown whether they took effect"),
            instead.unwrap_or(
                "For a list with the next step of each, run `groupdesk attention --all`.",
            ),
        );
    }
    if contents.in_progress > 0 {
        let changes = counted(contents.in_progress as usize, "change");
        report.about(AREA).ok(format!("{changes} in progress"));
    }
    let waits = contents.pending_hand_offs;
    let failed = contents.failed_hand_offs;
    if waits + failed > 0 {
        report.about(AREA).warning(
            format!(
                "new tokens that were not delivered: {waits} pending, {failed} failed hand-offs"
            ),
            &to_hand_off(around),
        );
    }
    if contents.drafts > 0 {
        report.about(AREA).note(
            counted(contents.drafts as usize, "unsent draft"),
            "To send or discard drafts, open the profile in the console.",
        );
    }
}

/// The history says who did what, which is nobody else's business.
fn check_permissions(file: &Path, report: &mut Report) {
    let mut files = vec![
        file.to_owned(),
        with_suffix(file, "-wal"),
        with_suffix(file, "-shm"),
    ];
    files.extend(backups_of(file).into_iter().map(|(_, copy)| copy));
    let us = rustix::process::geteuid().as_raw();
    for file in files {
        let Ok(found) = file.symlink_metadata() else {
            continue;
        };
        let mode = found.mode() & 0o7777;
        let name = path(&file);
        if !found.is_file() {
            report.about(AREA).problem(
                format!("{name} is not a regular file; groupdesk refuses it"),
                "Use another file.",
            );
        } else if found.uid() != us {
            report.about(AREA).warning(
                format!("{name} belongs to another user"),
                "Use a file of your own.",
            );
        } else if mode & 0o077 != 0 {
            report.about(AREA).warning(
                format!("other users may use {name} (mode {mode:04o})"),
                &format!("chmod 600 {name}; groupdesk does so itself when it opens it."),
            );
        }
    }
}

/// Whoever can create files in the folder can put another directory in place of this one.
fn check_folder_permissions(file: &Path, report: &mut Report) {
    let Some(folder) = file.parent() else { return };
    if let Ok(found) = std::fs::metadata(folder) {
        let mode = found.mode() & 0o7777;
        if mode & 0o022 != 0 && mode & 0o1000 == 0 {
            let name = path(folder);
            report.about(AREA).warning(
                format!("other users can put files into {name} (mode {mode:04o}), and replace the directory"),
                &format!("chmod go-w {name}"),
            );
        }
    }
}
