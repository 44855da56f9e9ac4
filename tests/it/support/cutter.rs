//! A socket in front of a PostgreSQL server. It cuts connections at a commit, or stops the server there.

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

pub(crate) const WHOLE: u8 = 0;
/// The commit does not reach the server.
pub(crate) const BEFORE: u8 = 1;
/// The commit takes place, but its answer is lost.
pub(crate) const BEHIND: u8 = 2;
/// The commit is sent, and nothing else is known about it.
pub(crate) const DURING: u8 = 3;
/// In combination with one of the others: stop the server at that point.
pub(crate) const STOP: u8 = 4;
/// The commit does not reach the server, nor does anything else on that connection; both sides believe that it is still
/// open.
pub(crate) const SILENT: u8 = 8;
/// The commit reaches the server, and then the connection goes silent in the same way.
pub(crate) const SILENT_BEHIND: u8 = 16;

/// The commit takes place, and the server answers with [`Plan::error`].
pub(crate) const ERROR_BEHIND: u8 = 32;
/// The commit does not take place, and the server answers with [`Plan::error`].
pub(crate) const ERROR_BEFORE: u8 = 64;

/// The commit reaches the server, and from then on nothing passes on any connection, old or new, as when packets are
/// dropped.
pub(crate) const CUT_BEHIND: u8 = 128;

/// What happens to the next commit.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) commit: AtomicU8,
    /// Severity and SQLSTATE of an error that answers a commit.
    pub(crate) error: Mutex<(&'static str, &'static str)>,
    /// Stops the server and starts it again.
    pub(crate) stop: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// The query that asks whether a commit took place is not answered.
    pub(crate) asked_in_vain: AtomicBool,
    /// Nothing passes on any connection.
    pub(crate) is_cut: AtomicBool,
    /// When it was cut after so many messages.
    pub(crate) cut_at: OnceLock<Instant>,
    /// After this many further messages nothing passes on any connection; 0: never.
    pub(crate) cut_after: AtomicUsize,
    pub(crate) cuts: AtomicUsize,
    /// How many writing transactions were begun.
    pub(crate) begun: AtomicUsize,
    /// Round trips of the last writing transaction, with its commit.
    pub(crate) trips: AtomicUsize,
}

/// A proxy between a program and the server.
pub(crate) struct Cutter {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) plan: Arc<Plan>,
}

impl Plan {
    /// The message of the error, and whether the session goes on after it.
    fn error(&self) -> (Vec<u8>, bool) {
        let (severity, code) = *self.error.lock().expect("no thread panics");
        let fields = format!("S{severity}\0V{severity}\0C{code}\0Mtold by a test\0\0");
        let length = u32::try_from(fields.len() + 4).expect("it is short");
        let mut message = vec![b'E'];
        message.extend(length.to_be_bytes());
        message.extend(fields.into_bytes());
        (message, severity == "ERROR")
    }

    /// Counts a message of a client; whether nothing passes from it on.
    fn is_the_last(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.cut_after
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
            == Ok(1)
    }

    /// How long nothing has passed: the start of a program, which may take long on a busy machine, does not count.
    pub(crate) fn silent_for(&self) -> Duration {
        self.cut_at.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    fn stop(&self, how: u8) {
        if how & STOP != 0 {
            self.stop.get().expect("a server that can be stopped")();
        }
    }
}

impl Cutter {
    pub(crate) fn new(server: &Path) -> Self {
        let folder = crate::support::folder::temporary();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("a socket");
        let server = server.join(".s.PGSQL.5432");
        let plan: Arc<Plan> = Arc::default();
        let cutter = Self {
            folder,
            plan: Arc::clone(&plan),
        };
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else {
                    return;
                };
                // The server may be stopped at the moment.
                let Ok(server) = UnixStream::connect(&server) else {
                    continue;
                };
                let plan = Arc::clone(&plan);
                std::thread::spawn(move || forward(client, server, plan));
            }
        });
        cutter
    }
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|some| some == part)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    position(bytes, part).is_some()
}

/// The message that a transaction was committed.
const COMMITTED: &[u8] = b"C\0\0\0\x0bCOMMIT\0";

/// The answer to this is lost: to a commit, or (below) to the question whether it took place.
const COMMIT: u8 = 1;
const QUESTION: u8 = 2;
/// The answer to the commit is replaced by an error.
const REPLACED: u8 = 16;
/// Everything from now on is lost.
const ALL: u8 = 8;

#[expect(clippy::needless_pass_by_value, reason = "it is a thread's own")]
fn forward(client: UnixStream, server: UnixStream, plan: Arc<Plan>) {
    let lost = Arc::new(AtomicU8::new(0));
    let is_answered = Arc::new(AtomicBool::new(true));
    let answers = {
        let (mut from, mut to) = (
            server.try_clone().expect("a line"),
            client.try_clone().expect("a line"),
        );
        let (lost, plan) = (Arc::clone(&lost), Arc::clone(&plan));
        let is_answered = Arc::clone(&is_answered);
        std::thread::spawn(move || {
            let mut bytes = vec![0; 1 << 16];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                let bytes = &bytes[..count];
                is_answered.store(true, Ordering::SeqCst);
                if plan.is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let how = lost.load(Ordering::SeqCst);
                match how & !STOP {
                    // The answer is dropped. Once it is here, the server has performed the commit.
                    COMMIT if contains(bytes, b"COMMIT\0") => {
                        plan.stop(how);
                        break;
                    }
                    REPLACED if let Some(at) = position(bytes, COMMITTED) => {
                        lost.store(0, Ordering::SeqCst);
                        let (error, goes_on) = plan.error();
                        let rest = &bytes[at + COMMITTED.len()..];
                        let answer = [&bytes[..at], &error, if goes_on { rest } else { b"" }];
                        if to.write_all(&answer.concat()).is_err() || !goes_on {
                            break;
                        }
                        continue;
                    }
                    COMMIT | ALL => continue,
                    QUESTION if contains(bytes, b"INSERT 0 1\0") => break,
                    _ => {}
                }
                if to.write_all(bytes).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        })
    };
    let (mut from, mut to) = (client, server);
    let mut trips = 0;
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let bytes = &bytes[..count];
        if contains(bytes, b"READ COMMITTED") {
            trips = 0;
            is_answered.store(true, Ordering::SeqCst);
        }
        trips += usize::from(is_answered.swap(false, Ordering::SeqCst));
        if contains(bytes, b"COMMIT\0") {
            plan.trips.store(trips, Ordering::SeqCst);
        }
        if plan.is_cut.load(Ordering::SeqCst) {
            continue;
        }
        if plan.is_the_last() {
            plan.cut_at.get_or_init(Instant::now);
            plan.is_cut.store(true, Ordering::SeqCst);
            continue;
        }
        if contains(bytes, b"READ COMMITTED;") {
            plan.begun.fetch_add(1, Ordering::SeqCst);
        }
        if contains(bytes, b"COMMIT\0") {
            let how = plan.commit.swap(WHOLE, Ordering::SeqCst);
            plan.cuts
                .fetch_add(usize::from(how != WHOLE), Ordering::SeqCst);
            match how & !STOP {
                BEFORE => {
                    plan.stop(how);
                    break;
                }
                DURING => {
                    let _ = to.write_all(bytes);
                    plan.stop(how);
                    break;
                }
                SILENT => lost.store(ALL, Ordering::SeqCst),
                SILENT_BEHIND => {
                    let _ = to.write_all(bytes);
                    lost.store(ALL, Ordering::SeqCst);
                }
                CUT_BEHIND => {
                    plan.is_cut.store(true, Ordering::SeqCst);
                    let _ = to.write_all(bytes);
                }
                BEHIND => lost.store(COMMIT | how & STOP, Ordering::SeqCst),
                ERROR_BEHIND => lost.store(REPLACED, Ordering::SeqCst),
                ERROR_BEFORE => {
                    let answer = plan.error().0;
                    let _ = from.write_all(&answer);
                    break;
                }
                _ => {}
            }
        }
        if contains(bytes, b"RETURNING asked") && plan.asked_in_vain.swap(false, Ordering::SeqCst) {
            plan.cuts.fetch_add(1, Ordering::SeqCst);
            lost.store(QUESTION, Ordering::SeqCst);
        }
        if lost.load(Ordering::SeqCst) != ALL && to.write_all(bytes).is_err() {
            break;
        }
    }
    if lost.load(Ordering::SeqCst) == 0 {
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }
    drop(answers.join());
}
