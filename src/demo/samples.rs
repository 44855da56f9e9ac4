//! The groups of the demo: those of `assets/demo/groups.json`, or any number of generated ones, which are always the
//! same.

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use serde::Deserialize;

use super::DemoError;
use crate::domain::group::{EnvironmentTag, Mapping, Properties};

const SAMPLES: &str = include_str!("../../assets/demo/groups.json");

/// The two environments of the demo; the profiles are named after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SampleEnvironment {
    Production,
    Testing,
}

impl SampleEnvironment {
    pub(super) const ALL: [Self; 2] = [Self::Production, Self::Testing];

    pub(super) fn environment(self) -> &'static str {
        match self {
            Self::Production => "production",
            Self::Testing => "testing",
        }
    }

    pub(super) fn tag(self) -> EnvironmentTag {
        match self {
            Self::Production => EnvironmentTag::Customer,
            Self::Testing => EnvironmentTag::Testing,
        }
    }
}

/// A group of the demo, with its past.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SampleGroup {
    pub(super) user_group_id: String,
    pub(super) name: String,
    pub(super) places: Vec<SampleEnvironment>,
    pub(super) mapping: Mapping,
    pub(super) properties: Properties,
    /// `None`: never rotated from here.
    pub(super) rotated_days_ago: Option<i64>,
    /// When this installation last sent the whole group. `None`: the directory knows it from reading only.
    pub(super) sent_hours_ago: Option<i64>,
    pub(super) by: String,
    /// The reasons given for its rotations.
    #[serde(default)]
    pub(super) rotated_because: HashMap<SampleEnvironment, String>,
    /// Its history without the rotations.
    #[serde(default)]
    pub(super) past: Vec<SampleEntry>,
}

/// An entry of the history.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SampleEntry {
    pub(super) place: SampleEnvironment,
    pub(super) operation: String,
    pub(super) ending: String,
    pub(super) by: String,
    pub(super) hours_ago: i64,
    /// Whether a row of its mapping was changed.
    #[serde(default)]
    pub(super) changes: bool,
    pub(super) note: Option<String>,
}

impl SampleGroup {
    pub(super) fn is_in(&self, place: SampleEnvironment) -> bool {
        self.places.contains(&place)
    }

    /// The name of the group in this environment; a group that is in both gets a different name in Testing.
    pub(super) fn name_in(&self, place: SampleEnvironment) -> String {
        if place == SampleEnvironment::Testing && self.places.len() > 1 {
            format!("{} (test)", self.name)
        } else {
            self.name.clone()
        }
    }
}

/// Hours since a rotation this many days ago; shifted, so that it was not at the current time of day.
pub(super) fn hours_of_rotation(days: i64) -> i64 {
    days * 24 + 5
}

pub(super) fn all() -> Result<Vec<SampleGroup>, DemoError> {
    serde_json::from_str(SAMPLES).map_err(|error| DemoError::Samples(error.to_string()))
}

/// What generated groups are made of.
#[derive(Debug, Deserialize)]
struct Words {
    first: Vec<String>,
    second: Vec<String>,
    regions: Vec<String>,
    tiers: Vec<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let text = include_str!("../../assets/demo/words.json");
    serde_json::from_str(text).expect("lists of words")
});

/// Generates groups, always the same one for the same number. Testing has all of them, production every tenth.
pub(super) fn generated(numbers: Range<usize>) -> Vec<SampleGroup> {
    numbers.map(generate).collect()
}

fn generate(number: usize) -> SampleGroup {
    let words = &*WORDS;
    let first = &words.first[number % words.first.len()];
    let second = &words.second[number / words.first.len() % words.second.len()];
    let region = words.regions[number / 5 % words.regions.len()].as_str();
    let mapping = (0..2 + number % 6)
        .map(|row| {
            (
                (40 + row * 17).to_string(),
                (200 + (number * 7 + row * 31) % 9_000).to_string(),
            )
        })
        .collect();
    let mut properties = Properties::new();
    properties.insert(
        "tier".into(),
        words.tiers[number % words.tiers.len()].as_str().into(),
    );
    properties.insert("region".into(), region.into());
    properties.insert("seats".into(), (5 + number * 13 % 500).into());
    if number.is_multiple_of(3) {
        properties.insert("sso".into(), number.is_multiple_of(2).into());
    }
    let rotated_days_ago = (!number.is_multiple_of(7)).then(|| 2 + (number as i64 * 37) % 400);
    SampleGroup {
        user_group_id: format!("group-{region}-{number:06}"),
        name: format!("{first} {second} {}", number + 1),
        places: if number.is_multiple_of(10) {
            SampleEnvironment::ALL.to_vec()
        } else {
            vec![SampleEnvironment::Testing]
        },
        mapping,
        properties,
        rotated_days_ago,
        sent_hours_ago: match rotated_days_ago {
            // Most groups were last changed when they were rotated.
            Some(days) if !number.is_multiple_of(4) => Some(hours_of_rotation(days)),
            _ => (!number.is_multiple_of(11)).then(|| 1 + (number as i64 * 53) % 47),
        },
        by: ["ana@bastion2", "li@desk"][number % 2].into(),
        rotated_because: HashMap::new(),
        past: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_are_a_dozen_in_each_place_and_some_in_both() {
        let samples = all().expect("they can be read");
        let count = |place| samples.iter().filter(|group| group.is_in(place)).count();
        assert!(
            count(SampleEnvironment::Production) >= 12 && count(SampleEnvironment::Testing) >= 8
        );
        assert!(samples.iter().any(|group| group.places.len() == 2));
        let mut ids: Vec<_> = samples.iter().map(|group| &group.user_group_id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), samples.len());
        for group in &samples {
            let age = group.rotated_days_ago;
            let is_usual = (2..=7).contains(&group.mapping.len())
                && (3..=11).contains(&group.properties.len())
                && age.is_none_or(|days| (2..=402).contains(&days));
            assert!(is_usual, "{group:?}");
        }
        assert!(samples.iter().any(|group| group.sent_hours_ago.is_none()));
    }

    #[test]
    fn generated_groups_are_always_the_same_and_their_ids_differ() {
        let ids = |count| {
            generated(0..count)
                .into_iter()
                .map(|group| group.user_group_id)
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(500)[..100], ids(100)[..]);
        let mut sorted = ids(500);
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 500);
    }
}
