//! Any keys, pastes and sizes.

use proptest::prelude::*;

use super::{super::properties, *};

/// The expected rows: keys with the exact text of their values.
type Model = Vec<(String, String)>;

fn entries(text: &str) -> Model {
    let entries = properties::entries(text).into_iter();
    entries
        .map(|(key, value)| (key, value.to_owned()))
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

fn presses() -> impl Strategy<Value = Vec<KeyCode>> {
    let one = prop::sample::select(vec![
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Enter,
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Backspace,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageDown,
        KeyCode::Char('a'),
        KeyCode::Char('D'),
        KeyCode::Char('z'),
        KeyCode::Char('Z'),
        KeyCode::Char('7'),
        KeyCode::Char('"'),
        KeyCode::Char('{'),
        KeyCode::Char('\u{301}'),
        KeyCode::F(4),
        KeyCode::F(8),
    ]);
    prop::collection::vec(one, 0..60)
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
            let is_free = |key: &str| model.iter().all(|(other, _)| other != key);
            let row = |row: usize| row % model.len().max(1);
            let go = |to: usize, column: usize| format!("⇱←←{}{}", "↓".repeat(to), "→".repeat(column));
            match act {
                Act::Text(..) | Act::Rename(..) | Act::Drop(_) if model.is_empty() => {}
                Act::Text(at, _) if !model[row(at)].1.starts_with('"') => continue,
                Act::Text(at, text) => {
                    let at = row(at);
                    keys(&mut field, &format!("{}\n␕{text}\n", go(at, 2)));
                    model[at].1 = serde_json::Value::from(text).to_string();
                }
                Act::Rename(at, key) => {
                    let (at, is_free) = (row(at), is_free(&key));
                    keys(&mut field, &format!("{}\n␕{key}\n⎋", go(at, 0)));
                    if is_free {
                        model[at].0 = key;
                    }
                }
                Act::Drop(at) => {
                    let at = row(at);
                    keys(&mut field, &format!("{}D", go(at, 2)));
                    model.remove(at);
                }
                Act::Add(key, text) => {
                    let is_free = is_free(&key);
                    keys(&mut field, &format!("a{key}\n"));
                    if is_free {
                        keys(&mut field, &format!("\n{text}\n"));
                        model.push((key, serde_json::Value::from(text).to_string()));
                    }
                    keys(&mut field, "⎋");
                }
            }
            prop_assert_eq!(entries(&field.text()), model.clone());
            prop_assert_eq!(field.place(), PropertiesFocus::Rows);
        }
        let end = field.text();
        keys(&mut field, &"z".repeat(60));
        prop_assert!(field.is_blank());
        keys(&mut field, &"Z".repeat(60));
        prop_assert_eq!(field.text(), end);
    }

    #[test]
    fn no_keys_break_the_mapping(
        presses in presses(),
        pasted in ".{0,20}",
        width in 0_u16..50,
        height in 0_u16..8,
    ) {
        let mut table = table();
        for code in presses {
            if code == KeyCode::F(8) {
                table.go_to_next_problem();
                table.paste(&pasted);
            } else {
                table.key(key(code));
            }
            table.shown(width, height);
            prop_assert!(table.cursor <= table.rows.len());
            prop_assert_eq!(table.value().is_ok(), table.problems().is_empty());
        }
        // Everything can be undone.
        table.cancel();
        let mut steps = 0;
        while table.undo() {
            steps += 1;
        }
        prop_assert!(table.value().is_ok() && !differs(&table) || steps == 100);
    }

    #[test]
    fn no_keys_break_the_properties(
        presses in presses(),
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
            field.shown(width, height);
            prop_assert_eq!(field.value().cloned().map_err(Clone::clone), parse(&field.text()));
            if field.are_rows {
                prop_assert!(field.editor().value().is_ok() || field.editor().is_left_out());
                prop_assert!(field.pairs.cursor <= field.pairs.rows.len());
                let rows = field.pairs.kind.rows();
                prop_assert_eq!(rows.as_ref(), Some(&field.pairs.rows));
            }
        }
        let text = field.text();
        field.settle();
        prop_assert_eq!(field.text(), text, "nothing is lost on the way out");
    }
}
