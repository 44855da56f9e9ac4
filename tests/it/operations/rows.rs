//! Rows of a file: no more than were confirmed, nothing sent during an alarm, and rows that were put off are sent
//! again.

use super::*;

fn updating() -> Sending {
    Sending {
        create: false,
        update: true,
        only_differences: false,
    }
}

fn permit(operations: &Operations, create: bool, rows: usize) -> Permit {
    let sending = Sending {
        create,
        ..updating()
    };
    let permit = operations.sending_permitted(sending, rows);
    permit.expect("nothing forbids it")
}

/// Sends the row as a plan made now shows it.
async fn send(operations: &Operations, permit: &Permit, row: &GroupRow) -> RowEnd {
    let base = known(operations, row).await;
    super::send_row(operations, permit, row, base.as_ref()).await
}

fn named(group: &str, name: &str) -> GroupRow {
    super::row(group, only_name(name))
}

/// The group as a plan made now shows it.
async fn known(operations: &Operations, row: &GroupRow) -> Option<DesiredFields> {
    let known = operations.show(&row.id).await.expect("readable");
    known.map(|group| DesiredFields::of(&group).restricted_to(&row.fields))
}

/// The service is busy, and nothing is changed.
fn busy() -> ProxyFault {
    let headers = ["Content-Type: application/json", "Retry-After: 0"];
    let body = json!({"success": 0, "error": "slowly"}).to_string();
    ProxyFault::swallowed(Then::Instead(http("429 Too Many Requests", &headers, body)))
}

/// groupdesk's own service under overload.
fn overloaded() -> ProxyFault {
    let headers = [
        "Content-Type: application/json",
        "Retry-After: 0",
        "groupdesk-not-done: 1",
    ];
    let body = json!({"success": 0, "error": {"code": "overloaded", "message": "slowly"}});
    let bytes = http("503 Service Unavailable", &headers, body.to_string());
    ProxyFault::swallowed(Then::Instead(bytes))
}

#[tokio::test]
async fn no_more_rows_are_sent_than_were_confirmed() {
    let scene = Scene::new().await;
    let permit = permit(&scene.ana, true, 1);
    let first = send(&scene.ana, &permit, &named(ACME, "One")).await;
    assert_eq!(first.outcome(), "updated");
    let sent = scene.proxy.methods().len();
    let second = send(&scene.ana, &permit, &named("globex", "Two")).await;
    assert_is!(second, RowEnd::NotStarted);
    assert_eq!(scene.proxy.methods().len(), sent);
    assert!(scene.world.find_stored(Side::Testing, "globex").is_none());
}

#[tokio::test]
async fn a_row_that_was_put_off_is_sent_again_and_counts_once() {
    let scene = Scene::new().await;
    let first = permit(&scene.ana, true, 1);
    scene.next("PUT", [busy(), overloaded()]);
    let held = AtomicUsize::new(0);
    let count = |_: Hold| {
        held.fetch_add(1, Ordering::SeqCst);
    };
    let row = named(ACME, "One");
    let base = known(&scene.ana, &row).await;
    let control = Control::default();
    let slot = (&control, Slot::default());
    let end = scene
        .ana
        .send_row(&first, None, &row, base.as_ref(), slot, count);
    assert_eq!(end.await.outcome(), "updated");
    assert_eq!(held.load(Ordering::SeqCst), 2);
    assert_eq!(scene.proxy.count("PUT"), 3);
    assert_eq!(scene.stored().name, "One");
    // A create likewise.
    let before = scene.proxy.count("GET");
    scene.proxy.next("GET", overloaded());
    let second = permit(&scene.ana, true, 1);
    let end = send(&scene.ana, &second, &named("globex", "One")).await;
    assert_eq!(end.outcome(), "created");
    assert_eq!(scene.proxy.count("GET") - before, 2);
    assert_eq!(scene.world.stored(Side::Testing, "globex").name, "One");
}

/// The end of a run is no time to wait for the settle window.
#[tokio::test]
async fn a_create_whose_answer_is_lost_is_repeated_by_the_run_and_counts_once() {
    for fault in [unanswered(), lost()] {
        let scene = Scene::new().await;
        let permit = permit(&scene.ana, true, 1);
        scene.next("GET", [fault, ProxyFault::swallowed(Then::Reset)]);
        let end = send(&scene.ana, &permit, &named("globex", "One")).await;
        assert_is!(end, RowEnd::Done { .. });
        assert_eq!(scene.proxy.count("GET"), 3);
        assert_eq!(scene.world.stored(Side::Testing, "globex").name, "One");
        assert_eq!(scene.open().await, []);
    }
}

/// Nothing was changed, and nothing is unknown; a rotation is settled by reading all the same
/// (docs/design/rotation.md).
#[tokio::test]
async fn a_statement_that_nothing_was_done_is_trusted_except_for_a_rotation() {
    let scene = Scene::new().await;
    let wanted = only_name("One");
    scene.proxy.next("GET", overloaded());
    let created = scene.ana.create(&id("globex"), &wanted).await;
    let created = created.expect_err("it is put off");
    let said = "nothing was changed; wait 0 s, then try again";
    assert_has(&created.to_string(), said);
    scene.proxy.next("PUT", overloaded());
    let updated = super::update(&scene.ana, &wanted, &wanted).await;
    for refused in [created, updated.expect_err("it is put off")] {
        assert_is!(
            refused,
            Failure::Refused {
                status: 503,
                stated: true,
                ..
            }
        );
    }
    let before = scene.proxy.count("GET");
    scene.proxy.next("POST", overloaded());
    super::assert_unknown(&super::rotate(&scene.ana).await);
    assert_eq!(scene.proxy.count("POST"), 1);
    assert!(scene.proxy.count("GET") > before + 1, "it was read again");
}

#[tokio::test]
async fn an_answer_from_another_environment_is_an_alarm_and_stops_the_update() {
    let scene = Scene::new().await;
    let permit = permit(&scene.ana, true, 10);
    let row = named(ACME, "One");
    let fresh = |name: &str| {
        let directory = scene.world.other_directory(name);
        scene.installation().on(&directory).operations()
    };
    // The same where a create finds an existing group.
    for operations in [scene.ana.clone(), fresh("li")] {
        scene.proxy.next("GET", tagged("Customer"));
        let read = send(&operations, &permit, &row).await;
        assert!(read.is_alarm(), "{read:?}");
    }
    assert_eq!(scene.proxy.methods(), ["GET", "GET"]);
    // Without a tag the group only differs from the plan: it is new. The next plan shows it, and it is updated.
    let mo = fresh("mo");
    let since = send(&mo, &permit, &row).await;
    assert!(since.is_changed_since() && !since.is_alarm(), "{since:?}");
    assert_eq!(scene.stored().name, "Acme Europe");
    assert_eq!(send(&mo, &permit, &row).await.outcome(), "updated");
}

/// `map:1` of a file is a change of one row, as `update --map` is.
#[tokio::test]
async fn a_single_row_is_not_sent_with_others_that_may_have_changed() {
    for is_lost in [true, false] {
        let scene = Scene::new().await;
        let ana = &scene.ana;
        let facts = vec![Fact::SoleWriter(is_lost)];
        ana.state_facts(facts).await.expect("recorded");
        let mut edit = super::edit(ana, |wanted| {
            wanted.mapping = Some(
                [("1", "2"), ("3", "4")]
                    .map(|(k, v)| (k.into(), v.into()))
                    .into(),
            );
        })
        .await;
        edit.whole = Field::ALL.to_vec();
        ana.update_edit(&id(ACME), &edit, KNOWN)
            .await
            .expect("updated");
        if is_lost {
            scene.proxy.next("PUT", unanswered());
            edit.base = edit.wanted.clone();
            edit.wanted
                .mapping
                .get_or_insert_default()
                .insert("3".into(), "9".into());
            ana.update_edit(&id(ACME), &edit, KNOWN)
                .await
                .expect_err("lost");
        }
        let later = scene.world.installation(Side::Testing).at(claims::later());
        let later = later.operations();
        let mut row = super::row(ACME, DesiredFields::default());
        row.parts.map = vec![("1".into(), "5".into())];
        let group = later.show(&id(ACME)).await.expect("readable");
        let group = group.expect("known");
        let known = DesiredFields::of(&group);
        row.parts
            .complete(&mut row.fields, Some(&known))
            .expect("known");
        let base = known.restricted_to(&row.fields);
        let planned = async |replace: Vec<Field>| {
            let foresight = later.foresight(updating(), replace).await;
            let plan = foresight.expect("readable").of(&row, &group);
            plan.expect("updates are sent")
        };
        assert_ne!(planned(Vec::new()).await.objections, [], "as it is sent");
        let agreed = planned(vec![Field::Mapping]).await;
        assert_eq!(!agreed.objections.is_empty(), is_lost, "as it is sent");
        let before = scene.proxy.count("PUT");
        let permit = permit(&later, false, 1);
        let end = super::send_row(&later, &permit, &row, Some(&base)).await;
        assert_is!(end, RowEnd::Failed(Failure::NotKnownEnough(_)));
        assert_eq!(scene.proxy.count("PUT"), before, "nothing was sent");
        let permit = super::rows::permit(&later, false, 1).replacing(vec![Field::Mapping]);
        if !is_lost {
            // What a colleague sent since the plan stays.
            let mut edit = super::edit(ana, |wanted| {
                let rows = wanted.mapping.get_or_insert_default();
                rows.insert("3".into(), "9".into());
            })
            .await;
            edit.replace = vec![Field::Mapping];
            let sent = ana.update_edit(&id(ACME), &edit, KNOWN).await;
            sent.expect("updated");
        }
        let end = super::send_row(&later, &permit, &row, Some(&base)).await;
        // It was agreed to for all groups of the file, not for one with an earlier change in doubt.
        let first = if is_lost {
            assert_is!(end, RowEnd::Failed(Failure::NotKnownEnough(_)));
            "2"
        } else {
            assert_eq!(end.outcome(), "updated");
            "5"
        };
        assert_eq!(scene.stored().mapping, json!({"1": first, "3": "9"}));
    }
}

/// Whoever looks later finds one open create, and one that created the group.
#[tokio::test]
async fn a_create_that_a_run_repeats_in_vain_is_one_open_change() {
    let scene = Scene::new().await;
    let permit = permit(&scene.ana, true, 1);
    scene.next("GET", [unanswered(), lost(), lost()]);
    let end = send(&scene.ana, &permit, &named("globex", "One")).await;
    assert!(end.is_unknown());
    let RowEnd::Failed(failure) = end else {
        panic!("{end:?}");
    };
    assert_has(&failure.to_string(), "run the same command again");
    assert_eq!(scene.proxy.count("GET"), 3);
    assert_eq!(scene.open().await.len(), 1);
    let read = scene.ana.look_up(&id("globex"), EXISTS).await;
    assert_eq!(read.expect("found").ending, Ending::Found);
    assert_eq!(scene.open().await, []);
    let history = scene.history().await;
    let count = |ending| history.iter().filter(|(_, one)| *one == ending).count();
    let counts = [Ending::Unknown, Ending::Created, Ending::Existed].map(count);
    assert_eq!(counts, [1, 1, 1], "{history:?}");
}
