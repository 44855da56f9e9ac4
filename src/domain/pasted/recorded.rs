//! Recordings of a terminal (asciicast): each line is an event with a time, its kind and what was written or typed, which
//! may be a single character.

use zeroize::Zeroizing;

use super::{
    clean::{Removing, cleaned},
    decode::decoded,
    numbers::Dumped,
};

/// Events of output and of input: a terminal writes again what is typed.
const KINDS: [&str; 2] = ["o", "i"];

/// What was written and what was typed, each with the line of its first event.
pub(super) fn texts(text: &str) -> Vec<Dumped> {
    let mut found = Vec::new();
    for kind in KINDS {
        let events = || {
            let lines = text.lines().zip(1..);
            lines.filter_map(|(line, number)| Some((event(line, kind)?, number)))
        };
        let Some((_, first)) = events().nth(1).and_then(|_| events().next()) else {
            continue;
        };
        let mut all = Zeroizing::new(String::with_capacity(text.len()));
        all.extend(events().map(|(data, _)| data));
        found.push((cleaned(&decoded(&all), Removing::Tags), first));
    }
    found
}

/// The data of `[0.1, "o", "data"]`, with its escapes.
fn event<'t>(line: &'t str, kind: &str) -> Option<&'t str> {
    let inner = line
        .trim()
        .trim_end_matches(',')
        .strip_prefix('[')?
        .strip_suffix(']')?;
    let (time, rest) = inner.split_once(',')?;
    time.trim().parse::<f64>().ok()?;
    let rest = rest.trim_start().strip_prefix('"')?.strip_prefix(kind)?;
    let data = rest.strip_prefix('"')?.trim_start().strip_prefix(',')?;
    data.trim().strip_prefix('"')?.strip_suffix('"')
}
