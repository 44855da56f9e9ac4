//! Keeps the memory of this process to itself: it holds API keys and tokens. No core dump is written, and no other
//! process of the same user may read it, unless somebody wants to debug.

use rustix::process::{Resource, Rlimit, setrlimit};

/// `1` leaves everything as the system has it, so that a debugger can attach and a crash can be looked at.
const DEBUGGABLE: &str = "GROUPDESK_DEBUGGABLE";

/// Before anything secret is read. Programs that are started inherit the limit of core dumps, nothing else.
pub(crate) fn protect() {
    if std::env::var_os(DEBUGGABLE).is_some_and(|value| value == "1") {
        return;
    }
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // To give up rights is always allowed; where it is not, everything else is as safe as before.
    let _ = setrlimit(Resource::Core, none);
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
