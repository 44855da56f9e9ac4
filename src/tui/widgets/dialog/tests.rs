//! What a dialog promises: the safe button first, and nothing by accident.

use ratatui::crossterm::event::KeyCode;

use super::*;
use crate::tui::{
    theme::Theme,
    widgets::testing::{THEME, key, painted, screen, typed},
};

fn drawn(dialog: &Dialog, width: u16, height: u16) -> String {
    screen(width, height, |buffer, area| {
        dialog.draw(buffer, area, THEME);
    })
}

fn question() -> Dialog {
    let body = vec![
        "Group acme-eu is updated in eu-live.".into(),
        String::new(),
        "3 changes are sent.".into(),
    ];
    Dialog::new("Apply", body, "Back").with_button("Apply")
}

#[test]
fn the_focus_starts_on_the_safe_button() {
    let mut dialog = question();
    insta::assert_snapshot!(drawn(&dialog, 44, 9), @r"

     ┌─ Apply ────────────────────────────────┐
     │ Group acme-eu is updated in eu-live.   │
     │                                        │
     │ 3 changes are sent.                    │
     │                                        │
     │ >[ Back ]  [ Apply ]                   │
     └────────────────────────────────────────┘
    ");
    assert_eq!(dialog.key(key(KeyCode::Enter)), Answer::Cancelled);
    dialog.key(key(KeyCode::Right));
    assert_eq!(dialog.key(key(KeyCode::Enter)), Answer::Chosen(1));
    dialog.key(key(KeyCode::Tab));
    assert_eq!(dialog.focus(), Focus::Button(0));
    assert_eq!(dialog.key(key(KeyCode::Esc)), Answer::Cancelled);
}

#[test]
fn where_y_is_asked_for_enter_does_nothing() {
    let mut dialog = question().with_key_y();
    assert!(drawn(&dialog, 44, 9).contains("[ y Apply ]"));
    dialog.key(key(KeyCode::Right));
    assert_eq!(
        dialog.key(key(KeyCode::Enter)),
        Answer::Open(Reaction::Refused)
    );
    assert_eq!(dialog.paste("y"), Answer::Open(Reaction::Refused));
    assert_eq!(dialog.key(key(KeyCode::Char('y'))), Answer::Chosen(1));
    let mut other = question();
    assert_eq!(
        other.key(key(KeyCode::Char('y'))),
        Answer::Open(Reaction::Ignored)
    );
}

#[test]
fn a_text_must_be_typed_exactly() {
    let mut dialog = question().with_typed("acme\u{200b}-eu").in_production(true);
    for event in typed("acme-eu\n") {
        assert!(matches!(dialog.key(event), Answer::Open(_)));
    }
    insta::assert_snapshot!(drawn(&dialog, 44, 13), @r"

     ┌─ Apply ────────────────────────────────┐
     │ Group acme-eu is updated in eu-live.   │
     │                                        │
     │ 3 changes are sent.                    │
     │                                        │
     │ type acme\u{200b}-eu to go on:         │
     │ acme-eu                                │
     │ not the same text; nothing was done    │
     │                                        │
     │  [ Back ]  [ Apply ]                   │
     └────────────────────────────────────────┘
    ");
    dialog.key(key(KeyCode::BackTab));
    assert_eq!(dialog.focus(), Focus::Button(1));
    assert_eq!(
        dialog.key(key(KeyCode::Enter)),
        Answer::Open(Reaction::Refused)
    );
    dialog.key(key(KeyCode::Tab));
    for _ in 0..3 {
        dialog.key(key(KeyCode::Backspace));
    }
    dialog.paste("\u{200b}-eu\n");
    assert_eq!(dialog.key(key(KeyCode::Enter)), Answer::Chosen(1));
}

#[test]
fn a_long_body_scrolls_and_the_buttons_stay() {
    let body = (0..20).map(|n| format!("line {n}")).collect();
    let mut dialog = Dialog::new("Long", body, "Back").with_button("Go");
    dialog.key(key(KeyCode::PageDown));
    dialog.key(key(KeyCode::Up));
    let theme = Theme {
        colour: false,
        ascii: true,
    };
    let seen = screen(30, 7, |buffer, area| {
        dialog.draw(buffer, area, theme);
    });
    insta::assert_snapshot!(seen, @r"
     +- Long -------------------+
     | line 9                   |
     | line 10                  |
     | line 11                  |
     |        9 above, 8 below  |
     | >[ Back ]  [ Go ]        |
     +--------------------------+
    ");
}

#[test]
fn no_size_breaks_it() {
    let hostile = "東京\u{202e}\u{1b}[2J ".repeat(20);
    for width in 0..30 {
        for height in 0..14 {
            for dialog in [question(), question().with_typed(hostile.as_str())] {
                let dialog = Dialog {
                    body: vec![hostile.clone()],
                    ..dialog
                };
                painted(width, height, |buffer, area| {
                    let at = dialog.draw(buffer, area, THEME);
                    assert!(at.is_none_or(|at| area.contains(at)), "{width}x{height}");
                });
            }
        }
    }
}
