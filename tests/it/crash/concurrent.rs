//! Three processes on one directory: one request for each token.

use super::*;

const ROUNDS: usize = 100;

#[tokio::test]
async fn three_processes_rotate_a_hundred_times_and_send_one_request_for_each_token() {
    let stage = Stage::new().await;
    let scene = stage.scene().await;
    let order = scene.order(Task::RotateOnDemand);
    let mut installations = [(); 3].map(|()| Process::start(&order));
    let (mut rotated, mut turned_away) = (0, 0);
    for _ in 0..ROUNDS {
        for installation in &mut installations {
            installation.resume().await;
        }
        let before = rotated;
        for installation in &mut installations {
            let (what, words) = installation.next_report().await.expect("an answer");
            if what == "ended" {
                assert_eq!(words, "rotated");
                rotated += 1;
            } else {
                assert!(words.contains("NOT rotated"), "{words}");
                turned_away += 1;
            }
        }
        assert!(rotated > before, "nobody could rotate");
    }
    for installation in &mut installations {
        installation.no_more();
        assert!(!installation.is_killed().await);
    }
    assert!(turned_away > 0, "they never met");
    let directory = Directory::open(&scene.directory).expect("a directory");
    let requests = scene.proxy.bodies("POST");
    let tokens: BTreeSet<_> = requests
        .iter()
        .map(|body| Token::new(body["current_token"].as_str().expect("a token").to_owned()))
        .map(|token| directory.fingerprinter().of(&token))
        .collect();
    assert_eq!(requests.len(), tokens.len(), "a token was sent twice");
    assert_eq!(requests.len(), rotated);
    let rows = directory.rotations(RotationFilter::default()).await;
    let rows = rows.expect("readable");
    let intents: BTreeSet<_> = rows.iter().map(|row| row.rotation.previous).collect();
    assert_eq!(intents, tokens);
    assert_eq!(rows.len(), rotated);
    let now = directory.fingerprinter().of(&Token::new(scene.token()));
    assert_eq!(rows[0].rotation.fingerprint, Some(now));
    // Superseded: one process read the group after another had rotated the new token again, before its rotation was
    // confirmed.
    let is_good = |state| matches!(state, State::Rotated | State::Confirmed | State::Superseded);
    let states: Vec<_> = rows.iter().map(|row| row.rotation.state).collect();
    assert!(states.iter().all(|state| is_good(*state)), "{states:?}");
    assert_ne!(states[0], State::Superseded, "there are no later requests");
}
