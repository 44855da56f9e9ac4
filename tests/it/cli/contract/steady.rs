//! Removes from output what differs between runs: times, fingerprints, tokens, ports, folders, durations.

use serde_json::Value;

/// How many elements of an array are shown.
const SHOWN: usize = 2;
/// Keys whose texts differ between machines or runs.
const VARYING: [&str; 11] = [
    "fingerprint",
    "previous_fingerprint",
    "token",
    "key",
    "by",
    "script",
    "text",
    "file",
    "config",
    "directory",
    "found",
];
/// Keys whose numbers differ between runs.
const MEASURED: [&str; 4] = ["ms", "milliseconds", "duration_ms", "bytes"];

/// A command and the JSON it printed.
pub(super) fn story(typed: &str, form: &str, printed: &[Value]) -> String {
    let shown = printed.iter().take(SHOWN);
    let mut lines: Vec<_> = shown.collect();
    if form == "lines" && printed.len() > SHOWN {
        lines.extend(printed.last());
    }
    let lines = lines.into_iter().map(|value| {
        let value = masked("", value);
        match form {
            "lines" => format!("{value}\n"),
            _ => format!("{value:#}\n"),
        }
    });
    let lines: String = lines.collect();
    let words: Vec<_> = typed.split(' ').map(place).collect();
    format!(
        "$ groupdesk {} --json\n{form}, {}\n{lines}\n",
        words.join(" "),
        printed.len()
    )
}

fn masked(key: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => {
            if text.parse::<jiff::Timestamp>().is_ok() {
                "TIME".into()
            } else if VARYING.contains(&key) {
                key.to_uppercase().into()
            } else {
                place(text).into()
            }
        }
        Value::Number(_) if MEASURED.contains(&key) => 0.into(),
        Value::Array(values) if key == "steps" || key == "findings" => values
            .iter()
            .take(1)
            .map(|value| masked(key, value))
            .collect(),
        Value::Array(values) => values
            .iter()
            .take(8)
            .map(|value| masked(key, value))
            .collect(),
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| (key.clone(), masked(key, value)))
            .collect(),
        other => other.clone(),
    }
}

/// Replaces ports and the temporary folder.
fn place(text: &str) -> String {
    let mut text = text.to_owned();
    for (before, instead) in [("127.0.0.1:", "PORT"), ("port ", "PORT")] {
        if let Some((head, tail)) = text.split_once(before) {
            let rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
            text = format!("{head}{before}{instead}{rest}");
        }
    }
    let folder = crate::support::folder::below().join("");
    let folder = folder.to_str().expect("UTF-8");
    while let Some(at) = text.find(folder) {
        let rest = &text[at..];
        let end = rest.find(['"', '\'', ' ', '\n']).unwrap_or(rest.len());
        let name = rest[..end]
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        text.replace_range(at..at + end, &format!("FOLDER/{name}"));
    }
    text
}
