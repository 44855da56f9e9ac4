//! The filter with real operations: which letters are highlighted, where the cursor stays, and what the next start
//! restores.

use super::prelude::*;

/// The highlighted letters in a row of the screen.
fn highlighted(console: &Console, row: u16) -> String {
    let buffer = console.buffer();
    let cells = (0..buffer.area.width).map(|x| &buffer[(x, row)]);
    let marked = cells.filter(|cell| cell.modifier.contains(Modifier::UNDERLINED));
    marked.map(Cell::symbol).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn found_letters_are_highlighted_with_and_without_colour() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("/retail<enter>").await.shows("Globex Retail");
    assert_eq!(highlighted(&console, 4), "Retailretail");
    console.keys("<esc>").await;
    let column = |console: &Console| console.screen().lines().nth(3).map(str::to_owned);
    let before = column(&console);
    console.keys("/acme").await.shows("2 of 7");
    let after = console.screen().lines().nth(4).map(str::to_owned);
    let bare = |line: Option<String>| line.map(|line| line.replace('▴', " "));
    assert_eq!(bare(before), bare(after), "the columns stay where they are");
    console.on(Theme {
        colour: false,
        ascii: true,
        ..Theme::default()
    });
    assert_eq!(highlighted(&console, 6), "Acmeacme");
    let cells = console.buffer().content();
    assert!(cells.iter().all(|cell| cell.fg == Color::Reset));
}
