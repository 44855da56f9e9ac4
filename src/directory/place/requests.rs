//! Requests about places.

use jiff::Timestamp;

use super::{
    Binding, BindingAnswer, BindingPreview, Bound, Caller, Gate, KeyId, KeyState, OtherPlace,
    Place, PlaceEvent, PlaceId, Refusal,
};
use crate::{
    database::Access,
    directory::{Directory, DirectoryError, Role, sqlite::places},
    domain::{
        group::{EnvironmentTag, UserGroupId},
        token::Fingerprint,
    },
};

impl Directory {
    /// Returns the place that this profile with this address was last bound to, which is enough for reading. `None` if
    /// it never was.
    pub async fn place_of(
        &self,
        profile: &str,
        url: &str,
    ) -> Result<Option<PlaceId>, DirectoryError> {
        let (profile, url) = (profile.to_owned(), url.to_owned());
        self.execute(Access::Short, move |c| places::place_of(c, &profile, &url))
            .await
    }

    /// Returns the place with this name, otherwise the only one with this address.
    pub async fn place_named(
        &self,
        name: &str,
        url: &str,
    ) -> Result<Option<PlaceId>, DirectoryError> {
        let (name, url) = (name.to_owned(), url.to_owned());
        self.execute(Access::Short, move |c| places::named(c, &name, &url))
            .await
    }

    /// Returns the name of a place; `None` if there is no place with that number.
    pub async fn place_name(&self, place: PlaceId) -> Result<Option<String>, DirectoryError> {
        self.execute(Access::Short, move |c| places::name_of(c, place))
            .await
    }

    /// As [`Directory::place_of`], with the API key: `None` if the place does not know it. A profile that was never
    /// bound, and one made of variables, is recognised by address and key.
    pub async fn place_with_key(
        &self,
        (profile, url): (&str, &str),
        key: Fingerprint,
        from_variables: bool,
    ) -> Result<Option<PlaceId>, DirectoryError> {
        let (profile, url) = (profile.to_owned(), url.to_owned());
        self.execute(Access::Short, move |c| {
            places::with_key(c, (&profile, &url), key, from_variables)
        })
        .await
    }

    /// Compares address, key and name with what is known, and binds the profile if there is no doubt.
    pub async fn bind(&self, caller: Caller) -> Result<Binding, DirectoryError> {
        let copy = caller.clone();
        // Nothing needs to be written for a profile that is used every day.
        let settled = self
            .execute(Access::Short, move |tx| places::bound(tx, &copy))
            .await?;
        match settled {
            Some(bound) => Ok(Binding::Bound(bound)),
            None => self.write(move |tx| places::bind(tx, &caller)).await,
        }
    }

    /// Returns what [`Directory::bind`] would result in; nothing is written.
    pub async fn preview_binding(&self, caller: Caller) -> Result<BindingPreview, DirectoryError> {
        self.execute(Access::Short, move |c| places::preview_binding(c, &caller))
            .await
    }

    /// Returns the other addresses with which a name was bound, each with the name of its place.
    pub async fn bound_elsewhere(
        &self,
        profile: &str,
        url: &str,
    ) -> Result<Vec<(String, String)>, DirectoryError> {
        let (profile, url) = (profile.to_owned(), url.to_owned());
        self.execute(Access::Short, move |c| places::elsewhere(c, &profile, &url))
            .await
    }

    /// Binds the profile as the operator answered.
    pub async fn answer_binding(
        &self,
        caller: Caller,
        answer: BindingAnswer,
    ) -> Result<Result<Bound, Refusal>, DirectoryError> {
        self.write(move |tx| places::answer(tx, &caller, answer))
            .await
    }

    /// Returns other places of this address that are not empty.
    pub async fn other_places(
        &self,
        url: &str,
        place: PlaceId,
    ) -> Result<Vec<OtherPlace>, DirectoryError> {
        let url = url.to_owned();
        self.execute(Access::Short, move |c| places::others(c, &url, place))
            .await
    }

    /// Returns what blocks requests with this key.
    pub async fn gate(&self, place: PlaceId, key: KeyId) -> Result<Gate, DirectoryError> {
        let request = places::ReadGate { place, key };
        self.execute(Access::Current, move |tx| tx.run(&request))
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
        self.execute(Access::Short, move |c| {
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
        self.write(move |tx| places::end_trial(tx, &caller, place, key, state, &note))
            .await
    }

    /// Returns the indices of the fingerprints that are those of a token or an API key seen before, ascending.
    pub async fn known_secrets(
        &self,
        fingerprints: Vec<Fingerprint>,
    ) -> Result<Vec<usize>, DirectoryError> {
        if fingerprints.is_empty() {
            return Ok(Vec::new());
        }
        self.execute(Access::Short, move |c| {
            places::known_secrets(c, &fingerprints)
        })
        .await
    }

    /// Returns all places, by name.
    pub async fn places(&self) -> Result<Vec<Place>, DirectoryError> {
        self.execute(Access::Long, places::all).await
    }

    /// Returns the events of a place, oldest first.
    pub async fn place_events(&self, place: PlaceId) -> Result<Vec<PlaceEvent>, DirectoryError> {
        self.execute(Access::Long, move |c| places::events(c, place))
            .await
    }

    /// Renames a place; `false` if another one has that name.
    pub async fn rename_place(
        &self,
        place: PlaceId,
        name: &str,
        at: Timestamp,
        by: &str,
    ) -> Result<bool, DirectoryError> {
        let (name, by) = (name.to_owned(), by.to_owned());
        self.write(move |tx| places::rename(tx, place, &name, at, &by))
            .await
    }

    /// Renames a profile. Its place, with everything in it, stays; what this installation stores under the old name
    /// moves along. If the new name means another environment at the same address, nothing is done and the name of that
    /// environment is returned.
    pub async fn rename_profile(
        &self,
        name: &str,
        to: &str,
        at: Timestamp,
        by: &str,
    ) -> Result<Result<Vec<PlaceId>, String>, DirectoryError> {
        let (name, to, by) = (name.to_owned(), to.to_owned(), by.to_owned());
        self.write(move |tx| places::rename_profile(tx, (&name, &to), at, &by))
            .await
    }

    /// Merges two places in one transaction: of each field the newer value stays; history, fingerprints, journals and
    /// batches are united; drafts of both are kept.
    pub async fn merge_places(
        &self,
        from: PlaceId,
        into: PlaceId,
        at: Timestamp,
        by: &str,
    ) -> Result<Result<(), Refusal>, DirectoryError> {
        self.may(Role::Admin)?;
        let by = by.to_owned();
        self.write(move |tx| places::merge(tx, from, into, at, &by))
            .await
    }

    /// Acknowledges all alarms of a place and returns their number. `tag` is what answers are compared with from now
    /// on.
    pub async fn acknowledge(
        &self,
        place: PlaceId,
        tag: Option<EnvironmentTag>,
        at: Timestamp,
        by: &str,
        reason: &str,
    ) -> Result<usize, DirectoryError> {
        let (by, reason) = (by.to_owned(), reason.to_owned());
        self.write(move |tx| places::acknowledge(tx, place, tag.as_ref(), at, &by, &reason))
            .await
    }
}
