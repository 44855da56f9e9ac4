//! Guards are enforced in `operations`, so that no caller can bypass them; and the tag alarm (hazard 11), in whichever
//! answer the tag comes. That every operation asks its guard: `limits.rs`.

use super::*;
use groupdesk::config::guard::Operation;

/// A profile that expects another tag than its service answers with; the directory has no tag yet.
fn expecting_another_tag(scene: &Scene) -> Operations {
    let customer = Some(EnvironmentTag::Customer);
    let misled = scene.installation();
    misled
        .with(|profile| profile.environment = customer)
        .operations()
}

#[tokio::test]
async fn an_answer_with_another_tag_is_an_alarm_and_stops_a_bulk_rotation() {
    let scene = Scene::new().await;
    let ids = [ACME, "globex", "hooli", "initech", "umbrella"];
    for group in &ids[1..] {
        scene.meet(group).await;
    }
    let misled = expecting_another_tag(&scene);
    let plan = misled.plan_batch(&ids.map(id), false).await;
    let plan = plan.expect("readable");
    assert_eq!(plan.ready.len(), 5, "no tag is known yet");
    let batch = misled.begin(&plan).await.expect("durable");
    let ran = misled.run_through(batch, one_at_a_time()).await;
    let (mut ended, report) = ran.expect("it begins");
    ended.retain(|one| one.status != ItemStatus::NotStarted);
    assert!(ended.iter().all(|one| one.wrong_environment), "{ended:?}");
    let notes: Vec<_> = ended.into_iter().filter_map(|one| one.note).collect();
    assert_eq!(report.halt, Some(Halt::Conflict(id(ACME))));
    assert_eq!((report.counts.conflict, report.counts.not_started), (1, 4));
    assert_eq!(scene.proxy.count("POST"), 1, "nothing follows the alarm");
    assert_has(&notes[0], "ALARM");
    assert_has(&notes[0], "tagged Testing");
}

#[tokio::test]
async fn an_update_answered_with_another_tag_is_done_and_an_alarm() {
    let scene = Scene::new().await;
    let misled = expecting_another_tag(&scene);
    let done = update(&misled, &DesiredFields::default(), &only_name("Acme")).await;
    let done = done.expect("it was done");
    let alarm = done.warnings.iter().find(|warning| warning.is_alarm());
    assert_is!(alarm, Some(Warning::WrongTag { .. }), "{:?}", done.warnings);
    let sent = scene.proxy.methods();
    assert_eq!(sent, ["GET", "PUT"], "nothing follows, not even the read");
    assert_has(&scene.history_notes().await[0], "ALARM");
    // From now on nothing is sent until a person has resolved the alarm.
    assert_is!(rotate(&misled).await, Err(Failure::Place(_)));
    assert_eq!(scene.proxy.count("POST"), 0);
}

#[tokio::test]
async fn a_forbidden_hand_off_leaves_the_new_token_waiting() {
    let scene = Scene::new().await;
    let folder = crate::support::folder::temporary();
    let taken = folder.path().join("taken");
    let guarded = scene.installation().with(|profile| {
        profile.handoff = Some(HandOffCommand {
            command: vec!["/usr/bin/tee".into(), taken.display().to_string()],
            timeout: std::time::Duration::from_secs(30),
        });
        profile.guards = vec![Guard {
            operation: Operation::HandOff,
            rule: Rule::Forbid,
            reason: "change freeze".into(),
        }];
    });
    let guarded = guarded.operations();
    let done = rotate(&guarded).await.expect("rotated");
    let done = guarded.confirm(done).await;
    let handed = guarded.hand_off(&done).await.expect("a token");
    assert_eq!(handed.handoff.state, HandOffState::Pending);
    assert_has(&handed.handoff.note.unwrap_or_default(), "change freeze");
    assert!(!taken.exists(), "the command was not run");
    let waiting = guarded.pending_hand_offs().await.expect("readable");
    assert_eq!(waiting.len(), 1, "somebody with the right can do it later");
}
