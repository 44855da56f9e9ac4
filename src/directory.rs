//! What this installation remembers: the groups of every place with the origin of each value, the append-only history,
//! and the journal of rotations. It stores fingerprints, never tokens. Everything is one consistent record, kept in
//! SQLite or, for a team, in PostgreSQL.

mod audit;
mod batch;
mod columns;
mod copy;
mod engine;
mod error;
mod ids;
mod lanes;
mod location;
mod mutation;
mod place;
mod replay;
mod sql;
mod tables;
mod team;
mod unsettled_here;
mod values;
mod watch;

use std::{
    collections::HashSet,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
};

pub use crate::db::ServerFault;
pub(crate) use crate::db::{Password, wait_for_writes};
use crate::{
    db::{Access, TimelineCheck, Tx, timelines},
    domain::token::Fingerprinter,
};
pub use audit::{AuditFilter, Audited};
pub use batch::{
    Batch, BatchId, BatchItem, BatchOptions, BatchRun, Heartbeat, ItemKey, ItemUpdate, NewBatch,
    RunId,
};
pub use copy::{Copied, copy_from_team, copy_to_team};
use engine::Engine;
pub use error::DirectoryError;
pub use ids::{ChangeId, ImportId, MutationId, RotationId};
pub use location::{Location, TeamFault, TeamLocation};
pub use mutation::{Claimed, Mutation, MutationIntent, MutationStep};
pub use place::{
    Alarm, Binding, BindingAnswer, BindingPreview, Bound, Caller, Gate, KeyId, KeyState,
    OtherPlace, Place, PlaceEvent, PlaceId, PlaceKey, Question, QuestionReason, Refusal,
};
pub use replay::replay;
pub use sql::drafts::{DraftSaved, KeptDraft, OtherDraft};
pub use sql::imports::{Import, Imported};
pub use sql::list::FirstGroups;
pub use sql::{
    CompletedProfile, Contents, Inspected, TimesAtWork, backup_of, backups_of, copy_to,
    environment_names, ids_beginning, inspect, known_secrets_in, preview_binding_in, what_it_is,
};
pub use tables::{MIGRATIONS, Migration, Role};
pub use team::{
    Migrated, TeamStatus, grant, members, migrate, revoke, set_up, set_up_sql, team_status,
};
pub use unsettled_here::has_unsettled_here;
pub use values::{
    BeginResult, EventKind, GroupSnapshot, HandOffStep, HandOffTaker, HistoryFilter, JournalEvent,
    Noted, Numbered, Owner, Record, Recorded, RotationFilter, RotationIntent, RotationRow,
    RotationStep, SnapshotExtras, Statement, TokenChange,
};
pub use watch::{
    ChangeCursor, Changes, DraftHead, HistoryCursor, PlaceStatus,
    requests::{Watch, WatchedConnection},
};

/// What a request comes to.
pub type Result<T, E = DirectoryError> = std::result::Result<T, E>;

/// A handle to one directory; clones share it. Requests are executed in the order in which they are made; requests made
/// at the same time are committed together. Reads of a few rows do not wait for a write in progress, but see everything
/// that was answered before.
///
/// A write whose caller has gone away is still executed. Dropping the last handle waits for work in progress.
#[derive(Clone)]
pub struct Directory(Arc<Inner>);

struct Inner {
    engine: Engine,
    fingerprinter: Fingerprinter,
    /// Set for a directory that a team shares.
    membership: Option<team::Membership>,
    /// The rotations that this process works on.
    at_work: Mutex<HashSet<RotationId>>,
    /// Of a file: remembers its latest change outside it.
    latest_change: Option<TimelineCheck>,
    /// How many writes of notes, labels and views have ended.
    written_beside: AtomicU64,
}

impl Directory {
    /// Opens a directory file, creating it if needed (mode 0600, its folder 0700), or the directory of a team that was
    /// set up before ([`set_up`]). Blocks briefly and starts two threads of its own.
    ///
    /// A file that is no directory, has a newer version or belongs to another user is refused and left unchanged.
    pub fn open(location: impl Into<Location>) -> Result<Self> {
        match location.into() {
            Location::File(path) => Self::of_file(&path, false, None),
            Location::Team(team) => Ok(Self(Arc::new(team::open(&team)?))),
        }
    }

    /// As [`Self::open`], for a file that ends with this process, like that of a demo: its writes need not survive a
    /// crash of the machine.
    pub(crate) fn open_ephemeral(path: &Path) -> Result<Self> {
        Self::of_file(path, true, None)
    }

    /// As [`Self::open`], for a file whose latest change is remembered in `seen`: after the file was replaced by an older
    /// one, it is no longer the only writer.
    pub fn open_remembered(path: &Path, seen: PathBuf) -> Result<Self> {
        Self::of_file(path, false, Some(timelines::check(seen)))
    }

    fn of_file(
        path: &Path,
        is_ephemeral: bool,
        latest_change: Option<TimelineCheck>,
    ) -> Result<Self> {
        let (engine, fingerprinter) = Engine::of_file(path, is_ephemeral)?;
        if let Some(seen) = latest_change.clone() {
            let check = seen.clone();
            let lacks = move |tx: &Tx<'_>| sql::facts::lacks_changes(tx, &check);
            if engine.block(Access::Long, lacks)? && engine.unwritable().is_none() {
                let withdraw = move |tx: &Tx<'_>| sql::facts::withdraw_if_restored(tx, &seen);
                engine.block(Access::Write, withdraw)?;
            }
        }
        Ok(Self(Arc::new(Inner {
            engine,
            fingerprinter,
            membership: None,
            latest_change,
            at_work: Mutex::default(),
            written_beside: AtomicU64::default(),
        })))
    }

    /// The operator's role in a team's directory; `None` for a file.
    pub fn role(&self) -> Option<Role> {
        self.0.membership.as_ref().map(|membership| membership.role)
    }

    /// The user name in a team's database, under which actions are recorded. `None` for a file, and for the role that may
    /// write under any name.
    pub fn user(&self) -> Option<&str> {
        let membership = self.0.membership.as_ref();
        let membership = membership.filter(|membership| membership.role != Role::Owner);
        membership.map(|membership| membership.user.as_str())
    }

    /// What somebody who only reads must know of a team's directory: it was moved away.
    pub fn notice(&self) -> Option<String> {
        let to = self.0.membership.as_ref()?.moved_to.as_ref()?;
        Some(format!(
            "the directory was moved to {to}: the data shown here dates from then, and nothing is recorded here"
        ))
    }

    /// Refuses what needs a higher role, and every write if the directory was moved, has newer tables or can only be read,
    /// before anything is read or sent.
    pub fn may(&self, needs: Role) -> Result<()> {
        let (Location::Team(team), Some(membership)) = (self.location(), &self.0.membership) else {
            let unwritable = self.0.engine.unwritable();
            return unwritable.map_or(Ok(()), Err);
        };
        let has = membership.role;
        if has < needs {
            return Err(DirectoryError::of_team(
                team,
                TeamFault::NeedsRole { needs, has },
            ));
        }
        let fault = match &membership.moved_to {
            Some(to) => TeamFault::Moved(Some(to.clone())),
            None if membership.writes_from > tables::NEWEST => TeamFault::NotWritable,
            None => return Ok(()),
        };
        Err(DirectoryError::of_team(team, fault))
    }

    /// Computes fingerprints with this directory's key, which never changes.
    pub fn fingerprinter(&self) -> &Fingerprinter {
        &self.0.fingerprinter
    }

    /// For a team's directory: whether one patience is for all requests together, as a command needs.
    pub fn set_is_of_command(&self, is_of_command: bool) {
        if let Some(server) = &self.0.engine.server {
            server.set_is_of_command(is_of_command);
        }
    }

    /// Whether the server of a team's directory does not answer at the moment.
    pub fn is_lost(&self) -> bool {
        let server = self.0.engine.server.as_ref();
        server.is_some_and(|server| server.lost_at().is_some())
    }

    /// Notes that this process works on a rotation, up to the hand-off of its token, or that it has ended.
    pub(crate) fn note_at_work(&self, id: RotationId, is_at_work: bool) {
        let mut rotations = self.at_work();
        if is_at_work {
            rotations.insert(id);
        } else {
            rotations.remove(&id);
        }
    }

    /// Whether this process works on a rotation.
    pub(crate) fn is_at_work(&self, id: RotationId) -> bool {
        self.at_work().contains(&id)
    }

    fn at_work(&self) -> MutexGuard<'_, HashSet<RotationId>> {
        let rotations = self.0.at_work.lock();
        rotations.unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.0.engine.location
    }
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory").finish_non_exhaustive()
    }
}
