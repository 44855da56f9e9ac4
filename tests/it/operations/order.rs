//! One order: what an answer means is decided by the numbers of the directory, for whatever purpose the request was sent
//! and whatever has ended in between; and no token is rotated that somebody just got.

use super::*;
use futures_util::FutureExt;

/// A use of a get: the file that makes it, what comes before it, and the use itself. Only the answer to the get with
/// this number in the use is late.
struct Caller {
    file: &'static str,
    name: &'static str,
    before: fn(Operations) -> BoxFuture<'static, ()>,
    late: usize,
    run: fn(Operations) -> BoxFuture<'static, ()>,
}

fn nothing(_: Operations) -> BoxFuture<'static, ()> {
    async {}.boxed()
}

fn rotate_first(operations: Operations) -> BoxFuture<'static, ()> {
    async move { drop(rotate(&operations).await.expect("rotated")) }.boxed()
}

const CALLERS: [Caller; 9] = [
    Caller {
        file: "groups.rs",
        name: "a plain read",
        before: nothing,
        late: 0,
        run: |ana| async move { drop(look_up(&ana).await) }.boxed(),
    },
    Caller {
        file: "groups/update.rs",
        name: "--if-unchanged",
        before: nothing,
        late: 0,
        run: |ana| async move { drop(ana.look_up_unchanged(&id(ACME)).await) }.boxed(),
    },
    Caller {
        file: "rotation/rotate.rs",
        name: "the read before a rotation",
        before: nothing,
        late: 0,
        run: |ana| async move { drop(rotate(&ana).await) }.boxed(),
    },
    Caller {
        file: "answer/rotation.rs",
        name: "the read that confirms a rotation",
        before: nothing,
        late: 1,
        run: |ana| {
            async move {
                let rotated = rotate(&ana).await.expect("rotated");
                let done = ana.confirm(rotated).await;
                let ends = [Ending::Confirmed, Ending::Superseded];
                assert!(ends.contains(&done.ending), "{done:?}");
            }
            .boxed()
        },
    },
    Caller {
        file: "rotation/check.rs",
        name: "the read that settles a rotation",
        before: rotate_first,
        late: 0,
        run: |ana| async move { drop(ana.recover(&[], 1, |_| {}).await) }.boxed(),
    },
    Caller {
        file: "refresh/queue.rs",
        name: "a refresh",
        before: nothing,
        late: 0,
        run: |ana| {
            async move {
                let plan = ana.plan_refresh(None, false, None).await.expect("readable");
                let run = ana.run_refresh(None, plan, RunLimits::default(), false, None);
                let mut run = run.expect("permitted");
                while run.progress.recv().await.is_some() {}
            }
            .boxed()
        },
    },
    Caller {
        file: "files/import.rs",
        name: "a row of a file",
        before: nothing,
        late: 0,
        run: |ana| {
            async move {
                let sending = Sending {
                    create: false,
                    update: true,
                    only_differences: true,
                };
                let permit = ana.sending_permitted(sending, 1).expect("permitted");
                let row = row(ACME, only_name("Acme Europe"));
                drop(send_row(&ana, &permit, &row, Some(&row.fields)).await);
            }
            .boxed()
        },
    },
    Caller {
        file: "groups/update.rs",
        name: "the read after an update",
        before: nothing,
        late: 1,
        run: |ana| {
            async move {
                let edit = property(&ana, "mine").await;
                drop(send(&ana, &edit).await);
            }
            .boxed()
        },
    },
    Caller {
        file: "batch/item.rs",
        name: "an item of a batch",
        before: nothing,
        late: 0,
        run: |ana| {
            async move {
                let plan = ana.plan_batch(&[id(ACME)], true).await.expect("readable");
                let batch = ana.begin(&plan).await.expect("durable");
                let ran = ana.run_through(batch, RunLimits::default());
                ran.await.expect("permitted");
            }
            .boxed()
        },
    },
];

/// Files with other gets, and why nothing can end while they are on their way.
const OTHERS: [(&str, &str); 6] = [
    ("handoff.rs", "a plain read, before its command"),
    ("profiles/probe.rs", "under its own claim"),
    (
        "profiles/places.rs",
        "records nothing of the group; `a_key_is_not_refused_by_a_rotation`",
    ),
    (
        "groups/unsettled.rs",
        "a plain read; `a_lost_update_that_a_read_settles_is_taken_over`",
    ),
    ("groups/claims.rs", "a plain read, before an update"),
    ("doctor/service.rs", "a plain read, shown only"),
];

/// What ends while the answer is on its way.
type Change = (&'static str, fn(Operations) -> BoxFuture<'static, ()>);

const CHANGES: [Change; 4] = [
    ("an update of the name", |ben| {
        async move {
            let edit = edit(&ben, |wanted| wanted.name = Some("By Ben".into())).await;
            send(&ben, &edit).await.expect("updated");
        }
        .boxed()
    }),
    ("an update of a property", |ben| {
        async move {
            let edit = property(&ben, "bens").await;
            send(&ben, &edit).await.expect("updated");
        }
        .boxed()
    }),
    ("a rotation", |ben| {
        async move {
            let rotated = rotate(&ben).await.expect("rotated");
            let done = ben.confirm(rotated).await;
            assert_eq!(done.ending, Ending::Confirmed);
        }
        .boxed()
    }),
    ("a rotation and an update", |ben| {
        async move {
            rotate(&ben).await.expect("rotated");
            let edit = property(&ben, "bens").await;
            send(&ben, &edit).await.expect("updated");
        }
        .boxed()
    }),
];

/// The directory has what the service has, and nobody thinks that somebody else writes there.
async fn check(scene: &Scene, what: &str) {
    let (stored, known) = (scene.stored(), scene.known().await);
    let name = known.name.map(|known| known.value);
    assert_eq!(name.as_ref(), Some(&stored.name), "{what}");
    let properties = known.properties.map(|known| json!(known.value));
    assert_eq!(properties.as_ref(), Some(&stored.properties), "{what}");
    let token = known.fingerprint.map(|known| known.value);
    assert_eq!(
        token,
        Some(scene.current()),
        "{what}: a dead token came back"
    );
    let facts = scene.ana.facts().await.expect("readable");
    assert!(facts.sole_writer.value, "{what}: withdrawn");
    for note in scene.history_notes().await {
        let is_clean = !note.contains("ALARM") && !note.contains("elsewhere");
        assert!(is_clean, "{what}: {note}");
    }
}

#[tokio::test]
async fn no_answer_that_a_change_has_overtaken_is_news_whatever_it_was_asked_for() {
    let cases = CALLERS
        .iter()
        .flat_map(|caller| CHANGES.iter().map(move |change| (caller, change)));
    for (caller, (change, make)) in long::sampled(cases, module_path!(), 7) {
        let what = format!("{} ({}), then {change}", caller.name, caller.file);
        let scene = Scene::with(readable).await;
        let ana = &scene.ana;
        let sole = ana.state_facts(vec![Fact::SoleWriter(true)]).await;
        sole.expect("recorded");
        look_up(ana).await.expect("found");
        let ben = readable(scene.world.installation(Side::Testing).by(LI)).operations();
        eprintln!("{what}");
        (caller.before)(ana.clone()).await;
        let gate = Gate::new();
        for _ in 0..caller.late {
            scene.proxy.next("GET", ProxyFault::passed());
        }
        scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
        let used = tokio::spawn((caller.run)(ana.clone()));
        gate.reached().await;
        make(ben).await;
        gate.open();
        used.await.expect("no panic");
        check(&scene, &what).await;
        let posts = scene.world.rotations(Side::Testing, ACME);
        let rows = ana.rotations().await.expect("readable").len();
        assert_eq!(posts, rows, "{what}");
    }
}

/// Reads the sources, so that the next caller of a get is in one of the tables.
#[test]
fn each_caller_of_a_get_is_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/operations");
    let mut folders = vec![folder.clone()];
    let mut missing = Vec::new();
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source");
            let calls = [".look_up", ".get_or_create(", "look_up_with_snapshot("];
            let named = path.strip_prefix(&folder).expect("below");
            let named = named.to_str().expect("a name");
            let is_named = CALLERS.iter().any(|caller| caller.file == named)
                || OTHERS.iter().any(|(file, _)| *file == named);
            if calls.iter().any(|call| text.contains(call)) && !is_named {
                missing.push(named.to_owned());
            }
        }
    }
    assert_eq!(missing, [""; 0], "name them, and what may end meanwhile");
}

#[tokio::test]
async fn a_lost_update_that_a_read_settles_is_taken_over() {
    let settling: [fn(Operations) -> BoxFuture<'static, ()>; 3] = [
        |ana| async move { drop(look_up(&ana).await.expect("found")) }.boxed(),
        |ana| async move { drop(ana.settle_changes().await) }.boxed(),
        |ana| async move { drop(ana.look_up_unchanged(&id(ACME)).await) }.boxed(),
    ];
    for (number, settle) in settling.into_iter().enumerate() {
        let scene = Scene::new().await;
        let ana = &scene.ana;
        let facts = vec![Fact::SoleWriter(true)];
        ana.state_facts(facts).await.expect("recorded");
        let first = wanted("First", &[("1", "2"), ("7", "40")], &json!({"z": 1}));
        let nothing = DesiredFields::default();
        update(ana, &nothing, &first).await.expect("updated");
        scene.proxy.next("PUT", unanswered());
        // A row goes, another one is new.
        let second = wanted("Second", &[("1", "3")], &json!({"z": 2}));
        super::assert_unknown(&update(ana, &first, &second).await);
        settle(ana.clone()).await;
        let known = DesiredFields::of(&scene.known().await);
        assert_eq!(known, second, "settled by {number}");
        assert_eq!(scene.open().await, []);
        let third = wanted("Second", &[("1", "3"), ("5", "6")], &json!({"z": 2}));
        update(ana, &second, &third).await.expect("updated");
        let stored = scene.stored();
        assert_eq!(stored.mapping, json!({"1": "3", "5": "6"}));
        assert_eq!(stored.properties, json!({"z": 2}), "nothing was reverted");
    }
}

#[tokio::test]
async fn what_a_later_update_replaced_is_not_taken_over_again() {
    let scene = Scene::new().await;
    scene.proxy.next("PUT", unanswered());
    let base = wanted("Acme Europe", &[("7", "40")], &json!({}));
    let lost = wanted("Lost", &[("7", "41")], &json!({}));
    update(&scene.ana, &base, &lost).await.expect_err("lost");
    // After the window another mapping is given whole, and the name is left to the service.
    let li = scene.world.installation(Side::Testing).by(LI);
    let li = li.at(super::claims::later()).operations();
    let keeps = vec![Fact::OmittedField(Field::Name, Keep)];
    li.state_facts(keeps).await.expect("recorded");
    let whole = DesiredFields {
        mapping: wanted("", &[("9", "9")], &json!({})).mapping,
        ..DesiredFields::default()
    };
    let edit = Edit::whole(&DesiredFields::default(), &whole);
    send(&li, &edit).await.expect("updated");
    look_up(&li).await.expect("found");
    let known = DesiredFields::of(&known(&li).await);
    assert_eq!(known.mapping, whole.mapping);
    assert_eq!(known.name.as_deref(), Some("Lost"));
}

/// A token that somebody got since the command began, or a moment ago, is left alone, whatever the clocks say.
#[tokio::test]
async fn a_token_that_somebody_just_got_is_not_rotated_again() {
    let scene = Scene::new().await;
    let ana = &scene.ana;
    let since = async || Spare {
        since: Some(ana.directory().last_number().await.expect("readable")),
        ..Spare::default()
    };
    let began = since().await;
    for ahead in [Duration::ZERO, Duration::from_hours(2)] {
        let ben = scene.world.installation(Side::Testing).by(LI);
        let ben = ben.at(jiff::Timestamp::now() + ahead).operations();
        rotate(&ben).await.expect("rotated");
        let young = Spare {
            younger_than: JUST_ROTATED,
            ..Spare::default()
        };
        for spare in [began, young] {
            let seen = Some(scene.current());
            let target = Target {
                seen,
                spare,
                ..Target::default()
            };
            let again = ana.rotate_seen(&id(ACME), target, None, KNOWN).await;
            let Err(Failure::JustRotated { by, ago, .. }) = &again else {
                panic!("{again:?}");
            };
            let who = by.as_deref();
            assert!(who == Some(ben.operator()) && ago.is_some(), "{again:?}");
        }
    }
    let target = Target {
        seen: Some(scene.current()),
        spare: since().await,
        to_file: false,
    };
    let rotated = ana.rotate_seen(&id(ACME), target, None, KNOWN).await;
    rotated.expect("rotated before this one began");
}

#[tokio::test]
async fn two_batches_of_the_same_groups_rotate_each_token_once() {
    let scene = Scene::new().await;
    let ids: Vec<_> = (0..12).map(|number| id(&format!("g{number:02}"))).collect();
    for id in &ids {
        scene.meet(id.as_str()).await;
    }
    let ahead = jiff::Timestamp::now() + Duration::from_secs(5);
    let ben = scene.world.installation(Side::Testing).by(LI).at(ahead);
    let both = [scene.ana.clone(), ben.operations()];
    let mut runs = Vec::new();
    for operations in &both {
        let plan = operations.plan_batch(&ids, true).await.expect("readable");
        assert_eq!(plan.ready.len(), ids.len());
        let batch = operations.begin(&plan).await;
        runs.push((operations, batch.expect("durable")));
    }
    let runs = runs.into_iter().map(async |(operations, batch)| {
        let ran = operations.run_through(batch, RunLimits::default());
        ran.await.expect("permitted");
    });
    futures_util::future::join_all(runs).await;
    for id in &ids {
        let rotated = scene.world.rotations(Side::Testing, id.as_str());
        assert_eq!(rotated, 1, "{id}");
    }
}

/// It says nothing about the service or the groups behind them.
#[tokio::test]
async fn groups_that_a_colleague_is_rotating_do_not_stop_a_batch() {
    let scene = Scene::new().await;
    let ids: Vec<_> = (0..5).map(|number| id(&format!("g{number:02}"))).collect();
    for id in &ids {
        scene.meet(id.as_str()).await;
    }
    let ben = scene.world.installation(Side::Testing).by(LI).operations();
    let plan = ben.plan_batch(&ids, true).await.expect("readable");
    let batch = ben.begin(&plan).await.expect("durable");
    let (held, free) = ids.split_at(4);
    let gate = Gate::new();
    let rotations: Vec<_> = held
        .iter()
        .map(|id| {
            scene.proxy.next("POST", ProxyFault::passed().held(&gate));
            let (ana, id) = (scene.ana.clone(), id.clone());
            tokio::spawn(async move { ana.rotate(&id, None, KNOWN).await })
        })
        .collect();
    for _ in held {
        gate.reached().await;
    }
    let ran = ben.run_through(batch, one_at_a_time()).await;
    ran.expect("permitted");
    assert_eq!(scene.world.rotations(Side::Testing, free[0].as_str()), 1);
    for _ in held {
        gate.open();
    }
    for rotation in rotations {
        rotation.await.expect("it ends").expect("rotated");
    }
    for id in held {
        assert_eq!(scene.world.rotations(Side::Testing, id.as_str()), 1);
    }
}

/// Nor do those that a colleague has just rotated, read from a replica that lags behind.
#[tokio::test]
async fn groups_that_a_lagging_replica_shows_before_their_rotation_do_not_stop_a_batch() {
    let scene = Scene::new().await;
    let ids: Vec<_> = (0..4).map(|number| id(&format!("g{number:02}"))).collect();
    let mut old = Vec::new();
    for id in &ids {
        scene.meet(id.as_str()).await;
        old.push(scene.world.stored(Side::Testing, id.as_str()).token);
    }
    let ben = scene.installation().by(LI).operations();
    let plan = ben.plan_batch(&ids, true).await.expect("readable");
    let batch = ben.begin(&plan).await.expect("durable");
    for id in &ids[..3] {
        let rotated = scene.ana.rotate(id, None, KNOWN).await;
        rotated.expect("rotated");
    }
    for old in old.into_iter().take(3) {
        let lagging = move |answer: &mut Value| answer["user_group"]["token"] = json!(old);
        scene.proxy.next("GET", ProxyFault::change(lagging));
    }
    let ran = ben.run_through(batch, one_at_a_time()).await;
    ran.expect("permitted");
    for id in &ids {
        assert_eq!(scene.world.rotations(Side::Testing, id.as_str()), 1, "{id}");
    }
}

/// The losers of a race are told who won.
#[tokio::test]
async fn all_losers_are_told_who_rotated_it_and_when() {
    let scene = Scene::new().await;
    let ben = scene.world.installation(Side::Testing).by(LI).operations();
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    let here = scene.ana.clone();
    let losing = tokio::spawn(async move { rotate(&here).await });
    gate.reached().await;
    rotate(&ben).await.expect("rotated");
    gate.open();
    let lost = losing.await.expect("it ends");
    let said = lost.expect_err("somebody else did").to_string();
    assert_has(&said, &format!("NOT rotated: {}", ben.operator()));
    assert!(
        said.contains("s ago") || said.contains("just now"),
        "{said}"
    );
    assert_lacks(&said, "rotate it again");
}

/// Two people with directories of their own: the other one's change is news, and says nothing about what is kept.
#[tokio::test]
async fn where_others_write_a_changed_field_is_news_and_no_alarm() {
    let scene = Scene::with(readable).await;
    let ana = &scene.ana;
    let keeps = || {
        Field::ALL
            .map(|field| Fact::OmittedField(field, Keep))
            .to_vec()
    };
    ana.state_facts(keeps()).await.expect("recorded");
    let other = scene.world.other_directory(LI);
    let li = readable(scene.world.installation(Side::Testing).by(LI)).on(&other);
    let li = li.operations();
    li.look_up(&id(ACME), EXISTS).await.expect("found");
    li.state_facts(keeps()).await.expect("recorded");
    let mine = property(ana, "mine").await;
    let gate = Gate::new();
    scene.proxy.next("PUT", ProxyFault::passed().behind(&gate));
    let here = ana.clone();
    let updating = tokio::spawn(async move { send(&here, &mine).await });
    gate.reached().await;
    let renamed = edit(&li, |wanted| wanted.name = Some("By Li".into())).await;
    send(&li, &renamed).await.expect("updated");
    gate.open();
    let done = updating.await.expect("it ends").expect("updated");
    assert!(!done.warnings.iter().any(Warning::is_alarm), "{done:?}");
    let facts = ana.facts().await.expect("readable");
    assert_eq!(facts.absent_name.value, Keep);
}

/// A rotation that begins while the proof of a key is being read is no sign of another environment.
#[tokio::test]
async fn a_key_is_not_refused_by_a_rotation() {
    let scene = Scene::new().await;
    let key = scene.world.new_key("testing", Some("Testing"));
    let trial = scene.installation().key(&key).unbound();
    trial.answer_binding(SAME).await.expect("bound");
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().held(&gate));
    let here = trial.clone();
    let proving = tokio::spawn(async move { here.prove(&id(ACME)).await });
    gate.reached().await;
    let (answer, rotating) = rotate_up_to_answer(&scene).await;
    gate.open();
    let unclear = proving.await.expect("it ends");
    assert_is!(unclear, Err(Failure::Place(PlaceProblem::NoProof { .. })));
    answer.open();
    rotating.await.expect("it ends").expect("rotated");
    let rotated = scene.ana.recover(&[], 1, |_| {}).await;
    rotated.expect("settled");
    let proven = trial.prove(&id(ACME)).await;
    assert!(proven.expect("the token is one of here"), "it was on trial");
}
