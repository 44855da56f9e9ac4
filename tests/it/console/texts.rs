//! Every text of the corpus in every place of the console: a place shows the same fields of a hostile group as of a
//! harmless one.

use std::collections::btree_map::Entry;

use super::{NOW, open, prelude::*};
use crate::support::texts::{a_world_at, found};

/// Room for everything.
const ROOMY: (u16, u16) = (300, 60);
const USUAL: (u16, u16) = (80, 24);
const NARROW: (u16, u16) = (41, 9);

/// The first texts of the corpus are harmless.
const HARMLESS: usize = 2;

/// Places that the usual scripts do not reach.
const MORE: [(&str, Focus); 1] = [("t4", Focus::Requests)];

/// All places but the result of a rotation: a group rotated today is no candidate for a bulk rotation.
fn places() -> Vec<(&'static str, Focus)> {
    let all = crate::support::console::places().chain(MORE);
    all.filter(|(_, focus)| *focus != Focus::RotateResult)
        .collect()
}

/// The place with the cursor on a group of the corpus.
async fn at(world: &World, number: usize, script: &str, focus: Focus) -> Console {
    let mut console = open(world, Side::Testing, USUAL).await;
    let down = "<down>".repeat(number);
    // The history of the group: that of all groups is longer than a screen.
    let script = if script == "2" { "<enter>2" } else { script };
    let (first, rest) = match script.strip_prefix("P<down><enter>") {
        Some(rest) => ("P<down><enter>", rest),
        None => ("", script),
    };
    console.keys(first).await.burst(&down).keys(rest).await;
    let there = console.runner.app.top().focus();
    assert_eq!(there, focus, "{script}:\n{}", console.screen());
    console
}

#[tokio::test(flavor = "multi_thread")]
async fn every_text_in_every_place() {
    let world = a_world_at(NOW).await;
    let mut cases = Vec::new();
    for number in HARMLESS..CORPUS.len() {
        for (place, (script, focus)) in places().into_iter().enumerate() {
            cases.push((number, place, script, focus));
        }
    }
    let all = cases.len();
    assert!(all >= 600, "{all}");
    // Every place with some texts, every text in some places.
    let mut cases = long::spread(cases, 23);
    // Places that change something come after those that need the group unchanged.
    cases.sort_by_key(|(_, place, ..)| *place);
    // The fields that a place shows of a long text, and of a short one.
    let mut shows = BTreeMap::new();
    let mut fields = 0;
    for (number, place, script, focus) in &cases {
        let (what, text) = CORPUS[*number];
        let at_place = format!("{what} in {script:?}");
        let mut console = at(&world, *number, script, *focus).await;
        console.resize(ROOMY);
        let seen = found(&console.screen(), text);
        let like = usize::from(width(&shown(text)[0]) <= CORPUS[1].1.len());
        if let Entry::Vacant(vacant) = shows.entry((*place, like)) {
            let mut console = at(&world, like, script, *focus).await;
            console.resize(ROOMY);
            vacant.insert(found(&console.screen(), CORPUS[like].1));
        }
        let expected = &shows[&(*place, like)];
        let missing: Vec<_> = expected
            .iter()
            .filter(|field| !seen.contains(field))
            .collect();
        // Which drafts are announced, which concerns and batches are listed and which groups a bulk edit leaves out
        // depends on what was typed before; and a box covers what is below it.
        let is_of_now = matches!(
            focus,
            Focus::Messages | Focus::Message | Focus::Attention | Focus::Batches
        ) || focus.name().starts_with("bulk_edit")
            || console.runner.app.top_pane().is_box()
            // An id over 40 cells is cut in its middle.
            || *script == "<enter>4";
        assert!(
            is_of_now || missing.is_empty(),
            "{missing:?} of {at_place}:\n{}",
            console.screen()
        );
        fields += seen.len();
        for size in [ROOMY, USUAL, NARROW] {
            // It is the first of them already.
            if size != ROOMY {
                console.resize(size);
            }
            assert_screen(&console, &at_place);
            assert_harmless(&console.screen(), &at_place);
            // The largest size costs most of the time, and the others cut more.
            if size != ROOMY || long::all() {
                assert_in_columns(console.buffer(), &at_place);
            }
        }
    }
    println!(
        "{} of {all} cases, {fields} fields shown: {shows:?}",
        cases.len()
    );
    assert!(long::all() || cases.len() >= 60);
    assert!(fields > cases.len(), "{fields}");
}
