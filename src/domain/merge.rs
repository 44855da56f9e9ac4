//! Three-way merge: what an edit began with, what the service has now, and what the edit wants (hazard 4 of
//! docs/design/service.md). Where the two sides differ, a row offers the choice; nothing is dropped unseen.

use super::fields::DesiredFields;

pub use super::fields::{Part, parts};

/// Whose value is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    Mine,
    Theirs,
}

impl Resolution {
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Mine => Self::Theirs,
            Self::Theirs => Self::Mine,
        }
    }
}

/// A part that somebody else changed, and that this edit would set to something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub part: Part,
    /// Whether the value that the edit began with is known; if not, `base` has no meaning.
    pub base_known: bool,
    pub base: Option<String>,
    pub theirs: Option<String>,
    pub mine: Option<String>,
    /// Initially ours if the edit changed it, theirs otherwise.
    pub take: Resolution,
}

/// The result of an edit when the service's copy is no longer the one it began with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    theirs: DesiredFields,
    mine: DesiredFields,
    pub conflicts: Vec<Conflict>,
    /// Parts that somebody else changed to the value that this edit wants as well.
    pub agreed: Vec<Part>,
    /// Parts that somebody else changed in a field that this edit leaves out.
    pub left_out: Vec<Part>,
}

impl Merge {
    /// Compares part by part. A field of which the service's value is unknown cannot be compared.
    pub fn of(base: &DesiredFields, theirs: &DesiredFields, mine: &DesiredFields) -> Self {
        let mut merge = Self {
            theirs: theirs.clone(),
            mine: mine.clone(),
            conflicts: Vec::new(),
            agreed: Vec::new(),
            left_out: Vec::new(),
        };
        let foreign = parts(&[mine, theirs, base])
            .into_iter()
            .filter(|part| part.is_known_in(theirs) && !part.is_same(base, theirs));
        for part in foreign {
            if !part.is_known_in(mine) {
                if part.is_known_in(base) {
                    merge.left_out.push(part);
                }
            } else if part.is_same(mine, theirs) {
                merge.agreed.push(part);
            } else {
                let untouched = part.is_same(base, mine);
                merge.conflicts.push(Conflict {
                    base_known: part.is_known_in(base),
                    base: part.text_in(base),
                    theirs: part.text_in(theirs),
                    mine: part.text_in(mine),
                    take: if untouched {
                        Resolution::Theirs
                    } else {
                        Resolution::Mine
                    },
                    part,
                });
            }
        }
        merge
    }

    /// Keeps the choices that were made for the same values before the copy was read again.
    pub fn keep_choices(&mut self, before: &Self) {
        for row in &mut self.conflicts {
            let same = before.conflicts.iter().find(|old| {
                old.part == row.part && old.theirs == row.theirs && old.mine == row.mine
            });
            row.take = same.map_or(row.take, |old| old.take);
        }
    }

    /// What is sent: our values, with theirs where that was chosen.
    pub fn result(&self) -> DesiredFields {
        let mut result = self.mine.clone();
        for row in &self.conflicts {
            if row.take == Resolution::Theirs {
                row.part.carry(&self.theirs, &mut result);
            }
        }
        result
    }

    /// The parts that somebody else changed to something that this edit does not send, with their values at the service.
    pub fn foreign(&self) -> impl Iterator<Item = (&Part, Option<String>)> {
        let conflicts = self.conflicts.iter();
        let conflicts = conflicts.map(|row| (&row.part, row.theirs.clone()));
        let left_out = self.left_out.iter();
        conflicts.chain(left_out.map(|part| (part, part.text_in(&self.theirs))))
    }

    /// Whether nobody else changed anything, as far as is known.
    pub fn has_no_remote_changes(&self) -> bool {
        self.conflicts.is_empty() && self.agreed.is_empty() && self.left_out.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::testing::fields;

    #[test]
    fn each_side_keeps_what_only_it_changed() {
        let rows = [("7", "40"), ("8", "1")];
        let base = fields("Acme", &rows, r#"{"tier":"gold","seats":1}"#);
        let theirs = r#"{"tier":"gold","seats":2,"beta":true}"#;
        let theirs = fields("Acme", &[("7", "40")], theirs);
        let mine = [("7", "213"), ("8", "1")];
        let mine = fields("Acme plc", &mine, r#"{"tier":"iron","seats":1}"#);
        let merge = Merge::of(&base, &theirs, &mine);
        let take = merge.conflicts.iter().map(|row| row.take);
        assert!(take.eq([Resolution::Theirs; 3]));
        let rows = merge.conflicts.iter().map(|row| row.part.label());
        assert!(rows.eq(["mapping 8", "properties seats", "properties beta"]));
        let both = r#"{"tier":"iron","seats":2,"beta":true}"#;
        assert_eq!(merge.result(), fields("Acme plc", &[("7", "213")], both));
    }

    #[test]
    fn what_both_changed_is_mine_until_theirs_is_chosen() {
        let base = fields("Acme", &[("7", "40")], "{}");
        let theirs = fields("Acme EMEA", &[("7", "1")], "{}");
        let mine = fields("Acme plc", &[], "{}");
        let mut merge = Merge::of(&base, &theirs, &mine);
        assert_eq!(merge.result(), mine);
        for row in &mut merge.conflicts {
            row.take = row.take.other();
        }
        assert_eq!(merge.result(), theirs);
        let mut again = Merge::of(&base, &theirs, &mine);
        again.keep_choices(&merge);
        assert_eq!(again.result(), theirs, "read again, the same: still chosen");
        let newer = fields("Acme Asia", &[("7", "1")], "{}");
        let mut again = Merge::of(&base, &newer, &mine);
        again.keep_choices(&merge);
        let takes = again.conflicts.iter().map(|row| row.take);
        // Another value is asked anew.
        assert!(takes.eq([Resolution::Mine, Resolution::Theirs]));
    }

    #[test]
    fn what_is_not_known_of_the_service_is_never_merged() {
        let base = fields("Acme", &[("7", "40")], "{}");
        let theirs = DesiredFields {
            mapping: None,
            ..base.clone()
        };
        let mine = fields("Acme", &[("9", "1")], "{}");
        let merge = Merge::of(&base, &theirs, &mine);
        assert!(merge.has_no_remote_changes());
        assert_eq!(merge.result(), mine);
    }

    #[test]
    fn agreed_and_left_out_changes_are_named() {
        let base = fields("Acme", &[("7", "40")], r#"{"tier":"gold"}"#);
        let theirs = fields("Acme plc", &[("7", "41")], r#"{"tier":"iron"}"#);
        let mine = DesiredFields {
            mapping: None,
            ..fields("Acme plc", &[], r#"{"tier":"gold"}"#)
        };
        let merge = Merge::of(&base, &theirs, &mine);
        assert!(merge.agreed.iter().map(Part::label).eq(["name"]));
        assert!(merge.left_out.iter().map(Part::label).eq(["mapping 7"]));
        assert_eq!(merge.result().mapping, None, "left out stays left out");
    }

    fn a_field() -> impl Strategy<Value = Option<Vec<(u8, u8)>>> {
        proptest::option::weighted(0.8, proptest::collection::vec((0_u8..5, 0_u8..3), 0..5))
    }

    fn a_copy() -> impl Strategy<Value = DesiredFields> {
        let name = proptest::option::weighted(0.8, "[0-2]");
        let all = (name, a_field(), a_field());
        all.prop_map(|(name, mapping, properties)| {
            let mapping = mapping.map(|rows| {
                rows.into_iter()
                    .map(|(k, v)| (k.to_string(), v.to_string()))
            });
            let properties =
                properties.map(|keys| keys.into_iter().map(|(k, v)| (k.to_string(), v.into())));
            DesiredFields {
                name,
                mapping: mapping.map(Iterator::collect),
                properties: properties.map(Iterator::collect),
            }
        })
    }

    proptest! {
        /// Whatever is chosen, every part ends with the value of one side; the other side's value is lost only where a
        /// row says so.
        #[test]
        fn nothing_is_lost_unseen(
            base in a_copy(), theirs in a_copy(), mine in a_copy(), choices in any::<u32>(),
        ) {
            let mut merge = Merge::of(&base, &theirs, &mine);
            for (index, row) in merge.conflicts.iter_mut().enumerate() {
                row.take = if choices >> (index % 32) & 1 == 1 { Resolution::Mine } else { Resolution::Theirs };
            }
            let result = merge.result();
            for part in parts(&[&base, &theirs, &mine]) {
                if !part.is_known_in(&mine) {
                    prop_assert!(!part.is_known_in(&result), "{part:?} was left out");
                    continue;
                }
                let row = merge.conflicts.iter().find(|row| row.part == part);
                let take = row.map_or(Resolution::Mine, |row| row.take);
                let from = match take { Resolution::Mine => &mine, Resolution::Theirs => &theirs };
                prop_assert!(part.is_same(&result, from), "{part:?} is not {take:?}");
                // What somebody else changed is overwritten only under a row that shows it.
                let overwrites = part.is_known_in(&theirs)
                    && !part.is_same(&base, &theirs)
                    && !part.is_same(&result, &theirs);
                prop_assert!(!overwrites || row.is_some(), "{part:?} is overwritten unseen");
            }
        }

        #[test]
        fn all_mine_is_the_edit_to_the_byte_and_the_defaults_keep_both(
            base in a_copy(), theirs in a_copy(), mine in a_copy(),
        ) {
            let mut merge = Merge::of(&base, &theirs, &mine);
            let result = merge.result();
            for part in parts(&[&base, &theirs, &mine]) {
                if part.is_known_in(&mine) && !part.is_same(&base, &mine) {
                    prop_assert!(part.is_same(&result, &mine), "my {part:?} is lost");
                } else if part.is_known_in(&mine) && part.is_known_in(&theirs) {
                    prop_assert!(part.is_same(&result, &theirs), "their {part:?} is lost");
                }
            }
            for row in &mut merge.conflicts {
                row.take = Resolution::Mine;
            }
            // The Debug output also shows the order of rows.
            prop_assert_eq!(format!("{:?}", merge.result()), format!("{mine:?}"));
        }
    }
}
