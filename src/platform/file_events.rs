//! Reports writes to a file without polling, by inotify, for local file systems.

use std::path::Path;

#[cfg(target_os = "linux")]
pub(crate) use linux::FileEvents;

/// Systems without such events never have a watcher.
#[cfg(not(target_os = "linux"))]
pub(crate) struct FileEvents(std::convert::Infallible);

#[cfg(not(target_os = "linux"))]
impl FileEvents {
    pub(crate) fn of(_: &Path) -> Option<Self> {
        None
    }

    pub(crate) async fn next(&mut self) {
        match self.0 {}
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::{
        inotify::{self, CreateFlags, WatchFlags},
        statfs,
    };
    use tokio::net::unix::pipe::Receiver;

    use super::Path;

    /// Magic numbers of file systems where writes of other machines cause no event: NFS, SMB and CIFS, 9P, FUSE, Ceph,
    /// AFS.
    const SHARED: [i64; 7] = [
        0x6969,
        0xfe53_4d42,
        0xff53_4d42,
        0x0102_1997,
        0x6573_5546,
        0x00c3_6400,
        0x5346_414f,
    ];

    /// The events of one file. They arrive as bytes to read, as from a pipe; only that there are some matters.
    pub(crate) struct FileEvents(Receiver);

    impl FileEvents {
        /// Starts watching; `None` if writes could go unnoticed. Must be called inside a runtime.
        pub(crate) fn of(file: &Path) -> Option<Self> {
            let kind = statfs(file).ok()?.f_type as i64;
            if SHARED.contains(&(kind & 0xffff_ffff)) {
                return None;
            }
            let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            inotify::add_watch(&events, file, WatchFlags::MODIFY).ok()?;
            Receiver::from_owned_fd_unchecked(events).ok().map(Self)
        }

        /// Waits until the file was written to. All writes up to then count as one event.
        pub(crate) async fn next(&mut self) {
            loop {
                if self.0.readable().await.is_err() {
                    // The runtime is shutting down.
                    return std::future::pending().await;
                }
                let mut came = false;
                while self.0.try_read(&mut [0; 4_096]).is_ok_and(|read| read > 0) {
                    came = true;
                }
                if came {
                    return;
                }
            }
        }
    }
}
