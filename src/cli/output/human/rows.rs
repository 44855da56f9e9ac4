//! Rows of a table that are never cut: the last column takes the remaining width; if that is too narrow, each row
//! becomes a paragraph.

use comfy_table::{ColumnConstraint, ContentArrangement, Width};

use super::{GAP, Tone, done, table, terminal_width};
use crate::domain::text::{width, wrap};

/// If the last column would be narrower than this, it goes below its line instead of next to it.
const SHORTEST_STORY: usize = 24;

/// Rows below a header. The cell in column `tone` is coloured by its word.
pub(crate) fn rows<const N: usize>(
    header: [&str; N],
    rows: &[[String; N]],
    tone: Option<usize>,
) -> String {
    rows_within(terminal_width(), header, rows, tone)
}

/// The same within a given width, or as wide as needed. The header is left out if it is empty.
pub(crate) fn rows_within<const N: usize>(
    terminal: Option<usize>,
    header: [&str; N],
    rows: &[[String; N]],
    tone: Option<usize>,
) -> String {
    let story = N - 1;
    let widest = |index: usize| {
        let lines = rows.iter().flat_map(|row| row[index].lines());
        let cells = lines.map(width);
        cells.chain([width(header[index])]).max().unwrap_or(0)
    };
    let beside: usize = (0..story).map(|index| widest(index) + GAP).sum();
    let room = terminal.map_or(usize::MAX, |terminal| terminal.saturating_sub(beside));
    if room < SHORTEST_STORY.min(widest(story)) {
        return paragraphs(rows, terminal.unwrap_or(usize::MAX));
    }
    let has_header = header.iter().any(|name| !name.is_empty());
    let mut table = table(if has_header { &header } else { &[] });
    table.set_content_arrangement(ContentArrangement::Disabled);
    for row in rows {
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
