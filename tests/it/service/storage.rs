//! The files on disk, and that every acknowledged write is in them.

use std::os::unix::fs::MetadataExt;

use groupdesk::service::{
    seed::SeedGroup,
    store::{Store, StoreError},
};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::support::service::{PRODUCTION, TESTING, TestService};

#[tokio::test]
async fn every_file_is_private_to_its_owner() {
    let service = TestService::start().await;
    let modes = || {
        let folder = service.database.parent().expect("a folder");
        let mut modes = vec![(folder.to_owned(), 0o700)];
        for entry in std::fs::read_dir(folder).expect("a folder") {
            modes.push((entry.expect("an entry").path(), 0o600));
        }
        assert_eq!(modes.len(), 4, "folder, database, -wal, -shm: {modes:?}");
        for (path, wanted) in modes {
            let mode = std::fs::metadata(&path).expect("it exists").mode() & 0o777;
            assert_eq!(mode, wanted, "{}", path.display());
        }
    };
    modes();
    service.testing().token_of("acme").await;
    modes();
}

/// A copy of the files at this moment is what a killed process would leave behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_write_is_in_the_files_at_once() {
    let service = TestService::start().await;
    let caller = service.testing();
    for round in 0..5 {
        let calls = (0..20).map(|n| {
            let caller = caller.clone();
            async move {
                let id = format!("group {round} {n}");
                let first = caller.token_of(&id).await;
                let update = json!({"user_group_id": id, "name": format!("named {n}")});
                caller.put(&update).await.ok();
                let rotated = caller.rotate(&first).await.ok();
                let token = rotated["user_group"]["token"].as_str().expect("a token");
                (id, format!("named {n}"), token.to_owned())
            }
        });
        let acknowledged = futures_util::future::join_all(calls).await;

        let killed = tempfile::tempdir().expect("a folder");
        let copy = killed.path().join("service.db");
        for suffix in ["", "-wal"] {
            let from = format!("{}{suffix}", service.database.display());
            let to = format!("{}{suffix}", copy.display());
            std::fs::copy(from, to).expect("copied");
        }
        let copied = rusqlite::Connection::open(&copy).expect("open");
        for connection in [service.other_connection(), copied] {
            let mut statement = connection
                .prepare("SELECT name, token FROM groups WHERE user_group_id = ?1")
                .expect("SQL");
            for (id, name, token) in &acknowledged {
                let found: (String, String) = statement
                    .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                    .expect("the group");
                assert_eq!(found, (name.clone(), token.clone()));
            }
        }
    }
}

#[tokio::test]
async fn groups_keys_and_retired_tokens_survive_a_restart() {
    let mut service = TestService::start().await;
    let old = service.testing().token_of("acme").await;
    service.testing().rotate(&old).await.ok();
    let new = service.testing().token_of("acme").await;
    let (database, key) = (service.database.clone(), service.testing_key.clone());

    service.running.stop().await;
    drop(service.store);
    let wal = format!("{}-wal", database.display());
    assert!(!std::fs::exists(wal).expect("known"), "closed properly");
    service.store = Store::open(&database).expect("open");
    let listen = "127.0.0.1:0".parse().expect("an address");
    let again = groupdesk::service::Service::start(listen, service.store, "/api/user").await;
    let again = again.expect("a port");
    let caller = crate::support::service::Caller::new(&format!("http://{}", again.address), &key);
    assert_eq!(caller.token_of("acme").await, new);
    assert_eq!(
        caller.rotate(&old).await.refused(),
        (409, "token_retired".into())
    );
    again.stop().await;
}

fn seeds(count: usize) -> Vec<SeedGroup> {
    (0..count)
        .map(|n| SeedGroup {
            user_group_id: format!("group-{n}"),
            name: format!("Group {n}"),
            mapping: [("7".to_owned(), n.to_string())].into_iter().collect(),
            properties: json!({"n": n}).as_object().cloned().expect("an object"),
        })
        .collect()
}

#[tokio::test]
async fn seeded_groups_are_like_any_other_and_existing_ones_are_skipped() {
    let service = TestService::start().await;
    let caller = service.testing();
    let existing = caller.token_of("group-3").await;
    let seeded = service.store.seed(TESTING, seeds(1_000)).expect("seeded");
    assert_eq!(seeded.len(), 1_000);
    assert_eq!(seeded.iter().filter(|group| group.created).count(), 999);
    assert_eq!(seeded[3].token.expose_secret(), existing);
    let body = json!({"user_group_id": "group-999", "properties": {}});
    let answer = caller.get(&body).await.ok();
    assert_eq!(answer["new_user_group"], false);
    assert_eq!(answer["user_group"]["team_id"], seeded[999].team_id);
    assert_eq!(
        answer["user_group"]["token"],
        seeded[999].token.expose_secret()
    );
    assert_eq!(answer["user_group"]["properties"], json!({"n": 999}));
    let again = service.store.seed(TESTING, seeds(1_000)).expect("seeded");
    assert!(again.iter().all(|group| !group.created));
    // Customer and Testing may share ids; an environment without a tag may not, and then nothing is added.
    service.store.seed(PRODUCTION, seeds(3)).expect("seeded");
    service.caller("plain", None, false);
    let mut mixed = seeds(1);
    mixed[0].user_group_id = "fresh".into();
    mixed.extend(seeds(1));
    let refused = service.store.seed("plain", mixed).expect_err("a shared id");
    assert!(
        matches!(refused, StoreError::Seed { number: 2, .. }),
        "{refused}"
    );
    let fresh: i64 = service
        .other_connection()
        .query_row(
            "SELECT count(*) FROM groups WHERE user_group_id = 'fresh'",
            [],
            |row| row.get(0),
        )
        .expect("a count");
    assert_eq!(fresh, 0);
    let unknown = service
        .store
        .seed("nowhere", seeds(1))
        .expect_err("no such environment");
    assert_eq!(unknown, StoreError::UnknownEnvironment("nowhere".into()));
}
