//! Many callers send the same request at once: one succeeds, and the others are told so.

use std::{
    collections::{HashMap, HashSet},
    future::Future,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::support::{
    long,
    service::{Caller, Reply, TestService},
};

const CROWD: usize = 32;

/// The answers to a request of each of a crowd.
async fn all<F: Future<Output = Reply> + Send + 'static>(
    call: impl FnMut(usize) -> F,
) -> Vec<Reply> {
    let calls: Vec<_> = (0..CROWD).map(call).map(tokio::spawn).collect();
    let replies = futures_util::future::join_all(calls).await;
    replies
        .into_iter()
        .map(|reply| reply.expect("no panic"))
        .collect()
}

/// How many succeeded; the others are refused in this way.
fn succeeded<'a>(replies: &'a [Reply], code: &str) -> Vec<&'a Reply> {
    let (done, refused): (Vec<_>, Vec<_>) =
        replies.iter().partition(|reply| reply.status.is_success());
    for reply in refused {
        assert_eq!(reply.refused(), (409, code.to_owned()));
    }
    done
}

fn text(reply: &Value, field: &str) -> String {
    let text = reply["user_group"][field].as_str();
    text.expect("a text").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_creates_and_the_others_get_its_group() {
    let service = TestService::start().await;
    for round in 0..long::spread(0..20, 5).len() {
        let replies = all(|number| {
            let caller = service.testing();
            let name = format!("of {number}");
            let body = json!({"user_group_id": format!("group {round}"), "name": name});
            async move { caller.get(&body).await }
        });
        let answers: Vec<Value> = replies.await.iter().map(Reply::ok).collect();
        let mut makers = answers.iter().filter(|one| one["new_user_group"] == true);
        let maker = makers.next().expect("one of them created it");
        assert_eq!(makers.count(), 0, "one of them created it");
        for field in ["token", "name"] {
            let mut seen = answers.iter().map(|answer| text(answer, field));
            assert!(seen.all(|seen| seen == text(maker, field)), "{field}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_rotates_and_the_others_get_that_the_token_is_retired() {
    let service = TestService::start().await;
    let caller = service.testing();
    let mut token = caller.token_of("acme").await;
    for _ in 0..long::spread(0..20, 5).len() {
        let replies = all(|_| {
            let (caller, token) = (caller.clone(), token.clone());
            async move { caller.rotate(&token).await }
        });
        let replies = replies.await;
        let done = succeeded(&replies, "token_retired");
        assert_eq!(done.len(), 1, "one rotated");
        let new = text(&done[0].ok(), "token");
        assert_ne!(new, token);
        assert_eq!(caller.token_of("acme").await, new);
        token = new;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_the_environments_that_may_not_share_an_id_gets_it() {
    let service = TestService::start().await;
    let sides = ["one", "two"].map(|name| service.caller(name, None, false));
    for round in 0..10 {
        let replies = all(|number| {
            let caller = sides[number % 2].clone();
            let body = json!({"user_group_id": format!("shared {round}")});
            async move { caller.get(&body).await }
        });
        let replies = replies.await;
        let done = succeeded(&replies, "environment_tag_required");
        assert_eq!(done.len(), CROWD / 2);
    }
}

/// What the workers of the next test were answered, taken together.
#[derive(Default)]
struct Answers {
    /// From an old token to the new one.
    rotated: HashMap<String, String>,
    names: HashSet<String>,
    /// The newest token in any answer.
    newest: String,
}

async fn work(caller: Caller, id: String, worker: usize, steps: usize, told: Arc<Mutex<Answers>>) {
    let newest = || told.lock().expect("no panic").newest.clone();
    for step in 0..steps {
        match (worker + step) % 3 {
            0 => {
                let reply = caller.get(&json!({"user_group_id": id})).await.ok();
                assert_eq!(reply["new_user_group"], false);
            }
            1 => {
                let name = format!("{worker} in {step}");
                // Before it is sent, because another worker may read it before this one is answered.
                told.lock().expect("no panic").names.insert(name.clone());
                let reply = caller
                    .put(&json!({"user_group_id": id, "name": name}))
                    .await;
                assert_eq!(text(&reply.ok(), "name"), name);
            }
            _ => {
                let old = newest();
                let reply = caller.rotate(&old).await;
                if reply.status.is_success() {
                    let new = text(&reply.ok(), "token");
                    let mut told = told.lock().expect("no panic");
                    let before = told.rotated.insert(old, new.clone());
                    assert_eq!(before, None, "a token is rotated once");
                    told.newest = new;
                } else {
                    assert_eq!(reply.refused(), (409, "token_retired".into()));
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_concurrent_writers_tokens_form_one_chain_and_names_are_complete() {
    const WORKERS: usize = 12;
    let steps = if long::all() { 300 } else { 30 };
    let service = TestService::start().await;
    let caller = service.testing();
    let first = caller.token_of("acme").await;
    let told = Arc::new(Mutex::new(Answers {
        newest: first.clone(),
        ..Answers::default()
    }));
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let told = Arc::clone(&told);
            tokio::spawn(work(caller.clone(), "acme".into(), worker, steps, told))
        })
        .collect();
    for worker in workers {
        worker.await.expect("no panic");
    }
    let last = caller.get(&json!({"user_group_id": "acme"})).await.ok();
    let told = told.lock().expect("no panic");
    assert!(told.names.contains(&text(&last, "name")));
    let (mut token, mut links) = (&first, 0);
    while let Some(next) = told.rotated.get(token) {
        (token, links) = (next, links + 1);
    }
    assert_eq!(links, told.rotated.len(), "no token outside of the chain");
    assert!(links > 1, "it was rotated: {links}");
    assert_eq!(
        *token,
        text(&last, "token"),
        "the last token of the chain is the stored one"
    );
}
