//! One operator's installation: its operator, directory, service and time.

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use groupdesk::{
    config::{
        Environment,
        profile::{KeySource, Profile},
    },
    directory::{BindingAnswer, Caller, Directory, DirectoryError, Location, PlaceId, Statement},
    domain::{
        facts::{Basis, Fact, Field, GetBehaviour, OmittedField},
        token::Fingerprint,
    },
    operations::{Clock, Operations},
};
use jiff::Timestamp;

use super::ANA;
use crate::support::postgres;

/// Builds [`Operations`]. Everything has its usual value unless set.
#[derive(Clone)]
pub(crate) struct Installation {
    profile: Profile,
    environment: Environment,
    directory: Directory,
    operator: String,
    clock: Clock,
}

impl Installation {
    pub(super) fn new(profile: Profile, directory: Directory) -> Self {
        Self {
            profile,
            environment: Environment::default(),
            directory,
            operator: ANA.into(),
            clock: Clock::System,
        }
    }

    /// Sets the operator.
    pub(crate) fn by(mut self, operator: &str) -> Self {
        self.operator = operator.into();
        self
    }

    /// Uses another directory.
    pub(crate) fn on(mut self, directory: &Directory) -> Self {
        self.directory = directory.clone();
        self
    }

    /// Uses another address instead of the service's: a fault server, a proxy.
    pub(crate) fn through(mut self, base_url: impl Into<String>) -> Self {
        self.profile.base_url = base_url.into();
        self
    }

    /// Uses a clock that stands still.
    pub(crate) fn at(mut self, time: Timestamp) -> Self {
        self.clock = Clock::Fixed(time);
        self
    }

    /// Uses any other clock.
    pub(crate) fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the timeout of an exchange. The settle window is twice as long, and at least a minute.
    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.profile.timeout = timeout;
        self.profile.connect_timeout = timeout;
        self
    }

    /// Uses this API key, from a variable.
    pub(crate) fn key(mut self, key: &str) -> Self {
        self.profile.api_key = KeySource::Env("KEY".into());
        self.environment = [("KEY", key)].into_iter().collect();
        self
    }

    /// Changes any other setting of the profile.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Profile)) -> Self {
        change(&mut self.profile);
        self
    }

    /// Builds operations that are bound to the place with the profile's name, whatever its address and key, so that
    /// tests of other things meet no question. [`Home::unbound`] does meet it.
    pub(crate) fn operations(self) -> Operations {
        let own = self.in_own_name();
        bind(&own.directory, &own.profile, &own.environment);
        own.unbound()
    }

    fn in_own_name(mut self) -> Self {
        self.directory = opened_by(&self.directory, &self.operator);
        self
    }

    /// Builds the operations of somebody who uses groupdesk for the first time.
    pub(crate) fn unbound(self) -> Operations {
        let Self {
            profile,
            environment,
            directory,
            operator,
            clock,
        } = self.in_own_name();
        Operations::new(profile, environment, directory, operator, clock)
    }
}

/// The same directory for this operator: with a connection of the operator's own if it is a team's.
pub(crate) fn opened_by(directory: &Directory, operator: &str) -> Directory {
    let who = operator.split('@').next().unwrap_or_default();
    match directory.location() {
        Location::Team(team) if directory.user() != Some(who) => {
            Directory::open(&postgres::as_operator(team, who)).expect("it opens")
        }
        _ => directory.clone(),
    }
}

/// In whose name a scene is made in this directory.
fn by(directory: &Directory) -> String {
    let user = directory.user().filter(|user| !ANA.starts_with(user));
    user.unwrap_or(ANA).into()
}

/// Answers the question which place a profile means, as a person who knows would. Returns `None` if the key cannot be
/// read or belongs to another place; then the first use of the profile is refused.
pub(crate) fn bind(
    directory: &Directory,
    profile: &Profile,
    environment: &Environment,
) -> Option<PlaceId> {
    wait_for(async {
        let key = profile.api_key.read(environment).await.ok()?;
        let caller = Caller {
            profile: profile.name.clone(),
            url: profile.url(),
            key: directory.fingerprinter().of_key(&key),
            environment: profile.environment.clone(),
            from_variables: false,
            key_changes: false,
            at: Timestamp::now(),
            by: by(directory),
        };
        let places = directory.places().await.expect("readable");
        let place = places.iter().find(|place| place.name == profile.name);
        let answer = match place {
            Some(place) => BindingAnswer::Same {
                place: Some(place.id),
                unproven: true,
            },
            None => BindingAnswer::New,
        };
        let bound = directory.answer_binding(caller, answer).await;
        let place = bound.expect("writable").ok().map(|bound| bound.place)?;
        tell(directory, place, profile).await;
        Some(place)
    })
}

/// Marks every alarm as looked into.
pub(crate) fn acknowledge(directory: &Directory) {
    let by = by(directory);
    for place in wait_for(directory.places()).expect("readable") {
        let tag = place.tag.clone();
        let done = directory.acknowledge(place.id, tag, Timestamp::now(), &by, "a test goes on");
        wait_for(done).expect("writable");
    }
}

/// Declares facts so that tests of other things can send updates unchanged: fields that did not change are sent
/// unchanged, and a header of the service does not contradict that. [`Home::unbound`] with a directory of its own has
/// none of these facts.
async fn tell(directory: &Directory, place: PlaceId, profile: &Profile) {
    let known = directory.facts(place).await.expect("readable");
    let on_get = if profile.read_properties || known.properties_are_readable() {
        GetBehaviour::Returned
    } else {
        GetBehaviour::Echoed
    };
    let absent = Field::ALL.map(|field| Fact::OmittedField(field, OmittedField::Unknown));
    let facts = [Fact::PropertiesOnGet(on_get)];
    let statements = facts.into_iter().chain(absent).map(|fact| Statement {
        fact,
        basis: Basis::Told,
        at: Timestamp::now(),
        by: by(directory),
    });
    let told = directory.state_facts(place, statements.collect()).await;
    told.expect("writable");
}

/// Declares whether anybody else writes to the place.
pub(super) fn tell_alone(directory: &Directory, place: PlaceId, alone: bool) {
    let said = Statement {
        fact: Fact::SoleWriter(alone),
        basis: Basis::Told,
        at: Timestamp::now(),
        by: by(directory),
    };
    wait_for(directory.state_facts(place, vec![said])).expect("writable");
}

/// Blocks this thread, because scenes are built where nothing can be awaited.
pub(crate) fn wait_for<T>(work: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    // Inside a tokio task, its budget would run out here and nothing would renew it.
    let mut work = pin!(tokio::task::unconstrained(work));
    loop {
        match work.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

/// The place of this name, with a key of its own; created if necessary.
pub(crate) fn place(directory: &Directory, name: &str) -> PlaceId {
    try_place(directory, name).expect("a good directory")
}

/// The same for a directory that may be damaged.
pub(crate) fn try_place(directory: &Directory, name: &str) -> Result<PlaceId, DirectoryError> {
    let known = wait_for(directory.places())?;
    if let Some(place) = known.iter().find(|place| place.name == name) {
        return Ok(place.id);
    }
    let caller = Caller {
        profile: name.into(),
        url: format!("https://{name}.example.com/api/user"),
        key: Fingerprint::from_bytes([name.len() as u8; 32]),
        environment: None,
        from_variables: false,
        key_changes: false,
        at: Timestamp::now(),
        by: by(directory),
    };
    match wait_for(directory.answer_binding(caller, BindingAnswer::New))? {
        Ok(bound) => Ok(bound.place),
        // Another process was faster.
        Err(_) => try_place(directory, name),
    }
}
