//! Drafts of a place. A save replaces only the version that this console saved before: what somebody else typed, or the
//! same person on another console, stays beside it. The draft of a group has 0 in `merged`, the others a number of their
//! own: in a file that is the newest, in a team's database, where clocks may differ, each person's first.

use jiff::Timestamp;

use super::fault::Fault;
use crate::{
    db::{Access, Tx, record, row, values},
    directory::{
        Directory, Location, PlaceId, Result,
        columns::{DraftBase, micros, timestamp},
    },
    domain::{
        change::DesiredFields,
        draft::{Draft, DraftFields},
        group::UserGroupId,
        text::is_same_person,
    },
};

/// A draft and its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDraft {
    pub draft: Draft,
    /// The operator, for example `ana@bastion2`.
    pub by: String,
}

/// A draft of the same group that another console has saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherDraft {
    pub by: String,
    pub at: Timestamp,
}

/// The result of saving a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftSaved {
    Kept,
    /// It is kept as the draft of the group; another one, which this console had not seen, is kept beside it.
    Replaced(OtherDraft),
    /// Another console has saved a newer one; this one is kept beside it.
    Overtaken(OtherDraft),
}

impl Directory {
    /// Returns the drafts of a place, most recently changed first. One that cannot be read is left out.
    pub async fn drafts(&self, place: PlaceId) -> Result<Vec<KeptDraft>> {
        self.execute(Access::Short, move |tx| {
            let table = tx.sqlite().map_or("all_drafts", |_| "drafts");
            let text = format!(
                "SELECT * FROM {table} WHERE place = $1 ORDER BY changed_at DESC, user_group_id"
            );
            let drafts: Vec<StoredDraft> = tx.readable(text, values![place])?;
            Ok(drafts.into_iter().map(KeptDraft::from).collect())
        })
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
    ) -> Result<DraftSaved> {
        let by = by.to_owned();
        let several_clocks = matches!(self.location(), Location::Team(_));
        self.write(move |tx| save(tx, place, (&draft, &by), seen, several_clocks))
            .await
    }

    /// Deletes this version of a draft of this person with those it goes on from; other versions and the drafts of
    /// others are kept.
    pub async fn forget_draft(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        (at, by): (Timestamp, &str),
    ) -> Result<()> {
        let (id, by) = (id.clone(), by.to_owned());
        self.write(move |tx| {
            let is_own = |whose: &str| is_same_person(whose, &by);
            let found: Vec<StoredDraft> = tx.readable(DRAFTS_OF_GROUP, values![place, &id])?;
            let found = found.into_iter();
            let version = found.filter(|one| one.changed_at == at && is_own(&one.by));
            let versions = version.flat_map(|one| one.base.continues);
            let versions: Vec<i64> = versions.chain([micros(at)]).collect();
            let stored: Vec<Stored> = tx.all(DRAFTS_OF_GROUP, values![place, &id])?;
            for one in stored {
                if versions.contains(&one.at) && is_own(&one.by) {
                    tx.put(REMOVE_DRAFT, values![place, &id, one.number])?;
                }
            }
            tx.put(NEXT_DRAFT, values![place, &id])?;
            Ok(())
        })
        .await
    }
}

/// A draft as it is stored.
struct StoredDraft {
    user_group_id: UserGroupId,
    creating: bool,
    typed: DraftFields,
    base: DraftBase,
    base_at: Timestamp,
    changed_at: Timestamp,
    by: String,
}
record!(DraftFields, "drafts" { name, mapping, properties, mapping_text, group_text });
record!(StoredDraft, "drafts" { user_group_id, creating, typed, base, base_at, changed_at, by });

impl From<StoredDraft> for KeptDraft {
    fn from(stored: StoredDraft) -> Self {
        let draft = Draft {
            user_group_id: stored.user_group_id,
            creating: stored.creating,
            typed: stored.typed,
            base: DesiredFields {
                name: stored.base.name,
                mapping: stored.base.mapping,
                properties: stored.base.properties,
            },
            loaded_from: stored.base.loaded_from,
            taken_over: stored.base.taken_over,
            base_at: stored.base_at,
            changed_at: stored.changed_at,
            continues: { stored.base.continues.into_iter() }
                .filter_map(timestamp)
                .collect(),
        };
        let by = stored.by;
        Self { draft, by }
    }
}

const DRAFTS_OF_GROUP: &str =
    "SELECT * FROM drafts WHERE place = $1 AND user_group_id = $2 ORDER BY merged";

const MOVE_DRAFT: &str =
    "UPDATE drafts SET merged = $1 WHERE place = $2 AND user_group_id = $3 AND merged = $4";

const REMOVE_DRAFT: &str =
    "DELETE FROM drafts WHERE place = $1 AND user_group_id = $2 AND merged = $3";

/// One stored draft of the group: its number, when it was changed, and by whom.
struct Stored {
    number: i64,
    at: i64,
    by: String,
}

record!(Stored, "drafts" { number = "merged", at = "changed_at", by });

/// Saves a draft. `seen`: when the draft that the caller knows was changed. `several_clocks`: times come from several
/// machines, so that they do not tell which draft is newer.
fn save(
    tx: &Tx<'_>,
    place: PlaceId,
    (draft, by): (&Draft, &str),
    seen: Option<Timestamp>,
    several_clocks: bool,
) -> Result<DraftSaved, Fault> {
    let id = &draft.user_group_id;
    let changed_at = micros(draft.changed_at);
    let stored: Vec<Stored> = tx.lock(DRAFTS_OF_GROUP, values![place, id])?.all()?;
    let seen = seen.map(micros);
    // Also the one of this save, if it is repeated because its commit was unknown.
    let is_of_console = |at| Some(at) == seen || at == changed_at;
    let is_mine = |one: &&Stored| is_of_console(one.at) && is_same_person(&one.by, by);
    let mine = stored.iter().find(is_mine);
    let first = stored.iter().find(|one| one.number == 0);
    let other = first.filter(|one| !is_mine(one));
    let Some((first, at)) = other.and_then(|one| Some((one, timestamp(one.at)?))) else {
        let number = mine.map_or(0, |mine| mine.number);
        put(tx, place, (draft, by), mine.is_none(), number)?;
        return Ok(DraftSaved::Kept);
    };
    let other = OtherDraft {
        by: first.by.clone(),
        at,
    };
    let lowest = stored.iter().map(|one| one.number).min().unwrap_or(0);
    let free = mine.map_or(lowest.min(0) - 1, |mine| mine.number);
    let goes_on = is_same_person(&first.by, by) && draft.continues.contains(&at);
    if !goes_on && (several_clocks || first.at > changed_at) {
        put(tx, place, (draft, by), mine.is_none(), free)?;
        return Ok(DraftSaved::Overtaken(other));
    }
    if mine.is_some() {
        tx.put(REMOVE_DRAFT, values![place, id, free])?;
    }
    tx.put(MOVE_DRAFT, values![free, place, id, 0])?;
    put(tx, place, (draft, by), true, 0)?;
    Ok(if goes_on {
        DraftSaved::Kept
    } else {
        DraftSaved::Replaced(other)
    })
}

fn put(
    tx: &Tx<'_>,
    place: PlaceId,
    (draft, by): (&Draft, &str),
    is_new: bool,
    number: i64,
) -> Result<(), Fault> {
    let typed = &draft.typed;
    let base = DraftBase {
        loaded_from: draft.loaded_from.clone(),
        taken_over: draft.taken_over.clone(),
        continues: draft.continues.iter().copied().map(micros).collect(),
        name: draft.base.name.clone(),
        mapping: draft.base.mapping.clone(),
        properties: draft.base.properties.clone(),
    };
    let row = row! {
        place,
        user_group_id: &draft.user_group_id,
        merged: number,
        creating: draft.creating,
        name: &typed.name,
        mapping: &typed.mapping,
        properties: &typed.properties,
        mapping_text: typed.mapping_text.as_ref(),
        group_text: typed.group_text.as_ref(),
        base,
        base_at: draft.base_at,
        changed_at: draft.changed_at,
        by,
    };
    Ok(tx.keep("drafts", 3, row, is_new)?)
}

/// Another draft, from a console beside or from a place that was merged into this one, now becomes the draft of the
/// group.
const NEXT_DRAFT: &str = "\
UPDATE drafts SET merged = 0 WHERE place = $1 AND user_group_id = $2 AND merged = ( \
 SELECT MIN(other.merged) FROM drafts other WHERE other.place = $1 AND other.user_group_id = $2) \
 AND NOT EXISTS (SELECT 1 FROM drafts first WHERE first.place = $1 AND first.user_group_id = $2 AND first.merged = 0)";
