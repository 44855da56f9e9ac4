//! JSON objects from files and arguments, and the editor of the properties with keys and pastes.

use groupdesk::{
    formats::strict_json,
    tui::{
        kit::{
            Reaction, RowKeys, json_editor,
            pairs::{PropertiesField, PropertiesFocus},
        },
        theme::Theme,
    },
};
use ratatui::{
    buffer::Buffer,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
    layout::Rect,
};
use serde_json::Value;

use super::{is_safe, is_within, key_of, operations_and_text};

pub fn run(data: &[u8]) {
    let (operations, text) = operations_and_text(data);
    strictly(&text);
    edited(operations, &text);
}

fn strictly(text: &str) {
    let strict = strict_json::properties(text);
    match &strict {
        Ok(properties) => {
            let written = Value::Object(properties.clone()).to_string();
            assert_eq!(strict_json::properties(&written).as_ref(), Ok(properties));
            assert_eq!(
                strict_json::value(text),
                Ok(Value::Object(properties.clone()))
            );
        }
        Err(why) => {
            is_safe(why);
            assert!(!why.contains("canary"), "{why}");
            has_place(why, text);
        }
    }
    // The console and the command line accept the same texts.
    let edited = json_editor::parse(text);
    match (strict, &edited) {
        (Ok(strict), Ok(edited)) => assert_eq!(strict, *edited),
        (strict, edited) => assert_eq!(strict.is_ok(), edited.is_ok(), "{strict:?} {edited:?}"),
    }
    if let Err(problem) = edited {
        is_safe(&problem.to_string());
        is_within(text, problem.line, problem.column);
        assert!(!problem.text.contains("canary"), "{problem}");
    }
}

/// Checks that the error has a position, unless the JSON is no object, which is wrong as a whole.
fn has_place(why: &str, text: &str) {
    let place = why
        .strip_prefix("line ")
        .and_then(|rest| rest.split_once(", column "));
    let Some((line, rest)) = place else {
        assert!(why.starts_with("properties must be an object"), "{why}");
        assert!(strict_json::value(text).is_ok_and(|value| !value.is_object()));
        return;
    };
    let column = rest
        .split(':')
        .next()
        .and_then(|column| column.parse().ok());
    let (line, column): (usize, usize) = (line.parse().expect("a line"), column.expect("a column"));
    assert!(line <= text.split('\n').count() && column <= text.len() + 1);
}

fn edited(operations: &[u8], text: &str) {
    let mut field = PropertiesField::new(None);
    field.set_text(text);
    for (number, byte) in operations.iter().enumerate() {
        step(&mut field, *byte, text);
        draw(&field, *byte, number);
        if let Err(problem) = field.value() {
            is_within(&field.text(), problem.line, problem.column);
        }
    }
    field.settle();
    let settled = field.text();
    // Everything undone can be redone.
    if field.place() != PropertiesFocus::Text {
        field.switch();
    }
    let undo = KeyEvent::new(KeyCode::Char('_'), KeyModifiers::CONTROL);
    let redo = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL);
    let mut steps = 0;
    while field.key(undo) == Reaction::Changed {
        steps += 1;
    }
    for _ in 0..steps {
        assert_eq!(field.key(redo), Reaction::Changed);
    }
    assert_eq!(field.text(), settled);
}

fn step(field: &mut PropertiesField, byte: u8, text: &str) {
    match byte {
        0xF0 => {
            let (before, place) = (field.text(), field.place());
            // Another view has the same text, unless a cell was edited.
            if field.switch()
                && place != PropertiesFocus::Cell
                && place != PropertiesFocus::ValueType
            {
                assert_eq!(field.text(), before);
            }
        }
        0xF1 => drop(field.paste(text)),
        0xF2 => drop(field.paste("a = 1\nb = canary")),
        0xF3 => drop(field.commit()),
        0xF4 => drop(field.go_to_problem()),
        0xF5 => field.settle(),
        16 => {
            // Formatting changes only white space.
            let before = field.value().ok().cloned();
            if field.key(key_of(16)) == Reaction::Changed && field.place() == PropertiesFocus::Text
            {
                assert_eq!(field.value().ok().cloned(), before);
            }
        }
        _ => drop(field.key(key_of(byte))),
    }
}

fn draw(field: &PropertiesField, byte: u8, number: usize) {
    let area = Rect::new(0, 0, u16::from(byte) % 90, number as u16 % 12);
    let mut buffer = Buffer::empty(area);
    let cursor = field.draw(
        &mut buffer,
        area,
        Theme::detect(false, |_| None),
        true,
        &RowKeys::default(),
    );
    assert!(
        cursor.is_none_or(|cursor| area.contains(cursor)),
        "{cursor:?} in {area:?}"
    );
}
