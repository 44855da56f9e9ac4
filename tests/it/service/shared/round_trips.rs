//! A change takes few round trips to the database: over a network each costs more than the database itself.

use std::sync::atomic::Ordering;

use groupdesk::{
    api::wire::DEFAULT_PATH,
    service::{
        Service,
        store::{Options, SharedStorage, Store},
    },
};

use crate::support::{cutter::Cutter, postgres, service::Caller};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_takes_two_and_a_create_three() {
    let (Some((_, schema)), Some(server)) = (postgres::storage(), postgres::server()) else {
        return;
    };
    let cutter = Cutter::new(server.folder());
    let folder = cutter.folder.path().display().to_string();
    let folder = folder.replace('/', "%2F");
    let behind = SharedStorage::parse(&format!("postgres://serving@{folder}/postgres"), &schema);
    let store = Store::open_shared(&behind.expect("an address"), Options::default());
    let store = store.expect("set up");
    let (_, key) = store.create_key("live", None, false).expect("a key");
    let listen = "127.0.0.1:0".parse().expect("an address");
    let running = Service::start(listen, store.clone(), DEFAULT_PATH).await;
    let running = running.expect("a port");
    let caller = Caller::new(&format!("http://{}", running.address), &key);
    let trips = || cutter.plan.trips.load(Ordering::SeqCst);
    // The first of each kind also prepares its statements, on the connection that is then used again.
    let mut token = String::new();
    for id in ["first", "second"] {
        token = caller.token_of(id).await;
    }
    assert_eq!(trips(), 3, "a create");
    for _ in 0..2 {
        token = {
            let rotated = caller.rotate(&token).await.ok();
            let new = rotated["user_group"]["token"].as_str().expect("a token");
            new.to_owned()
        };
    }
    assert_eq!(trips(), 2, "a rotation");
    for name in ["A name", "Another name"] {
        let update = serde_json::json!({"user_group_id": "second", "name": name});
        caller.put(&update).await.ok();
    }
    assert_eq!(trips(), 2, "an update");
    running.stop().await;
}
