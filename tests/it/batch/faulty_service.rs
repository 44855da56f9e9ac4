//! Two hundred groups against a service that fails in every way, stopped and resumed until nothing is left.

use groupdesk::{
    domain::batch::ItemStatus,
    operations::batch::{BatchEvent, RunLimits},
};
use serde_json::json;

use super::{Scene, watch};
use crate::support::{
    faults::http,
    proxy::{ProxyFault, Then},
};

/// The fault of the rotation request with this number, counted from 0.
fn fault_of(number: usize) -> ProxyFault {
    let json = "Content-Type: application/json";
    match number % 100 {
        10 | 60 => {
            let body = json!({"success": 0}).to_string();
            let bytes = http("500 Internal Server Error", &[json], body);
            ProxyFault::applied(Then::Instead(bytes))
        }
        30 | 80 => ProxyFault::applied(Then::Half),
        50 => {
            let body = json!({"success": 0}).to_string();
            let bytes = http("429 Too Many Requests", &[json, "Retry-After: 0"], body);
            ProxyFault::swallowed(Then::Instead(bytes))
        }
        _ => ProxyFault::passed(),
    }
}

#[tokio::test]
async fn two_hundred_groups_with_faults_are_all_rotated_once() {
    const GROUPS: usize = 200;
    let scene = Scene::new(GROUPS).await;
    for number in 0..GROUPS {
        scene.proxy.next("POST", fault_of(number));
    }
    let batch = scene.begin().await;
    let pace = RunLimits {
        concurrency: 8,
        ..RunLimits::default()
    };
    // Stopped after every fifty, as by a lost connection.
    let mut runs = 0;
    let report = loop {
        runs += 1;
        assert!(runs < 20, "it never ends");
        let mut run = scene.run(batch, pace).await;
        let mut ended = 0;
        let report = loop {
            match run.progress.recv().await.expect("news") {
                BatchEvent::Ended(_) => ended += 1,
                BatchEvent::Finished(report) => break report,
                _ => {}
            }
            if ended == 50 {
                run.control
                    .stop(groupdesk::domain::batch::StopCause::Person);
            }
        };
        scene.check(&report).await;
        if report.counts.not_started == 0 {
            break report;
        }
    };
    assert!(runs >= 4, "it was resumed");
    assert_eq!(scene.proxy.count("POST"), GROUPS);
    assert_eq!(report.counts.confirmed, GROUPS - 2, "{}", report.counts);
    assert_eq!(
        report.counts.not_applied, 2,
        "the two that were answered 429"
    );

    let failed = scene.ana.not_applied_groups(batch).await.expect("readable");
    let plan = scene
        .ana
        .plan_batch(&failed, false)
        .await
        .expect("readable");
    let again = scene.ana.begin_batch(&plan, None).await.expect("durable");
    let (ended, _) = watch(scene.run(again, pace).await).await;
    assert!(ended.iter().all(|one| one.status == ItemStatus::Confirmed));
    assert_eq!(ended.len(), 2);
}
