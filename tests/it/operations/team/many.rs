//! Many consoles, many tokens, and the same key pressed in all of them at once: one request for each token.
//! `GROUPDESK_LONG=all` is a team of ten with two hundred tokens.

use std::{collections::BTreeSet, time::Instant};

use futures_util::future::join_all;
use groupdesk::{directory::Directory, domain::history::Ending, operations::UnknownIdPolicy};
use serde_json::json;

use super::super::{Scene, concurrent::is_loser, journal};
use crate::support::{
    long,
    world::{Side, id},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_consoles_together_send_one_request_for_each_token() {
    let scene = Scene::new().await;
    let Some(team) = scene.world.team() else {
        return;
    };
    let (consoles, tokens) = if long::all() { (10, 200) } else { (4, 8) };
    let consoles: Vec<_> = (0..consoles)
        .map(|number| {
            let directory = Directory::open(&team).expect("it opens");
            let installation = scene.installation().by(&format!("person{number}@desk"));
            installation.on(&directory).operations()
        })
        .collect();
    let begun = Instant::now();
    let (mut rotated, mut away) = (0, 0);
    for number in 0..tokens {
        let group = id(&format!("g{number}"));
        scene
            .world
            .seed(Side::Testing, group.as_str(), "A name", &[], &json!({}));
        let met = consoles[0].look_up(&group, UnknownIdPolicy::Exists).await;
        // All of them have seen this token.
        let seen = met
            .expect("known")
            .group
            .fingerprint
            .map(|known| known.value);
        let known = UnknownIdPolicy::KnownOnly;
        let pressed = consoles
            .iter()
            .map(|console| console.rotate_seen(&group, seen, None, known));
        for answer in join_all(pressed).await {
            match answer {
                Ok(done) => {
                    assert_eq!(done.ending, Ending::Rotated);
                    rotated += 1;
                }
                Err(failure) => {
                    assert!(is_loser(&failure), "{failure:?}");
                    away += 1;
                }
            }
        }
    }
    let sent = scene.proxy.bodies("POST");
    let different: BTreeSet<_> = sent
        .iter()
        .map(|body| body["current_token"].to_string())
        .collect();
    println!(
        "{} consoles, {tokens} tokens: {} requests, {rotated} rotated, {away} turned away, {:?}",
        consoles.len(),
        sent.len(),
        begun.elapsed()
    );
    assert_eq!((sent.len(), different.len()), (tokens, tokens));
    assert_eq!((rotated, away), (tokens, tokens * (consoles.len() - 1)));
    assert_eq!(journal(&consoles[0]).await.len(), tokens);
    scene.check().await;
}
