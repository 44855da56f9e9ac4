//! Draws the rows: `>` and reverse for the cursor, `~ + -` in the gutter, and the old value or the problem beside a row.

use std::borrow::Cow;

use ratatui::prelude::{Buffer, Modifier, Position, Rect, Style};

use super::{Column, Kind, Pairs, Problem, REMOVED, Row, Typing};
use crate::{
    domain::Mark,
    tui::{
        kit::{
            RowKeys,
            columns::{self, Cell, Layout},
            paint::{self, after_cells},
        },
        theme::Theme,
    },
};

/// Cursor, mark and a space.
const GUTTER: u16 = 3;
/// Signs of a text that is not shown.
const MASK: usize = 8;
/// Minimum width of a cell that is being edited, however short the texts are.
const MIN_FIELD_WIDTH: u16 = 12;
/// From this width on, ids are always as wide as editing needs.
const ROOMY_WIDTH: u16 = 50;
/// Maximum width of a text while other columns need room.
const MAX_WIDTH: u16 = 120;
/// The same for the key beside a value with a type.
const MAX_KEY_WIDTH: u16 = 40;

impl<K: Kind> Pairs<K> {
    /// Draws header, rows and, if there is something to say, a last line. Returns the position of the terminal's cursor
    /// while a cell is being edited.
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
        // A type is not there before it is chosen.
        let rows = if self.is_choosing() {
            Cow::Borrowed(self.rows.as_slice())
        } else {
            self.typed_rows()
        };
        let problems = if K::KEEPS_WRONG {
            self.problems()
        } else {
            Vec::new()
        };
        let foot = self.foot(&rows, &problems, keys, theme);
        let foot = foot.filter(|_| area.height > 2);
        let height = area.height - 1 - u16::from(foot.is_some());
        let window = columns::centred(self.cursor, rows.len(), height);
        let layout = self.layout(&rows[window.clone()], &problems, area.width - GUTTER);
        layout.draw_header(buffer, after_cells(paint::row(area, 0), GUTTER), theme);
        if window.len() < rows.len() {
            let place = format!(" {}/{}", self.cursor + 1, rows.len());
            let x = area.right().saturating_sub(place.len() as u16);
            paint::text(buffer, x, area.y, area.width, &place, theme.dim());
        }
        let mut cursor = None;
        for (line, index) in (1..).zip(window) {
            let line = paint::row(area, line);
            let is_here = focused && index == self.cursor;
            let problem = problems.iter().find(|problem| problem.row == index);
            draw_row::<K>(
                buffer,
                line,
                &layout,
                (&rows[index], problem),
                is_here,
                theme,
            );
            if is_here {
                let text = after_cells(line, GUTTER);
                cursor = self.draw_cell(buffer, text, &layout, theme);
            }
        }
        if let Some((text, style)) = foot {
            let last = paint::row(area, area.height - 1);
            paint::line(buffer, last, &text, style, theme);
        }
        cursor
    }

    fn is_choosing(&self) -> bool {
        matches!(self.typing, Some(Typing::Type(_)))
    }

    fn layout(&self, rows: &[Row], problems: &[Problem], room: u16) -> Layout {
        // While a cell is edited, it has one cell more than the text, for the cursor after it. If there is room, it is
        // reserved all the time, so that nothing jumps when editing starts.
        let (least, least_key, cursor) = if K::HAS_TYPES {
            (MIN_FIELD_WIDTH.min(room / 3), MIN_FIELD_WIDTH, 1)
        } else if self.is_editing() || room >= ROOMY_WIDTH {
            (MIN_FIELD_WIDTH, MIN_FIELD_WIDTH, 1)
        } else {
            (MIN_FIELD_WIDTH / 2, K::NAMES.0.len() as u16, 0)
        };
        let (max_key, least_value, gap) = if K::HAS_TYPES {
            (MAX_KEY_WIDTH, 2 * MIN_FIELD_WIDTH, 1)
        } else {
            (MAX_WIDTH, K::NAMES.1.len() as u16, 2)
        };
        let key = columns::widest(rows.iter().map(|row| row.key.as_str()), max_key) + cursor;
        let values: Vec<_> = rows.iter().map(|row| row.value.shown()).collect();
        let value = columns::widest(values.iter().map(AsRef::as_ref), MAX_WIDTH) + cursor;
        let remarks: Vec<_> = rows
            .iter()
            .filter_map(|row| row.remark(K::NAMES.0))
            .collect();
        let texts = problems.iter().map(|problem| problem.text.as_str());
        let remarks = remarks.iter().map(String::as_str).chain(texts);
        let remark = columns::widest(remarks, MAX_WIDTH).max(1);
        let title = |name: &str| name.to_uppercase();
        let mut all = vec![
            columns::Column::new(title(K::NAMES.0), least, key.max(least_key), 0),
            columns::Column::new(title(K::NAMES.1), least, value.max(least_value), 0),
            columns::Column::new("", 8.min(remark), remark, 1),
        ];
        if K::HAS_TYPES {
            all.insert(1, columns::Column::new("TYPE", least, MIN_FIELD_WIDTH, 0));
        }
        Layout::fit(all, room, gap)
    }

    /// Draws the cell under the cursor: the text that is edited, the type being chosen, or the value in bold.
    fn draw_cell(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        layout: &Layout,
        theme: Theme,
    ) -> Option<Position> {
        let place = layout.cell(line, self.place());
        let Some(typing) = self.typing.as_ref().filter(|_| !place.is_empty()) else {
            let mark = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
            buffer.set_style(place, mark);
            return None;
        };
        place.positions().for_each(|at| buffer[at].reset());
        match typing {
            Typing::Key(field) | Typing::Value(_, field) => field.draw(buffer, place, theme, true),
            Typing::Type(value_type) => {
                let text = format!("<{}>", value_type.word());
                paint::line(buffer, place, &text, theme.title(), theme);
                Some(place.as_position())
            }
        }
    }

    /// The last line: why the last key had no effect, otherwise the problem at the cursor or the first one; without rows,
    /// what to do.
    fn foot(
        &self,
        rows: &[Row],
        problems: &[Problem],
        keys: &RowKeys,
        theme: Theme,
    ) -> Option<(String, Style)> {
        let here = problems.iter().find(|problem| problem.row == self.cursor);
        let problem = here.or(problems.first()).map(ToString::to_string);
        let refused = self.refused.as_ref().map(|refused| match refused.as_str() {
            REMOVED => format!("{REMOVED}; {} restores it", keys.drop),
            _ => refused.clone(),
        });
        if let Some(wrong) = refused.or(problem) {
            return Some((format!("! {wrong}"), theme.error()));
        }
        let text = if self.is_choosing() {
            "Left and Right choose the type".into()
        } else if !rows.is_empty() {
            return None;
        } else if self.kind.is_known() {
            format!("no rows; {} adds one", keys.add)
        } else {
            "unknown; stays unchanged unless you add rows".into()
        };
        Some((text, theme.dim()))
    }
}

fn draw_row<K: Kind>(
    buffer: &mut Buffer,
    line: Rect,
    layout: &Layout,
    (row, problem): (&Row, Option<&Problem>),
    is_here: bool,
    theme: Theme,
) {
    let mark = row.mark();
    let style = match mark {
        _ if is_here => theme.cursor_row(),
        Mark::Removed if theme.colour => theme.removed().add_modifier(Modifier::CROSSED_OUT),
        mark => theme.change(mark),
    };
    buffer.set_style(line, style);
    let cursor = if is_here { '>' } else { ' ' };
    let gutter = format!("{cursor}{}", mark.sign());
    paint::text(buffer, line.x, line.y, GUTTER, &gutter, style);
    // Not struck out like the rest of the row.
    let plain = Style::new().remove_modifier(Modifier::CROSSED_OUT);
    let remark = match problem {
        Some(problem) => Cell::new(&*problem.text).styled(theme.error().patch(plain)),
        None => Cell::new(row.remark(K::NAMES.0).unwrap_or_default()).styled(plain),
    };
    let mask = theme.mask().repeat(MASK);
    let [key_hidden, value_hidden] = row.hidden();
    let cells = Pairs::<K>::columns().iter().map(|column| match column {
        Column::Key if key_hidden => Cell::new(&*mask),
        Column::Value if value_hidden => Cell::new(&*mask),
        Column::Key => Cell::new(&*row.key),
        Column::Type => Cell::new(row.value.value_type.word()),
        Column::Value => Cell::new(row.value.shown()),
    });
    let cells: Vec<_> = cells.chain([remark]).collect();
    layout.draw_row(buffer, after_cells(line, GUTTER), &cells, style, theme);
}
