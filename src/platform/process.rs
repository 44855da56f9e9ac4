//! Identifies the process that wrote something, so that other processes on the same machine can tell at once whether it
//! has ended.

use std::sync::OnceLock;

/// `boot/namespace:pid:start`; `None` if the system cannot tell a process from a later one with the same pid.
pub(crate) fn this() -> Option<&'static str> {
    static THIS: OnceLock<Option<String>> = OnceLock::new();
    let this = THIS.get_or_init(|| {
        let (machine, pid) = (machine()?, std::process::id());
        Some(format!("{machine}:{pid}:{}", start_of(&pid.to_string())?))
    });
    this.as_deref()
}

/// Whether the process of this name has ended; `None` if that cannot be told from here, because it belongs to another
/// machine, another boot of this one, or another container.
pub(crate) fn has_ended(process: &str) -> Option<bool> {
    let mut parts = process.rsplitn(3, ':');
    let (start, pid, of) = (parts.next()?, parts.next()?, parts.next()?);
    if machine()? != of {
        return None;
    }
    let pid_number = rustix::process::Pid::from_raw(pid.parse().ok()?)?;
    match rustix::process::test_kill_process(pid_number) {
        Err(rustix::io::Errno::SRCH) => Some(true),
        // It may belong to another user, whose processes may be hidden.
        Ok(()) | Err(rustix::io::Errno::PERM) => start_of(pid).map(|now| now != start),
        Err(_) => None,
    }
}

/// The boot id of this machine and the pid namespace.
fn machine() -> Option<&'static str> {
    static MACHINE: OnceLock<Option<String>> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let boot = super::boot_time::boot_id()?;
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let namespace = namespace.to_str()?.trim_start_matches("pid:");
        Some(format!("{boot}/{namespace}"))
    });
    machine.as_deref()
}

/// The start time of the process, in ticks since boot; `dead` if it has ended and was not reaped yet.
fn start_of(pid: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything, including spaces and brackets.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    match fields.next()? {
        "Z" | "X" => Some("dead".into()),
        _ => fields.nth(18).map(str::to_owned),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_this_machine_is_there_until_it_ends() {
        let this = this().expect("Linux tells it");
        assert_eq!(has_ended(this), Some(false));
        let (machine, rest) = this.rsplit_once(':').expect("a start");
        assert_eq!(
            has_ended(&format!("{machine}:1{rest}")),
            Some(true),
            "a later one"
        );
        assert_eq!(has_ended("another-boot/[1]:4711:99"), None);
        assert_eq!(has_ended("nonsense"), None);

        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        let pid = child.id().to_string();
        let of = super::machine().expect("told");
        let name = format!("{of}:{pid}:{}", start_of(&pid).expect("it runs"));
        assert_eq!(has_ended(&name), Some(false));
        child.kill().expect("killed");
        // Also while the process is not reaped yet.
        let is_over = || has_ended(&name) == Some(true);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !is_over() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert!(is_over());
        child.wait().expect("waited");
        assert_eq!(has_ended(&name), Some(true));
    }
}
