//! Scheduled rotations of a place: one at a time, on whatever machine, and the next one when that has ended or is gone.

use super::*;

const DEADLINE: Duration = Duration::from_mins(1);

/// Another machine, whose clock shows this many seconds after `begin`.
fn later(scene: &Scene, begin: Timestamp, seconds: u64) -> Operations {
    let li = scene.world.installation(Side::Testing).by("li@desk7");
    li.at(begin + Duration::from_secs(seconds)).operations()
}

#[tokio::test]
async fn of_many_scheduled_runs_one_begins_and_the_next_after_it() {
    let scene = Scene::new(0).await;
    for _ in 0..3 {
        let all = (0..8).map(|_| later(&scene, Timestamp::now(), 0));
        let begin = all.map(|one| async move { one.begin_scheduled_run().await.expect("asked") });
        let begun = futures_util::future::join_all(begin).await;
        let (mut won, mut held) = (Vec::new(), 0);
        for one in begun {
            match one {
                Ok(run) => won.push(run),
                Err(other) => {
                    assert_eq!(other.state, RunnerState::Running);
                    assert!(other.by.ends_with("@desk7"), "{}", other.by);
                    held += 1;
                }
            }
        }
        assert_eq!((won.len(), held), (1, 7));
        won.remove(0).end().await;
    }
}

#[tokio::test]
async fn a_silent_run_is_taken_over_and_told_so() {
    let scene = Scene::new(0).await;
    // From before the first: however long this takes, no more time has passed since then.
    let at = Timestamp::now();
    let later = |seconds| later(&scene, at, seconds);
    let begin = async |of: &Operations| of.begin_scheduled_run().await.expect("asked");
    let first = begin(&scene.ana).await.expect("no run is at work");
    let early = begin(&later(20)).await;
    assert!(early.is_err(), "it was heard of 20 s ago");
    let second = begin(&later(3_600)).await.expect("it is gone");
    // Nothing recorded by the first one from now on ends the second.
    first.end().await;
    assert!(begin(&later(3_601)).await.is_err());
    let third = begin(&later(7_300)).await.expect("it is gone, too");
    let told = tokio::time::timeout(DEADLINE, second.taken_over()).await;
    assert!(told.is_ok(), "the next heartbeat shows it");
    third.end().await;
}
