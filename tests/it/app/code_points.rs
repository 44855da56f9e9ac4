//! Every control, bidi and format character of Unicode through every widget. Which ones must be escaped is taken from
//! the tables of another crate, not from ours.

use std::sync::OnceLock;

use groupdesk::{
    api::inspect::escape_hidden,
    domain::{
        group::{Mapping, Properties},
        text::{is_hidden, visible},
    },
    tui::kit::{
        RowKeys, boxes,
        columns::{Cell, Column, Layout},
        json_editor::JsonEditor,
        paint,
        pairs::{MappingTable, PropertiesField},
        text_field::TextField,
    },
};
use icu_properties::{
    CodePointMapData, CodePointSetData,
    props::{BidiControl, DefaultIgnorableCodePoint, GeneralCategory},
};

use super::{Scene, TESTING, canned_outcome, known_group, prelude::*};

/// In none of the classes, but every font draws it as a blank, and no comparison treats it as a space.
const BLANK_BRAILLE: char = '\u{2800}';

/// Whether a terminal could act on it or a reader overlook it: Cc, Cf, Zl, Zp, bidi controls, default ignorables.
pub(crate) fn is_dangerous(c: char) -> bool {
    static ALL: OnceLock<Vec<bool>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let categories = [
            GeneralCategory::Control,
            GeneralCategory::Format,
            GeneralCategory::LineSeparator,
            GeneralCategory::ParagraphSeparator,
        ];
        let map = CodePointMapData::<GeneralCategory>::new();
        let ranges = categories
            .into_iter()
            .flat_map(|category| map.iter_ranges_for_value(category));
        let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>().iter_ranges();
        let bidi = CodePointSetData::new::<BidiControl>().iter_ranges();
        let mut all = vec![false; 0x11_0000];
        for range in ranges.chain(ignorable).chain(bidi) {
            for code in range {
                all[code as usize] = true;
            }
        }
        all[BLANK_BRAILLE as usize] = true;
        all
    });
    all[c as usize]
}

/// How the character must be shown.
pub(crate) fn escape(c: char) -> String {
    match c {
        '\n' => r"\n".into(),
        '\t' => r"\t".into(),
        '\r' => r"\r".into(),
        '\0' => r"\0".into(),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    }
}

fn dangerous() -> Vec<char> {
    ('\0'..=char::MAX).filter(|c| is_dangerous(*c)).collect()
}

#[test]
fn every_code_point_is_escaped_exactly_where_it_must_be() {
    let mut counts = [0, 0];
    let mut wrong = Vec::new();
    for c in '\0'..=char::MAX {
        let text = c.to_string();
        let is_bad = is_dangerous(c);
        let expected = if is_bad { escape(c) } else { text.clone() };
        if visible(&text) != expected || is_hidden(c) != is_bad {
            wrong.push(format!("U+{:04X}", u32::from(c)));
        }
        counts[usize::from(is_bad)] += 1;
    }
    assert_eq!(wrong, [""; 0]);
    assert_eq!(counts.iter().sum::<usize>(), 0x11_0000 - 0x800);
    assert!(counts[1] > 4_200, "{counts:?}");
}

#[test]
fn machines_get_every_code_point_back() {
    // All of them in one text, and each dangerous one alone.
    let all: String = ('\0'..=char::MAX).collect();
    let alone = dangerous().into_iter().map(|c| format!("a{c}b"));
    let mut count = 0;
    for text in alone.chain([all]) {
        let json = serde_json::to_string_pretty(&[&text]).expect("JSON");
        let shown = escape_hidden(&json);
        assert_none_raw("JSON", &shown);
        let [back]: [String; 1] = serde_json::from_str(&shown).expect("JSON");
        assert!(back == text, "{shown:.80}");
        count += 1;
    }
    assert!(count > 4_200, "{count}");
}

const THEME: Theme = Theme {
    colour: true,
    ascii: false,
    palette: groupdesk::tui::theme::Palette::NAMED,
};

fn drawn<T>(draw: impl FnOnce(&mut Buffer, Rect) -> T) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 78, 6));
    let area = buffer.area;
    draw(&mut buffer, area);
    buffer
}

fn mapping(text: &str) -> Mapping {
    [(text.to_owned(), text.to_owned())].into_iter().collect()
}

fn properties(text: &str) -> Properties {
    [(text.to_owned(), text.into())].into_iter().collect()
}

type Widget = (&'static str, fn(&str) -> Buffer, usize);

/// The widgets, and how often each shows the text.
#[rustfmt::skip] // A table: one widget per line.
const WIDGETS: [Widget; 11] = [
    ("a line of text", |text| drawn(|on, area| line(on, area, text)), 1),
    ("a text field with the keys", |text| drawn(|on, area| TextField::new("label", text).draw(on, area, THEME, true)), 1),
    ("a text field without", |text| drawn(|on, area| TextField::new(text, text).with_hint(text).draw(on, area, THEME, false)), 3),
    ("the mapping", |text| drawn(|on, area| table(text).draw(on, area, THEME, true, &RowKeys::default())), 2),
    ("a cell of the mapping", |text| drawn(|on, area| edited(text).draw(on, area, THEME, true, &RowKeys::default())), 2),
    ("the JSON editor, of a value", |text| drawn(|on, area| JsonEditor::new(Some(&properties(text))).draw(on, area, THEME, true)), 2),
    ("the JSON editor, typed", |text| drawn(|on, area| typed(text).draw(on, area, THEME, true)), 1),
    ("the rows of the properties", |text| drawn(|on, area| rows(text).draw(on, area, THEME, true, &RowKeys::default())), 2),
    ("a cell of a table", |text| drawn(|on, area| cells(on, area, text)), 2),
    ("the title of a box", |text| drawn(|on, area| boxes::titled(on, area, text, true, THEME)), 1),
    ("words of the footer", |text| drawn(|on, area| line(on, area, &boxes::words_that_fit(text, 70, THEME))), 1),
];

fn line(on: &mut Buffer, area: Rect, text: &str) {
    paint::line(on, area, text, THEME.dim(), THEME);
}

fn table(text: &str) -> MappingTable {
    MappingTable::new(Some(&mapping(text)))
}

fn edited(text: &str) -> MappingTable {
    let mut table = table(text);
    assert!(table.edit());
    table
}

fn typed(text: &str) -> JsonEditor {
    let mut editor = JsonEditor::new(None);
    editor.set_text(text);
    editor
}

fn rows(text: &str) -> PropertiesField {
    let mut field = PropertiesField::new(Some(&properties(text)));
    assert!(field.switch());
    field
}

fn cells(on: &mut Buffer, area: Rect, text: &str) {
    let left = Column::new("LEFT", 4, 30, 0);
    let layout = Layout::fit(vec![left, Column::new("RIGHT", 4, 30, 1).right()], 70, 2);
    let cells = [Cell::new(text), Cell::new(text)];
    layout.draw_row(on, area, &cells, THEME.dim(), THEME);
}

/// The text is shown escaped at least `times` times, and nothing is shown raw.
#[track_caller]
fn assert_escaped(what: &str, c: char, buffer: &Buffer, times: usize) {
    let screen = text_of(buffer);
    let at = format!("U+{:04X} in {what}:\n{screen}", u32::from(c));
    assert_none_raw(&at, &screen);
    // JSON escapes the character first, in its own way.
    let count = |text: &str| screen.matches(&format!("a{text}b")).count();
    let found = count(&escape(c)).max(count(&json_escape(c)));
    assert!(found >= times, "{found} of {times}: {at}");
}

#[track_caller]
fn assert_none_raw(what: &str, screen: &str) {
    let raw = screen.chars().find(|c| *c != '\n' && is_dangerous(*c));
    assert_eq!(raw, None, "{what}:\n{screen}");
}

fn shown(c: char) -> String {
    if is_dangerous(c) {
        escape(c)
    } else {
        c.to_string()
    }
}

#[test]
fn every_widget_escapes_every_dangerous_character() {
    let all = dangerous();
    // The 4,096 tags and selectors without a name are all alike: a sample is enough.
    let (alike, others): (Vec<char>, Vec<char>) =
        all.iter().partition(|c| ('\u{e0000}'..).contains(*c));
    let mut cases = others;
    cases.extend(long::spread(alike, 64));
    let mut count = 0;
    for c in &cases {
        let text = format!("a{c}b");
        for (what, draw, times) in WIDGETS {
            // This editor breaks the line there.
            if (*c == '\n' || *c == '\r') && what == "the JSON editor, typed" {
                continue;
            }
            assert_escaped(what, *c, &draw(&text), times);
            count += 1;
        }
    }
    println!("{count} characters in widgets");
    assert_eq!(count, cases.len() * WIDGETS.len() - 2);
    assert!(count > 2_500);
}

/// A known group with this character in all its texts.
fn group(number: usize, c: char) -> groupdesk::domain::known::KnownGroup {
    let text = format!("{number:04}a{c}b");
    let wanted = DesiredFields {
        name: Some(text.clone()),
        mapping: Some(mapping(&text)),
        properties: Some(properties(&text)),
    };
    // An id cannot contain it.
    known_group(&text.replace('\0', "0"), &wanted, 1)
}

/// The console with these characters in its list.
fn listed(characters: &[char]) -> Scene {
    let mut scene = Scene::opening(TESTING);
    scene.msg(Msg::Resize(
        120,
        if characters.len() > 1 { 230 } else { 40 },
    ));
    while let Some((ticket, profile, job)) = scene.pending.pop() {
        let outcome = match job {
            Job::List => {
                let groups = characters.iter().enumerate();
                list_of(groups.map(|(at, c)| group(at, *c)).collect())
            }
            job => canned_outcome(profile, &job),
        };
        scene.msg(Msg::Done(ticket, outcome));
    }
    scene
}

/// Nothing is shown raw, and each character by its number. Returns how many were shown.
#[track_caller]
fn count_escaped(what: &str, screen: &str, characters: &[char]) -> usize {
    assert_none_raw(what, screen);
    for (number, c) in characters.iter().enumerate() {
        let text = format!("{number:04}a{}b", escape(*c));
        assert!(screen.contains(&text), "{what}: no {text} in\n{screen}");
    }
    characters.len()
}

#[test]
fn every_list_and_message_escapes_every_dangerous_character() {
    let all = dangerous();
    let mut count = 0;
    let chunks = all.chunks(100);
    for some in long::spread(chunks, 4) {
        let mut scene = listed(some);
        count += count_escaped("the list", &scene.screen(), some);
        for (number, c) in some.iter().enumerate() {
            let text = format!("{number:04}a{c}b");
            scene.app.context.say(Severity::Error, text);
        }
        scene.keys("m");
        count += count_escaped("the messages", &scene.screen(), some);
    }
    println!("{count} characters in lists");
    assert!(count > 2_000 && (count == 2 * all.len() || !long::all()));
}

#[test]
fn every_page_of_a_group_escapes_every_dangerous_character() {
    let all = dangerous();
    let mut cases: Vec<char> = all.iter().copied().filter(|c| *c < '\u{e0000}').collect();
    let alike = all.iter().copied().filter(|c| *c >= '\u{e0000}');
    cases.extend(long::spread(alike, 256));
    let cases = long::spread(cases, 24);
    let mut count = 0;
    for c in &cases {
        // Detail page, form and review, the message line, and the page of one message.
        for (what, script, times) in [
            ("the detail", "<enter>", 5),
            ("the form", "e", 4),
            ("the review", "e<end>x<ctrl-s>", 3),
            ("the comparison", "x", 1),
            ("the token", "t", 1),
        ] {
            let mut scene = listed(&[*c]);
            scene.keys(script);
            scene.app.context.say(Severity::Error, format!("0000a{c}b"));
            let screen = scene.screen();
            count_escaped(what, &screen, &[*c]);
            let text = format!("0000a{}", escape(*c));
            let json = format!("0000a{}", json_escape(*c));
            let found = screen.matches(&text).count() + screen.matches(&json).count();
            assert!(found >= times, "{found} in {what} of {c:?}:\n{screen}");
            count += 1;
        }
    }
    println!("{count} characters on pages");
    assert_eq!(count, cases.len() * 5);
}

fn json_escape(c: char) -> String {
    let json = serde_json::to_string(&c.to_string()).expect("JSON");
    json.trim_matches('"').chars().map(shown).collect()
}
