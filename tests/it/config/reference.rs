//! The table of settings agrees with what the parser accepts, in both directions; so does the table of variables with
//! those that are read.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use groupdesk::config::{
    DirectoryAt, Settings, TeamSettings,
    reference::{DefaultValue, SETTINGS, Setting, VARIABLES},
};

use super::{Home, problems};
use crate::house::citations::below;

const API_KEY: &str = "profiles.NAME.api_key";
const HANDOFF: &str = "profiles.NAME.handoff";
const DIRECTORY: &str = "directory";
const GUARD: &str = "profiles.NAME.guard";

/// A file with every table; lines added to a table come before its first key.
struct File {
    table: &'static str,
    line: String,
}

impl File {
    fn with(table: &'static str, line: impl Into<String>) -> Self {
        let line = line.into();
        Self { table, line }
    }

    fn lines(&self, table: &str) -> String {
        let line = (self.table == table).then_some(self.line.as_str());
        line.map(|line| format!("{line}\n")).unwrap_or_default()
    }

    fn inline(&self, table: &str, rest: &str) -> String {
        match self.table == table {
            true if rest.is_empty() => format!("{{ {} }}", self.line),
            true => format!("{{ {}, {rest} }}", self.line),
            false => format!("{{ {rest} }}"),
        }
    }

    /// The file with only the keys that this table requires, except `left_out`.
    fn text_without(&self, left_out: &str) -> String {
        let entry = |key: &str, line: &str| {
            let line = if key == left_out { "" } else { line };
            line.to_owned()
        };
        let key = match self.table {
            API_KEY => self.inline(self.table, ""),
            _ => "{ env = \"KEY\" }".to_owned(),
        };
        let mut text = self.lines("");
        if self.table == DIRECTORY {
            let url = entry("url", "url = \"postgres://ana@db1/desk\"");
            let _ = writeln!(text, "[directory]\n{}{url}", self.lines(DIRECTORY));
        }
        let _ = write!(
            text,
            "[theme]\n{}[keys]\n{}",
            self.lines("theme"),
            self.lines("keys")
        );
        let _ = write!(text, "[profiles.a]\n{}", self.lines("profiles.NAME"));
        text += &entry("base_url", "base_url = \"https://api.example.com\"\n");
        text += &entry("api_key", &format!("api_key = {key}\n"));
        if self.table == HANDOFF {
            let command = entry("command", "command = [\"put\"]");
            let _ = writeln!(text, "handoff = {}", self.inline(self.table, &command));
        }
        if self.table == GUARD {
            let needed = [
                entry("operation", "operation = \"bulk\""),
                entry("reason", "reason = \"slowly\""),
                entry("max", "max = 5"),
            ];
            let needed: Vec<_> = needed.into_iter().filter(|line| !line.is_empty()).collect();
            let _ = writeln!(
                text,
                "guard = [{}]",
                self.inline(self.table, &needed.join(", "))
            );
        }
        text
    }
}

fn keys_of(table: &str) -> BTreeSet<&'static str> {
    let of_it = SETTINGS.iter().filter(|setting| setting.table == table);
    of_it.map(|setting| setting.key).collect()
}

/// The parser's error about an unknown key.
fn unknown_key_error(table: &'static str) -> String {
    let text = File::with(table, "nonsense = 1").text_without("");
    let found = problems(&text);
    let [problem] = found.as_slice() else {
        panic!("{table}: {found:?}");
    };
    problem.what.clone()
}

#[test]
fn the_table_lists_the_keys_that_the_parser_knows() {
    for table in ["", DIRECTORY, "theme", "profiles.NAME", HANDOFF, GUARD] {
        let said = unknown_key_error(table);
        let (_, known) = said.split_once("known keys: ").expect("a list");
        let known: BTreeSet<_> = known.split(", ").collect();
        let mut told = keys_of(table);
        if table.is_empty() {
            told.extend(["directory", "theme", "profiles", "keys"]);
        }
        assert_eq!(told, known, "[{table}]");
    }
    let said = unknown_key_error(API_KEY);
    let sources = said
        .split("{ ")
        .skip(1)
        .filter_map(|rest| rest.split_once(" ="));
    let sources: BTreeSet<_> = sources.map(|(source, _)| source).collect();
    assert_eq!(keys_of(API_KEY), sources);
    for setting in SETTINGS.iter() {
        assert!(!setting.meaning.is_empty() && !setting.kind.words.is_empty());
    }
}

/// A value that the table allows.
fn valid_value(setting: &Setting) -> String {
    match (setting.key, setting.kind.words) {
        ("default_profile", _) => "\"a\"",
        ("base_url", _) => "\"https://other.example.com\"",
        ("path", _) => "\"/v2\"",
        ("url", _) => "\"postgres://ana@db2/desk\"",
        ("api_key" | "password" | "fingerprint_key", _) => "{ file = \"k\" }",
        ("handoff", _) => "{ command = [\"put\"] }",
        ("guard", _) => "[{ operation = \"bulk\", max = 1, reason = \"slowly\" }]",
        ("operation", _) => "\"bulk\"",
        ("ACTION", _) => "[\"R\"]",
        (_, "flag" | "true") => "true",
        (_, "string") => "\"some\"",
        (_, "duration") => "\"2s\"",
        (_, "age") => "\"12w\"",
        (_, "colour") => "\"light-blue\"",
        (_, "0 to 1000000") => "1000000",
        (_, "1 to 16") => "16",
        (_, "list of strings") => "[\"pass\", \"show\"]",
        (_, kind) => {
            let quoted = kind.split('"').nth(1).expect("a word of its own");
            return format!("\"{quoted}\"");
        }
    }
    .to_owned()
}

/// A file in which this setting has that value.
fn file_with(setting: &Setting, value: &str) -> String {
    let line = format!("{} = {value}", setting.key);
    let mut text = File::with(setting.table, line).text_without(setting.key);
    if setting.table == GUARD && matches!(setting.key, "level" | "forbid") {
        text = text
            .replace(", max = 5", "")
            .replace("\"bulk\"", "\"rotate\"");
    }
    text
}

#[test]
fn every_setting_accepts_the_values_of_the_table_and_no_other_type() {
    for setting in SETTINGS.iter() {
        let text = file_with(setting, &valid_value(setting));
        Home::with_file(&text)
            .load()
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let text = file_with(setting, "1.5");
        assert!(!problems(&text).is_empty(), "{text}");
    }
}

/// The team's directory of a file in a home of its own.
fn team(settings: &Settings) -> Option<&TeamSettings> {
    match &settings.directory {
        DirectoryAt::Team(team) => Some(team),
        DirectoryAt::File(_) => None,
    }
}

#[test]
fn the_defaults_are_those_of_the_table() {
    for setting in SETTINGS.iter() {
        let one_of = setting.table == API_KEY
            || setting.table == GUARD && setting.usual != DefaultValue::Required;
        let without = File::with(setting.table, "").text_without(setting.key);
        let without = without.replace("{ ,", "{ ");
        match setting.usual {
            _ if one_of => {}
            DefaultValue::Required => assert!(!problems(&without).is_empty(), "{without}"),
            DefaultValue::Words(_) => drop(Home::with_file(&without).load().expect("a good file")),
            DefaultValue::Value(value) => {
                let usual = Home::with_file(&without).load().expect("a good file");
                let said = file_with(setting, value);
                let said = Home::with_file(&said).load().expect("a good file");
                assert_eq!(usual.ui, said.ui, "{}", setting.key);
                assert_eq!(usual.profiles, said.profiles, "{}", setting.key);
                let other = file_with(setting, &valid_value(setting));
                let other = Home::with_file(&other).load().expect("a good file");
                assert_eq!(team(&usual), team(&said), "{}", setting.key);
                let differs = team(&usual) != team(&other)
                    || (usual.ui, usual.profiles) != (other.ui, other.profiles);
                let is_the_same = valid_value(setting) == value;
                assert!(differs || is_the_same, "{} has no effect", setting.key);
            }
        }
    }
}

#[test]
fn the_example_has_every_setting() {
    let text = include_str!("../../../assets/config.example.toml");
    for Setting { table, key, .. } in SETTINGS.iter() {
        let is_shown = match *table {
            "keys" => text.contains("\n[keys]"),
            "" | "theme" | "profiles.NAME" => text.contains(&format!("\n{key} =")),
            _ => [
                format!("{{ {key} ="),
                format!(", {key} ="),
                format!("#   {key} "),
            ]
            .iter()
            .any(|shown| text.contains(shown)),
        };
        assert!(is_shown, "{key} of [{table}] is missing in the example");
    }
}

/// All upper-case names that are passed to a function that reads a variable.
fn read_in(text: &str, found: &mut BTreeSet<String>) {
    let text = text.split("#[cfg(test)]").next().expect("a part");
    let mut pieces = text.split('"');
    let mut before = pieces.next().expect("a part");
    while let (Some(literal), Some(after)) = (pieces.next(), pieces.next()) {
        let reads = [
            "get(",
            "set(",
            "variable(",
            "var(",
            "var_os(",
            "text(",
            "(env, ",
        ];
        let is_read = reads.iter().any(|reads| before.ends_with(reads));
        let is_name =
            literal.len() > 2 && literal.bytes().all(|c| c.is_ascii_uppercase() || c == b'_');
        if is_name && (is_read || literal.starts_with("GROUPDESK_")) {
            found.insert(literal.to_owned());
        }
        before = after;
    }
}

#[test]
fn the_table_lists_the_variables_that_are_read() {
    let mut read = BTreeSet::new();
    for file in below("src", &["rs"]) {
        if !file.ends_with("config/reference.rs") {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            read_in(&fs::read_to_string(file).expect("UTF-8"), &mut read);
        }
    }
    assert!(
        read.contains("GROUPDESK_BASE_URL") && read.contains("NO_COLOR"),
        "{read:?}"
    );
    let told: BTreeSet<_> = VARIABLES
        .iter()
        .flat_map(|(names, _)| names.split(", "))
        .collect();
    for name in &read {
        // What all begin with is none, and a shell's completion sets its own.
        let is_for_tests = name.starts_with("GROUPDESK_TEST_") || name.ends_with('_');
        let is_for_tests = is_for_tests || name.starts_with("_CLAP_");
        assert!(
            is_for_tests || told.contains(name.as_str()),
            "{name} is not listed"
        );
    }
    let of_the_desk = told.iter().filter(|name| name.starts_with("GROUPDESK_"));
    for name in of_the_desk {
        assert!(read.contains(*name), "{name} is not read any more");
    }
}
