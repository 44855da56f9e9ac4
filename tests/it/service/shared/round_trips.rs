//! The connection to the database: how often a change goes over it, and what holds when it breaks at the commit.

use std::sync::atomic::Ordering;

use groupdesk::{
    api::wire::DEFAULT_PATH,
    service::{
        Limits, Running, Service, Setup,
        store::{Options, SharedStorage, Store},
    },
};
use serde_json::json;

use crate::support::{
    cutter::{BEFORE, BEHIND, Cutter, WHOLE},
    postgres,
    service::Caller,
};

/// A service whose connections to the database pass the cutter.
struct Behind {
    cutter: Cutter,
    schema: String,
    store: Store,
    running: Running,
    caller: Caller,
}

impl Behind {
    async fn new() -> Option<Self> {
        let ((_, schema), server) = (postgres::storage()?, postgres::server()?);
        let cutter = Cutter::new(server.folder());
        let folder = cutter.folder.path().display().to_string();
        let folder = folder.replace('/', "%2F");
        let url = format!("postgres://serving@{folder}/postgres");
        let storage = SharedStorage::parse(&url, &schema).expect("an address");
        let store = Store::open_shared(&storage, Options::default()).expect("set up");
        let (_, key) = store.create_key("live", None, false).expect("a key");
        let listen = "127.0.0.1:0".parse().expect("an address");
        let (limits, setup) = (Limits::default(), Setup::default());
        let running = Service::start(listen, store.clone(), DEFAULT_PATH, limits, setup).await;
        let running = running.expect("a port");
        Some(Self {
            caller: Caller::new(&format!("http://{}", running.address), &key),
            cutter,
            schema,
            store,
            running,
        })
    }

    async fn rotate(&self, token: &mut String) {
        let rotated = self.caller.rotate(token).await.ok();
        let new = rotated["user_group"]["token"].as_str().expect("a token");
        assert_ne!(new, token);
        new.clone_into(token);
    }
}

/// Over a network each round trip costs more than the database itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_takes_two_round_trips_and_a_create_three() {
    let Some(behind) = Behind::new().await else {
        return;
    };
    let trips = || behind.cutter.plan.trips.load(Ordering::SeqCst);
    // The first of each kind also prepares its statements, on the connection that is then used again.
    let mut token = String::new();
    for id in ["first", "second"] {
        token = behind.caller.token_of(id).await;
    }
    assert_eq!(trips(), 3, "a create");
    for _ in 0..2 {
        behind.rotate(&mut token).await;
    }
    assert_eq!(trips(), 2, "a rotation");
    for name in ["A name", "Another name"] {
        let update = json!({"user_group_id": "second", "name": name});
        behind.caller.put(&update).await.ok();
    }
    assert_eq!(trips(), 2, "an update");
    behind.running.stop().await;
}

/// The caller gets a true answer, and the rotation is done once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotation_whose_commit_was_cut_off_is_done_once_and_answered() {
    let Some(behind) = Behind::new().await else {
        return;
    };
    let plan = &behind.cutter.plan;
    let mut token = behind.caller.token_of("acme").await;
    for turn in 0..30 {
        let cut = [WHOLE, BEFORE, BEHIND][turn % 3];
        plan.commit.store(cut, Ordering::SeqCst);
        behind.rotate(&mut token).await;
    }
    assert_eq!(
        behind.caller.token_of("acme").await,
        token,
        "as it was answered"
    );
    assert_eq!(plan.cuts.load(Ordering::SeqCst), 20);
    assert_eq!(behind.store.decided_commits(), 20);
    let server = postgres::server().expect("it is there");
    let retired = server.execute(&behind.schema, "SELECT count(*) FROM retired_tokens");
    assert_eq!(retired, "30", "each was done once");
    behind.running.stop().await;
}
