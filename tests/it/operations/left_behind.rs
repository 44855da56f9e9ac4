//! Creates and updates whose process died or whose answer was lost: each leaves a journal row, and is settled or
//! closed.

use std::time::Duration;

use groupdesk::{
    domain::{
        history::{Ending, Operation},
        mutation::State,
        update::Edit,
    },
    operations::{Failure, UnknownIdPolicy},
};
use serde_json::json;

use super::{
    Scene,
    claims::{later, map, rename, send},
    history, look_up, wanted,
};
use crate::support::{
    proxy::{Gate, ProxyFault, Then},
    world::{LI, id},
};

/// An edit whose process died with the request at the service or on its way.
async fn kill_while_sending(scene: &Scene, edit: Edit, applied: bool) {
    let gate = Gate::new();
    scene.proxy.next(
        "PUT",
        if applied {
            ProxyFault::passed().behind(&gate)
        } else {
            ProxyFault::swallowed(Then::Hang).held(&gate)
        },
    );
    let here = scene.ana.clone();
    let updating = tokio::spawn(async move { send(&here, &edit).await });
    gate.reached().await;
    updating.abort();
    assert!(updating.await.is_err(), "it was killed");
}

#[tokio::test]
async fn a_killed_update_stays_open_and_locks_the_group_until_the_window_ends() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    // No get returns the mapping, so nobody can tell.
    let mapping = map(&scene.ana).await;
    kill_while_sending(&scene, mapping, true).await;
    let open = scene.ana.open_changes().await.expect("readable");
    assert_eq!((open.len(), open[0].state), (1, State::Sent));
    let hurried = scene
        .installation()
        .timeout(Duration::from_millis(200))
        .operations();
    let name = rename(&hurried, "Second").await;
    let held = send(&hurried, &name).await.expect_err("held");
    assert!(matches!(held, Failure::Held(_)), "{held:?}");
    let early = scene.ana.abandon_change(open[0].id, "looked").await;
    let early = early.expect_err("it may be on its way").to_string();
    assert!(early.contains("it may still take effect"), "{early}");

    let tomorrow = scene.installation().by(LI).at(later()).operations();
    let stands = tomorrow.settle_changes().await.expect("readable");
    assert_eq!((stands.len(), stands[0].state), (1, State::Open));
    let lines = history(&scene.ana).await;
    let line = lines.last().expect("a line");
    assert_eq!(
        (line.operation, line.ending),
        (Operation::Update, Ending::Unknown)
    );
    assert!(
        line.note
            .as_ref()
            .is_some_and(|note| note.contains("ana@bastion2")),
        "{line:?}"
    );
    // Another field may be changed, but the open one may not be overwritten.
    let name = rename(&tomorrow, "Second").await;
    let unsure = send(&tomorrow, &name)
        .await
        .expect_err("the mapping is not known");
    assert!(
        unsure.to_string().contains("may have taken effect"),
        "{unsure}"
    );
    let closed = tomorrow
        .abandon_change(stands[0].id, "looked at the dashboard")
        .await;
    assert_eq!(closed.expect("closed").ending, Some(Ending::Abandoned));
    send(&tomorrow, &name).await.expect("updated");
    assert_eq!(tomorrow.open_changes().await.expect("readable"), []);
    assert_eq!(history(&scene.ana).await.len(), 3);
}

#[tokio::test]
async fn a_killed_update_is_settled_as_far_as_a_read_can_tell() {
    for applied in [true, false] {
        let scene = Scene::new().await;
        look_up(&scene.ana).await.expect("found");
        kill_while_sending(&scene, rename(&scene.ana, "Killed").await, applied).await;
        let tomorrow = scene.installation().by(LI).at(later()).operations();
        assert_eq!(tomorrow.settle_changes().await.expect("readable"), []);
        let expected = if applied {
            Ending::Updated
        } else {
            Ending::NotApplied
        };
        let ended = scene.history().await;
        assert_eq!(
            ended,
            [(Operation::Update, expected)],
            "one line per operation"
        );
    }
}

#[tokio::test]
async fn an_update_without_an_answer_is_settled_as_soon_as_a_get_shows_it() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    scene.proxy.next("PUT", ProxyFault::applied(Then::Drop));
    let name = rename(&scene.ana, "Arrived").await;
    let unknown = send(&scene.ana, &name).await.expect_err("no answer");
    assert_eq!(unknown.ending(), Some(Ending::Unknown));
    assert_eq!(
        scene.ana.open_changes().await.expect("readable")[0].state,
        State::Unknown
    );
    look_up(&scene.ana).await.expect("found");
    assert_eq!(scene.ana.open_changes().await.expect("readable"), []);
    let again = rename(&scene.ana, "Again").await;
    send(&scene.ana, &again).await.expect("updated");
    let ended = scene.history().await;
    let endings: Vec<_> = ended.iter().map(|(_, ending)| *ending).collect();
    assert_eq!(endings, [Ending::Unknown, Ending::Updated, Ending::Updated]);
}

#[tokio::test]
async fn a_create_that_succeeds_proves_that_an_earlier_one_did_not() {
    let scene = Scene::new().await;
    let globex = id("globex");
    let all = wanted("Globex", &[], &json!({}));
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    let lost = scene.ana.create(&globex, &all).await.expect_err("lost");
    assert_eq!(lost.ending(), Some(Ending::Unknown));
    let tomorrow = scene.installation().at(later()).operations();
    let created = tomorrow.create(&globex, &all).await.expect("created");
    assert_eq!(created.ending, Ending::Created);
    assert_eq!(tomorrow.open_changes().await.expect("readable"), []);
    let lines = history(&tomorrow).await.into_iter();
    let mut endings: Vec<_> = lines.map(|line| line.ending).collect();
    endings.retain(|ending| *ending != Ending::Unknown);
    assert_eq!(endings, [Ending::NotApplied, Ending::Created]);
}

#[tokio::test]
async fn a_killed_create_stays_open_until_a_read_finds_the_group() {
    let scene = Scene::new().await;
    let globex = id("globex");
    for operation in [Operation::Create, Operation::Get] {
        let gate = Gate::new();
        scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
        let (here, new) = (scene.ana.clone(), globex.clone());
        let creating = tokio::spawn(async move {
            let all = wanted("Globex", &[], &json!({}));
            match operation {
                Operation::Create => here.create(&new, &all).await,
                _ => here.look_up(&new, UnknownIdPolicy::Exists).await,
            }
        });
        gate.reached().await;
        creating.abort();
        assert!(creating.await.is_err(), "it was killed");
        let open = scene.ana.open_changes().await.expect("readable");
        assert_eq!((open[0].operation, open[0].state), (operation, State::Sent));
        let hurried = scene
            .installation()
            .timeout(Duration::from_millis(200))
            .operations();
        let held = hurried.look_up(&globex, UnknownIdPolicy::Exists).await;
        assert!(
            matches!(held, Err(Failure::Held(_))),
            "a read can create: {held:?}"
        );
        let tomorrow = scene.installation().by(LI).at(later()).operations();
        let stands = tomorrow.settle_changes().await.expect("readable");
        assert_eq!(
            stands[0].state,
            State::Open,
            "it is not in the directory, and is not read"
        );
        let line = history(&scene.ana).await.pop().expect("a line");
        assert_eq!((line.operation, line.ending), (operation, Ending::Unknown));
        if operation == Operation::Create {
            let closed = tomorrow
                .abandon_change(stands[0].id, "it is read below")
                .await;
            closed.expect("closed");
        } else {
            let found = tomorrow.look_up(&globex, UnknownIdPolicy::Exists).await;
            assert_eq!(found.expect("found").ending, Ending::Found);
            assert_eq!(tomorrow.open_changes().await.expect("readable"), []);
        }
    }
}
