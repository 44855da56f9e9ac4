//! Draws the rows: like those of the mapping, with a column for the type.
//!
//! Pasted text in the view as rows: inserted into the cell that is being edited, or as rows of its own. A paste is
//! taken as a whole and in one step, or not at all.

use std::{collections::HashMap, fmt::Write as _};

use ratatui::prelude::{Buffer, Position, Rect, Style};

use super::{
    PropertiesField, quoted,
    rows::{self, InsertAt, PropertyRow},
    typing::{PropertyRows, Typing},
};
use crate::{
    domain::Mark,
    tui::{
        kit::{
            RowKeys,
            columns::{self, Cell, Layout},
            json_editor::{JsonEditor, object, parse},
            mapping_table::read_pairs,
            paint,
            table::{CELL_GUTTER, CellRows, clear_cell},
        },
        theme::Theme,
    },
};

/// Minimum width of a cell that is being edited, however short keys and values are.
const MIN_FIELD_WIDTH: u16 = 12;
/// Maximum width of a key while values need room.
const MAX_KEY_WIDTH: u16 = 40;
/// Width of the longest type with its signs.
const KIND: u16 = 12;
const MAX_WIDTH: u16 = 120;

impl PropertyRows {
    /// Draws header, rows and, if there is something to say, a last line. Returns the position of the terminal's
    /// cursor while a cell is being edited.
    pub(super) fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
        keys: &RowKeys,
    ) -> Option<Position> {
        if area.width <= CELL_GUTTER || area.is_empty() {
            return None;
        }
        let table = CellRows {
            count: self.all.len(),
            cursor: self.cursor,
            is_focused: focused,
            foot: self.foot(theme, keys).filter(|_| area.height > 2),
        };
        table.draw(
            buffer,
            area,
            theme,
            |window, room| layout(&self.all[window], room),
            |index| {
                let row = &self.all[index];
                let cells = [
                    Cell::new(row.key.as_str()),
                    Cell::new(row.kind.word()),
                    Cell::new(row.shown.as_str()),
                    Cell::new(row.remark.as_deref().unwrap_or_default()),
                ];
                (row.mark, cells)
            },
            |buffer, line, layout| self.draw_cell(buffer, line, layout, theme),
        )
    }

    /// Draws the cell under the cursor: the edited text, the type being chosen, or the value in bold.
    fn draw_cell(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        layout: &Layout,
        theme: Theme,
    ) -> Option<Position> {
        let place = layout.cell(line, self.column as usize);
        let can_be_typed = clear_cell(buffer, place, self.typing.is_some());
        match self.typing.as_ref().filter(|_| can_be_typed)? {
            Typing::Key(field) => field.draw(buffer, place, theme, true),
            Typing::Value(kind, field) => {
                let cell = layout.cell(line, 1);
                let word = padded(kind.word(), cell);
                paint::line(buffer, cell, &word, theme.cursor_row(), theme);
                field.draw(buffer, place, theme, true)
            }
            Typing::ValueType(kind) => {
                let text = format!("<{}>", kind.word());
                paint::line(buffer, place, &text, theme.title(), theme);
                Some(Position::new(place.x, place.y))
            }
        }
    }

    /// Why a key had no effect or, without rows, what to do.
    fn foot(&self, theme: Theme, keys: &RowKeys) -> Option<(String, Style)> {
        if let Some(refused) = &self.refused {
            let here = self.all.get(self.cursor);
            let text = match here.filter(|row| row.mark == Mark::Removed) {
                Some(_) => format!("! {refused}; {} restores the old value", keys.drop),
                None => format!("! {refused}"),
            };
            return Some((text, theme.error()));
        }
        if self.is_choosing() {
            return Some(("Left and Right choose the type".into(), theme.dim()));
        }
        if !self.all.is_empty() {
            return None;
        }
        let text = if self.is_known {
            format!("no properties; {} adds one", keys.add)
        } else {
            "unknown; without rows they stay unchanged".into()
        };
        Some((text, theme.dim()))
    }
}

fn padded(text: &str, cell: Rect) -> String {
    format!("{text:width$}", width = usize::from(cell.width))
}

fn layout(rows: &[PropertyRow], room: u16) -> Layout {
    let keys = columns::widest(rows.iter().map(|row| row.key.as_str()), MAX_KEY_WIDTH) + 1;
    let values = columns::widest(rows.iter().map(|row| row.shown.as_str()), MAX_WIDTH) + 1;
    let remarks = rows.iter().filter_map(|row| row.remark.as_deref());
    let remark = columns::widest(remarks, MAX_WIDTH).max(1);
    let least = MIN_FIELD_WIDTH.min(room / 3);
    let columns = vec![
        columns::Column::new("KEY", least, keys.max(MIN_FIELD_WIDTH), 0),
        columns::Column::new("TYPE", KIND.min(room / 3), KIND, 0),
        columns::Column::new("VALUE", least, values.max(2 * MIN_FIELD_WIDTH), 0),
        columns::Column::new("", 8.min(remark), remark, 1),
    ];
    Layout::fit(columns, room, 1)
}

/// What a paste did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastedProperties {
    /// It was inserted into the text or into a cell.
    Text,
    /// It was inserted into a cell without its last characters, this many.
    Cut(usize),
    Rows {
        added: usize,
        changed: usize,
    },
    /// Nothing was changed. Never quotes what was pasted.
    Refused(String),
}

impl PropertiesField {
    pub fn paste(&mut self, text: &str) -> PastedProperties {
        self.typed = std::sync::OnceLock::new();
        match &mut self.rows {
            Some(rows) => rows.paste(text, &mut self.editor),
            None if self.editor.paste(text) => PastedProperties::Text,
            None => PastedProperties::Refused(
                "not pasted: that is more than the service takes; the text is unchanged".into(),
            ),
        }
    }
}

impl PropertyRows {
    fn paste(&mut self, text: &str, editor: &mut JsonEditor) -> PastedProperties {
        self.refused = None;
        match &mut self.typing {
            Some(Typing::Key(field) | Typing::Value(_, field)) => match field.paste(text).cut {
                0 => PastedProperties::Text,
                cut => PastedProperties::Cut(cut),
            },
            Some(Typing::ValueType(_)) => PastedProperties::Refused(
                "not pasted: a type is being chosen; keep it first".into(),
            ),
            None => match read(text) {
                Ok(pairs) => self.take(&pairs, editor),
                Err(why) => PastedProperties::Refused(why),
            },
        }
    }

    fn take(&mut self, pairs: &[(String, String)], editor: &mut JsonEditor) -> PastedProperties {
        let text = editor.text();
        let entries = object(&text).map_or_else(Vec::new, |object| object.entries);
        let mut wanted: HashMap<&str, &str> = HashMap::new();
        for (key, source) in pairs {
            wanted.insert(key, source);
        }
        // Existing values are replaced in one pass over the text, the others are appended after the last entry.
        let (mut new, mut seen, mut changed) = (String::with_capacity(text.len()), 0, 0);
        for entry in &entries {
            let key: String = serde_json::from_str(&text[entry.key.clone()]).unwrap_or_default();
            if let Some(source) = wanted.remove(key.as_str())
                && *source != text[entry.value.clone()]
            {
                new.push_str(&text[seen..entry.value.start]);
                new.push_str(source);
                seen = entry.value.end;
                changed += 1;
            }
        }
        new.push_str(&text[seen..]);
        let added: Vec<_> = pairs
            .iter()
            .filter(|(key, _)| wanted.contains_key(key.as_str()))
            .collect();
        if let Some(((key, source), more)) = added.split_first() {
            let mut source = source.clone();
            for (key, next) in more {
                // Writing to a string cannot fail.
                let _ = write!(source, ",\n  {}: {next}", quoted(key));
            }
            let (range, entry) = rows::insertion(&new, InsertAt::Last, key, &source);
            new.replace_range(range, &entry);
        }
        if let Err(problem) = parse(&new) {
            return PastedProperties::Refused(format!("not pasted: {}", problem.text));
        }
        if !added.is_empty() || changed > 0 {
            editor.set_text(&new);
            self.read(editor, pairs.last().map(|(key, _)| key.as_str()));
        }
        PastedProperties::Rows {
            added: added.len(),
            changed,
        }
    }
}

/// Keys and JSON values: those of an object, or pairs whose values are texts.
fn read(text: &str) -> Result<Vec<(String, String)>, String> {
    if !text.trim_start().starts_with('{') {
        let pairs = read_pairs(text).map_err(|_| {
            "not pasted: neither a JSON object nor lines of key and value".to_owned()
        })?;
        let pairs = pairs.into_iter();
        return Ok(pairs.map(|(key, value)| (key, quoted(&value))).collect());
    }
    if let Err(problem) = parse(text) {
        return Err(format!("not pasted: {problem}"));
    }
    let entries = object(text).map_or_else(Vec::new, |object| object.entries);
    let entries = entries.into_iter().map(|entry| {
        let key = serde_json::from_str(&text[entry.key]).unwrap_or_default();
        (key, text[entry.value].to_owned())
    });
    Ok(entries.collect())
}
