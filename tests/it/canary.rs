//! Canaries: unmistakable secrets go through every operation, successful or not, and are in no text, value or file
//! afterwards.

use std::{
    fmt::Debug,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use groupdesk::{
    directory::RotationFilter,
    domain::{change::DesiredFields, token::Token},
    operations::{Done, Failure, Operations, UnknownIdPolicy},
};
use serde_json::{Value, json};

use crate::support::{
    at_once::AtOnce as _,
    faults::{Faults, http, json as answer},
    parrot::parrots,
    proxy::{FaultyProxy, ProxyFault, Then},
    world::{Side, World, files_below, id},
};

const KEY: &str = "canary-key-77e1";
const ACME: &str = "acme-eu";

/// Contained in every secret of these tests that the world does not have by itself.
const CANARY: &str = "canary";

/// Collects every returned value in all its textual forms.
#[derive(Default)]
struct Collector {
    seen: AtomicUsize,
}

impl Collector {
    fn collect(&self, secrets: &[String], what: &str, result: &Result<Done, Failure>) {
        self.seen.fetch_add(1, Ordering::Relaxed);
        let mut said = vec![format!("{result:?} {result:#?}")];
        match result {
            Ok(done) => {
                let warnings = done.warnings.iter();
                said.extend(warnings.map(|warning| format!("{warning} {warning:?}")));
            }
            Err(failure) => {
                let first: &dyn std::error::Error = failure;
                let causes = std::iter::successors(Some(first), |cause| cause.source());
                said.extend(causes.map(|cause| format!("{cause} {cause:?}")));
            }
        }
        assert_no_secret(secrets, what, &said.join(" "));
    }
}

fn assert_no_secret(secrets: &[String], what: &str, said: &str) {
    assert!(!said.contains(CANARY), "{what}: {said}");
    for secret in secrets {
        assert!(!said.contains(secret), "{what}: {said}");
    }
}

fn wanted() -> DesiredFields {
    DesiredFields {
        name: Some("Acme".into()),
        mapping: Some([("7".to_owned(), "40".to_owned())].into_iter().collect()),
        properties: Some(json!({"tier": "gold"}).as_object().expect("one").clone()),
    }
}

/// Runs all operations of one installation, one after another.
async fn run_all(operations: &Operations) -> Vec<(&'static str, Result<Done, Failure>)> {
    let acme = id(ACME);
    let exists = UnknownIdPolicy::Exists;
    let mut results = vec![
        ("create", operations.create(&acme, &wanted()).await),
        ("look up", operations.look_up(&acme, exists).await),
        (
            "update",
            operations.update(&acme, &wanted(), &wanted(), exists).await,
        ),
    ];
    let rotated = operations
        .rotate(&acme, Some("leaked".into()), exists)
        .await;
    if let Ok(done) = &rotated {
        results.push(("confirm", Ok(operations.confirm(done.clone()).await)));
    }
    results.push(("rotate", rotated));
    results
}

/// Everything that can be read from the directory, as text.
async fn directory_text(operations: &Operations) -> String {
    let list = operations.list().await;
    let history = operations.history(None, None).await;
    let open = operations.open_rotations().await;
    let mut said = vec![format!("{list:?} {history:?} {open:?}")];
    let all = RotationFilter::default();
    let rows = operations.directory().rotations(all).await;
    for row in rows.expect("readable") {
        let events = operations.directory().journal_events(row.id).await;
        said.push(format!("{row:?} {events:?}"));
    }
    said.join(" ")
}

fn debug_of(operations: &Operations) -> String {
    fn shown(value: &impl Debug) -> String {
        format!("{value:?} {value:#?}")
    }
    shown(operations.profile()) + &shown(operations.directory())
}

/// Scans the files. The directory's own files must be among them, or the scan proves nothing.
fn scan(world: &World, secrets: &[String]) {
    let files = files_below(&world.installations()).expect("readable");
    let has = |suffix: &str| {
        let file: PathBuf = world.directory_file();
        files.contains(&PathBuf::from(format!("{}{suffix}", file.display())))
    };
    assert!(has("") && has("-wal") && has("-shm"), "{files:?}");
    let canaries = ["canary-token-", "canary-key-"].map(str::to_owned);
    world.scan_installations(&[secrets, &canaries].concat());
}

#[tokio::test]
async fn with_the_real_service_no_key_and_no_token_is_anywhere() {
    let world = World::new().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let witness = Collector::default();
    let installation = world.installation(Side::Testing).through(proxy.base_url());
    let operations = installation.operations();
    let mut secrets = world.secrets();
    let refusal = http(
        "403 Forbidden",
        &["Content-Type: application/json"],
        json!({"success": 0, "error": "no"}).to_string(),
    );
    for then in [
        Then::Pass,
        Then::Drop,
        Then::Half,
        Then::Instead(refusal),
        Then::Instead(http("500 Oops", &[], "no")),
    ] {
        proxy.next("POST", ProxyFault::applied(then));
        secrets.extend(world.secrets());
        let results = Box::pin(run_all(&operations)).await;
        secrets.extend(world.secrets());
        for (what, result) in &results {
            witness.collect(&secrets, what, result);
        }
        assert_no_secret(&secrets, "remembered", &directory_text(&operations).await);
        assert_no_secret(&secrets, "debug", &debug_of(&operations));
    }
    let tokens = proxy.bodies("POST");
    assert_eq!(tokens.len(), 5, "every round rotated");
    secrets.extend(tokens.iter().map(|body| text(&body["current_token"])));
    secrets.sort();
    secrets.dedup();
    assert!(
        secrets.len() >= 4 + 6,
        "four keys, and a token more than rotations"
    );
    assert!(witness.seen.load(Ordering::Relaxed) >= 20);
    scan(&world, &secrets);
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// A good answer with this token; id and everything else as requested.
fn good(token: &str) -> Value {
    json!({"success": 1, "new_user_group": false, "user_group": {
        "team_id": 7, "token": token, "name": "Acme", "provided_id": ACME,
        "properties": null, "api_environment_tag": "Testing"}})
}

/// A token that was never mentioned before, in the shape of tokens.
const FOREIGN: &str = "c0ffee00c0ffee11c0ffee22c0ffee33c0ffee44c0ffee55c0ffee66c0ffee77";

/// The first token, a bad answer to the rotation, and then the answer to the get.
#[tokio::test]
async fn secrets_repeated_by_a_service_appear_nowhere() {
    let witness = Collector::default();
    let world = World::new().await;
    let secrets = vec![KEY.to_owned(), FOREIGN.to_owned()];
    let rounds = parrots(KEY, FOREIGN, FOREIGN).len();
    for round in 0..rounds {
        let (_, fault) = parrots(KEY, FOREIGN, FOREIGN).swap_remove(round);
        // As the answer to everything.
        let server = Faults::always(fault).await;
        let installation = world
            .installation(Side::Testing)
            .key(KEY)
            .through(server.base_url());
        let operations = installation.timeout(Duration::from_secs(20)).operations();
        for (what, result) in Box::pin(run_all(&operations)).await {
            assert!(result.is_err(), "{what}: {result:?}");
            witness.collect(&secrets, what, &result);
        }
        assert_no_secret(&secrets, "remembered", &directory_text(&operations).await);
        // As the answer to the rotation alone; the token differs in every round.
        let sent = format!("canary-token-{round}-old");
        let (_, fault) = parrots(KEY, &sent, FOREIGN).swap_remove(round);
        let (old, new) = (good(&sent), good(&format!("canary-token-{round}-new")));
        let server = Faults::start([answer("200 OK", &old), fault, answer("200 OK", &new)]).await;
        let name = format!("desk-{round}");
        let directory = world.other_directory(&name);
        let installation = world.installation(Side::Testing).key(KEY).on(&directory);
        let operations = installation.through(server.base_url()).operations();
        let result = operations
            .rotate(&id(ACME), Some("leaked".into()), UnknownIdPolicy::Exists)
            .await;
        witness.collect(&secrets, "rotate", &result);
        assert_no_secret(&secrets, "remembered", &directory_text(&operations).await);
        let posts = server
            .requests()
            .iter()
            .filter(|request| request.head().starts_with("POST "))
            .count();
        assert_eq!(posts, 1);
    }
    // And a good answer, so that the token itself passes through everything.
    let server = Faults::start([
        answer("200 OK", &good("canary-token-1")),
        answer("200 OK", &good("canary-token-2")),
    ])
    .await;
    // With another directory, because open creates lock the group in this one.
    let directory = world.other_directory("last");
    let installation = world.installation(Side::Testing).key(KEY).on(&directory);
    let operations = installation.through(server.base_url()).operations();
    let done = operations
        .rotate(&id(ACME), None, UnknownIdPolicy::Exists)
        .await;
    witness.collect(&secrets, "rotate", &done);
    let done = done.expect("rotated");
    assert_eq!(done.token().map(Token::expose), Some("canary-token-2"));
    let confirmed = Ok(operations.confirm(done).await);
    witness.collect(&secrets, "confirm", &confirmed);
    assert!(witness.seen.load(Ordering::Relaxed) > 5 * rounds);
    scan(&world, &secrets);
}
