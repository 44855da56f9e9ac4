//! Results for people: tables that fit the terminal. Hidden characters are made visible first.

mod history;
mod list;

use comfy_table::{
    Attribute, Cell, ColumnConstraint, ContentArrangement, Table, Width, presets::NOTHING,
};

use super::{
    colour::{Tone, is_coloured},
    form,
};
use crate::{
    cli::{output, prelude::*},
    domain::{
        age,
        known::{Known, Source},
        text::{width, wrap},
        token::{Fingerprint, Token},
    },
};

pub(crate) use {
    history::{answered_tokens, changes, history, history_line, rotations},
    list::{Column, Columns, List, Listed},
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
        let after = of(answer.group.fingerprint.as_ref(), ToString::to_string);
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

/// A cell; `-` if its value is unknown, or there is none.
pub(crate) fn or_dash(cell: Option<impl Into<String>>) -> String {
    cell.map_or_else(|| UNKNOWN.to_owned(), Into::into)
}

/// If the last column would be narrower than this, it goes below its line instead of next to it.
const SHORTEST_STORY: usize = 24;

/// Rows below a header. The cell in column `tone` is coloured by its word.
pub(crate) fn rows<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    tone: Option<usize>,
) -> String {
    rows_within(terminal_width(), header, rows, tone)
}

/// The same within a given width, or as wide as needed. The header is left out if it is empty.
pub(crate) fn rows_within<const N: usize>(
    terminal: Option<usize>,
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    tone: Option<usize>,
) -> String {
    let rows: Vec<_> = rows.into_iter().collect();
    let story = N - 1;
    let widest = |index: usize| {
        let lines = rows.iter().flat_map(|row| row[index].lines());
        let cells = lines.map(width);
        cells.chain([width(header[index])]).max().unwrap_or(0)
    };
    let beside: usize = (0..story).map(|index| widest(index) + GAP).sum();
    let room = terminal.map_or(usize::MAX, |terminal| terminal.saturating_sub(beside));
    if room < SHORTEST_STORY.min(widest(story)) {
        return paragraphs(&rows, terminal.unwrap_or(usize::MAX));
    }
    let has_header = header.iter().any(|name| !name.is_empty());
    let mut table = table(if has_header { &header } else { &[] });
    table.set_content_arrangement(ContentArrangement::Disabled);
    for row in &rows {
        table.add_row(row.iter().enumerate().map(|(index, cell)| {
            let tone = match tone {
                Some(toned) if toned == index => Tone::of(cell),
                _ => Tone::Plain,
            };
            tone.cell(cell)
        }));
    }
    if widest(story) > room
        && let Some(column) = table.column_mut(story)
    {
        // The gap is part of a column, and the last column does not need all of it.
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(room as u16 + 1)));
    }
    done(&table)
}

/// The layout for narrow terminals.
pub(super) fn paragraphs<const N: usize>(rows: &[[String; N]], terminal: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let (story, head) = row.split_last().expect("a column");
        let head = head.iter().filter(|cell| !cell.is_empty());
        let head = head.map(String::as_str).collect::<Vec<_>>().join("  ");
        let story = wrap(story, terminal.saturating_sub(4));
        let indented = story.iter().filter(|line| !line.is_empty());
        let lines = wrap(&head, terminal);
        // Two spaces separate cells; one of them may have been wrapped to the next line.
        let lines = lines.iter().map(|line| line.trim_start().to_owned());
        for line in lines.chain(indented.map(|line| format!("    {line}"))) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// On a narrower terminal, the source of a value goes on the line below it.
const NARROW: usize = 64;

/// Everything known of one group, and the source of each value.
pub(crate) fn group(group: &KnownGroup, now: Timestamp) -> String {
    let mut table = table(&[]);
    let is_narrow = terminal_width().is_some_and(|width| width < NARROW);
    let mut row = |name: &str, mut value: String, from: String| {
        if !is_narrow {
            table.add_row([name.to_owned(), value, from]);
            return;
        }
        if !from.is_empty() {
            value = format!("{value}\n({from})");
        }
        table.add_row([name.to_owned(), value]);
    };
    row("user_group_id", group.id.to_string(), String::new());
    let name = |name: &String| visible(name).into_owned();
    field(&mut row, "name", group.name.as_ref(), name, now);
    field(
        &mut row,
        "team_id",
        group.team_id.as_ref(),
        ToString::to_string,
        now,
    );
    let tag = group.environment_tag.as_ref();
    field(&mut row, "environment tag", tag, ToString::to_string, now);
    let token = |fingerprint: &Fingerprint| format!("fingerprint {fingerprint}");
    field(&mut row, "token", group.fingerprint.as_ref(), token, now);
    let rotated = group.last_rotated.as_ref();
    row(
        "last rotated",
        rotated.map_or(UNKNOWN.into(), |last| ago(last.at, now)),
        rotated.map_or(String::new(), |last| match &last.by {
            Some(by) => format!("by {}", visible(by)),
            None => "outside this directory".into(),
        }),
    );
    let none = "the service does not return it";
    let pair = |(schema, source): (&String, &String)| {
        format!("{} -> {}", visible(schema), visible(source))
    };
    lines_of(
        &mut row,
        ("mapping", none),
        group.mapping.as_ref(),
        pair,
        now,
    );
    let pair = |(key, value): (&String, &Value)| {
        format!("{}: {}", visible(key), visible(&value.to_string()))
    };
    lines_of(
        &mut row,
        ("properties", "unknown"),
        group.properties.as_ref(),
        pair,
        now,
    );
    let seen = group.last_seen.map_or(UNKNOWN.into(), |at| ago(at, now));
    row("last seen", seen, String::new());
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    done(&table)
}

/// A value of one line.
fn field<T>(
    row: &mut impl FnMut(&str, String, String),
    name: &str,
    known: Option<&Known<T>>,
    text: impl Fn(&T) -> String,
    now: Timestamp,
) {
    row(name, of(known, text), from(known, now));
}

/// A value of several lines; `none` says why it is not known.
fn lines_of<'k, T, P>(
    row: &mut impl FnMut(&str, String, String),
    (mut name, none): (&str, &str),
    known: Option<&'k Known<T>>,
    text: impl Fn(P) -> String,
    now: Timestamp,
) where
    &'k T: IntoIterator<Item = P>,
{
    let Some(known) = known else {
        return row(name, UNKNOWN.into(), none.into());
    };
    let mut source = from(Some(known), now);
    for value in &known.value {
        row(name, text(value), std::mem::take(&mut source));
        name = "";
    }
    if !name.is_empty() {
        row(name, "empty".into(), source);
    }
}

fn from<T>(known: Option<&Known<T>>, now: Timestamp) -> String {
    known.map_or_else(String::new, |known| {
        let ago = ago(known.at, now);
        match known.source {
            Source::Returned => format!("returned {ago}"),
            Source::Sent => format!(
                "sent {ago} by {}; the service did not return it",
                visible(&known.by)
            ),
            Source::Imported => format!("imported {ago} by {}", visible(&known.by)),
        }
    })
}
