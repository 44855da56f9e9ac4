//! What scripts rely on: the JSON that every command prints, and the meaning of each field. This is the only
//! definition: `help json` and the manual print it, and a test compares it with what the commands really print.

mod batches;
mod exchange;
mod groups;
mod places;
mod printed;
mod profiles;
mod refresh;
mod render;
mod rotations;
mod shared;

pub(crate) use render::{object, text};

/// A field of an object. Nested fields have a path: `steps[].what`.
struct Field {
    path: &'static str,
    /// `text`, `number`, `bool`, `time` or `object`, with `[]` appended for an array; `object of ...` if the person
    /// chooses the keys.
    kind: &'static str,
    /// When the field is null; empty if it never is.
    null: &'static str,
    meaning: &'static str,
}

const fn field(
    path: &'static str,
    kind: &'static str,
    null: &'static str,
    meaning: &'static str,
) -> Field {
    Field {
        path,
        kind,
        null,
        meaning,
    }
}

/// A printed object and its fields, in order.
struct Shape {
    name: &'static str,
    about: &'static str,
    fields: &'static [&'static [Field]],
}

impl Shape {
    fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().copied().flatten()
    }
}

const fn shape(
    name: &'static str,
    about: &'static str,
    fields: &'static [&'static [Field]],
) -> Shape {
    Shape {
        name,
        about,
        fields,
    }
}

/// How the objects stand on standard output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    One,
    Array,
    /// One object per line.
    Lines,
}

impl Form {
    fn as_str(self) -> &'static str {
        match self {
            Self::One => "one object",
            Self::Array => "array",
            Self::Lines => "lines",
        }
    }
}

/// What a command prints with `--json`.
struct Printed {
    command: &'static str,
    form: Form,
    /// Names of shapes. With `Lines`, the last one is the last line.
    shapes: &'static [&'static str],
}

/// Printed before the shapes.
const PROMISE: &str = concat!(
    "With --json, standard output contains only JSON: UTF-8, with hidden characters as \\u escapes. Messages go to standard ",
    "error; --quiet limits them to errors, alarms and prompts. Times are RFC 3339 in UTC. A fingerprint is 8 hexadecimal ",
    "digits that identify a token on this installation; it is not secret. Tokens and API keys are printed only on request.\n",
    "Within a major version, nothing described here is removed or changes its type or meaning. New fields, and new values ",
    "of `outcome`, `state`, `finding` and `plan`, may be added at any time: read the fields you need by name, and treat an ",
    "unknown value as not done.\n",
    "A command that fails prints the object `failure` on one line of standard output, also for wrong arguments, and its ",
    "text to standard error; the exit code is the same with and without --json. A reader that closes early is no failure."
);

/// All shapes, in the order of the commands.
fn shapes() -> impl Iterator<Item = &'static Shape> {
    [
        groups::SHAPES,
        refresh::SHAPES,
        rotations::SHAPES,
        batches::SHAPES,
        exchange::SHAPES,
        places::SHAPES,
        profiles::SHAPES,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::cli::args::command;

    #[test]
    fn what_is_printed_is_described_and_what_is_described_is_printed() {
        let described: Vec<_> = shapes().map(|shape| shape.name).collect();
        let unique: HashSet<_> = described.iter().copied().collect();
        assert_eq!(unique.len(), described.len(), "a name stands twice");
        let printed = printed::ALL.iter().flat_map(|printed| printed.shapes);
        let printed: HashSet<_> = printed.copied().filter(|name| *name != "text").collect();
        assert_eq!(printed, unique);
        for shape in shapes() {
            let paths: Vec<_> = shape.fields().map(|field| field.path).collect();
            let unique: HashSet<_> = paths.iter().collect();
            assert_eq!(unique.len(), paths.len(), "{}", shape.name);
        }
    }

    #[test]
    fn every_command_has_its_json() {
        fn walk(command: &clap::Command, above: &str, open: &mut Vec<String>) {
            for below in command.get_subcommands() {
                let name = format!("{above}{} ", below.get_name());
                if below.get_subcommands().next().is_none() {
                    open.push(name.trim().to_owned());
                }
                walk(below, &name, open);
            }
        }
        let mut commands = vec!["rotations".to_owned(), "serve".to_owned()];
        walk(&command(), "", &mut commands);
        assert!(commands.contains(&"serve keys create".to_owned()));
        for name in commands {
            let is_it = |printed: &printed::Printed| {
                let mut commands = printed.command.split(", ");
                commands.any(|command| command == name || command.starts_with(&format!("{name} ")))
            };
            assert!(printed::ALL.iter().any(is_it), "{name}");
        }
    }

    #[test]
    fn it_fits_a_terminal() {
        for (terminal, columns) in [(None, 96), (Some(200), 96), (Some(80), 80), (Some(60), 60)] {
            let text = text(&[], terminal).expect("all of it");
            for line in text.lines() {
                assert!(line.chars().count() <= columns, "{line}");
            }
        }
    }
}
