//! Hostile and merely foreign names: in every place and every window, no raw control character reaches a cell.

use groupdesk::tui::theme::{Palette, Theme};
use serde_json::json;

use super::{
    places::{SIZES, assert_screen},
    scene::{USUAL, both, open_with},
};
use crate::support::{
    console::PLACES,
    world::{Side, World, id},
};

/// Names, also used as ids where the service allows that.
const NAMES: [&str; 9] = [
    "adm\u{1b}[31min\u{7}",
    "\u{202e}gnp.exe",
    "zero\u{200b}width\u{feff}",
    "東京電力ホールディングス株式会社",
    "e\u{301}\u{302}\u{303}a\u{30a}",
    "👩‍👩‍👧‍👦 family 🏳️‍🌈",
    "tab\tand\nnewline\r\u{85}\u{2028}",
    "مرحبا שלום",
    "\u{ff21}\u{ff22}\u{3164}\u{2800}",
];

async fn a_strange_world() -> World {
    let world = World::new().await;
    for side in [Side::Testing, Side::Production] {
        let mut names: Vec<String> = NAMES.map(str::to_owned).into();
        names.push("very long ".repeat(100));
        names.push("長".repeat(1_000));
        for (number, name) in names.iter().enumerate() {
            let group = format!("{number}-{}", name.chars().take(60).collect::<String>());
            let short: String = name.chars().take(200).collect();
            let mut wanted = super::scene::wanted(name, &[(&short, &short)], "{}");
            let properties = json!({name.as_str(): name, "deep": {"er": [name]}});
            wanted.properties = properties.as_object().cloned();
            let operations = world.operations(side);
            operations
                .create(&id(&group), &wanted)
                .await
                .expect("created");
        }
    }
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn no_name_breaks_a_place() {
    let world = a_strange_world().await;
    for row in 0..NAMES.len() + 2 {
        // Every name in every second place, every place with every second name.
        for (script, focus) in PLACES.into_iter().skip(row % 2).step_by(2) {
            // Each name is found by the number at the beginning of its id.
            let mut console = open_with(both(&world)).await;
            let down = "<down>".repeat(row);
            let script = script.replace("P<down><enter>", &format!("P<down><enter>{down}"));
            let script = if script.starts_with('P') {
                script
            } else {
                format!("{down}{script}")
            };
            let script = if matches!(focus, groupdesk::tui::keymap::Focus::RotateResult) {
                script.replace('y', "")
            } else {
                script
            };
            console.keys(&script).await;
            for size in [SIZES[0], SIZES[2], SIZES[4]] {
                console.resize(size);
                assert_screen(&console, &script);
            }
            console.resize(USUAL);
            #[rustfmt::skip] // A table: one case per line.
            let table = [
                Theme { colour: false, ascii: false, palette: Palette::NAMED },
                Theme { colour: false, ascii: true, palette: Palette::NAMED },
            ];
            for theme in table {
                console.on(theme);
                assert_screen(&console, &script);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_characters_are_shown_as_escapes() {
    let world = a_strange_world().await;
    let mut console = open_with(both(&world)).await;
    console.resize((160, 50));
    console
        .shows("adm\\u{1b}[31min\\u{7}")
        .shows("\\u{202e}gnp.exe")
        .shows("zero\\u{200b}width\\u{feff}")
        .shows("{85}\\u{2028}")
        .shows("東京電力");
    console
        .keys("/tab<enter><enter>")
        .await
        .shows("tab\\tand\\nnewline\\r\\u{85}\\u{2028}");
}
