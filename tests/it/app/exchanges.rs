//! Messages, the requests they are about, and the request inspector, as pure state.

use std::time::Duration;

use groupdesk::{
    domain::history::Ending,
    operations::{Body, Call, ExchangeKind, RecordedExchange},
    tui::state::{
        exchanges::KEPT,
        message::{Effect, Job, Msg, Ticket},
        notices::Severity,
    },
};

use super::scene::{Scene, TESTING, TOKEN, failed};

fn body(text: &str, is_masked: bool) -> Body {
    Body {
        text: text.into(),
        size: text.len(),
        is_cut: false,
        is_masked,
    }
}

/// The exchange that a job of the scene makes, with a good answer; `None` where it sends nothing.
pub(super) fn sent(ticket: Ticket, job: &Job) -> Option<RecordedExchange> {
    let (call, id) = match job {
        Job::LookUp(id) => (Call::GetOrCreate, id),
        Job::Create(id, _) => (Call::Create, id),
        Job::Update { id, .. } => (Call::Update, id),
        Job::Rotate { id, .. } => (Call::Rotate, id),
        _ => return None,
    };
    Some(RecordedExchange {
        number: 0,
        about: ticket.0,
        profile: "testing".into(),
        call,
        id: Some(id.to_string()),
        url: "https://groups.example.com/api/user".into(),
        request: match call {
            Call::Rotate => body("{\n  \"current_token\": \"****#1\"\n}", true),
            Call::GetOrCreate | Call::Create | Call::Update | Call::Probe => {
                body(&format!("{{\n  \"user_group_id\": \"{id}\"\n}}"), false)
            }
        },
        proxied: false,
        status: Some(200),
        headers: vec![("content-type".into(), "application/json".into())],
        answer: Some(body("{\n  \"success\": 1\n}", false)),
        duration: Duration::from_millis(7),
        kind: ExchangeKind::Done,
        words: String::new(),
    })
}

fn refused(ticket: Ticket) -> RecordedExchange {
    let job = Job::LookUp(crate::support::world::id("acme-eu"));
    RecordedExchange {
        status: Some(403),
        kind: ExchangeKind::Refused,
        words: "the service refused (HTTP 403)".into(),
        answer: Some(body("{\n  \"error\": \"no\"\n}", false)),
        ..sent(ticket, &job).expect("it sends")
    }
}

#[test]
fn the_inspector_lists_requests_and_shows_one_in_full() {
    let mut scene = Scene::on(TESTING);
    scene.walk("4").shows("Nothing was sent yet");
    scene.walk("<esc><enter><esc>4");
    scene.shows("GET get").shows("acme-eu").shows("200");
    scene.walk("<enter>");
    scene
        .shows("GET https://groups.example.com/api/user")
        .shows("\"user_group_id\": \"acme-eu\"")
        .shows("HTTP 200")
        .shows("\"success\": 1");
    let effects = scene.keys("c");
    let [Effect::Copy(curl)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(curl.expose().contains("--request GET"), "{}", curl.expose());
    assert!(curl.expose().contains("$GROUPDESK_API_KEY"));
    scene.walk("<esc><esc>tTy<esc>4");
    scene.shows("POST rotate").shows("get");
    scene
        .walk("c")
        .says("a rotation is not copied: its body is a token");
    assert!(!scene.screen().contains(TOKEN));
}

#[test]
fn the_cursor_stays_on_its_row_and_the_ring_drops_the_oldest() {
    let mut scene = Scene::on(TESTING);
    for number in 1..=3 {
        scene.msg(Msg::Exchanged(vec![RecordedExchange {
            id: Some(format!("group-{number}")),
            ..refused(Ticket(900))
        }]));
    }
    scene.walk("4<down>");
    let chosen = |scene: &Scene| {
        let screen = scene.screen();
        let line = screen.lines().find(|line| line.starts_with('>'));
        line.map(str::to_owned).unwrap_or_default()
    };
    assert!(chosen(&scene).contains("group-2"), "{}", chosen(&scene));
    scene.msg(Msg::Exchanged(vec![refused(Ticket(900))]));
    assert!(chosen(&scene).contains("group-2"), "{}", chosen(&scene));
    let many = (0..KEPT + 50).map(|_| refused(Ticket(900))).collect();
    scene.msg(Msg::Exchanged(many));
    assert_eq!(scene.app.context.exchanges.all().len(), KEPT);
    scene.shows("200 this session");
    assert_eq!(scene.app.context.exchanges.of(Ticket(900)).count(), KEPT);
}

#[test]
fn a_failure_is_in_the_message_log_with_its_request_even_if_the_pane_shows_it() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    let (ticket, ..) = scene.pending[0];
    scene.msg(Msg::Exchanged(vec![refused(ticket)]));
    scene.answer_with(failed(
        "the service refused (403): no; nothing was changed",
        Some(Ending::Refused),
    ));
    scene.walk("m").shows("the service refused (403): no");
    scene.walk("<enter>");
    scene
        .shows("the service refused (403): no; nothing was changed")
        .shows("GET https://groups.example.com/api/user")
        .shows("HTTP 403");
    scene.walk("G").shows("\"error\": \"no\"");
    scene.walk("<esc><esc>");
    assert_eq!(scene.focus(), "Group");
}

#[test]
fn a_long_message_is_shown_in_full_and_one_without_a_request_says_so() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    let words = (0..40).map(|number| format!("word-{number}"));
    let long = words.collect::<Vec<_>>().join(" ");
    scene.answer_with(failed(&long, None));
    scene.walk("m").shows("word-0 ").shows("word-39");
    scene
        .walk("<enter>")
        .shows("No request belongs to it.")
        .shows("word-39");
}

#[test]
fn the_cursor_of_the_messages_is_always_visible() {
    for size in [(80, 24), (40, 10), (40, 8)] {
        let mut scene = Scene::on(TESTING);
        scene.app.context.size = size;
        for _ in 0..30 {
            let count = scene.app.context.messages.all().len();
            scene
                .app
                .context
                .say(Severity::Info, format!("message {count}"));
        }
        scene.walk("m");
        for _ in 0..35 {
            assert!(
                scene.screen().contains(" >"),
                "{size:?}:\n{}",
                scene.screen()
            );
            scene.walk("<down>");
        }
        scene.walk("<enter>");
        assert_eq!(scene.focus(), "Message");
    }
}
