//! What tests want at once; groupdesk's commands take it in steps, and show something in between.

use std::sync::{Arc, Mutex};

use groupdesk::{
    demo::{DemoError, EmptyWorld, Setup, World},
    directory::{Directory, DirectoryError, PlaceId},
    domain::{change::DesiredFields, group::UserGroupId, known::KnownGroup, update::Edit},
    operations::{Clock, Done, Failure, Operations, UnknownIdPolicy},
};

pub(crate) trait AllGroups {
    /// Every group that the directory knows in a place, ordered by id.
    async fn groups(&self, place: PlaceId) -> Result<Vec<KnownGroup>, DirectoryError>;
}

impl AllGroups for Directory {
    async fn groups(&self, place: PlaceId) -> Result<Vec<KnownGroup>, DirectoryError> {
        let all = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&all);
        let take = move |groups| {
            taken.lock().expect("alive").extend::<Vec<_>>(groups);
            true
        };
        self.each_group(place, take).await?;
        let mut all = all.lock().expect("alive");
        Ok(std::mem::take(&mut *all))
    }
}

pub(crate) trait AtOnce {
    async fn list(&self) -> Result<Vec<KnownGroup>, DirectoryError>;

    /// Rotates the token that the directory knows.
    async fn rotate(
        &self,
        id: &UserGroupId,
        reason: Option<String>,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure>;

    /// Replaces every field that differs; if `base` equals `wanted`, all of them.
    async fn update(
        &self,
        id: &UserGroupId,
        base: &DesiredFields,
        wanted: &DesiredFields,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure>;
}

impl AtOnce for Operations {
    async fn list(&self) -> Result<Vec<KnownGroup>, DirectoryError> {
        self.directory().groups(self.place().await?).await
    }

    async fn rotate(
        &self,
        id: &UserGroupId,
        reason: Option<String>,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        let known = self.known(id, assurance).await?;
        let seen = known.and_then(|group| group.fingerprint);
        let seen = seen.map(|known| known.value);
        self.rotate_seen(id, seen, reason, assurance).await
    }

    async fn update(
        &self,
        id: &UserGroupId,
        base: &DesiredFields,
        wanted: &DesiredFields,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        let nothing = DesiredFields::default();
        let base = if base == wanted { &nothing } else { base };
        let edit = Edit::whole(base, wanted);
        Box::pin(self.update_edit(id, &edit, assurance)).await
    }
}

/// The world of `groupdesk demo`, with the samples or this many generated groups.
pub(crate) async fn demo(groups: Option<usize>, clock: Clock) -> Result<World, DemoError> {
    let empty = EmptyWorld::open().await?;
    empty.fill(groups, clock, Setup::default(), |_| {}).await
}
