//! Exporting the list to a file: the marked or shown groups, without tokens, in the formats that `import` and `apply`
//! read.

use groupdesk::formats::{Reader, RowResult};

use super::prelude::*;

/// The ids of a file, read as `import` reads it.
fn ids(text: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut take = |read: RowResult| ids.push(read.row.expect("a good row").id.to_string());
    let mut reader = Reader::default();
    reader.push(text.as_bytes(), &mut take).expect("a file");
    reader.end(&mut take).expect("a whole file");
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn the_marked_groups_are_written_without_tokens_and_nothing_is_sent() {
    let world = a_world().await;
    let token = world.stored(Side::Testing, "acme-us").token;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("j<space>j<space>w").await;
    console.shows("2 groups (marked), without tokens; nothing is sent");
    console.keys("<esc>").await;
    let file = world.folder().join("two.csv");
    let console = write_to(&mut console, &file).await;
    console.shows("2 groups saved to");
    let text = std::fs::read_to_string(&file).expect("written");
    assert_eq!(ids(&text), ["acme-us", "globex-retail"]);
    assert!(!text.contains(&token));
    assert_private(&file);
    console.keys("4").await;
    console.hides("GET").hides("PUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_marks_the_shown_groups_are_written_and_no_file_is_replaced() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("/acme<enter>").await;
    let file = world.folder().join("acme");
    write_to(&mut console, &file)
        .await
        .shows("groups (shown)")
        .shows("the name must end in .jsonl, .json or .csv");
    console.keys(".json<enter>").await.shows("saved to");
    let file = file.with_extension("json");
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(!ids(&text).is_empty());
    assert!(ids(&text).iter().all(|id| id.contains("acme")));
    assert!(text.starts_with('['));

    // The second time the file exists already, and is not changed.
    let console = write_to(&mut console, &file).await;
    console.shows("the export was not written");
    console.keys("<esc>").await.shows("Nothing was saved");
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), text);
}
