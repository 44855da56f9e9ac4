//! A refresh of all groups that is interrupted, waits or fails, and what the next one continues with.

use std::{io, process::Stdio, sync::Arc};

use groupdesk::{
    domain::batch::Halt,
    operations::{
        Clock, Done, RefreshEvent, UnknownIdPolicy,
        batch::{RunLimits, TokenSink},
    },
};
use jiff::SignedDuration;
use rustix::process::{Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::assert_sum;
use crate::{
    batch::{
        Scene,
        binary::{pid, read, wait},
        one_at_a_time,
    },
    support::{
        faults::http,
        proxy::{Gate, ProxyFault, Then},
        stderr::says,
        world::{LI, Side, id},
    },
};

#[tokio::test]
async fn a_signal_finishes_requests_in_flight_and_resume_reads_the_rest() {
    for signal in [Signal::HUP, Signal::TERM, Signal::INT] {
        let scene = Scene::new(5).await;
        let gate = Gate::new();
        scene.proxy.next("GET", ProxyFault::passed());
        scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
        let arguments = ["get", "--refresh-all", "--json", "--concurrency", "1"];
        let mut command = scene.program(&arguments);
        command.stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        gate.reached().await;
        kill_process(pid(&child), signal).expect("it runs");
        says(&mut child, "finishing running requests").await;
        gate.open();
        let (code, lines, _) = read(wait(child).await);
        assert_eq!((code, lines.len()), (130, 3));
        assert_sum(&lines[2], &[("unchanged", 2), ("not_started", 3)]);

        let (code, lines, sum, err) = scene.refresh(&["--resume"]).await;
        assert_eq!((code, lines.len()), (0, 3), "{err}");
        assert_sum(&sum, &[("unchanged", 3), ("done_before", 2)]);
        assert_eq!(scene.proxy.count("GET"), 5, "none twice");
    }
}

#[tokio::test]
async fn a_killed_refresh_is_resumed_and_reads_no_recorded_group_twice() {
    let scene = Scene::new(5).await;
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let arguments = ["get", "--refresh-all", "--json", "--concurrency", "1"];
    let mut child = scene.program(&arguments).spawn().expect("it starts");
    let out = child.stdout.take().expect("a pipe");
    let mut lines = BufReader::new(out).lines();
    gate.reached().await;
    // The second read is sent while the first is recorded and then reported.
    let first = lines.next_line().await.expect("readable");
    assert!(first.is_some_and(|line| line.contains("unchanged")));
    kill_process(pid(&child), Signal::KILL).expect("it runs");
    wait(child).await;
    assert_eq!(lines.next_line().await.expect("readable"), None, "no sum");
    gate.open();
    let (code, lines, sum, err) = scene.refresh(&["--resume"]).await;
    assert_eq!((code, lines.len()), (0, 4), "{err}");
    assert_sum(&sum, &[("unchanged", 4), ("done_before", 1)]);
    // Without --resume it starts over.
    let (code, _, sum, _) = scene.refresh(&[]).await;
    assert_eq!(code, 0);
    assert_sum(&sum, &[("unchanged", 5)]);
}

#[tokio::test]
async fn a_busy_service_is_waited_for() {
    for status in ["429 Too Many Requests", "503 Service Unavailable"] {
        let scene = Scene::new(2).await;
        let busy = http(status, &["Retry-After: 1"], "{}");
        let busy = ProxyFault::swallowed(Then::Instead(busy));
        scene.proxy.next("GET", busy);
        let (code, _, sum, err) = scene.refresh(&[]).await;
        assert_eq!(code, 0, "{err}");
        assert!(err.contains("asks to wait 1 s"), "{err}");
        assert_sum(&sum, &[("unchanged", 2)]);
        assert_eq!(scene.proxy.count("GET"), 3);
    }
}

#[tokio::test]
async fn failures_in_a_row_stop_the_refresh_and_are_tried_again() {
    let scene = Scene::new(6).await;
    let broken = || ProxyFault::swallowed(Then::Drop);
    scene.proxy.next("GET", ProxyFault::passed());
    (0..2).for_each(|_| scene.proxy.next("GET", broken()));
    let more = ["--concurrency", "1", "--max-failures", "2"];
    let (code, lines, sum, err) = scene.refresh(&more).await;
    assert_eq!(code, 6, "{err}");
    assert_sum(&sum, &[("unchanged", 1), ("failed", 2), ("not_started", 3)]);
    assert_eq!(sum["stopped"], "stopped after 2 failures in a row");
    let failed = lines.iter().filter(|line| line["note"].is_string());
    assert_eq!(failed.count(), 2, "{lines:?}");
    let (code, _, sum, err) = scene.refresh(&["--resume"]).await;
    assert_eq!(code, 0, "{err}");
    assert_sum(&sum, &[("unchanged", 5), ("done_before", 1)]);

    // If nothing was read, the first failure determines the exit code; a refused key stops it at once.
    for (answer, code, reads) in [
        ("401 Unauthorized", 4, 1),
        ("500 Internal Server Error", 1, 3),
    ] {
        let before = scene.proxy.count("GET");
        for _ in 0..reads {
            let refused = Then::Instead(http(answer, &[], "{}"));
            scene.proxy.next("GET", ProxyFault::swallowed(refused));
        }
        let (got, _, sum, err) = scene.refresh(&[]).await;
        assert_eq!(got, code, "{answer}: {err}");
        assert_eq!(scene.proxy.count("GET") - before, reads, "{answer}");
        assert_eq!(sum["failed"], reads, "{sum}");
    }
}

#[tokio::test]
async fn a_closed_reader_is_no_error() {
    let scene = Scene::new(3).await;
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = scene.program(&["get", "--refresh-all", "--json"]);
    let ran = command.stdout(writer).output().await.expect("it runs");
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{err}");
    assert!(!err.contains("error") && !err.contains("panicked"), "{err}");
    assert_eq!(scene.proxy.count("GET"), 3);
}

#[tokio::test]
async fn an_answer_from_before_a_rotation_is_read_again_and_no_news() {
    let scene = Scene::new(2).await;
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let pace = one_at_a_time();
    let plan = scene
        .ana
        .plan_refresh(None, false, None)
        .await
        .expect("readable");
    let begun = scene.ana.begin_refresh("").await.expect("durable");
    let mut run = scene
        .ana
        .run_refresh(Some(begun.id), plan, pace, false, None);
    let progress = &mut run.as_mut().expect("it begins").progress;
    gate.reached().await;
    let group = id("g000");
    let rotated = scene
        .ana
        .rotate(&group, None, UnknownIdPolicy::KnownOnly)
        .await;
    rotated.expect("rotated");
    gate.open();
    let counts = loop {
        match progress.recv().await.expect("it tells how it ended") {
            RefreshEvent::Ended(read) if read.user_group_id == group => {
                assert!(read.failure.is_none(), "it is read again: {read:?}");
                assert!(read.elsewhere.is_empty(), "what was done here is not news");
            }
            RefreshEvent::Finished(sum) => {
                assert_eq!(sum.halt, None);
                break sum.counts;
            }
            _ => {}
        }
    };
    assert_eq!((counts.unchanged, counts.failed), (2, 0));
    let open = scene.ana.open_refresh("").await.expect("readable");
    assert!(open.is_none(), "it is complete");
    let read = scene.ana.begin_refresh("").await.expect("durable");
    let left = scene.ana.plan_refresh(Some(&read), false, None).await;
    let left = left.expect("readable");
    assert_eq!(
        (left.ids.len(), left.done_before),
        (2, 0),
        "a new one has read nothing"
    );
}

#[tokio::test]
async fn a_resumed_refresh_reads_what_the_interrupted_one_did_not_whatever_the_clocks_say() {
    let scene = Scene::new(4).await;
    // A colleague whose clock is ahead reads one group, another whose clock is behind reads a second one.
    let read_with_clock = async |group: &str, wrong: i64| {
        let wrong = SignedDuration::from_hours(wrong);
        let installation = scene.world.installation(Side::Testing).by(LI);
        let li = installation.clock(Clock::Wrong(wrong)).operations();
        let read = li.look_up(&id(group), UnknownIdPolicy::KnownOnly).await;
        read.expect("read");
    };
    read_with_clock("g003", 2).await;
    // The interrupted refresh reads two groups, and stops at a failure.
    let begun = scene.ana.begin_refresh("").await.expect("durable");
    (0..2).for_each(|_| scene.proxy.next("GET", ProxyFault::passed()));
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    let pace = RunLimits {
        stop_after: 1,
        ..one_at_a_time()
    };
    let plan = scene.ana.plan_refresh(None, false, None).await;
    let plan = plan.expect("readable");
    let mut run = scene
        .ana
        .run_refresh(Some(begun.id), plan, pace, false, None);
    let progress = &mut run.as_mut().expect("it begins").progress;
    while progress.recv().await.is_some() {}
    read_with_clock("g000", -2).await;
    let open = scene.ana.open_refresh("").await.expect("readable");
    let left = scene.ana.plan_refresh(open.as_ref(), false, None).await;
    let left = left.expect("readable");
    assert_eq!(
        (left.ids, left.done_before),
        (vec![id("g002"), id("g003")], 2),
        "what it has read, not what was seen at some time"
    );
}

struct Full;

impl TokenSink for Full {
    fn keep(&self, _: &Done) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[tokio::test]
async fn a_group_whose_token_cannot_be_stored_does_not_count_as_read() {
    let scene = Scene::new(3).await;
    let plan = scene.ana.plan_refresh(None, false, None).await;
    let plan = plan.expect("readable");
    let run = scene
        .ana
        .run_refresh(None, plan, one_at_a_time(), false, Some(Arc::new(Full)));
    let mut run = run.expect("it begins");
    let sum = loop {
        if let RefreshEvent::Finished(sum) = run.progress.recv().await.expect("it ends") {
            break sum;
        }
    };
    let counts = sum.counts;
    let shown = (counts.failed, counts.read(), counts.not_started);
    assert_eq!(shown, (1, 0, 2), "{counts}");
    assert!(matches!(sum.halt, Some(Halt::Cannot(_))), "{:?}", sum.halt);
}
