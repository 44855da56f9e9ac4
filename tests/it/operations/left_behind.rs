//! Creates and updates whose process died or whose answer was lost: each leaves a journal row, and is settled or
//! closed.

use super::*;
use groupdesk::domain::mutation::State;

/// An edit whose process died with the request at the service or on its way.
async fn kill_while_sending(scene: &Scene, edit: Edit, applied: bool) {
    let gate = Gate::new();
    let fault = if applied {
        ProxyFault::passed().behind(&gate)
    } else {
        ProxyFault::swallowed(Then::Hang).held(&gate)
    };
    scene.proxy.next("PUT", fault);
    let here = scene.ana.clone();
    let updating = tokio::spawn(async move { send(&here, &edit).await });
    gate.reached().await;
    updating.abort();
    assert!(updating.await.is_err(), "it was killed");
}

fn tomorrow(scene: &Scene) -> Operations {
    scene.installation().by(LI).at(later()).operations()
}

/// Somebody who does not wait for a group that is held.
fn hurried(scene: &Scene) -> Operations {
    let hurried = scene.installation();
    hurried.timeout(Duration::from_millis(200)).operations()
}

#[tokio::test]
async fn a_killed_update_stays_open_and_locks_the_group_until_the_window_ends() {
    let scene = Scene::new().await;
    // No get returns the mapping, so nobody can tell.
    let mapping = map(&scene.ana).await;
    kill_while_sending(&scene, mapping, true).await;
    let open = scene.open().await;
    assert_eq!((open.len(), open[0].state), (1, State::Sent));
    let hurried = hurried(&scene);
    let name = rename(&hurried, "Second").await;
    assert_is!(send(&hurried, &name).await, Err(Failure::Held(_)));
    let early = scene.ana.abandon_change(open[0].id, "looked").await;
    let early = early.expect_err("it may be on its way").to_string();
    assert_has(&early, "it may still take effect");
    // As long as somebody may be at work, nothing is unknown.
    assert_eq!(scene.ana.settle_changes().await.expect("readable"), []);
    assert!(scene.li().is_change_of_colleague(&open[0]));
    assert!(!scene.ana.is_change_of_colleague(&open[0]));
    let tomorrow = tomorrow(&scene);
    let stands = tomorrow.settle_changes().await.expect("readable");
    assert_eq!((stands.len(), stands[0].state), (1, State::Open));
    let unknown = (Operation::Update, Ending::Unknown);
    assert_eq!(scene.history().await.last(), Some(&unknown));
    assert_has(&scene.history_notes().await[0], "ana@bastion2");
    // Another field may be changed, but the open one may not be overwritten.
    let name = rename(&tomorrow, "Second").await;
    let unsure = send(&tomorrow, &name).await;
    let unsure = unsure.expect_err("the mapping is not known").to_string();
    assert_has(&unsure, "may have taken effect");
    let why = "looked at the dashboard";
    let closed = tomorrow.abandon_change(stands[0].id, why).await;
    assert_eq!(closed.expect("closed").ending, Some(Ending::Abandoned));
    send(&tomorrow, &name).await.expect("updated");
    assert_eq!(scene.open().await, []);
    assert_eq!(history(&scene.ana).await.len(), 3);
}

#[tokio::test]
async fn a_killed_update_is_settled_as_far_as_a_read_can_tell() {
    for (applied, expected) in [(true, Ending::Updated), (false, Ending::NotApplied)] {
        let scene = Scene::new().await;
        look_up(&scene.ana).await.expect("found");
        kill_while_sending(&scene, rename(&scene.ana, "Killed").await, applied).await;
        let settled = tomorrow(&scene).settle_changes().await;
        assert_eq!(settled.expect("readable"), []);
        let one_line = [(Operation::Update, expected)];
        assert_eq!(scene.history().await, one_line, "one per operation");
    }
}

#[tokio::test]
async fn an_update_without_an_answer_is_settled_as_soon_as_a_get_shows_it() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    scene.proxy.next("PUT", unanswered());
    let name = rename(&scene.ana, "Arrived").await;
    let unknown = send(&scene.ana, &name).await.expect_err("no answer");
    assert_eq!(unknown.ending(), Some(Ending::Unknown));
    assert_eq!(scene.open().await[0].state, State::Unknown);
    look_up(&scene.ana).await.expect("found");
    assert_eq!(scene.open().await, []);
    let again = rename(&scene.ana, "Again").await;
    send(&scene.ana, &again).await.expect("updated");
    let ended = scene.history().await;
    let endings: Vec<_> = ended.iter().map(|(_, ending)| *ending).collect();
    assert_eq!(endings, [Ending::Unknown, Ending::Updated, Ending::Updated]);
}

#[tokio::test]
async fn a_create_that_succeeds_proves_that_an_earlier_one_did_not() {
    let scene = Scene::new().await;
    let (globex, all) = (id("globex"), wanted("Globex", &[], &json!({})));
    scene.proxy.next("GET", lost());
    let lost = scene.ana.create(&globex, &all).await.expect_err("lost");
    assert_eq!(lost.ending(), Some(Ending::Unknown));
    let created = tomorrow(&scene).create(&globex, &all).await;
    assert_eq!(created.expect("created").ending, Ending::Created);
    assert_eq!(scene.open().await, []);
    let mut ended = scene.history().await;
    ended.retain(|(_, ending)| *ending != Ending::Unknown);
    let endings: Vec<_> = ended.iter().map(|(_, ending)| *ending).collect();
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
            match operation {
                Operation::Create => here.create(&new, &only_name("Globex")).await,
                _ => here.look_up(&new, EXISTS).await,
            }
        });
        gate.reached().await;
        creating.abort();
        assert!(creating.await.is_err(), "it was killed");
        let open = scene.open().await;
        assert_eq!((open[0].operation, open[0].state), (operation, State::Sent));
        let held = hurried(&scene).look_up(&globex, EXISTS).await;
        assert_is!(held, Err(Failure::Held(_)), "a read can create: {held:?}");
        let tomorrow = tomorrow(&scene);
        let stands = tomorrow.settle_changes().await.expect("readable");
        assert_eq!(stands[0].state, State::Open, "not known, and not read");
        let unknown = (operation, Ending::Unknown);
        assert_eq!(scene.history().await.last(), Some(&unknown));
        if operation == Operation::Create {
            let closed = tomorrow.abandon_change(stands[0].id, "it is read below");
            closed.await.expect("closed");
        } else {
            let found = tomorrow.look_up(&globex, EXISTS).await;
            assert_eq!(found.expect("found").ending, Ending::Found);
            assert_eq!(scene.open().await, []);
        }
    }
}

#[tokio::test]
async fn an_update_without_a_result_may_be_repeated_by_whoever_sent_it() {
    let scene = Scene::new().await;
    // No get returns the mapping.
    let mapping = map(&scene.ana).await;
    kill_while_sending(&scene, mapping.clone(), false).await;
    let tomorrow = scene.installation().at(later()).operations();
    assert_eq!(tomorrow.settle_changes().await.expect("readable").len(), 1);
    send(&tomorrow, &mapping).await.expect("repeated");
}
