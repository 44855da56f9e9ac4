//! A place: one environment of one service. A profile is a name in somebody's configuration for one; which place it means is
//! told by its address *and* by the fingerprint of its API key, because a key decides the environment (docs: hazard 12).

use std::time::Duration;

use jiff::Timestamp;

use super::{Directory, DirectoryError, sqlite::Access, sqlite::places};
use crate::domain::{
    group::{EnvironmentTag, UserGroupId},
    token::Fingerprint,
};

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
    pub why: Why,
    /// Fingerprint of the key that the profile holds now.
    pub key: Fingerprint,
    /// The places it could be, the likeliest first.
    pub places: Vec<Place>,
}

/// Why it is not clear which place a profile means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
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
pub enum Answer {
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
pub enum Foreseen {
    /// A place that is known.
    Known,
    /// A place of its own, without a question.
    New,
    Asked(Question),
}

impl Directory {
    /// The place that this profile with this address was last bound to: enough for reading what is known. `None`: never.
    pub async fn place_of(
        &self,
        profile: &str,
        url: &str,
    ) -> Result<Option<PlaceId>, DirectoryError> {
        let (profile, url) = (profile.to_owned(), url.to_owned());
        self.run(Access::Glance, move |c| places::place_of(c, &profile, &url))
            .await
    }

    /// The place that knows both this address and this key.
    pub async fn place_with_key(
        &self,
        url: &str,
        key: Fingerprint,
    ) -> Result<Option<PlaceId>, DirectoryError> {
        let url = url.to_owned();
        self.run(Access::Glance, move |c| places::with_key(c, &url, key))
            .await
    }

    /// Compares address, key and name with what is known, and binds the profile where there is no doubt.
    pub async fn bind(&self, caller: Caller) -> Result<Binding, DirectoryError> {
        let looked = caller.clone();
        // Nothing is to be written for a profile that is used every day.
        let settled = self
            .run(Access::Glance, move |c| places::bound(c, &looked))
            .await?;
        match settled {
            Some(bound) => Ok(Binding::Bound(bound)),
            None => {
                self.run(Access::Write, move |tx| places::bind(tx, &caller))
                    .await
            }
        }
    }

    /// What [`Directory::bind`] would come to; nothing is written.
    pub async fn foresee(&self, caller: Caller) -> Result<Foreseen, DirectoryError> {
        self.run(Access::Glance, move |c| places::foresee(c, &caller))
            .await
    }

    /// Addresses other than this one that a name was bound with, each with the name of its place.
    pub async fn bound_elsewhere(
        &self,
        profile: &str,
        url: &str,
    ) -> Result<Vec<(String, String)>, DirectoryError> {
        let (profile, url) = (profile.to_owned(), url.to_owned());
        self.run(Access::Glance, move |c| {
            places::elsewhere(c, &profile, &url)
        })
        .await
    }

    /// Binds the profile as a person said.
    pub async fn answer_binding(
        &self,
        caller: Caller,
        answer: Answer,
    ) -> Result<Result<Bound, Refusal>, DirectoryError> {
        self.run(Access::Write, move |tx| places::answer(tx, &caller, answer))
            .await
    }

    /// Other places of this address, and what is kept under this name from before addresses were, that hold something.
    pub async fn other_places(
        &self,
        profile: &str,
        url: &str,
        place: PlaceId,
    ) -> Result<Vec<OtherPlace>, DirectoryError> {
        let (profile, url) = (profile.to_owned(), url.to_owned());
        self.run(Access::Glance, move |c| {
            places::others(c, &profile, &url, place)
        })
        .await
    }

    /// What holds requests of this key back.
    pub async fn gate(&self, place: PlaceId, key: KeyId) -> Result<Gate, DirectoryError> {
        self.run(Access::Glance, move |c| places::gate(c, place, key))
            .await
    }

    /// Whether the group of this place ever had this token.
    pub async fn had_token(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        token: Fingerprint,
    ) -> Result<bool, DirectoryError> {
        let id = id.clone();
        self.run(Access::Glance, move |c| {
            places::had_token(c, place, &id, token)
        })
        .await
    }

    /// Ends the trial of a key: it is trusted from now on, or withdrawn together with the bindings that used it.
    pub async fn end_trial(
        &self,
        caller: Caller,
        bound: &Bound,
        state: KeyState,
        note: &str,
    ) -> Result<(), DirectoryError> {
        let (place, key, note) = (bound.place, bound.key, note.to_owned());
        self.run(Access::Write, move |tx| {
            places::end_trial(tx, &caller, place, key, state, &note)
        })
        .await
    }

    /// All places, by name.
    pub async fn places(&self) -> Result<Vec<Place>, DirectoryError> {
        self.run(Access::Long, places::all).await
    }

    /// What was said about a place, the oldest first.
    pub async fn place_events(&self, place: PlaceId) -> Result<Vec<PlaceEvent>, DirectoryError> {
        self.run(Access::Long, move |c| places::events(c, place))
            .await
    }

    /// Gives a place another name; `false` where another one has it.
    pub async fn rename_place(
        &self,
        place: PlaceId,
        name: &str,
        at: Timestamp,
        by: &str,
    ) -> Result<bool, DirectoryError> {
        let (name, by) = (name.to_owned(), by.to_owned());
        self.run(Access::Write, move |tx| {
            places::rename(tx, place, &name, at, &by)
        })
        .await
    }

    /// Makes one place of two, in one transaction: of each field the newer value stays, history, fingerprints, journals and
    /// batches are united, drafts of both stay.
    pub async fn merge_places(
        &self,
        from: PlaceId,
        into: PlaceId,
        at: Timestamp,
        by: &str,
    ) -> Result<Result<(), Refusal>, DirectoryError> {
        let by = by.to_owned();
        self.run(Access::Write, move |tx| {
            places::merge(tx, from, into, at, &by)
        })
        .await
    }

    /// Acknowledges all alarms of a place; says how many there were. `tag` is what answers are compared with from now on.
    pub async fn acknowledge(
        &self,
        place: PlaceId,
        tag: Option<EnvironmentTag>,
        at: Timestamp,
        by: &str,
        reason: &str,
    ) -> Result<usize, DirectoryError> {
        let (by, reason) = (by.to_owned(), reason.to_owned());
        self.run(Access::Write, move |tx| {
            places::acknowledge(tx, place, tag.as_ref(), at, &by, &reason)
        })
        .await
    }
}
