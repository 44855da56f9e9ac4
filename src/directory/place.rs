//! A place: one environment of one service. A profile is the name for one in somebody's configuration. Which place it
//! means is determined by its address *and* the fingerprint of its API key, because a key decides the environment
//! (hazard 12).

use jiff::Timestamp;

use crate::domain::{group::EnvironmentTag, token::Fingerprint, word_enum::word_enum};

/// Number of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(pub i64);

impl PlaceId {
    /// Contains nothing; used for reading when a profile was never bound.
    pub const NONE: Self = Self(0);
}

/// Number of an API key of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub i64);

word_enum! {
    /// How far an API key is trusted to be of its place.
    pub enum KeyState {
        Trusted = "trusted",
        /// It may only read groups that a person names, until a token that the place knows comes back.
        Trial = "trial",
        /// It turned out to be of another place, or a person took it back.
        Withdrawn = "withdrawn",
    }
}

/// An API key of a place; only its fingerprint is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceKey {
    pub id: KeyId,
    pub fingerprint: Fingerprint,
    pub state: KeyState,
    pub added_at: Timestamp,
    pub added_by: String,
    /// Number of history entries and rotations recorded with it.
    pub recorded: u32,
}

/// A place with everything that distinguishes it from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub id: PlaceId,
    pub name: String,
    pub tag: Option<EnvironmentTag>,
    /// Empty if it comes from a directory version that did not store addresses.
    pub urls: Vec<String>,
    pub keys: Vec<PlaceKey>,
    /// Names of the profiles that were last bound to it.
    pub profiles: Vec<String>,
    pub groups: u32,
    /// Number of changes with an unknown outcome, and of hand-offs that are not done.
    pub open: u32,
    /// When something was last recorded for it.
    pub last_used: Option<Timestamp>,
    pub alarms: Vec<Alarm>,
    /// Since when the directory counts as an older copy for it; see [`crate::domain::facts::Facts::restored_at`].
    pub restored_at: Option<Timestamp>,
}

/// An answer that contradicted a place. No request for a group is sent until an operator has acknowledged it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    pub number: i64,
    pub user_group_id: Option<String>,
    pub what: String,
    pub at: Timestamp,
    pub by: String,
}

/// Something that was decided about a place, or happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceEvent {
    pub at: Timestamp,
    pub by: String,
    pub profile: String,
    pub event: String,
    pub note: Option<String>,
}

/// A profile that is about to send or record something, and its API key.
#[derive(Debug, Clone)]
pub struct Caller {
    pub profile: String,
    /// In normal form.
    pub url: String,
    pub key: Fingerprint,
    pub environment: Option<EnvironmentTag>,
    /// Made from environment variables instead of a configuration file: its name says nothing about its key.
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
    /// Only an operator can decide; until then nothing is sent, recorded or settled.
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
    /// The tag that answers must not contradict.
    pub tag: Option<EnvironmentTag>,
    pub key: KeyId,
    pub on_trial: bool,
}

/// Another place of the same address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherPlace {
    pub name: String,
    pub groups: u32,
    pub open: u32,
}

/// What the operator has to decide before a profile may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub why: QuestionReason,
    /// Fingerprint of the profile's current key.
    pub key: Fingerprint,
    /// The possible places, most likely first.
    pub places: Vec<Place>,
}

/// Why it is not clear which place a profile means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionReason {
    /// The address is known, the key is not.
    NewKey,
    /// The key or the name is known with another address.
    OtherAddress,
    /// Neither the address nor the key is known, but a team works here already: it may be another spelling of its service.
    NewToTeam,
    /// Address and key belong to one place, but the name was bound to another one.
    OtherName,
}

/// The operator's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingAnswer {
    New,
    Same {
        /// `None` if only one place is possible.
        place: Option<PlaceId>,
        /// Trusted without a proof, because all tokens may have changed.
        unproven: bool,
    },
    /// Undoes the binding.
    Undo,
}

/// Why an answer was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Address and key already belong to this place.
    AlreadyKnown { place: String },
    /// Several places are possible (these), or none.
    WhichPlace { places: Vec<String> },
    /// The profile was never bound.
    NotBound,
    /// The key belongs to this other place.
    OtherPlace { place: String },
    /// Somebody may be about to record the outcome of a change there.
    UnderWay { place: String, by: String },
}

/// What currently blocks requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    pub key: KeyState,
    /// The tag that answers must not contradict.
    pub tag: Option<EnvironmentTag>,
    /// Unacknowledged alarms, oldest first.
    pub alarms: Vec<Alarm>,
}

/// What binding a profile would result in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindingPreview {
    /// A known place.
    Known,
    /// A new place, without a question.
    New,
    Asked(Question),
    /// As [`Binding::TagConflict`].
    TagConflict {
        place: String,
        profile: String,
    },
}
