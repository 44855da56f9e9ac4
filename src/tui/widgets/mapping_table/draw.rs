//! How the table looks: `>` and reverse for the cursor, `~ + -` in the gutter, what it was or what is wrong beside it.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::{Modifier, Style},
};

use super::{Column, MappingTable, Problem, Row};
use crate::{
    domain::change::Mark,
    tui::{
        theme::Theme,
        widgets::{
            RowKeys,
            columns::{self, Cell, Layout},
            paint,
        },
    },
};

/// Cursor, mark and a space.
const GUTTER: u16 = 3;
/// From this width on the columns are as wide as typing needs.
const ROOMY: u16 = 50;
/// Room for typing, however short the ids are.
const LEAST_FIELD: u16 = 12;
/// No id is worth more cells than this while others wait for room.
const WIDEST: u16 = 120;

impl MappingTable {
    /// Draws header, rows and, if there is something wrong, a last line that says what. Returns where the terminal's
    /// cursor belongs while a cell is typed into.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
        keys: &RowKeys,
    ) -> Option<Position> {
        if area.width <= GUTTER || area.is_empty() {
            return None;
        }
        let rows = self.rows();
        let problems = super::check::problems(&rows);
        let layout = layout(&rows, &problems, area.width - GUTTER, self.is_editing());
        layout.draw_header(buffer, after_gutter(paint::row(area, 0)), theme);
        let foot = self
            .foot(&rows, &problems, keys)
            .filter(|_| area.height > 3);
        let height = area.height - 1 - u16::from(foot.is_some());
        let window = columns::centred(self.cursor, rows.len(), height);
        if window.len() < rows.len() {
            let place = format!(" {}/{}", self.cursor + 1, rows.len());
            let x = area.right().saturating_sub(place.len() as u16);
            paint::text(buffer, x, area.y, area.width, &place, theme.dim());
        }
        let mut cursor = None;
        for (line, index) in (1..).zip(window) {
            let line = paint::row(area, line);
            let is_here = focused && index == self.cursor;
            let remark = remark(index, &rows[index], &problems, theme);
            draw_row(buffer, line, &layout, &rows[index], remark, is_here, theme);
            if is_here {
                cursor = self.draw_cell(buffer, after_gutter(line), &layout, theme);
            }
        }
        if let Some((text, is_problem)) = foot {
            let style = if is_problem {
                theme.error()
            } else {
                theme.dim()
            };
            let last = paint::row(area, area.height - 1);
            paint::line(buffer, last, &text, style, theme);
        }
        cursor
    }

    /// The cell under the cursor: the field that is typed into, or bold.
    fn draw_cell(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        layout: &Layout,
        theme: Theme,
    ) -> Option<Position> {
        let index = usize::from(self.column == Column::Value);
        let place = layout.cell(line, index);
        let Some(field) = &self.editing else {
            let mark = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
            buffer.set_style(place, mark);
            return None;
        };
        if place.is_empty() {
            return None;
        }
        for x in place.left()..place.right() {
            buffer[(x, place.y)].reset();
        }
        field.draw(buffer, place, theme, true)
    }

    /// What stands in the last line, and whether it is a problem: a refused paste, else what is wrong at the cursor,
    /// else what is wrong first; for a table without rows, what to do.
    fn foot(&self, rows: &[Row], problems: &[Problem], keys: &RowKeys) -> Option<(String, bool)> {
        if let Some(refused) = &self.refused_paste {
            return Some((format!("! {refused}"), true));
        }
        let here = problems.iter().find(|problem| problem.row == self.cursor);
        if let Some(problem) = here.or(problems.first()) {
            return Some((format!("! {problem}"), true));
        }
        if !rows.is_empty() {
            return None;
        }
        let text = if self.is_known() {
            format!("no rows; {} adds one", keys.add)
        } else {
            "not known here; without rows it is left as it is".into()
        };
        Some((text, false))
    }
}

fn after_gutter(line: Rect) -> Rect {
    Rect {
        x: line.x + GUTTER,
        width: line.width - GUTTER,
        ..line
    }
}

fn layout(rows: &[Row], problems: &[Problem], room: u16, editing: bool) -> Layout {
    // One cell more than the text while typing, for the cursor behind it.
    // Where there is room, it is kept when nobody types, so that nothing jumps when somebody begins to.
    let (least, cursor) = if editing || room >= ROOMY {
        (LEAST_FIELD, 1)
    } else {
        (6, 0)
    };
    let keys = columns::widest(rows.iter().map(|row| row.key.as_str()), WIDEST) + cursor;
    let values = columns::widest(rows.iter().map(|row| row.value.as_str()), WIDEST) + cursor;
    let remarks: Vec<String> = rows.iter().filter_map(Row::remark).collect();
    let remarks = remarks.iter().map(String::as_str);
    let texts = problems.iter().map(|problem| problem.text.as_str());
    let remark = columns::widest(remarks.chain(texts), WIDEST);
    let columns = vec![
        columns::Column::new("SCHEMA ID", least, keys.max(9), 0),
        columns::Column::new("DATA SOURCE ID", least, values.max(14), 0),
        columns::Column::new("", 8.min(remark.max(1)), remark.max(1), 1),
    ];
    Layout::fit(columns, room, 2)
}

fn remark<'a>(index: usize, row: &Row, problems: &'a [Problem], theme: Theme) -> Cell<'a> {
    let problem = problems.iter().find(|problem| problem.row == index);
    match (problem, row.remark()) {
        (Some(problem), _) => Cell::new(problem.text.as_str()).styled(theme.error()),
        (None, Some(text)) => Cell::new(text),
        (None, None) => Cell::new(""),
    }
}

fn draw_row(
    buffer: &mut Buffer,
    line: Rect,
    layout: &Layout,
    row: &Row,
    remark: Cell<'_>,
    is_here: bool,
    theme: Theme,
) {
    let mark = row.mark();
    let style = match mark {
        Mark::Same => Style::new(),
        Mark::Added => theme.added(),
        Mark::Removed if theme.colour => theme.removed().add_modifier(Modifier::CROSSED_OUT),
        Mark::Removed => theme.removed(),
        Mark::Changed => theme.changed(),
    };
    let style = if is_here { theme.cursor_row() } else { style };
    buffer.set_style(line, style);
    let cursor = if is_here { '>' } else { ' ' };
    let gutter = format!("{cursor}{}", mark.sign());
    paint::text(buffer, line.x, line.y, GUTTER, &gutter, style);
    // The remark is not part of what is struck out.
    let remark = Cell {
        style: remark.style.remove_modifier(Modifier::CROSSED_OUT),
        ..remark
    };
    let cells = [
        Cell::new(row.key.as_str()),
        Cell::new(row.value.as_str()),
        remark,
    ];
    layout.draw_row(buffer, after_gutter(line), &cells, style, theme);
}
