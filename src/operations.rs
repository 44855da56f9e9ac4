//! What an operator can do. This is the only module where the service and the directory meet: every operation makes its
//! call to the service, then writes directory, history and journal together in one transaction, then returns the
//! answer.

mod answer;
mod at_work;
mod attempts;
pub mod attention;
pub mod batch;
mod bulk_edit;
mod cancel;
pub mod doctor;
mod failpoints;
mod failure;
mod feed;
mod files;
mod groups;
mod handoff;
mod location;
mod outcome;
mod permission;
mod prelude;
mod profiles;
mod recording;
mod refresh;
mod rotation;
pub mod run;

use prelude::*;
use rotation::since_sent::SentTimes;
use secrecy::SecretString;
use tokio::sync::{OnceCell, watch};

pub use crate::platform::clock::Clock;
pub use at_work::InHand;
pub use attempts::Unrecorded;
pub use cancel::Cancel;
pub use failpoints::{Failpoint, fail_at};
pub use failure::{Class, Failure};
pub use feed::{Feed, HistoryFeed};
pub use files::export::{exported_row, format_of, path_and_columns};
pub use files::import::{Foresight, Permit, RowEnd, Sending};
pub use files::rows::{RowCounts, RowSent, Rows, RowsToSend, SendingRows};
pub use groups::annotations::view_name;
pub use groups::claim_holder::ClaimHolder;
pub use groups::claims::WaitListener;
pub use groups::not_known::UnknownFields;
pub use groups::request;
pub(crate) use groups::secret_check::{fingerprints_in, hide_secret_reasons, typed_secret};
pub use groups::token_lookup::{TokenLookup, TokenReport, Unclear};
pub use groups::update::sendable;
pub(crate) use groups::update::{add_new, not_created};
pub use handoff::{HandedOff, hand_off_cannot_start};
pub use location::{open_directory, team_location};
pub use outcome::{Done, Warning};
pub use permission::{NextStep, Refused};
pub use profiles::connect::{ConnectionTest, Connector, NotAdded};
pub use profiles::places::PlaceProblem;
pub use recording::changes_json;
pub use refresh::{GroupRead, Reading, Refresh, RefreshEvent};
pub use rotation::{
    check::{CheckCounts, CheckSum, Checked, Checking},
    recover::{Recovered, StillOpen},
    rotate::{JUST_ROTATED, Spare, Target},
};

#[cfg(feature = "failpoints")]
pub use crate::platform::test_clock::TEST_CLOCK;
/// Types of the layers below that callers need are re-exported here.
pub use crate::{
    api::{
        failure::Call,
        inspect::{as_curl, curl_of, request_json},
        probe::{Finding, Probe, Step},
        recording::{Body, ExchangeKind, Listener, RecordedExchange},
    },
    config::guard::Operation as Guarded,
    directory::{
        Alarm, Batch, BatchId, BatchItem, BatchOptions, BindingAnswer, Bound, ChangeCursor,
        Changes, DirectoryError, DraftHead, DraftSaved, FirstGroups, Import, ImportId, Imported,
        ItemKey, ItemUpdate, KeptDraft, KeyState, Mutation, MutationId, Numbered, OtherDraft,
        OtherPlace, Owner, Place, PlaceEvent, PlaceId, PlaceKey, PlaceStatus, Question,
        QuestionReason, Role, RotationId, RotationRow, ServerFault, TeamFault, WatchedConnection,
    },
};

use crate::{
    api::client::Client,
    config::{Environment, KeySource},
    directory::{HistoryFilter, RotationFilter},
    domain::{
        pasted::{Parts, may_have_token},
        rotation::{LONGEST_SETTLE_WINDOW, settle_window},
    },
    operations::profiles::{
        facts,
        places::{self, GateSnapshot},
    },
    search::{Builder, ListView, suggest::similar},
};

/// Groups read in one query.
const AT_ONCE: usize = 1_000;

/// Whether an id that the directory does not know may be read (hazard 1: a read can create).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownIdPolicy {
    /// Only ids that the directory knows; any other is refused before anything is sent.
    KnownOnly,
    /// The operator vouches that the group exists (`--exists`).
    Exists,
}

/// The kind of request that is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    /// A get of a group that has been seen at the service before.
    Read,
    /// A get of an id that may not exist yet and would then be created (hazard 1).
    MayCreate,
    Change(Guarded),
}

/// All operations of one operator on one profile. A cheap handle to clone.
#[derive(Clone)]
pub struct Operations(
    Arc<Inner>,
    /// Notified of every exchange made through this handle.
    Option<Listener>,
    /// Notified when this handle waits for a group that another mutation holds.
    Option<WaitListener>,
    /// What has become of a request that was sent is kept until the directory is back.
    bool,
    /// Cancels the changes made through this handle that are not sent yet.
    Option<Cancel>,
);

struct Inner {
    profile: Profile,
    /// Built on first use: reading the key can run a command, and building TLS takes 11 ms.
    client: OnceCell<Client>,
    key: OnceCell<SecretString>,
    here: places::CurrentPlace,
    /// `None` inside if the key could not be read.
    key_fingerprint: OnceCell<Option<Fingerprint>>,
    environment: Environment,
    directory: Directory,
    operator: String,
    clock: Clock,
    sent_times: SentTimes,
    last_stated: facts::LastStated,
    points: failpoints::Failpoints,
    unrecorded: watch::Sender<attempts::Unrecorded>,
}

impl Operations {
    pub fn new(
        profile: Profile,
        environment: Environment,
        directory: Directory,
        operator: String,
        clock: Clock,
    ) -> Self {
        if let KeySource::Env(name) = &profile.api_key {
            environment.hide_from_children(name);
        }
        // In a team's database, changes are recorded under the name that the database knows, with the machine that
        // claims it.
        let operator = match (directory.user(), operator.split_once('@')) {
            (Some(user), Some((_, machine))) => format!("{user}@{machine}"),
            (Some(user), None) => user.to_owned(),
            (None, _) => operator,
        };
        let inner = Arc::new(Inner {
            profile,
            client: OnceCell::new(),
            key: OnceCell::new(),
            here: places::CurrentPlace::default(),
            key_fingerprint: OnceCell::new(),
            environment,
            directory,
            operator,
            clock,
            sent_times: SentTimes::default(),
            last_stated: facts::LastStated::default(),
            points: failpoints::Failpoints::default(),
            unrecorded: watch::Sender::default(),
        });
        Self(inner, None, None, false, None)
    }

    /// Returns the same operations with `listener` notified of their exchanges, without secrets.
    #[must_use]
    pub fn with_listener(&self, listener: Listener) -> Self {
        Self {
            1: Some(listener),
            ..self.clone()
        }
    }

    pub fn profile(&self) -> &Profile {
        &self.0.profile
    }

    pub fn directory(&self) -> &Directory {
        &self.0.directory
    }

    pub fn operator(&self) -> &str {
        &self.0.operator
    }

    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Passes every group that the directory knows in this place to `take` in chunks, ordered by id, on a directory thread,
    /// until `take` returns false; beginning with the last if `reverse`.
    pub async fn each_group_from(
        &self,
        reverse: bool,
        take: impl FnMut(Vec<KnownGroup>) -> bool + Send + 'static,
    ) -> Result<(), DirectoryError> {
        let place = self.place().await?;
        self.0.directory.each_group_from(place, reverse, take).await
    }

    /// Folds all groups of a place with `step` without holding them in memory. Runs on a directory thread.
    async fn fold_groups<T: Default + Send + 'static>(
        &self,
        place: PlaceId,
        mut step: impl FnMut(&mut T, KnownGroup) + Send + 'static,
    ) -> Result<T, DirectoryError> {
        let made = Arc::new(Mutex::new(T::default()));
        let making = Arc::clone(&made);
        let take = move |groups: Vec<KnownGroup>| {
            let mut making = making.lock().unwrap_or_else(PoisonError::into_inner);
            for group in groups {
                step(&mut making, group);
            }
            true
        };
        self.0.directory.each_group(place, take).await?;
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut made))
    }

    /// Returns all groups of this place if there are at most `all`; otherwise the first `some` in the order of the
    /// view, as far as an index provides that order.
    pub async fn first_groups(
        &self,
        view: &ListView,
        all: usize,
        some: usize,
    ) -> Result<FirstGroups, DirectoryError> {
        let place = self.place().await?;
        // With a filter, the first groups cannot be told without filtering all of them.
        let some = if view.filter.is_empty() { some } else { 0 };
        self.directory()
            .first_groups(place, view.sort.clone(), view.reverse, (all, some))
            .await
    }

    /// Loads all groups of this place, for a list. `tell` receives the number loaded so far and returns whether to go on.
    pub async fn load_groups(
        &self,
        tell: impl FnMut(usize) -> bool + Send + 'static,
    ) -> Result<Builder, DirectoryError> {
        let place = self.place().await?;
        self.directory().load_groups(place, tell).await
    }

    /// Returns the known ids in ascending order.
    pub async fn known_ids(&self) -> Result<Vec<UserGroupId>, DirectoryError> {
        self.0.directory.known_ids(self.place().await?).await
    }

    /// Returns the list view as this profile last left it, if it ever was saved.
    pub async fn view(&self) -> Result<Option<ListView>, DirectoryError> {
        self.0.directory.view(&self.profile().name).await
    }

    /// Saves the list view of this profile.
    ///
    /// # Errors
    /// If the filter has a secret, or the directory cannot be written.
    pub async fn keep_view(&self, view: ListView) -> Result<(), Failure> {
        let kept = async {
            self.no_secret_in_text("filter", &view.filter).await?;
            let kept = self.0.directory.keep_view(&self.profile().name, view);
            kept.await.map_err(Failure::NothingSent)
        };
        let what = "the last filter and order were";
        kept.await.map_err(|failure| failure.of_saving(what))
    }

    /// Returns what the directory knows of one group. Nothing is sent.
    pub async fn show(&self, id: &UserGroupId) -> Result<Option<KnownGroup>, DirectoryError> {
        self.0.directory.group(self.place().await?, id).await
    }

    /// Returns what the directory knows of these groups, in the order of `ids`. Meant for up to a few thousand ids.
    pub async fn show_by_ids(
        &self,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<KnownGroup>>, DirectoryError> {
        let place = self.place().await?;
        self.0.directory.groups_by_ids(place, ids).await
    }

    /// As [`Operations::show_by_ids`], for any number of ids.
    pub async fn show_all(
        &self,
        ids: &[UserGroupId],
    ) -> Result<Vec<Option<KnownGroup>>, DirectoryError> {
        let mut groups = Vec::with_capacity(ids.len());
        for some in ids.chunks(AT_ONCE) {
            groups.extend(self.show_by_ids(some.to_vec()).await?);
        }
        Ok(groups)
    }

    /// Returns the history of this place, or of one group if an id is given, newest first.
    pub async fn history(
        &self,
        id: Option<UserGroupId>,
        limit: Option<usize>,
    ) -> Result<Vec<Numbered<Entry>>, DirectoryError> {
        let filter = HistoryFilter {
            place: Some(self.place().await?),
            user_group_id: id,
            limit,
            ..HistoryFilter::default()
        };
        self.0.directory.history(filter).await
    }

    /// Passes the history entries of this place that match `filter` to `take` in chunks, newest first, until `take`
    /// wants no more.
    pub async fn each_history<E: From<DirectoryError>>(
        &self,
        filter: HistoryFilter,
        mut take: impl AsyncFnMut(Vec<Numbered<Entry>>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut page = HistoryFilter {
            place: Some(self.place().await?),
            ..filter
        };
        let mut left = page.limit.unwrap_or(usize::MAX);
        while left > 0 {
            page.limit = Some(left.min(AT_ONCE));
            let lines = self.0.directory.history(page.clone()).await?;
            left -= lines.len();
            let Some(last) = lines.last() else { break };
            page.before = Some(last.number);
            if !take(lines).await? {
                break;
            }
        }
        Ok(())
    }

    /// Returns one history entry of this place.
    pub async fn history_entry(
        &self,
        number: i64,
    ) -> Result<Option<Numbered<Entry>>, DirectoryError> {
        let filter = HistoryFilter {
            place: Some(self.place().await?),
            before: number.checked_add(1),
            limit: Some(1),
            ..HistoryFilter::default()
        };
        let mut lines = self.0.directory.history(filter).await?.into_iter();
        Ok(lines.find(|line| line.number == number))
    }

    /// Returns the rotations of this place whose outcome is still unknown.
    pub async fn open_rotations(&self) -> Result<Vec<RotationRow>, DirectoryError> {
        self.open_rotations_of(self.place().await?).await
    }

    /// Returns the conflicts of this place that nothing has ended yet.
    pub async fn conflicts(&self) -> Result<Vec<RotationRow>, DirectoryError> {
        self.conflicts_of(self.place().await?, None).await
    }

    /// Of one group, or of all.
    async fn conflicts_of(
        &self,
        place: PlaceId,
        id: Option<&UserGroupId>,
    ) -> Result<Vec<RotationRow>, DirectoryError> {
        let filter = RotationFilter {
            place: Some(place),
            user_group_id: id.cloned(),
            conflicts_only: true,
            ..RotationFilter::default()
        };
        self.0.directory.rotations(filter).await
    }

    async fn open_rotations_of(&self, place: PlaceId) -> Result<Vec<RotationRow>, DirectoryError> {
        let filter = RotationFilter {
            place: Some(place),
            open_only: true,
            ..RotationFilter::default()
        };
        self.0.directory.rotations(filter).await
    }

    fn settle_window(&self) -> Duration {
        settle_window(self.profile().timeout)
    }

    /// The settle window of a change that was recorded with that of its sender, whose timeout may be longer than ours.
    fn settle_window_of(&self, settles_in: Duration) -> Duration {
        let own = self.settle_window();
        own.max(settles_in.min(LONGEST_SETTLE_WINDOW))
    }

    /// The only way to get a client for the service. Refuses what the profile forbids, and everything as long as the
    /// operator has to decide something about the place first. Every caller states what it is about to send.
    async fn client(&self, sends: RequestKind) -> Result<Client, Failure> {
        self.client_with_gate(sends, None).await
    }

    /// As [`Operations::client`]; `seen` is the gate if it was just read.
    async fn client_with_gate(
        &self,
        sends: RequestKind,
        seen: Option<GateSnapshot>,
    ) -> Result<Client, Failure> {
        match sends {
            RequestKind::Read => {}
            RequestKind::MayCreate => self.permitted(Guarded::Create)?,
            RequestKind::Change(operation) => self.permitted(operation)?,
        }
        self.may_send(seen).await?;
        self.ungated_client().await
    }

    /// Uses this key of the profile, which was read a moment ago: reading it again might run its command again.
    pub fn remember_key(&self, key: SecretString) {
        // One that was read already is the same.
        drop(self.0.key.set(key));
    }

    /// The API key, read only once: a key command may be slow or may prompt.
    async fn api_key(&self) -> Result<SecretString, Failure> {
        let inner = &self.0;
        let read = || async {
            let read = inner.profile.api_key.read(&inner.environment).await;
            read.map_err(|error| error.of_profile(&inner.profile.name))
        };
        Ok(inner.key.get_or_try_init(read).await?.clone())
    }

    async fn ungated_client(&self) -> Result<Client, Failure> {
        let inner = &self.0;
        let client = inner
            .client
            .get_or_try_init(|| async {
                let key = self.api_key().await?;
                Ok::<_, Failure>(Client::new(&inner.profile, key)?)
            })
            .await?;
        Ok(client.with_listener(self.1.clone()))
    }

    /// Reads the API key if one of these texts may have a part of it. That of a viewer is never read.
    async fn read_key_for(&self, texts: impl IntoIterator<Item = &str>) {
        let is_viewer = self.directory().role() == Some(Role::Viewer);
        if !is_viewer && texts.into_iter().any(may_have_token) {
            // One that cannot be read is reported by what needs it.
            drop(self.ungated_client().await);
        }
    }

    /// The first of these texts that has a part of the API key of the profile, or of a token that this process has had from
    /// the service, which was not there before. A key that only a command returns counts once it was read.
    async fn part_of_secret<'t>(
        &self,
        texts: impl Iterator<Item = &'t str> + Clone,
        before: Option<&Parts>,
    ) -> Option<usize> {
        if self.key_is_at_hand() {
            self.read_key_for(texts.clone()).await;
        }
        let client = self.0.client.get()?;
        let is_part =
            |text| Parts::of(text).is_some_and(|parts| client.has_part_of_secret(&parts, before));
        texts.into_iter().position(is_part)
    }

    /// Reads the API key and builds the client. Nothing is sent.
    pub async fn ready(&self) -> Result<(), Failure> {
        self.client(RequestKind::Read).await.map(|_| ())
    }

    /// Refuses an id that the directory does not know, naming the nearest known ids.
    pub async fn known(
        &self,
        id: &UserGroupId,
        assurance: UnknownIdPolicy,
    ) -> Result<Option<KnownGroup>, Failure> {
        let known = self.show(id).await.map_err(Failure::NothingSent)?;
        if known.is_none() && assurance == UnknownIdPolicy::Exists {
            self.no_mistake_as_id(id).await?;
        }
        self.may_read(id, known.as_ref(), assurance).await?;
        Ok(known)
    }

    async fn may_read(
        &self,
        id: &UserGroupId,
        known: Option<&KnownGroup>,
        assurance: UnknownIdPolicy,
    ) -> Result<(), Failure> {
        // A group known only from a file may not exist.
        let is_known = known.is_some_and(KnownGroup::is_seen);
        if !is_known && assurance == UnknownIdPolicy::Exists {
            // Reading it could create it.
            self.permitted(Guarded::Create)?;
        }
        if !is_known && assurance == UnknownIdPolicy::KnownOnly {
            // It may be known in a place that the operator has to bind first; then say that instead.
            if let Err(asked @ Failure::Place(_)) = self.bound().await {
                return Err(asked);
            }
            let may_create = self.permitted(Guarded::Create).is_ok();
            if known.is_some() && !may_create {
                return Err(Failure::guarded(format!(
                    "\"{id}\" comes from a file and was never seen in the service, so reading it could create it, and you may \
                     not create groups; nothing was sent"
                )));
            }
            if known.is_some() {
                return Err(Failure::guarded(format!(
                    "\"{id}\" comes from a file and was never seen in the service, so reading it could create it; \
                     nothing was sent. If you are sure that it exists: {}",
                    id.command("get", "--exists")
                )));
            }
            return Err(self.not_known(id, "nothing was sent").await);
        }
        Ok(())
    }

    /// That the directory does not know this id, with the known ids nearest to it; `undone` says what was not done.
    pub(crate) async fn not_known(&self, id: &UserGroupId, undone: &'static str) -> Failure {
        let known = async { Ok((self.known_ids().await?, self.open_changes().await?)) };
        let (known, open) = match known.await {
            Ok(known) => known,
            Err(error) => return Failure::NothingSent(error),
        };
        let near = similar(id.as_str(), &known, 3).into_iter();
        Failure::NotKnown {
            id: id.clone(),
            near: near.cloned().collect(),
            undone,
            may_create: self.permitted(Guarded::Create).is_ok(),
            open: open
                .iter()
                .find(|open| open.user_group_id == *id)
                .map(|open| {
                    let (at, next) = (when::second(open.since()), self.next_step(open));
                    format!("Its create of {at} has no result yet: {next}")
                }),
        }
    }

    /// Refuses to change a group that was last seen in another environment (hazard 11), unless the operator vouches
    /// that it exists here: the profile may have been corrected since.
    fn check_environment(
        &self,
        group: &KnownGroup,
        assurance: UnknownIdPolicy,
    ) -> Result<(), Failure> {
        let got = group.environment_tag.as_ref().map(|known| &known.value);
        match (&self.profile().environment, got) {
            (Some(expected), Some(got))
                if expected != got && assurance == UnknownIdPolicy::KnownOnly =>
            {
                Err(Failure::WrongEnvironment {
                    id: group.id.clone(),
                    expected: expected.clone(),
                    got: got.clone(),
                })
            }
            _ => Ok(()),
        }
    }
}
