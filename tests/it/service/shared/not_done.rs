//! What a server refuses has not been done, and is answered so: a role that lost a right, a server that became read-only,
//! is full, or lets the role in no more. An error that proves nothing stays unclear.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use groupdesk::service::{Limits, store::Options};
use serde_json::json;

use crate::{
    service::pressure::assert_overloaded,
    support::{postgres, service::TestService},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_refuses_is_answered_as_not_done_and_reported() {
    let reported = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reported);
    let options = Options {
        report: Some(Arc::new(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })),
        ..Options::default()
    };
    let service = TestService::start_with(options, Limits::default()).await;
    let (Some(schema), Some(server)) = (service.schema(), postgres::server()) else {
        return;
    };
    let (caller, body) = (service.testing(), json!({"user_group_id": "acme"}));
    let create = async || caller.get(&body).await;
    // Recorded before, so that no time of use has to be written.
    caller.token_of("other").await;
    let mut failures = 0;
    let mut told = || {
        failures += 1;
        let counted = usize::try_from(service.store.failures()).expect("few");
        (counted, reported.load(Ordering::SeqCst)) == (failures, failures)
    };

    server.execute(schema, "REVOKE INSERT ON groups FROM serving");
    assert_overloaded(&create().await);
    assert!(told(), "a missing right");
    server.execute(schema, "GRANT INSERT ON groups TO serving");
    let raising = |code: &str| {
        let text = format!(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE 'no' USING ERRCODE = '{code}'; END $$"
        );
        server.execute(schema, &text);
    };
    raising("25006");
    let trigger =
        "CREATE TRIGGER refuse BEFORE INSERT ON groups FOR EACH ROW EXECUTE FUNCTION refuse()";
    server.execute(schema, trigger);
    for code in ["25006", "53100", "28P01"] {
        raising(code);
        assert_overloaded(&create().await);
        assert!(told(), "{code}");
    }
    raising("P0001");
    let unclear = create().await;
    assert_eq!(unclear.refused(), (500, "internal_error".into()));
    assert!(!unclear.headers.contains_key("groupdesk-not-done"));
    assert!(told(), "an error of another kind");

    server.execute(schema, "DROP TRIGGER refuse ON groups");
    assert_eq!(create().await.ok()["new_user_group"], true);
}
