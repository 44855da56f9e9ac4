//! Two operators, two processes, a double key press: one request.

use super::*;

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
    let seen = scene.known().await.fingerprint.map(|known| known.value);
    assert!(seen.is_some());
    let rotate = async |operations: &Operations| {
        let acme = id(super::ACME);
        operations.rotate_seen(&acme, seen, None, KNOWN).await
    };
    match tokio::join!(rotate(&scene.ana), rotate(other)) {
        (Ok(done), Err(failure)) | (Err(failure), Ok(done)) => (done, failure),
        both => panic!("{both:?}"),
    }
}

#[tokio::test]
async fn with_separate_directories_the_service_decides() {
    let scene = Scene::new().await;
    let fresh = scene.world.other_directory("li");
    let li = scene.installation().by(LI).on(&fresh).operations();
    li.look_up(&id(super::ACME), EXISTS).await.expect("found");
    let (ours, theirs) = tokio::join!(rotate(&scene.ana), rotate(&li));
    // The service rotates each token once; the loser finds that out by reading.
    let tokens: Vec<_> = [ours, theirs].into_iter().flatten().collect();
    for done in &tokens {
        assert_is!(done.ending, Ending::Rotated | Ending::Recovered);
        assert_eq!(super::exposed(done), scene.token());
    }
    let rotated = tokens.iter().filter(|done| done.ending == Ending::Rotated);
    assert_eq!(rotated.count(), 1);
}

#[tokio::test]
async fn two_handles_or_processes_at_once_send_one_request_for_each_token() {
    for another_process in [false, true] {
        let scene = Scene::new().await;
        let mut li = scene.installation().by(LI);
        if another_process {
            let file = scene.world.directory_file();
            li = li.on(&Directory::open(&file).expect("a second opening"));
        }
        let li = li.operations();
        for round in 1..=20 {
            let (done, failure) = Box::pin(race(&scene, &li)).await;
            assert_eq!(done.ending, Ending::Rotated);
            assert!(is_loser(&failure), "{failure:?}");
            assert_eq!(scene.proxy.count("POST"), round);
            look_up(&scene.ana).await.expect("found");
        }
        scene.check().await;
        let mut tokens = scene.proxy.bodies("POST");
        tokens.sort_by_key(ToString::to_string);
        tokens.dedup();
        assert_eq!(tokens.len(), 20, "one request per seen token");
        assert_eq!(scene.states().await, [State::Confirmed; 20]);
    }
}
