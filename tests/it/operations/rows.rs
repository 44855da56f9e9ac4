//! Rows of a file: no more than were confirmed, nothing sent during an alarm, and rows that were put off are sent
//! again.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use groupdesk::{
    domain::{annotation::AnnotationChange, change::DesiredFields},
    formats::GroupRow,
    operations::{
        Failure, Operations, Permit, RowEnd, Sending,
        batch::{Control, Slot},
    },
};
use serde_json::json;

use super::{ACME, Scene};
use crate::support::{
    faults::http,
    proxy::{ProxyFault, Then},
    world::{Side, id},
};

fn named(group: &str, name: &str) -> GroupRow {
    GroupRow {
        id: id(group),
        fields: DesiredFields {
            name: Some(name.into()),
            mapping: None,
            properties: None,
        },
        annotation: AnnotationChange::default(),
        parts: groupdesk::formats::Parts::default(),
    }
}

fn permit(operations: &Operations, create: bool, rows: usize) -> Permit {
    let sending = Sending {
        create,
        update: true,
        only_differences: false,
    };
    let permit = operations.sending_permitted(sending, rows);
    permit.expect("nothing forbids it")
}

async fn send(operations: &Operations, permit: &Permit, row: &GroupRow) -> RowEnd {
    let base = known(operations, row).await;
    let control = Control::default();
    operations
        .send_row(
            permit,
            None,
            row,
            base.as_ref(),
            (&control, Slot::default()),
            |_| {},
        )
        .await
}

/// The group as a plan made now shows it.
async fn known(operations: &Operations, row: &GroupRow) -> Option<DesiredFields> {
    let known = operations.show(&row.id).await.expect("readable");
    known.map(|group| DesiredFields::of(&group).restricted_to(&row.fields))
}

/// The service is busy, and nothing is changed.
fn busy() -> ProxyFault {
    let headers = ["Content-Type: application/json", "Retry-After: 0"];
    let body = json!({"success": 0, "error": "slowly"}).to_string();
    ProxyFault::swallowed(Then::Instead(http("429 Too Many Requests", &headers, body)))
}

/// groupdesk's own service under overload.
fn overloaded() -> ProxyFault {
    let headers = [
        "Content-Type: application/json",
        "Retry-After: 0",
        "groupdesk-not-done: 1",
    ];
    let body = json!({"success": 0, "error": {"code": "overloaded", "message": "slowly"}});
    let bytes = http("503 Service Unavailable", &headers, body.to_string());
    ProxyFault::swallowed(Then::Instead(bytes))
}

fn of_another_environment() -> ProxyFault {
    ProxyFault::change(|body| body["user_group"]["api_environment_tag"] = json!("Customer"))
}

#[tokio::test]
async fn no_more_rows_are_sent_than_were_confirmed() {
    let scene = Scene::new().await;
    let permit = permit(&scene.ana, true, 1);
    let first = send(&scene.ana, &permit, &named(ACME, "One")).await;
    assert_eq!(first.outcome(), "updated");
    let sent = scene.proxy.methods().len();
    let second = send(&scene.ana, &permit, &named("globex", "Two")).await;
    assert!(matches!(second, RowEnd::NotStarted), "{second:?}");
    assert_eq!(scene.proxy.methods().len(), sent);
    assert!(scene.world.find_stored(Side::Testing, "globex").is_none());
}

#[tokio::test]
async fn a_row_that_was_put_off_is_sent_again_and_counts_once() {
    let scene = Scene::new().await;
    let permit = permit(&scene.ana, true, 1);
    scene.proxy.next("PUT", busy());
    scene.proxy.next("PUT", overloaded());
    let held = AtomicUsize::new(0);
    let count = |_: Duration| {
        held.fetch_add(1, Ordering::SeqCst);
    };
    let control = Control::default();
    let row = named(ACME, "One");
    let base = known(&scene.ana, &row).await;
    let end = scene.ana.send_row(
        &permit,
        None,
        &row,
        base.as_ref(),
        (&control, Slot::default()),
        count,
    );
    assert_eq!(end.await.outcome(), "updated");
    assert_eq!(held.load(Ordering::SeqCst), 2);
    assert_eq!(scene.proxy.count("PUT"), 3);
    assert_eq!(scene.world.stored(Side::Testing, ACME).name, "One");
}

#[tokio::test]
async fn a_create_that_was_put_off_is_sent_again_and_counts_once() {
    let scene = Scene::new().await;
    let permit = permit(&scene.ana, true, 1);
    scene.proxy.next("GET", overloaded());
    let end = send(&scene.ana, &permit, &named("globex", "One")).await;
    assert_eq!(end.outcome(), "created");
    assert_eq!(scene.proxy.count("GET"), 2);
    assert_eq!(scene.world.stored(Side::Testing, "globex").name, "One");
}

/// The end of a run is no time to wait for the settle window.
#[tokio::test]
async fn a_create_whose_answer_is_lost_is_repeated_by_the_run_and_counts_once() {
    for fault in [ProxyFault::applied, ProxyFault::swallowed] {
        let scene = Scene::new().await;
        let permit = permit(&scene.ana, true, 1);
        scene.proxy.next("GET", fault(Then::Drop));
        scene.proxy.next("GET", ProxyFault::swallowed(Then::Reset));
        let end = send(&scene.ana, &permit, &named("globex", "One")).await;
        assert!(matches!(end, RowEnd::Done { .. }), "{end:?}");
        assert_eq!(scene.proxy.count("GET"), 3);
        assert_eq!(scene.world.stored(Side::Testing, "globex").name, "One");
        assert_eq!(scene.ana.open_changes().await.expect("readable"), []);
    }
}

/// Nothing was changed, and nothing is unknown; a rotation is settled by reading all the same
/// (docs/design/rotation.md).
#[tokio::test]
async fn a_statement_that_nothing_was_done_is_trusted_except_for_a_rotation() {
    let scene = Scene::new().await;
    scene.proxy.next("GET", overloaded());
    let wanted = named("globex", "One").fields;
    let created = scene.ana.create(&id("globex"), &wanted).await;
    let created = created.map(|_| ()).expect_err("it is put off");
    assert!(
        matches!(
            created,
            Failure::Refused {
                status: 503,
                stated: true,
                ..
            }
        ),
        "{created:?}"
    );
    let text = created.to_string();
    assert!(
        text.contains("nothing was changed; wait 0 s, then try again"),
        "{text}"
    );
    scene.proxy.next("PUT", overloaded());
    let updated = super::update(&scene.ana, &wanted, &wanted).await;
    assert!(
        matches!(
            updated,
            Err(Failure::Refused {
                status: 503,
                stated: true,
                ..
            })
        ),
        "{updated:?}"
    );
    let before = scene.proxy.count("GET");
    scene.proxy.next("POST", overloaded());
    let rotated = super::rotate(&scene.ana).await;
    assert!(
        matches!(rotated, Err(Failure::Unknown { .. })),
        "the old token must be read twice: {rotated:?}"
    );
    assert_eq!(scene.proxy.count("POST"), 1);
    assert!(scene.proxy.count("GET") > before + 1, "it was read again");
}

#[tokio::test]
async fn an_answer_from_another_environment_is_an_alarm_and_stops_the_update() {
    let scene = Scene::new().await;
    let permit = permit(&scene.ana, true, 10);
    scene.proxy.next("GET", of_another_environment());
    let read = send(&scene.ana, &permit, &named(ACME, "One")).await;
    assert!(read.is_alarm(), "{read:?}");
    assert_eq!(scene.proxy.methods(), ["GET"]);

    // The same where a create finds an existing group.
    let fresh = scene.world.other_directory("li");
    let li = scene.installation().on(&fresh).operations();
    scene.proxy.next("GET", of_another_environment());
    let found = send(&li, &permit, &named(ACME, "One")).await;
    assert!(found.is_alarm(), "{found:?}");
    assert_eq!(scene.proxy.methods(), ["GET", "GET"]);
    let stored = scene.world.stored(Side::Testing, ACME);
    assert_eq!(stored.name, "Acme Europe");

    // Without a tag the group only differs from the plan: it is new. The next plan shows it, and it is updated.
    let fresh = scene.world.other_directory("mo");
    let mo = scene.installation().on(&fresh).operations();
    let since = send(&mo, &permit, &named(ACME, "One")).await;
    assert!(since.is_changed_since() && !since.is_alarm(), "{since:?}");
    assert_eq!(scene.world.stored(Side::Testing, ACME).name, "Acme Europe");
    let done = send(&mo, &permit, &named(ACME, "One")).await;
    assert_eq!(done.outcome(), "updated");
}
