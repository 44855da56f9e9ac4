//! Guard rules of a profile: ask more strongly, forbid, or limit the number of groups, each with the reason that is
//! shown when it applies. A guard never asks less than docs/design/console.md does ("Confirmation").

use serde::{Deserialize, Deserializer, de::Error as _};

use super::{
    kind::{
        self, Declared,
        DefaultValue::{self, Required, Words},
        Inside, Kind, REASON, TRUE,
    },
    table::table,
};
use crate::domain::{group::UserGroupId, word_enum::word_enum};

/// How strongly to ask before something is sent (docs/design/console.md, "Confirmation").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Level {
    /// `y` after the review. One level more is still `y`.
    #[serde(rename = "review")]
    Button,
    /// `y`.
    #[serde(rename = "confirm", alias = "key")]
    Key,
    /// Typing the group id.
    #[serde(rename = "type-id", alias = "typed")]
    Typed,
    /// Typing a phrase that names the operation, the number of groups, and the profile.
    #[serde(rename = "type-phrase", alias = "words")]
    Words,
}

word_enum! {
    /// What a guard is about. The words are those of the configuration file.
    pub enum Operation {
        Create = "create",
        Update = "update",
        /// One token; forbidding it forbids bulk rotation too.
        Rotate = "rotate",
        Bulk = "bulk",
        HandOff = "handoff",
        Abandon = "abandon",
    }
}

impl Operation {
    fn can_be_raised(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Rotate)
    }
}

/// What a guard demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Ask at least as strongly as this.
    AtLeast(Level),
    Forbid,
    /// Allow at most this many groups in one bulk rotation, import or apply.
    Max(usize),
}

/// One guard rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Guard {
    pub operation: Operation,
    pub rule: Rule,
    /// Shown when the guard applies.
    pub reason: String,
}

/// The reason why an operation is forbidden; `None` if it is allowed.
pub fn forbidden(guards: &[Guard], operation: Operation) -> Option<&str> {
    let is_meant = |guard: &&Guard| {
        let same = guard.operation == operation
            || operation == Operation::Bulk && guard.operation == Operation::Rotate;
        same && guard.rule == Rule::Forbid
    };
    guards
        .iter()
        .find(is_meant)
        .map(|guard| guard.reason.as_str())
}

/// The strongest level that guards demand, with the reason; `None` if no guard raises it above `usual`.
pub fn raised(guards: &[Guard], operation: Operation, usual: Level) -> Option<(Level, &str)> {
    guards
        .iter()
        .filter(|guard| guard.operation == operation)
        .filter_map(|guard| match guard.rule {
            Rule::AtLeast(level) => Some((level, guard.reason.as_str())),
            Rule::Forbid | Rule::Max(_) => None,
        })
        .filter(|(level, _)| *level > usual)
        .max_by_key(|(level, _)| *level)
}

/// What asks for more than the operation alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// It brings back values of an earlier change.
    pub undoes: bool,
    /// It replaces or sends values that cannot be known well enough.
    pub is_blind: bool,
}

/// The level for a change of one group, with the reason of the guard that raised it: the same in the console and on the
/// command line.
pub fn level_of_change(
    guards: &[Guard],
    (operation, is_production): (Operation, bool),
    weight: Weight,
) -> (Level, Option<&str>) {
    let usual = match (operation, is_production) {
        (Operation::Create | Operation::Update, false) => Level::Button,
        (Operation::Create | Operation::Update, true)
        | (Operation::Rotate, false)
        | (Operation::HandOff | Operation::Abandon, _) => Level::Key,
        (Operation::Rotate, true) => Level::Typed,
        (Operation::Bulk, _) => Level::Words,
    };
    let least = match (weight.undoes, is_production) {
        (true, true) => Level::Words,
        (true, false) => Level::Key,
        (false, _) => usual,
    };
    let usual = usual.max(least);
    let raised = raised(guards, operation, usual);
    let level = raised.map_or(usual, |(level, _)| level);
    let level = match level {
        _ if !weight.is_blind => level,
        Level::Button => Level::Key,
        Level::Key => Level::Typed,
        Level::Typed | Level::Words => Level::Words,
    };
    (level, raised.map(|(_, reason)| reason))
}

/// The level for one change to many groups, with the reason of the guard that raised it. There is no single id to type,
/// so a raised level asks for words.
pub fn level_of_bulk_edit(guards: &[Guard], is_production: bool) -> (Level, Option<&str>) {
    let usual = if is_production {
        Level::Words
    } else {
        Level::Key
    };
    match raised(guards, Operation::Update, usual) {
        Some((_, reason)) => (Level::Words, Some(reason)),
        None => (usual, None),
    }
}

/// The text to type at [`Level::Words`].
pub fn words(operation: Operation, id: &UserGroupId, profile: &str) -> String {
    format!("{} {id} in {profile}", operation.as_str())
}

/// The smallest number of groups that any guard allows in one bulk rotation, with the reason.
pub fn max_groups(guards: &[Guard]) -> Option<(usize, &str)> {
    guards
        .iter()
        .filter_map(|guard| match guard.rule {
            Rule::Max(most) => Some((most, guard.reason.as_str())),
            Rule::AtLeast(_) | Rule::Forbid => None,
        })
        .min_by_key(|(most, _)| *most)
}

/// Why this many groups may not be created or updated at once; `None` if they may. Only guards of `bulk`
/// apply, because they are not about rotations alone.
pub fn too_many(guards: &[Guard], count: usize) -> Option<String> {
    let mut of_bulk = guards
        .iter()
        .filter(|guard| guard.operation == Operation::Bulk);
    let objection = |guard: &Guard| match guard.rule {
        Rule::Forbid => Some(guard.reason.clone()),
        Rule::Max(most) if count > most => {
            Some(format!("at most {most} at once: {}", guard.reason))
        }
        Rule::Max(_) | Rule::AtLeast(_) => None,
    };
    of_bulk.find_map(objection)
}

/// Checked once its keys are.
pub(super) const GUARD: Kind = Kind::new(
    "list of tables",
    "{ operation = \"rotate\", level = \"type-id\", reason = \"two people look\" }, { operation = \"update\", \
     forbid = true, reason = \"change freeze\" } or { operation = \"bulk\", max = 50, reason = \"slowly\" }",
    |_, value| {
        let written: Result<Written, _> = value.clone().try_into();
        match written.map(Guard::try_from) {
            Ok(guard) => guard.map(drop),
            Err(_) => Err("a guard cannot be read; compare it with the example".into()),
        }
    },
)
.with(Inside::List(|| SETTINGS));

const OPERATION: Kind = Kind::new(
    "\"create\", \"update\", \"rotate\", \"bulk\", \"handoff\" or \"abandon\"",
    "\"rotate\"",
    |kind, value| match value.as_str() {
        Some(HANDOFF_0_2) => Ok(()),
        _ => kind::one_of_words(kind, value),
    },
);
/// `handoff` in the files of version 0.2.0.
const HANDOFF_0_2: &str = "hand_off";

const LEVEL: Kind = Kind::new(
    "\"review\", \"confirm\", \"type-id\" or \"type-phrase\"",
    "\"type-id\"",
    |kind, value| match value.as_str() {
        // The names of version 0.2.0.
        Some("key" | "typed" | "words") => Ok(()),
        _ => kind::one_of_words(kind, value),
    },
);
const ONE_RULE: DefaultValue = Words("exactly one of level, forbid, max");

table! {
    /// A guard as it is in the file.
    struct Written of "profiles.NAME.guard" {
        #[serde(deserialize_with = "read_operation")]
        operation: Operation, OPERATION, Required, "operation that the guard applies to; forbidding rotate also forbids bulk";
        level: Option<Level>, LEVEL, ONE_RULE,
            "minimum confirmation for create, update and rotate: a review and y, y alone, typing the ID, or typing a phrase";
        forbid: Option<bool>, TRUE, ONE_RULE, "refused before anything is sent, in the console and on the command line";
        max: Option<usize>, kind::count("0 to 1000000"), ONE_RULE, "for bulk: maximum number of groups at once";
        reason: String, REASON, Required, "shown when the guard applies; at most 200 characters";
    }
}

pub(super) const SETTINGS: &[kind::Setting] = Written::SETTINGS;

fn read_operation<'de, D: Deserializer<'de>>(value: D) -> Result<Operation, D::Error> {
    let word = String::deserialize(value)?;
    let is_old = word == HANDOFF_0_2;
    let operation = is_old.then_some(Operation::HandOff);
    operation
        .or_else(|| Operation::parse(&word))
        .ok_or_else(|| D::Error::custom("an unknown operation"))
}

impl TryFrom<Written> for Guard {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { operation, .. } = written;
        let rule = match (written.level, written.forbid, written.max) {
            (Some(_), None, None) if operation == Operation::Bulk => {
                return Err("level does not apply to bulk; set it for create, update or rotate, where it also applies to resumed batches".into());
            }
            (Some(level), None, None) if operation.can_be_raised() => Rule::AtLeast(level),
            (Some(_), None, None) => {
                return Err(
                    "level is for create, update and rotate; this operation can only be forbidden"
                        .into(),
                );
            }
            (None, Some(_), None) => Rule::Forbid,
            (None, None, Some(max)) if operation == Operation::Bulk => Rule::Max(max),
            (None, None, Some(_)) => return Err("max is for operation = \"bulk\"".into()),
            _ => {
                let example = GUARD.example;
                return Err(format!(
                    "a guard needs exactly one of level, forbid and max: {example}"
                ));
            }
        };
        let reason = written.reason.trim().to_owned();
        Ok(Self {
            operation,
            rule,
            reason,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_weighs_more_asks_for_more() {
        let level = |guards: &[Guard], about, weight| level_of_change(guards, about, weight).0;
        let (plain, blind) = (Weight::default(), |undoes| Weight {
            undoes,
            is_blind: true,
        });
        let undo = Weight {
            undoes: true,
            is_blind: false,
        };
        let (live, testing) = ((Operation::Update, true), (Operation::Update, false));
        assert_eq!(level(&[], live, plain), Level::Key);
        assert_eq!(level(&[], live, blind(false)), Level::Typed);
        assert_eq!(level(&[], live, undo), Level::Words);
        assert_eq!(level(&[], live, blind(true)), Level::Words);
        assert_eq!(level(&[], testing, plain), Level::Button);
        assert_eq!(level(&[], testing, blind(false)), Level::Key);
        assert_eq!(level(&[], testing, blind(true)), Level::Typed);
        let typed = [Guard {
            operation: Operation::Update,
            rule: Rule::AtLeast(Level::Typed),
            reason: "two people look".into(),
        }];
        assert_eq!(level(&typed, testing, plain), Level::Typed);
        assert_eq!(level(&typed, testing, blind(false)), Level::Words);
        let reason = level_of_change(&typed, testing, plain).1;
        assert_eq!(reason, Some("two people look"));
        assert_eq!(level(&[], (Operation::Rotate, true), plain), Level::Typed);
    }

    #[test]
    fn the_strongest_guard_counts_and_none_asks_less() {
        let guard = |operation, rule| Guard {
            operation,
            rule,
            reason: format!("{rule:?}"),
        };
        let guards = [
            guard(Operation::Update, Rule::AtLeast(Level::Key)),
            guard(Operation::Update, Rule::AtLeast(Level::Typed)),
            guard(Operation::Rotate, Rule::AtLeast(Level::Button)),
            guard(Operation::Bulk, Rule::Max(50)),
            guard(Operation::Bulk, Rule::Max(7)),
            guard(Operation::Create, Rule::Forbid),
        ];
        let level = |operation, usual| raised(&guards, operation, usual).map(|(level, _)| level);
        assert_eq!(level(Operation::Update, Level::Button), Some(Level::Typed));
        assert_eq!(level(Operation::Update, Level::Words), None);
        assert_eq!(level(Operation::Rotate, Level::Key), None);
        assert_eq!(max_groups(&guards).map(|(most, _)| most), Some(7));
        assert!(forbidden(&guards, Operation::Create).is_some());
        assert!(forbidden(&guards, Operation::Bulk).is_none());
        let freeze = [guard(Operation::Rotate, Rule::Forbid)];
        assert!(forbidden(&freeze, Operation::Bulk).is_some());
        assert!(forbidden(&freeze, Operation::Update).is_none());
    }
}
