//! Answers that arrive out of date, and what a later read adds to them: no dead token comes back, and no new value gets
//! lost.

use super::*;
use groupdesk::config::KeySource;

/// An answer in which the known group has another name.
fn renamed(name: &'static str) -> ProxyFault {
    ProxyFault::change(move |body| body["user_group"]["name"] = json!(name))
}

#[tokio::test]
async fn a_late_answer_of_a_rotation_does_not_bring_back_a_dead_token() {
    let scene = Scene::new().await;
    let (gate, rotating) = rotate_up_to_answer(&scene).await;
    let dead = scene.current();
    // Somebody rotates again, and this directory records it before the answer arrives.
    let theirs = scene.rotate_elsewhere().await;
    let seen = look_up(&scene.li()).await.expect("found");
    assert_eq!(exposed(&seen), exposed(&theirs));
    gate.open();
    let done = rotating.await.expect("it ends").expect("rotated");
    assert_eq!(done.ending, Ending::Rotated);
    let told = done.group.fingerprint.clone().expect("told").value;
    assert_eq!(told, scene.current(), "the value of the group");
    let known = scene.known().await.fingerprint.expect("told").value;
    assert_eq!(known, scene.current(), "a dead token came back");
    let lines = history(&scene.ana).await;
    let line = lines.iter().find(|line| line.ending == Ending::Rotated);
    assert_eq!(line.expect("a line").fingerprint, Some(dead));
    let done = scene.ana.confirm(done).await;
    assert_eq!(done.ending, Ending::Superseded);
    assert_eq!(exposed(&done), scene.token());
    scene.check().await;
}

#[tokio::test]
async fn the_values_read_by_the_confirmation_are_shown_and_a_second_one_changes_nothing() {
    let scene = Scene::new().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    scene.proxy.next("GET", renamed("Renamed meanwhile"));
    let done = scene.ana.confirm(rotated.clone()).await;
    assert_eq!(done.ending, Ending::Confirmed);
    assert_eq!(done.group.name.expect("read").value, "Renamed meanwhile");
    assert_eq!(scene.ana.confirm(rotated).await.ending, Ending::Confirmed);
    assert_eq!(scene.states().await, [State::Confirmed]);
}

#[tokio::test]
async fn an_update_reports_what_its_read_back_finds_once() {
    let scene = Scene::new().await;
    let base = DesiredFields::of(&scene.known().await);
    let named = |name: &str| DesiredFields {
        name: Some(name.into()),
        ..base.clone()
    };
    // The service ignores the new name: both answers show that, and it is reported once.
    scene.proxy.next("PUT", renamed("Acme Alt"));
    scene.next("GET", [ProxyFault::passed(), renamed("Acme Alt")]);
    let done = update(&scene.ana, &base, &named("Acme Neu")).await;
    let warnings = done.expect("updated").warnings;
    let differs = Warning::Differs(Difference {
        field: "name",
        asked: "Acme Neu".into(),
        kept: "Acme Alt".into(),
    });
    let told = |one: &Warning| warnings.iter().filter(|other| *other == one).count();
    assert_eq!(told(&differs), 1, "{warnings:?}");
    assert!(warnings.iter().all(|one| told(one) == 1), "{warnings:?}");
    // Somebody rotates between the answer and the read-back.
    let gate = Gate::new();
    scene.next(
        "GET",
        [ProxyFault::passed(), ProxyFault::passed().held(&gate)],
    );
    let (here, before, later) = (scene.ana.clone(), named("Acme Neu"), named("Acme Neuer"));
    let updating = tokio::spawn(async move { update(&here, &before, &later).await });
    gate.reached().await;
    scene.rotate_elsewhere().await;
    gate.open();
    let done = updating.await.expect("it ends").expect("updated");
    let news = Warning::TokenChangedElsewhere;
    assert!(done.warnings.contains(&news), "{:?}", done.warnings);
}

#[tokio::test]
async fn the_history_of_a_group_has_only_its_own_lines_of_this_profile() {
    let scene = Scene::new().await;
    rotate(&scene.ana).await.expect("rotated");
    let globex = id("globex");
    let done = scene.ana.create(&globex, &only_name("Globex")).await;
    done.expect("created");
    let other = scene.world.operations(Side::Production);
    let done = other.rotate(&id(ACME), None, EXISTS).await;
    done.expect("rotated");
    let lines = scene.ana.history(Some(globex.clone()), None).await;
    let lines = lines.expect("readable");
    let told = lines
        .iter()
        .map(|line| (&line.value.user_group_id, line.value.operation));
    assert!(told.eq([(&globex, Operation::Create)]), "{lines:?}");
    let all = scene.ana.history(None, None).await.expect("readable");
    let profile = &scene.ana.profile().name;
    assert!(all.len() > 1 && all.iter().all(|line| line.value.profile == *profile));
    let last = scene.ana.history(None, Some(1)).await.expect("readable");
    assert_eq!(last[..], all[..1]);
}

#[tokio::test]
async fn a_profile_that_may_not_create_may_read_known_groups() {
    let forbids = |profile: &mut Profile| {
        profile.guards = vec![Guard {
            operation: Guarded::Create,
            rule: Rule::Forbid,
            reason: "change freeze".into(),
        }];
    };
    let scene = Scene::with(|installation| installation.with(forbids)).await;
    for policy in [KNOWN, EXISTS] {
        let done = scene.ana.look_up(&id(ACME), policy).await;
        assert_eq!(done.expect("it is known").ending, Ending::Found);
    }
}

#[tokio::test]
async fn a_missing_api_key_is_reported_before_anything_begins() {
    let scene = Scene::new().await;
    assert!(scene.ana.ready().await.is_ok());
    let nowhere = scene.installation().with(|profile| {
        profile.api_key = KeySource::Env("NO_SUCH_VARIABLE_HERE".into());
    });
    let refused = nowhere.operations().ready().await;
    assert_is!(refused, Err(Failure::Key(_)));
    assert_eq!(scene.proxy.methods(), [""; 0]);
}

/// What a person typed needs no key once the profile was bound.
#[tokio::test]
async fn a_draft_is_kept_although_the_key_cannot_be_read() {
    let scene = Scene::new().await;
    let nowhere = scene.installation().with(|profile| {
        profile.api_key = KeySource::Env("NO_SUCH_VARIABLE_HERE".into());
    });
    let draft = fields::draft(ACME, Timestamp::now());
    let kept = nowhere.unbound().keep_draft(draft, None).await;
    assert_is!(kept, Ok(_));
    assert_eq!(scene.ana.drafts().await.expect("readable").len(), 1);
}

/// An installation that saw a token replaced takes it for an old one. For another group the same token is news.
#[tokio::test]
async fn an_old_token_of_another_group_is_not_a_stale_answer() {
    let scene = Scene::new().await;
    let other = exposed(&scene.meet("globex").await).to_owned();
    let swapped = move |body: &mut Value| body["user_group"]["token"] = json!(other);
    scene.proxy.next("GET", ProxyFault::change(swapped));
    let done = look_up(&scene.ana).await.expect("an answer");
    let news = Warning::TokenChangedElsewhere;
    assert!(done.warnings.contains(&news), "{:?}", done.warnings);
    assert!(!done.warnings.contains(&Warning::StaleAnswer));
}

#[tokio::test]
async fn a_read_is_recorded_although_the_group_became_known_meanwhile() {
    let scene = Scene::new().await;
    let (world, new) = (&scene.world, id("globex"));
    world.seed(Side::Testing, "globex", "Globex", &[], &json!({}));
    let gate = Gate::new();
    let late = renamed("Globex Retail").behind(&gate);
    scene.proxy.next("GET", late);
    let read = |operations: Operations| {
        let group = new.clone();
        tokio::spawn(async move { operations.look_up(&group, EXISTS).await })
    };
    let reading = read(scene.ana.clone());
    gate.reached().await;
    // The first read of an id can create it, so the second one waits for it, and then reads a known group.
    let other = read(world.operations(Side::Testing));
    gate.open();
    let other = other.await.expect("it ends").expect("found");
    let done = reading.await.expect("it ends").expect("found");
    assert_eq!(exposed(&done), exposed(&other));
    assert_eq!(done.group.name.expect("read").value, "Globex Retail");
    let known = scene.ana.show(&new).await.expect("readable");
    assert_eq!(known, Some(other.group), "the second read came later");
}
