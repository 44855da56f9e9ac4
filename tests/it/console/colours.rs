//! How the main places look in every size and on every kind of terminal: the text, and below it the runs of cells that
//! do not look plain. `INSTA_UPDATE=always cargo test --test it console::colours` draws them anew.

use std::fmt::Write as _;

use groupdesk::tui::theme::{Palette, Theme};
use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};

use super::scene::{USUAL, a_world, open};
use crate::support::{console::text_of, steady::steady, world::Side};

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

/// `red+bold`, or nothing for a plain cell.
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

/// One line a row: `3: 0-79 dim`. Blanks that look plain anyway belong to no run; of the edges only the title counts.
fn runs(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut run: Option<(u16, u16, String)> = None;
        for x in 0..=buffer.area.width {
            let now = (x < buffer.area.width).then(|| {
                let cell = &buffer[(x, y)];
                let is_edge = "│─┌┐└┘|+-".contains(cell.symbol());
                if is_edge && cell.modifier == Modifier::DIM {
                    String::new()
                } else {
                    look(cell)
                }
            });
            match (&mut run, now) {
                (Some((_, last, look)), Some(now)) if *look == now => *last = x,
                (_, now) => {
                    if let Some((from, to, look)) = run.take().filter(|run| !run.2.is_empty()) {
                        let _ = write!(line, " {from}-{to} {look}");
                    }
                    run = now.map(|look| (x, x, look));
                }
            }
        }
        if !line.is_empty() {
            let _ = writeln!(text, "{y}:{line}");
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
            insta::with_settings!({
                snapshot_path => "snapshots/looks",
                prepend_module_to_snapshot => false,
                omit_expression => true,
            }, {
                insta::assert_snapshot!(format!("{name}_{}x{}_{kind}", size.0, size.1), drawn);
            });
        }
    }
}

/// One test a place, so that every difference is shown.
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
