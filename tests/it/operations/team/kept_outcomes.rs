//! The database is away while an answer arrives: a console keeps what has become of the request, and records it when the
//! database is back.

use std::sync::{Arc, atomic::AtomicBool};

use super::*;
use crate::support::cutter::{CUT_BEHIND, Cutter};

/// A console of a team with a server of its own, which keeps what has become of its requests.
async fn console(server: &Server) -> (World, FaultyProxy, Operations) {
    let (world, proxy, command) = command(server).await;
    (world, proxy, command.keeping_outcomes())
}

/// A command, which does not.
async fn command(server: &Server) -> (World, FaultyProxy, Operations) {
    let team = server.set_up("desk");
    let world = World::new().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let directory = Directory::open(&team).expect("it opens");
    let installation = world.installation(Side::Testing).on(&directory);
    let command = installation.through(proxy.base_url()).operations();
    (world, proxy, command)
}

/// Whoever runs it: on the command line nothing else would wait for the directory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_run_of_a_command_records_later_what_arrives_while_the_database_is_away() {
    let Some(server) = postgres::own() else {
        return;
    };
    let (world, proxy, command) = command(&server).await;
    let acme = id("acme");
    world.seed(Side::Testing, "acme", "Name", &[], &json!({}));
    let read = command.look_up(&acme, UnknownIdPolicy::Exists).await;
    read.expect("known");
    let plan = command.plan_batch(std::slice::from_ref(&acme), true).await;
    let batch = command.begin(&plan.expect("readable")).await;
    let batch = batch.expect("durable");
    let gate = Gate::new();
    proxy.next("POST", ProxyFault::applied(Then::Pass).behind(&gate));
    let run = command.run_batch(batch, RunLimits::default(), None).await;
    let mut run = run.expect("permitted");
    gate.reached().await;
    tokio::task::block_in_place(|| server.stop());
    gate.open();
    // Longer than anything waits for a server.
    for _ in 0..2 {
        let read = command.show(&acme).await;
        assert!(read.expect_err("away").is_unreachable());
    }
    tokio::task::block_in_place(|| server.start());
    while run.progress.recv().await.is_some() {}
    let states = journal(&command).await.into_iter();
    let states: Vec<_> = states.map(|row| row.rotation.state).collect();
    assert_eq!(states, [State::Confirmed]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_arrives_while_the_database_is_away_is_recorded_when_it_is_back() {
    let Some(server) = postgres::own() else {
        return;
    };
    let (world, proxy, console) = console(&server).await;
    let (acme, other, lost, new) = (id("acme"), id("other"), id("lost"), id("new"));
    let mut edit = None;
    for group in [&acme, &other, &lost] {
        world.seed(Side::Testing, group.as_str(), "Name", &[], &json!({}));
        let known = console.look_up(group, UnknownIdPolicy::Exists).await;
        let base = DesiredFields::of(&known.expect("known").group);
        let wanted = DesiredFields {
            name: Some("Two".into()),
            ..base.clone()
        };
        edit = Some(Edit::whole(&base, &wanted));
    }
    let edit = edit.expect("three groups");

    let known = UnknownIdPolicy::KnownOnly;
    let mut working = Vec::new();
    let changes: [(&'static str, Then, &'static [Ending]); 4] = [
        ("POST", Then::Pass, &[Ending::Rotated]),
        ("POST", Then::Drop, &[Ending::Recovered]),
        ("PUT", Then::Pass, &[Ending::Updated]),
        ("GET", Then::Pass, &[Ending::Created]),
    ];
    let mut gates = Vec::new();
    for (at, (method, then, expected)) in changes.into_iter().enumerate() {
        let gate = Gate::new();
        proxy.next(method, ProxyFault::applied(then).behind(&gate));
        let (console, edit) = (console.clone(), edit.clone());
        let (acme, other, lost, new) = (acme.clone(), other.clone(), lost.clone(), new.clone());
        working.push((
            expected,
            tokio::spawn(async move {
                match at {
                    0 => console.rotate(&acme, None, known).await,
                    1 => console.rotate(&lost, None, known).await,
                    2 => console.update_edit(&other, &edit, known).await,
                    _ => console.create(&new, &DesiredFields::default()).await,
                }
            }),
        ));
        gate.reached().await;
        gates.push(gate);
    }
    tokio::task::block_in_place(|| server.stop());
    for gate in &gates {
        gate.open();
    }
    // Longer than anything waits for a server.
    let read = console.show(&acme).await;
    assert!(read.expect_err("away").is_unreachable());
    let read = console.show(&acme).await;
    assert!(read.expect_err("away").is_unreachable());
    for (expected, work) in &working {
        assert!(!work.is_finished(), "{expected:?} is kept");
    }
    tokio::task::block_in_place(|| server.start());
    for (expected, work) in working {
        let done = work.await.expect("it ends");
        let done = done.unwrap_or_else(|failure| panic!("{expected:?}: {failure}"));
        assert!(expected.contains(&done.ending), "{:?}", done.ending);
        assert!(done.token().is_some(), "{expected:?}: with its token");
    }
    let states = journal(&console).await.into_iter();
    let states: Vec<_> = states.map(|row| row.rotation.state).collect();
    let is_open = |state: &State| matches!(state, State::Sent | State::Unknown);
    assert!(!states.iter().any(is_open), "{states:?}");
    let group = console.show(&other).await.expect("read").expect("known");
    assert_eq!(group.name.map(|name| name.value).as_deref(), Some("Two"));
}

/// That it is about to be sent may be recorded, and nothing was sent: a console ends it when the database is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_be_recorded_as_sent_is_ended_when_the_database_is_back() {
    let Some(server) = postgres::server() else {
        return;
    };
    // At once, because both mostly wait for a server that is away.
    tokio::join!(
        Box::pin(cut_off(server, "POST", Failpoint::IntentDurable)),
        Box::pin(cut_off(server, "PUT", Failpoint::GetDurable)),
    );
}

/// Sends a change whose connection to the database is cut at this point.
async fn cut_off(server: &Server, method: &'static str, point: Failpoint) {
    let team = server.set_up(&format!("cut_off_{}", method.to_lowercase()));
    let cutter = Cutter::new(server.folder());
    let directory = Directory::open(&postgres::at(cutter.folder.path(), team.schema()));
    let world = World::new().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let installation = world.installation(Side::Testing);
    let installation = installation.on(&directory.expect("it opens"));
    let is_armed = Arc::new(AtomicBool::new(false));
    let (plan, armed) = (Arc::clone(&cutter.plan), Arc::clone(&is_armed));
    let console = installation.through(proxy.base_url()).operations();
    let console = console.watched(move |at| {
        if at == point && armed.swap(false, Ordering::SeqCst) {
            plan.commit.store(CUT_BEHIND, Ordering::SeqCst);
        }
    });
    let console = console.keeping_outcomes();
    let acme = id("acme");
    world.seed(Side::Testing, "acme", "Name", &[], &json!({}));
    let read = console.look_up(&acme, UnknownIdPolicy::Exists).await;
    let base = DesiredFields::of(&read.expect("known").group);
    let wanted = DesiredFields {
        name: Some("Two".into()),
        ..base.clone()
    };
    let edit = Edit::whole(&base, &wanted);
    is_armed.store(true, Ordering::SeqCst);
    let changing = {
        let (console, acme) = (console.clone(), acme.clone());
        tokio::spawn(async move {
            match method {
                "POST" => console.rotate(&acme, None, KNOWN).await,
                _ => console.update_edit(&acme, &edit, KNOWN).await,
            }
        })
    };
    let is_cut = || cutter.plan.is_cut.load(Ordering::SeqCst);
    eventually("the connection is cut", is_cut).await;
    // Longer than anything waits for a server.
    for _ in 0..2 {
        let read = console.show(&acme).await;
        assert!(read.expect_err("away").is_unreachable());
    }
    assert!(!changing.is_finished(), "{method}");
    cutter.plan.is_cut.store(false, Ordering::SeqCst);
    let failed = changing.await.expect("it ends");
    failed.expect_err("nothing was sent");
    assert_eq!(proxy.count(method), 0);
    assert_eq!(console.open_changes().await.expect("readable"), []);
    let states = journal(&console).await.into_iter();
    let states: Vec<_> = states.map(|row| row.rotation.state).collect();
    let expected = [State::NotApplied];
    assert_eq!(states, expected[..usize::from(method == "POST")]);
}

/// The role, the login or both are taken away while the answer is on its way, and given back later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_arrives_without_access_is_recorded_when_it_is_given_back() {
    let Some(server) = postgres::server() else {
        return;
    };
    tokio::join!(
        Box::pin(shut_out(
            server,
            "revoked_meanwhile",
            "REVOKE revoked_meanwhile_operator FROM revoked_meanwhile_rita",
            "GRANT revoked_meanwhile_operator TO revoked_meanwhile_rita",
        )),
        Box::pin(shut_out(
            server,
            "locked_meanwhile",
            "ALTER ROLE locked_meanwhile_rita NOLOGIN",
            "ALTER ROLE locked_meanwhile_rita LOGIN",
        )),
        Box::pin(shut_out(
            server,
            "viewer_meanwhile",
            "REVOKE viewer_meanwhile_operator FROM viewer_meanwhile_rita; \
             GRANT viewer_meanwhile_viewer TO viewer_meanwhile_rita",
            "GRANT viewer_meanwhile_operator TO viewer_meanwhile_rita",
        )),
    );
}

async fn shut_out(server: &Server, schema: &str, takes: &str, gives: &str) {
    let who = format!("{schema}_rita");
    server.set_up(schema);
    server.let_in(&who, schema, &["operator"]);
    let directory = Directory::open(&postgres::at_as(&who, server.folder(), schema));
    let world = World::new().await;
    let proxy = FaultyProxy::before(world.address()).await;
    let installation = world.installation(Side::Testing).by(&format!("{who}@desk"));
    let installation = installation.on(&directory.expect("it opens"));
    let console = installation.through(proxy.base_url()).operations();
    let refused = Arc::new(AtomicBool::new(false));
    let is_refused = Arc::clone(&refused);
    let console = console.watched(move |at| {
        if at == Failpoint::ShutOut {
            is_refused.store(true, Ordering::SeqCst);
        }
    });
    let console = console.keeping_outcomes();
    let acme = id("acme");
    world.seed(Side::Testing, "acme", "Name", &[], &json!({}));
    let read = console.look_up(&acme, UnknownIdPolicy::Exists).await;
    let base = DesiredFields::of(&read.expect("known").group);
    let end = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '{who}'"
    );
    for method in ["POST", "PUT"] {
        let gate = Gate::new();
        proxy.next(method, ProxyFault::passed().behind(&gate));
        refused.store(false, Ordering::SeqCst);
        let (console, acme, base) = (console.clone(), acme.clone(), base.clone());
        let sending = tokio::spawn(async move {
            if method == "POST" {
                return console.rotate(&acme, None, KNOWN).await;
            }
            let wanted = DesiredFields {
                name: Some("Two".into()),
                ..base.clone()
            };
            console.update(&acme, &base, &wanted, KNOWN).await
        });
        gate.reached().await;
        server.execute("public", takes);
        server.execute("public", &end);
        gate.open();
        eventually("its first attempt", || refused.load(Ordering::SeqCst)).await;
        assert!(!sending.is_finished(), "{schema}, {method}: it is kept");
        server.execute("public", gives);
        let done = sending.await.expect("it ends").expect("kept and recorded");
        assert!(
            method == "PUT" || done.token().is_some(),
            "{schema}: with its token"
        );
    }
    let states = journal(&console).await.into_iter();
    let states: Vec<_> = states.map(|row| row.rotation.state).collect();
    assert_eq!(states, [State::Confirmed], "{schema}: read by the update");
    let place = console.place().await.expect("bound");
    let open = console.directory().open_mutations(place).await;
    assert_eq!(open.expect("readable"), [], "{schema}");
}

/// The processes that serve our connections.
const SERVING: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'groupdesk' AND pid IN";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_that_a_read_only_server_refused_is_recorded_when_there_is_a_primary() {
    let Some(server) = postgres::own() else {
        return;
    };
    let (world, proxy, console) = console(&server).await;
    let acme = id("acme");
    world.seed(Side::Testing, "acme", "Name", &[], &json!({}));
    let read = console.look_up(&acme, UnknownIdPolicy::Exists).await;
    read.expect("known");
    let gate = Gate::new();
    proxy.next("POST", ProxyFault::passed().behind(&gate));
    let rotating = {
        let (console, acme) = (console.clone(), acme.clone());
        tokio::spawn(async move {
            console
                .rotate(&acme, None, UnknownIdPolicy::KnownOnly)
                .await
        })
    };
    gate.reached().await;
    let all = "SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE application_name = 'groupdesk'";
    let serving = format!("{SERVING} ({})", server.execute("desk", all));
    let mut session = server.session("desk");
    let before = session.say(&serving);
    server.configure(&["SET default_transaction_read_only = on"]);
    gate.open();
    // A refused write ends its connection.
    eventually("it is refused", || session.say(&serving) != before).await;
    server.configure(&["RESET default_transaction_read_only"]);
    let done = rotating.await.expect("it ends").expect("kept and recorded");
    assert!(done.token().is_some());
    let states: Vec<_> = journal(&console).await;
    let states = states.iter().map(|row| row.rotation.state);
    assert_eq!(states.collect::<Vec<_>>(), [State::Rotated]);
}
