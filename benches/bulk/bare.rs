//! The lower bound: the same requests in a bare loop, with a journal that only keeps a row per step.

use std::{path::Path, sync::mpsc};

use futures_util::{StreamExt, stream};
use groupdesk::domain::group::UserGroupId;
use reqwest::Method;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::world::World;

/// One of the steps of an item.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// A read over a kept-alive connection.
    Get,
    /// A row in the journal, if there is one.
    Commit,
    /// A get that creates, over a connection of its own, like all writes.
    Create,
    Update,
    Rotate,
}

/// Writes a row per step; concurrent ones share a commit.
pub(crate) struct Journal(mpsc::Sender<(String, oneshot::Sender<()>)>);

impl Journal {
    pub(crate) fn open(path: &Path) -> Self {
        let mut connection = Connection::open(path).expect("a database");
        let made = connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
             CREATE TABLE step (number INTEGER PRIMARY KEY, told TEXT NOT NULL) STRICT",
        );
        made.expect("a table");
        let (sender, steps) = mpsc::channel::<(String, oneshot::Sender<()>)>();
        std::thread::spawn(move || {
            while let Ok(first) = steps.recv() {
                let steps: Vec<_> = std::iter::once(first).chain(steps.try_iter()).collect();
                let tx = connection.transaction().expect("begun");
                for (told, _) in &steps {
                    let mut add = tx
                        .prepare_cached("INSERT INTO step (told) VALUES ($1)")
                        .expect("prepared");
                    add.execute([told]).expect("added");
                }
                tx.commit().expect("durable");
                for (_, done) in steps {
                    done.send(()).expect("somebody waits");
                }
            }
        });
        Self(sender)
    }

    async fn commit(&self, told: &str) {
        let (done, is_done) = oneshot::channel();
        self.0.send((told.to_owned(), done)).expect("its thread");
        is_done.await.expect("durable");
    }
}

/// Runs these steps for each group, several groups at a time. Reads use kept-alive connections, each write a new one.
pub(crate) async fn run(
    world: &World,
    ids: &[UserGroupId],
    steps: &[Step],
    concurrency: usize,
    journal: Option<&Journal>,
) {
    let client = |idle| {
        reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .pool_max_idle_per_host(idle)
            .build()
            .expect("a client")
    };
    let (reads, writes) = (&client(usize::MAX), &client(0));
    let send = |client: &reqwest::Client, method: Method, body: String| {
        let request = client
            .request(method, &world.url)
            .header("authorization", format!("Token {}", world.key))
            .header("content-type", "application/json")
            .body(body);
        async move {
            let answer = request.send().await.expect("an answer");
            assert_eq!(answer.status(), 200);
            let body = answer.bytes().await.expect("a whole answer");
            let answer: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            answer["user_group"]["token"].as_str().map(str::to_owned)
        }
    };
    let items = ids.iter().map(|id| async {
        let id = id.as_str();
        let get = || format!("{{\"user_group_id\":\"{id}\"}}");
        let named = || format!("{{\"user_group_id\":\"{id}\",\"name\":\"bare {id}\"}}");
        let mut token = None;
        for step in steps {
            match (step, journal) {
                (Step::Commit, Some(journal)) => journal.commit(id).await,
                (Step::Commit, None) => {}
                (Step::Get, _) => token = send(reads, Method::GET, get()).await,
                (Step::Create, _) => token = send(writes, Method::GET, named()).await,
                (Step::Update, _) => token = send(writes, Method::PUT, named()).await,
                (Step::Rotate, _) => {
                    let current = token.as_deref().expect("a token");
                    let rotate = format!("{{\"current_token\":\"{current}\"}}");
                    token = send(writes, Method::POST, rotate).await;
                }
            }
        }
    });
    let items = stream::iter(items).buffer_unordered(concurrency);
    items.for_each(|()| async {}).await;
}
