//! A socket in front of a PostgreSQL server. It cuts connections at a commit, or stops the server there.

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
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

/// What happens to the next commit.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) commit: AtomicU8,
    /// Stops the server and starts it again.
    pub(crate) stop: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// The query that asks whether a commit took place is not answered.
    pub(crate) asked_in_vain: AtomicBool,
    pub(crate) cuts: AtomicUsize,
    /// How many writing transactions were begun.
    pub(crate) begun: AtomicUsize,
}

/// A proxy between a program and the server.
pub(crate) struct Cutter {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) plan: Arc<Plan>,
}

impl Plan {
    fn stop(&self, how: u8) {
        if how & STOP != 0 {
            self.stop.get().expect("a server that can be stopped")();
        }
    }
}

impl Cutter {
    pub(crate) fn new(server: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
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

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|some| some == part)
}

/// The answer to this is lost: to a commit, or (below) to the question whether it took place.
const COMMIT: u8 = 1;
const QUESTION: u8 = 2;
/// Everything from now on is lost.
const ALL: u8 = 8;

#[expect(clippy::needless_pass_by_value, reason = "it is a thread's own")]
fn forward(client: UnixStream, server: UnixStream, plan: Arc<Plan>) {
    let lost = Arc::new(AtomicU8::new(0));
    let answers = {
        let (mut from, mut to) = (
            server.try_clone().expect("a line"),
            client.try_clone().expect("a line"),
        );
        let (lost, plan) = (Arc::clone(&lost), Arc::clone(&plan));
        std::thread::spawn(move || {
            let mut bytes = vec![0; 1 << 16];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                let bytes = &bytes[..count];
                let how = lost.load(Ordering::SeqCst);
                match how & !STOP {
                    // The answer is dropped. Once it is here, the server has performed the commit.
                    COMMIT if contains(bytes, b"COMMIT\0") => {
                        plan.stop(how);
                        break;
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
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let bytes = &bytes[..count];
        if contains(bytes, b"READ WRITE\0") {
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
                BEHIND => lost.store(COMMIT | how & STOP, Ordering::SeqCst),
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
