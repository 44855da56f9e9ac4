//! Guard rules of a profile: ask more strongly, forbid, or limit the number of groups, each with the reason that is
//! shown when it applies. A guard never asks less than docs/design/console.md does ("Confirmation").

use toml::de::{DeTable, DeValue};

use super::{
    error::meant,
    name::nearest,
    scrub::looks_like_a_key,
    toml_reader::{Problems, Section, Spanned},
};
use crate::domain::{group::UserGroupId, text, word_enum::word_enum};

/// How strongly to ask before something is sent (docs/design/console.md, "Confirmation").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `y` after the review. One level more is still `y`.
    Button,
    /// `y`.
    Key,
    /// Typing the group id.
    Typed,
    /// Typing words that name the operation, the number of groups, and the profile.
    Words,
}

word_enum! {
    /// What a guard is about. The words are those of the configuration file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Operation {
        Create = "create",
        Update = "update",
        /// One token; forbidding it forbids bulk rotation too.
        Rotate = "rotate",
        Bulk = "bulk",
        HandOff = "hand_off",
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
#[derive(Debug, Clone, PartialEq, Eq)]
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

const EXAMPLE: &str = "{ operation = \"rotate\", level = \"typed\", reason = \"two people look\" }, { operation = \"update\", \
     forbid = true, reason = \"change freeze\" } or { operation = \"bulk\", max = 50, reason = \"slowly\" }";

/// Longest reason, in characters; it is shown next to what it is about.
const MAX_REASON: usize = 200;

/// Reads `guard` of a profile.
pub(super) fn guards(section: &mut Section, problems: &mut Problems) -> Vec<Guard> {
    let Some(Spanned { at, value }) = section.value("guard") else {
        return Vec::new();
    };
    let DeValue::Array(array) = value else {
        problems.add(at, format!("guard must be a list of rules: [{EXAMPLE}]"));
        return Vec::new();
    };
    let mut guards = Vec::new();
    for item in array {
        let at = item.span().start;
        match item.get_ref() {
            DeValue::Table(table) => guards.extend(guard(table, at, problems)),
            _ => problems.add(at, format!("a guard is a table: {EXAMPLE}")),
        }
    }
    guards
}

fn guard(table: &DeTable, at: usize, problems: &mut Problems) -> Option<Guard> {
    let mut section = Section::of(table);
    let operation = operation(&mut section, at, problems);
    let level = level(&mut section, problems);
    let forbids = section
        .value("forbid")
        .map(|Spanned { at, value }| match value.as_bool() {
            Some(true) => {}
            Some(false) => problems.add(at, "forbid = false has no effect; remove the guard"),
            None => problems.add(at, "forbid must be true, without quotes"),
        });
    let max = section
        .value("max")
        .is_some()
        .then(|| section.count("max", problems).unwrap_or_default());
    let reason = reason(&mut section, at, problems);
    section.finish(problems, |_, _| None);
    let rule = match (level, forbids, max) {
        ((true, level), None, None) => Rule::AtLeast(level?),
        ((false, _), Some(()), None) => Rule::Forbid,
        ((false, _), None, Some(max)) => Rule::Max(max as usize),
        _ => {
            problems.add(
                at,
                format!("a guard needs exactly one of level, forbid and max: {EXAMPLE}"),
            );
            return None;
        }
    };
    let operation = operation?;
    let objection = match rule {
        Rule::AtLeast(_) if operation == Operation::Bulk => Some(
            "level does not apply to bulk; set it for create, update or rotate, where it also applies to resumed batches",
        ),
        Rule::AtLeast(_) if !operation.can_be_raised() => {
            Some("level is for create, update and rotate; this operation can only be forbidden")
        }
        Rule::Max(_) if operation != Operation::Bulk => Some("max is for operation = \"bulk\""),
        Rule::AtLeast(_) | Rule::Forbid | Rule::Max(_) => None,
    };
    if let Some(objection) = objection {
        problems.add(at, objection);
        return None;
    }
    Some(Guard {
        operation,
        rule,
        reason: reason?,
    })
}

fn operation(section: &mut Section, at: usize, problems: &mut Problems) -> Option<Operation> {
    let words = Operation::ALL.map(Operation::as_str);
    if section.value("operation").is_none() {
        let words = words.join(", ");
        problems.add(
            at,
            format!("the guard has no operation; use one of {words}"),
        );
        return None;
    }
    let Spanned { at, value } = section.text("operation", "rotate", problems)?;
    let found = Operation::ALL
        .into_iter()
        .find(|operation| operation.as_str() == value);
    if found.is_none() {
        let near = meant(nearest(value, words));
        let words = words.join(", ");
        problems.add(at, format!("operation must be one of {words}{near}"));
    }
    found
}

/// Whether a level is given, and which. An invalid one is reported here.
fn level(section: &mut Section, problems: &mut Problems) -> (bool, Option<Level>) {
    const WORDS: [(&str, Level); 4] = [
        ("review", Level::Button),
        ("key", Level::Key),
        ("typed", Level::Typed),
        ("words", Level::Words),
    ];
    if section.value("level").is_none() {
        return (false, None);
    }
    let Some(Spanned { at, value }) = section.text("level", "typed", problems) else {
        return (true, None);
    };
    let found = WORDS.iter().find(|(word, _)| *word == value);
    if found.is_none() {
        let near = meant(nearest(value, WORDS.map(|(word, _)| word)));
        problems.add(
            at,
            format!("level must be review, key, typed or words{near}"),
        );
    }
    (true, found.map(|(_, level)| *level))
}

fn reason(section: &mut Section, at: usize, problems: &mut Problems) -> Option<String> {
    if section.value("reason").is_none() {
        problems.add(
            at,
            "the guard has no reason; add reason = \"...\", which is shown when the guard applies",
        );
        return None;
    }
    let Spanned { at, value } = section.text("reason", "change freeze until Monday", problems)?;
    let objection = if value.trim().is_empty() {
        Some("reason is empty; write why: it is shown when the guard applies".to_owned())
    } else if value.chars().count() > MAX_REASON {
        Some(format!(
            "reason is longer than {MAX_REASON} characters; shorten it"
        ))
    } else if looks_like_a_key(value) {
        Some("reason looks as if it contains an API key; remove it".into())
    } else if value.chars().any(text::is_hidden) {
        Some("reason contains a hidden character; remove it".into())
    } else {
        None
    };
    match objection {
        Some(objection) => {
            problems.add(at, objection);
            None
        }
        None => Some(value.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
