//! A place: one environment of one service. A profile is a name in somebody's configuration for one; which place it means is
//! told by its address *and* by the fingerprint of its API key, because a key decides the environment (hazard 12).

mod requests;

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{group::EnvironmentTag, token::Fingerprint};

/// Number of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(pub i64);

impl PlaceId {
    /// Holds nothing: where a profile was never bound, there is nothing to read.
    pub const NONE: Self = Self(0);
}

/// Number of an API key of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub i64);

/// How far an API key is trusted to be of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    Trusted,
    /// It may only read groups that a person names, until a token that the place knows comes back.
    Trial,
    /// It turned out to be of another place, or a person took it back.
    Withdrawn,
}

impl KeyState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Trial => "trial",
            Self::Withdrawn => "withdrawn",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::Trusted, Self::Trial, Self::Withdrawn];
        all.into_iter().find(|state| state.as_str() == word)
    }
}

/// An API key of a place; only its fingerprint is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceKey {
    pub id: KeyId,
    pub fingerprint: Fingerprint,
    pub state: KeyState,
    pub added_at: Timestamp,
    pub added_by: String,
    /// Lines of the history and rotations that were written with it.
    pub recorded: u32,
}

/// A place with all that tells it from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub id: PlaceId,
    pub name: String,
    pub tag: Option<EnvironmentTag>,
    /// None where it comes from a directory that did not know of addresses.
    pub urls: Vec<String>,
    pub keys: Vec<PlaceKey>,
    /// Names of the profiles that were last bound to it.
    pub profiles: Vec<String>,
    pub groups: u32,
    /// Rotations of which something is still to be found out, and hand-offs that are due.
    pub open: u32,
    /// When something was last written down for it.
    pub last_used: Option<Timestamp>,
    pub alarms: Vec<Alarm>,
}

/// An answer that contradicted a place. Nothing by id is sent until a person has acknowledged it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    pub number: i64,
    pub user_group_id: Option<String>,
    pub what: String,
    pub at: Timestamp,
    pub by: String,
}

/// One thing that was said about a place, or happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceEvent {
    pub at: Timestamp,
    pub by: String,
    pub profile: String,
    pub event: String,
    pub note: Option<String>,
}

/// A profile that is about to send or to record something, and its API key.
#[derive(Debug, Clone)]
pub struct Caller {
    pub profile: String,
    /// In its normal form.
    pub url: String,
    pub key: Fingerprint,
    pub environment: Option<EnvironmentTag>,
    /// Made of variables, not of a configuration file: its name says nothing about its key.
    pub from_variables: bool,
    /// Its keys change by design: a new one goes on trial without a question.
    pub key_changes: bool,
    pub at: Timestamp,
    pub by: String,
}

/// Where a profile with its key belongs.
#[derive(Debug, Clone)]
pub enum Binding {
    Bound(Bound),
    /// Only a person can say; until then nothing is sent, recorded or settled.
    Asked(Question),
    /// Another profile of the same place names another environment tag.
    TagConflict {
        place: String,
        profile: String,
    },
}

/// A profile whose place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    pub place: PlaceId,
    pub name: String,
    /// What answers must not contradict.
    pub tag: Option<EnvironmentTag>,
    pub key: KeyId,
    pub on_trial: bool,
}

/// A place of the same address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherPlace {
    pub name: String,
    pub groups: u32,
    pub open: u32,
}

/// What a person is asked before a profile may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub why: QuestionReason,
    /// Fingerprint of the key that the profile holds now.
    pub key: Fingerprint,
    /// The places it could be, the likeliest first.
    pub places: Vec<Place>,
}

/// Why it is not clear which place a profile means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionReason {
    /// The address is known, the key is not.
    NewKey,
    /// The key, or the name, is known with another address.
    OtherAddress,
    /// Address and key are those of one place, but the name was bound to another one.
    OtherName,
    /// What is known under this name comes from before keys were compared.
    FromBefore,
}

/// A person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingAnswer {
    New,
    Same {
        /// `None` where only one is possible.
        place: Option<PlaceId>,
        /// Trusted without a proof: all tokens may have changed.
        unproven: bool,
    },
    /// Takes the binding back.
    Undo,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Address and key are those of this place already.
    AlreadyKnown { place: String },
    /// Several, or none, are possible: these.
    WhichPlace { places: Vec<String> },
    /// It was never bound.
    NotBound,
    /// The key belongs to this other place, which is a different one.
    OtherPlace { place: String },
    /// Somebody may be about to write down how a change there ended.
    UnderWay { place: String, by: String },
}

/// For so long after its last step a change counts as under way.
pub const STILL_UNDER_WAY: Duration = Duration::from_mins(10);

/// What holds requests back at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    pub key: KeyState,
    /// What answers must not contradict.
    pub tag: Option<EnvironmentTag>,
    /// Not acknowledged yet, the oldest first.
    pub alarms: Vec<Alarm>,
}

/// What binding a profile would come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindingPreview {
    /// A place that is known.
    Known,
    /// A place of its own, without a question.
    New,
    Asked(Question),
}
