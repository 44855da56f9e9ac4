//! Hostile text in every field and every place that shows it: visibly escaped, never raw, never dropped, and in its
//! columns. A terminal emulator that got the bytes decides about the columns.

use std::{fmt::Write as _, num::NonZeroU16};

use groupdesk::{
    domain::{change::DesiredFields, text::width},
    operations::UnknownIdPolicy,
    tui::terminal::paint::Painter,
};
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{
    at_once::AtOnce as _,
    world::{Side, Template, World, id},
};
pub(crate) use crate::app::{escape, is_dangerous};

/// Texts that somebody may enter as a name, a word or a key.
#[rustfmt::skip] // A table: one case per line.
pub(crate) const CORPUS: [(&str, &str); 35] = [
    ("nothing special", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    ("nothing special, and short", "xxxxxxxxxxxxxxxxxxxx"),
    ("CSI", "a\u{1b}[31mred\u{1b}[2J\u{1b}[Hb"),
    ("OSC 8", "\u{1b}]8;;http://evil.example\u{7}click\u{1b}]8;;\u{7}"),
    ("OSC 52", "\u{1b}]52;c;ZXZpbA==\u{1b}\\"),
    ("OSC 0, a title", "\u{1b}]0;owned\u{7}"),
    ("OSC without an end", "\u{1b}]2;"),
    ("DCS", "\u{1b}P$q\"p\u{1b}\\"),
    ("APC and PM", "\u{1b}_x\u{1b}\\\u{1b}^y\u{1b}\\"),
    ("a bracketed paste", "\u{1b}[201~q\u{1b}[200~"),
    ("C1", "\u{9b}31mred\u{9d}0;t\u{9c}\u{90}\u{85}"),
    ("bidi overrides", "\u{202e}gnp.exe\u{202c}"),
    ("bidi isolates and marks", "\u{2066}a\u{2067}b\u{2069}\u{200f}\u{61c}"),
    ("zero width", "ad\u{200b}min\u{200c}\u{200d}\u{feff}\u{2060}"),
    ("a storm of marks", "z\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{489}\u{20dd}\u{36f}\u{35c}y"),
    ("a mark without a letter", " \u{301}\u{302} x"),
    ("look-alikes", "\u{430}cm\u{435}-\u{435}u"),
    ("NUL", "a\0b"),
    ("a lone CR", "good\revil"),
    ("TAB", "a\tb\t"),
    ("line ends", "one\ntwo\r\nthree"),
    ("separators", "x\u{2028}y\u{2029}z\u{b}\u{c}"),
    ("a soft hyphen", "ad\u{ad}min"),
    ("variation selectors", "\u{2764}\u{fe0f}\u{260e}\u{fe0e}x\u{e0100}"),
    ("tags", "flag\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}"),
    ("wide letters", "東京電力ホールディングス"),
    ("an emoji of several", "👩\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈"),
    ("skin and flags", "👍🏽 🇪🇺🇫"),
    ("blanks", "\u{3164}\u{2800}\u{a0}\u{3000}\u{2003}x"),
    ("right to left", "مرحبا שלום"),
    ("backspace and DEL", "abc\u{8}\u{8}\u{7f}\u{e}q\u{f}"),
    ("jamo", "ᄒ\u{1161}\u{11ab}글 กำ ﷽"),
    ("a formula", "=cmd|' /C calc'!A0"),
    ("quotes", "\"',;\\\\ $(x) `y` %s {}"),
    ("beyond text", "\u{e000}\u{fdd0}\u{fffe}\u{10ffff}\u{378}"),
];

/// The fields of a group and of its rotation; each text is enclosed in markers of its field, so that it can be found
/// again.
pub(crate) const FIELDS: [char; 9] = ['I', 'N', 'K', 'V', 'P', 'Q', 'D', 'R', 'O'];

/// The text of a field with its markers.
pub(crate) fn framed(field: char, text: &str) -> String {
    format!("{field}[{text}]{field}")
}

/// The id of a group of the corpus.
pub(crate) fn id_of(number: usize, text: &str) -> String {
    format!("{number:02}{}", framed('I', &sendable(text)))
}

/// The service accepts no NUL; its own words, and values stored here, may contain one.
pub(crate) fn sendable(text: &str) -> String {
    text.replace('\0', "")
}

/// All fields have the text; id and name begin with a number.
pub(crate) fn wanted(number: usize, text: &str) -> DesiredFields {
    let text = &sendable(text);
    let properties =
        json!({framed('P', text): framed('Q', text), "deep": {"er": [framed('D', text)]}});
    DesiredFields {
        name: Some(format!("{number:02}{}", framed('N', text))),
        mapping: Some(
            [(framed('K', text), framed('V', text))]
                .into_iter()
                .collect(),
        ),
        properties: properties.as_object().cloned(),
    }
}

/// Each text of the corpus is a group in both environments, rotated once, two days ago. It is made once per run; each test
/// starts from a copy.
pub(crate) async fn a_world() -> World {
    static MADE: OnceCell<Template> = OnceCell::const_new();
    let made =
        MADE.get_or_init(async || Template::of(Box::pin(a_world_at(Timestamp::now())).await).await);
    made.await.copy().await
}

/// The same two days before this time.
pub(crate) async fn a_world_at(now: Timestamp) -> World {
    let world = World::new().await;
    for side in [Side::Testing, Side::Production] {
        for (number, (what, text)) in CORPUS.iter().enumerate() {
            let installation = world.installation(side).by(&framed('O', text));
            let operations = installation
                .at(now - SignedDuration::from_hours(48))
                .operations();
            let group = id(&id_of(number, text));
            let created = operations.create(&group, &wanted(number, text)).await;
            created.unwrap_or_else(|error| panic!("{what}: {error}"));
            let reason = Some(framed('R', text));
            let rotated = operations
                .rotate(&group, reason, UnknownIdPolicy::KnownOnly)
                .await;
            operations.confirm(rotated.expect(what)).await;
        }
    }
    world
}

/// How a text must be shown: as it is, as displayed JSON, and as JSON that stays JSON.
pub(crate) fn shown(text: &str) -> [String; 3] {
    let json = serde_json::to_string(text).expect("JSON");
    let json = &json[1..json.len() - 1];
    let escaped = |text: &str, escape: fn(char) -> String| -> String {
        let signs = text.chars();
        signs
            .map(|c| if is_dangerous(c) { escape(c) } else { c.into() })
            .collect()
    };
    [
        counted(&escaped(text, escape)),
        counted(&escaped(json, escape)),
        escaped(json, in_json),
    ]
}

/// Of many combining marks people see eight, and the number of the others.
fn counted(text: &str) -> String {
    let mut shown = String::new();
    let mut marks = 0;
    for c in text.chars().chain(['\0']) {
        let is_mark = matches!(c, '\u{300}'..='\u{36f}' | '\u{489}' | '\u{20dd}');
        marks = if is_mark { marks + 1 } else { marks };
        if !is_mark {
            if marks > 8 {
                let _ = write!(shown, "\\u{{+{} marks}}", marks - 8);
            }
            marks = 0;
        }
        if c != '\0' && marks <= 8 {
            shown.push(c);
        }
    }
    shown
}

fn in_json(c: char) -> String {
    let mut text = String::new();
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(text, "\\u{unit:04x}");
    }
    text
}

/// Whether the screen has the text of a field, escaped. Combining marks are not compared: a screen may show fewer.
pub(crate) fn holds(screen: &str, field: char, text: &str) -> bool {
    plain_holds(&plain(screen), field, text)
}

/// The visible text. Lines may break at blanks, with the sides of a box between; CSV doubles quotes.
fn plain(text: &str) -> String {
    let seen = |c: &char| {
        let takes_room = || width(c.encode_utf8(&mut [0; 4])) > 0;
        c.is_ascii_graphic() || !c.is_whitespace() && *c != '│' && takes_room()
    };
    text.replace("\"\"", "\"").chars().filter(seen).collect()
}

fn plain_holds(screen: &str, field: char, text: &str) -> bool {
    let text = if "INKVPQD".contains(field) {
        sendable(text)
    } else {
        text.to_owned()
    };
    shown(&text)
        .iter()
        .any(|text| screen.contains(&plain(&framed(field, text))))
}

/// Whether all terminals agree on its width, with or without support for emoji sequences.
pub(crate) fn is_undisputed(text: &str) -> bool {
    let alone = text.chars().map(|c| width(&c.to_string())).sum::<usize>();
    alone == width(text)
}

/// No control or hidden character, except the line ends of the screen itself.
#[track_caller]
pub(crate) fn assert_harmless(screen: &str, at: &str) {
    let raw = screen.chars().find(|c| *c != '\n' && is_dangerous(*c));
    assert_eq!(raw, None, "{at}:\n{screen}");
}

/// A terminal emulator showing this screen.
pub(crate) fn emulated(buffer: &Buffer) -> vt100::Parser {
    let size = |cells| NonZeroU16::new(cells).expect("not empty");
    let mut terminal = vt100::Parser::new(size(buffer.area.height), size(buffer.area.width), 0);
    terminal.process(&Painter::new(false).paint(buffer.area, &mut |frame| {
        frame.clone_from(buffer);
        None
    }));
    terminal
}

/// Every character is in the column where it was meant to be.
#[track_caller]
pub(crate) fn assert_in_columns(buffer: &Buffer, at: &str) {
    let terminal = emulated(buffer);
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            let there = terminal.screen().cell(y, x).expect("inside").contents();
            let first = |text: &str| text.chars().find(|c| *c != ' ');
            assert_eq!(
                first(there),
                first(symbol),
                "{symbol:?} at {x},{y} of {at}:\n{}",
                terminal.screen().contents()
            );
            x += (width(symbol) as u16).max(1);
        }
    }
}

/// The fields that the screen shows.
pub(crate) fn found(screen: &str, text: &str) -> Vec<char> {
    let screen = plain(screen);
    FIELDS
        .into_iter()
        .filter(|field| plain_holds(&screen, *field, text))
        .collect()
}

/// The text at a JSON pointer.
pub(crate) fn at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("no {pointer} in {value}"))
}
