//! The memory of a process, as the system sees it.

/// In KiB: `VmRSS` is what it uses, `VmHWM` the most that it has used. `None` once it is gone.
pub(crate) fn memory_of(pid: impl std::fmt::Display, which: &str) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(which))?;
    line.strip_prefix(':')?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}
