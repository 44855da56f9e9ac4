//! Whatever the frames are, a terminal that received the bytes shows the last one.

use std::num::NonZeroU16;

use proptest::prelude::*;
use ratatui::prelude::{Buffer, Color, Modifier, Position, Rect, Style};

use super::*;

const COLUMNS: u16 = 24;
const ROWS: u16 = 8;

fn terminal() -> vt100::Parser {
    let size = |cells| NonZeroU16::new(cells).expect("not 0");
    vt100::Parser::new(size(ROWS), size(COLUMNS), 0)
}

fn blank() -> Buffer {
    Buffer::empty(Rect::new(0, 0, COLUMNS, ROWS))
}

/// The content of a cell of the emulated terminal, in the types of our cells.
fn seen(cell: &vt100::Cell) -> (String, Color, Color, Modifier) {
    let colour = |colour| match colour {
        vt100::Color::Default => Color::Reset,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    };
    let mut modifier = Modifier::empty();
    for (is_on, attribute) in [
        (cell.bold(), Modifier::BOLD),
        (cell.dim(), Modifier::DIM),
        (cell.underline(), Modifier::UNDERLINED),
        (cell.inverse(), Modifier::REVERSED),
    ] {
        modifier.set(attribute, is_on);
    }
    let symbol = if cell.contents().is_empty() {
        " "
    } else {
        cell.contents()
    };
    let is_blank = symbol == " " && !modifier.intersects(Modifier::REVERSED | Modifier::UNDERLINED);
    if is_blank {
        let background = colour(cell.bgcolor());
        return (" ".into(), Color::Reset, background, Modifier::empty());
    }
    let (foreground, background) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
    (symbol.into(), foreground, background, modifier)
}

fn numbered(colour: Color) -> Color {
    match colour {
        Color::Red => Color::Indexed(1),
        Color::Cyan => Color::Indexed(6),
        Color::LightBlue => Color::Indexed(12),
        other => other,
    }
}

fn assert_shows(terminal: &vt100::Parser, frame: &Buffer) {
    for (y, row) in rows(frame).map(cell::row).enumerate() {
        for (x, spot) in row.iter().enumerate().filter(|(_, spot)| spot.width > 0) {
            let cell = terminal.screen().cell(y as u16, x as u16).expect("inside");
            let CellStyle {
                foreground,
                background,
                modifier,
            } = spot.style;
            let wanted = (
                spot.symbol.to_owned(),
                numbered(foreground),
                numbered(background),
                modifier,
            );
            let mut seen = seen(cell);
            // The emulated terminal is either bold or dim, not both.
            let both = Modifier::BOLD | Modifier::DIM;
            if modifier.contains(both) && seen.3.intersects(both) {
                seen.3.insert(both);
            }
            assert_eq!(seen, wanted, "column {x}, row {y}");
        }
    }
}

fn style() -> impl Strategy<Value = Style> {
    prop_oneof![
        4 => Just(Style::new()),
        1 => Just(Style::new().add_modifier(Modifier::REVERSED)),
        1 => Just(Style::new().add_modifier(Modifier::DIM)),
        1 => Just(Style::new().fg(Color::Red).add_modifier(Modifier::BOLD)),
        1 => Just(Style::new().fg(Color::Cyan).add_modifier(Modifier::UNDERLINED)),
        1 => Just(Style::new().fg(Color::Rgb(1, 2, 3)).bg(Color::LightBlue)),
        1 => Just(Style::new().add_modifier(Modifier::BOLD | Modifier::DIM)),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Text(u16, u16, String, Style),
    /// The rows from the first to the second move up or down by one.
    Move(u16, u16, bool),
    Clear,
    Forget,
    Cursor(Option<(u16, u16)>),
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof!["[a-z ]{1,24}", " {1,24}", "[a東─e\u{301} ]{1,12}"];
    prop_oneof![
        8 => (0..COLUMNS, 0..ROWS, text, style())
            .prop_map(|(x, y, text, style)| Step::Text(x, y, text, style)),
        2 => (0..ROWS, 0..ROWS, any::<bool>())
            .prop_map(|(a, b, up)| Step::Move(a.min(b), a.max(b), up)),
        1 => Just(Step::Clear),
        1 => Just(Step::Forget),
        2 => proptest::option::of((0..COLUMNS, 0..ROWS)).prop_map(Step::Cursor),
    ]
}

/// A combining character by itself is never drawn; see `widgets::paint::shown`.
fn drawable(text: &str) -> String {
    let text = text.trim_start_matches('\u{301}');
    text.replace(" \u{301}", " ").replace("─\u{301}", "─")
}

fn change(frame: &mut Buffer, step: &Step) {
    match step {
        Step::Text(x, y, text, style) => {
            let room = usize::from(COLUMNS - x);
            frame.set_stringn(*x, *y, drawable(text), room, *style);
        }
        Step::Move(top, bottom, up) => {
            let old = frame.clone();
            for y in *top..=*bottom {
                let from = if *up { y + 1 } else { y.wrapping_sub(1) };
                for x in 0..COLUMNS {
                    frame[(x, y)] = if (*top..=*bottom).contains(&from) {
                        old[(x, from)].clone()
                    } else {
                        ratatui::buffer::Cell::EMPTY
                    };
                }
            }
        }
        Step::Clear => *frame = blank(),
        Step::Forget | Step::Cursor(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_terminal_shows_the_last_frame(frames in prop::collection::vec(prop::collection::vec(step(), 1..12), 1..8)) {
        let mut terminal = terminal();
        let mut painter = Painter::new(false);
        let mut frame = blank();
        let mut cursor = None;
        terminal.process(b"\x1b[?25l");
        for steps in frames {
            for step in &steps {
                change(&mut frame, step);
                match step {
                    Step::Cursor(at) => cursor = at.map(Position::from),
                    Step::Forget => {
                        terminal.process(b"\x1b[3;1Hrubbish\x1b[7m");
                        painter.forget();
                    }
                    Step::Text(..) | Step::Move(..) | Step::Clear => {}
                }
            }
            terminal.process(&paint(&mut painter, &frame, cursor));
            assert_shows(&terminal, &frame);
            prop_assert_eq!(terminal.screen().hide_cursor(), cursor.is_none());
            if let Some(at) = cursor {
                prop_assert_eq!(terminal.screen().cursor_position(), (at.y, at.x));
            }
            prop_assert!(paint(&mut painter, &frame, cursor).is_empty(), "the same costs nothing");
        }
    }
}

fn paint(painter: &mut Painter, frame: &Buffer, cursor: Option<Position>) -> Vec<u8> {
    painter.paint(frame.area, &mut |buffer| {
        buffer.clone_from(frame);
        cursor
    })
}

fn painted(before: &Buffer, after: &Buffer) -> String {
    let mut painter = Painter::new(true);
    paint(&mut painter, before, None);
    String::from_utf8(paint(&mut painter, after, None)).expect("UTF-8")
}

#[test]
fn rows_that_move_are_moved_by_the_terminal() {
    let list = |from: u16| {
        let mut frame = blank();
        frame.set_string(0, 0, "head", Style::new());
        for y in 1..ROWS {
            let word = ["one", "two", "three", "four"][usize::from(y + from) % 4];
            frame.set_string(0, y, word.repeat(4), Style::new());
        }
        frame
    };
    let up = painted(&list(0), &list(1));
    assert_eq!(up, "\x1b[2;8r\x1b[2H\x1b[1M\x1b[r\x1b[8Honeoneoneone");
    let down = painted(&list(1), &list(0));
    assert_eq!(down, "\x1b[2;8r\x1b[2H\x1b[1L\x1b[r\x1b[2Htwotwotwotwo");
}

#[test]
fn blanks_are_erased_and_gaps_are_skipped() {
    let mut long = blank();
    long.set_string(0, 2, "abcdefghijklmnopqrstuvwx", Style::new());
    let mut short = blank();
    short.set_string(0, 2, "abX", Style::new());
    assert_eq!(painted(&long, &short), "\x1b[3;3HX\x1b[K");
    short.set_string(20, 2, "Y", Style::new());
    assert_eq!(painted(&long, &short), "\x1b[3;3HX\x1b[17X\x1b[17CY   ");
}

#[test]
fn signs_of_doubtful_width_push_nothing() {
    let family = "👩‍👩‍👧‍👦";
    let mut frame = blank();
    frame.set_string(20, 1, format!("{family}|"), Style::new());
    let bytes = painted(&blank(), &frame);
    assert!(
        bytes.contains(&format!("\x1b[?7l{family}\x1b[?7h\x1b[2;23H|")),
        "{bytes:?}"
    );
}

#[test]
fn a_sign_that_terminals_disagree_about_is_followed_by_its_place() {
    for sign in ["⚠", "①", "\u{1f1e9}", "\u{903}", "▶", "🖥", "±"] {
        let mut frame = blank();
        frame.set_string(4, 1, "a", Style::new());
        frame[(5, 1)].set_symbol(sign);
        frame.set_string(6, 1, "b", Style::new());
        let bytes = painted(&blank(), &frame);
        let width = cell::row(&frame.content[24..48])[5].width;
        assert_eq!(width, 1, "{sign}: a sign of one cell");
        assert!(
            bytes.contains(&format!("{sign}\x1b[2;7Hb")),
            "{sign}: {bytes:?}"
        );
        // Replaced by another character: what a terminal drew beside the old one is written again.
        let mut other = frame.clone();
        other[(5, 1)].set_symbol("x");
        assert!(painted(&frame, &other).contains("xb") || painted(&frame, &other).contains('x'));
        let back = painted(&other, &frame);
        assert!(
            back.contains(&format!("{sign}\x1b[2;7Hb")),
            "{sign}: {back:?}"
        );
    }
    for sign in ["é", "ж", "東", "─", "…", "अ"] {
        let mut frame = blank();
        frame.set_string(4, 1, format!("{sign}b"), Style::new());
        assert!(
            painted(&blank(), &frame).contains(&format!("{sign}b")),
            "{sign}"
        );
    }
}

#[test]
fn only_large_frames_are_marked_for_the_terminal_to_hold_back() {
    let mut frame = blank();
    frame.set_string(0, 0, "small", Style::new());
    assert_eq!(painted(&blank(), &frame), "\x1b[1Hsmall");
    let mut large = Buffer::empty(Rect::new(0, 0, 80, 24));
    for y in 0..24 {
        large.set_string(0, y, "x".repeat(80), Style::new());
    }
    let bytes = painted(&Buffer::empty(large.area), &large);
    assert!(bytes.starts_with("\x1b[?2026h") && bytes.ends_with("\x1b[?2026l"));
}
