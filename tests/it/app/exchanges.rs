//! Messages, the requests they are about, and the request inspector, as pure state.

use groupdesk::operations::{Body, Call};

use super::prelude::*;

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
    let mut scene = Scene::walked(TESTING, "4");
    scene.shows("Nothing has been sent yet");
    scene.walk("<esc><enter><esc>4");
    scene.shows_all(["GET get", "acme-eu", "200"]);
    scene.walk("<enter>").shows_all([
        "GET https://groups.example.com/api/user",
        "\"user_group_id\": \"acme-eu\"",
        "HTTP 200",
        "\"success\": 1",
    ]);
    let effects = scene.keys("c");
    let [Effect::Copy(curl)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(curl.expose().contains("--request GET"), "{}", curl.expose());
    assert!(curl.expose().contains("$GROUPDESK_API_KEY"));
    scene.walk("<esc><esc>tTy<esc>4");
    scene.shows_all(["POST rotate", "get"]);
    scene
        .walk("c")
        .says("a rotation is not copied: its body is a token")
        .hides(TOKEN);
    // Failed requests are found by a key.
    let scene = Scene::walked(TESTING, "<enter><esc>4f");
    scene.shows_all(["No such request", "failed only", "f all"]);
}

#[test]
fn the_ring_drops_the_oldest() {
    let mut scene = Scene::on(TESTING);
    let many = (0..KEPT + 50).map(|_| refused(Ticket(900))).collect();
    scene.msg(Msg::Exchanged(many));
    assert_eq!(scene.app.context.exchanges.all().len(), KEPT);
    scene.walk("4").shows("200 this session");
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
    scene.walk("<enter>").shows_all([
        "the service refused (403): no; nothing was changed",
        "GET https://groups.example.com/api/user",
        "HTTP 403",
    ]);
    scene.walk("G").shows("\"error\": \"no\"");
    scene.walk("<esc><esc>").at("Group");
}

#[test]
fn a_long_message_is_shown_in_full_and_one_without_a_request_says_so() {
    let mut scene = Scene::on(TESTING);
    let words = (0..40).map(|number| format!("word-{number}"));
    let long = words.collect::<Vec<_>>().join(" ");
    scene.open("<enter>", failed(&long, None));
    scene.walk("m").shows_all(["word-0 ", "word-39"]);
    scene.walk("<enter>");
    scene.shows_all(["No request belongs to this message.", "word-39"]);
}
