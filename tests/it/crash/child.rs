//! An installation in a process of its own: the test binary again, controlled by one variable. It kills itself with
//! SIGKILL at a given point, so that nothing is cleaned up.

use super::*;
use std::io::{BufRead, Write};

/// Contains the [`Order`]; only this test binary reads it.
pub(super) const ORDER: &str = "GROUPDESK_TEST_DESK";
/// Marks a line of the installation, to tell it from those of the test harness.
pub(super) const MARK: char = '@';

/// What the installation is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) task: Task,
    pub(super) directory: PathBuf,
    pub(super) base_url: String,
    pub(super) key: PathBuf,
    pub(super) id: String,
    pub(super) timeout: Duration,
    pub(super) variant: Variant,
    /// Noon of its day, in seconds since 1970.
    pub(super) noon: i64,
    /// The hand-off command; empty for none.
    pub(super) handoff: Vec<String>,
    /// Where it is killed, by the number in docs/design/rotation.md.
    pub(super) kill: Option<u8>,
    /// How often it passes that point before.
    pub(super) passes: u8,
    /// From where on its disk is full, by the number in docs/design/rotation.md.
    pub(super) full: Option<u8>,
    /// Whether it reports every point that it passes.
    pub(super) tells: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Task {
    /// One rotation, its confirmation and its hand-off, at noon.
    Rotate,
    /// One rotation per line of standard input, at the system's time.
    RotateOnDemand,
    /// A look-up at each of these times, in seconds after noon.
    LookUp(Vec<u64>),
    /// A recovery of everything open, at each of these times.
    Recover(Vec<u64>),
    /// A bulk rotation of these groups, one at a time, at noon.
    Bulk(Vec<String>),
    /// One change of one mapping row in these groups, one at a time, at noon.
    Edit(Vec<String>),
    /// The rest of the last bulk rotation, at each of these times.
    Resume(Vec<u64>),
}

/// The number of a failpoint in docs/design/rotation.md.
pub(super) fn number(point: Failpoint) -> u8 {
    match point {
        Failpoint::BeforeIntent => 1,
        Failpoint::IntentDurable => 2,
        Failpoint::SentDurable => 3,
        Failpoint::Answered | Failpoint::ShutOut => 5,
        Failpoint::OutcomeDurable => 6,
        Failpoint::UnknownDurable => 8,
        Failpoint::BeforeGet => 9,
        Failpoint::GetAnswered => 10,
        Failpoint::GetDurable => 11,
        Failpoint::ItemEnded => 12,
    }
}

/// The number of "shown" in docs/design/rotation.md, a point in the caller.
const SHOWN: u8 = 7;

/// Counts the points passed, and kills the process at the given one.
pub(super) struct Watch {
    kill: Option<u8>,
    full: Option<u8>,
    tells: bool,
    settling: AtomicBool,
    /// How often the point is still passed before the kill.
    passes: AtomicU8,
}

impl Watch {
    fn new(order: &Order) -> Self {
        Self {
            kill: order.kill,
            full: order.full,
            tells: order.tells,
            // The first reads of a rotation are not settling reads.
            settling: AtomicBool::new(matches!(
                order.task,
                Task::LookUp(_) | Task::Recover(_) | Task::Resume(_)
            )),
            passes: AtomicU8::new(order.passes),
        }
    }

    pub(super) fn show(&self, fingerprint: &[u8; 32]) {
        say("shown", &hex(fingerprint));
        listen();
        self.reached(SHOWN);
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
        let left = |passes: u8| passes.checked_sub(1);
        let (to, of) = (Ordering::SeqCst, Ordering::SeqCst);
        if self.kill == Some(number) && self.passes.fetch_update(to, of, left).is_err() {
            kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
        }
    }
}

/// From here on every write to a file fails, as on a full disk; pipes and sockets still work.
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

fn profile(order: &Order) -> Profile {
    let side = Side::Testing;
    let key = KeySource::File(order.key.clone());
    Profile {
        environment: Some(EnvironmentTag::Testing),
        production: false,
        timeout: order.timeout,
        connect_timeout: order.timeout,
        handoff: (!order.handoff.is_empty()).then(|| HandOffCommand {
            command: order.handoff.clone(),
            timeout: Duration::from_secs(20),
        }),
        ..Profile::new(side.name(), &order.base_url, key)
    }
}

/// Operations for what a person does about hand-offs, in this process.
pub(super) fn hand_off_operations(
    mut order: Order,
    handoff: Vec<String>,
    directory: &Directory,
) -> Operations {
    order.handoff = handoff;
    let (environment, directory) = (Environment::default(), directory.clone());
    let clock = Clock::System;
    Operations::new(profile(&order), environment, directory, ANA.into(), clock)
}

/// The installation in this process.
pub(super) struct Child {
    pub(super) order: Order,
    pub(super) profile: Profile,
    pub(super) directory: Directory,
    pub(super) watch: Arc<Watch>,
}

impl Child {
    fn open(order: Order) -> Self {
        let profile = profile(&order);
        Self {
            profile,
            directory: opened(&order.directory),
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

    /// This many seconds after noon.
    pub(super) fn at(&self, seconds: u64) -> Timestamp {
        let noon = Timestamp::from_second(self.order.noon).expect("a time");
        noon + Duration::from_secs(seconds)
    }

    async fn carry_out(&self) {
        let id = id(&self.order.id);
        match &self.order.task {
            Task::Rotate if self.order.variant == Variant::Shipped => {
                let operations = self.operations(Clock::Fixed(self.at(0)));
                match operations.rotate(&id, None, UnknownIdPolicy::Exists).await {
                    Ok(mut done) => {
                        self.show(&done);
                        if done.ending == Ending::Rotated {
                            done = operations.confirm(done).await;
                            say("ended", done.ending.as_str());
                        }
                        if let Some(handed) = operations.hand_off(&done).await {
                            say("handed", handed.handoff.state.as_str());
                        }
                    }
                    Err(failure) => say("failed", &failure.to_string()),
                }
                self.room_again(&operations).await;
            }
            Task::Rotate => mistakes::rotate(self, self.at(0)).await,
            Task::RotateOnDemand => {
                let operations = self.operations(Clock::System);
                while listen() {
                    match operations.rotate(&id, None, UnknownIdPolicy::Exists).await {
                        Ok(done) => say("ended", done.ending.as_str()),
                        Err(failure) => say("failed", &failure.to_string()),
                    }
                }
            }
            Task::LookUp(times) => {
                for seconds in times {
                    let at = mistakes::settling_time(self.order.variant, self.at(*seconds));
                    let operations = self.operations(Clock::Fixed(at));
                    match operations.look_up(&id, UnknownIdPolicy::KnownOnly).await {
                        Ok(done) => say("ended", done.ending.as_str()),
                        Err(failure) => say("failed", &failure.to_string()),
                    }
                }
            }
            Task::Recover(times) => {
                for seconds in times {
                    let operations = self.operations(Clock::Fixed(self.at(*seconds)));
                    let all = operations.recover(&[], 4, |_| {}).await.expect("readable");
                    for recovered in all {
                        say("ended", recovered.row().rotation.state.as_str());
                    }
                }
            }
            Task::Bulk(groups) => batch::begin(self, groups).await,
            Task::Edit(groups) => edit::begin(self, groups).await,
            Task::Resume(times) => {
                for seconds in times {
                    batch::resume(self, self.at(*seconds)).await;
                }
            }
        }
    }

    /// After a full disk: with room again, the same installation reads the group.
    async fn room_again(&self, operations: &Operations) {
        if self.order.full.is_none() {
            return;
        }
        say("full", "");
        listen();
        make_room();
        match operations
            .look_up(&id(&self.order.id), UnknownIdPolicy::KnownOnly)
            .await
        {
            Ok(done) => say("ended", done.ending.as_str()),
            Err(failure) => say("failed", &failure.to_string()),
        }
    }

    /// Reports what a person would see: not the token, but that it is shown now. Waits until the test has looked.
    pub(super) fn show(&self, done: &Done) {
        if let Some(token) = done.token() {
            self.show_fingerprint(self.directory.fingerprinter().of(token).as_bytes());
        }
    }

    pub(super) fn show_fingerprint(&self, fingerprint: &[u8; 32]) {
        self.watch.show(fingerprint);
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
    // The test may be gone; then there is nobody to tell.
    let _ = writeln!(out, "{MARK}{what} {words}");
    let _ = out.flush();
}

/// Waits for a line; false at the end of the input.
fn listen() -> bool {
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .is_ok_and(|read| read > 0)
}

/// With an order this is an installation; without one, it tests that an order survives the way here.
#[test]
fn child() {
    let Ok(order) = std::env::var(ORDER) else {
        let order = Order {
            task: Task::LookUp(vec![7]),
            directory: "/d".into(),
            base_url: "http://127.0.0.1:1".into(),
            key: "/k".into(),
            id: "é\"".into(),
            timeout: Duration::from_millis(1),
            variant: Variant::Shipped,
            noon: 7,
            handoff: vec!["/h".into()],
            kill: Some(11),
            passes: 1,
            full: None,
            tells: true,
        };
        let text = serde_json::to_string(&order).expect("JSON");
        assert_eq!(serde_json::from_str::<Order>(&text).expect("JSON"), order);
        return;
    };
    let installation = Child::open(serde_json::from_str(&order).expect("an order"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(installation.carry_out());
}
