//! A key that is revoked while a change is between its check and its commit: a change either is committed before the
//! revocation is answered, or does not happen.

use std::{sync::mpsc, time::Duration};

use serde_json::json;

use crate::support::{
    postgres::{self, Session},
    service::{Caller, PRODUCTION, Reply, TestService},
    wait::eventually,
};

const CHANGES: [&str; 3] = ["create", "update", "rotate"];

async fn send(caller: &Caller, change: &str, token: &str) -> Reply {
    match change {
        "create" => caller.get(&json!({"user_group_id": "globex"})).await,
        "update" => {
            let named = json!({"user_group_id": "acme", "name": "changed"});
            caller.put(&named).await
        }
        _ => caller.rotate(token).await,
    }
}

fn is_done(reply: &Reply) -> bool {
    reply.status.as_u16() == 200 && reply.json()["success"] == 1
}

/// Everything that a change changes.
const STORED: &str =
    "SELECT string_agg(user_group_id || name || token, ' ' ORDER BY team_id) FROM groups";

/// Sessions of this database that wait for another one.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0 \
     AND query NOT LIKE '%pg_blocking_pids%' AND pid IN (SELECT pid FROM pg_locks l \
     JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ";

/// Asked in a session that is open already: what waits does so only for a while.
fn waiting(looking: &mut Session, schema: &str) -> usize {
    let count = looking.say(&format!("{WAITING}'{schema}')"));
    count.parse().expect("a number")
}

/// The revocation is written, and its commit is on its way, while the request arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_waits_for_a_revocation_in_progress_and_is_refused() {
    let service = TestService::start().await;
    let (Some(schema), Some(server)) = (service.schema(), postgres::server()) else {
        return;
    };
    let token = service.production().token_of("acme").await;
    let mut looking = server.session(schema);
    for change in CHANGES {
        let caller = service.caller(PRODUCTION, None, false);
        // Recorded before, so that no time of use has to be written.
        caller.token_of("acme").await;
        let before = server.execute(schema, STORED);
        let mut revoking = server.session(schema);
        revoking.say("BEGIN; UPDATE keys SET revoked_at = 1 WHERE id = (SELECT MAX(id) FROM keys)");
        let sent = tokio::spawn({
            let token = token.clone();
            async move { send(&caller, change, &token).await }
        });
        eventually("the change waits or has ended", || {
            waiting(&mut looking, schema) > 0 || sent.is_finished()
        })
        .await;
        revoking.say("COMMIT");
        let reply = sent.await.expect("no panic");
        assert_eq!(reply.status.as_u16(), 401, "{change}");
        assert_eq!(server.execute(schema, STORED), before, "{change}");
    }
}

/// The change has passed its check and waits for a row when the key is revoked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revocation_is_answered_only_when_no_change_can_follow() {
    let service = TestService::start().await;
    let (Some(schema), Some(server)) = (service.schema(), postgres::server()) else {
        return;
    };
    let token = service.production().token_of("acme").await;
    let mut looking = server.session(schema);
    for change in ["update", "rotate"] {
        let caller = service.caller(PRODUCTION, None, false);
        caller.token_of("acme").await;
        let mut held = server.session(schema);
        held.say("BEGIN; SELECT * FROM groups WHERE user_group_id = 'acme' FOR UPDATE");
        let sent = tokio::spawn({
            let token = token.clone();
            async move { send(&caller, change, &token).await }
        });
        eventually("the change waits for the row", || {
            waiting(&mut looking, schema) == 1
        })
        .await;
        let keys = service.store.list_keys().expect("readable");
        let newest = keys.last().expect("a key").id;
        let (answer, revoked) = mpsc::channel();
        let other = service.other_store();
        std::thread::spawn(move || answer.send(other.revoke_key(newest).map(drop)));
        let mut at_revocation = None;
        eventually("the revocation waits or is answered", || {
            if let Ok(done) = revoked.try_recv() {
                done.expect("revoked");
                at_revocation = Some(looking.say(STORED));
            }
            at_revocation.is_some() || waiting(&mut looking, schema) == 2
        })
        .await;
        held.say("ROLLBACK");
        let reply = sent.await.expect("no panic");
        if at_revocation.is_none() {
            let done = revoked.recv_timeout(Duration::from_mins(1));
            done.expect("it ends").expect("revoked");
        }
        let after = server.execute(schema, STORED);
        assert_eq!(at_revocation.unwrap_or(after.clone()), after, "{change}");
        assert!(is_done(&reply) || reply.status.as_u16() == 401, "{change}");
    }
}
