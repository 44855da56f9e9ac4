//! The canary: a token, whole and cut, with and without brackets, at once and key by key, in every place of the console.
//! Afterwards it is on no screen and in no file.

mod reach;

use groupdesk::domain::token::Token;

use self::reach::reach;
use super::{prelude::*, scene::both};
use crate::support::{console::ELSEWHERE, world::files_below};

/// Characters of a part of a token that count as a find.
const PART: usize = 16;
/// Characters at the beginning of a token of the service that count as a find in a file.
const BEGINNING: usize = 10;
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

/// Tokens of other services: a UUID, a signed token, letters with signs. Each is of a group of its own.
const SHAPES: [(&str, &str); 3] = [
    ("zz-uuid", "b94d27b9-934e-4e08-a52e-52d7da7dabfa"),
    (
        "zz-signed",
        "eyJhbGciOiJIUzI1NiJ9.eyJncm91cCI6ImFjbWUtZXUiLCJ2IjoxfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    ),
    ("zz-signs", "Tok/en+4e8A==.Zq_7~Kx!aB3"),
];

/// How a text arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Pasted,
    /// Without brackets.
    AtOnce,
    KeyByKey,
}

/// A world whose directory knows tokens of every shape.
pub(super) struct Scene {
    pub(super) world: World,
    pub(super) proxy: FaultyProxy,
    /// Has had the tokens in memory.
    pub(super) reader: Operations,
    /// Whole tokens, the one of the real service first.
    tokens: Vec<String>,
}

impl Scene {
    async fn new() -> Self {
        let world = a_world().await;
        let (proxy, reader) = through_a_proxy(&world).await;
        let acme = id("acme-eu");
        let read = reader.look_up(&acme, UnknownIdPolicy::KnownOnly).await;
        let token = read.expect("read").token().cloned();
        let token = token.as_ref().map(Token::expose).expect("a token");
        let mut tokens = vec![token.to_owned()];
        for (group, token) in SHAPES {
            let body = json!({"success": 1, "new_user_group": false, "user_group": {"team_id": 7, "token": token,
                "name": group, "provided_id": group, "properties": {}, "api_environment_tag": "Testing"}});
            let answer = http(
                "200 OK",
                &["Content-Type: application/json"],
                body.to_string(),
            );
            proxy.next("GET", ProxyFault::swallowed(Then::Instead(answer)));
            let read = reader.look_up(&id(group), UnknownIdPolicy::Exists).await;
            let read = read.expect("read").token().cloned();
            assert_eq!(read.as_ref().map(Token::expose), Some(token));
            tokens.push(token.to_owned());
        }
        Self {
            world,
            proxy,
            reader,
            tokens,
        }
    }

    /// Each token, whole and cut.
    fn texts(&self) -> Vec<String> {
        let texts = |token: &String| [token.clone(), token[3..token.len() - 3].to_owned()];
        self.tokens.iter().flat_map(texts).collect()
    }

    /// A console to enter this text. A part of a token is known only to who has had the token.
    async fn console(&self, text: &str) -> Console {
        let mut operations = both(&self.world);
        if !is_whole_token(text) {
            operations[0] = self.reader.clone();
        }
        open_with(operations).await
    }

    /// What was typed before it looked like a token is a draft; the next place begins without it.
    async fn forget_drafts(&self) {
        for kept in self.reader.drafts().await.expect("readable") {
            let (id, at) = (kept.draft.user_group_id, kept.draft.changed_at);
            self.reader.forget_draft(&id, at).await.expect("forgotten");
        }
    }

    /// Looks for all parts in every file of the home: the directory with its log, the configuration, reports.
    fn scan(&self) {
        let files = files_below(&self.world.installations()).expect("readable");
        assert!(!files.is_empty(), "nothing was looked at");
        let mut secrets: Vec<_> = self.tokens.iter().flat_map(|token| parts(token)).collect();
        // Its beginning is a part of it as well, before it is known for one.
        let whole = &self.tokens[0];
        secrets.extend([0, 3].map(|from| whole[from..from + BEGINNING].to_owned()));
        secrets.sort();
        secrets.dedup();
        self.world.scan_installations(&secrets);
    }
}

#[track_caller]
fn assert_hidden(console: &Console, parts: &[String], how: How, focus: Focus) {
    let screen = console.screen();
    let shown = parts.iter().any(|part| is_in(&screen, part));
    assert!(!shown, "{how:?} in {focus:?}:\n{screen}");
    let said = console.runner.app.context.messages.all();
    for message in said {
        let text = format!("{message:?}");
        assert!(
            !parts.iter().any(|part| is_in(&text, part)),
            "{how:?} in {focus:?}: {text}"
        );
    }
}

fn enter(console: &mut Console, text: &str, how: How) {
    match how {
        How::Pasted => {
            console.runner.take(Msg::Paste(text.to_owned()));
        }
        How::AtOnce => {
            console.runner.take(Msg::Burst(parse(text)));
        }
        How::KeyByKey => {
            console.burst(text);
        }
    }
}

/// Whether the text was entered into a field of data, in which long digits are nothing unusual: keys on a page may have
/// led into one.
fn is_data(console: &Console, how: How, focus: Focus) -> bool {
    let at = if how == How::KeyByKey {
        console.runner.app.top().focus()
    } else {
        focus
    };
    DATA.contains(&at)
}

/// Enters the text in the place where the console is, and takes it over.
async fn try_it(console: &mut Console, text: &str, how: How, focus: Focus) {
    let found = parts(text);
    let is_whole = is_whole_token(text);
    enter(console, text, how);
    console.settle().await;
    let is_data = is_data(console, how, focus);
    // A text of JSON may have such digits, and is refused when it is reviewed.
    let is_json = focus == Focus::EditProperties && how != How::Pasted;
    if is_whole && !is_json && focus.takes_text() || !is_data {
        assert_hidden(console, &found, how, focus);
    }
    if !is_data {
        console.keys("<enter>").await;
        if !DATA.contains(&console.runner.app.top().focus()) {
            assert_hidden(console, &found, how, focus);
        }
    }
    console.keys("<esc><esc><esc>").await;
}

/// Whether it is a token as a service makes it, not a part of one.
fn is_whole_token(text: &str) -> bool {
    text.len() == 64 || SHAPES.iter().any(|(_, token)| *token == text)
}

/// Letters on a page are its keys, and may rotate what they should not.
fn may_be_typed(text: &str, focus: Focus) -> bool {
    focus.takes_text() || text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

async fn enter_everywhere(how: How) {
    let mut scene = Scene::new().await;
    for (at, (script, focus)) in places().enumerate() {
        if ROTATES.contains(&focus) {
            scene.scan();
            scene = Scene::new().await;
        }
        // The real service's token everywhere, the others in turns, in another place for each way.
        let texts = scene.texts().into_iter().enumerate();
        let texts = texts.filter(|(number, _)| {
            let once = ROTATES.contains(&focus);
            let is_its_turn = long::all() || (number + at + how as usize).is_multiple_of(6);
            // A part of a token is known only to who has had it.
            *number == 0 || !once && (*number == 1 || is_its_turn)
        });
        for (_, text) in texts {
            if how == How::KeyByKey && !may_be_typed(&text, focus) {
                continue;
            }
            let mut console = scene.console(&text).await;
            console.keys(script).await;
            assert_eq!(console.runner.app.top().focus(), focus, "{script}");
            assert_has_field(&mut console, focus);
            try_it(&mut console, &text, how, focus).await;
            scene.forget_drafts().await;
        }
    }
    scene.scan();
}

/// What guards a field sees it only if the pane names it.
fn assert_has_field(console: &mut Console, focus: Focus) {
    // The text of JSON has no field; its draft is looked at. A type is chosen by its letter. Where a token is asked
    // for, it is masked instead of refused.
    let others = [Focus::EditProperties, Focus::EditType, Focus::Whose];
    if focus.takes_text() && !others.contains(&focus) {
        let pane = console.runner.app.stack.last_mut().expect("a pane");
        assert!(pane.view_mut().field().is_some(), "{focus:?}");
    }
}

#[tokio::test]
async fn a_pasted_token_is_shown_and_kept_nowhere() {
    Box::pin(enter_everywhere(How::Pasted)).await;
}

#[tokio::test]
async fn a_token_pasted_without_brackets_is_shown_and_kept_nowhere() {
    Box::pin(enter_everywhere(How::AtOnce)).await;
}

#[tokio::test]
async fn a_token_that_is_typed_is_shown_and_kept_nowhere() {
    Box::pin(enter_everywhere(How::KeyByKey)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_kept_nowhere_in_places_with_a_history() {
    for (at, focus) in ELSEWHERE.into_iter().enumerate() {
        let ways = [How::Pasted, How::AtOnce, How::KeyByKey].into_iter();
        // In a sample, two of the three ways in turns.
        for (_, how) in ways
            .enumerate()
            .filter(|(way, _)| long::all() || (at + way) % 3 != 0)
        {
            let scene = Scene::new().await;
            let whole = scene.tokens[0].clone();
            let mut reached = Box::pin(reach(&scene, focus)).await;
            let console = &mut reached.console;
            let there = console.runner.app.top().focus();
            assert_eq!(there, focus, "{}", console.screen());
            assert_has_field(console, focus);
            let found = parts(&whole);
            enter(console, &whole, how);
            if reached.is_waiting {
                console.draw();
            } else {
                console.settle().await;
            }
            if !is_data(console, how, focus) {
                assert_hidden(console, &found, how, focus);
            }
            reached.end().await;
            let console = &mut reached.console;
            console.keys("<enter>").await;
            if !is_data(console, how, focus) {
                assert_hidden(console, &found, how, focus);
            }
            scene.scan();
            for folder in &reached.folders {
                assert_absent(folder.path(), &found);
            }
        }
    }
}

#[track_caller]
fn assert_absent(folder: &std::path::Path, parts: &[String]) {
    for file in files_below(folder).expect("readable") {
        let text = std::fs::read(&file).expect("readable");
        let text = String::from_utf8_lossy(&text);
        let is_there = parts.iter().any(|part| is_in(&text, part));
        assert!(!is_there, "a part of it is in {}", file.display());
    }
}

/// The next key after a burst that was refused was part of it; nothing of it opened or changed anything.
#[tokio::test]
async fn a_burst_on_a_page_without_a_field_does_nothing_and_says_so() {
    let mut world = a_world().await;
    for (script, focus) in places() {
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
            said.contains("look like a paste; nothing was changed"),
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
