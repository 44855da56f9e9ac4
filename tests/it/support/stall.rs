//! Readers that do not read: what is on the way to them is full, and whoever writes waits.

use std::{
    os::{
        fd::{AsFd, AsRawFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU8, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{Mode, OFlags},
    io::Errno,
};

/// Whether the reading thread is to read.
#[derive(Default)]
pub(super) struct Stall(AtomicU8);

impl Stall {
    pub(super) const NONE: u8 = 0;
    pub(super) const WANTED: u8 = 1;
    pub(super) const THERE: u8 = 2;

    pub(super) fn set(&self, to: u8) {
        self.0.store(to, Ordering::SeqCst);
    }

    pub(super) fn is(&self, what: u8) -> bool {
        self.0.load(Ordering::SeqCst) == what
    }

    /// Waits while nothing is to be read.
    pub(super) fn pass(&self) -> bool {
        while !self.is(Self::NONE) {
            self.set_there();
            thread::park_timeout(Duration::from_millis(5));
        }
        true
    }

    fn set_there(&self) {
        let (to, of) = (Ordering::SeqCst, Ordering::SeqCst);
        let _ = self.0.compare_exchange(Self::WANTED, Self::THERE, to, of);
    }
}

/// Fills what the other end of a pipe or terminal has not read, through an opening of our own that does not wait. It is full
/// once it takes no byte while `is_over`.
pub(crate) fn fill(path: &Path, with: u8, is_over: impl Fn() -> bool) {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty()).expect("its other end is open");
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < end, "it is never full");
        let over = is_over();
        match rustix::io::write(&file, &[with; 1024]).or_else(|_| rustix::io::write(&file, &[with]))
        {
            Ok(_) => {}
            Err(Errno::AGAIN) if over => return,
            Err(Errno::AGAIN) => thread::park_timeout(Duration::from_millis(1)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Waits until the terminal has something for us; false once our side is to be closed.
pub(super) fn is_open(terminal: &impl AsFd, hung_up: &UnixStream) -> bool {
    let mut ready = [
        PollFd::new(terminal, PollFlags::IN),
        PollFd::new(hung_up, PollFlags::IN),
    ];
    loop {
        match poll(&mut ready, None) {
            Ok(_) => return ready[1].revents().is_empty(),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// The program's side of a terminal, by its name; what the program has open is its own secret.
pub(super) fn other_side(terminal: &impl AsFd) -> PathBuf {
    let ours = format!("/proc/self/fdinfo/{}", terminal.as_fd().as_raw_fd());
    let told = std::fs::read_to_string(ours).expect("our side is open");
    let number = told
        .lines()
        .find_map(|line| line.strip_prefix("tty-index:"));
    PathBuf::from(format!("/dev/pts/{}", number.expect("a terminal").trim()))
}
