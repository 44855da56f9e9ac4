//! What scripts rely on: each command is run with `--json`, and its output is compared with what `help json` describes
//! and pinned by a snapshot. `INSTA_UPDATE=always cargo test --test it cli::contract` writes the snapshots anew; review
//! every difference.

mod cases;
mod steady;

use std::collections::BTreeSet;

use serde_json::Value;

use super::program::{Home, Line};
use crate::support::snapshots::assert_snapshot;

/// A field of a shape, as `help json --json` describes it.
struct Field {
    path: String,
    kind: String,
    null: Option<String>,
}

/// The whole description, and which parts of it were printed so far.
struct Contract {
    text: Value,
    commands: BTreeSet<String>,
    fields: BTreeSet<(String, String)>,
    /// Everything printed, for the snapshot.
    story: String,
}

impl Contract {
    async fn of(home: &Home) -> Self {
        Self {
            text: home.json(0, "help json").await,
            commands: BTreeSet::new(),
            fields: BTreeSet::new(),
            story: String::new(),
        }
    }

    fn fields(&self, shape: &str) -> Vec<Field> {
        let shapes = self.text["shapes"].as_array().expect("shapes");
        let found = shapes.iter().find(|found| found["shape"] == shape);
        let fields = found.unwrap_or_else(|| panic!("no shape {shape}"))["fields"].as_array();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let field = |field: &Value| Field {
            path: text(&field["field"]).expect("a name"),
            kind: text(&field["type"]).expect("a type"),
            null: text(&field["null"]),
        };
        fields.expect("fields").iter().map(field).collect()
    }

    /// Form and shapes of a command's output, as described.
    fn printed(&self, command: &str) -> (String, Vec<String>) {
        let commands = self.text["commands"].as_array().expect("commands");
        let found = commands.iter().find(|found| found["command"] == command);
        let found = found.unwrap_or_else(|| panic!("{command:?} is not described"));
        let shapes = serde_json::from_value(found["shapes"].clone()).expect("names");
        (found["form"].as_str().expect("a form").to_owned(), shapes)
    }

    /// Runs the command, compares its output with the description of `command`, and returns it.
    async fn case(
        &mut self,
        home: &Home,
        code: i32,
        command: &str,
        line: &(impl Line + ?Sized),
    ) -> Vec<Value> {
        let mut words = line.words();
        words.push("--json");
        let ran = home.exits(code, &words).await;
        words.pop();
        self.take(command, &words.join(" "), &ran.out)
    }

    /// The same for each line of a table.
    async fn cases(&mut self, home: &Home, table: &[(i32, &str, &str)]) {
        for (code, command, line) in table {
            self.case(home, *code, command, *line).await;
        }
    }

    /// Compares the output with the description of `command`.
    fn take(&mut self, command: &str, typed: &str, out: &str) -> Vec<Value> {
        let (form, shapes) = self.printed(command);
        let printed = match form.as_str() {
            "lines" => out.lines().map(|line| parsed(typed, line)).collect(),
            "array" => parsed(typed, out).as_array().expect("an array").clone(),
            _ => vec![parsed(typed, out)],
        };
        for (index, value) in printed.iter().enumerate() {
            let is_last = form == "lines" && index + 1 == printed.len();
            let shape = if is_last {
                shapes.last().expect("a shape")
            } else {
                let others = if form == "lines" {
                    &shapes[..shapes.len() - 1]
                } else {
                    &shapes[..]
                };
                let fits = |shape: &&String| {
                    value.is_string() || self.has_only_described_keys(shape, value)
                };
                let found = others.iter().find(fits);
                found.unwrap_or_else(|| panic!("{typed}: not one of {others:?}: {value}"))
            };
            if shape != "text" {
                self.check(typed, shape, value);
            }
        }
        self.commands.insert(command.to_owned());
        self.story.push_str(&steady::story(typed, &form, &printed));
        printed
    }

    fn has_only_described_keys(&self, shape: &str, value: &Value) -> bool {
        let fields = self.fields(shape);
        let keys = value.as_object().into_iter().flatten();
        keys.into_iter()
            .all(|(key, _)| fields.iter().any(|field| field.path == *key))
    }

    fn check(&mut self, typed: &str, shape: &str, value: &Value) {
        let fields = self.fields(shape);
        let mut met = Vec::new();
        walk(&fields, "", value, &mut |path, found| {
            met.push((shape.to_owned(), path.to_owned()));
            let field =
                found.unwrap_or_else(|| panic!("{typed}: {shape}: {path} is not described"));
            field.null.clone()
        })
        .unwrap_or_else(|wrong| panic!("{typed}: {shape}: {wrong}: {value}"));
        self.fields.extend(met);
    }

    /// Checks that everything described was printed at least once.
    fn assert_complete(&self, but: &[&str]) {
        let commands = self.text["commands"].as_array().expect("commands");
        for command in commands
            .iter()
            .filter_map(|command| command["command"].as_str())
        {
            let is_met = self.commands.contains(command) || but.contains(&command);
            assert!(is_met, "no case runs {command:?}");
        }
        for shape in self.text["shapes"].as_array().expect("shapes") {
            let name = shape["shape"].as_str().expect("a name").to_owned();
            for field in self.fields(&name) {
                let is_met = self.fields.contains(&(name.clone(), field.path.clone()));
                assert!(
                    is_met || but.contains(&name.as_str()),
                    "{name}.{}: no case prints it",
                    field.path
                );
            }
        }
    }
}

/// Compares an object with its description, recursively. Reports fields of another type.
fn walk(
    fields: &[Field],
    above: &str,
    value: &Value,
    met: &mut impl FnMut(&str, Option<&Field>) -> Option<String>,
) -> Result<(), String> {
    let object = value.as_object().ok_or("no object")?;
    for (key, value) in object {
        let path = format!("{above}{key}");
        let field = fields.iter().find(|field| field.path == path);
        let null = met(&path, field);
        let kind = field.map_or("", |field| field.kind.as_str());
        if value.is_null() {
            if null.is_none() {
                return Err(format!("{path} is null"));
            }
            continue;
        }
        let one = kind.strip_suffix("[]");
        let values = match (one, value) {
            (Some(_), Value::Array(values)) => values.iter().collect(),
            (Some(_), _) => return Err(format!("{path} is no array")),
            (None, value) => vec![value],
        };
        for value in values {
            let is_right = match one.unwrap_or(kind) {
                "string" => value.is_string(),
                "number" => value.is_number(),
                "bool" => value.is_boolean(),
                "time" => value
                    .as_str()
                    .is_some_and(|at| at.parse::<jiff::Timestamp>().is_ok()),
                "object of string" => {
                    let values = value.as_object().map(|object| object.values());
                    values.is_some_and(|mut values| values.all(Value::is_string))
                }
                "object of number" => {
                    let values = value.as_object().map(|object| object.values());
                    values.is_some_and(|mut values| values.all(Value::is_number))
                }
                "object" | "object of any" => value.is_object(),
                other => return Err(format!("{path}: no type {other}")),
            };
            if !is_right {
                return Err(format!("{path} is no {kind}"));
            }
            if one.unwrap_or(kind) == "object" {
                let array = if one.is_some() { "[]" } else { "" };
                walk(fields, &format!("{path}{array}."), value, met)?;
            }
        }
    }
    Ok(())
}

fn parsed(typed: &str, text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{typed}: {error}: {text}"))
}

fn pin(name: &str, contract: &mut Contract) {
    let story = std::mem::take(&mut contract.story);
    assert_snapshot("cli/snapshots", name, story);
}

#[test]
fn a_field_that_is_not_described_or_of_another_type_is_found() {
    let field = |path: &str, kind: &str, null: Option<&str>| Field {
        path: path.into(),
        kind: kind.into(),
        null: null.map(str::to_owned),
    };
    let fields = [
        field("a", "string", None),
        field("b", "object[]", None),
        field("b[].c", "number", Some("never")),
        field("d", "object of string", None),
    ];
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (r#"{"a": "x", "b": [{"c": 1}, {"c": null}], "d": {"k": "v"}}"#, None),
        (r#"{"a": 1}"#, Some("a is no string")),
        (r#"{"a": null}"#, Some("a is null")),
        (r#"{"b": {}}"#, Some("b is no array")),
        (r#"{"b": [{"c": "x"}]}"#, Some("b[].c is no number")),
        (r#"{"d": {"k": 1}}"#, Some("d is no object of string")),
        (r#"{"b": [{"e": null}]}"#, Some("b[].e is null")),
    ];
    for (text, words) in table {
        let value = parsed("", text);
        let mut met = |_: &str, found: Option<&Field>| found?.null.clone();
        let wrong = walk(&fields, "", &value, &mut met).err();
        assert_eq!(wrong.as_deref(), words, "{text}");
    }
}
