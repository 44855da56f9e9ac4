//! Drafts of a place. In a file, the newer one of a group wins, whoever typed it. In a team's database each person has
//! their own; of two drafts of one person on two consoles, the one that knew the other wins, because the clocks may
//! differ.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::{
    database::{Request, Results, Row, Statements, Tx, values},
    directory::{DraftSaved, KeptDraft, OtherDraft, PlaceId, columns},
    domain::{
        change::DesiredFields,
        draft::{Draft, DraftFields, DraftRow},
        group::{Mapping, Properties, UserGroupId},
    },
};

const TABLE: &str = "drafts";

#[derive(Serialize, Deserialize)]
struct Base {
    name: Option<String>,
    mapping: Option<Mapping>,
    properties: Option<Properties>,
}

/// Key, value, both values when the edit began, and whether the row was dropped.
#[derive(Serialize, Deserialize)]
struct KeptRow(String, String, Option<(String, String)>, bool);

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

/// A draft that cannot be read does not hide others.
pub(crate) fn list(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<KeptDraft>, Fault> {
    let text = match tx.sqlite() {
        Some(_) => drafts_of!("drafts"),
        None => drafts_of!("shown_drafts"),
    };
    let drafts = tx.all(text, values![place.0], read)?;
    Ok(drafts.into_iter().flatten().collect())
}

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

const DRAFT_BY: &str =
    "SELECT changed_at, by FROM drafts WHERE place = $1 AND user_group_id = $2 AND merged = 0";

/// On a server with several writers this fails if another one was faster; then the request starts again.
const ADD_DRAFT: &str = "\
INSERT INTO drafts (creating, name, mapping, properties, mapping_text, group_text, base, base_at, changed_at, by, \
 place, user_group_id) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

/// The row was read in the same transaction.
const REPLACE_DRAFT: &str = "\
UPDATE drafts SET creating = $1, name = $2, mapping = $3, properties = $4, mapping_text = $5, group_text = $6, \
 base = $7, base_at = $8, changed_at = $9, by = $10 WHERE place = $11 AND user_group_id = $12 AND merged = 0";

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
        reads.lock(DRAFT_BY, values![self.place.0, id]);
        reads
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, DraftSaved), Fault> {
        let changed_at = columns::micros(self.draft.changed_at);
        let found: Option<(i64, String)> = found
            .next()
            .first(|row| Ok::<_, Fault>((row.get(0)?, row.get(1)?)))?;
        let is_new = found.is_none();
        let other = found.filter(|(at, _)| Some(*at) != self.seen.map(columns::micros));
        let is_newer = |(at, _): &(i64, String)| self.several_clocks || *at > changed_at;
        let overtaken = other.as_ref().is_some_and(is_newer);
        let other = other.and_then(|(at, by)| {
            let at = columns::timestamp(at)?;
            Some(OtherDraft { by, at })
        });
        match (overtaken, other) {
            (true, Some(other)) => Ok((Statements::default(), DraftSaved::Overtaken(other))),
            (_, other) => Ok((
                self.write(is_new)?,
                other.map_or(DraftSaved::Kept, DraftSaved::Replaced),
            )),
        }
    }
}

impl SaveDraft {
    fn write(&self, is_new: bool) -> Result<Statements, Fault> {
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
        ];
        let text = if is_new { ADD_DRAFT } else { REPLACE_DRAFT };
        Ok(Statements::default().with(text, values))
    }
}

/// A newer draft of another console is kept.
const FORGET_DRAFT: &str = "DELETE FROM drafts WHERE place = $1 AND user_group_id = $2 AND merged = 0 AND changed_at <= $3";

/// A draft from a place that was merged into this one now becomes the draft of the group.
const NEXT_DRAFT: &str = "\
UPDATE drafts SET merged = 0 WHERE place = $1 AND user_group_id = $2 AND merged = ( \
 SELECT MIN(other.merged) FROM drafts other WHERE other.place = $1 AND other.user_group_id = $2)";

pub(crate) fn forget(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
    until: Timestamp,
) -> Result<(), Fault> {
    let values = values![place.0, id.as_str(), columns::micros(until)];
    if tx.write(FORGET_DRAFT, values)? > 0 {
        tx.write(NEXT_DRAFT, values![place.0, id.as_str()])?;
    }
    Ok(())
}
