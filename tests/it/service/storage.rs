//! The files on disk, and that every acknowledged write is in them.

use groupdesk::{
    api::wire::GroupRequest,
    service::{
        Limits, Service, Setup,
        seed::Seeded,
        store::{Options, Store, StoreError},
    },
};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::support::service::{Caller, PRODUCTION, TESTING, TestService};

/// A copy of the files at this moment is what a killed process would leave behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_write_is_in_the_files_at_once() {
    let service = TestService::start().await;
    let caller = service.testing();
    for round in 0..5 {
        let calls = (0..20).map(async |n| {
            let (id, name) = (format!("group {round} {n}"), format!("named {n}"));
            let first = caller.token_of(&id).await;
            let update = json!({"user_group_id": id, "name": name});
            caller.put(&update).await.ok();
            let rotated = caller.rotate(&first).await.ok();
            let token = rotated["user_group"]["token"].as_str().expect("a token");
            (id, name, token.to_owned())
        });
        let acknowledged = futures_util::future::join_all(calls).await;
        let killed = crate::support::folder::temporary();
        let copy = killed.path().join("service.db");
        for suffix in ["", "-wal"] {
            let from = format!("{}{suffix}", service.database.display());
            let to = format!("{}{suffix}", copy.display());
            std::fs::copy(from, to).expect("copied");
        }
        let copied = rusqlite::Connection::open(&copy).expect("open");
        for connection in [service.other_connection(), copied] {
            let text = "SELECT name || ' ' || token FROM groups WHERE user_group_id = ?1";
            for (id, name, token) in &acknowledged {
                let found = connection.query_row(text, [id], |row| row.get::<_, String>(0));
                assert_eq!(found.expect("the group"), format!("{name} {token}"));
            }
        }
    }
}

#[tokio::test]
async fn groups_keys_and_retired_tokens_survive_a_restart() {
    let service = TestService::start().await;
    let old = service.testing().token_of("acme").await;
    service.testing().rotate(&old).await.ok();
    let new = service.testing().token_of("acme").await;
    service.running.stop().await;
    drop(service.store);
    let wal = format!("{}-wal", service.database.display());
    assert!(!std::fs::exists(wal).expect("known"), "closed properly");
    let store = Store::open(&service.database, Options::default()).expect("open");
    let listen = "127.0.0.1:0".parse().expect("an address");
    let (limits, setup) = (Limits::default(), Setup::default());
    let again = Service::start(listen, store, "/api/user", limits, setup).await;
    let again = again.expect("a port");
    let caller = Caller::new(&format!("http://{}", again.address), &service.testing_key);
    assert_eq!(caller.token_of("acme").await, new);
    let refused = caller.rotate(&old).await.refused();
    assert_eq!(refused, (409, "token_retired".into()));
    again.stop().await;
}

fn seed(
    store: &Store,
    environment: &'static str,
    groups: Vec<GroupRequest>,
) -> Result<Vec<Seeded>, StoreError> {
    store.seed(move |seeder| seeder.add(environment, groups))
}

fn seeds(count: usize) -> Vec<GroupRequest> {
    (0..count)
        .map(|n| GroupRequest {
            user_group_id: format!("group-{n}"),
            name: Some(format!("Group {n}")),
            mapping: Some([("7".to_owned(), n.to_string())].into_iter().collect()),
            properties: json!({"n": n}).as_object().cloned(),
        })
        .collect()
}

#[tokio::test]
async fn seeded_groups_are_like_any_other_and_existing_ones_are_skipped() {
    let service = TestService::start().await;
    let (caller, store) = (service.testing(), &service.store);
    let existing = caller.token_of("group-3").await;
    let seeded = seed(store, TESTING, seeds(1_000)).expect("seeded");
    assert_eq!(seeded.len(), 1_000);
    assert_eq!(seeded[3].token.expose_secret(), existing);
    let body = json!({"user_group_id": "group-999", "properties": {}});
    let answer = caller.get(&body).await.ok();
    assert_eq!(answer["new_user_group"], false);
    let (group, last) = (&answer["user_group"], &seeded[999]);
    assert_eq!(group["team_id"], last.team_id);
    assert_eq!(group["token"], last.token.expose_secret());
    assert_eq!(group["properties"], json!({"n": 999}));
    let again = seed(store, TESTING, seeds(1_000)).expect("seeded");
    let mut both = seeded.iter().zip(&again);
    let is_same =
        |(one, other): (&Seeded, &Seeded)| one.token.expose_secret() == other.token.expose_secret();
    assert!(again.len() == 1_000 && both.all(is_same));
    // Customer and Testing may share ids; an environment without a tag may not, and then nothing is added.
    seed(store, PRODUCTION, seeds(3)).expect("seeded");
    service.caller("plain", None, false);
    let mut mixed = seeds(1);
    mixed[0].user_group_id = "fresh".into();
    mixed.extend(seeds(1));
    let refused = seed(store, "plain", mixed).expect_err("a shared id");
    let refused = refused.to_string();
    assert!(refused.starts_with("group 2 cannot be seeded"), "{refused}");
    let fresh = "SELECT count(*) FROM groups WHERE user_group_id = 'fresh'";
    assert_eq!(service.stored(fresh), "0");
    let unknown = seed(store, "nowhere", seeds(1)).expect_err("unknown");
    let unknown = unknown.to_string();
    assert!(
        unknown.contains("no environment named \"nowhere\""),
        "{unknown}"
    );
}
