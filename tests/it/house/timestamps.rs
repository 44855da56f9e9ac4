//! Every comparison of two timestamps: whose clocks they are, and why that may decide. What is newer, who holds a group
//! and which token is meant is decided by numbers of the directory and by clocks that nobody sets (docs/design/rotation.md).

use super::files;

/// What such a comparison looks like.
const LOOKS: [&str; 23] = [
    "duration_since(",
    "since_recorded(",
    "between(earlier",
    "between(wall",
    "clock::between(",
    ".at > ",
    ".at < ",
    ".at >= ",
    ".at <= ",
    "_at > ",
    "_at < ",
    "_at >= ",
    "_at <= ",
    "last_seen.max",
    "last_seen > ",
    "last_seen < ",
    "until > ",
    "until <= ",
    "until < ",
    ">= since",
    ">= begun",
    "age::since(",
    "unixepoch()",
];
/// Monotonic clocks of one process, and positions.
const NONE: [&str; 3] = ["saturating_duration_since", "cursor.at", "choices.at"];

const FILTER: &str = "a filter of a person: what is shown, nothing else";
const OWN: &str =
    "one clock, that of this console or service: what is shown, and how long a key waits";
const DIRECTORY: &str = "the clock that nobody sets: the database's, or the machine's since boot";

/// File, number of comparisons, whose clocks.
#[rustfmt::skip] // A table: one file per line.
const KNOWN: &[(&str, usize, &str)] = &[
    ("src/api/retry_after.rs", 1, "the service's date and ours: how long to pause; a wrong one is bounded by the profile's timeout"),
    ("src/directory/audit.rs", 1, FILTER),
    ("src/directory/sql/drafts.rs", 1, "one person's drafts, on one machine's clock; a team's have a revision of their own"),
    ("src/directory/sql/history.rs", 1, "when a token was last seen, for people; the order of tokens is in `last_changes`"),
    ("src/directory/sql/inspect.rs", 1, "what doctor counts, nothing else: the machine's clock since boot, or the wall clock"),
    ("src/directory/sql/places/merging.rs", 2, "which of two texts about a token is shown as the later, both stay in the history; and the later of two marks of a restore, each by the clock of the directory itself"),
    ("src/directory/sql/under_way.rs", 1, "one machine: the file and the changes in it are of this one; a server has its own clock"),
    ("src/directory/values.rs", 2, FILTER),
    ("src/domain/age.rs", 2, "ages in days, for people, and the 24 hours of a bulk rotation, where the clock of a shared database can only forbid more (`operations::team::wrong_clocks`); a time in the future counts as unknown"),
    ("src/domain/batch/edit.rs", 1, "whom to name of those who changed a group lately"),
    ("src/domain/known.rs", 2, "two places become one, which a person asked for: values of both stay in the history; of two tokens the numbers decide"),
    ("src/operations/answer/observe.rs", 1, DIRECTORY),
    ("src/operations/at_work.rs", 1, DIRECTORY),
    ("src/operations/attention/gathering.rs", 1, "what is shown as news, for days"),
    ("src/operations/batch/resume.rs", 1, "how much is asked of the same person on the same machine; what is sent is the same"),
    ("src/operations/batch/runs.rs", 1, DIRECTORY),
    ("src/operations/doctor/directory.rs", 1, "ours and the database's, to report the difference"),
    ("src/operations/doctor/service.rs", 1, "ours and the service's, to report the difference"),
    ("src/operations/groups/unsettled.rs", 1, DIRECTORY),
    ("src/operations/rotation/since_sent.rs", 1, DIRECTORY),
    ("src/operations/run/control.rs", 2, "one clock, that of the run: until when it pauses"),
    ("src/platform/clock.rs", 5, "the wall clock stands in only where a machine has no clock that nobody sets"),
    ("src/search/query/rows.rs", 1, FILTER),
    ("src/service/keys.rs", 2, "one clock, that of the storage: when its keys end"),
    ("src/tui/app/drafts.rs", 2, OWN),
    ("src/tui/app/key_press.rs", 2, OWN),
    ("src/tui/panes/batch/run.rs", 4, OWN),
    ("src/tui/panes/edit/draft.rs", 1, OWN),
    ("src/tui/panes/inspector.rs", 2, OWN),
    ("src/tui/panes/token/page.rs", 1, OWN),
    ("src/tui/panes/token/progress.rs", 1, OWN),
    ("src/tui/runtime/runner.rs", 1, OWN),
    ("src/tui/state/activity.rs", 5, OWN),
    ("src/tui/state/batch.rs", 3, OWN),
    ("src/tui/state/drafts.rs", 1, "one person's drafts, on one machine's clock; a team's have a revision of their own"),
    ("src/tui/state/live.rs", 1, OWN),
];

fn comparisons(text: &str) -> usize {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().map(str::trim);
    let is_one = |line: &&str| {
        !line.starts_with("//")
            && LOOKS.iter().any(|look| line.contains(look))
            && !NONE.iter().any(|none| line.contains(none))
    };
    lines.filter(is_one).count()
}

#[test]
fn each_comparison_of_two_timestamps_says_whose_clocks_they_are() {
    let is_test = |file: &str| file.ends_with("tests.rs") || file.contains("/tests/");
    let files = files();
    let sources = files
        .iter()
        .filter(|(file, _)| file.starts_with("src/") && !is_test(file));
    let found = sources.map(|(file, text)| (file.as_str(), comparisons(text)));
    let found: Vec<_> = found.filter(|(_, count)| *count > 0).collect();
    let known: Vec<_> = KNOWN
        .iter()
        .map(|(file, count, _)| (*file, *count))
        .collect();
    assert_eq!(
        found, known,
        "compare numbers of the directory, or say here whose clocks decide and why they may"
    );
}

#[test]
fn a_comparison_is_recognised() {
    let text = "if last.at >= began {\n// if last.at >= began {\nlet x = now.duration_since(at);\nself.cursor.at > 0\n#[cfg(test)]\na.at > b.at";
    assert_eq!(comparisons(text), 2);
}
