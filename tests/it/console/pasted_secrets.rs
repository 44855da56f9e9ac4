//! The canary: a token, whole and cut, with and without brackets and typed, in every place of the console. Afterwards it
//! is on no screen and in no file.

use groupdesk::{
    domain::token::Token,
    operations::UnknownIdPolicy,
    tui::{keymap::Focus, state::message::Msg},
};

use super::scene::{USUAL, a_world, both, open};
use crate::support::{
    console::{Console, PLACES, parse},
    world::{Side, World, files_below, id},
};

/// Digits of a part of a token that count as a find.
const PART: usize = 16;
/// Data of a group may have long hex digits of its own: a part of a token is seen there while it is typed, and not kept.
const DATA: [Focus; 11] = [
    Focus::EditName,
    Focus::EditMapping,
    Focus::EditCell,
    Focus::EditProperties,
    Focus::EditRows,
    Focus::EditType,
    Focus::Open,
    Focus::BulkEditField,
    Focus::BulkTyped,
    Focus::RotateTyped,
    Focus::BulkEditTyped,
];

fn parts(token: &str) -> Vec<String> {
    let parts = token.as_bytes().windows(PART);
    parts
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}

/// Their scripts rotate, which works once a day.
const ROTATES: [Focus; 2] = [Focus::RotateResult, Focus::BulkRun];

/// The token of acme-eu in testing, which the directory knows.
async fn token_of_acme(world: &World) -> String {
    let operations = both(world).swap_remove(0);
    let acme = id("acme-eu");
    let read = operations.look_up(&acme, UnknownIdPolicy::KnownOnly);
    let token = read.await.expect("read").token;
    token
        .as_ref()
        .map(Token::expose)
        .expect("a token")
        .to_owned()
}

#[track_caller]
fn assert_hidden(console: &Console, parts: &[String], how: &str, focus: Focus) {
    let screen = console.screen();
    let shown = parts.iter().any(|part| screen.contains(part.as_str()));
    assert!(!shown, "{how} in {focus:?}:\n{screen}");
    let said = console.runner.app.context.messages.all();
    for message in said {
        let text = format!("{message:?}");
        assert!(
            !parts.iter().any(|part| text.contains(part.as_str())),
            "{how} in {focus:?}: {text}"
        );
    }
}

async fn enter_everywhere(input: impl Fn(&str) -> Msg, how: &str) {
    let mut world = a_world().await;
    let mut secrets = Vec::new();
    for (script, focus) in PLACES {
        if ROTATES.contains(&focus) {
            scan(&world, &mut secrets);
            world = a_world().await;
        }
        let whole = token_of_acme(&world).await;
        let cut = whole[5..33].to_owned();
        let texts = if ROTATES.contains(&focus) {
            vec![&whole]
        } else {
            vec![&whole, &cut]
        };
        for text in texts {
            let mut console = open(&world, Side::Testing, USUAL).await;
            console.keys(script).await;
            assert_eq!(console.runner.app.top().focus(), focus, "{script}");
            let is_whole = text.len() == whole.len();
            let found = parts(text);
            console.runner.take(input(text));
            console.settle().await;
            let is_data = DATA.contains(&focus);
            // A text of JSON may have such digits, and is refused when it is reviewed.
            let is_json = focus == Focus::EditProperties && how == "typed at once";
            if is_whole && !is_json || !is_data {
                assert_hidden(&console, &found, how, focus);
            }
            if !is_data {
                console.keys("<enter>").await;
                assert_hidden(&console, &found, how, focus);
            }
            console.keys("<esc><esc><esc>").await;
            secrets.extend(found);
            forget_drafts(&world).await;
        }
    }
    scan(&world, &mut secrets);
}

/// What was typed before it looked like a token is a draft; the next place begins without it.
async fn forget_drafts(world: &World) {
    let operations = both(world).swap_remove(0);
    for kept in operations.drafts().await.expect("readable") {
        let (id, at) = (kept.draft.user_group_id, kept.draft.changed_at);
        operations.forget_draft(&id, at).await.expect("forgotten");
    }
}

/// Looks for the parts in every file of the home: the directory with its log, the configuration, reports.
fn scan(world: &World, secrets: &mut Vec<String>) {
    let files = files_below(&world.installations()).expect("readable");
    assert!(!files.is_empty(), "nothing was looked at");
    secrets.sort();
    secrets.dedup();
    for some in secrets.chunks(1000) {
        world.scan_installations(some);
    }
    secrets.clear();
}

#[tokio::test]
async fn a_pasted_token_is_shown_and_kept_nowhere() {
    enter_everywhere(|text| Msg::Paste(text.to_owned()), "pasted").await;
}

#[tokio::test]
async fn a_token_pasted_without_brackets_is_shown_and_kept_nowhere() {
    enter_everywhere(|text| Msg::Burst(parse(text)), "typed at once").await;
}

/// The next key after a burst that was refused was part of it; nothing of it opened or changed anything.
#[tokio::test]
async fn a_burst_on_a_page_without_a_field_does_nothing_and_says_so() {
    let mut world = a_world().await;
    for (script, focus) in PLACES {
        if ROTATES.contains(&focus) {
            world = a_world().await;
        }
        let mut console = open(&world, Side::Testing, USUAL).await;
        console.keys(script).await;
        if focus.takes_text() {
            continue;
        }
        let depth = console.runner.app.stack.len();
        console
            .runner
            .take(Msg::Burst(parse("aTdey0123456789\nq<enter>yX")));
        console.settle().await;
        assert_eq!(console.runner.app.top().focus(), focus, "{script}");
        assert_eq!(console.runner.app.stack.len(), depth, "{script}");
        let said = console.runner.app.context.messages.all().next();
        let said = said.map(|said| said.text.clone()).unwrap_or_default();
        assert!(
            said.contains("look like a paste; nothing was done"),
            "{script}: {said}"
        );
    }
}

/// A token that begins with the key of the note, and the line break that would save it.
#[tokio::test]
async fn a_token_is_not_taken_as_keys_and_words_ahead_are() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    let token = format!("a{}", &"9f86d081884c7d65".repeat(4)[1..]);
    console
        .runner
        .take(Msg::Burst(parse(&format!("{token}<enter>"))));
    console.settle().await;
    assert_eq!(console.runner.app.top().focus(), Focus::List);
    // In a field it is typed, and what Enter would do with it is refused.
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("/").await;
    console
        .runner
        .take(Msg::Burst(parse(&format!("{token}<enter>"))));
    console.settle().await;
    console.shows("That is a token, or looks like one");
    assert_eq!(console.runner.app.top().focus(), Focus::Filter);
    console.keys("acme<enter>").await;
    console.shows("acme-eu");
}

/// An id of long hex digits that is known is no token.
#[tokio::test]
async fn a_known_id_that_looks_like_a_part_of_a_token_is_found_and_kept() {
    let world = a_world().await;
    let hex = "65f2a1b3c4d5e6f708192a3b";
    let operations = both(&world).swap_remove(0);
    let empty = groupdesk::domain::change::DesiredFields::default();
    operations.create(&id(hex), &empty).await.expect("created");
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("/").await.paste(hex).await;
    console.keys("<enter>").await.shows(&format!("/{hex}"));
    let console = open(&world, Side::Testing, USUAL).await;
    console.shows(&format!("/{hex}"));
}
