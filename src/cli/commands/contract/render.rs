//! Prints the shapes as text and as JSON.

use std::fmt::Write;

use super::{Layout, PROMISE, Printed, printed};
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
}

shape! {
    COMMAND = "", "";
    fn of_command(command: &str, printed: &Printed) {
        "command": text = printed.typed(command), "the command as typed";
        "form": text = printed.layout.as_str(), "one object, array or lines";
        "shapes": texts = names(printed), "names of shapes; for lines, the last name is that of the last line";
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
    pub(crate) HELP = "help", "a help text";
    pub(crate) fn help(command: &str, text: &str) {
        "command": text = command, "what it is about";
        "text": text = text, "human-readable, may change";
    }
}

shape! {
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
    let commands: Vec<_> = printed().filter(is_wanted).collect();
    let mut shapes: Vec<&Shape> = Vec::new();
    for shape in commands.iter().flat_map(|(_, printed)| printed.shapes) {
        // What is no object needs no description.
        if !shape.fields.is_empty() && shapes.iter().all(|known| known.name != shape.name) {
            shapes.push(shape);
        }
    }
    (!commands.is_empty()).then_some((commands, shapes))
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
