//! Inspects a directory file without changing it: creates no key, migrates nothing, changes no permissions. Returns
//! counts, never contents of rows. Ids are completed for a shell in the same way, without a lock that would block a writer.

use std::{
    collections::HashMap,
    fs::{File, Metadata},
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use rusqlite::Connection;
use secrecy::SecretString;

use super::{
    fault::Fault,
    open::{APPLICATION_ID, key, unfit, version},
    places,
    schema::{BUSY_TIMEOUT, NEWEST},
    states::{conflicts, open_states},
};
use crate::{
    db::{Access, Tx, file, record, values},
    directory::{BindingPreview, Caller, Directory, DirectoryError, Place, Result, columns},
    domain::{
        rotation::settle_window,
        token::{Fingerprint, Fingerprinter},
    },
    platform::{boot_time::BootTime, clock::Clock, process},
};

/// The state of a directory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// Its schema version; 0 for a file that nothing was written to yet.
    pub schema: i64,
    /// The version that this groupdesk writes; an older file is upgraded when the directory is opened.
    pub newest: i64,
    pub bytes: u64,
    /// Errors found by SQLite's integrity check, which stops at 100.
    pub faults: usize,
    /// `None` if the schema is older.
    pub contents: Option<Contents>,
    /// By name; empty if the schema is older.
    pub places: Vec<Place>,
}

/// Counts over all places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents {
    pub groups: u32,
    /// Open rotations, creates, updates and hand-offs whose process may still be working on them; not among those below.
    pub in_progress: u32,
    /// Rotations with an unknown outcome, or in conflict.
    pub open_rotations: u32,
    /// Creates and updates of which it is not known whether they took effect.
    pub open_changes: u32,
    pub pending_hand_offs: u32,
    pub failed_hand_offs: u32,
    pub drafts: u32,
    /// The latest time that a group was seen or rotated at.
    pub latest: Option<Timestamp>,
}

/// How long a process may be at work on a request and on a hand-off, by the name of the profile.
pub type TimesAtWork = HashMap<String, (Duration, Duration)>;

/// Inspects and checks the file; blocks, and reads all of it. Must not be called while this process has the file open:
/// closing it here would drop the locks.
pub fn inspect(path: &Path, times: &TimesAtWork) -> Result<Inspected> {
    let (path, found) = &checked(path)?;
    inspect_open(path, found.len(), times).map_err(|fault| fault.explain(path))
}

/// What a file is that [`inspect`] finds to be no directory, by the header of SQLite's file format, and what to do. Like that, it
/// must not be called while this process has the file open.
pub fn what_it_is(path: &Path) -> (String, &'static str) {
    const FOREIGN: &str = "Use another file with --directory or GROUPDESK_DIRECTORY, or move this one away to start with a new one.";
    const DAMAGED: &str = "Restore a backup of it, or move the file away to start with a new one.";
    /// As `APPLICATION_ID` in `src/service/store/file.rs`.
    const OF_SERVICE: i64 = 0x6764_6753;
    const MAGIC: &[u8] = b"SQLite format 3\0";
    let mut header = [0; 100];
    let file = path.is_file().then(|| File::open(path).ok()).flatten();
    let length = file.as_ref().and_then(|file| file.metadata().ok());
    let length = length.map_or(0, |found| found.len());
    let is_read = file.is_some_and(|mut file| file.read_exact(&mut header).is_ok());
    let foreign = |what: &str| {
        (
            format!("is not a directory of groupdesk: it is {what}"),
            FOREIGN,
        )
    };
    if !is_read || !header.starts_with(MAGIC) {
        return foreign("not an SQLite database");
    }
    let number = |at: usize| {
        let bytes = header[at..at + 4].iter();
        bytes.fold(0_i64, |number, byte| number << 8 | i64::from(*byte))
    };
    match number(68) {
        APPLICATION_ID => {}
        OF_SERVICE => return foreign("the database of `groupdesk serve`"),
        _ => return foreign("the database of another program"),
    }
    // 1 stands for 65,536.
    let page = match number(16) >> 16 {
        1 => 1 << 16,
        size => size,
    };
    let whole = page * number(28);
    let what = if i64::try_from(length).is_ok_and(|length| length < whole) {
        format!("is damaged: only {length} of {whole} bytes are left")
    } else {
        "is damaged".to_owned()
    };
    (what, DAMAGED)
}

impl Directory {
    /// The counts over all places of an open directory, as [`inspect`] gives those of a file.
    pub async fn contents(&self, times: TimesAtWork) -> Result<Contents> {
        self.execute(Access::Long, move |tx| contents(tx, Clocks::Shared, &times))
            .await
    }
}

/// The absolute path of a file that may be a directory: a FIFO would block.
fn checked(path: &Path) -> Result<(PathBuf, Metadata)> {
    let unusable = DirectoryError::unusable(path);
    let path = std::path::absolute(path).map_err(&unusable)?;
    let found = std::fs::metadata(&path);
    file::check(&path, found.as_ref().ok()).map_err(|why| unfit(&path, why))?;
    let found = found.map_err(unusable)?;
    if found.is_file() {
        Ok((path, found))
    } else {
        Err(DirectoryError::NotADirectory { path })
    }
}

/// As [`Directory::preview_binding`](crate::directory::Directory::preview_binding), for a file of the newest schema. Like [`inspect`],
/// it must not be called while this process has the file open.
pub fn preview_binding_in(
    path: &Path,
    caller: impl FnOnce(&Fingerprinter) -> Caller,
) -> Result<BindingPreview> {
    let preview = || {
        let connection = file::read_only(path, BUSY_TIMEOUT)?;
        let caller = caller(&key(&connection)?);
        places::preview_binding(&Tx::of(&connection), &caller)
    };
    preview().map_err(|fault| fault.explain(path))
}

/// As [`Directory::known_secrets`](crate::directory::Directory::known_secrets), for a file of the newest schema. Like [`inspect`],
/// it must not be called while this process has the file open.
pub fn known_secrets_in(
    path: &Path,
    fingerprints: impl FnOnce(&Fingerprinter) -> Vec<Fingerprint>,
) -> Result<Vec<usize>> {
    let (path, _) = &checked(path)?;
    let known = || {
        let connection = file::read_only(path, BUSY_TIMEOUT)?;
        let fingerprints = fingerprints(&key(&connection)?);
        places::known_secrets(&Tx::of(&connection), &fingerprints)
    };
    known().map_err(|fault| fault.explain(path))
}

fn inspect_open(path: &Path, bytes: u64, times: &TimesAtWork) -> Result<Inspected, Fault> {
    let connection = file::read_only(path, BUSY_TIMEOUT)?;
    let schema = version(&connection)?;
    let faults = faults(&connection)?;
    let contents = (schema == NEWEST && faults == 0)
        .then(|| contents(&Tx::of(&connection), Clocks::OfTheMachine, times))
        .transpose()?;
    let places = match contents {
        Some(_) => places::all(&Tx::of(&connection))?,
        None => Vec::new(),
    };
    Ok(Inspected {
        schema,
        newest: NEWEST,
        bytes,
        faults,
        contents,
        places,
    })
}

fn faults(connection: &Connection) -> Result<usize, Fault> {
    let lines: Vec<String> = Tx::of(connection).all("PRAGMA integrity_check", values![])?;
    Ok(lines.iter().filter(|line| *line != "ok").count())
}

record!(Contents, "contents" {
    groups = "(SELECT COUNT(*) FROM user_groups)",
    failed_hand_offs = "(SELECT COUNT(*) FROM rotations WHERE handoff = 'failed')",
    drafts = "(SELECT COUNT(*) FROM drafts)",
    latest = "(SELECT MAX(CASE WHEN COALESCE(last_rotated_at, 0) > COALESCE(last_seen, 0) THEN last_rotated_at \
        ELSE last_seen END) FROM user_groups)" or None,
} with { in_progress: 0, open_rotations: 0, open_changes: 0, pending_hand_offs: 0 });

/// What is open, and whether its process may be at work in this state. `since` is the function of the clock, if there is one.
macro_rules! open {
    ($since:literal) => {
        concat!(
            "SELECT 'rotation', state NOT IN ('unknown', 'conflict'), COALESCE(sent_at, started_at), ",
            $since,
            "(boot_clock), process, profile, settles_in FROM rotations WHERE ",
            open_states!(),
            " OR ",
            conflicts!(),
            " UNION ALL SELECT 'hand-off', handoff_note IS NULL, COALESCE(handoff_at, sent_at, started_at), ",
            $since,
            "(COALESCE(handoff_clock, boot_clock)), COALESCE(handoff_process, process), profile, handoff_limit \
             FROM rotations WHERE handoff = 'pending' \
             UNION ALL SELECT 'change', state = 'sent', COALESCE(sent_at, started_at), ",
            $since,
            "(boot_clock), NULL, profile, settles_in FROM mutations \
             WHERE rotation_id IS NULL AND state IN ('sent', 'unknown', 'open')"
        )
    };
}

/// What it is, whether its process may be at work, since when, by which clock and process, with which profile, and how many
/// microseconds it may take if whoever began it said so.
type Open = (
    String,
    bool,
    i64,
    Option<String>,
    Option<String>,
    String,
    Option<Duration>,
);

/// How `boot_clock` is read: a server measures by its own clock, and a file that is only looked at has no function for it.
#[derive(Clone, Copy)]
enum Clocks {
    OfTheMachine,
    Shared,
}

fn contents(tx: &Tx<'_>, clocks: Clocks, times: &TimesAtWork) -> Result<Contents, Fault> {
    let contents: Option<Contents> = tx.one("SELECT *", values![])?;
    let mut contents = contents.ok_or(Fault::Column)?;
    let now = Clock::System.moment();
    let usual = settle_window(Duration::ZERO);
    let text = match clocks {
        Clocks::OfTheMachine => open!(""),
        Clocks::Shared => open!("since"),
    };
    let open: Vec<Open> = tx.all(text, values![])?;
    for (what, moves, at, clock, process, profile, limit) in open {
        let (request, hand_off) = times.get(&profile).copied().unwrap_or((usual, usual));
        let time = match what.as_str() {
            "hand-off" => limit.unwrap_or(hand_off),
            _ => request.max(limit.unwrap_or_default()),
        };
        let has_ended = process.as_deref().and_then(process::has_ended) == Some(true);
        let clock = clock.as_deref().and_then(BootTime::parse);
        let since = columns::timestamp(at).map(|at| now.since_recorded(clock.as_ref(), at));
        let is_recent = since.is_some_and(|since| since < time);
        *match what.as_str() {
            _ if moves && is_recent && !has_ended => &mut contents.in_progress,
            "rotation" => &mut contents.open_rotations,
            "hand-off" => &mut contents.pending_hand_offs,
            _ => &mut contents.open_changes,
        } += 1;
    }
    Ok(contents)
}

/// Maximum number of suggestions; a shell continues with their common prefix.
const MOST: usize = 100;

const BEGINNING: &str = "\
SELECT user_group_id FROM user_groups WHERE place = $1 AND user_group_id >= $2 AND user_group_id < $3 \
ORDER BY user_group_id LIMIT 100";
const LAST: &str = "\
SELECT user_group_id FROM user_groups WHERE place = $1 AND user_group_id >= $2 AND user_group_id < $3 \
ORDER BY user_group_id DESC LIMIT 1";

/// The profile for which ids are completed.
#[derive(Debug, Clone, Copy)]
pub struct CompletedProfile<'a> {
    pub name: &'a str,
    pub url: &'a str,
    /// The API key to compare, if it can be read at once.
    pub key: Option<&'a SecretString>,
    pub from_variables: bool,
}

/// The ids with this prefix in the place of this profile; none if they cannot be read, or if the place does not know
/// the API key. If there are many, the first ones and the last one, which have the same common prefix as all of them.
pub fn ids_beginning(path: &Path, profile: CompletedProfile<'_>, begin: &str) -> Vec<String> {
    beginning(path, profile, begin).unwrap_or_default()
}

/// The names of the environments; none if they cannot be read.
pub fn environment_names(path: &Path) -> Vec<String> {
    let names = || -> Result<Vec<String>, Fault> {
        let connection = file::as_is(path, Duration::ZERO)?;
        let names = |connection| Tx::of(connection).all(NAMES, values![]);
        Ok(connection
            .as_ref()
            .map(names)
            .transpose()?
            .unwrap_or_default())
    };
    names().unwrap_or_default()
}

const NAMES: &str = "SELECT name FROM places ORDER BY name";

fn beginning(
    path: &Path,
    profile: CompletedProfile<'_>,
    begin: &str,
) -> Result<Vec<String>, Fault> {
    let Some(connection) = file::as_is(path, Duration::ZERO)? else {
        return Ok(Vec::new());
    };
    let tx = Tx::of(&connection);
    let place = match profile.key {
        Some(key) => {
            let key = super::open::key(&connection)?.of_key(key);
            places::with_key(
                &tx,
                (profile.name, profile.url),
                key,
                profile.from_variables,
            )?
        }
        None => tx.one(places::PLACE_OF, values![profile.name, profile.url])?,
    };
    let Some(place) = place else {
        return Ok(Vec::new());
    };
    let end = format!("{begin}{}", char::MAX);
    let asked = || values![place, begin, &end];
    let mut ids: Vec<String> = tx.all(BEGINNING, asked())?;
    if ids.len() == MOST {
        let last: Option<String> = tx.one(LAST, asked())?;
        ids.extend(last);
        ids.dedup();
    }
    Ok(ids)
}
