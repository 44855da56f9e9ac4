//! Protects the memory of this process, which holds API keys and tokens: no core dump is written, and no other process
//! of the same user may read it, unless somebody wants to debug.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Set to `1` to leave the system defaults, so that a debugger can attach and a crash can be analysed.
const DEBUGGABLE: &str = "GROUPDESK_DEBUGGABLE";

/// Must be called before any secret is read. Child processes inherit the core dump limit and nothing else.
pub(crate) fn protect() {
    if std::env::var_os(DEBUGGABLE).is_some_and(|value| value == "1") {
        return;
    }
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Giving up rights is always allowed. If it fails anyway, everything else is as safe as before.
    let _ = setrlimit(Resource::Core, none);
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
