//! Results for people: tables that fit the terminal. Hidden characters are made visible first.

mod columns;
mod group;
mod history;
mod list;
mod rotations;
mod rows;

use std::io::{self, IsTerminal};

use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets::NOTHING};
use jiff::Timestamp;

pub(crate) use {
    columns::{Column, Columns, Listed},
    group::group,
    history::{changes, history, history_line},
    list::List,
    rotations::{answered_tokens, rotations},
    rows::{rows, rows_within},
};

use super::{
    colour::{Tone, is_coloured},
    form,
};
use crate::{
    cli::{error::CliError, output},
    domain::{
        age, group::UserGroupId, history::Ending, known::Known, text::visible, token::Token, when,
    },
    operations::Done,
};

const UNKNOWN: &str = "-";
/// Columns between two cells.
const GAP: usize = 2;

/// Prints the outcome of an operation. A revealed token is the only thing on standard output, so that it can be
/// captured.
pub(crate) fn answered(
    answer: &Done,
    is_rotation: bool,
    token: Option<&Token>,
    now: Timestamp,
) -> Result<(), CliError> {
    let mut text = answer.ending.as_str().replace('_', " ");
    if let (true, Some(before)) = (is_rotation, answer.previous_fingerprint) {
        let after = answer
            .group
            .fingerprint
            .as_ref()
            .map_or(UNKNOWN.into(), |known| known.value.to_string());
        text = format!("{text}: fingerprint {before} -> {after}");
    }
    let text = format!("{text}\n{}", group(&answer.group, now));
    match token {
        None => output::result(&text),
        Some(token) => {
            output::say(&text);
            // A program gets the token unchanged; on a terminal, control characters must have no effect.
            if io::stdout().is_terminal() {
                output::result(&visible(token.expose()))
            } else {
                output::result(token.expose())
            }
        }
    }
}

/// Prints warnings for the person, never on standard output.
pub(crate) fn say_warnings(done: &Done) {
    if let Some(note) = note(done.ending, &done.group.id) {
        output::say(&format!("! {note}"));
    }
    for warning in &done.warnings {
        if warning.is_alarm() {
            output::alarm(&format!("x {warning}"));
        } else {
            output::say(&format!("! {warning}"));
        }
    }
}

/// What the name of an ending leaves unsaid.
pub(crate) fn note(ending: Ending, id: &UserGroupId) -> Option<String> {
    let text = match ending {
        Ending::Existed => format!(
            "the group already exists and was not changed. To change it, run `{}`",
            id.command("edit", "")
        ),
        Ending::Recovered => {
            "the response was lost, but the token is new: rotated by this call or by someone else. If the old token leaked, \
             rotate again"
                .to_owned()
        }
        Ending::Superseded => {
            "rotated, then rotated again by someone else: the current token is theirs".to_owned()
        }
        Ending::Rotated => format!(
            "rotated, but not confirmed. To confirm, run `{}`",
            id.command("get", "")
        ),
        _ => return None,
    };
    Some(text)
}

/// A table without lines, as wide as the terminal, or as wide as its content if there is no terminal.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).force_no_tty();
    if is_coloured(&io::stdout()) {
        table.enforce_styling();
        // The gap has no colour, so it can be trimmed at the end of a line.
        table.style_text_only();
    }
    if !header.is_empty() {
        let bold = |name| Cell::new(name).add_attribute(Attribute::Bold);
        table.set_header(header.iter().map(bold));
    }
    match terminal_width() {
        Some(width) => {
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(width as u16);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table
}

/// The width of the terminal on standard output, if there is one. `COLUMNS` overrides it, even without a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    let columns_variable = std::env::var("COLUMNS").ok();
    let columns_variable = columns_variable.and_then(|text| text.trim().parse().ok());
    if let Some(columns) = columns_variable.filter(|columns| *columns > 0) {
        return Some(columns);
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then(|| size.ws_col.into())
}

/// The table as text, without spaces at its edges.
pub(crate) fn done(table: &Table) -> String {
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.strip_prefix(' ').unwrap_or(&line).trim_end());
        text.push('\n');
    }
    text
}

fn of<T>(known: Option<&Known<T>>, text: impl Fn(&T) -> String) -> String {
    known.map_or_else(|| UNKNOWN.to_owned(), |known| text(&known.value))
}

/// A state or an ending as people read it.
pub(crate) fn word(word: &str) -> String {
    word.replace('_', " ")
}

/// `3h ago`, for use in sentences. A wide table is kept and sent on, so it has the time.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    if form::is_wide() {
        return when::second(at);
    }
    when::ago(at, now)
}

/// How long ago, for a cell: `3h`; in a wide table the time.
pub(crate) fn passed(at: Timestamp, now: Timestamp) -> String {
    if form::is_wide() {
        return when::second(at);
    }
    age::passed(at, now)
}

/// The title of a column of [`passed`].
pub(crate) fn passed_title() -> &'static str {
    if form::is_wide() { "TIME" } else { "AGE" }
}
