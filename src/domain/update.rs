//! What an update may send (hazard 4 of docs/design/service.md): only what the operator changed where that is safe,
//! otherwise also the other fields as known, otherwise nothing. Pure: decided by what was read under the claim and by
//! the facts of the place.

use jiff::Timestamp;

use super::{
    change::DesiredFields,
    facts::{Facts, Field, OmittedField},
    known::{KnownGroup, Source},
    merge::{Part, parts},
};

/// What was reviewed, what is wanted instead, and the operator's further consent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// The state that the review began with.
    pub base: DesiredFields,
    pub wanted: DesiredFields,
    /// Fields that are given whole: by a file, or as complete JSON.
    pub whole: Vec<Field>,
    /// Fields for which the operator has agreed that the last known value, with the change in it, replaces the stored
    /// one.
    pub replace: Vec<Field>,
    /// The operator saw which values are sent unchanged as last known, and how old they are.
    pub sends_unchanged: bool,
    /// One of many, agreed to together: `replace` does not cover what an earlier change of this group made uncertain.
    pub of_many: bool,
}

impl Edit {
    /// An edit in which every field that differs is given whole.
    pub fn whole(base: &DesiredFields, wanted: &DesiredFields) -> Self {
        Self {
            base: base.clone(),
            wanted: wanted.clone(),
            whole: Field::ALL.to_vec(),
            ..Self::default()
        }
    }

    /// What the operator wants to be different.
    pub fn touched(&self) -> Vec<Part> {
        let mut all = parts(&[&self.wanted, &self.base]);
        all.retain(|part| self.wanted.has(part.field) && !part.is_same(&self.base, &self.wanted));
        all
    }

    /// The fields that differ, or that are given although nothing was known of them.
    pub fn fields(&self) -> Vec<Field> {
        let touched = self.touched();
        let is_touched = |field: &Field| {
            let given_anew = self.wanted.has(*field) && !self.base.has(*field);
            given_anew || touched.iter().any(|part| part.field == *field)
        };
        Field::ALL.into_iter().filter(is_touched).collect()
    }

    /// Whether the operator saw the values of this very group that are sent as last known.
    fn saw_all(&self) -> bool {
        self.sends_unchanged && !self.of_many
    }

    fn is_given_whole(&self, field: Field) -> bool {
        field == Field::Name || self.whole.contains(&field)
    }
}

/// What is known of the group when the update is sent.
#[derive(Debug, Clone, Copy)]
pub struct Baseline<'a> {
    pub group: &'a KnownGroup,
    /// The fields that were read or written under the current claim.
    pub read: &'a [Field],
    /// Fields that an earlier change with an unknown outcome may have changed.
    pub uncertain: &'a [Field],
    pub facts: &'a Facts,
}

impl Baseline<'_> {
    /// Source and time of the last value, if it came from the service and not only from a file.
    pub fn origin(&self, field: Field) -> Option<(Source, Timestamp)> {
        let (source, at, _) = self.group.origin(field)?;
        (source != Source::Imported).then_some((source, at))
    }

    /// Whether the last value dates from before the directory was restored: a later one may be missing. The mark of the restore
    /// is not before any value that was there then, so no clock of a sender makes an old value count as new.
    fn may_lack_changes(&self, field: Field) -> Option<Timestamp> {
        let restored_at = self.facts.restored_at()?;
        let (_, at) = self.origin(field)?;
        (at <= restored_at && !self.read.contains(&field)).then_some(at)
    }

    /// Whether single changes may be applied to the known value without asking anybody.
    fn may_merge_into(&self, field: Field) -> bool {
        if self.read.contains(&field) {
            return true;
        }
        self.facts.sole_writer.value
            && !self.uncertain.contains(&field)
            && self.origin(field).is_some()
    }
}

/// A field that is sent although nobody changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnchangedField {
    pub field: Field,
    pub source: Source,
    /// When the value was current.
    pub at: Timestamp,
    /// Whether it was read under the claim.
    pub is_read: bool,
}

/// Why an update may not be sent as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsafeUpdate {
    /// Single changes of a field that nobody can read and that others may write; the known value dates from `at`.
    PartialChange {
        field: Field,
        at: Option<Timestamp>,
        /// An earlier change with an unknown outcome may have changed it.
        uncertain: bool,
    },
    /// The field is unchanged and would be sent as last known, and nobody has stated what leaving it out does.
    NotStated { field: Field, at: Option<Timestamp> },
    /// If it is left out it is cleared, and no value is known that could be sent.
    WouldClear { field: Field },
    /// The field is unchanged, but an earlier change with an unknown outcome may have changed it: sending the value
    /// known before could revert that.
    Uncertain { field: Field },
    /// The value, of `at`, would be sent, with a change or without, and the directory was restored from an older copy since.
    Restored { field: Field, at: Timestamp },
}

impl UnsafeUpdate {
    pub fn field(&self) -> Field {
        match self {
            Self::PartialChange { field, .. }
            | Self::NotStated { field, .. }
            | Self::WouldClear { field }
            | Self::Uncertain { field }
            | Self::Restored { field, .. } => *field,
        }
    }
}

/// A part whose value somebody else changed since the review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcurrentChange {
    pub part: Part,
    pub reviewed: Option<String>,
    pub now: Option<String>,
}

/// What would be sent, and the objections to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub send: DesiredFields,
    /// Fields that are replaced as a whole.
    pub replaced: Vec<Field>,
    pub unchanged: Vec<UnchangedField>,
    pub objections: Vec<UnsafeUpdate>,
    /// Whether values are replaced or sent that are not known well enough, also where the operator agreed to it.
    pub is_blind: bool,
    /// What the operator changes and somebody else has changed since.
    pub concurrent_changes: Vec<ConcurrentChange>,
}

impl Plan {
    /// What of an edit may be sent, given what is known.
    pub fn of(edit: &Edit, baseline: &Baseline<'_>) -> Self {
        let now = DesiredFields::of(baseline.group);
        let mut plan = Self {
            concurrent_changes: concurrent_changes(edit, &now),
            ..Self::default()
        };
        let changed = edit.fields();
        for field in Field::ALL {
            if changed.contains(&field) {
                plan.change(field, edit, &now, baseline);
            } else {
                plan.keep(field, edit, &now, baseline);
            }
        }
        plan
    }

    fn change(&mut self, field: Field, edit: &Edit, now: &DesiredFields, baseline: &Baseline<'_>) {
        let is_known = field == Field::Name || baseline.may_merge_into(field);
        self.is_blind |= !is_known;
        if edit.is_given_whole(field) {
            self.send.copy(field, &edit.wanted);
            if field != Field::Name {
                self.replaced.push(field);
            }
            return;
        }
        // What was recorded since the review is not taken back.
        let is_based_on_now = is_known || now.has(field);
        let base = if is_based_on_now { now } else { &edit.wanted };
        self.send.copy(field, base);
        let touched = edit.touched();
        for part in touched.iter().filter(|part| part.field == field) {
            part.carry(&edit.wanted, &mut self.send);
        }
        if is_known {
            return;
        }
        self.replaced.push(field);
        let uncertain = baseline.uncertain.contains(&field);
        if let Some(at) = baseline.may_lack_changes(field) {
            // An option that is always passed does not know of it; whoever saw the values does.
            if !edit.saw_all() {
                self.objections.push(UnsafeUpdate::Restored { field, at });
            }
            if !uncertain {
                return;
            }
        }
        let is_agreed = edit.replace.contains(&field) && !(edit.of_many && uncertain);
        if !is_agreed {
            self.objections.push(UnsafeUpdate::PartialChange {
                field,
                at: baseline.origin(field).map(|(_, at)| at),
                uncertain,
            });
        }
    }

    fn keep(&mut self, field: Field, edit: &Edit, now: &DesiredFields, baseline: &Baseline<'_>) {
        let absent = baseline.facts.absent(field);
        if absent.value == OmittedField::Keep {
            return;
        }
        let is_read = baseline.read.contains(&field);
        let origin = baseline.origin(field);
        let may_send_unchanged = is_read || absent.is_answered() || edit.sends_unchanged;
        self.is_blind |= !is_read && (!absent.is_answered() || baseline.uncertain.contains(&field));
        match origin {
            _ if !is_read && baseline.uncertain.contains(&field) => {
                self.objections.push(UnsafeUpdate::Uncertain { field });
            }
            Some((source, at)) => {
                self.send.copy(field, now);
                self.unchanged.push(UnchangedField {
                    field,
                    source,
                    at,
                    is_read,
                });
                if baseline.may_lack_changes(field).is_some() {
                    self.is_blind = true;
                    if !edit.saw_all() {
                        self.objections.push(UnsafeUpdate::Restored { field, at });
                    }
                } else if !may_send_unchanged {
                    let at = Some(at);
                    self.objections.push(UnsafeUpdate::NotStated { field, at });
                }
            }
            None if absent.value == OmittedField::Clear => {
                self.objections.push(UnsafeUpdate::WouldClear { field });
            }
            None if !may_send_unchanged => {
                let at = None;
                self.objections.push(UnsafeUpdate::NotStated { field, at });
            }
            None => {}
        }
    }

    /// The objections that a person can decide about who sees the values and their age; none if there are others as well.
    pub fn in_doubt(&self) -> Vec<UnsafeUpdate> {
        let can_decide = |objection: &UnsafeUpdate| {
            matches!(
                objection,
                UnsafeUpdate::PartialChange { .. }
                    | UnsafeUpdate::NotStated { .. }
                    | UnsafeUpdate::Restored { .. }
            )
        };
        if self.concurrent_changes.is_empty() && self.objections.iter().all(can_decide) {
            self.objections.clone()
        } else {
            Vec::new()
        }
    }

    /// Whether values that were not changed, or were changed in part, are sent as they were known before.
    pub fn sends_as_known(objections: &[UnsafeUpdate]) -> bool {
        objections.iter().any(|objection| {
            matches!(
                objection,
                UnsafeUpdate::NotStated { .. } | UnsafeUpdate::Restored { .. }
            )
        })
    }

    /// Whether anything may differ afterwards: a field that is replaced whole and was not read may have any value now.
    pub fn changes(&self, now: &DesiredFields, read: &[Field]) -> bool {
        if self.replaced.iter().any(|field| !read.contains(field)) {
            return true;
        }
        let sent = Edit {
            base: now.clone(),
            wanted: self.send.clone(),
            ..Edit::default()
        };
        !sent.fields().is_empty()
    }
}

fn concurrent_changes(edit: &Edit, now: &DesiredFields) -> Vec<ConcurrentChange> {
    let whole = edit.whole.iter().filter(|field| {
        let changed = edit.fields();
        changed.contains(field) && edit.base.has(**field)
    });
    let whole: Vec<Field> = whole.copied().collect();
    // If a field is replaced whole, all of its parts count as touched, including those nobody looked at.
    let mut touched = edit.touched();
    for part in parts(&[&edit.base, now]) {
        if whole.contains(&part.field) && !touched.contains(&part) {
            touched.push(part);
        }
    }
    touched
        .into_iter()
        .filter(|part| {
            part.is_known_in(now)
                && part.is_known_in(&edit.base)
                && !part.is_same(&edit.base, now)
                && !part.is_same(&edit.wanted, now)
        })
        .map(|part| ConcurrentChange {
            reviewed: part.text_in(&edit.base),
            now: part.text_in(now),
            part,
        })
        .collect()
}

#[cfg(test)]
mod tests;
