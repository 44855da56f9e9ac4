//! One order: what an answer means is decided by the numbers of the directory, for whatever purpose the request was sent
//! and whatever has ended in between; and no token is rotated that somebody just got.

use std::{fs, path::Path, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use groupdesk::{
    directory::{BindingAnswer, Fact},
    domain::{
        annotation::AnnotationChange,
        change::DesiredFields,
        facts::{Field, OmittedField::Keep},
        history::Ending,
        token::Token,
        update::Edit,
    },
    formats::GroupRow,
    operations::{
        Failure, JUST_ROTATED, Operations, PlaceProblem, Sending, Spare, Target, UnknownIdPolicy,
        Warning,
        batch::{Control, RunLimits, Slot},
    },
};
use serde_json::json;

use super::{ACME, Scene, look_up, rotate, rotate_up_to_answer, update};
use crate::support::{
    proxy::{Gate, ProxyFault, Then},
    world::{Installation, LI, Side, World, id},
};

const KNOWN: UnknownIdPolicy = UnknownIdPolicy::KnownOnly;

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

fn row() -> GroupRow {
    GroupRow {
        id: id(ACME),
        fields: DesiredFields {
            name: Some("Acme Europe".into()),
            ..DesiredFields::default()
        },
        annotation: AnnotationChange::default(),
        parts: groupdesk::formats::Parts::default(),
    }
}

fn property(operations: &Operations, key: &'static str) -> impl Future<Output = Edit> {
    let operations = operations.clone();
    async move {
        let shown = operations.show(&id(ACME)).await.expect("readable");
        let base = DesiredFields::of(&shown.expect("known"));
        let mut wanted = base.clone();
        let properties = wanted.properties.get_or_insert_default();
        properties.insert(key.into(), json!(1));
        Edit {
            base,
            wanted,
            ..Edit::default()
        }
    }
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
        file: "groups/conflict_check.rs",
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
        file: "rotation/recover.rs",
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
                let base = Some(&row().fields).cloned();
                let control = Control::default();
                let slot = (&control, Slot::default());
                let row = row();
                let sent = ana.send_row(&permit, None, &row, base.as_ref(), slot, |_| {});
                drop(Box::pin(sent).await);
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
                drop(ana.update_edit(&id(ACME), &edit, KNOWN).await);
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
                let batch = ana.begin_batch(&plan, None).await.expect("durable");
                let run = ana.run_batch(batch, RunLimits::default(), None);
                let mut run = run.await.expect("permitted");
                while run.progress.recv().await.is_some() {}
            }
            .boxed()
        },
    },
];

/// Files with other gets, and why nothing can end while they are on their way.
const OTHERS: [(&str, &str); 7] = [
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
    ("batch/edit_item.rs", "a plain read, after its update"),
    ("doctor/service.rs", "a plain read, shown only"),
];

/// What ends while the answer is on its way.
type Change = (&'static str, fn(Operations) -> BoxFuture<'static, ()>);

const CHANGES: [Change; 4] = [
    ("an update of the name", |ben| {
        async move {
            let base = ben.show(&id(ACME)).await.expect("readable");
            let base = DesiredFields::of(&base.expect("known"));
            let mut wanted = base.clone();
            wanted.name = Some("By Ben".into());
            update(&ben, &base, &wanted).await.expect("updated");
        }
        .boxed()
    }),
    ("an update of a property", |ben| {
        async move {
            let edit = property(&ben, "bens").await;
            let done = ben.update_edit(&id(ACME), &edit, KNOWN).await;
            done.expect("updated");
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
            let done = ben.update_edit(&id(ACME), &edit, KNOWN).await;
            done.expect("updated");
        }
        .boxed()
    }),
];

fn told(installation: Installation) -> Installation {
    installation.with(|profile| {
        profile.read_properties = true;
        profile.handoff = None;
    })
}

/// The directory has what the service has, and nobody thinks that somebody else writes there.
async fn check(scene: &Scene, ana: &Operations, what: &str) {
    let stored = scene.world.stored(Side::Testing, ACME);
    let known = ana.show(&id(ACME)).await.expect("readable").expect("known");
    let name = known.name.map(|known| known.value);
    assert_eq!(name.as_ref(), Some(&stored.name), "{what}");
    let properties = known.properties.map(|known| json!(known.value));
    assert_eq!(properties.as_ref(), Some(&stored.properties), "{what}");
    let fingerprinter = scene.world.directory().fingerprinter();
    let token = known.fingerprint.map(|known| known.value);
    let current = fingerprinter.of(&Token::new(stored.token));
    assert_eq!(token, Some(current), "{what}: a dead token came back");
    let facts = ana.facts().await.expect("readable");
    assert!(facts.sole_writer.value, "{what}: withdrawn");
    for line in super::history(ana).await {
        let note = line.note.unwrap_or_default();
        assert!(
            !note.contains("ALARM") && !note.contains("elsewhere"),
            "{what}: {note}"
        );
    }
}

#[tokio::test]
async fn no_answer_that_a_change_has_overtaken_is_news_whatever_it_was_asked_for() {
    for caller in &CALLERS {
        for (change, make) in &CHANGES {
            let what = format!("{} ({}), then {change}", caller.name, caller.file);
            let scene = Scene::with(told).await;
            let ana = &scene.ana;
            let sole = ana.state_facts(vec![Fact::SoleWriter(true)]).await;
            sole.expect("recorded");
            look_up(ana).await.expect("found");
            let ben = told(scene.world.installation(Side::Testing).by(LI)).operations();
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
            check(&scene, ana, &what).await;
            let posts = scene.world.rotations(Side::Testing, ACME);
            let rows = ana.rotations().await.expect("readable").len();
            assert_eq!(posts, rows, "{what}");
        }
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
    for (number, settle) in [
        look_up_once as fn(Operations) -> BoxFuture<'static, ()>,
        |ana| async move { drop(ana.settle_changes().await) }.boxed(),
        |ana| async move { drop(ana.look_up_unchanged(&id(ACME)).await) }.boxed(),
    ]
    .into_iter()
    .enumerate()
    {
        let scene = Scene::new().await;
        let ana = &scene.ana;
        let facts = vec![Fact::SoleWriter(true)];
        ana.state_facts(facts).await.expect("recorded");
        let mapping = [("1", "2"), ("7", "40")];
        let first = super::wanted("First", &mapping, &json!({"z": 1}));
        let nothing = DesiredFields::default();
        update(ana, &nothing, &first).await.expect("updated");
        scene.proxy.next("PUT", ProxyFault::applied(Then::Drop));
        // A row goes, another one is new.
        let second = super::wanted("Second", &[("1", "3")], &json!({"z": 2}));
        let lost = update(ana, &first, &second).await;
        assert!(matches!(lost, Err(Failure::Unknown { .. })), "{lost:?}");
        settle(ana.clone()).await;
        let known = ana.show(&id(ACME)).await.expect("readable").expect("known");
        assert_eq!(DesiredFields::of(&known), second, "settled by {number}");
        assert!(ana.open_changes().await.expect("readable").is_empty());
        let third = super::wanted("Second", &[("1", "3"), ("5", "6")], &json!({"z": 2}));
        update(ana, &second, &third).await.expect("updated");
        let stored = scene.world.stored(Side::Testing, ACME);
        assert_eq!(stored.mapping, json!({"1": "3", "5": "6"}));
        assert_eq!(stored.properties, json!({"z": 2}), "nothing was reverted");
    }
}

fn look_up_once(ana: Operations) -> BoxFuture<'static, ()> {
    async move { drop(look_up(&ana).await.expect("found")) }.boxed()
}

#[tokio::test]
async fn what_a_later_update_replaced_is_not_taken_over_again() {
    let scene = Scene::new().await;
    let ana = &scene.ana;
    scene.proxy.next("PUT", ProxyFault::applied(Then::Drop));
    let base = super::wanted("Acme Europe", &[("7", "40")], &json!({}));
    let lost = super::wanted("Lost", &[("7", "41")], &json!({}));
    update(ana, &base, &lost).await.expect_err("lost");
    // After the window another mapping is given whole, and the name is left to the service.
    let later = super::claims::later();
    let keeps = vec![Fact::OmittedField(Field::Name, Keep)];
    let li = scene.world.installation(Side::Testing).by(LI).at(later);
    let li = li.operations();
    li.state_facts(keeps).await.expect("recorded");
    let whole = DesiredFields {
        mapping: super::wanted("", &[("9", "9")], &json!({})).mapping,
        ..DesiredFields::default()
    };
    let edit = Edit::whole(&DesiredFields::default(), &whole);
    let sent = li.update_edit(&id(ACME), &edit, KNOWN).await;
    sent.expect("updated");
    look_up(&li).await.expect("found");
    let known = li.show(&id(ACME)).await.expect("readable").expect("known");
    assert_eq!(DesiredFields::of(&known).mapping, whole.mapping);
    assert_eq!(known.name.map(|known| known.value).as_deref(), Some("Lost"));
}

/// A token that somebody got since the command began, or a moment ago, is left alone, whatever the clocks say.
#[tokio::test]
async fn a_token_that_somebody_just_got_is_not_rotated_again() {
    let scene = Scene::new().await;
    let ana = &scene.ana;
    let began = ana.last_number().await.expect("readable");
    let hours = Duration::from_hours(2);
    for ahead in [Duration::ZERO, hours] {
        let at = jiff::Timestamp::now() + ahead;
        let ben = scene.world.installation(Side::Testing).by(LI).at(at);
        let ben = ben.operations();
        let rotated = rotate(&ben).await;
        let rotated = rotated.expect("rotated");
        let token = rotated.group.fingerprint.map(|known| known.value);
        let since = Spare {
            since: Some(began),
            ..Spare::default()
        };
        let young = Spare {
            younger_than: JUST_ROTATED,
            ..Spare::default()
        };
        for spare in [since, young] {
            let target = Target { seen: token, spare };
            let again = ana.rotate_seen(&id(ACME), target, None, KNOWN).await;
            let Err(Failure::JustRotated { by, ago, .. }) = &again else {
                panic!("{again:?}");
            };
            assert!(by == ben.operator() && ago.is_some(), "{again:?}");
        }
    }
    let now = ana.last_number().await.expect("readable");
    let token = ana.show(&id(ACME)).await.expect("readable");
    let target = Target {
        seen: token.expect("known").fingerprint.map(|known| known.value),
        spare: Spare {
            since: Some(now),
            ..Spare::default()
        },
    };
    let rotated = ana.rotate_seen(&id(ACME), target, None, KNOWN).await;
    rotated.expect("rotated before this one began");
}

#[tokio::test]
async fn two_batches_of_the_same_groups_rotate_each_token_once() {
    let world = World::new().await;
    let ids: Vec<_> = (0..12).map(|number| id(&format!("g{number:02}"))).collect();
    for id in &ids {
        world.seed(Side::Testing, id.as_str(), "G", &[], &json!({}));
    }
    let ahead = jiff::Timestamp::now() + Duration::from_secs(5);
    let ana = world.installation(Side::Testing).operations();
    let ben = world.installation(Side::Testing).by(LI).at(ahead);
    let ben = ben.operations();
    let mut runs = Vec::new();
    for id in &ids {
        let read = ana.look_up(id, UnknownIdPolicy::Exists).await;
        read.expect("found");
    }
    for operations in [&ana, &ben] {
        let plan = operations.plan_batch(&ids, true).await.expect("readable");
        assert_eq!(plan.ready.len(), ids.len());
        runs.push((
            operations,
            operations.begin_batch(&plan, None).await.expect("durable"),
        ));
    }
    let runs = runs.into_iter().map(async |(operations, batch)| {
        let run = operations.run_batch(batch, RunLimits::default(), None);
        let mut run = run.await.expect("permitted");
        while run.progress.recv().await.is_some() {}
    });
    futures_util::future::join_all(runs).await;
    for id in &ids {
        assert_eq!(world.rotations(Side::Testing, id.as_str()), 1, "{id}");
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
    let lost = losing
        .await
        .expect("it ends")
        .expect_err("somebody else did");
    let said = lost.to_string();
    assert!(
        said.contains(&format!("NOT rotated: {}", ben.operator()))
            && (said.contains("s ago") || said.contains("just now")),
        "{said}"
    );
    assert!(!said.contains("rotate it again"), "{said}");
}

/// Two people with directories of their own: the other one's change is news, and says nothing about what is kept.
#[tokio::test]
async fn where_others_write_a_changed_field_is_news_and_no_alarm() {
    let scene = Scene::with(told).await;
    let ana = &scene.ana;
    let keeps = |value| {
        let fields = Field::ALL;
        let facts = fields.map(|field| Fact::OmittedField(field, value));
        facts.to_vec()
    };
    ana.state_facts(keeps(Keep)).await.expect("recorded");
    let other = scene.world.other_directory(LI);
    let li = told(scene.world.installation(Side::Testing).by(LI)).on(&other);
    let li = li.operations();
    li.look_up(&id(ACME), UnknownIdPolicy::Exists)
        .await
        .expect("found");
    li.state_facts(keeps(Keep)).await.expect("recorded");
    let edit = property(ana, "mine").await;
    let gate = Gate::new();
    scene.proxy.next("PUT", ProxyFault::passed().behind(&gate));
    let here = ana.clone();
    let updating = tokio::spawn(async move { here.update_edit(&id(ACME), &edit, KNOWN).await });
    gate.reached().await;
    let base = DesiredFields::of(&li.show(&id(ACME)).await.expect("readable").expect("known"));
    let mut renamed = base.clone();
    renamed.name = Some("By Li".into());
    update(&li, &base, &renamed).await.expect("updated");
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
    let same = BindingAnswer::Same {
        place: None,
        unproven: false,
    };
    trial.answer_binding(same).await.expect("bound");
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed().held(&gate));
    let here = trial.clone();
    let proving = tokio::spawn(async move { here.prove(&id(ACME)).await });
    gate.reached().await;
    let (answer, rotating) = rotate_up_to_answer(&scene).await;
    gate.open();
    let unclear = proving.await.expect("it ends").expect_err("no proof yet");
    assert!(
        matches!(unclear, Failure::Place(PlaceProblem::NoProof { .. })),
        "{unclear:?}"
    );
    answer.open();
    rotating.await.expect("it ends").expect("rotated");
    let rotated = scene.ana.recover(&[], 1, |_| {}).await;
    rotated.expect("settled");
    let proven = trial.prove(&id(ACME)).await;
    assert!(proven.expect("the token is one of here"), "it was on trial");
}
