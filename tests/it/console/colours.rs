//! The main places at every size and on every kind of terminal: the text, and below it the runs of cells that are not
//! plain. `INSTA_UPDATE=always cargo test --test it console::colours` writes the snapshots anew.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;

use super::prelude::*;

const SIZES: [(u16, u16); 4] = [(40, 10), (60, 15), (80, 24), (160, 50)];

const KINDS: [(&str, Theme); 3] = [
    ("colour", theme(true, false)),
    ("no_color", theme(false, false)),
    ("ascii", theme(true, true)),
];

const fn theme(colour: bool, ascii: bool) -> Theme {
    Theme {
        colour,
        ascii,
        palette: Palette::NAMED,
    }
}

/// The style of a cell as `red+bold`; empty for a plain cell.
fn look(cell: &Cell) -> String {
    let mut words = Vec::new();
    if cell.fg != Color::Reset {
        words.push(cell.fg.to_string().to_lowercase());
    }
    if cell.bg != Color::Reset {
        words.push(format!("on-{}", cell.bg).to_lowercase());
    }
    for (attribute, word) in [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::UNDERLINED, "underlined"),
        (Modifier::REVERSED, "reversed"),
    ] {
        if cell.modifier.contains(attribute) {
            words.push(word.to_owned());
        }
    }
    words.join("+")
}

/// One line per row: `3: 0-79 dim`. A run begins and ends with a visible cell; of borders only the title counts.
fn runs(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut found: Vec<(u16, u16, String)> = Vec::new();
        let mut is_open = false;
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let is_edge = "│─┌┐└┘|+-".contains(cell.symbol()) && cell.modifier == Modifier::DIM;
            let look = if is_edge { String::new() } else { look(cell) };
            let on_blanks = Modifier::REVERSED | Modifier::UNDERLINED;
            let is_seen = cell.symbol() != " " || cell.modifier.intersects(on_blanks);
            match found.last_mut() {
                Some(last) if is_open && last.2 == look => {
                    if is_seen {
                        last.1 = x;
                    }
                }
                _ => {
                    is_open = is_seen && !look.is_empty();
                    if is_open {
                        found.push((x, x, look));
                    }
                }
            }
        }
        if !found.is_empty() {
            let _ = write!(text, "{y}:");
            for (from, to, look) in found {
                let _ = write!(text, " {from}-{to} {look}");
            }
            text.push('\n');
        }
    }
    text
}

async fn looks(name: &str, side: Side, script: &str) {
    let world = a_world().await;
    let mut console = open(&world, side, USUAL).await;
    console.keys(script).await;
    for size in SIZES {
        console.resize(size);
        for (kind, theme) in KINDS {
            console.on(theme);
            let screen = steady(console.buffer());
            let drawn = format!("{}\n{}", text_of(&screen), runs(&screen));
            assert_snapshot(
                "console/snapshots/looks",
                format!("{name}_{}x{}_{kind}", size.0, size.1),
                drawn,
            );
        }
    }
}

/// One test per place, so that every difference is reported.
macro_rules! places {
    ($($name:ident $side:ident $script:literal;)*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            looks(stringify!($name), Side::$side, $script).await;
        })*
    };
}

places! {
    list Production "<down>";
    edit Testing "e<tab><right><enter><end>9<enter><down>D";
    review Production "e<end> plc<ctrl-s>";
    rotate Production "tT<shift-tab>leaked<tab>acme";
    history Testing "2";
}
