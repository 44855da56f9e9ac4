//! Look-up: only known ids are read, an answer adds and never erases, and changes by others are noticed.

use super::*;

#[tokio::test]
async fn an_unknown_id_is_refused_with_the_near_ones_and_nothing_is_sent() {
    let scene = Scene::new().await;
    for known in ["acme-us", "globex"] {
        scene.meet(known).await;
    }
    let sent = scene.proxy.methods().len();
    let typed = id("acme-ue");
    let base = wanted("Acme", &[], &json!({}));
    for failure in [
        scene.ana.look_up(&typed, KNOWN).await,
        scene.ana.update(&typed, &base, &base, KNOWN).await,
        scene.ana.rotate(&typed, None, KNOWN).await,
    ] {
        let failure = failure.expect_err("refused");
        let said = failure.to_string();
        let Failure::NotKnown {
            id: asked, near, ..
        } = failure
        else {
            panic!("{said}");
        };
        assert_eq!(
            (asked, near),
            (typed.clone(), vec![id(ACME), id("acme-us")])
        );
        assert_has(&said, "nothing was sent");
        assert_has(&said, "did you mean \"acme-eu\"");
    }
    assert_eq!(scene.proxy.methods().len(), sent);
    assert_eq!(scene.history().await, []);
}

#[tokio::test]
async fn ids_known_to_another_profile_are_not_known_here() {
    let scene = Scene::new().await;
    let production = scene.world.operations(Side::Production);
    let failure = look_up(&production).await;
    assert_is!(failure, Err(Failure::NotKnown { near, .. }) if near.is_empty());
}

#[tokio::test]
async fn a_get_without_news_leaves_no_history() {
    let scene = Scene::new().await;
    let done = look_up(&scene.ana).await.expect("found");
    assert_eq!((done.ending, done.status), (Ending::Found, 200));
    assert_eq!(exposed(&done), scene.token());
    assert_eq!(done.warnings, []);
    assert_eq!(scene.history().await, []);
    let sent = scene.proxy.bodies("GET");
    assert_eq!(sent, [json!({"user_group_id": ACME})], "the ID and no more");
}

#[tokio::test]
async fn a_vanished_group_is_an_alarm_when_the_get_makes_it_again() {
    let scene = Scene::new().await;
    let before = scene.known().await.fingerprint.map(|known| known.value);
    scene.world.vanish(Side::Testing, ACME);
    let done = scene.ana.look_up(&id(ACME), EXISTS).await;
    let done = done.expect("an answer");
    assert_eq!(done.ending, Ending::CreatedByGet);
    assert!(done.warnings.iter().any(Warning::is_alarm), "{done:?}");
    assert_eq!(done.previous_fingerprint, before);
    let done = look_up(&scene.ana).await.expect("an answer");
    assert_eq!(done.ending, Ending::Found, "it is there by now");
    let history = history(&scene.ana).await;
    assert_eq!(history.len(), 1, "{history:?}");
    assert_eq!(history[0].ending, Ending::CreatedByGet);
    assert_eq!(history[0].previous_fingerprint, before);
    assert_has(history[0].note.as_deref().expect("a note"), "ALARM");
}

#[tokio::test]
async fn properties_are_read_if_the_profile_asks_for_them() {
    let reads = |profile: &mut Profile| profile.read_properties = true;
    let scene = Scene::with(|installation| installation.with(reads)).await;
    let gold = json!({"tier": "gold"});
    let known = scene.known().await.properties;
    let first = known.map_or_else(|| json!({}), |known| json!(known.value));
    for sent in [first, gold.clone()] {
        let done = look_up(&scene.ana).await.expect("found");
        let properties = done.group.properties.expect("returned");
        assert_eq!(properties.source, Source::Returned);
        assert_eq!(json!(properties.value), gold);
        let expected = json!({"user_group_id": ACME, "properties": sent});
        let bodies = scene.proxy.bodies("GET");
        assert_eq!(bodies.last(), Some(&expected), "the last known ones");
    }
    assert_eq!(scene.stored().properties, gold);
}

#[tokio::test]
async fn a_name_and_a_token_changed_elsewhere_are_noticed_once() {
    let scene = Scene::new().await;
    let old = scene.token();
    let elsewhere = scene.elsewhere();
    let renamed = wanted("Acme SE", &[("7", "40")], &json!({}));
    let acme = id(ACME);
    let done = elsewhere.update(&acme, &renamed, &renamed, EXISTS);
    done.await.expect("renamed");
    rotate(&elsewhere).await.expect("rotated");
    let done = look_up(&scene.ana).await.expect("found");
    assert_ne!(exposed(&done), old);
    let was = "Acme Europe".to_owned();
    let renamed = Warning::NameChangedElsewhere { was };
    assert_eq!(done.warnings, [Warning::TokenChangedElsewhere, renamed]);
    let last = done.group.last_rotated.expect("seen to change");
    assert_eq!(last.by, None, "not by this installation");
    let lines = history(&scene.ana).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].operation, Operation::Get);
    assert_eq!(lines[0].previous_fingerprint, done.previous_fingerprint);
    let note = lines[0].note.as_deref().expect("a note");
    assert_has(note, "token");
    assert_has(note, "Acme Europe");
    let again = look_up(&scene.ana).await.expect("found");
    assert_eq!(again.warnings, []);
    assert_eq!(scene.history().await.len(), 1);
}

#[tokio::test]
async fn an_unusable_answer_changes_nothing() {
    let scene = Scene::new().await;
    let known = scene.known().await;
    let other = json!({"success": 1, "user_group": {"token": "other", "provided_id": "globex"}});
    let server = Faults::start([
        answer("200 OK", &other),
        Fault::Answer(http("200 OK", &[], "<html>login</html>")),
        answer("200 OK", &json!({"success": 0, "error": "no words"})),
        answer("401 Unauthorized", &json!({"message": "who are you"})),
        Fault::Close,
    ])
    .await;
    let ana = scene.world.installation(Side::Testing);
    let ana = ana.through(server.base_url()).operations();
    for expected in ["globex", "web page", "no words", "who are you", "broke"] {
        let failure = look_up(&ana).await.expect_err("no use");
        assert_has(&failure.to_string(), expected);
        let kind = match expected {
            "globex" | "web page" => matches!(failure, Failure::Unreadable(_)),
            "no words" => matches!(failure, Failure::Refused { status: 200, .. }),
            "who are you" => matches!(failure, Failure::KeyRefused { .. }),
            _ => matches!(failure, Failure::Unreachable(_)),
        };
        assert!(kind, "{failure:?}");
    }
    assert_eq!(scene.known().await, known);
    assert_eq!(scene.history().await, []);
}

#[tokio::test]
async fn a_first_get_without_a_usable_answer_may_have_created_the_group() {
    let page =
        "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\noops";
    let page = page.as_bytes().to_vec();
    for then in [Then::Drop, Then::Half, Then::Instead(page)] {
        let scene = Scene::new().await;
        scene.next("GET", [ProxyFault::applied(then)]);
        let new = id("new");
        let failure = scene.ana.look_up(&new, EXISTS).await;
        let failure = failure.expect_err("no answer");
        let said = failure.to_string();
        assert_is!(failure, Failure::Unknown { .. }, "{said}");
        assert_has(&said, "UNKNOWN whether the create of \"new\" took effect");
        assert_has(&said, "run the same command again");
        scene.ana.look_up(&new, EXISTS).await.expect("it is there");
        assert_eq!(scene.open().await, []);
    }
}
