//! What scripts rely on: the JSON that every command prints, and the meaning of each field. `help json` and the manual
//! print it. The objects are declared where they are made ([`super::output::shape`]); here is which command prints which.

mod printed;
mod render;

pub(crate) use render::{exit_code, help, object, text};

use super::{
    commands::{
        annotations, attention, audit, batch, batches, completions, config, demo_server, diff,
        directory, doctor, export, handoff, history, import, keys, man, mutations, places, profile,
        refresh, serve, version,
    },
    input::editor,
    output::{json, review, shape::Shape},
};

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
#[rustfmt::skip] // A table: one part of the program a line.
const SHAPES: &[Shape] = &[
    json::GROUP, json::ANSWER, json::ROTATED, review::REQUEST, diff::DIFFERENCE, mutations::rotate::REQUEST,
    json::ENTRY, json::OPERATION, history::DIFFERENCE, json::CHANGE, json::OWNER, json::FAILURE,
    refresh::report::ITEM, refresh::report::SUM, refresh::report::PLAN,
    json::ROTATION, json::SETTLED, handoff::DELIVERY, batch::report::ITEM, batch::report::SUM, batch::report::PLAN, batch::edit::PLAN,
    attention::CONCERN, batches::BATCH, batches::SHOWN, annotations::ANNOTATION,
    import::TAKEN, import::TAKEN_SUM, import::plan::ROW, import::plan::SUM, import::send::ROW, import::send::SUM,
    import::checked::WRONG, import::checked::WRONG_SUM, export::EXPORTED,
    directory::COPY, directory::SET_UP, directory::COPIED, directory::STATUS, directory::MIGRATED, audit::AUDITED, directory::RIGHT,
    profile::bind::BINDING, places::PLACE, places::SHOWN,
    profile::show::PROFILE, profile::add::ADDED, profile::CHECK, profile::RENAMED, config::FILE, config::VALID, editor::CHANGED,
    profile::REMOVED, profile::KEY, profile::behaviour::FACT,
    demo_server::DEMO, serve::SERVING, serve::REQUEST_SERVED, keys::KEY, keys::MADE,
    serve::maintenance::SET_UP, serve::maintenance::COPY, serve::maintenance::CHECK,
    doctor::REPORT, completions::SCRIPT, version::OBJECT, man::PAGE, render::HELP, render::CONTRACT, render::EXIT_CODE,
];

fn shapes() -> impl Iterator<Item = &'static Shape> {
    SHAPES.iter()
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
            let described = shape.described();
            let paths: Vec<_> = described.iter().map(|field| &field.path).collect();
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
