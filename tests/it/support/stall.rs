//! Readers that do not read, so that buffers fill up and writers block.

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

/// Whether the reading thread should read.
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

    /// Waits while reading is stopped.
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

/// Fills the buffer of a pipe or terminal through a non-blocking file descriptor. It counts as full once `is_over`
/// returns true and no further byte is accepted.
pub(crate) fn fill(path: &Path, with: u8, is_over: impl Fn() -> bool) {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty()).expect("its other end is open");
    let end = Instant::now() + Duration::from_mins(1);
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

/// Waits until there is something to read from the terminal. Returns false when the test's side is to be closed.
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

/// The path of the program's side of a terminal; the program's own file descriptors cannot be inspected.
pub(super) fn other_side(terminal: &impl AsFd) -> PathBuf {
    let ours = format!("/proc/self/fdinfo/{}", terminal.as_fd().as_raw_fd());
    let told = std::fs::read_to_string(ours).expect("our side is open");
    let number = told
        .lines()
        .find_map(|line| line.strip_prefix("tty-index:"));
    PathBuf::from(format!("/dev/pts/{}", number.expect("a terminal").trim()))
}
