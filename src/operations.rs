//! What an operator can do. The only place where the service and the directory meet: every operation is the call,
//! then one transaction that writes directory, history and journal together, then the answer.

mod answer;
mod at_work;
pub mod attention;
pub mod batch;
mod breaking;
mod bulk_edit;
pub mod doctor;
mod failpoints;
mod failure;
mod feed;
mod files;
mod groups;
mod handoff;
mod location;
mod outcome;
mod profiles;
mod recording;
mod refresh;
mod rotation;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use rotation::settle_window::SentTimes;
use secrecy::SecretString;
use tokio::sync::OnceCell;

pub use crate::platform::clock::Clock;
pub use breaking::break_at;
pub use failpoints::Failpoint;
pub use failure::Failure;
pub use feed::{Feed, HistoryFeed};
pub use files::export::{exported_row, format_of, path_and_columns};
pub use files::import::{Permit, RowEnd, Sending};
pub use groups::claim_holder::ClaimHolder;
pub use groups::claims::Waiting;
pub use groups::not_known::UnknownFields;
pub use groups::request;
pub use groups::token_lookup::{TokenLookup, TokenReport, not_a_token};
pub use groups::update::sendable;
pub use handoff::HandedOff;
pub use location::{open_directory, team_location};
pub use outcome::{Done, Warning};
pub use profiles::connect::{ConnectionTest, Connector, NotAdded};
pub use profiles::places::PlaceProblem;
pub use recording::changes_json;
pub use refresh::{GroupRead, Refresh, RefreshEvent, RefreshRun};
pub use rotation::recover::{Recovered, StillOpen};

#[cfg(feature = "failpoints")]
pub use crate::platform::test_clock::TEST_CLOCK;
/// What callers see of the layers below comes through here.
pub use crate::{
    api::{
        failure::Call,
        inspect::{Method, as_curl, curl_of, request_json},
        probe::{Finding, Probe, Step},
        recording::{Body, ExchangeKind, Listener, RecordedExchange},
    },
    config::guard::Operation as Guarded,
    directory::{
        Alarm, Batch, BatchId, BatchItem, BindingAnswer, Bound, ChangeCursor, Changes,
        DirectoryError, DraftHead, DraftSaved, Fact, FirstGroups, Import, ImportId, Imported,
        ItemKey, ItemUpdate, KeptDraft, KeyState, Mutation, MutationId, Numbered, OtherDraft,
        OtherPlace, Owner, Place, PlaceEvent, PlaceId, PlaceKey, Question, QuestionReason, Role,
        RotationId, RotationRow, Standing, TeamFault, WatchedLine,
    },
};

use crate::{
    api::client::Client,
    config::{
        Environment, guard,
        profile::{KeySource, Profile},
    },
    directory::{Directory, HistoryFilter, RotationFilter},
    domain::{group::UserGroupId, history::Entry, known::KnownGroup, rotation::settle_window},
    operations::profiles::{facts, places},
    search::{Builder, ListView, SortBy, suggest::near},
};

/// Groups that are read in one go.
const AT_ONCE: usize = 1_000;

/// Copies of groups that are repaired in one transaction, so that nobody waits long for it.
const REPAIRED: usize = 1 << 10;

/// Whether an id may be read that the directory does not know (hazard 1: a read can create).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownIdPolicy {
    /// Only ids the directory knows; anything else is refused with nothing sent.
    KnownOnly,
    /// A person says that the group exists (`--exists`).
    Exists,
}

/// What a request is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    /// A get of a group that was seen at the service.
    Read,
    /// A get of an id that may not be there yet (hazard 1).
    MayCreate,
    Change(Guarded),
}

/// All operations of one operator on one profile. A cheap handle.
#[derive(Clone)]
pub struct Operations(
    Arc<Inner>,
    /// Who gets to know the exchanges of this handle.
    Option<Listener>,
    /// Who gets to know of whom is waited for.
    Option<Waiting>,
);

struct Inner {
    profile: Profile,
    /// Made at first use: reading the key can take a command, building TLS takes 11 ms.
    client: OnceCell<Client>,
    key: OnceCell<SecretString>,
    here: places::CurrentPlace,
    /// Where address and key alone tell the place.
    by_key: OnceCell<Option<PlaceId>>,
    environment: Environment,
    directory: Directory,
    operator: String,
    clock: Clock,
    sendings: SentTimes,
    heard: facts::LastStated,
    points: failpoints::Failpoints,
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
            environment.holds_a_key(name);
        }
        // In a team's database it is done in the name that the database knows, from the machine that says so.
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
            by_key: OnceCell::new(),
            environment,
            directory,
            operator,
            clock,
            sendings: SentTimes::default(),
            heard: facts::LastStated::default(),
            points: failpoints::Failpoints::default(),
        });
        Self(inner, None, None)
    }

    /// The same operations, whose exchanges this listener gets to know, without their secrets.
    #[must_use]
    pub fn with_listener(&self, listener: Listener) -> Self {
        Self(Arc::clone(&self.0), Some(listener), self.2.clone())
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

    /// Every group the directory knows in this place, by id.
    pub async fn list(&self) -> Result<Vec<KnownGroup>, DirectoryError> {
        self.0.directory.groups(self.place().await?).await
    }

    /// The same groups, some at a time, on a thread of the directory; as long as `take` wants more.
    pub async fn each_group(
        &self,
        take: impl FnMut(Vec<KnownGroup>) -> bool + Send + 'static,
    ) -> Result<(), DirectoryError> {
        let place = self.place().await?;
        self.0.directory.each_group(place, take).await
    }

    /// The same in the order of names or ids, or the other way round.
    pub async fn each_group_by(
        &self,
        order: (SortBy, bool),
        take: impl FnMut(Vec<KnownGroup>) -> bool + Send + 'static,
    ) -> Result<(), DirectoryError> {
        let place = self.place().await?;
        self.0.directory.each_group_by(place, order, take).await
    }

    /// What `step` makes of all groups, one after another, without holding them; runs on a thread of the directory.
    pub async fn fold_groups<T: Default + Send + 'static>(
        &self,
        mut step: impl FnMut(&mut T, KnownGroup) + Send + 'static,
    ) -> Result<T, DirectoryError> {
        let made = Arc::new(Mutex::new(T::default()));
        let making = Arc::clone(&made);
        self.each_group(move |groups| {
            let mut making = making.lock().unwrap_or_else(PoisonError::into_inner);
            for group in groups {
                step(&mut making, group);
            }
            true
        })
        .await?;
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut made))
    }

    /// All groups of this place where they are no more than `all`, else the first `some` in the order of the view, as far as
    /// an index has it.
    pub async fn first_groups(
        &self,
        view: &ListView,
        all: usize,
        some: usize,
    ) -> Result<FirstGroups, DirectoryError> {
        let place = self.place().await?;
        // With a filter nobody knows which ones are the first.
        let some = if view.filter.is_empty() { some } else { 0 };
        let first = self
            .directory()
            .first_groups(place, view.sort.clone(), view.reverse, (all, some))
            .await?;
        if first.is_all {
            self.repair_beside(place, &first.unreadable);
        }
        Ok(first)
    }

    /// All groups of this place, packed, for a list; `tell` hears how many are there so far, and says whether more are
    /// wanted. Copies that cannot be read are repaired beside it.
    pub async fn load_groups(
        &self,
        tell: impl FnMut(usize) -> bool + Send + 'static,
    ) -> Result<Builder, DirectoryError> {
        let place = self.place().await?;
        let (builder, unreadable) = self.directory().load_groups(place, tell).await?;
        self.repair_beside(place, &unreadable);
        Ok(builder)
    }

    /// Where it fails, the next list is as right, and tries again.
    fn repair_beside(&self, place: PlaceId, unreadable: &[UserGroupId]) {
        let parts: Vec<_> = unreadable.chunks(REPAIRED).map(<[_]>::to_vec).collect();
        if parts.is_empty() {
            return;
        }
        let directory = self.directory().clone();
        tokio::spawn(async move {
            for part in parts {
                directory.repair_copies(place, part).await?;
            }
            Ok::<_, DirectoryError>(())
        });
    }

    /// The known ids, ascending.
    pub async fn known_ids(&self) -> Result<Vec<UserGroupId>, DirectoryError> {
        self.0.directory.known_ids(self.place().await?).await
    }

    /// How the list of this profile was left, if it ever was.
    pub async fn view(&self) -> Result<Option<ListView>, DirectoryError> {
        self.0.directory.view(&self.profile().name).await
    }

    /// Keeps how the list of this profile was left.
    pub async fn keep_view(&self, view: ListView) -> Result<(), DirectoryError> {
        self.0.directory.keep_view(&self.profile().name, view).await
    }

    /// What the directory knows of one group; nothing is sent.
    pub async fn show(&self, id: &UserGroupId) -> Result<Option<KnownGroup>, DirectoryError> {
        self.0.directory.group(self.place().await?, id).await
    }

    /// What the directory knows of these groups, in the order of the ids; some thousands at a time.
    pub async fn show_some(
        &self,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<KnownGroup>>, DirectoryError> {
        let place = self.place().await?;
        self.0.directory.some_groups(place, ids).await
    }

    /// The same of any number of them.
    pub async fn show_all(
        &self,
        ids: &[UserGroupId],
    ) -> Result<Vec<Option<KnownGroup>>, DirectoryError> {
        let mut groups = Vec::with_capacity(ids.len());
        for some in ids.chunks(AT_ONCE) {
            groups.extend(self.show_some(some.to_vec()).await?);
        }
        Ok(groups)
    }

    /// Newest first; of this place, and of one group where an id is given.
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

    /// Lines of this place as this filter says, some at a time, the newest first; as long as `take` wants more.
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

    /// One line of this place.
    pub async fn history_line(
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

    /// Rotations of this place whose outcome is still to be found out.
    pub async fn open_rotations(&self) -> Result<Vec<RotationRow>, DirectoryError> {
        let filter = RotationFilter {
            place: Some(self.place().await?),
            open_only: true,
            ..RotationFilter::default()
        };
        self.0.directory.rotations(filter).await
    }

    fn settle_window(&self) -> Duration {
        settle_window(self.profile().timeout)
    }

    /// The one way to the service: refused where the profile forbids it, and while a person has to say something about the
    /// place first. Every caller says what it is about to send.
    async fn client(&self, sends: RequestKind) -> Result<Client, Failure> {
        match sends {
            RequestKind::Read => {}
            RequestKind::MayCreate => self.permitted(Guarded::Create)?,
            RequestKind::Change(operation) => self.permitted(operation)?,
        }
        self.may_send().await?;
        self.ungated_client().await
    }

    /// Read once: a command that tells it may be slow, or ask.
    async fn api_key(&self) -> Result<SecretString, Failure> {
        let inner = &self.0;
        let read = || async { inner.profile.api_key.read(&inner.environment).await };
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

    /// Reads the API key and makes the client ready; nothing is sent.
    pub async fn ready(&self) -> Result<(), Failure> {
        self.client(RequestKind::Read).await.map(|_| ())
    }

    /// Refuses mutations of a read-only profile before anything is read or sent.
    pub fn writable(&self) -> Result<(), Failure> {
        if self.profile().read_only {
            return Err(Failure::ReadOnly {
                profile: self.profile().name.clone(),
            });
        }
        let may = self.directory().may(Role::Operator);
        may.map_err(Failure::NothingSent)
    }

    /// Refuses what the profile forbids: everything where it is read-only, else what a guard says. Checked here, so that
    /// command line and console cannot differ.
    pub fn permitted(&self, operation: Guarded) -> Result<(), Failure> {
        self.writable()?;
        match guard::forbidden(&self.profile().guards, operation) {
            Some(reason) => Err(Failure::Forbidden {
                operation,
                profile: self.profile().name.clone(),
                reason: reason.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Refuses an id that the directory does not know, and names the nearest ones it does.
    pub async fn known(
        &self,
        id: &UserGroupId,
        assurance: UnknownIdPolicy,
    ) -> Result<Option<KnownGroup>, Failure> {
        let known = self.show(id).await.map_err(Failure::NothingSent)?;
        self.may_read(id, known.as_ref(), assurance).await?;
        Ok(known)
    }

    async fn may_read(
        &self,
        id: &UserGroupId,
        known: Option<&KnownGroup>,
        assurance: UnknownIdPolicy,
    ) -> Result<(), Failure> {
        // What only a file told of may not be there.
        let is_known = known.is_some_and(|group| group.last_seen.is_some());
        if !is_known && assurance == UnknownIdPolicy::Exists {
            // Reading it could create it.
            self.permitted(Guarded::Create)?;
        }
        if !is_known && assurance == UnknownIdPolicy::KnownOnly {
            // What is known may stand in a place that a person has to name first.
            if let Err(asked @ Failure::Place(_)) = self.bound().await {
                return Err(asked);
            }
            if known.is_some() {
                return Err(Failure::OnlyImported { id: id.clone() });
            }
            let known = self.known_ids().await.map_err(Failure::NothingSent)?;
            return Err(Failure::NotKnown {
                id: id.clone(),
                near: near(id.as_str(), &known, 3).into_iter().cloned().collect(),
            });
        }
        Ok(())
    }

    /// Refuses a change of a group that was last seen in another environment (hazard 11), unless a person says that it
    /// exists here: the profile may have been corrected since.
    fn right_environment(
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
