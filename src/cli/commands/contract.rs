//! A page of each command: its examples, and the JSON that it prints, which scripts rely on. The help, the manual and
//! `help json` read the pages, which are next to the commands ([`super::Run::PAGES`]), as the objects do where they are
//! made ([`crate::cli::output::shape`]).

use std::fmt::Write;

use super::COMMANDS;
use crate::{
    cli::{
        error::CliError,
        output::{
            form::{EVERY, FOR_PROGRAMS, Form},
            json,
            shape::{Described, Object, Shape, shape},
        },
    },
    domain::text::{alternatives, wrap},
};

/// How the objects stand on standard output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    One,
    Array,
    /// One object per line.
    Lines,
}

impl Layout {
    fn as_str(self) -> &'static str {
        match self {
            Self::One => "one object",
            Self::Array => "array",
            Self::Lines => "lines",
        }
    }
}

/// What is told of a command besides its arguments.
pub(crate) struct Page {
    /// Its words.
    command: &'static str,
    /// As typed in a shell.
    pub(super) examples: &'static [&'static str],
    prints: &'static [Printed],
}

pub(crate) const fn page(
    command: &'static str,
    examples: &'static [&'static str],
    prints: &'static [Printed],
) -> Page {
    Page {
        command,
        examples,
        prints,
    }
}

/// What a command prints with `--json`.
pub(crate) struct Printed {
    /// What follows the words of the command.
    rest: &'static str,
    layout: Layout,
    /// With `Lines`, the last one is the last line.
    shapes: &'static [&'static Shape],
    /// Values of `-o`.
    forms: &'static [Form],
}

impl Printed {
    const fn of(
        rest: &'static str,
        layout: Layout,
        shapes: &'static [&'static Shape],
        forms: &'static [Form],
    ) -> Self {
        Self {
            rest,
            layout,
            shapes,
            forms,
        }
    }

    /// With these values of `-o`.
    pub(crate) const fn with_forms(self, forms: &'static [Form]) -> Self {
        Self { forms, ..self }
    }

    /// The command as typed.
    fn typed(&self, command: &str) -> String {
        let gap = if self.rest.is_empty() || self.rest.starts_with(',') {
            ""
        } else {
            " "
        };
        format!("{command}{gap}{}", self.rest)
    }
}

/// One object; `rest` is what follows the words of the command.
pub(crate) const fn one(rest: &'static str, shapes: &'static [&'static Shape]) -> Printed {
    Printed::of(rest, Layout::One, shapes, FOR_PROGRAMS)
}

/// One object of the kind that a list has; it is printed in all forms of a list.
pub(crate) const fn row(rest: &'static str, shapes: &'static [&'static Shape]) -> Printed {
    Printed::of(rest, Layout::One, shapes, EVERY)
}

/// A list.
pub(crate) const fn array(rest: &'static str, shapes: &'static [&'static Shape]) -> Printed {
    Printed::of(rest, Layout::Array, shapes, EVERY)
}

/// One object per line, while the command runs.
pub(crate) const fn lines(rest: &'static str, shapes: &'static [&'static Shape]) -> Printed {
    Printed::of(rest, Layout::Lines, shapes, FOR_PROGRAMS)
}

/// Of groupdesk itself, and of what every command prints.
pub(super) const OF_ALL: &[Page] = &[
    page(
        "",
        &["groupdesk demo", "groupdesk --profile eu-live list"],
        &[],
    ),
    page(FAILING, &[], &[one("", &[&json::FAILURE])]),
];
const FAILING: &str = "any command that fails";

/// Printed before the shapes.
const PROMISE: &str = concat!(
    "With --json, standard output contains only JSON: UTF-8, with hidden characters as \\u escapes. Messages go to standard ",
    "error; --quiet limits them to errors, alarms and prompts. Times are RFC 3339 in UTC. A fingerprint is 8 hexadecimal ",
    "digits that identify a token on this installation; it is not secret. Tokens and API keys are printed only on request.\n",
    "Within a major version, nothing described here is removed or changes its type or meaning. New fields, and new values ",
    "of `outcome`, `state`, `finding`, `plan` and `what`, may be added at any time: read the fields you need by name, and ",
    "treat an unknown value as not done.\n",
    "A command that fails prints the object `failure` on one line of standard output, also for wrong arguments, and its ",
    "text to standard error; the exit code is the same with and without --json. A reader that closes early is not a failure."
);

fn pages() -> impl Iterator<Item = &'static Page> {
    COMMANDS.iter().copied().flatten()
}

/// Each thing that is printed, after the words of its command.
fn printed() -> impl Iterator<Item = (&'static str, &'static Printed)> {
    pages().flat_map(|page| page.prints.iter().map(|printed| (page.command, printed)))
}

/// The examples of the command with these words.
pub(crate) fn examples(command: &str) -> &'static [&'static str] {
    let page = pages().find(|page| page.command == command);
    page.map_or(&[], |page| page.examples)
}

/// The values of `-o` for the command with these words, in the order of [`Form`]; none if it prints nothing itself.
pub(crate) fn forms(command: &str) -> Vec<Form> {
    let of = printed().filter(|(words, _)| *words == command);
    let of: Vec<_> = of.flat_map(|(_, printed)| printed.forms).collect();
    let all = EVERY.iter().filter(|form| of.contains(form));
    all.copied().collect()
}

/// Refuses a form that the command does not have.
pub(crate) fn refuse_form(command: &str, form: Form) -> Result<(), CliError> {
    let forms = forms(command);
    if forms.contains(&form) {
        return Ok(());
    }
    let what = if command.is_empty() {
        "the console".to_owned()
    } else {
        format!("`{command}`")
    };
    Err(CliError::Usage(if forms.is_empty() {
        format!("{what} has no output format; remove --output")
    } else {
        format!(
            "{what} cannot print {}; use --output {}",
            form.as_str(),
            in_words(&forms)
        )
    }))
}

/// The columns of the list that the command prints as CSV; `given` says whether an option is on the command line.
pub(crate) fn columns(command: &str, given: impl Fn(&str) -> bool) -> Vec<String> {
    let is_list = |printed: &Printed| printed.layout == Layout::Array;
    let lists = printed().filter(|(words, printed)| *words == command && is_list(printed));
    let option = |printed: &'static Printed| {
        let mut words = printed.rest.split(' ');
        words.find(|word| word.starts_with("--"))
    };
    // The one with an option that is given, else the one without.
    let list = lists
        .filter(|(_, printed)| option(printed).is_none_or(&given))
        .max_by_key(|(_, printed)| option(printed).is_some());
    let shape = list.and_then(|(_, printed)| printed.shapes.first());
    let fields = shape.map_or_else(Vec::new, |shape| shape.described());
    let paths = fields.into_iter().map(|field| field.path);
    paths.filter(|path| !path.contains('.')).collect()
}

/// `json, jsonl or csv`.
pub(crate) fn in_words(forms: &[Form]) -> String {
    alternatives(&forms.iter().map(|form| form.as_str()).collect::<Vec<_>>())
}

/// Width of the text if there is no terminal or a wider one.
const COLUMNS: usize = 96;
/// Anything narrower is not readable.
const LEAST: usize = 50;
/// The column in which the meaning of a field starts.
const INDENT: usize = 28;

/// What `command` prints, or what all commands print, as wide as the terminal. `None` if there is no such command.
pub(crate) fn text(command: &[String], terminal: Option<usize>) -> Option<String> {
    let (commands, shapes) = about(command)?;
    let mut page = Sheet {
        text: String::new(),
        columns: terminal.unwrap_or(COLUMNS).clamp(LEAST, COLUMNS),
    };
    if command.is_empty() {
        for paragraph in PROMISE.lines() {
            page.block(paragraph);
            page.text.push('\n');
        }
    }
    page.text.push_str("What the commands print:\n");
    let indent = 42.min(page.columns / 2);
    for (command, printed) in commands {
        page.item(&printed.typed(command), &prints(printed), indent);
    }
    for shape in shapes {
        page.text.push('\n');
        page.block(&format!("{}: {}", shape.name, shape.about));
        for field in shape.described() {
            page.item(&field.path, &said(&field), INDENT);
        }
    }
    Some(page.text)
}

/// The same as JSON.
pub(crate) fn object(command: &[String]) -> Option<Object> {
    let (commands, shapes) = about(command)?;
    Some(whole(&commands, &shapes))
}

shape! {
    pub(crate) CONTRACT = "contract", "this help as JSON";
    fn whole(commands: &[(&'static str, &'static Printed)], shapes: &[&Shape]) {
        "promise": text = PROMISE, "the rules for all output";
        "commands": [COMMAND] = commands.iter().map(|(command, printed)| of_command(command, printed)), "what prints what";
        "shapes": [SHAPE] = shapes.iter().map(|shape| of_shape(shape)), "what is printed";
    }

    COMMAND = "", "";
    fn of_command(command: &str, printed: &Printed) {
        "command": text = printed.typed(command), "the command as typed";
        "form": text = printed.layout.as_str(), "one object, array or lines";
        "shapes": texts = names(printed), "names of shapes; for lines, the last name is that of the last line";
    }

    SHAPE = "", "";
    fn of_shape(shape: &Shape) {
        "shape": text = shape.name, "its name";
        "about": text = shape.about, "what it is";
        "fields": [FIELD] = shape.described().iter().map(of_field), "its fields, in their order";
    }

    FIELD = "", "";
    fn of_field(field: &Described) {
        "field": text = field.path, "its name; nested as handoff.state, in an array as steps[].what";
        "type": text = field.kind, "string, number, bool, time (a string) or object; [] is an array of it; object of ... has keys of your own";
        "null": text or "it is never null" = Some(field.null).filter(|null| !null.is_empty()), "when it is null";
        "meaning": text = field.meaning, "what it means";
    }

    pub(crate) HELP = "help", "a help text";
    pub(crate) fn help(command: &str, text: &str) {
        "command": text = command, "what it is about";
        "text": text = text, "human-readable, may change";
    }

    pub(crate) EXIT_CODE = "exit-code", "an exit code";
    pub(crate) fn exit_code(code: u8, meaning: &str) {
        "code": number = code, "the code";
        "meaning": text = meaning, "what it means";
    }
}

type About = (Vec<(&'static str, &'static Printed)>, Vec<&'static Shape>);

fn about(command: &[String]) -> Option<About> {
    let wanted = command.join(" ");
    let is_wanted = |(command, printed): &(&str, &Printed)| {
        let typed = printed.typed(command);
        let rest = typed.strip_prefix(wanted.as_str());
        rest.is_some_and(|rest| {
            wanted.is_empty() || rest.is_empty() || rest.starts_with([' ', ','])
        })
    };
    let mut commands: Vec<_> = printed().filter(is_wanted).collect();
    if commands.is_empty() {
        let mut of_all = printed().flat_map(|(_, printed)| printed.shapes);
        let shape = of_all.find(|shape| shape.name == wanted)?;
        commands = printed()
            .filter(|(_, printed)| names(printed).any(|name| name == wanted))
            .collect();
        return Some((commands, vec![shape]));
    }
    let mut shapes: Vec<&Shape> = Vec::new();
    for shape in commands.iter().flat_map(|(_, printed)| printed.shapes) {
        // What is no object needs no description.
        if !shape.fields.is_empty() && shapes.iter().all(|known| known.name != shape.name) {
            shapes.push(shape);
        }
    }
    Some((commands, shapes))
}

fn names(printed: &Printed) -> impl Iterator<Item = &'static str> {
    printed.shapes.iter().map(|shape| shape.name)
}

fn prints(printed: &Printed) -> String {
    let names: Vec<_> = names(printed).collect();
    match (printed.layout, names.as_slice()) {
        (Layout::One, names) => names.join(" or "),
        (Layout::Array, names) => format!("array of {}", names.join(" or ")),
        (Layout::Lines, [shape]) => format!("lines of {shape}"),
        (Layout::Lines, [lines @ .., last]) => {
            format!("lines of {}, the last one {last}", lines.join(", then "))
        }
        (Layout::Lines, []) => String::new(),
    }
}

fn said(field: &Described) -> String {
    let null = match field.null {
        "" => String::new(),
        "always" => ", null".to_owned(),
        null => format!(", or null: {null}"),
    };
    format!("{}{null}. {}", field.kind, field.meaning)
}

struct Sheet {
    text: String,
    columns: usize,
}

impl Sheet {
    /// Writes a name and its explanation, next to it or below it.
    fn item(&mut self, name: &str, said: &str, indent: usize) {
        let lines = wrap(said, self.columns - indent);
        let mut lines = lines.iter();
        let text = &mut self.text;
        if name.len() + 4 > indent {
            let _ = writeln!(text, "  {name}");
        } else if let Some(first) = lines.next() {
            let width = indent - 2;
            let _ = writeln!(text, "  {name:<width$}{}", first.trim_end());
        }
        for line in lines {
            let _ = writeln!(text, "{:indent$}{}", "", line.trim_end());
        }
    }

    fn block(&mut self, paragraph: &str) {
        for line in wrap(paragraph, self.columns) {
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::cli::commands::tree::command;

    #[test]
    fn a_name_means_one_object_and_each_field_stands_once() {
        let mut about = HashMap::new();
        for shape in printed().flat_map(|(_, printed)| printed.shapes) {
            let told = about.insert(shape.name, shape.about);
            assert!(
                told.is_none_or(|told| told == shape.about),
                "{}",
                shape.name
            );
            let described = shape.described();
            let paths: Vec<_> = described.iter().map(|field| &field.path).collect();
            let unique: HashSet<_> = paths.iter().collect();
            assert_eq!(unique.len(), paths.len(), "{}", shape.name);
        }
        assert!(about.len() > 60, "{}", about.len());
    }

    /// The words of every command that does something.
    fn commands() -> Vec<String> {
        fn walk(command: &clap::Command, above: &str, all: &mut Vec<String>) {
            for below in command.get_subcommands() {
                let name = format!("{above}{} ", below.get_name());
                if !below.is_subcommand_required_set() {
                    all.push(name.trim().to_owned());
                }
                walk(below, &name, all);
            }
        }
        let mut all = Vec::new();
        walk(&command(), "", &mut all);
        assert!(all.contains(&"serve keys create".to_owned()) && all.contains(&"serve".to_owned()));
        all
    }

    #[test]
    fn every_command_has_its_json_and_every_json_its_command() {
        let all = commands();
        for name in &all {
            assert!(forms(name).contains(&Form::Json), "{name}");
        }
        for (command, _) in printed().filter(|(command, _)| *command != FAILING) {
            assert!(all.iter().any(|name| name == command), "{command}");
        }
    }

    #[test]
    fn a_form_that_a_command_does_not_have_is_refused_with_those_that_it_has() {
        let refused = |command, form| refuse_form(command, form).err().map(|why| why.to_string());
        assert_eq!(refused("list", Form::Name), None);
        assert_eq!(
            refused("rotate", Form::Csv).as_deref(),
            Some("`rotate` cannot print csv; use --output json or jsonl")
        );
        assert_eq!(
            refused("", Form::Csv).as_deref(),
            Some("the console has no output format; remove --output")
        );
    }

    #[test]
    fn a_shape_that_a_page_names_has_a_page_with_the_commands_that_print_it() {
        for shape in printed()
            .flat_map(|(_, printed)| printed.shapes)
            .filter(|shape| !shape.name.is_empty())
        {
            let words: Vec<_> = shape.name.split(' ').map(str::to_owned).collect();
            assert!(text(&words, None).is_some(), "{}", shape.name);
        }
        let text = text(&["bulk-item".to_owned()], None).expect("a shape");
        assert!(
            text.contains("\n  rotate, of many groups") && text.contains("\nbulk-item: "),
            "{text}"
        );
        assert!(!text.contains("\nbulk-sum: "), "only that one: {text}");
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
