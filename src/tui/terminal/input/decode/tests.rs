//! Keys as terminals send them, split anywhere, and bytes that no terminal sends.

use crossterm::event::{KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;

use super::*;

const NONE: KeyModifiers = KeyModifiers::NONE;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
const ALT: KeyModifiers = KeyModifiers::ALT;
const CONTROL: KeyModifiers = KeyModifiers::CONTROL;

/// What arrives in so many reads.
fn in_reads<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Decoder, Vec<InputEvent>) {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for piece in pieces {
        decoder.take(piece, &mut out);
    }
    (decoder, out)
}

/// Decodes bytes that arrive in one read, followed by silence.
fn of(bytes: impl AsRef<[u8]>) -> Vec<InputEvent> {
    let (mut decoder, mut out) = in_reads([bytes.as_ref()]);
    out.extend(decoder.on_timeout());
    out
}

fn letter(c: char) -> InputEvent {
    pressed(KeyCode::Char(c), NONE)
}

fn pressed(code: KeyCode, modifiers: KeyModifiers) -> InputEvent {
    InputEvent::Event(Event::Key(KeyEvent::new(code, modifiers)))
}

fn pasted(text: &str) -> InputEvent {
    InputEvent::Event(Event::Paste(text.into()))
}

#[test]
fn keys_are_what_terminals_mean_by_them() {
    for (bytes, code, modifiers) in [
        ("a", KeyCode::Char('a'), NONE),
        ("A", KeyCode::Char('A'), SHIFT),
        ("東", KeyCode::Char('東'), NONE),
        ("\r", KeyCode::Enter, NONE),
        ("\n", KeyCode::Char('j'), CONTROL),
        ("\t", KeyCode::Tab, NONE),
        ("\x7f", KeyCode::Backspace, NONE),
        ("\0", KeyCode::Char(' '), CONTROL),
        ("\x03", KeyCode::Char('c'), CONTROL),
        ("\x1f", KeyCode::Char('7'), CONTROL),
        ("\x1b", KeyCode::Esc, NONE),
        ("\x1bx", KeyCode::Char('x'), ALT),
        ("\x1b\r", KeyCode::Enter, ALT),
        ("\x1bOA", KeyCode::Up, NONE),
        ("\x1bOS", KeyCode::F(4), NONE),
        ("\x1b[A", KeyCode::Up, NONE),
        ("\x1b[1;5C", KeyCode::Right, CONTROL),
        ("\x1b[1;2P", KeyCode::F(1), SHIFT),
        ("\x1b[Z", KeyCode::BackTab, SHIFT),
        ("\x1b[3~", KeyCode::Delete, NONE),
        ("\x1b[15;5~", KeyCode::F(5), CONTROL),
        ("\x1b[24~", KeyCode::F(12), NONE),
        ("\x1b[[B", KeyCode::F(2), NONE),
        ("\x1b[97;5u", KeyCode::Char('a'), CONTROL),
        ("\x1b[27u", KeyCode::Esc, NONE),
        // The byte that broke the first sequence is decoded on its own.
        ("\x1b[1;\x03", KeyCode::Char('c'), CONTROL),
        ("\x1b[1;\x1b[B", KeyCode::Down, NONE),
        ("\u{e9}", KeyCode::Char('é'), NONE),
    ] {
        assert_eq!(of(bytes), [pressed(code, modifiers)], "{bytes:?}");
    }
    let released = of("\x1b[1;1:3A");
    let [InputEvent::Event(Event::Key(key))] = &released[..] else {
        panic!("{released:?}");
    };
    assert_eq!((key.code, key.kind), (KeyCode::Up, KeyEventKind::Release));
}

#[test]
fn an_answer_of_the_terminal_is_never_typed() {
    for (bytes, colour) in [
        ("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", (0x1e, 0x1e, 0x1e)),
        ("\x1b]11;rgb:ffff/ffff/0000\x07", (255, 255, 0)),
        ("\x1b]11;rgb:f/8/0\x07", (255, 136, 0)),
        ("\x1b]11;rgba:fdfd/f6f6/e3e3/ffff\x07", (0xfd, 0xf6, 0xe3)),
    ] {
        let answer = InputEvent::Background(colour.0, colour.1, colour.2);
        assert_eq!(of(bytes), std::slice::from_ref(&answer), "{bytes:?}");
        // The connection may split the sequence anywhere, and what is typed after it counts as typed.
        for cut in 0..bytes.len() {
            let (first, second) = bytes.as_bytes().split_at(cut);
            let (_, out) = in_reads([first, second, b"q"]);
            assert_eq!(out, [answer.clone(), letter('q')], "{bytes:?} at {cut}");
        }
    }
    assert_eq!(of("\x1b]"), [pressed(KeyCode::Char(']'), ALT)]);
}

#[test]
fn what_is_no_key_is_nothing() {
    for bytes in [
        &b"\x1b[?64;1c"[..],
        b"\x1b[12;34R",
        b"\x1b[<0;0;0M",
        b"\x1b[<999;1;1M",
        b"\x1b[M \x20\x20",
        b"\x1bOx",
        b"\xff",
        b"\x80",
        b"\x1b[0~",
        b"\x1b[57441u",
        b"\x1b]4;1;rgb:0/0/0\x07",
        b"\x1b]11;grey\x07",
        b"\x1b]11;rgb:0/0\x07",
    ] {
        assert_eq!(of(bytes), [], "{bytes:?}");
    }
}

#[test]
fn the_mouse_is_counted_from_the_corner() {
    let left = MouseButton::Left;
    for (bytes, kind) in [
        ("\x1b[<0;12;7M", MouseEventKind::Down(left)),
        ("\x1b[<0;12;7m", MouseEventKind::Up(left)),
        ("\x1b[<65;12;7M", MouseEventKind::ScrollDown),
        ("\x1b[M\x20\x2c\x27", MouseEventKind::Down(left)),
    ] {
        let expected = MouseEvent {
            kind,
            column: 11,
            row: 6,
            modifiers: NONE,
        };
        assert_eq!(of(bytes), [InputEvent::Event(Event::Mouse(expected))]);
    }
}

#[test]
fn a_paste_is_text_whatever_it_holds() {
    let keys = "q\r\x03\x1b[A\x1b[200~\x1bT";
    let bytes = format!("a\x1b[200~{keys}\x1b[201~b");
    let wanted = [letter('a'), pasted(keys), letter('b')];
    for size in 1..=bytes.len() {
        let (_, out) = in_reads(bytes.as_bytes().chunks(size));
        assert_eq!(out, wanted, "in pieces of {size}");
    }
}

#[test]
fn a_paste_without_an_end_is_told_once_and_ended_by_ctrl_c() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    assert_eq!(decoder.on_timeout(), None);
    decoder.take(b"\x1b[200~some", &mut out);
    // Ignored before `PasteIsOpen` was sent: it may be part of the text.
    decoder.take(b"\x03", &mut out);
    assert_eq!(out, []);
    assert_eq!(decoder.timeout(), Some(PASTE_TIMEOUT));
    assert_eq!(decoder.on_timeout(), Some(InputEvent::PasteIsOpen));
    assert_eq!(decoder.on_timeout(), None);
    // The paste continues after all, and keys in it are still text.
    decoder.take(b"T\x03", &mut out);
    assert_eq!(decoder.timeout(), Some(PASTE_TIMEOUT));
    assert_eq!(decoder.on_timeout(), Some(InputEvent::PasteIsOpen));
    decoder.take(b"\x03", &mut out);
    decoder.take(b"j", &mut out);
    assert_eq!(
        out,
        [pasted("some\x03T\x03"), pressed(KeyCode::Char('j'), NONE)]
    );
}

#[test]
fn a_paste_whose_beginning_was_cut_by_the_line_is_no_keys() {
    let after_escape = |pieces: &[&[u8]]| {
        let (mut decoder, mut out) = in_reads([&b"\x1b"[..]]);
        out.extend(decoder.on_timeout());
        for piece in pieces {
            decoder.take(piece, &mut out);
        }
        out
    };
    let wanted = [pressed(KeyCode::Esc, NONE), pasted("Ty"), letter('j')];
    assert_eq!(after_escape(&[b"[200~Ty\x1b[201~j"]), wanted);
    // Typed by hand, it is what it looks like.
    assert_eq!(after_escape(&[b"[", b"200~"]).len(), 6);
}

/// The rest of a mouse report, taken for typed keys, would open panes and change fields.
#[test]
fn a_sequence_that_was_cut_by_the_line_is_no_keys() {
    for bytes in [
        "\x1b[<0;10;5M",
        "\x1b[<0;10;5m",
        "\x1b[1;5C",
        "\x1bOA",
        "\x1b[200~T\x1b[201~",
    ] {
        let whole = of(bytes);
        assert_eq!(whole.len(), 1, "{bytes:?}");
        for at in 1..bytes.len() {
            let (first, second) = bytes.as_bytes().split_at(at);
            assert_eq!(in_reads([first, second]).1, whole, "{bytes:?} at {at}");
        }
    }
    // The Escape key, pressed before other keys.
    for (first, then) in [("\x1b", "x"), ("a\x1b", "\x1b"), ("\x1b", "é")] {
        let (mut decoder, mut out) = in_reads([first.as_bytes()]);
        assert_eq!(decoder.timeout(), Some(ESCAPE_TIMEOUT));
        decoder.take(then.as_bytes(), &mut out);
        out.extend(decoder.on_timeout());
        assert_eq!(decoder.timeout(), None);
        assert_eq!(out, [of(first), of(then)].concat());
    }
}

#[test]
fn too_long_a_paste_is_dropped_to_its_end() {
    for (length, is_taken) in [(MAX_PASTE_BYTES, true), (MAX_PASTE_BYTES + 1, false)] {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        decoder.take(b"\x1b[200~", &mut out);
        for piece in vec![b'x'; length].chunks(60_000) {
            decoder.take(piece, &mut out);
            let kept = decoder.paste.as_ref().map_or(0, |paste| paste.bytes.len());
            assert!(kept < MAX_PASTE_BYTES + PASTE_END.len());
        }
        decoder.take(b"\x1b[2", &mut out);
        decoder.take(b"01~j", &mut out);
        assert_eq!(out.len(), 2);
        assert_eq!(out[0] == InputEvent::PasteTooLong, !is_taken, "{length}");
        assert_eq!(out[1], pressed(KeyCode::Char('j'), NONE));
    }
}

proptest! {
    #[test]
    fn nothing_panics_and_nothing_grows(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x1b), Just(b'['), Just(b'M'), Just(b'<'), Just(b';'), b'0'..=b'9'], 0..400), size in 1_usize..9) {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for piece in bytes.chunks(size) {
            decoder.take(piece, &mut out);
            prop_assert!(decoder.sequence.len() < MAX_SEQUENCE_BYTES);
        }
        out.extend(decoder.on_timeout());
        prop_assert!(out.len() <= bytes.len());
    }

    #[test]
    fn pieces_do_not_matter_where_more_is_to_come(bytes in "[a-zA-Z東é\r\t]{0,40}", size in 1_usize..9) {
        prop_assert_eq!(in_reads(bytes.as_bytes().chunks(size)).1, of(&bytes));
    }
}
