//! Why nothing is sent before an operator has decided something about the place, with the command to type.

use crate::{
    config::{Profile, nearest, scrub::shown},
    directory::{Alarm, Place, Question, Refusal},
    domain::{
        group::UserGroupId,
        proposal::quoted,
        rotation::LONGEST_SETTLE_WINDOW,
        text::{joined, visible},
        when,
    },
};

/// Why nothing may be sent for this profile before an operator has decided something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceProblem {
    /// It is not clear which place the profile means.
    #[error(
        "profile {profile}: {}; nothing was sent. {}",
        question.reason(),
        command_to_type(profile, *from_variables, question)
    )]
    Asked {
        profile: String,
        from_variables: bool,
        question: Box<Question>,
    },
    #[error(
        "profiles {profile} and {other} are both bound to environment {place}, but have different `environment` settings; nothing was \
         sent. Correct one of them, or undo a binding: groupdesk profile unbind {}",
        quoted(other)
    )]
    TagConflict {
        profile: String,
        other: String,
        place: String,
    },
    /// The key is new at its place.
    #[error(
        "the API key of profile {profile} is new for environment {place} and not verified yet; nothing was sent. To verify it with a \
         known group: groupdesk profile bind {} --same-environment --verify-with ID",
        quoted(profile)
    )]
    OnTrial { profile: String, place: String },
    /// The trial failed: what was read does not belong to this place.
    #[error(
        "ALARM: the binding of profile {profile} was undone, and nothing was recorded: \"{id}\" {}, so its API key does not belong to \
         environment {place}. If this is another environment: groupdesk profile bind {} --new-environment",
        if *created { "was CREATED by reading it" } else { "has a token that was never seen there" },
        quoted(profile)
    )]
    NotProven {
        profile: String,
        place: String,
        id: UserGroupId,
        created: bool,
    },
    /// A proof needs a group of the place whose token was seen.
    #[error("\"{id}\" cannot verify a key of environment {place}: {why}; nothing was sent")]
    NoProof {
        id: UserGroupId,
        place: String,
        why: &'static str,
    },
    /// An answer contradicted the place, and nobody has acknowledged it yet.
    #[error(
        "ALARM in environment {place}; nothing was sent: requests for its groups are blocked {}. Investigate, then acknowledge it: \
         groupdesk environment acknowledge {} --reason WHY",
        oldest_alarm(alarms),
        quoted(place)
    )]
    Alarmed { place: String, alarms: Vec<Alarm> },
    #[error("{}; nothing was changed", refused(refusal))]
    Refused { refusal: Refusal },
    #[error(
        "environment \"{}\" not found; {undone}{} For a list: groupdesk environment list",
        shown(name),
        near.as_ref().map_or_else(|| ".".to_owned(), |near| format!("; did you mean \"{}\"?", shown(near)))
    )]
    NoPlace {
        name: String,
        near: Option<String>,
        /// What was not done: "nothing was changed", of a command that only reads "nothing was shown".
        undone: &'static str,
    },
    #[error("the new name {why}; nothing was changed")]
    BadName { why: String },
    #[error("environment \"{name}\" already exists; nothing was changed")]
    NameTaken { name: String },
}

impl PlaceProblem {
    /// That none of these places has this name.
    pub fn no_place(name: &str, places: &[Place], undone: &'static str) -> Self {
        let near = nearest(name, places.iter().map(|place| place.name.as_str()));
        Self::NoPlace {
            name: name.to_owned(),
            near: near.map(str::to_owned),
            undone,
        }
    }

    pub(in crate::operations) fn asked(profile: &Profile, question: Question) -> Self {
        Self::Asked {
            profile: profile.name.clone(),
            from_variables: profile.from_variables,
            question: Box::new(question),
        }
    }
}

/// When the oldest open alarm was raised, what it is, and whether there are more.
fn oldest_alarm(alarms: &[Alarm]) -> String {
    let Some(alarm) = alarms.first() else {
        return String::new();
    };
    let id = alarm.user_group_id.as_ref();
    let more = match alarms.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!(
        "since {}: {}{}{more}",
        when::minute(alarm.at),
        visible(&alarm.what),
        id.map_or_else(String::new, |id| format!(" (\"{}\")", visible(id)))
    )
}

fn command_to_type(profile: &str, from_variables: bool, question: &Question) -> String {
    let name = if from_variables {
        "--variables".into()
    } else {
        quoted(profile)
    };
    let known: Vec<_> = question
        .places
        .iter()
        .map(|place| match place.groups {
            1 => format!("{} (1 group)", place.name),
            groups => format!("{} ({groups} groups)", place.name),
        })
        .collect();
    let which = match question.places.as_slice() {
        [_] => String::new(),
        _ => " ENVIRONMENT".into(),
    };
    let same = format!("groupdesk profile bind {name} --same-environment{which}");
    format!(
        "Known environments: {}. Same environment with a new key or URL: {same}. Another environment: groupdesk profile bind {name} \
         --new-environment",
        known.join(", ")
    )
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::AlreadyKnown { place } => {
            format!("its URL and API key already belong to environment {place}")
        }
        Refusal::WhichPlace { places } if places.is_empty() => {
            "no known environment matches; the first request creates one".into()
        }
        Refusal::WhichPlace { places } => format!(
            "several environments are possible, choose one: --same-environment {}",
            joined(places.iter().map(|place| quoted(place)), " | ")
        ),
        Refusal::NotBound => "it is not bound to any environment".into(),
        Refusal::UnderWay { place, by } => format!(
            "{by} has a change in progress in environment {place}, and its result could not be saved. Try again in {} minutes",
            LONGEST_SETTLE_WINDOW.as_secs() / 60
        ),
        Refusal::OtherPlace { place } => format!(
            "its API key is known in environment {place}; if both are the same environment: groupdesk environment merge NAME INTO"
        ),
    }
}
