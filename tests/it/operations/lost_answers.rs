//! A rotation whose answer is lost, mangled or false: settled by reading, never by rotating again, and never sent
//! twice.

use super::*;

fn error(status: &str) -> Then {
    let body = json!({"success": 0, "error": {"code": "odd", "message": "so it says"}});
    let headers = ["Content-Type: application/json"];
    Then::Instead(http(status, &headers, body.to_string()))
}

/// Answers without any meaning, or with none that counts.
fn unclear() -> Vec<(&'static str, Then)> {
    let page = |status, header, body| Then::Instead(http(status, &[header], body));
    let html = "Content-Type: text/html";
    vec![
        ("dropped", Then::Drop),
        ("reset", Then::Reset),
        (
            "a page of a proxy",
            page("502 Bad Gateway", html, "<html>502</html>"),
        ),
        ("a login page", page("200 OK", html, "<html>login</html>")),
        ("a redirect", page("307 Moved", "Location: /elsewhere", "")),
        ("HTTP 500", error("500 Internal Server Error")),
        ("HTTP 418", error("418 Teapot")),
    ]
}

fn refusals() -> Vec<(&'static str, Then)> {
    vec![
        ("success 0", error("200 OK")),
        ("HTTP 403", error("403 Forbidden")),
        ("HTTP 404", error("404 Not Found")),
        ("HTTP 422", error("422 Unprocessable")),
    ]
}

#[tokio::test]
async fn applied_and_the_answer_lost_ends_recovered_with_the_new_token() {
    let mut cases = unclear();
    cases.extend(refusals());
    cases.push(("half a body", Then::Half));
    for (what, then) in long::sampled(cases, module_path!(), 7) {
        let scene = Scene::new().await;
        let old = scene.current();
        scene.proxy.next("POST", ProxyFault::applied(then));
        let done = rotate(&scene.ana).await;
        let done = done.unwrap_or_else(|failure| panic!("{what}: {failure}"));
        assert_eq!(done.ending, Ending::Recovered, "{what}");
        assert_eq!(exposed(&done), scene.token(), "{what}");
        assert_eq!(done.warnings, [], "{what}: it is explained");
        assert_eq!(scene.proxy.methods(), ["GET", "POST", "GET"], "{what}");
        assert_eq!(scene.states().await, [State::Recovered], "{what}");
        let fingerprint = scene.journal().await[0].rotation.fingerprint;
        assert_eq!(fingerprint, Some(scene.current()), "{what}");
        assert_eq!(done.previous_fingerprint, Some(old), "{what}");
        let ended = [Ending::Unknown, Ending::Recovered];
        let expected = ended.map(|ending| (Operation::Rotate, ending));
        assert_eq!(scene.history().await, expected, "{what}");
        let confirmed = scene.ana.confirm(done).await;
        assert_eq!(confirmed.ending, Ending::Recovered, "{what}");
        scene.check().await;
    }
}

#[tokio::test]
async fn not_applied_and_the_answer_lost_stays_open_and_nothing_more_is_sent() {
    for (what, then) in long::sampled(unclear(), module_path!(), 7) {
        let scene = Scene::new().await;
        let old = scene.token();
        scene.proxy.next("POST", ProxyFault::swallowed(then));
        let failure = rotate(&scene.ana).await.expect_err(what);
        let said = failure.to_string();
        assert_is!(
            failure,
            Failure::Unknown {
                operation: "rotation",
                ..
            },
            "{what}: {said}"
        );
        assert_has(&said, "Never rotate again to find out");
        assert_eq!(scene.states().await, [State::Unknown], "{what}");
        let only = [(Operation::Rotate, Ending::Unknown)];
        assert_eq!(scene.history().await, only, "{what}");
        let failure = rotate(&scene.ana).await.expect_err("taken");
        let Failure::RotationTaken { state, by, .. } = &failure else {
            panic!("{what}: {failure}");
        };
        assert_eq!((*state, &**by), (State::Unknown, scene.ana.operator()));
        assert_eq!(scene.proxy.count("POST"), 1, "{what}");
        assert_eq!(scene.token(), old);
        assert_eq!(scene.ana.open_rotations().await.expect("readable").len(), 1);
        scene.check().await;
    }
}

#[tokio::test]
async fn the_next_rotate_settles_an_applied_rotation_instead_of_rotating_again() {
    let scene = Scene::new().await;
    scene.proxy.next("POST", unanswered());
    // The get that would settle it is lost, too.
    scene.next("GET", [ProxyFault::passed(), lost()]);
    assert_unknown(&rotate(&scene.ana).await);
    assert_eq!(scene.states().await, [State::Unknown]);
    let new = scene.token();
    let failure = rotate(&scene.ana).await;
    let Err(Failure::TokenChanged { settled, .. }) = failure else {
        panic!("{failure:?}");
    };
    assert_eq!(settled, [Ending::Recovered]);
    assert_eq!(scene.states().await, [State::Recovered]);
    assert_eq!(scene.token(), new);
    assert_eq!(scene.proxy.count("POST"), 1);
    scene.check().await;
}

#[tokio::test]
async fn a_true_refusal_is_reported_and_can_be_tried_again() {
    for (what, then) in long::sampled(refusals(), module_path!(), 4) {
        let scene = Scene::new().await;
        scene.proxy.next("POST", ProxyFault::swallowed(then));
        let failure = rotate(&scene.ana).await.expect_err(what);
        let Failure::Refused { words, .. } = &failure else {
            panic!("{what}: {failure}");
        };
        assert_eq!(words.as_deref(), Some("so it says"), "{what}");
        let ended = [Ending::Unknown, Ending::NotApplied];
        let expected = ended.map(|ending| (Operation::Rotate, ending));
        assert_eq!(scene.history().await, expected, "{what}");
        assert_has(&scene.history_notes().await[0], "so it says");
        let done = rotate(&scene.ana).await.expect("rotated");
        assert_eq!(done.ending, Ending::Rotated, "{what}");
        assert_eq!(scene.states().await, [State::NotApplied, State::Rotated]);
        scene.check().await;
    }
}

#[tokio::test]
async fn an_answer_about_another_group_or_environment_is_a_conflict() {
    let other = ProxyFault::change(|body| body["user_group"]["provided_id"] = json!("globex"));
    for (expected, fault) in [("globex", other), ("Customer", tagged("Customer"))] {
        let scene = Scene::new().await;
        let known = scene.known().await.fingerprint.map(|known| known.value);
        scene.proxy.next("POST", fault);
        let failure = rotate(&scene.ana).await.expect_err("a conflict");
        assert_is!(failure, Failure::Conflict { .. });
        assert_has(&failure.to_string(), expected);
        assert_eq!(scene.states().await, [State::Conflict]);
        assert_eq!(
            scene.history().await,
            [(Operation::Rotate, Ending::Conflict)]
        );
        assert_has(&scene.history_notes().await[0], expected);
        let now = scene.known().await.fingerprint.map(|now| now.value);
        assert_eq!(now, known, "nothing is recorded");
        assert_eq!(scene.proxy.methods(), ["GET", "POST"]);
        scene.check().await;
    }
}

#[tokio::test]
async fn a_success_with_the_old_token_is_not_applied_and_of_another_environment_a_conflict() {
    for (tag, state) in [
        ("Testing", State::NotApplied),
        ("Customer", State::Conflict),
    ] {
        let scene = Scene::new().await;
        let body = json!({"success": 1, "user_group": {
            "token": scene.token(), "provided_id": ACME, "api_environment_tag": tag}});
        let then = Then::Instead(http("200 OK", &[], body.to_string()));
        scene.proxy.next("POST", ProxyFault::swallowed(then));
        let failure = rotate(&scene.ana).await.expect_err("not rotated");
        if state == State::NotApplied {
            assert_is!(failure, Failure::NotApplied { .. });
            assert_has(&failure.to_string(), "returned the old token");
        } else {
            assert_is!(failure, Failure::Conflict { .. });
        }
        assert_eq!(scene.states().await, [state]);
        scene.check().await;
    }
}

#[tokio::test]
async fn a_group_that_vanished_while_the_answer_was_lost_is_a_conflict_not_a_recovery() {
    let scene = Scene::new().await;
    let gate = Gate::new();
    scene.proxy.next("POST", unanswered().behind(&gate));
    let here = scene.ana.clone();
    let rotating = tokio::spawn(async move { rotate(&here).await });
    gate.reached().await;
    scene.world.vanish(Side::Testing, ACME);
    gate.open();
    let failure = rotating.await.expect("it ends").expect_err("a conflict");
    assert_is!(failure, Failure::Conflict { .. });
    assert_has(&failure.to_string(), "CREATED");
    assert_eq!(scene.states().await, [State::Conflict]);
    let ended = scene.history().await.into_iter();
    let expected = [Ending::Unknown, Ending::Conflict, Ending::CreatedByGet];
    assert!(ended.map(|(_, ending)| ending).eq(expected));
    scene.check().await;
}

/// The refusal is false, and the get that seems to prove it true was answered before the rotation was applied.
#[tokio::test]
async fn a_get_answered_before_the_refusal_does_not_settle_it() {
    let scene = Scene::new().await;
    let early = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&early));
    let here = scene.ana.clone();
    let reading = tokio::spawn(async move { look_up(&here).await });
    early.reached().await;
    scene.next("GET", [ProxyFault::passed(), lost()]);
    let refused = ProxyFault::applied(error("403 Forbidden"));
    scene.proxy.next("POST", refused);
    assert_unknown(&rotate(&scene.ana).await);
    early.open();
    let read = reading.await.expect("it ends").expect("an answer");
    let is_open = |warning: &Warning| matches!(warning, Warning::RotationOpen { .. });
    assert!(has(&read, is_open), "{:?}", read.warnings);
    assert_eq!(scene.states().await, [State::Unknown], "it proves nothing");
    let found = look_up(&scene.ana).await.expect("found");
    let ending = Ending::Recovered;
    assert_eq!(found.warnings, [Warning::RotationSettled { ending }]);
    assert_eq!(exposed(&found), scene.token());
    scene.check().await;
}
