//! The highest timeline of each PostgreSQL cluster that was seen from here. A server with a lower one was left behind
//! by a failover: its data is out of date.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::server::TimelineCheck;
use crate::platform::private_files::{private_folder, write_new_private};

type Seen = BTreeMap<String, i64>;

/// A check that remembers in this file. If the file cannot be written, it remembers as long as the process lives.
pub(crate) fn check(file: PathBuf) -> TimelineCheck {
    let seen = Mutex::new(Seen::new());
    Arc::new(move |cluster, timeline| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Another process may have seen more.
        for (cluster, highest) in read(&file) {
            let known = seen.entry(cluster).or_insert(highest);
            *known = highest.max(*known);
        }
        let highest = seen.entry(cluster.to_owned()).or_insert(0);
        if timeline < *highest {
            return Err(format!(
                "was left behind by a failover: it is on timeline {timeline}, and timeline {highest} was seen before; its data \
                 is out of date, and nothing was read or recorded: ask its administrator to stop it, or to make it a standby of \
                 the new primary. If going back is intended, remove the line {cluster} from {}",
                file.display()
            ));
        }
        if timeline > *highest {
            *highest = timeline;
            write(&file, &seen);
        }
        Ok(())
    })
}

fn read(file: &Path) -> Seen {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = |line: &str| {
        let (cluster, timeline) = line.split_once(' ')?;
        Some((cluster.to_owned(), timeline.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Replaces the file as a whole: another process may be reading it.
fn write(file: &Path, seen: &Seen) {
    let mut text = String::new();
    for (cluster, timeline) in seen {
        let _ = writeln!(text, "{cluster} {timeline}");
    }
    let new = file.with_extension(format!("{}.new", std::process::id()));
    let written = file.parent().map_or(Ok(()), private_folder);
    let written = written.and_then(|()| write_new_private(&new, text.as_bytes()));
    if written.and_then(|()| fs::rename(&new, file)).is_err() {
        let _ = fs::remove_file(&new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_timeline_is_refused_also_by_the_next_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("groupdesk").join("timelines");
        for (cluster, timeline, expected) in [
            ("71", 1, true),
            ("71", 3, true),
            ("71", 3, true),
            ("71", 2, false),
            ("72", 1, true),
            ("71", 4, true),
            ("71", 3, false),
        ] {
            // Each by a process of its own.
            let checked = check(file.clone())(cluster, timeline);
            assert_eq!(
                checked.is_ok(),
                expected,
                "{cluster} {timeline}: {checked:?}"
            );
        }
        fs::remove_file(&file).expect("it was written");
        assert!(check(file)("71", 1).is_ok(), "as intended");
        // A file that cannot be written.
        let check = check("/proc/nothing/timelines".into());
        assert!(check("71", 2).is_ok() && check("71", 1).is_err());
    }
}
