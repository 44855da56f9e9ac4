//! What a bulk edit would do to each group, and why others are left out. What may be sent is decided by the same rules
//! as for a single update (`domain::update`).

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use jiff::Timestamp;

use super::{
    change::{BulkChange, ItemEdit, OnlyWhere, Target, is_same},
    plan::{Candidate, Rules, Skip, skip_reason},
};
use crate::domain::{
    age::{days, since},
    change::DesiredFields,
    facts::{Facts, Field},
    group::UserGroupId,
    known::{KnownGroup, Source},
    size::{TooLarge, check_size},
    text::visible,
    update::{Baseline, Plan, UnsafeUpdate},
};

/// An unreadable field that was last sent longer ago than this is sent again only if the operator includes it.
pub const STALE_AFTER: Duration = Duration::from_hours(30 * 24);
/// How long a change by somebody else is reported.
const REPORTED_FOR: Duration = Duration::from_hours(24);

/// The wanted value of the row in one group, and whether that group is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedRow {
    pub to: Option<String>,
    pub only_where: OnlyWhere,
    /// Of a batch that is reversed or retried: why the group is left out of that.
    pub left_out: Option<EditSkip>,
}

/// A create or an update of the group that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenChange {
    pub by: String,
    /// Whether it is in progress, so that no other change may begin.
    pub holds: bool,
    /// What it sent, if it is an update of the operator who asks: to repeat that changes nothing twice.
    pub sent: Option<DesiredFields>,
}

impl OpenChange {
    fn skip(&self) -> EditSkip {
        let by = self.by.clone();
        if self.holds {
            EditSkip::Held { by }
        } else {
            EditSkip::Open { by }
        }
    }
}

/// An unsent draft of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsentDraft {
    pub by: String,
    pub is_own: bool,
    pub at: Timestamp,
}

impl UnsentDraft {
    fn whose(&self) -> Cow<'static, str> {
        if self.is_own {
            "yours".into()
        } else {
            format!("by {}", visible(&self.by)).into()
        }
    }
}

/// What is known of a requested group.
#[derive(Debug, Clone)]
pub struct EditCandidate<'a> {
    pub group: Candidate<'a>,
    pub wanted: WantedRow,
    pub open: Vec<OpenChange>,
    pub draft: Option<UnsentDraft>,
}

/// The rules that groups are checked by.
#[derive(Debug, Clone)]
pub struct EditRules {
    /// Its `include_recent` has no effect here.
    pub group: Rules,
    pub facts: Facts,
    pub read_only: bool,
    /// Also includes groups whose unreadable field was last sent longer ago than [`STALE_AFTER`].
    pub include_old: bool,
    /// For a batch that is resumed or retried, when its groups were reviewed: what was old by then was included then.
    pub reviewed_at: Option<Timestamp>,
    /// The operator who asks.
    pub operator: String,
}

/// Why a group is left out of a bulk edit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditSkip {
    #[error("{0}")]
    Group(Skip),
    #[error("the profile is read-only")]
    ReadOnly,
    /// Another change holds it.
    #[error("a change by {} is in progress", visible(by))]
    Held { by: String },
    /// An earlier change may have taken effect.
    #[error("result of a change by {} is unknown", visible(by))]
    Open { by: String },
    #[error("it has a draft ({}, {})", .0.whose(), days(*.1))]
    Draft(UnsentDraft, Duration),
    /// The field would be sent, but is unknown.
    #[error("{} unknown", .0.as_str())]
    Unknown(Field),
    /// As it was not read yet.
    #[error("{} unknown; read it first", .0.as_str())]
    Unread(Field),
    /// How it ended in the batch that is reversed or retried.
    #[error("{0}")]
    InBatch(String),
    /// There is nothing to reverse.
    #[error("batch {0} did not change it")]
    NotChangedBy(i64),
    #[error("{} known from a file only", .0.as_str())]
    Imported(Field),
    /// Later changes may be missing in the directory.
    #[error("{} known only from before the directory was restored", .0.as_str())]
    Restored(Field),
    /// The row does not have the selected value.
    #[error("another value")]
    Other,
    /// The field cannot be read, and was last sent this long ago.
    #[error("{} last sent {} ago by {}", field.as_str(), days(*age), visible(by))]
    Old {
        field: Field,
        age: Duration,
        by: String,
    },
    #[error("{}: {}", .0.field(), .0)]
    TooLarge(TooLarge),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Change,
    /// Nothing is sent.
    Same,
    Skipped(EditSkip),
}

/// A field that is sent whole as it was last sent from here, and that nobody can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedField {
    pub field: Field,
    pub at: Timestamp,
    pub by: String,
}

/// Somebody else changed the group a short while ago.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recent {
    pub by: String,
    pub at: Timestamp,
    pub fields: Vec<Field>,
}

/// What would happen to one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRow {
    pub id: UserGroupId,
    pub name: Option<String>,
    /// Whether its mapping or properties are known; if not, `before` has no meaning.
    pub is_known: bool,
    pub before: Option<String>,
    pub after: Option<String>,
    pub verdict: Verdict,
    /// What was compared, and is stored in the item.
    pub edit: ItemEdit,
    pub unverified: Option<UnverifiedField>,
    pub recent: Option<Recent>,
}

/// What a bulk edit would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditPlan {
    pub change: BulkChange,
    /// First the groups that change, then the skipped ones, then those that have the wanted value; each in the order
    /// requested.
    pub rows: Vec<EditRow>,
}

impl EditPlan {
    /// Decides about every candidate; the first reason counts. An id requested twice is planned once.
    pub fn of<'a>(
        change: BulkChange,
        candidates: impl IntoIterator<Item = EditCandidate<'a>>,
        rules: &EditRules,
    ) -> Self {
        let mut seen = HashSet::new();
        let mut ready = 0;
        let mut rows: Vec<_> = candidates
            .into_iter()
            .filter(|candidate| seen.insert(candidate.group.id.clone()))
            .map(|candidate| {
                let mut row = decide(&change, &candidate, rules);
                if row.verdict == Verdict::Change {
                    match rules.group.limit_reached(ready) {
                        Some(skip) => row.verdict = Verdict::Skipped(EditSkip::Group(skip)),
                        None => ready += 1,
                    }
                }
                row
            })
            .collect();
        rows.sort_by_key(|row| match row.verdict {
            Verdict::Change => 0,
            Verdict::Skipped(_) => 1,
            Verdict::Same => 2,
        });
        Self { change, rows }
    }

    /// Whether it removes a row that none of its groups has: no group is then as wanted, the key is another one.
    pub fn lacks_row(&self) -> bool {
        let is_same = |row: &EditRow| row.verdict == Verdict::Same;
        self.change.to == Target::Value(None) && !self.has_row() && self.rows.iter().any(is_same)
    }

    /// The keys that its groups have in the field of the row.
    pub fn keys(&self) -> BTreeSet<&String> {
        let bases = self.rows.iter().map(|row| &row.edit.base);
        if self.change.field() == Field::Mapping {
            bases
                .flat_map(|base| base.mapping.iter().flat_map(|rows| rows.keys()))
                .collect()
        } else {
            bases
                .flat_map(|base| base.properties.iter().flat_map(|all| all.keys()))
                .collect()
        }
    }

    /// Whether the row is there in any of its groups.
    pub fn has_row(&self) -> bool {
        self.rows.iter().any(|row| row.before.is_some())
    }

    pub fn changing(&self) -> impl Iterator<Item = &EditRow> {
        let rows = self.rows.iter();
        rows.filter(|row| row.verdict == Verdict::Change)
    }

    /// Numbers of groups that change, that have the wanted value already, and that are skipped.
    pub fn counts(&self) -> (usize, usize, usize) {
        let mut counts = (0, 0, 0);
        for row in &self.rows {
            match row.verdict {
                Verdict::Change => counts.0 += 1,
                Verdict::Same => counts.1 += 1,
                Verdict::Skipped(_) => counts.2 += 1,
            }
        }
        counts
    }

    /// Number of groups skipped only for the age of their field.
    pub fn old(&self) -> usize {
        let is_old = |row: &&EditRow| matches!(row.verdict, Verdict::Skipped(EditSkip::Old { .. }));
        self.rows.iter().filter(is_old).count()
    }

    /// The groups skipped only because they were not read.
    pub fn unread(&self) -> impl Iterator<Item = &UserGroupId> {
        let is_unread =
            |row: &&EditRow| matches!(row.verdict, Verdict::Skipped(EditSkip::Unread(_)));
        self.rows.iter().filter(is_unread).map(|row| &row.id)
    }

    /// Number of groups sent with a field that nobody can read, and the one whose field was sent longest ago.
    pub fn unverified(&self) -> Option<(usize, &UnverifiedField)> {
        let unverified: Vec<_> = self
            .changing()
            .filter_map(|row| row.unverified.as_ref())
            .collect();
        let oldest = unverified.iter().min_by_key(|unverified| unverified.at)?;
        Some((unverified.len(), oldest))
    }
}

fn decide(change: &BulkChange, candidate: &EditCandidate<'_>, rules: &EditRules) -> EditRow {
    let group = candidate.group.group;
    let mut row = EditRow {
        id: candidate.group.id.clone(),
        name: group.and_then(|group| Some(group.name.as_ref()?.value.clone())),
        is_known: false,
        before: None,
        after: None,
        verdict: Verdict::Same,
        edit: ItemEdit {
            base: group.map(DesiredFields::of).unwrap_or_default(),
            to: candidate.wanted.to.clone(),
        },
        unverified: None,
        recent: group.and_then(|group| recent(group, rules)),
    };
    row.is_known = change.row.is_known_in(&row.edit.base);
    row.before = row.edit.before(&change.row);
    row.verdict = match check(change, candidate, rules, &mut row) {
        Ok(true) => Verdict::Change,
        Ok(false) => Verdict::Same,
        Err(skip) => Verdict::Skipped(skip),
    };
    if !matches!(row.verdict, Verdict::Skipped(_)) {
        row.after.clone_from(&row.edit.to);
    }
    row
}

/// Whether something is to be sent; otherwise why it may not be.
fn check(
    change: &BulkChange,
    candidate: &EditCandidate<'_>,
    rules: &EditRules,
    row: &mut EditRow,
) -> Result<bool, EditSkip> {
    if rules.read_only {
        return Err(EditSkip::ReadOnly);
    }
    let of_group = Rules {
        include_recent: true,
        ..rules.group.clone()
    };
    if let Some(skip) = skip_reason(&candidate.group, &of_group) {
        return Err(EditSkip::Group(skip));
    }
    let Some(group) = candidate.group.group else {
        return Err(EditSkip::Group(Skip::NotKnown));
    };
    let left_out = &candidate.wanted.left_out;
    if let Some(skip @ EditSkip::InBatch(_)) = left_out {
        return Err(skip.clone());
    }
    known(group, change.field(), &rules.facts)?;
    let open = &candidate.open;
    if let Some(open) = open.iter().find(|open| open.sent.is_none()) {
        return Err(open.skip());
    }
    let (before, to) = (row.before.as_deref(), row.edit.to.as_deref());
    if is_same(&change.row, before, to) {
        return open.first().map_or(Ok(false), |open| Err(open.skip()));
    }
    if let Some(skip) = left_out {
        return Err(skip.clone());
    }
    if let OnlyWhere::Is(value) = &candidate.wanted.only_where
        && !is_same(&change.row, before, value.as_deref())
    {
        return Err(EditSkip::Other);
    }
    if let Some(draft) = &candidate.draft {
        let age = since(draft.at, rules.group.now);
        return Err(EditSkip::Draft(draft.clone(), age));
    }
    let mut edit = row.edit.update(&change.row);
    check_size(&edit.wanted).map_err(EditSkip::TooLarge)?;
    // The review shows what is replaced or carried along, so that needs no further consent; the other objections are
    // reasons to skip.
    edit.replace.clear();
    edit.sends_unchanged = false;
    let read = rules.facts.readable();
    let ground = Baseline {
        group,
        read: &read,
        uncertain: &[],
        facts: &rules.facts,
    };
    let plan = Plan::of(&edit, &ground);
    for objection in &plan.objections {
        match objection {
            UnsafeUpdate::PartialChange { at: Some(_), .. }
            | UnsafeUpdate::NotStated { at: Some(_), .. } => {}
            UnsafeUpdate::Restored { field, .. } => return Err(EditSkip::Restored(*field)),
            other => {
                known(group, other.field(), &rules.facts)?;
                return Err(EditSkip::Unknown(other.field()));
            }
        }
    }
    if let Some(other) = open
        .iter()
        .find(|open| open.sent.as_ref() != Some(&plan.send))
    {
        return Err(other.skip());
    }
    row.unverified = unverified(group, &plan.send, &read, &rules.facts);
    if let Some(unverified) = row.unverified.as_ref().filter(|_| !rules.include_old) {
        let age = since(unverified.at, rules.group.now);
        let reviewed = rules.reviewed_at;
        let was_old = reviewed.is_some_and(|then| since(unverified.at, then) > STALE_AFTER);
        if age > STALE_AFTER && !was_old {
            return Err(EditSkip::Old {
                field: unverified.field,
                age,
                by: unverified.by.clone(),
            });
        }
    }
    Ok(true)
}

fn known(group: &KnownGroup, field: Field, facts: &Facts) -> Result<(), EditSkip> {
    match group.origin(field) {
        None if facts.readable().contains(&field) => Err(EditSkip::Unread(field)),
        None => Err(EditSkip::Unknown(field)),
        Some((Source::Imported, ..)) => Err(EditSkip::Imported(field)),
        Some(_) => Ok(()),
    }
}

/// Of the fields that are sent and that others may have changed unseen, the one sent longest ago.
fn unverified(
    group: &KnownGroup,
    send: &DesiredFields,
    read: &[Field],
    facts: &Facts,
) -> Option<UnverifiedField> {
    if facts.sole_writer.value {
        return None;
    }
    Field::ALL
        .into_iter()
        .filter(|field| *field != Field::Name && send.has(*field) && !read.contains(field))
        .filter_map(|field| {
            let (_, at, by) = group.origin(field)?;
            let by = by.to_owned();
            Some(UnverifiedField { field, at, by })
        })
        .min_by_key(|unverified| unverified.at)
}

fn recent(group: &KnownGroup, rules: &EditRules) -> Option<Recent> {
    let mut found: Option<Recent> = None;
    for field in Field::ALL {
        let Some((Source::Sent, at, by)) = group.origin(field) else {
            continue;
        };
        if by == rules.operator || since(at, rules.group.now) > REPORTED_FOR {
            continue;
        }
        match &mut found {
            Some(recent) if recent.at > at => {}
            Some(recent) if recent.at == at => recent.fields.push(field),
            _ => {
                found = Some(Recent {
                    by: by.to_owned(),
                    at,
                    fields: vec![field],
                });
            }
        }
    }
    found
}

impl WantedRow {
    /// What a change wants in every group; a reverse of an earlier batch has a different value for each group.
    pub fn of(change: &BulkChange) -> Self {
        Self {
            to: match &change.to {
                Target::Value(value) => value.clone(),
                Target::AsBefore(_) => None,
            },
            only_where: change.only_where.clone(),
            left_out: None,
        }
    }
}

#[cfg(test)]
mod tests;
