//! More groups than are read at once.

use super::prelude::*;
use crate::support::at_once::demo;

#[tokio::test]
async fn a_long_list_is_read_completely_and_can_be_filtered() {
    let clock = Clock::Fixed(NOW);
    let world = demo(Some(2_500), clock).await.expect("a world");
    let operations = vec![world.testing.clone()];
    let mut console = Console::open_at(operations, 0, (80, 24), Theme::default(), clock).await;
    console.settle().await;
    console.shows("2500 groups").hides("reading");
    let first = console.screen();
    console.keys("s").await.keys("s").await.keys("G").await;
    console.keys("/2499").await;
    console.shows_all([" of 2500", "Initech Parts 2499"]);
    console.keys("<esc><esc>").await.shows("2500 groups");
    assert!(first.lines().any(|line| line.contains("Acme")), "{first}");
    // Written while the list is read again: whichever ends first, the label stays.
    for label in ["one", "two", "three"] {
        console.burst("r");
        let note = format!("a<tab>{label}<enter>");
        console.burst(&note).settle().await;
        console.shows(&format!("#{label}"));
    }
    console.shows("2500 groups").hides("reading");
    drop(console);
    world.end().await;
}
