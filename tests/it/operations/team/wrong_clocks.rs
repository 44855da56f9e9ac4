//! The clock of a laptop is a day wrong. What was rotated just now is decided by the database's.

use super::*;

#[tokio::test]
async fn a_bulk_rotation_skips_what_was_just_rotated_whatever_the_clocks_show() {
    let scene = Scene::new().await;
    if scene.world.team().is_none() {
        return;
    }
    let with_clock = |who: &str, wrong: i64| {
        let installation = scene.installation().by(who);
        let wrong = SignedDuration::from_hours(wrong);
        installation.clock(Clock::Wrong(wrong)).operations()
    };
    for (number, (rotates, plans)) in [(0, 25), (-25, 0), (0, 0)].into_iter().enumerate() {
        let group = format!("g{number}");
        scene.meet(&group).await;
        let group = id(&group);
        let ana = with_clock(ANA, rotates);
        let rotated = ana.rotate(&group, None, KNOWN).await.expect("rotated");
        ana.confirm(rotated).await;
        let ben = with_clock(LI, plans);
        let plan = ben.plan_batch(std::slice::from_ref(&group), false).await;
        let plan = plan.expect("readable");
        assert_eq!(plan.ready, [], "{rotates} {plans}");
        assert!(plan.skipped[0].1.is_recent(), "{:?}", plan.skipped);
        let all = ben.plan_batch(std::slice::from_ref(&group), true).await;
        assert_eq!(all.expect("readable").ready, [group], "on request");
    }
    // By this one `--older-than` and the 30 days of a bulk edit go.
    let [ana, ben] = [0, 25].map(|wrong| with_clock(LI, wrong));
    let apart = ben.common_now().await.expect("read");
    let apart = apart.duration_since(ana.common_now().await.expect("read"));
    assert!(apart.abs() < SignedDuration::from_hours(1), "{apart}");
}

/// Otherwise nothing could be rotated for a day after a failover or a move.
#[tokio::test]
async fn what_another_clock_timed_is_not_recent() {
    let scene = Scene::new().await;
    let Some(team) = scene.world.team() else {
        return;
    };
    let taker = HandOffScript::new("exit 3");
    let ana = taker.at(scene.installation()).operations();
    let done = ana.confirm(rotate(&ana).await.expect("rotated")).await;
    let row = done.rotation.expect("a row");
    let later = Timestamp::now() + SignedDuration::from_hours(25);
    let ben = scene.installation().by(LI).at(later).operations();
    let server = postgres::server().expect("a server");
    let is_recent = async || {
        let plan = ben.plan_batch(&[id(ACME)], false).await;
        plan.expect("readable").ready.is_empty()
    };
    let set = |text: &str| {
        let text = format!("BEGIN; SET LOCAL session_replication_role = replica; {text}; COMMIT");
        server.execute(team.schema(), &text);
    };
    assert!(is_recent().await);
    // Copied.
    set("UPDATE last_changes SET boot_clock = NULL");
    assert!(!is_recent().await);
    // As after a failover, with the first connection that is opened then.
    for table in ["rotations", "last_changes"] {
        set(&format!(
            "UPDATE {table} SET boot_clock = now_in_micros() - 1000000 || '@before'"
        ));
    }
    set("UPDATE installation SET timeline = 'before'");
    assert!(!is_recent().await);
    server.execute(team.schema(), "SELECT care()");
    assert!(!is_recent().await, "started again");
    // So did the time in which its process may be handing it off.
    let text = "SELECT split_part(boot_clock, '@', 2) = timeline() FROM rotations";
    assert_eq!(server.execute(team.schema(), text), "t");
    ana.hand_off_again(row).await.expect("run");
    assert!(!is_recent().await, "handed off again");
    rotate(&ana).await.expect("rotated");
    assert!(is_recent().await);
}
