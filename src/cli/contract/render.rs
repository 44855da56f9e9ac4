//! Prints the shapes as text and as JSON.

use std::fmt::Write;

use super::{PROMISE, Printed, printed, shapes};
use crate::{
    cli::output::shape::{Described, Object, Shape, shape},
    domain::text::wrap,
};

/// Width of the text if there is no terminal or a wider one.
const COLUMNS: usize = 96;
/// Anything narrower is not readable.
const LEAST: usize = 50;
/// The column in which the meaning of a field starts.
const INDENT: usize = 28;

/// What `command` prints, or what all commands print, as wide as the terminal. `None` if there is no such command.
pub(crate) fn text(command: &[String], terminal: Option<usize>) -> Option<String> {
    let (commands, shapes) = about(command)?;
    let mut page = Page {
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
    for printed in commands {
        page.item(printed.command, &prints(printed), indent);
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
    pub(super) CONTRACT = "contract", "this help as JSON";
    fn whole(commands: &[&Printed], shapes: &[&Shape]) {
        "promise": text = PROMISE, "the rules for all output";
        "commands": [COMMAND] = commands.iter().map(|printed| of_command(printed)), "what prints what";
        "shapes": [SHAPE] = shapes.iter().map(|shape| of_shape(shape)), "what is printed";
    }
}

shape! {
    COMMAND = "", "";
    fn of_command(printed: &Printed) {
        "command": text = printed.command, "the command as typed";
        "form": text = printed.form.as_str(), "one object, array or lines";
        "shapes": texts = printed.shapes, "names of shapes; for lines, the last name is that of the last line";
    }
}

shape! {
    SHAPE = "", "";
    fn of_shape(shape: &Shape) {
        "shape": text = shape.name, "its name";
        "about": text = shape.about, "what it is";
        "fields": [FIELD] = shape.described().iter().map(of_field), "its fields, in their order";
    }
}

shape! {
    FIELD = "", "";
    fn of_field(field: &Described) {
        "field": text = field.path, "its name; nested as handoff.state, in an array as steps[].what";
        "type": text = field.kind, "string, number, bool, time (a string) or object; [] is an array of it; object of ... has keys of your own";
        "null": text or "it is never null" = Some(field.null).filter(|null| !null.is_empty()), "when it is null";
        "meaning": text = field.meaning, "what it means";
    }
}

shape! {
    pub(super) HELP = "help", "a help text";
    pub(crate) fn help(command: &str, text: &str) {
        "command": text = command, "what it is about";
        "text": text = text, "human-readable, may change";
    }
}

shape! {
    pub(super) EXIT_CODE = "exit-code", "an exit code";
    pub(crate) fn exit_code(code: u8, meaning: &str) {
        "code": number = code, "the code";
        "meaning": text = meaning, "what it means";
    }
}

type About = (Vec<&'static Printed>, Vec<&'static Shape>);

fn about(command: &[String]) -> Option<About> {
    let wanted = command.join(" ");
    let is_wanted = |printed: &&Printed| {
        let rest = printed.command.strip_prefix(wanted.as_str());
        rest.is_some_and(|rest| {
            wanted.is_empty() || rest.is_empty() || rest.starts_with([' ', ','])
        })
    };
    let commands: Vec<_> = printed::ALL.iter().filter(is_wanted).collect();
    let is_printed = |shape: &&Shape| {
        let mut printed = commands.iter().flat_map(|printed| printed.shapes);
        printed.any(|name| *name == shape.name)
    };
    let shapes = shapes().filter(is_printed).collect();
    (!commands.is_empty()).then_some((commands, shapes))
}

fn prints(printed: &Printed) -> String {
    match printed.shapes {
        [shape] => format!("{} of {shape}", printed.form.as_str()).replace("one object of ", ""),
        [lines @ .., last] => format!("lines of {}, the last one {last}", lines.join(", then ")),
        [] => String::new(),
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

struct Page {
    text: String,
    columns: usize,
}

impl Page {
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
