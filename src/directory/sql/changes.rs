//! What others have changed in a place since the last read: groups by the number of their last write (in a file) or by the
//! transactions seen (on a server), and so notes and labels; everything else completely, because it is small.

use std::time::Instant;

use super::{annotations, console, fault::Fault, groups, history, journal, open};
use crate::{
    db::{Tx, Value, record, values},
    directory::{
        ChangeCursor, Changes, Directory, DraftHead, Numbered, PlaceId, PlaceStatus, Role,
        RotationFilter, ServerFault, TeamFault,
        tables::NEWEST,
        watch::{HistoryCursor, NOTHING, Seen, ServerState, Snapshots},
    },
    domain::history::Entry,
};

/// Maximum number of groups reported one by one; beyond that the list is to be loaded again.
const MOST: usize = 1_000;

/// Whether the caller may write.
const MAY_WRITE: &str = "SELECT has_any_column_privilege('rotations', 'UPDATE')";

impl Directory {
    /// Whether a server lets this person in now, and write.
    pub(crate) async fn lets_write(&self) -> bool {
        let asked = self.one::<bool>(MAY_WRITE, values![]).await;
        matches!(asked, Ok(Some(true)))
    }
}

/// The start of the next read. If it is taken before something is read, no later change is missed.
pub(crate) fn cursor(tx: &Tx<'_>, place: PlaceId) -> Result<ChangeCursor, Fault> {
    let (seen, ..) = read_state(tx, place, None)?;
    Ok(ChangeCursor { place, seen })
}

/// The result of reading changes.
pub(crate) struct ChangesRead {
    /// The start of the next read.
    pub(crate) next: ChangeCursor,
    /// What others have changed; `None` if nobody else has written.
    pub(crate) changes: Option<Changes>,
    /// Why the directory cannot be written now although it can be read.
    pub(crate) refused: Option<TeamFault>,
}

/// Reads the state of the database: how far it was seen, from where on changes are to be reported (if any), and why
/// nothing can be written.
fn read_state(
    tx: &Tx<'_>,
    place: PlaceId,
    before: Option<&Seen>,
) -> Result<(Seen, Option<Since>, Option<TeamFault>), Fault> {
    if tx.sqlite().is_some() {
        let change: Option<i64> = tx.one(groups::LAST_CHANGE, values![place])?;
        let annotation: Option<i64> = tx.one(annotations::LAST_CHANGE, values![])?;
        let seen = Seen::File {
            change: change.unwrap_or_default(),
            annotation: annotation.unwrap_or_default(),
            commits: commits(tx)?,
        };
        let since = match (before, &seen) {
            (Some(Seen::File { commits: seen, .. }), Seen::File { commits, .. })
                if seen == commits =>
            {
                None
            }
            (
                Some(Seen::File {
                    change, annotation, ..
                }),
                _,
            ) => Some((*change, *annotation)),
            _ => Some((0, 0)),
        };
        let since = since.map(|(group, annotation)| Since {
            group: group.into(),
            annotation: annotation.into(),
        });
        return Ok((seen, since, None));
    }
    let row: Option<ServerRow> = tx.one(SNAPSHOT, values![])?;
    let (row, known) = (row.ok_or(Fault::Column)?, NEWEST);
    if row.reads_from > known {
        let found = row.reads_from;
        return Err(TeamFault::Newer { found, known }.into());
    }
    let refused = match row.moved_to {
        _ if row.is_read_only => Some(TeamFault::Server(ServerFault::ReadOnly)),
        _ if row.writes_from > known => Some(TeamFault::NotWritable),
        Some(to) => Some(TeamFault::Moved(Some(to))),
        None if !row.may_write => Some(TeamFault::NeedsRole {
            needs: Role::Operator,
            has: Role::Viewer,
        }),
        None => None,
    };
    let mut state = row.state;
    // Known only after the query, which may have reconnected.
    (state.connection, state.at) = (tx.connection_number(), Instant::now());
    let (since, seen) = match before {
        Some(Seen::Team(seen)) => (seen.since(&state).map(Since::snapshot), seen.then(state)),
        _ => (Some(Since::snapshot(NOTHING)), Snapshots::begin(state)),
    };
    Ok((Seen::Team(seen), since, refused))
}

/// From where on changes are to be reported: a number in a file, a snapshot on a server.
struct Since {
    group: Value,
    annotation: Value,
}

impl Since {
    fn snapshot(text: &str) -> Self {
        Self {
            group: text.into(),
            annotation: text.into(),
        }
    }
}

/// The state of a server, as far as a look needs it.
struct ServerRow {
    state: ServerState,
    /// The oldest versions that may still read and write it.
    reads_from: i64,
    writes_from: i64,
    moved_to: Option<String>,
    may_write: bool,
    /// Whether it was made read-only while connections were open.
    is_read_only: bool,
}
// The snapshot is that of the transaction, so it matches what the transaction reads.
record!(ServerState, "installation" {
    snapshot = "pg_current_snapshot()::text", server = "instance::text || '/' || timeline()",
} with { connection: 0, at: Instant::now() });
record!(ServerRow, "installation" {
    state, reads_from = "v.reads_from", writes_from = "v.writes_from", moved_to,
    may_write = "has_any_column_privilege('rotations', 'UPDATE')",
    is_read_only = "current_setting('default_transaction_read_only') = 'on'",
});

const SNAPSHOT: &str = "\
SELECT * FROM installation, \
 (SELECT MAX(reads_from) AS reads_from, MAX(writes_from) AS writes_from FROM schema_versions) v";

/// Runs on the writing connection under its lock: any commit in progress has then ended, and an unchanged commit count
/// proves that only this directory has written.
pub(crate) fn since(
    tx: &Tx<'_>,
    place: PlaceId,
    cursor: &ChangeCursor,
) -> Result<ChangesRead, Fault> {
    let before = (cursor.place == place).then_some(&cursor.seen);
    let (seen, since, refused) = read_state(tx, place, before)?;
    let next = ChangeCursor { place, seen };
    let changes = since.map(|since| read(tx, place, since)).transpose()?;
    Ok(ChangesRead {
        next,
        changes,
        refused,
    })
}

fn read(tx: &Tx<'_>, place: PlaceId, since: Since) -> Result<Changes, Fault> {
    let (groups, are_more) = groups::changed(tx, place, since.group, MOST)?;
    let open = RotationFilter {
        place: Some(place),
        open_only: true,
        ..RotationFilter::default()
    };
    Ok(Changes {
        groups,
        are_more,
        open: journal::list(tx, open)?,
        drafts: drafts(tx, place)?,
        annotations: annotations::changed(tx, place, since.annotation)?,
        saved_views: console::saved_views(tx)?,
        status: place_status(tx, place)?,
        at_work: Vec::new(),
    })
}

/// The history entries added since, oldest first, and the cursor of the next read; without a cursor only the latter.
pub(crate) fn history(
    tx: &Tx<'_>,
    place: PlaceId,
    cursor: Option<&HistoryCursor>,
) -> Result<(HistoryCursor, Vec<Numbered<Entry>>), Fault> {
    let before = cursor.filter(|cursor| cursor.0.place == place);
    let before = before.map(|cursor| &cursor.0.seen);
    let (seen, since) = if tx.sqlite().is_some() {
        // A file has one writer at a time, so the number alone is enough.
        let change: Option<i64> = tx.one(history::LAST, values![])?;
        let since = match before {
            Some(Seen::File { change, .. }) => Some(Value::from(*change)),
            _ => None,
        };
        let seen = Seen::File {
            change: change.unwrap_or_default(),
            annotation: 0,
            commits: (0, 0),
        };
        (seen, since)
    } else {
        let (seen, since, _) = read_state(tx, place, before)?;
        (seen, since.map(|since| since.group))
    };
    let lines = match (before, since) {
        (Some(_), Some(since)) => {
            let text = tx.sqlite().map_or(history::UNSEEN, |_| history::AFTER);
            tx.all(text, values![place, since])?
        }
        _ => Vec::new(),
    };
    Ok((HistoryCursor(ChangeCursor { place, seen }), lines))
}

/// Changes when somebody else has written, or this directory something that all consoles show; or when the connection is
/// a new one, which has not counted earlier writes.
fn commits(tx: &Tx<'_>) -> Result<(u64, i64), Fault> {
    let commits = tx.one("PRAGMA data_version", values![])?;
    let own = open::connections_opened() + open::writes_shared_by_consoles();
    Ok((own, commits.unwrap_or_default()))
}

fn drafts(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<DraftHead>, Fault> {
    let text = match tx.sqlite() {
        Some(_) => "SELECT * FROM drafts WHERE place = $1 ORDER BY user_group_id, merged",
        None => "SELECT * FROM all_drafts WHERE place = $1 ORDER BY user_group_id, author, merged",
    };
    Ok(tx.readable(text, values![place])?)
}

record!(DraftHead, "drafts" { id = "user_group_id", at = "changed_at", by });

fn place_status(tx: &Tx<'_>, place: PlaceId) -> Result<PlaceStatus, Fault> {
    let text = "SELECT COUNT(*) FROM alarms WHERE place = $1 AND acknowledged_at IS NULL";
    let alarms = tx.one(text, values![place])?.unwrap_or_default();
    Ok(PlaceStatus { place, alarms })
}
