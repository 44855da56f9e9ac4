//! A refresh of all groups that is interrupted, waits or fails, and what the next one continues with.

use groupdesk::domain::refresh::ReadResult;

use super::*;
use crate::batch::binary::{pid, read, wait};
use tokio::io::AsyncBufReadExt;

#[tokio::test]
async fn a_signal_finishes_requests_in_flight_and_resume_reads_the_rest() {
    let scene = Scene::new(5).await;
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let arguments = ["get", "--refresh-all", "--json", "--concurrency", "1"];
    let mut command = scene.program(&arguments);
    command.stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    gate.reached().await;
    kill_process(pid(&child), Signal::TERM).expect("it runs");
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
    scene.next("GET", [ProxyFault::passed(), ProxyFault::passed(), lost()]);
    let pace = RunLimits {
        stop_after: 1,
        ..one_at_a_time()
    };
    let plan = scene.ana.plan_refresh(None, false, None).await;
    let plan = plan.expect("readable");
    let run = scene
        .ana
        .run_refresh(Some(begun.id), plan, pace, false, None);
    let mut progress = run.expect("it begins").progress;
    while progress.recv().await.is_some() {}
    read_with_clock("g000", -2).await;
    let open = scene.ana.open_refresh("").await.expect("readable");
    let left = scene.ana.plan_refresh(open.as_ref(), false, None).await;
    let left = left.expect("readable");
    // What it has read counts, not what was seen at some time.
    let expected = (vec![id("g002"), id("g003")], 2);
    assert_eq!((left.ids, left.done_before), expected);
}

#[tokio::test]
async fn a_refresh_of_a_colleague_is_never_closed() {
    let scene = Scene::new(1).await;
    let [li, kim] = [LI, "kim@desk9"].map(|who| {
        let installation = scene.world.installation(Side::Testing).by(who);
        installation.operations()
    });
    let open = async |of: &Operations| {
        let open = of.open_refresh("").await.expect("readable");
        open.map(|open| open.id)
    };
    let begin = async |of: &Operations| of.begin_refresh("").await.expect("durable").id;
    let first = begin(&scene.ana).await;
    assert_eq!(open(&li).await, Some(first), "she may continue it");
    let of_li = begin(&li).await;
    assert_eq!(open(&scene.ana).await, Some(first));
    assert_eq!(open(&li).await, Some(of_li));
    let second = begin(&scene.ana).await;
    assert_eq!(open(&scene.ana).await, Some(second), "instead of her first");
    assert_eq!(open(&li).await, Some(of_li));
    scene.ana.end_import(second).await.expect("recorded");
    assert_eq!(open(&scene.ana).await, None);
    assert_eq!(open(&kim).await, None, "a later one has read all");
    assert_eq!(open(&li).await, Some(of_li), "her own");
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
    let shown = (
        counts.of(ReadResult::Failed),
        counts.read(),
        counts.not_started,
    );
    assert_eq!(shown, (1, 0, 2), "{counts}");
    assert_is!(sum.halt, Some(Halt::Cannot(_)));
}
