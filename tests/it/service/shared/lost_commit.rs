//! The connection to the database breaks at the commit of a rotation: the caller gets a true answer, and the rotation
//! is done once.

use std::sync::atomic::Ordering;

use groupdesk::{
    api::wire::DEFAULT_PATH,
    service::{
        Service,
        store::{Options, SharedStorage, Store},
    },
};

use crate::support::{
    cutter::{BEFORE, BEHIND, Cutter, WHOLE},
    postgres,
    service::Caller,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotation_whose_commit_was_cut_off_is_done_once_and_answered() {
    let (Some((_, schema)), Some(server)) = (postgres::storage(), postgres::server()) else {
        return;
    };
    let cutter = Cutter::new(server.folder());
    let folder = cutter
        .folder
        .path()
        .display()
        .to_string()
        .replace('/', "%2F");
    let behind = SharedStorage::parse(&format!("postgres://serving@{folder}/postgres"), &schema);
    let store = Store::open_shared(&behind.expect("an address"), Options::default());
    let store = store.expect("set up");
    let (_, key) = store.create_key("live", None, false).expect("a key");
    let listen = "127.0.0.1:0".parse().expect("an address");
    let running = Service::start(listen, store.clone(), DEFAULT_PATH).await;
    let running = running.expect("a port");
    let caller = Caller::new(&format!("http://{}", running.address), &key);
    let mut token = caller.token_of("acme").await;
    for turn in 0..30 {
        let cut = [WHOLE, BEFORE, BEHIND][turn % 3];
        cutter.plan.commit.store(cut, Ordering::SeqCst);
        let rotated = caller.rotate(&token).await.ok();
        let new = rotated["user_group"]["token"].as_str().expect("a token");
        assert_ne!(new, token);
        token = new.to_owned();
    }
    assert_eq!(caller.token_of("acme").await, token, "as it was answered");
    assert_eq!(cutter.plan.cuts.load(Ordering::SeqCst), 20);
    assert_eq!(store.decided_commits(), 20);
    let retired = server.execute(&schema, "SELECT count(*) FROM retired_tokens");
    assert_eq!(retired, "30", "each was done once");
    running.stop().await;
}
