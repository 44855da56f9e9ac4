//! Notes on the command line. Every command in the demo's world: `contract`.

use super::program::Home;

#[tokio::test]
async fn a_note_is_replaced_only_if_it_is_the_expected_one() {
    let (home, _held) = Home::in_demo().await;
    home.exits(0, "note acme-eu first").await;
    let refused = home.exits(2, "note acme-eu second --if-note ''").await;
    refused.says("Note not saved: it was changed by");
    refused.says("\"first\"");
    let written = home.exits(0, "note acme-eu second --if-note first").await;
    written.prints("second\n").says("was: first (");
    home.exits(2, "note acme-eu --remove --if-note first").await;
    home.exits(2, "note acme-eu --if-note second").await;
}
