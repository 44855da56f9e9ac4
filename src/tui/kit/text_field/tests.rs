//! The guarantees of the field, compared with a model of graphemes.

use proptest::prelude::*;
use ratatui::{crossterm::event::KeyCode, layout::Position};

use super::*;
use crate::tui::kit::testing::{THEME, ctrl, key, painted, screen, typed};

fn field(text: &str) -> TextField {
    TextField::new("", text)
}

/// See [`typed`].
fn press(field: &mut TextField, keys: &str) {
    for event in typed(keys) {
        field.key(event);
    }
}

fn drawn(field: &TextField, width: u16) -> String {
    screen(width, 2, |buffer, area| {
        field.draw(buffer, area, THEME, true);
    })
}

fn cursor(field: &TextField, width: u16) -> Position {
    let mut at = None;
    painted(width, 1, |buffer, area| {
        at = field.draw(buffer, area, THEME, true);
    });
    at.expect("a focused field has a cursor")
}

#[test]
fn keys_move_and_delete_by_grapheme() {
    let mut field = field("cafe\u{301} 👩\u{200d}👩\u{200d}👧");
    press(&mut field, "⌫");
    assert_eq!(field.text(), "cafe\u{301} ");
    press(&mut field, "←←");
    assert_eq!(field.cursor(), 3);
    press(&mut field, "⌦é→");
    assert_eq!((field.text(), field.cursor()), ("café ", 6));
}

#[test]
fn words_and_lines_are_deleted_whole() {
    let mut field = field("globex retail eu");
    assert_eq!(field.key(ctrl('w')), Reaction::Changed);
    assert_eq!(field.text(), "globex retail ");
    field.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::ALT));
    assert_eq!(field.text(), "globex ");
    press(&mut field, "←←␕");
    assert_eq!(field.text(), "x ");
    assert_eq!(field.key(ctrl('u')), Reaction::Refused);
}

#[test]
fn keys_of_others_are_left_alone() {
    let mut field = field("a");
    for event in [ctrl('s'), ctrl('a')].into_iter().chain(typed("⎋⇥")) {
        assert_eq!(field.key(event), Reaction::Ignored, "{event:?}");
    }
    press(&mut field, "⇱");
    assert_eq!(field.key(key(KeyCode::Left)), Reaction::Ignored);
}

#[test]
fn a_paste_becomes_one_line_unless_the_field_is_masked_and_for_lines() {
    let mut first = field("");
    assert_eq!(first.paste("acme-eu\r\n"), 0);
    assert_eq!(first.text(), "acme-eu");
    assert_eq!(first.paste("\na\nb\n"), 0);
    assert_eq!(first.text(), "acme-eu a b");
    let mut short = field("ab").with_longest(4);
    press(&mut short, "⇱");
    assert_eq!(short.paste("éxyz"), 2);
    assert_eq!((short.text(), short.cursor()), ("éxab", 3));
    assert_eq!(short.key(key(KeyCode::Char('q'))), Reaction::Refused);
    for (field, text) in [
        (TextField::secret("token"), "> a\n> b"),
        (TextField::new("note", ""), "> a > b"),
    ] {
        let mut field = field.with_lines();
        field.paste("> a\r\n> b\n");
        assert_eq!(field.text(), text);
    }
}

#[test]
fn hidden_characters_are_shown_and_a_long_text_scrolls_with_the_cursor() {
    let mut hostile = field("a\u{202e}b");
    assert_eq!(drawn(&hostile, 20), "a\\u{202e}b\n");
    for x in [9, 1] {
        press(&mut hostile, "←");
        assert_eq!(cursor(&hostile, 20).x, x);
    }
    assert_eq!(hostile.text(), "a\u{202e}b");
    let mut long = field("0123456789東京abc");
    for (keys, shown, x) in [("", "<東京abc\n", 8), ("⇱", " 01234567>\n", 1)] {
        press(&mut long, keys);
        assert_eq!(
            (drawn(&long, 10), cursor(&long, 10).x),
            (shown.to_owned(), x)
        );
    }
    let mut name = TextField::new("Name", "Acme").with_hint("as people know it");
    assert_eq!(drawn(&name, 30), "Name  Acme\n      as people know it");
    name.error = Some("is empty".into());
    assert_eq!(drawn(&name, 30), "Name  Acme\n      is empty");
}

#[test]
fn a_secret_shows_its_length_only() {
    let mut secret = TextField::secret("Token");
    press(&mut secret, "canary-token");
    assert_eq!(drawn(&secret, 30), "Token  •••••••••••• 12\n");
    assert_eq!(drawn(&secret, 18), "Token  •••••••• 12\n");
    let debug = format!("{secret:?} {:?}", secret.clone());
    assert!(
        !debug.contains("canary") && !debug.contains("12"),
        "{debug}"
    );
    assert_eq!(secret.clone(), secret);
    press(&mut secret, "␕");
    assert!(secret.is_empty());
    assert_eq!(secret.paste("another\n"), 0);
    assert_eq!(secret.text(), "another");
}

#[test]
fn drawing_into_next_to_nothing_is_harmless() {
    for width in 0..8 {
        for text in ["", "東京東京", "a\u{202e}b"] {
            drawn(&TextField::new("Name", text), width);
            let mut secret = TextField::secret("Token");
            secret.paste(text);
            drawn(&secret, width);
        }
    }
}

#[derive(Debug, Clone)]
enum Act {
    Type(char),
    Paste(String),
    Press(KeyCode),
}

fn act() -> impl Strategy<Value = Act> {
    let odd = prop::sample::select(vec![
        '\u{301}', '\u{200d}', '\u{fe0f}', '👩', '🇩', '🇪', 'é', '東', '\u{202e}', '\u{1b}', 'ﾞ',
        '\u{1100}', '\u{1161}', ' ', 'a',
    ]);
    prop_oneof![
        4 => odd.prop_map(Act::Type),
        1 => any::<char>().prop_map(Act::Type),
        1 => any::<String>().prop_map(Act::Paste),
        4 => prop::sample::select(vec![
            KeyCode::Left, KeyCode::Right, KeyCode::Home, KeyCode::End, KeyCode::Backspace, KeyCode::Delete,
        ]).prop_map(Act::Press),
    ]
}

/// The field as a text and a byte offset between graphemes, in the simplest form.
#[derive(Debug, Default)]
struct Model {
    text: String,
    at: usize,
}

impl Model {
    fn ends(&self) -> impl DoubleEndedIterator<Item = usize> {
        let ends = self.text.grapheme_indices(true).map(|(byte, _)| byte);
        ends.chain([self.text.len()])
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn settle(&mut self) {
        let next = self.ends().find(|end| *end >= self.at);
        self.at = next.expect("the end is an end");
    }

    fn put(&mut self, text: &str) {
        self.text.insert_str(self.at, text);
        self.at += text.len();
        self.settle();
    }

    fn before(&self) -> usize {
        let before = self.ends().rev().find(|end| *end < self.at);
        before.unwrap_or(0)
    }

    fn after(&self) -> usize {
        let after = self.ends().find(|end| *end > self.at);
        after.unwrap_or(self.text.len())
    }

    fn press(&mut self, code: KeyCode) {
        match code {
            KeyCode::Left => self.at = self.before(),
            KeyCode::Right => self.at = self.after(),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            KeyCode::Backspace => {
                let before = self.before();
                self.text.replace_range(before..self.at, "");
                self.at = before;
                self.settle();
            }
            _ => {
                let after = self.after();
                self.text.replace_range(self.at..after, "");
                self.settle();
            }
        }
    }
}

proptest! {
    #[test]
    fn it_behaves_like_the_model(acts in prop::collection::vec(act(), 0..40), width in 0_u16..24) {
        let mut field = field("");
        let mut model = Model::default();
        for act in acts {
            match act {
                Act::Type(c) => {
                    field.key(key(KeyCode::Char(c)));
                    model.put(&c.to_string());
                }
                Act::Paste(text) => {
                    field.paste(&text);
                    let line = text.replace("\r\n", "\n").replace('\r', "\n");
                    let line = line.trim_end_matches('\n').replace('\n', " ");
                    if !line.is_empty() {
                        model.put(&line);
                    }
                }
                Act::Press(code) => {
                    field.key(key(code));
                    model.press(code);
                }
            }
            prop_assert_eq!(field.text(), &model.text);
            prop_assert_eq!(field.cursor(), model.at);
            painted(width, 2, |buffer, area| {
                let at = field.draw(buffer, area, THEME, true);
                assert!(at.is_none_or(|at| area.contains(at)));
            });
        }
    }
}

#[test]
fn a_selected_text_is_replaced_added_to_or_kept() {
    for (keys, text) in [("ex", "ex"), (" x", "acme x"), ("⇲x", "acmex"), ("⌫x", "x")] {
        let mut field = field("acme");
        field.select_all();
        press(&mut field, keys);
        assert_eq!(field.text(), text, "{keys}");
    }
    let mut field = field("acme");
    field.select_all();
    field.paste("two");
    field.paste("three");
    assert_eq!(field.text(), "twothree");
}

#[test]
fn what_looks_like_a_token_is_not_shown_and_data_may_have_long_digits() {
    let token = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let looks = |field: TextField, text: &str| {
        let mut field = field;
        field.set_text(text);
        let said = format!("{field:?}");
        assert_eq!(said.contains(text), !field.looks_secret(), "{said}");
        field.looks_secret()
    };
    let note = || TextField::new("note", "");
    assert!(looks(note(), token) && looks(note(), &token[..16]));
    assert!(!looks(note(), &token[..15]) && !looks(note(), "acme-eu"));
    let data = || TextField::new("value", "").for_data();
    assert!(looks(data(), token) && !looks(data(), &token[..32]));
    let mut known = note();
    known.set_text(&token[..24]);
    known.allow(true);
    assert!(!known.looks_secret());
}

#[test]
fn what_stands_around_a_secret_stays() {
    const SECRET: &str = "Tok/en+4e8A==.Zq_7~Kx!aB3";
    let held = |field: TextField, text: &str, secret: &str| {
        let mut field = field;
        field.set_text(text);
        assert!(field.hold_back(secret));
        field.text().to_owned()
    };
    let note = || TextField::new("note", "first");
    for field in [note(), note().for_data()] {
        let text = format!("call {SECRET} mary");
        assert_eq!(held(field.clone(), &text, SECRET), "call  mary");
        assert_eq!(held(field.clone(), &text, &text), "call mary");
        assert_eq!(held(field, SECRET, SECRET), "");
    }
    let pieces = "call 9f86d081 884c7d65 9f86d081 884c7d65";
    assert_eq!(held(note(), pieces, pieces), "first");
    assert!(!note().hold_back(SECRET));
}
