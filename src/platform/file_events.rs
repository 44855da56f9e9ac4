//! Tells that a file was written to, without asking again and again: inotify, on file systems of this machine.

use std::path::Path;

#[cfg(target_os = "linux")]
pub(crate) use linux::FileEvents;

/// Where the system has no such events there is none.
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

    /// File systems that others may write to unheard, by their magic numbers: NFS, SMB and CIFS, 9P, FUSE, Ceph, AFS.
    const SHARED: [i64; 7] = [
        0x6969,
        0xfe53_4d42,
        0xff53_4d42,
        0x0102_1997,
        0x6573_5546,
        0x00c3_6400,
        0x5346_414f,
    ];

    /// The events of one file. They come as bytes to read, as from a pipe; that there are some is all that counts.
    pub(crate) struct FileEvents(Receiver);

    impl FileEvents {
        /// Listens from now on; `None` where writes can stay unheard. Inside a runtime.
        pub(crate) fn of(file: &Path) -> Option<Self> {
            let kind = statfs(file).ok()?.f_type as i64;
            if SHARED.contains(&(kind & 0xffff_ffff)) {
                return None;
            }
            let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            inotify::add_watch(&events, file, WatchFlags::MODIFY).ok()?;
            Receiver::from_owned_fd_unchecked(events).ok().map(Self)
        }

        /// Waits until the file was written to; all writes until then are one event.
        pub(crate) async fn next(&mut self) {
            loop {
                if self.0.readable().await.is_err() {
                    // The runtime ends.
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
