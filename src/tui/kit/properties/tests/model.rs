//! Compares the rows with a simple list of keys and values, for any sequence of keys.

use proptest::prelude::*;

use super::*;
use crate::tui::kit::json_editor::object;

/// The expected rows: keys with the exact text of their values.
type Model = Vec<(String, String)>;

fn entries(text: &str) -> Model {
    let object = object(text).expect("an object");
    let entries = object.entries.into_iter();
    entries
        .map(|entry| {
            let key = serde_json::from_str(&text[entry.key]).expect("a key");
            (key, text[entry.value].to_owned())
        })
        .collect()
}

#[derive(Debug, Clone)]
enum Act {
    Text(usize, String),
    Rename(usize, String),
    Drop(usize),
    Add(String, String),
}

fn act() -> impl Strategy<Value = Act> {
    let key = "[a-e\"é\\\\]{1,2}";
    prop_oneof![
        (0..8_usize, "[a-z\"\\\\ é東]{0,6}").prop_map(|(row, text)| Act::Text(row, text)),
        (0..8_usize, key).prop_map(|(row, key)| Act::Rename(row, key)),
        (0..8_usize).prop_map(Act::Drop),
        (key, "[a-z]{0,3}").prop_map(|(key, text)| Act::Add(key, text)),
    ]
}

proptest! {
    #[test]
    fn rows_behave_like_the_model(acts in prop::collection::vec(act(), 0..12), minified in any::<bool>()) {
        let text = if minified { TEXT.replace([' ', '\n'], "") } else { TEXT.to_owned() };
        let mut field = PropertiesField::new(None);
        field.set_text(&text);
        prop_assert!(field.switch());
        let mut model = entries(&text);
        for act in acts {
            let (row, last) = (|row: usize, model: &Model| row % model.len().max(1), model.len());
            let go = |field: &mut PropertiesField, to: usize, column: usize| {
                press(field, &[KeyCode::Home, KeyCode::Left, KeyCode::Left]);
                press(field, &vec![KeyCode::Down; to]);
                press(field, &vec![KeyCode::Right; column]);
            };
            match act {
                Act::Text(..) | Act::Rename(..) | Act::Drop(_) if last == 0 => {}
                Act::Text(at, text) => {
                    let at = row(at, &model);
                    if !model[at].1.starts_with('"') {
                        continue;
                    }
                    go(&mut field, at, 2);
                    keys(&mut field, "\n");
                    clear(&mut field);
                    keys(&mut field, &text);
                    keys(&mut field, "\n");
                    model[at].1 = serde_json::Value::from(text).to_string();
                }
                Act::Rename(at, key) => {
                    let at = row(at, &model);
                    go(&mut field, at, 0);
                    keys(&mut field, "\n");
                    clear(&mut field);
                    keys(&mut field, &key);
                    keys(&mut field, "\n");
                    if model.iter().all(|(other, _)| *other != key) {
                        model[at].0 = key;
                    }
                    press(&mut field, &[KeyCode::Esc]);
                }
                Act::Drop(at) => {
                    let at = row(at, &model);
                    go(&mut field, at, 2);
                    keys(&mut field, "D");
                    model.remove(at);
                }
                Act::Add(key, text) => {
                    keys(&mut field, &format!("a{key}\n"));
                    if model.iter().all(|(other, _)| *other != key) {
                        keys(&mut field, &format!("\n{text}\n"));
                        model.push((key, serde_json::Value::from(text).to_string()));
                    }
                    press(&mut field, &[KeyCode::Esc]);
                }
            }
            prop_assert_eq!(entries(&field.text()), model.clone());
            prop_assert_eq!(field.place(), PropertiesFocus::Rows);
        }
        let end = field.text();
        for _ in 0..60 {
            keys(&mut field, "z");
        }
        prop_assert!(field.is_blank());
        for _ in 0..60 {
            keys(&mut field, "Z");
        }
        prop_assert_eq!(field.text(), end);
    }

    #[test]
    fn no_keys_break_it(
        presses in prop::collection::vec(
            prop::sample::select(vec![
                KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right, KeyCode::Tab, KeyCode::BackTab,
                KeyCode::Enter, KeyCode::Enter, KeyCode::Esc, KeyCode::Backspace, KeyCode::End, KeyCode::PageDown,
                KeyCode::Char('a'), KeyCode::Char('D'), KeyCode::Char('z'), KeyCode::Char('Z'), KeyCode::Char('7'),
                KeyCode::Char('"'), KeyCode::Char('{'), KeyCode::Char('\u{301}'), KeyCode::F(4), KeyCode::F(8),
            ]),
            0..60,
        ),
        pasted in "[\\PC\n]{0,20}",
        width in 0_u16..60,
        height in 0_u16..8,
    ) {
        let mut field = rows_of(TEXT);
        for code in presses {
            match code {
                KeyCode::F(4) => {
                    field.switch();
                }
                KeyCode::F(8) => {
                    field.paste(&pasted);
                    field.go_to_problem();
                }
                code => {
                    field.key(key(code));
                }
            }
            drawn(&field, width, height);
            prop_assert_eq!(field.value().cloned().map_err(Clone::clone), parse(&field.text()));
            if let Some(rows) = &field.rows {
                prop_assert!(field.editor.value().is_ok() || field.editor.is_left_out());
                prop_assert!(rows.cursor <= rows.all.len());
                let read = rows::read(&field.editor).expect("rows");
                let unwritten = rows.all.iter().filter(|row| row.is_unwritten()).count();
                prop_assert_eq!(&rows.all[..rows.all.len() - unwritten], &read[..]);
            }
        }
        let text = field.text();
        field.settle();
        prop_assert_eq!(field.text(), text, "nothing is lost on the way out");
    }
}
