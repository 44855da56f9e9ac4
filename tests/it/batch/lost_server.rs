//! The server of a team's directory goes away in the middle of a run, and comes back.

use std::sync::atomic::{AtomicBool, Ordering};

use groupdesk::{
    directory::TeamLocation,
    domain::{annotation::AnnotationChange, refresh::ReadResult},
    formats::{GroupRow, Parts},
    operations::{
        RowsToSend, Sending,
        run::{self, Event, Kind},
    },
};

use super::*;
use crate::support::{
    cutter::{CUT_BEHIND, Cutter},
    postgres::Server,
};

/// The next event of this kind.
async fn until<K: Kind>(run: &mut run::Run<K>, is_it: impl Fn(&Event<K>) -> bool) -> Event<K> {
    loop {
        let event = run.progress.recv().await.expect("it goes on");
        if is_it(&event) {
            return event;
        }
    }
}

/// Waits until the run has found out that the server is away.
async fn without_directory<K: Kind>(run: &mut run::Run<K>) {
    until(run, |event| matches!(event, Event::NoDirectory(_))).await;
}

/// How the run ended.
async fn sum<K: Kind>(run: &mut run::Run<K>) -> K::Sum {
    let last = until(run, |event| matches!(event, Event::Finished(_))).await;
    let Event::Finished(sum) = last else {
        unreachable!("waited for")
    };
    sum
}

/// As in a console, where somebody can wait for the server; three groups are known.
async fn console(server: &Server) -> (World, FaultyProxy, Operations, [UserGroupId; 3]) {
    let team = server.set_up("desk");
    let world = World::new().await;
    let directory = Directory::open(&team).expect("it opens");
    let proxy = FaultyProxy::before(world.address()).await;
    let installation = world.installation(Side::Testing).on(&directory);
    let (recorder, _recorded) = mpsc::unbounded_channel();
    let ana = installation.through(proxy.base_url()).operations();
    let ana = ana.with_listener(Listener::new(1, recorder));
    let groups = ["g0", "g1", "g2"].map(id);
    for group in &groups {
        let id = group.as_str();
        world.seed(Side::Testing, id, "A name", &[], &json!({}));
        let met = ana.look_up(group, UnknownIdPolicy::Exists).await;
        met.expect("it is known now");
    }
    (world, proxy, ana, groups)
}

/// A file with rows that create these groups.
async fn new_rows<const N: usize>(ana: &Operations, new: [&str; N]) -> RowsToSend {
    let sending = Sending {
        create: true,
        update: false,
        only_differences: false,
    };
    let (rows, received) = mpsc::channel(1);
    let new = new.map(|group| GroupRow {
        id: id(group),
        fields: DesiredFields::default(),
        parts: Parts::default(),
        annotation: AnnotationChange::default(),
    });
    let new = (1..).zip(new).collect();
    rows.send(Ok(new)).await.expect("taken");
    drop(rows);
    let journal = ana.begin_import([7; 32], false).await.expect("recorded");
    let permit = ana.sending_permitted(sending, N).expect("permitted");
    RowsToSend {
        rows: received,
        planned: N,
        permit: permit.into(),
        journal: Some(journal),
        bases: HashMap::new(),
        annotations: HashMap::new(),
        completed: HashMap::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_and_rows_wait_for_the_server_as_well() {
    let Some(server) = postgres::own() else {
        return;
    };
    let (_world, proxy, ana, groups) = console(&server).await;
    let plan = ana.plan_reading(&groups, false, true).await;
    let plan = plan.expect("readable");
    let rows = new_rows(&ana, ["n0", "n1", "n2"]).await;
    let before = proxy.methods().len();
    server.stop();
    let mut reading = ana
        .run_refresh(None, plan, one_at_a_time(), false, None)
        .expect("permitted");
    let mut sending = ana.send_rows(rows, one_at_a_time());
    without_directory(&mut reading).await;
    without_directory(&mut sending).await;
    assert_eq!(proxy.methods().len(), before, "nothing is sent meanwhile");
    server.start();
    let read = sum(&mut reading).await;
    assert_eq!(
        (read.counts.of(ReadResult::Unchanged), read.halt),
        (3, None)
    );
    let sent = sum(&mut sending).await;
    assert_eq!((sent.counts.created, sent.halt), (3, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_sent_is_recorded_when_the_server_is_back() {
    let Some(server) = postgres::own() else {
        return;
    };
    let (_world, proxy, ana, _groups) = console(&server).await;
    let rows = new_rows(&ana, ["n0", "n1"]).await;
    let gate = Gate::new();
    proxy.next("GET", ProxyFault::passed().behind(&gate));
    let mut run = ana.send_rows(rows, one_at_a_time());
    gate.reached().await;
    server.stop();
    gate.open();
    // Longer than anything waits for a server.
    for _ in 0..2 {
        let read = ana.show(&id("n0")).await;
        assert!(read.expect_err("away").is_unreachable());
    }
    server.start();
    let sent = sum(&mut run).await;
    assert_eq!(
        (sent.counts.created, sent.halt),
        (2, None),
        "{:?}",
        sent.counts
    );
    assert_eq!(ana.open_changes().await.expect("readable"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn sent_rotations_are_recorded_when_the_server_is_back_and_the_rest_waits() {
    let Some(server) = postgres::own() else {
        return;
    };
    let (_world, proxy, ana, groups) = console(&server).await;
    let plan = ana.plan_batch(&groups, false).await.expect("readable");
    let batch = ana.begin(&plan).await.expect("durable");
    let gate = Gate::new();
    proxy.next("POST", ProxyFault::passed().behind(&gate));
    let mut run = ana
        .run_batch(batch, one_at_a_time(), None)
        .await
        .expect("it begins");

    // The answer arrives when nobody can record it.
    gate.reached().await;
    run.control.pause();
    server.stop();
    gate.open();
    server.start();
    let first = until(&mut run, |event| matches!(event, BatchEvent::Ended(_))).await;
    assert_is!(first, BatchEvent::Ended(ended) if ended.outcome == "confirmed");

    // Nothing new is started while it is away, and the run continues by itself.
    server.stop();
    run.control.resume();
    without_directory(&mut run).await;
    assert_eq!(proxy.count("POST"), 1);
    server.start();
    let report = sum(&mut run).await;
    assert_eq!(report.halt, None);
    assert_eq!(report.counts.confirmed, 3, "{report:?}");
    assert_sent_once(&proxy);
}

/// One run whose directory is cut off at this point.
async fn run_cut_at(
    server: &Server,
    team: &TeamLocation,
    (method, point, not_applied): (&'static str, Failpoint, usize),
) {
    let cutter = Cutter::new(server.folder());
    let directory = Directory::open(&postgres::at(cutter.folder.path(), team.schema()));
    let directory = directory.expect("it opens");
    let world = World::new().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let installation = world.installation(Side::Testing).on(&directory);
    let is_armed = Arc::new(AtomicBool::new(false));
    let (plan, armed) = (Arc::clone(&cutter.plan), Arc::clone(&is_armed));
    let ana = installation.through(proxy.base_url()).operations();
    let ana = ana.watched(move |at| {
        if at == point && armed.swap(false, Ordering::SeqCst) {
            plan.commit.store(CUT_BEHIND, Ordering::SeqCst);
        }
    });
    let groups = ["g0", "g1", "g2"].map(id);
    for group in &groups {
        world.seed(Side::Testing, group.as_str(), "A name", &[], &json!({}));
        let met = ana.look_up(group, UnknownIdPolicy::Exists).await;
        met.expect("it is known now");
    }
    let batch = if method == "POST" {
        let plan = ana.plan_batch(&groups, false).await.expect("readable");
        ana.begin(&plan).await.expect("durable")
    } else {
        for group in &groups {
            edit::send(&ana, group.as_str(), "A name", &[("40", "213")]).await;
        }
        let plan = ana.plan_edit(edit::set("214"), &groups, false).await;
        let plan = plan.expect("readable");
        ana.begin_edit(&plan, None, BatchOptions::default())
            .await
            .expect("durable")
    };
    let before = proxy.count(method);
    is_armed.store(true, Ordering::SeqCst);
    let run = ana.run_batch(batch, one_at_a_time(), None).await;
    let mut run = run.expect("it begins");
    without_directory(&mut run).await;
    let sent = usize::from(point == Failpoint::ItemEnded);
    assert_eq!(proxy.count(method) - before, sent, "{method} {point:?}");
    cutter.plan.is_cut.store(false, Ordering::SeqCst);
    let report = sum(&mut run).await;
    let counts = report.counts;
    assert_eq!(report.halt, None, "{method} {point:?}: {counts}");
    assert_eq!(
        counts.not_applied, not_applied,
        "{method} {point:?}: {counts}"
    );
    assert_eq!(
        counts.confirmed,
        3 - not_applied,
        "{method} {point:?}: {counts}"
    );
    let items = ana.batch_items(batch).await.expect("readable");
    assert_eq!(Counts::of(items.iter().map(BatchItem::status)), counts);
    assert_eq!(proxy.count(method) - before, counts.confirmed);
    assert_eq!(ana.open_changes().await.expect("readable"), [], "{point:?}");
    if method == "POST" {
        assert_sent_once(&proxy);
    }
}

/// Nothing was sent for it: the run waits, ends what it may have recorded, and goes on. A group whose token was to be
/// rotated is not tried again; an edit is.
#[tokio::test(flavor = "multi_thread")]
async fn what_may_have_been_recorded_before_sending_stops_no_run() {
    let Some(server) = postgres::own() else {
        return;
    };
    let table = [
        ("POST", Failpoint::GetAnswered, 0),
        ("POST", Failpoint::BeforeIntent, 1),
        // That it is about to be sent.
        ("POST", Failpoint::IntentDurable, 1),
        // The claim of the second group, and that the first update is about to be sent.
        ("PUT", Failpoint::ItemEnded, 0),
        ("PUT", Failpoint::GetDurable, 0),
    ];
    // Each waits for its own server to be found away.
    let runs = table.into_iter().enumerate().map(|(number, case)| {
        let team = server.set_up(&format!("cut_{number}"));
        let server = &server;
        async move { run_cut_at(server, &team, case).await }
    });
    futures_util::future::join_all(runs).await;
}
