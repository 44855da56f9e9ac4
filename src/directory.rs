//! What this installation remembers: the groups of every place with the origin of each value, the append-only history,
//! and the journal of rotations. It stores fingerprints, never tokens. Everything is one consistent record, kept in
//! SQLite or, for a team, in PostgreSQL.

mod annotations;
mod audit;
mod batch;
mod columns;
mod copy;
mod draft;
mod engine;
mod error;
mod execute;
mod facts;
mod ids;
mod import;
mod lanes;
mod list;
mod location;
mod mutation;
mod place;
mod replay;
mod sqlite;
mod tables;
mod team;
mod timelines;
mod unsettled_here;
mod values;
mod watch;

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;

pub(crate) use crate::database::{Password, wait_for_writes};
use crate::{
    database::{Access, Tx},
    domain::{
        batch::Halt,
        draft::Draft,
        group::UserGroupId,
        handoff::HandOff,
        history::{Ending, Entry},
        known::{KnownGroup, Observation},
        token::{Fingerprint, Fingerprinter},
    },
    search::ListView,
};
pub use audit::{AuditFilter, Audited};
pub use batch::{
    Batch, BatchId, BatchItem, BatchOptions, BatchRun, Heartbeat, ItemKey, ItemUpdate, NewBatch,
    RunId,
};
pub use copy::{Copied, copy_from_team, copy_to_team};
pub use draft::{DraftSaved, KeptDraft, OtherDraft};
use engine::Engine;
pub use error::DirectoryError;
pub use facts::{Fact, Statement};
pub use ids::{MutationId, RotationId};
pub use import::{Import, ImportId, Imported};
use lanes::Subject;
pub use list::FirstGroups;
pub use location::{InvalidLocation, Location, TeamFault, TeamLocation};
pub use mutation::{Claimed, Mutation, MutationIntent, MutationStep};
pub use place::{
    Alarm, Binding, BindingAnswer, BindingPreview, Bound, Caller, Gate, KeyId, KeyState,
    OtherPlace, Place, PlaceEvent, PlaceId, PlaceKey, Question, QuestionReason, Refusal,
};
pub use replay::replay;
pub use sqlite::{
    CompletedProfile, Contents, Inspected, backup_of, backups_of, copy_to, ids_beginning, inspect,
    preview_binding_in,
};
use sqlite::{
    batches, console, drafts, fingerprints, groups, handoff, history, journal, order,
    snapshot::TakeSnapshot,
};
pub use tables::{MIGRATIONS, Migration, Role};
pub use team::{
    Migrated, TeamStatus, grant, members, migrate, revoke, set_up, set_up_sql, team_status,
};
use unsettled_here::CountedStep;
pub use unsettled_here::has_unsettled_here;
pub use values::{
    BeginResult, Damaged, EventKind, GroupSnapshot, HandOffStep, HistoryFilter, JournalEvent,
    Noted, Numbered, Owner, Record, Recorded, RotationFilter, RotationIntent, RotationRow,
    RotationStep, SnapshotExtras, TokenChange,
};
pub use watch::{
    ChangeCursor, Changes, DraftHead, HistoryCursor, PlaceStatus,
    requests::{Watch, WatchedConnection},
};

/// A handle to one directory; clones share it. Requests are executed in the order in which they are made; requests made
/// at the same time are committed together. Reads of a few rows do not wait for a write in progress, but see everything
/// that was answered before.
///
/// A write whose caller has gone away is still executed. Dropping the last handle waits for work in progress.
#[derive(Clone)]
pub struct Directory(Arc<Inner>);

/// Bytes. Smaller observations are copied, so that their transaction may be done again.
const LARGE: usize = 16 * 1024;

struct Inner {
    engine: Engine,
    fingerprinter: Fingerprinter,
    /// Set for a directory that a team shares.
    membership: Option<team::Membership>,
}

impl Directory {
    /// Opens a directory file, creating it if needed (mode 0600, its folder 0700), or the directory of a team that was
    /// set up before ([`set_up`]). Blocks briefly and starts two threads of its own.
    ///
    /// A file that is no directory, has a newer version or belongs to another user is refused and left unchanged.
    pub fn open(location: impl Into<Location>) -> Result<Self, DirectoryError> {
        match location.into() {
            Location::File(path) => Engine::of_file(&path, false).map(Self::of_file),
            Location::Team(team) => {
                let (engine, fingerprinter, membership) = team::open(&team)?;
                Ok(Self::of(engine, fingerprinter, Some(membership)))
            }
        }
    }

    /// As [`Self::open`], for a file that ends with this process, like that of a demo: its writes need not survive a
    /// crash of the machine.
    pub(crate) fn open_ephemeral(path: &Path) -> Result<Self, DirectoryError> {
        Engine::of_file(path, true).map(Self::of_file)
    }

    fn of_file((engine, fingerprinter): (Engine, Fingerprinter)) -> Self {
        Self::of(engine, fingerprinter, None)
    }

    fn of(
        engine: Engine,
        fingerprinter: Fingerprinter,
        membership: Option<team::Membership>,
    ) -> Self {
        Self(Arc::new(Inner {
            engine,
            fingerprinter,
            membership,
        }))
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

    /// What somebody who only reads must know of a team's directory: it was moved away, or a standby answers.
    pub fn notice(&self) -> Option<String> {
        let membership = self.0.membership.as_ref()?;
        match &membership.moved_to {
            Some(to) => Some(format!(
                "the directory was moved to {to}: the data shown here dates from then, and nothing is recorded here"
            )),
            None if membership.is_standby => Some(
                "a standby of the directory is in use: data may be out of date, and nothing can be recorded until the primary is back"
                    .into(),
            ),
            None => None,
        }
    }

    /// Refuses what needs a higher role, and every write if the directory was moved, before anything is read or sent.
    pub fn may(&self, needs: Role) -> Result<(), DirectoryError> {
        let (Location::Team(team), Some(membership)) = (self.location(), &self.0.membership) else {
            return Ok(());
        };
        let has = membership.role;
        if has < needs {
            return Err(DirectoryError::of_team(
                team,
                TeamFault::NeedsRole { needs, has },
            ));
        }
        match &membership.moved_to {
            Some(to) => Err(DirectoryError::of_team(
                team,
                TeamFault::Moved(Some(to.clone())),
            )),
            None => Ok(()),
        }
    }

    /// Computes fingerprints with this directory's key, which never changes.
    pub fn fingerprinter(&self) -> &Fingerprinter {
        &self.0.fingerprinter
    }

    /// Returns all groups of a place, ordered by the bytes of their ids.
    ///
    /// A field that cannot be read counts as unknown, so that one damaged row hides no others; [`Self::damaged`] names
    /// it.
    pub async fn groups(&self, place: PlaceId) -> Result<Vec<KnownGroup>, DirectoryError> {
        Ok(self.all_groups(place).await?.groups)
    }

    /// Passes the same groups to `take` in chunks, on the directory's thread, so that they need not all be in memory.
    ///
    /// They are a snapshot of one moment. `take` returns whether it wants more.
    pub async fn each_group(
        &self,
        place: PlaceId,
        take: impl FnMut(Vec<KnownGroup>) -> bool + Send + 'static,
    ) -> Result<(), DirectoryError> {
        self.each_group_from(place, false, take).await
    }

    /// As [`Self::each_group`], beginning with the last if `reverse`.
    pub async fn each_group_from(
        &self,
        place: PlaceId,
        reverse: bool,
        take: impl FnMut(Vec<KnownGroup>) -> bool + Send + 'static,
    ) -> Result<(), DirectoryError> {
        let each = move |c: &Tx<'_>| groups::each(c, place, reverse, take);
        self.execute(Access::Long, each).await
    }

    /// Returns the group rows of a place that [`Self::groups`] could not read in full.
    pub async fn damaged(&self, place: PlaceId) -> Result<Vec<Damaged>, DirectoryError> {
        Ok(self.all_groups(place).await?.damaged)
    }

    async fn all_groups(&self, place: PlaceId) -> Result<groups::Groups, DirectoryError> {
        self.execute(Access::Long, move |c| groups::all(c, place))
            .await
    }

    /// Returns one group if it is known.
    pub async fn group(
        &self,
        place: PlaceId,
        id: &UserGroupId,
    ) -> Result<Option<KnownGroup>, DirectoryError> {
        let id = id.clone();
        self.execute(Access::Short, move |c| groups::one(c, place, &id))
            .await
    }

    /// Returns one group if it is known, what is open of it, the facts of the place, and the requested extras.
    pub async fn snapshot(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        extras: SnapshotExtras,
    ) -> Result<GroupSnapshot, DirectoryError> {
        let id = id.clone();
        let request = TakeSnapshot {
            place,
            id,
            extras,
            locks: false,
        };
        // The request that follows is decided by this, so the read must be current.
        self.execute(Access::Current, move |tx| tx.run(&request))
            .await
    }

    /// Records the result of one exchange: the group, the history and the journal, in one transaction.
    ///
    /// Times are stored in whole microseconds. A history entry keeps the profile that it names. With
    /// [`DirectoryError::MovedOn`] nothing of the record is written.
    pub async fn record(&self, place: PlaceId, record: Record) -> Result<Recorded, DirectoryError> {
        let mut recorded = self.record_all(place, vec![record]).await?;
        Ok(recorded.pop().unwrap_or_default())
    }

    /// Writes many records in one transaction, all or nothing. The results are in the same order.
    pub async fn record_all(
        &self,
        place: PlaceId,
        records: Vec<Record>,
    ) -> Result<Vec<Recorded>, DirectoryError> {
        let counted_steps = CountedStep::of_all(&records);
        let subject = match &records[..] {
            [record] => Subject::of(place, record),
            _ => None,
        };
        let mut records = records;
        let observed = records.iter().filter_map(|one| one.observation.as_ref());
        let is_large = observed.map(Observation::weight).sum::<usize>() > LARGE;
        let write = move |tx: &Tx<'_>| sqlite::record_all(tx, place, &mut records, is_large);
        let written = if is_large {
            self.write_large(subject, write).await
        } else {
            self.write_about(subject, write).await
        };
        for one in counted_steps {
            one.written(written.is_ok());
        }
        written
    }

    /// Decides from the state of a group what an answer means, and records it, in one transaction: nothing that another
    /// process records comes in between. `weight` is about the number of bytes that will be recorded; above a limit
    /// `decide` is called only once on a file, and may give its values away. It must have no other effect.
    pub async fn decide<T: Send + 'static>(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        fingerprint: Option<Fingerprint>,
        weight: usize,
        mut decide: impl FnMut(&GroupSnapshot, bool) -> (Vec<Record>, T) + Send + 'static,
    ) -> Result<(Vec<Recorded>, T), DirectoryError> {
        let request = TakeSnapshot {
            place,
            id: id.clone(),
            extras: SnapshotExtras {
                fingerprint,
                ..SnapshotExtras::default()
            },
            locks: true,
        };
        let subject = Some(Subject::Group(place, id.clone()));
        let is_large = weight > LARGE;
        let write = move |tx: &Tx<'_>| {
            let may_take = is_large && tx.sqlite().is_some();
            let mut counted_steps = Vec::new();
            let decided = sqlite::decide(tx, &request, may_take, |found| {
                let (records, answer) = decide(found, may_take);
                counted_steps = CountedStep::of_all(&records);
                (records, answer)
            });
            decided.map(|decided| (decided, counted_steps))
        };
        let written = if is_large {
            self.write_large(subject, write).await
        } else {
            self.write_about(subject, write).await
        };
        let (decided, counted_steps) = written?;
        for one in counted_steps {
            one.written(true);
        }
        Ok(decided)
    }

    /// The last number in the order of the directory.
    pub async fn last_number(&self) -> Result<i64, DirectoryError> {
        self.execute(Access::Current, order::last).await
    }

    /// Forgets when the recorded changes were recorded, for a past that was made up.
    pub(crate) async fn forget_order(&self) -> Result<(), DirectoryError> {
        self.write(order::forget).await
    }

    /// The groups of a place whose token came from a rotation that was recorded after this number.
    pub async fn rotated_since(
        &self,
        place: PlaceId,
        number: i64,
    ) -> Result<HashMap<UserGroupId, TokenChange>, DirectoryError> {
        self.execute(Access::Current, move |tx| {
            order::rotated_since(tx, place, number)
        })
        .await
    }

    /// Returns history entries, most recently written first.
    pub async fn history(
        &self,
        filter: HistoryFilter,
    ) -> Result<Vec<Numbered<Entry>>, DirectoryError> {
        self.execute(Access::Long, move |c| history::list(c, filter))
            .await
    }

    /// Makes the intent to rotate durable, unless another rotation holds the same token (docs/design/rotation.md).
    pub async fn begin_rotation(
        &self,
        place: PlaceId,
        intent: RotationIntent,
    ) -> Result<BeginResult, DirectoryError> {
        let subject = Subject::Group(place, intent.user_group_id.clone());
        let mut begin = journal::BeginRotation {
            place,
            intent,
            until: i64::MAX,
        };
        self.write_about(Some(subject), move |tx| journal::begin(tx, &mut begin))
            .await
    }

    /// Records how the hand-off of a rotation ended together with its history entry, in one transaction.
    ///
    /// Returns `false` if a later rotation of the group has overtaken it. The command may then have put the older token
    /// in place, so the later hand-off becomes pending again.
    pub async fn end_hand_off(
        &self,
        id: RotationId,
        handoff: HandOff,
        entry: Entry,
    ) -> Result<bool, DirectoryError> {
        self.request(handoff::EndHandOff { id, handoff, entry })
            .await
    }

    /// Makes a batch and all of its items durable in one transaction.
    pub async fn begin_batch(
        &self,
        place: PlaceId,
        batch: NewBatch,
    ) -> Result<BatchId, DirectoryError> {
        self.request(batches::BeginBatch { place, batch }).await
    }

    /// Returns all batches of a place, most recently begun first.
    pub async fn batches(&self, place: PlaceId) -> Result<Vec<Batch>, DirectoryError> {
        self.execute(Access::Long, move |c| batches::list(c, place))
            .await
    }

    /// Returns the items of a batch of this place, in order.
    pub async fn batch_items(
        &self,
        place: PlaceId,
        id: BatchId,
    ) -> Result<Vec<BatchItem>, DirectoryError> {
        self.execute(Access::Long, move |c| batches::items(c, place, id))
            .await
    }

    /// Records that an item ended before anything was sent. Returns whether it did: an item that has a rotation or an
    /// update, or has ended, is left unchanged.
    pub async fn end_item(
        &self,
        item: ItemKey,
        ending: Ending,
        note: String,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| batches::end_item(tx, item, ending, &note))
            .await
    }

    /// Records that a run of a batch begins.
    pub async fn begin_run(&self, id: BatchId, run: BatchRun) -> Result<(), DirectoryError> {
        self.write(move |tx| batches::begin_run(tx, id, &run)).await
    }

    /// Records a heartbeat of a run.
    pub async fn beat(&self, beat: Heartbeat) -> Result<(), DirectoryError> {
        self.write(move |tx| batches::beat(tx, &beat)).await
    }

    /// Records the end of a run and, unless another run `goes_on`, why it began nothing more. Closes the batch if
    /// nothing is left to begin or to settle, and returns whether it did.
    pub async fn end_run(
        &self,
        (id, run): (BatchId, RunId),
        at: Timestamp,
        halt: Option<Halt>,
        goes_on: bool,
    ) -> Result<bool, DirectoryError> {
        let end = batches::EndRun {
            id,
            run,
            at,
            halt,
            goes_on,
        };
        self.request(end).await
    }

    /// Returns the drafts of a place, most recently changed first. One that cannot be read is left out.
    pub async fn drafts(&self, place: PlaceId) -> Result<Vec<KeptDraft>, DirectoryError> {
        self.execute(Access::Short, move |c| drafts::list(c, place))
            .await
    }

    /// Saves a draft in place of the version that the caller saved before, which was changed at `seen`; every other
    /// draft of the group is kept beside it.
    pub async fn save_draft(
        &self,
        place: PlaceId,
        draft: Draft,
        by: &str,
        seen: Option<Timestamp>,
    ) -> Result<DraftSaved, DirectoryError> {
        let by = by.to_owned();
        self.request(drafts::SaveDraft {
            place,
            draft,
            by,
            seen,
            several_clocks: matches!(self.location(), Location::Team(_)),
        })
        .await
    }

    /// Deletes this version of a draft of this person; other versions and the drafts of others are kept.
    pub async fn forget_draft(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        (at, by): (Timestamp, &str),
    ) -> Result<(), DirectoryError> {
        let (id, by) = (id.clone(), by.to_owned());
        self.write(move |tx| drafts::forget(tx, place, &id, (at, &by)))
            .await
    }

    /// Returns the current state of one rotation.
    pub async fn rotation(&self, id: RotationId) -> Result<Option<RotationRow>, DirectoryError> {
        self.execute(Access::Short, move |c| journal::one(c, id))
            .await
    }

    /// Returns the current state of rotations, most recently begun first.
    pub async fn rotations(
        &self,
        filter: RotationFilter,
    ) -> Result<Vec<RotationRow>, DirectoryError> {
        let access = match filter.user_group_id {
            Some(_) => Access::Short,
            None => Access::Long,
        };
        self.execute(access, move |c| journal::list(c, filter))
            .await
    }

    /// Returns the journal of a rotation, in order; empty if there is no such rotation. [`replay()`] reconstructs the
    /// rotation from it.
    pub async fn journal_events(
        &self,
        id: RotationId,
    ) -> Result<Vec<JournalEvent>, DirectoryError> {
        self.execute(Access::Short, move |c| journal::events(c, id))
            .await
    }

    /// Returns the list view as this profile last left it, if it was saved.
    pub async fn view(&self, profile: &str) -> Result<Option<ListView>, DirectoryError> {
        let profile = profile.to_owned();
        self.execute(Access::Short, move |c| console::view(c, &profile))
            .await
    }

    /// Saves the list view of a profile, replacing the previous one. A viewer leaves nothing behind.
    pub async fn keep_view(&self, profile: &str, view: ListView) -> Result<(), DirectoryError> {
        if self.role() == Some(Role::Viewer) {
            return Ok(());
        }
        let profile = profile.to_owned();
        self.write(move |tx| console::keep_view(tx, &profile, &view))
            .await
    }

    /// Returns every group of every place that has or had the token, current owners first.
    pub async fn owners(&self, fingerprint: Fingerprint) -> Result<Vec<Owner>, DirectoryError> {
        self.execute(Access::Short, move |c| fingerprints::owners(c, fingerprint))
            .await
    }

    /// For a team's directory: whether one patience is for all requests together, as a command needs.
    pub fn set_is_of_command(&self, is_of_command: bool) {
        self.0.engine.set_is_of_command(is_of_command);
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        self.0.engine.location()
    }

    /// The write-ahead log, which commits reach before the file itself.
    fn log(&self) -> Option<PathBuf> {
        match self.location() {
            Location::File(path) => Some(sqlite::with_suffix(path, "-wal")),
            Location::Team(_) => None,
        }
    }
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory").finish_non_exhaustive()
    }
}
