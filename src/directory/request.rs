//! What can be asked of a backend. A second database is a second receiver of these requests.

use jiff::Timestamp;

use super::{
    Batch, BatchId, BatchItem, BeginResult, DraftSaved, GroupSnapshot, Groups, HistoryFilter,
    Import, ImportId, Intent, ItemKey, JournalEvent, JournalRow, KeptDraft, NewBatch, Numbered,
    Owner, PlaceId, Record, Recorded, Reply, RotationFilter, RotationId, TakeGroups,
    sqlite::task::{Access, Work},
};
use crate::{
    domain::{
        draft::Draft,
        group::UserGroupId,
        handoff::HandOff,
        history::{Ending, Entry},
        known::{ImportResult, KnownGroup},
        token::Fingerprint,
    },
    formats::GroupRow,
    search::ListView,
};

pub(super) enum Request {
    /// Anything that needs no word of its own here.
    Task(Box<dyn Work + Send>),
    Groups {
        place: PlaceId,
        reply: Reply<Groups>,
    },
    /// The same, some at a time, as long as they are wanted.
    EachGroup {
        place: PlaceId,
        take: TakeGroups,
        reply: Reply<()>,
    },
    Group {
        place: PlaceId,
        id: UserGroupId,
        reply: Reply<Option<KnownGroup>>,
    },
    /// Those of these that are known.
    SomeGroups {
        place: PlaceId,
        ids: Vec<UserGroupId>,
        reply: Reply<Vec<Option<KnownGroup>>>,
    },
    Standing {
        place: PlaceId,
        id: UserGroupId,
        reply: Reply<GroupSnapshot>,
    },
    Record {
        place: PlaceId,
        records: Vec<Record>,
        reply: Reply<Vec<Recorded>>,
    },
    Import {
        place: PlaceId,
        rows: Vec<GroupRow>,
        at: Timestamp,
        by: String,
        reply: Reply<Vec<ImportResult>>,
    },
    OpenImport {
        place: PlaceId,
        digest: [u8; 32],
        reply: Reply<Option<Import>>,
    },
    BeginImport {
        place: PlaceId,
        digest: [u8; 32],
        at: Timestamp,
        by: String,
        reply: Reply<Import>,
    },
    EndRow {
        import: ImportId,
        row: usize,
        outcome: &'static str,
        reply: Reply<()>,
    },
    EndImport {
        import: ImportId,
        at: Timestamp,
        reply: Reply<()>,
    },
    History {
        filter: HistoryFilter,
        reply: Reply<Vec<Numbered<Entry>>>,
    },
    Begin {
        place: PlaceId,
        intent: Intent,
        reply: Reply<BeginResult>,
    },
    EndHandOff {
        id: RotationId,
        handoff: HandOff,
        entry: Entry,
        reply: Reply<bool>,
    },
    BeginBatch {
        place: PlaceId,
        batch: NewBatch,
        reply: Reply<BatchId>,
    },
    Batches {
        place: PlaceId,
        reply: Reply<Vec<Batch>>,
    },
    BatchItems {
        place: PlaceId,
        id: BatchId,
        reply: Reply<Vec<BatchItem>>,
    },
    EndItem {
        item: ItemKey,
        ending: Ending,
        note: String,
        reply: Reply<()>,
    },
    EndBatch {
        id: BatchId,
        at: Timestamp,
        reply: Reply<bool>,
    },
    Drafts {
        place: PlaceId,
        reply: Reply<Vec<KeptDraft>>,
    },
    SaveDraft {
        place: PlaceId,
        draft: Box<Draft>,
        by: String,
        seen: Option<Timestamp>,
        reply: Reply<DraftSaved>,
    },
    ForgetDraft {
        place: PlaceId,
        id: UserGroupId,
        until: Timestamp,
        reply: Reply<()>,
    },
    Rotation {
        id: RotationId,
        reply: Reply<Option<JournalRow>>,
    },
    Rotations {
        filter: RotationFilter,
        reply: Reply<Vec<JournalRow>>,
    },
    Happenings {
        id: RotationId,
        reply: Reply<Vec<JournalEvent>>,
    },
    View {
        profile: String,
        reply: Reply<Option<ListView>>,
    },
    KeepView {
        profile: String,
        view: ListView,
        reply: Reply<()>,
    },
    Owners {
        fingerprint: Fingerprint,
        reply: Reply<Vec<Owner>>,
    },
}

impl Request {
    /// Whether it reads a few rows and writes nothing.
    pub(super) fn is_read(&self) -> bool {
        match self {
            Self::Task(work) => work.access() == Access::Short,
            Self::Group { .. }
            | Self::SomeGroups { .. }
            | Self::Drafts { .. }
            | Self::Standing { .. }
            | Self::Rotation { .. }
            | Self::Happenings { .. }
            | Self::View { .. }
            | Self::Owners { .. } => true,
            Self::Rotations { filter, .. } => filter.user_group_id.is_some(),
            Self::Groups { .. }
            | Self::EachGroup { .. }
            | Self::Record { .. }
            | Self::Import { .. }
            | Self::OpenImport { .. }
            | Self::BeginImport { .. }
            | Self::EndRow { .. }
            | Self::EndImport { .. }
            | Self::History { .. }
            | Self::Begin { .. }
            | Self::EndHandOff { .. }
            | Self::BeginBatch { .. }
            | Self::Batches { .. }
            | Self::BatchItems { .. }
            | Self::EndItem { .. }
            | Self::EndBatch { .. }
            | Self::KeepView { .. }
            | Self::SaveDraft { .. }
            | Self::ForgetDraft { .. } => false,
        }
    }
}
