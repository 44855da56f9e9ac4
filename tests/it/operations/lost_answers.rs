//! A rotation whose answer is lost, mangled or false: settled by reading, never by rotating again, and never sent
//! twice.

use std::time::Duration;

use futures_util::future::join_all;
use groupdesk::{
    domain::{
        history::{Ending, Operation},
        rotation::State,
        token::Fingerprint,
    },
    operations::{Failure, UnknownIdPolicy, Warning},
};
use serde_json::{Value, json};

use super::{ACME, Scene, assert_unknown, exposed, has, history, look_up, rotate};
use crate::support::{
    faults::http,
    proxy::{ProxyFault, Then},
    world::{Side, id},
};

fn page() -> Then {
    let headers = ["Content-Type: text/html"];
    Then::Instead(http("502 Bad Gateway", &headers, "<html>502</html>"))
}

fn html() -> Then {
    Then::Instead(http(
        "200 OK",
        &["Content-Type: text/html"],
        "<html>login</html>",
    ))
}

fn redirect() -> Then {
    Then::Instead(http("307 Moved", &["Location: /elsewhere"], ""))
}

fn error(status: &str) -> Then {
    let body = json!({"success": 0, "error": {"code": "odd", "message": "so it says"}});
    let headers = ["Content-Type: application/json"];
    Then::Instead(http(status, &headers, body.to_string()))
}

/// Answers without any meaning, or with none that counts.
fn unclear() -> Vec<(&'static str, Then)> {
    vec![
        ("dropped", Then::Drop),
        ("reset", Then::Reset),
        ("a page of a proxy", page()),
        ("a login page", html()),
        ("a redirect", redirect()),
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
    for (what, then) in cases {
        let scene = Scene::new().await;
        let old = scene.token();
        scene.proxy.next("POST", ProxyFault::applied(then));
        let done = rotate(&scene.ana)
            .await
            .unwrap_or_else(|failure| panic!("{what}: {failure}"));
        assert_eq!(done.ending, Ending::Recovered, "{what}");
        assert_ne!(exposed(&done), old, "{what}");
        assert_eq!(exposed(&done), scene.token(), "{what}");
        assert_eq!(done.warnings, [], "{what}: it is explained");
        assert_eq!(scene.proxy.methods(), ["GET", "POST", "GET"], "{what}");
        assert_eq!(scene.states().await, [State::Recovered], "{what}");
        let fingerprint = done.group.fingerprint.as_ref().map(|known| known.value);
        assert_eq!(scene.journal().await[0].rotation.fingerprint, fingerprint);
        assert_ne!(done.previous_fingerprint, fingerprint);
        let expected = [
            (Operation::Rotate, Ending::Unknown),
            (Operation::Rotate, Ending::Recovered),
        ];
        assert_eq!(scene.history().await, expected, "{what}");
        let confirmed = scene.ana.confirm(done).await;
        assert_eq!(confirmed.ending, Ending::Recovered, "{what}");
        scene.check().await;
    }
}

#[tokio::test]
async fn an_answer_that_never_arrives_ends_with_the_time_out() {
    // At the same time, because each waits for its time limit: long enough for the read before it on a busy machine.
    let all = [true, false].map(async |applied| {
        let scene = Scene::with(|installation| installation.timeout(Duration::from_secs(10))).await;
        let fault = if applied {
            ProxyFault::applied
        } else {
            ProxyFault::swallowed
        };
        scene.proxy.next("POST", fault(Then::Hang));
        let result = rotate(&scene.ana).await;
        if applied {
            let done = result.expect("found out");
            assert_eq!(done.ending, Ending::Recovered);
            assert_eq!(exposed(&done), scene.token());
        } else {
            assert!(matches!(result, Err(Failure::Unknown { .. })), "{result:?}");
            assert_eq!(scene.states().await, [State::Unknown]);
        }
        assert_eq!(scene.proxy.count("POST"), 1);
        scene.check().await;
    });
    join_all(all).await;
}

#[tokio::test]
async fn not_applied_and_the_answer_lost_stays_open_and_nothing_more_is_sent() {
    for (what, then) in unclear() {
        let scene = Scene::new().await;
        let old = scene.token();
        scene.proxy.next("POST", ProxyFault::swallowed(then));
        let failure = rotate(&scene.ana).await.expect_err(what);
        let said = failure.to_string();
        assert!(
            matches!(
                failure,
                Failure::Unknown {
                    operation: "rotation",
                    ..
                }
            ),
            "{what}: {said}"
        );
        assert!(said.contains("Never rotate again to find out"), "{said}");
        assert_eq!(scene.states().await, [State::Unknown], "{what}");
        assert_eq!(
            scene.history().await,
            [(Operation::Rotate, Ending::Unknown)]
        );

        let failure = rotate(&scene.ana).await.expect_err("taken");
        let Failure::RotationTaken { state, by, .. } = &failure else {
            panic!("{what}: {failure}");
        };
        assert_eq!(
            (*state, by.as_str()),
            (State::Unknown, scene.ana.operator())
        );
        assert_eq!(scene.proxy.count("POST"), 1, "{what}");
        assert_eq!(scene.token(), old);
        assert_eq!(scene.ana.open_rotations().await.expect("readable").len(), 1);
        scene.check().await;
    }
}

#[tokio::test]
async fn the_next_rotate_settles_an_applied_rotation_instead_of_rotating_again() {
    let scene = Scene::new().await;
    scene.proxy.next("POST", ProxyFault::applied(Then::Drop));
    // The get that would settle it is lost, too.
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
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
    for (what, then) in refusals() {
        let scene = Scene::new().await;
        scene.proxy.next("POST", ProxyFault::swallowed(then));
        let failure = rotate(&scene.ana).await.expect_err(what);
        let Failure::Refused { words, .. } = &failure else {
            panic!("{what}: {failure}");
        };
        assert_eq!(words.as_deref(), Some("so it says"), "{what}");
        assert_eq!(scene.states().await, [State::NotApplied], "{what}");
        let expected = [
            (Operation::Rotate, Ending::Unknown),
            (Operation::Rotate, Ending::NotApplied),
        ];
        assert_eq!(scene.history().await, expected, "{what}");
        assert!(
            scene.history_notes().await[0].contains("so it says"),
            "{what}"
        );
        let done = rotate(&scene.ana).await.expect("rotated");
        assert_eq!(done.ending, Ending::Rotated, "{what}");
        assert_eq!(scene.states().await, [State::NotApplied, State::Rotated]);
        scene.check().await;
    }
}

#[tokio::test]
async fn a_read_only_key_is_refused_by_the_service_and_nothing_is_left_open() {
    let scene = Scene::new().await;
    let read_only = scene.world.key_source(Side::Testing, true);
    let reader = scene
        .installation()
        .with(|profile| profile.api_key = read_only);
    let failure = rotate(&reader.operations()).await;
    assert!(
        matches!(failure, Err(Failure::Refused { status: 403, .. })),
        "{failure:?}"
    );
    assert_eq!(scene.states().await, [State::NotApplied]);
    scene.check().await;
}

fn tagged(tag: &'static str) -> ProxyFault {
    ProxyFault::change(move |body| body["user_group"]["api_environment_tag"] = json!(tag))
}

async fn fingerprint(scene: &Scene) -> Option<Fingerprint> {
    let group = scene.ana.show(&id(ACME)).await.expect("readable");
    Some(group?.fingerprint?.value)
}

#[tokio::test]
async fn an_answer_about_another_group_or_environment_is_a_conflict() {
    let other = ProxyFault::change(|body| body["user_group"]["provided_id"] = json!("globex"));
    for (expected, fault) in [("globex", other), ("Customer", tagged("Customer"))] {
        let scene = Scene::new().await;
        let known = fingerprint(&scene).await;
        scene.proxy.next("POST", fault);
        let failure = rotate(&scene.ana).await.expect_err("a conflict");
        assert!(matches!(failure, Failure::Conflict { .. }), "{failure:?}");
        assert!(failure.to_string().contains(expected), "{failure}");
        assert_eq!(scene.states().await, [State::Conflict]);
        assert_eq!(
            scene.history().await,
            [(Operation::Rotate, Ending::Conflict)]
        );
        assert!(scene.history_notes().await[0].contains(expected));
        assert_eq!(fingerprint(&scene).await, known, "nothing is recorded");
        assert_eq!(scene.proxy.methods(), ["GET", "POST"]);
        scene.check().await;
    }
}

#[tokio::test]
async fn a_success_with_the_old_token_is_not_applied_and_of_another_environment_a_conflict() {
    for tag in ["Testing", "Customer"] {
        let scene = Scene::new().await;
        let body: Value = json!({"success": 1, "user_group": {
            "token": scene.token(), "provided_id": ACME, "api_environment_tag": tag}});
        let bytes = http("200 OK", &[], body.to_string());
        scene
            .proxy
            .next("POST", ProxyFault::swallowed(Then::Instead(bytes)));
        let failure = rotate(&scene.ana).await.expect_err("not rotated");
        if tag == "Testing" {
            assert!(matches!(failure, Failure::NotApplied { .. }), "{failure:?}");
            assert!(
                failure.to_string().contains("returned the old token"),
                "{failure}"
            );
            assert_eq!(scene.states().await, [State::NotApplied]);
            assert_eq!(
                scene.history().await,
                [(Operation::Rotate, Ending::NotApplied)]
            );
        } else {
            assert!(matches!(failure, Failure::Conflict { .. }), "{failure:?}");
            assert_eq!(scene.states().await, [State::Conflict]);
        }
        scene.check().await;
    }
}

#[tokio::test]
async fn a_group_that_vanished_while_the_answer_was_lost_is_a_conflict_not_a_recovery() {
    let scene = Scene::new().await;
    let gate = crate::support::proxy::Gate::new();
    scene
        .proxy
        .next("POST", ProxyFault::applied(Then::Drop).behind(&gate));
    let here = scene.ana.clone();
    let rotating = tokio::spawn(async move { rotate(&here).await });
    gate.reached().await;
    scene.world.vanish(Side::Testing, ACME);
    gate.open();
    let failure = rotating.await.expect("it ends").expect_err("a conflict");
    assert!(matches!(failure, Failure::Conflict { .. }), "{failure:?}");
    assert!(failure.to_string().contains("CREATED"), "{failure}");
    assert_eq!(scene.states().await, [State::Conflict]);
    let endings = history(&scene.ana)
        .await
        .into_iter()
        .map(|line| line.ending);
    let expected = [Ending::Unknown, Ending::Conflict, Ending::CreatedByGet];
    assert_eq!(endings.collect::<Vec<_>>(), expected);
    scene.check().await;
}

#[tokio::test]
async fn a_get_from_another_environment_ends_in_a_conflict() {
    let scene = Scene::new().await;
    scene.proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", tagged("Customer"));
    let failure = rotate(&scene.ana).await;
    assert!(
        matches!(failure, Err(Failure::Conflict { .. })),
        "{failure:?}"
    );
    assert_eq!(scene.states().await, [State::Conflict]);
    scene.check().await;
}

/// The refusal is false, and the get that seems to prove it true was answered before the rotation was applied.
#[tokio::test]
async fn a_get_answered_before_the_refusal_does_not_settle_it() {
    let scene = Scene::new().await;
    let early = crate::support::proxy::Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&early));
    let here = scene.ana.clone();
    let reading = tokio::spawn(async move { look_up(&here).await });
    early.reached().await;
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    scene
        .proxy
        .next("POST", ProxyFault::applied(error("403 Forbidden")));
    assert_unknown(&rotate(&scene.ana).await);
    early.open();
    let read = reading.await.expect("it ends").expect("an answer");
    assert!(has(&read, |warning| matches!(
        warning,
        Warning::RotationOpen { .. }
    )));
    assert_eq!(scene.states().await, [State::Unknown], "it proves nothing");
    let found = look_up(&scene.ana).await.expect("found");
    let settled = Warning::RotationSettled {
        ending: Ending::Recovered,
    };
    assert_eq!(found.warnings, [settled]);
    assert_eq!(exposed(&found), scene.token());
    scene.check().await;
}

#[tokio::test]
async fn a_first_rotation_of_an_id_confirmed_by_a_person_is_as_safe() {
    let scene = Scene::new().await;
    let fresh = scene.world.other_directory("li");
    let li = scene.installation().on(&fresh).operations();
    scene.proxy.next("POST", ProxyFault::applied(Then::Drop));
    let done = li.rotate(&id(ACME), None, UnknownIdPolicy::Exists).await;
    let done = done.expect("found out");
    assert_eq!(done.ending, Ending::Recovered);
    assert_eq!(exposed(&done), scene.token());
    assert_eq!(scene.proxy.count("POST"), 1);
}
