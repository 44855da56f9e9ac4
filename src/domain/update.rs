//! What of an update may be sent (hazard 4 of docs/design/service.md): only what a person changed where that is safe,
//! else what is known to be sent unchanged, else nothing. Pure: what was read under the claim and the facts of the place
//! decide.

use jiff::Timestamp;

use super::{
    change::DesiredFields,
    facts::{Absent, Facts, Field},
    known::{Known, KnownGroup, Source},
    merge::{Part, parts},
};

/// What a person reviewed, what is wanted instead, and what was said beyond that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// What the review began with.
    pub base: DesiredFields,
    pub wanted: DesiredFields,
    /// Fields that are given whole: by a file, or as the whole JSON.
    pub whole: Vec<Field>,
    /// Fields of which a person said that their last known value may be replaced whole, with the change in it.
    pub replace: Vec<Field>,
    /// A person saw what is sent unchanged as last known, and from when it is.
    pub travels: bool,
}

impl Edit {
    /// Every field that differs is given whole.
    pub fn whole(base: &DesiredFields, wanted: &DesiredFields) -> Self {
        Self {
            base: base.clone(),
            wanted: wanted.clone(),
            whole: Field::ALL.to_vec(),
            ..Self::default()
        }
    }

    /// What a person wants to be different.
    pub fn touched(&self) -> Vec<Part> {
        let mut all = parts(&[&self.wanted, &self.base]);
        all.retain(|part| {
            is_wanted(field_of(part), &self.wanted) && !part.is_same(&self.base, &self.wanted)
        });
        all
    }

    /// The fields that differ, or that are given although nothing was known of them.
    pub fn fields(&self) -> Vec<Field> {
        let touched = self.touched();
        let is_touched = |field: &Field| {
            let given_anew = is_wanted(*field, &self.wanted) && !is_wanted(*field, &self.base);
            given_anew || touched.iter().any(|part| field_of(part) == *field)
        };
        Field::ALL.into_iter().filter(is_touched).collect()
    }

    fn gives_whole(&self, field: Field) -> bool {
        field == Field::Name || self.whole.contains(&field)
    }
}

/// What is known of the group when it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Baseline<'a> {
    pub group: &'a KnownGroup,
    /// The fields that were read, or written, under this very claim.
    pub read: &'a [Field],
    /// Fields that an earlier change, whose end is open, may have changed.
    pub unsure: &'a [Field],
    pub facts: &'a Facts,
}

impl Baseline<'_> {
    /// The last value, where a service and not only a file told of it.
    pub fn origin(&self, field: Field) -> Option<(Source, Timestamp)> {
        fn of<T>(known: Option<&Known<T>>) -> Option<(Source, Timestamp)> {
            let known = known.filter(|known| known.source != Source::Imported)?;
            Some((known.source, known.at))
        }
        match field {
            Field::Name => of(self.group.name.as_ref()),
            Field::Mapping => of(self.group.mapping.as_ref()),
            Field::Properties => of(self.group.properties.as_ref()),
        }
    }

    /// What single changes may be laid over without asking anybody.
    fn may_lay_over(&self, field: Field) -> bool {
        if self.read.contains(&field) {
            return true;
        }
        self.facts.sole_writer.value
            && !self.unsure.contains(&field)
            && self.origin(field).is_some()
    }
}

/// A field that is sent although nobody changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarriedField {
    pub field: Field,
    pub source: Source,
    /// From when the value is.
    pub at: Timestamp,
    /// It was read under the claim.
    pub is_read: bool,
}

/// Why an update may not be sent as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsafeUpdate {
    /// Single changes of a field that nobody can read, where others may write; the value is from then.
    InPart {
        field: Field,
        at: Option<Timestamp>,
        /// An earlier change with an open end may have changed it.
        unsure: bool,
    },
    /// It is not changed, would be sent unchanged as last known, and nobody has said what leaving it out does.
    NotTold { field: Field, at: Option<Timestamp> },
    /// Left out it is cleared, and nothing is known that could be sent.
    WouldClear { field: Field },
    /// It is not changed, and an earlier change with an open end may have changed it: sending what was known before could
    /// take that back.
    Unsure { field: Field },
}

impl UnsafeUpdate {
    pub fn field(&self) -> Field {
        match self {
            Self::InPart { field, .. }
            | Self::NotTold { field, .. }
            | Self::WouldClear { field }
            | Self::Unsure { field } => *field,
        }
    }
}

/// One part of which somebody else changed the value since the review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcurrentChange {
    pub part: Part,
    pub reviewed: Option<String>,
    pub now: Option<String>,
}

/// What would be sent, and what speaks against it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub send: DesiredFields,
    /// Fields that are replaced as a whole.
    pub replaced: Vec<Field>,
    pub travels: Vec<CarriedField>,
    pub objections: Vec<UnsafeUpdate>,
    /// What the person touches and somebody else changed since.
    pub meanwhile: Vec<ConcurrentChange>,
}

impl Plan {
    /// What of an edit may be sent on this ground.
    pub fn of(edit: &Edit, ground: &Baseline<'_>) -> Self {
        let now = DesiredFields::of(ground.group);
        let mut plan = Self {
            meanwhile: meanwhile(edit, &now),
            ..Self::default()
        };
        let changed = edit.fields();
        for field in Field::ALL {
            if changed.contains(&field) {
                plan.change(field, edit, &now, ground);
            } else {
                plan.keep(field, edit, &now, ground);
            }
        }
        plan
    }

    fn change(&mut self, field: Field, edit: &Edit, now: &DesiredFields, ground: &Baseline<'_>) {
        if edit.gives_whole(field) {
            copy(field, &edit.wanted, &mut self.send);
            if field != Field::Name {
                self.replaced.push(field);
            }
            return;
        }
        if ground.may_lay_over(field) {
            copy(field, now, &mut self.send);
            let touched = edit.touched();
            for part in touched.iter().filter(|part| field_of(part) == field) {
                part.carry(&edit.wanted, &mut self.send);
            }
            return;
        }
        copy(field, &edit.wanted, &mut self.send);
        self.replaced.push(field);
        if !edit.replace.contains(&field) {
            self.objections.push(UnsafeUpdate::InPart {
                field,
                at: ground.origin(field).map(|(_, at)| at),
                unsure: ground.unsure.contains(&field),
            });
        }
    }

    fn keep(&mut self, field: Field, edit: &Edit, now: &DesiredFields, ground: &Baseline<'_>) {
        let absent = ground.facts.absent(field);
        if absent.value == Absent::Keep {
            return;
        }
        let is_read = ground.read.contains(&field);
        let origin = ground.origin(field);
        let may_travel = is_read || absent.is_answered() || edit.travels;
        match origin {
            _ if !is_read && ground.unsure.contains(&field) => {
                self.objections.push(UnsafeUpdate::Unsure { field });
            }
            Some((source, at)) => {
                copy(field, now, &mut self.send);
                self.travels.push(CarriedField {
                    field,
                    source,
                    at,
                    is_read,
                });
                if !may_travel {
                    let at = Some(at);
                    self.objections.push(UnsafeUpdate::NotTold { field, at });
                }
            }
            None if absent.value == Absent::Clear => {
                self.objections.push(UnsafeUpdate::WouldClear { field });
            }
            None if !may_travel => {
                let at = None;
                self.objections.push(UnsafeUpdate::NotTold { field, at });
            }
            None => {}
        }
    }

    /// Replaces none of these fields, although a person said that they may be replaced.
    pub fn object_to(&mut self, unsure: &[Field]) {
        for field in self.replaced.iter().filter(|field| unsure.contains(field)) {
            self.objections.push(UnsafeUpdate::InPart {
                field: *field,
                at: None,
                unsure: true,
            });
        }
    }

    /// Whether anything may be different afterwards: what is replaced whole and was not read can be anything now.
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

fn meanwhile(edit: &Edit, now: &DesiredFields) -> Vec<ConcurrentChange> {
    let whole = edit.whole.iter().filter(|field| {
        let changed = edit.fields();
        changed.contains(field) && is_wanted(**field, &edit.base)
    });
    let whole: Vec<Field> = whole.copied().collect();
    // Of a field that is replaced whole every part is touched, also those that nobody looked at.
    let mut touched = edit.touched();
    for part in parts(&[&edit.base, now]) {
        if whole.contains(&field_of(&part)) && !touched.contains(&part) {
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

fn field_of(part: &Part) -> Field {
    match part {
        Part::Name => Field::Name,
        Part::Mapping(_) => Field::Mapping,
        Part::Property(_) => Field::Properties,
    }
}

fn is_wanted(field: Field, wanted: &DesiredFields) -> bool {
    match field {
        Field::Name => wanted.name.is_some(),
        Field::Mapping => wanted.mapping.is_some(),
        Field::Properties => wanted.properties.is_some(),
    }
}

fn copy(field: Field, from: &DesiredFields, into: &mut DesiredFields) {
    match field {
        Field::Name => into.name.clone_from(&from.name),
        Field::Mapping => into.mapping.clone_from(&from.mapping),
        Field::Properties => into.properties.clone_from(&from.properties),
    }
}

#[cfg(test)]
mod tests;
