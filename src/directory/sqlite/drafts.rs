//! Drafts of a place. A save replaces only the version that this console saved before: what somebody else typed, or the
//! same person on another console, stays beside it. The draft of a group has 0 in `merged`, the others a number of their
//! own: in a file that is the newest, in a team's database, where clocks may differ, each person's first.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::{
    database::{Access, Request, Results, Row, Statements, values},
    directory::{Directory, DirectoryError, Location, PlaceId, columns},
    domain::{
        change::DesiredFields,
        draft::{Draft, DraftFields, DraftRow},
        group::{Mapping, Properties, UserGroupId},
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

macro_rules! drafts_of {
    ($table:literal) => {
        concat!(
            "SELECT user_group_id, creating, name, mapping, properties, mapping_text, group_text, base, base_at, changed_at, by \
             FROM ",
            $table,
            " WHERE place = $1 ORDER BY changed_at DESC, user_group_id"
        )
    };
}

impl Directory {
    /// Returns the drafts of a place, most recently changed first. One that cannot be read is left out.
    pub async fn drafts(&self, place: PlaceId) -> Result<Vec<KeptDraft>, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            let text = match tx.sqlite() {
                Some(_) => drafts_of!("drafts"),
                None => drafts_of!("all_drafts"),
            };
            let drafts = tx.all(text, values![place.0], read)?;
            Ok(drafts.into_iter().flatten().collect())
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
    ) -> Result<DraftSaved, DirectoryError> {
        let by = by.to_owned();
        self.request(SaveDraft {
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
        self.write(move |tx| {
            let version = (at, &by);
            let (at, by) = (columns::micros(version.0), version.1);
            let stored = tx.all(DRAFTS_OF_GROUP, values![place.0, id.as_str()], Stored::of)?;
            let mut stored = stored.iter();
            if let Some(mine) = stored.find(|one| one.at == at && is_same_person(&one.by, by)) {
                tx.write(REMOVE_DRAFT, values![place.0, id.as_str(), mine.number])?;
                tx.write(NEXT_DRAFT, values![place.0, id.as_str()])?;
            }
            Ok(())
        })
        .await
    }
}

const TABLE: &str = "drafts";

#[derive(Serialize, Deserialize)]
struct Base {
    /// Whose draft was loaded into the form; stored here because the base is a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loaded_from: Option<String>,
    name: Option<String>,
    mapping: Option<Mapping>,
    properties: Option<Properties>,
}

/// Key, value, both values when the edit began, and whether the row was dropped.
#[derive(Serialize, Deserialize)]
struct KeptRow(String, String, Option<(String, String)>, bool);

fn read(row: &Row<'_>) -> Result<Option<KeptDraft>, Fault> {
    let (mapping, base): (String, String) = (row.get(3)?, row.get(7)?);
    let draft = (|| {
        let rows: Vec<KeptRow> = serde_json::from_str(&mapping).ok()?;
        let base: Base = serde_json::from_str(&base).ok()?;
        Some(Draft {
            user_group_id: UserGroupId::parse(row.text(0).ok()?).ok()?,
            creating: row.get(1).ok()?,
            typed: DraftFields {
                name: row.get(2).ok()?,
                mapping: rows.into_iter().map(typed).collect(),
                properties: row.get(4).ok()?,
                mapping_text: row.get(5).ok()?,
                group_text: row.get(6).ok()?,
            },
            base: DesiredFields {
                name: base.name,
                mapping: base.mapping,
                properties: base.properties,
            },
            loaded_from: base.loaded_from,
            base_at: columns::timestamp(row.get(8).ok()?)?,
            changed_at: columns::timestamp(row.get(9).ok()?)?,
        })
    })();
    let by = row.get(10)?;
    Ok(draft.map(|draft| KeptDraft { draft, by }))
}

fn typed(KeptRow(key, value, before, is_dropped): KeptRow) -> DraftRow {
    DraftRow {
        key,
        value,
        before,
        is_dropped,
    }
}

const DRAFTS_OF_GROUP: &str = "\
SELECT merged, changed_at, by FROM drafts WHERE place = $1 AND user_group_id = $2 ORDER BY merged";

/// On a server with several writers this fails if another one was faster; then the request starts again.
const ADD_DRAFT: &str = "\
INSERT INTO drafts (creating, name, mapping, properties, mapping_text, group_text, base, base_at, changed_at, by, \
 place, user_group_id, merged) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

/// The row was read in the same transaction.
const REPLACE_DRAFT: &str = "\
UPDATE drafts SET creating = $1, name = $2, mapping = $3, properties = $4, mapping_text = $5, group_text = $6, \
 base = $7, base_at = $8, changed_at = $9, by = $10 WHERE place = $11 AND user_group_id = $12 AND merged = $13";

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

impl Stored {
    fn of(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            number: row.get(0)?,
            at: row.get(1)?,
            by: row.get(2)?,
        })
    }
}

pub(crate) struct SaveDraft {
    pub(crate) place: PlaceId,
    pub(crate) draft: Draft,
    pub(crate) by: String,
    /// When the draft that the caller knows was changed.
    pub(crate) seen: Option<Timestamp>,
    /// Whether times come from several machines, so that they do not tell which draft is newer.
    pub(crate) several_clocks: bool,
}

impl Request for SaveDraft {
    type Answer = DraftSaved;
    type Error = Fault;

    fn read(&self) -> Statements {
        let id = self.draft.user_group_id.as_str();
        let mut reads = Statements::default();
        reads.lock(DRAFTS_OF_GROUP, values![self.place.0, id]);
        reads
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, DraftSaved), Fault> {
        let changed_at = columns::micros(self.draft.changed_at);
        let stored = found.next().all(Stored::of)?;
        let seen = self.seen.map(columns::micros);
        // Also the one of this save, if it is repeated because its commit was unknown.
        let is_of_console = |at| Some(at) == seen || at == changed_at;
        let is_mine = |one: &&Stored| is_of_console(one.at) && is_same_person(&one.by, &self.by);
        let mine = stored.iter().find(is_mine);
        let first = stored.iter().find(|one| one.number == 0);
        let other = first.filter(|one| !is_mine(one));
        let Some((first, at)) = other.and_then(|one| Some((one, columns::timestamp(one.at)?)))
        else {
            let number = mine.map_or(0, |mine| mine.number);
            return Ok((self.write(mine.is_none(), number)?, DraftSaved::Kept));
        };
        let other = OtherDraft {
            by: first.by.clone(),
            at,
        };
        let lowest = stored.iter().map(|one| one.number).min().unwrap_or(0);
        let free = mine.map_or(lowest.min(0) - 1, |mine| mine.number);
        if self.several_clocks || first.at > changed_at {
            let beside = self.write(mine.is_none(), free)?;
            return Ok((beside, DraftSaved::Overtaken(other)));
        }
        let (place, id) = (self.place.0, self.draft.user_group_id.as_str());
        let mut writes = Statements::default();
        if mine.is_some() {
            writes.add(REMOVE_DRAFT, values![place, id, free]);
        }
        writes.add(MOVE_DRAFT, values![free, place, id, 0]);
        self.add(&mut writes, true, 0)?;
        Ok((writes, DraftSaved::Replaced(other)))
    }
}

impl SaveDraft {
    fn write(&self, is_new: bool, number: i64) -> Result<Statements, Fault> {
        let mut writes = Statements::default();
        self.add(&mut writes, is_new, number)?;
        Ok(writes)
    }

    fn add(&self, writes: &mut Statements, is_new: bool, number: i64) -> Result<(), Fault> {
        let draft = &self.draft;
        let unwritable = |_| Fault::Row(TABLE);
        let rows = draft.typed.mapping.iter().map(|row| {
            KeptRow(
                row.key.clone(),
                row.value.clone(),
                row.before.clone(),
                row.is_dropped,
            )
        });
        let mapping = serde_json::to_string(&rows.collect::<Vec<_>>()).map_err(unwritable)?;
        let base = Base {
            loaded_from: draft.loaded_from.clone(),
            name: draft.base.name.clone(),
            mapping: draft.base.mapping.clone(),
            properties: draft.base.properties.clone(),
        };
        let base = serde_json::to_string(&base).map_err(unwritable)?;
        let values = values![
            draft.creating,
            &draft.typed.name,
            mapping,
            &draft.typed.properties,
            draft.typed.mapping_text.as_ref(),
            draft.typed.group_text.as_ref(),
            base,
            columns::micros(draft.base_at),
            columns::micros(draft.changed_at),
            &self.by,
            self.place.0,
            draft.user_group_id.as_str(),
            number,
        ];
        writes.add(if is_new { ADD_DRAFT } else { REPLACE_DRAFT }, values);
        Ok(())
    }
}

/// Another draft, from a console beside or from a place that was merged into this one, now becomes the draft of the
/// group.
const NEXT_DRAFT: &str = "\
UPDATE drafts SET merged = 0 WHERE place = $1 AND user_group_id = $2 AND merged = ( \
 SELECT MIN(other.merged) FROM drafts other WHERE other.place = $1 AND other.user_group_id = $2) \
 AND NOT EXISTS (SELECT 1 FROM drafts first WHERE first.place = $1 AND first.user_group_id = $2 AND first.merged = 0)";
