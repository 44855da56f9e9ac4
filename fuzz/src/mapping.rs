//! Pasted mappings: read as pairs or refused as a whole, shown, undone, and written out again.

use groupdesk::{
    domain::{draft::DraftRow, group::Mapping},
    formats::{
        pairs::{self, NoPairs},
        strict_json,
    },
    tui::{
        kit::{
            RowKeys, json_editor,
            pairs::{MappingTable, PastedPairs, pairs_of},
        },
        theme::Theme,
    },
};
use ratatui::{buffer::Buffer, layout::Rect};

use super::{is_safe, is_within, key_of, operations_and_text};

pub fn run(data: &[u8]) {
    let (operations, text) = operations_and_text(data);
    read(&text);
    pasted(&text);
    edited(operations, &text);
}

/// The mapping of a JSON object.
fn read_mapping(text: &str) -> Option<Mapping> {
    pairs_of(json_editor::parse(text).ok()?).ok()
}

fn read(text: &str) {
    if let Some(mapping) = read_mapping(text) {
        let table = MappingTable::new(Some(&mapping));
        assert_eq!(read_mapping(&table.as_json()), Some(mapping.clone()));
        assert!(table.value().is_ok_and(|value| value == mapping) || table.value().is_err());
    }
    if let Err(problem) = json_editor::parse(text) {
        is_safe(&problem.to_string());
        is_within(text, problem.line, problem.column);
    }
    if text.trim_start().starts_with('{')
        && let Ok(strict) = strict_json::mapping(text)
    {
        let read = read_mapping(text);
        assert_eq!(
            read,
            Some(strict),
            "the command line takes it, the console not"
        );
    }
}

fn is_a_line(text: &str, line: usize) {
    let lines = text.replace("\r\n", "\n").split(['\n', '\r']).count();
    assert!(line >= 1 && line <= lines, "line {line} of {lines}");
}

fn pasted(text: &str) {
    let known: Mapping = [("7", "40"), ("8", "41")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let mut table = MappingTable::new(Some(&known));
    let before = table.rows();
    match table.paste(text) {
        PastedPairs::Text { .. } => panic!("no cell is typed into"),
        PastedPairs::Rows { added, changed } => {
            let after = table.rows();
            assert_eq!(after.len(), before.len() + added);
            let is_other = |row: &&DraftRow| {
                let now = Some((&row.key, &row.value));
                row.is_dropped || row.before.as_ref().map(|(key, value)| (key, value)) != now
            };
            assert_eq!(after.iter().filter(is_other).count(), added + changed);
            if added + changed > 0 {
                assert!(table.undo());
                assert_eq!(table.rows(), before);
                assert!(table.redo());
                assert_eq!(table.rows(), after);
            }
            assert!(!table.undo() || !table.undo(), "one step");
        }
        PastedPairs::Refused(why) => {
            assert_eq!(table.rows(), before, "nothing of it was taken");
            is_safe(&why);
            if let Err(NoPairs::Line(line)) = pairs::read(text) {
                is_a_line(text.trim_start_matches('\u{feff}').trim_start(), line);
            }
        }
    }
}

fn edited(operations: &[u8], text: &str) {
    let mut table = MappingTable::new(None);
    for (number, byte) in operations.iter().enumerate() {
        match byte {
            0xF0 | 0xF1 => drop(table.paste(text)),
            0xF2 => drop(table.paste("a = 1\nb = 2")),
            0xF3 => drop(table.go_to_next_problem()),
            0xF4 => {
                if let Some(mapping) = read_mapping(text) {
                    table.replace(mapping.clone());
                    if let Ok(value) = table.value() {
                        assert!(value.len() == mapping.len());
                    }
                }
            }
            0xF5 => {
                let mapping = read_mapping(text);
                table.rebase(mapping.as_ref());
            }
            _ => drop(table.key(key_of(*byte))),
        }
        let area = Rect::new(0, 0, u16::from(*byte) % 70, number as u16 % 9);
        let mut buffer = Buffer::empty(area);
        let cursor = table.draw(
            &mut buffer,
            area,
            Theme::detect(true, |_| None),
            true,
            &RowKeys::default(),
        );
        assert!(cursor.is_none_or(|cursor| area.contains(cursor)));
    }
    table.commit();
    match table.value() {
        Ok(value) => assert_eq!(read_mapping(&table.as_json()), Some(value)),
        Err(problem) => {
            assert!(problem.row < table.rows().len());
            is_safe(&problem.to_string());
        }
    }
}
