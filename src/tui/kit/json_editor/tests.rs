//! The guarantees of the editor: the text is kept, and a problem has a position.

use proptest::prelude::*;
use ratatui::{
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
    prelude::Position,
};

use super::*;
use crate::tui::kit::{
    Reaction,
    testing::{THEME, ctrl, painted, screen, typed},
};

impl JsonEditor {
    /// Whether the properties differ from what was known. Order and white space are no difference; something wrong is.
    pub(crate) fn is_changed(&self) -> bool {
        match (&self.before, self.value()) {
            (Some(before), Ok(value)) => before != value,
            (Some(_), Err(_)) => true,
            (None, _) => !self.is_blank(),
        }
    }

    /// Line and column of the cursor, from 1, in characters.
    fn cursor(&self) -> (usize, usize) {
        let before = self.lines.around().0.chars().count();
        (self.lines.cursor().row + 1, before + 1)
    }
}

fn editor(text: &str) -> JsonEditor {
    let mut editor = JsonEditor::new(None);
    editor.paste(text);
    editor.lines.go_to(0, 0);
    editor
}

fn known(json: &str) -> JsonEditor {
    JsonEditor::new(Some(&parse(json).expect("properties")))
}

/// See [`typed`].
fn keys(editor: &mut JsonEditor, text: &str) {
    for event in typed(text) {
        editor.key(event);
    }
}

fn drawn(editor: &JsonEditor, width: u16, height: u16) -> String {
    screen(width, height, |buffer, area| {
        editor.draw(buffer, area, THEME, true);
    })
}

fn cursor(editor: &JsonEditor, width: u16, height: u16) -> Position {
    let mut at = None;
    painted(width, height, |buffer, area| {
        at = editor.draw(buffer, area, THEME, true);
    });
    at.expect("a focused editor has a cursor")
}

#[test]
fn what_is_wrong_stands_under_its_line_and_the_text_stays() {
    let mut editor = known(r#"{"tier": "gold", "region": "eu"}"#);
    assert!(editor.is_known() && !editor.is_changed());
    keys(&mut editor, "↓⇲⌫");
    insta::assert_snapshot!(drawn(&editor, 50, 6), @r#"
     1 {
     2   "tier": "gold"
     3   "region": "eu"
         ^ line 3, column 3: expected `,` or `}`
     4 }
    "#);
    assert_eq!(cursor(&editor, 50, 6), Position::new(19, 1));
    assert_eq!(editor.value().expect_err("wrong").line, 3);
    assert!(editor.is_changed());
    assert!(editor.go_to_problem());
    assert_eq!(editor.cursor(), (3, 3));
    assert_eq!(cursor(&editor, 50, 6), Position::new(5, 2));
    editor.undo();
    assert!(!editor.is_changed());
}

#[test]
fn a_problem_out_of_sight_is_told_in_the_last_row() {
    let lines: Vec<String> = (0..30).map(|n| format!("  \"k{n}\": {n},")).collect();
    let mut editor = editor(&format!("{{\n{}\n  \"k0\": 0\n}}", lines.join("\n")));
    insta::assert_snapshot!(drawn(&editor, 50, 4), @r#"
     1 {
     2   "k0": 0,
     3   "k1": 1,
    ! line 32, column 3: this key is in line 2 already
    "#);
    editor.go_to_problem();
    assert!(drawn(&editor, 60, 4).contains("^ line 32"));
}

#[test]
fn enter_indents_and_a_paste_keeps_its_lines() {
    let mut editor = JsonEditor::new(None);
    assert!(editor.is_blank() && !editor.is_changed());
    keys(&mut editor, "{\n\"a\": [\n1");
    assert_eq!(editor.text(), "{\n  \"a\": [\n    1");
    editor.paste("\r\n\t]\r}");
    assert_eq!(editor.text(), "{\n  \"a\": [\n    1\n  ]\n}");
    assert!(editor.value().is_ok());
    assert!(!editor.paste(&"x".repeat(LONGEST)));
}

#[test]
fn formatting_is_one_step_and_never_breaks_a_text() {
    let mut editor = editor("{\"b\":1.10,\"a\":{}}");
    assert_eq!(editor.key(ctrl('t')), Reaction::Changed);
    assert_eq!(editor.text(), "{\n  \"b\": 1.10,\n  \"a\": {}\n}");
    assert_eq!(editor.key(ctrl('t')), Reaction::Refused);
    assert!(editor.undo());
    assert_eq!(editor.text(), "{\"b\":1.10,\"a\":{}}");
    assert!(editor.redo());
    assert_eq!(editor.lines.all().len(), 4);
    editor.set_text("{\"b\":");
    assert_eq!(editor.key(ctrl('t')), Reaction::Refused);
    assert_eq!(editor.text(), "{\"b\":");
}

#[test]
fn what_differs_is_marked_with_a_sign_and_in_words() {
    let mut editor = known(r#"{"tier":"gold","seats":250,"limits":{"a":1},"gone":null}"#);
    editor.set_text("{\n  \"tier\": \"silver\",\n  \"seats\": 250,\n  \"limits\": {\n    \"a\": 2\n  },\n  \"new\": 1\n}");
    insta::assert_snapshot!(drawn(&editor, 50, 9), @r#"
     1 {
     2~  "tier": "silver",   was "gold"
     3   "seats": 250,
     4~  "limits": {   was {"a":1}
     5~    "a": 2
     6~  },
     7+  "new": 1   new
     8 }
    - will be removed: gone
    "#);
    // No room for words; a sign always has room.
    assert!(drawn(&editor, 24, 9).contains(" 2~  \"tier\": \"silver\",\n"));
    editor.set_text("{");
    assert!(!drawn(&editor, 50, 9).contains("removed"), "nobody knows");
}

#[test]
fn the_partner_of_the_bracket_at_the_cursor_is_marked() {
    let mut editor = known(r#"{"a":[1,2]}"#);
    for (press, focused, expected) in [
        ("↓⇲", true, &[(10, 1), (5, 4)][..]),
        ("", false, &[]),
        ("⇱", true, &[]),
    ] {
        keys(&mut editor, press);
        let buffer = painted(30, 8, |buffer, area| {
            editor.draw(buffer, area, THEME, focused);
        });
        let is_marked =
            |at: &Position| buffer[*at].style().add_modifier == THEME.matched().add_modifier;
        let marked = buffer.area.positions().filter(is_marked);
        let marked: Vec<_> = marked.map(|at| (at.x, at.y)).collect();
        assert_eq!(marked, expected, "{press}");
    }
}

#[test]
fn undo_and_redo_have_their_usual_keys() {
    let mut editor = known("{}");
    keys(&mut editor, "x");
    for (event, text) in [('_', "{}"), ('y', "x{}"), ('7', "{}"), ('y', "x{}")] {
        assert_eq!(editor.key(ctrl(event)), Reaction::Changed);
        assert_eq!(editor.text(), text);
    }
    assert_eq!(editor.key(ctrl('y')), Reaction::Refused);
}

#[test]
fn hidden_characters_are_seen_and_kept() {
    let editor = editor("{\"a\u{202e}\": \"\u{1b}[2J\"}");
    let seen = drawn(&editor, 60, 3);
    assert!(seen.contains("\"a\\u{202e}\": \"\\u{1b}[2J\""), "{seen}");
    assert!(editor.text().contains('\u{202e}'));
}

#[test]
fn a_long_line_scrolls_with_the_cursor() {
    let mut editor = editor("{\"long\": \"0123456789 0123456789\"}");
    assert_eq!(drawn(&editor, 23, 2), " 1 {\"long\": \"012345678>\n");
    keys(&mut editor, "⇲");
    assert_eq!(drawn(&editor, 23, 2), " 1<456789 0123456789\"}\n");
    assert_eq!(cursor(&editor, 23, 2), Position::new(22, 0));
}

#[test]
fn keys_of_the_form_are_left_alone() {
    let mut editor = editor("{}");
    for event in typed("⇥⎋↑").chain(['s', 'e', 'z'].map(ctrl)) {
        assert_eq!(editor.key(event), Reaction::Ignored, "{event:?}");
    }
}

proptest! {
    #[test]
    fn no_keys_break_it(
        acts in prop::collection::vec(
            prop_oneof![
                prop::sample::select(vec![
                    KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right, KeyCode::Enter, KeyCode::Backspace,
                    KeyCode::Delete, KeyCode::Home, KeyCode::End, KeyCode::PageDown,
                ]).prop_map(|code| (code, KeyModifiers::NONE)),
                prop::sample::select(vec![
                    KeyCode::Char('w'), KeyCode::Char('u'), KeyCode::Char('k'), KeyCode::Char('t'), KeyCode::Char('_'),
                    KeyCode::Left, KeyCode::Right,
                ]).prop_map(|code| (code, KeyModifiers::CONTROL)),
                prop::sample::select(vec!['z', 'Z']).prop_map(|c| (KeyCode::Char(c), KeyModifiers::ALT)),
                prop::sample::select(vec!['{', '}', '"', ':', ',', '1', ' ', 'é', '東', '\u{301}', '\u{200d}', '👩', '\u{1b}'])
                    .prop_map(|c| (KeyCode::Char(c), KeyModifiers::NONE)),
            ],
            0..50,
        ),
        pasted in "[\\PC\n\r\t]{0,20}",
        width in 0_u16..40,
        height in 0_u16..6,
    ) {
        let mut editor = editor(&pasted);
        for (code, modifiers) in acts {
            editor.key(KeyEvent::new(code, modifiers));
            prop_assert_eq!(editor.value().cloned().map_err(Clone::clone), parse(&editor.text()));
            painted(width, height, |buffer, area| {
                let at = editor.draw(buffer, area, THEME, true);
                assert!(at.is_none_or(|at| area.contains(at)));
            });
        }
    }
}
