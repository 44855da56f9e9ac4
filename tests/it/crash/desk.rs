//! A desk in a process of its own: the test binary again, told by one variable what to do. It kills itself at the point
//! it was told, with SIGKILL, so that nothing of it gets the chance to tidy up.

use std::{
    io::{BufRead, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use groupdesk::{
    api::wire::DEFAULT_PATH,
    config::{
        Environment,
        profile::{KeySource, Profile},
    },
    directory::Directory,
    domain::{group::EnvironmentTag, history::Ending},
    operations::{Assurance, Clock, Done, Operations, Point},
};
use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};
use serde::{Deserialize, Serialize};

use super::{
    noon,
    wrong::{self, Variant},
};
use crate::support::world::{ANA, Side, id};

/// Holds the [`Order`]; nothing but this test binary reads it.
pub(super) const ORDER: &str = "GROUPDESK_TEST_DESK";
/// Before a line of the desk's, so that the test harness' own lines are told apart.
pub(super) const MARK: char = '@';

/// What a desk is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) task: Task,
    pub(super) directory: PathBuf,
    pub(super) base_url: String,
    pub(super) key: PathBuf,
    pub(super) id: String,
    pub(super) timeout: Duration,
    pub(super) variant: Variant,
    /// Where it ends, by the number of rotation.md.
    pub(super) kill: Option<u8>,
    /// Where its disk is full, by the number of rotation.md.
    pub(super) full: Option<u8>,
    /// It says every point it passes.
    pub(super) tells: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Task {
    /// One rotation and its confirmation, at noon.
    Rotate,
    /// One rotation a line of standard input, at the system's time.
    RotateOnDemand,
    /// A look-up at each of these times, in seconds after noon.
    LookUp(Vec<u64>),
}

/// The number of a point in rotation.md.
pub(super) fn number(point: Point) -> u8 {
    match point {
        Point::BeforeIntent => 1,
        Point::IntentDurable => 2,
        Point::SentDurable => 3,
        Point::Answered => 5,
        Point::OutcomeDurable => 6,
        Point::UnknownDurable => 8,
        Point::BeforeGet => 9,
        Point::GetAnswered => 10,
        Point::GetDurable => 11,
    }
}

/// Number of "shown" in rotation.md; the caller's own point.
const SHOWN: u8 = 7;

/// Counts what is passed, and ends the process where it was told.
pub(super) struct Watch {
    kill: Option<u8>,
    full: Option<u8>,
    tells: bool,
    settling: AtomicBool,
}

impl Watch {
    fn new(order: &Order) -> Self {
        Self {
            kill: order.kill,
            full: order.full,
            tells: order.tells,
            // The gets of the preflight are no settling gets.
            settling: AtomicBool::new(matches!(order.task, Task::LookUp(_))),
        }
    }

    pub(super) fn reached(&self, number: u8) {
        match number {
            5 => self.settling.store(true, Ordering::SeqCst),
            9..=11 if !self.settling.load(Ordering::SeqCst) => return,
            _ => {}
        }
        if self.tells {
            say("point", &number.to_string());
        }
        if self.full == Some(number) {
            fill_the_disk();
        }
        if self.kill == Some(number) {
            kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
        }
    }
}

/// From here on every write to a file fails, as on a full disk; pipes and sockets go on.
fn fill_the_disk() {
    let maximum = getrlimit(Resource::Fsize).maximum;
    let none = Rlimit {
        current: Some(1),
        maximum,
    };
    setrlimit(Resource::Fsize, none).expect("a limit can be lowered");
}

pub(super) fn make_room() {
    let maximum = getrlimit(Resource::Fsize).maximum;
    let all = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Fsize, all).expect("up to the hard limit");
}

/// A desk at work.
pub(super) struct Desk {
    pub(super) order: Order,
    pub(super) profile: Profile,
    pub(super) directory: Directory,
    pub(super) watch: Arc<Watch>,
}

impl Desk {
    fn open(order: Order) -> Self {
        let side = Side::Testing;
        let profile = Profile {
            name: side.name().into(),
            base_url: order.base_url.clone(),
            path: DEFAULT_PATH.into(),
            api_key: KeySource::File(order.key.clone()),
            environment: Some(EnvironmentTag::Testing),
            production: false,
            read_only: false,
            timeout: order.timeout,
            connect_timeout: order.timeout,
            allow_plain_http: false,
            proxy_from_environment: false,
            read_properties: false,
            handoff: None,
            max_token_age: None,
            max_bulk: 500,
            guards: Vec::new(),
        };
        Self {
            profile,
            directory: Directory::open(&order.directory).expect("a directory"),
            watch: Arc::new(Watch::new(&order)),
            order,
        }
    }

    pub(super) fn operations(&self, clock: Clock) -> Operations {
        let watch = self.watch.clone();
        Operations::new(
            self.profile.clone(),
            Environment::default(),
            self.directory.clone(),
            ANA.into(),
            clock,
        )
        .watched(move |point| watch.reached(number(point)))
    }

    async fn carry_out(&self) {
        let id = id(&self.order.id);
        match &self.order.task {
            Task::Rotate if self.order.variant == Variant::Shipped => {
                let operations = self.operations(Clock::Fixed(noon()));
                match operations.rotate(&id, None, Assurance::Exists).await {
                    Ok(done) => {
                        self.show(&done);
                        if done.ending == Ending::Rotated {
                            let done = operations.confirm(done).await;
                            say("ended", done.ending.as_str());
                        }
                    }
                    Err(failure) => say("failed", &failure.to_string()),
                }
                self.room_again(&operations).await;
            }
            Task::Rotate => wrong::rotate(self, noon()).await,
            Task::RotateOnDemand => {
                let operations = self.operations(Clock::System);
                while listen() {
                    match operations.rotate(&id, None, Assurance::Exists).await {
                        Ok(done) => say("ended", done.ending.as_str()),
                        Err(failure) => say("failed", &failure.to_string()),
                    }
                }
            }
            Task::LookUp(times) => {
                for seconds in times {
                    let at = noon() + Duration::from_secs(*seconds);
                    let at = wrong::settling_time(self.order.variant, at);
                    let operations = self.operations(Clock::Fixed(at));
                    match operations.look_up(&id, Assurance::KnownOnly).await {
                        Ok(done) => say("ended", done.ending.as_str()),
                        Err(failure) => say("failed", &failure.to_string()),
                    }
                }
            }
        }
    }

    /// After a full disk: the same desk, with room, reads the group.
    async fn room_again(&self, operations: &Operations) {
        if self.order.full.is_none() {
            return;
        }
        say("full", "");
        listen();
        make_room();
        match operations
            .look_up(&id(&self.order.id), Assurance::KnownOnly)
            .await
        {
            Ok(done) => say("ended", done.ending.as_str()),
            Err(failure) => say("failed", &failure.to_string()),
        }
    }

    /// What a person would see: not the token itself, but that it is seen now. Waits until the other end has looked.
    pub(super) fn show(&self, done: &Done) {
        if let Some(token) = &done.token {
            self.show_fingerprint(self.directory.fingerprinter().of(token).as_bytes());
        }
    }

    pub(super) fn show_fingerprint(&self, fingerprint: &[u8; 32]) {
        say("shown", &hex(fingerprint));
        listen();
        self.watch.reached(SHOWN);
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

pub(super) fn say(what: &str, words: &str) {
    let words = words.replace('\n', " ");
    let mut out = std::io::stdout().lock();
    // The other end may be gone; then nobody is to be told.
    let _ = writeln!(out, "{MARK}{what} {words}");
    let _ = out.flush();
}

/// Waits for a line; false at the end.
fn listen() -> bool {
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .is_ok_and(|read| read > 0)
}

/// With an order this is a desk; without, the test that an order survives its way here.
#[test]
fn desk() {
    let Ok(order) = std::env::var(ORDER) else {
        let order = Order {
            task: Task::LookUp(vec![7]),
            directory: "/d".into(),
            base_url: "http://127.0.0.1:1".into(),
            key: "/k".into(),
            id: "é\"".into(),
            timeout: Duration::from_millis(1),
            variant: Variant::Shipped,
            kill: Some(11),
            full: None,
            tells: true,
        };
        let text = serde_json::to_string(&order).expect("JSON");
        assert_eq!(serde_json::from_str::<Order>(&text).expect("JSON"), order);
        return;
    };
    let desk = Desk::open(serde_json::from_str(&order).expect("an order"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(desk.carry_out());
}
