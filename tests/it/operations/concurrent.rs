//! Two operators, two processes, a double key press: one request.

use groupdesk::{
    directory::Directory,
    domain::{history::Ending, rotation::State},
    operations::{Done, Failure, Operations, UnknownIdPolicy},
};

use super::{Scene, look_up, rotate};
use crate::support::world::{LI, id};

/// Whether the loser of the race was told why; it sent nothing.
pub(super) fn is_loser(failure: &Failure) -> bool {
    matches!(
        failure,
        // It saw the same token as the winner, or the new one, or the old one after the new one was known.
        Failure::RotationTaken { .. }
            | Failure::TokenChanged { .. }
            | Failure::Unreadable(_)
            | Failure::ReadBefore { .. }
    )
}

/// Both rotate the token that both have seen, however late one of them begins.
async fn race(scene: &Scene, other: &Operations) -> (Done, Failure) {
    let acme = id(super::ACME);
    let known = scene.ana.show(&acme).await.expect("readable");
    let seen = known.and_then(|group| group.fingerprint);
    let seen = seen.map(|known| known.value);
    assert!(seen.is_some());
    let rotate = |operations: Operations| {
        let acme = acme.clone();
        async move {
            let known = UnknownIdPolicy::KnownOnly;
            operations.rotate_seen(&acme, seen, None, known).await
        }
    };
    match tokio::join!(rotate(scene.ana.clone()), rotate(other.clone())) {
        (Ok(done), Err(failure)) | (Err(failure), Ok(done)) => (done, failure),
        both => panic!("{both:?}"),
    }
}

#[tokio::test]
async fn two_handles_at_once_send_one_request() {
    let scene = Scene::new().await;
    let li = scene.installation().by(LI).operations();
    for round in 1..=20 {
        let (done, failure) = Box::pin(race(&scene, &li)).await;
        assert_eq!(done.ending, Ending::Rotated);
        assert!(is_loser(&failure), "{failure:?}");
        assert_eq!(scene.proxy.count("POST"), round);
        look_up(&scene.ana).await.expect("found");
        scene.check().await;
    }
    let mut tokens = scene.proxy.bodies("POST");
    tokens.sort_by_key(ToString::to_string);
    tokens.dedup();
    assert_eq!(tokens.len(), 20, "one request per seen token");
    assert_eq!(scene.states().await, [State::Confirmed; 20]);
}

#[tokio::test]
async fn two_processes_at_once_send_one_request() {
    let scene = Scene::new().await;
    let file = scene.world.directory_file();
    let other = Directory::open(&file).expect("a second opening");
    let li = scene.installation().by(LI).on(&other).operations();
    for round in 1..=20 {
        let (done, failure) = Box::pin(race(&scene, &li)).await;
        assert_eq!(done.ending, Ending::Rotated);
        assert!(is_loser(&failure), "{failure:?}");
        assert_eq!(scene.proxy.count("POST"), round);
        look_up(&scene.ana).await.expect("found");
    }
    scene.check().await;
}

#[tokio::test]
async fn with_separate_directories_the_service_decides() {
    let scene = Scene::new().await;
    let fresh = scene.world.other_directory("li");
    let li = scene.installation().by(LI).on(&fresh).operations();
    let exists = UnknownIdPolicy::Exists;
    let acme = id(super::ACME);
    li.look_up(&acme, exists).await.expect("found");
    let (ours, theirs) = tokio::join!(rotate(&scene.ana), rotate(&li));
    // The service rotates each token once; the loser finds that out by reading.
    let tokens: Vec<_> = [ours, theirs].into_iter().flatten().collect();
    assert!(!tokens.is_empty());
    for done in &tokens {
        assert!(
            matches!(done.ending, Ending::Rotated | Ending::Recovered),
            "{done:?}"
        );
        assert_eq!(super::exposed(done), scene.token());
    }
    let rotated = tokens.iter().filter(|done| done.ending == Ending::Rotated);
    assert_eq!(rotated.count(), 1);
}
