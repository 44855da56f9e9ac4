//! Answers that arrive out of date, and what a later read adds to them: no dead token comes back, and no new value gets
//! lost.

use groupdesk::{
    config::{
        KeySource,
        guard::{Guard, Operation as Guarded, Rule},
    },
    domain::{
        history::{Ending, Operation},
        rotation::State,
        token::Token,
    },
    operations::{Done, Failure, UnknownIdPolicy, Warning},
};
use serde_json::json;

use super::{
    ACME, Scene, exposed, has, history, look_up, rotate, rotate_up_to_answer, update, wanted,
};
use crate::support::{
    proxy::{Gate, ProxyFault, Then},
    world::{Side, id},
};

const LI: &str = "li";

/// An answer in which the known group has another name.
fn renamed(name: &'static str) -> ProxyFault {
    ProxyFault::change(move |body| body["user_group"]["name"] = json!(name))
}

async fn rotate_from_another_directory(scene: &Scene) -> Done {
    let elsewhere = scene.world.other_directory(LI);
    let li = scene.world.installation(Side::Testing).by(LI);
    let li = li.on(&elsewhere).operations();
    let rotated = li.rotate(&id(ACME), None, UnknownIdPolicy::Exists).await;
    rotated.expect("rotated")
}

#[tokio::test]
async fn a_late_answer_of_a_rotation_does_not_bring_back_a_dead_token() {
    let scene = Scene::new().await;
    let (gate, rotating) = rotate_up_to_answer(&scene).await;
    let ours = scene.token();
    // Somebody rotates again, and this directory records it before the answer arrives.
    let theirs = rotate_from_another_directory(&scene).await;
    let seen = scene.installation().by(LI).operations();
    let seen = look_up(&seen).await.expect("found");
    assert_eq!(exposed(&seen), exposed(&theirs));
    gate.open();

    let done = rotating.await.expect("it ends").expect("rotated");
    let fingerprinter = scene.ana.directory().fingerprinter();
    let dead = fingerprinter.of(&Token::new(ours));
    let current = fingerprinter.of(&Token::new(scene.token()));
    assert_eq!(done.ending, Ending::Rotated);
    let told = done.group.fingerprint.clone().expect("told");
    assert_eq!(
        told.value, current,
        "the warning has the value of the group"
    );
    let known = scene.ana.show(&id(ACME)).await.expect("readable");
    let known = known.expect("known").fingerprint.expect("told");
    assert_eq!(known.value, current, "a dead token came back");
    let lines = history(&scene.ana).await;
    let line = lines.iter().find(|line| line.ending == Ending::Rotated);
    assert_eq!(line.expect("a line").fingerprint, Some(dead));
    let done = scene.ana.confirm(done).await;
    assert_eq!(done.ending, Ending::Superseded);
    assert_eq!(exposed(&done), scene.token());
    scene.check().await;
}

#[tokio::test]
async fn a_recovery_names_the_token_that_was_rotated() {
    let scene = Scene::new().await;
    let old = Token::new(scene.token());
    scene.proxy.next("POST", ProxyFault::applied(Then::Drop));
    let done = rotate(&scene.ana).await.expect("found out");
    assert_eq!(done.ending, Ending::Recovered);
    let old = scene.ana.directory().fingerprinter().of(&old);
    assert_eq!(done.previous_fingerprint, Some(old));
}

#[tokio::test]
async fn the_values_read_by_the_confirmation_are_shown() {
    let scene = Scene::new().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    scene.proxy.next("GET", renamed("Renamed meanwhile"));
    let done = scene.ana.confirm(rotated).await;
    assert_eq!(done.ending, Ending::Confirmed);
    let name = done.group.name.map(|name| name.value);
    assert_eq!(name.as_deref(), Some("Renamed meanwhile"));
}

#[tokio::test]
async fn a_second_confirmation_finds_the_first_ones_result() {
    let scene = Scene::new().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    let once = scene.ana.confirm(rotated.clone()).await;
    let twice = scene.ana.confirm(rotated).await;
    assert_eq!(once.ending, Ending::Confirmed);
    assert_eq!(twice.ending, Ending::Confirmed);
    assert_eq!(scene.states().await, [State::Confirmed]);
}

#[tokio::test]
async fn a_wrong_tag_is_reported_once_and_not_after_a_person_resolved_it() {
    let scene = Scene::new().await;
    let other =
        || ProxyFault::change(|body| body["user_group"]["api_environment_tag"] = json!("Customer"));
    let alarms = |done: &groupdesk::operations::Done| {
        let alarms = done.warnings.iter().filter(|warning| warning.is_alarm());
        alarms.count()
    };
    scene.proxy.next("GET", other());
    let done = look_up(&scene.ana).await.expect("an answer");
    assert!(has(&done, |warning| matches!(
        warning,
        Warning::WrongTag { .. }
    )));
    assert_eq!(alarms(&done), 1, "{:?}", done.warnings);
    let held = look_up(&scene.ana).await.expect_err("held back");
    assert!(matches!(held, Failure::Place(_)), "{held}");
    crate::support::world::acknowledge(scene.world.directory());
    let done = look_up(&scene.ana).await.expect("an answer");
    assert_eq!(alarms(&done), 0, "{:?}", done.warnings);
}

#[tokio::test]
async fn an_update_reports_what_its_read_back_finds_once() {
    let scene = Scene::new().await;
    let base = scene.ana.show(&id(ACME)).await.expect("readable");
    let base = groupdesk::domain::change::DesiredFields::of(&base.expect("known"));
    let mut all = base.clone();
    all.name = Some("Acme Neu".into());
    // The service ignores the new name: both answers show that, and it is reported once.
    scene.proxy.next("PUT", renamed("Acme Alt"));
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", renamed("Acme Alt"));
    let done = update(&scene.ana, &base, &all).await.expect("updated");
    let mut seen = Vec::new();
    for warning in &done.warnings {
        assert!(!seen.contains(&warning), "{:?}", done.warnings);
        seen.push(warning);
    }
    assert!(has(&done, |warning| matches!(warning, Warning::Differs(_))));
    // Somebody rotates between the answer and the read-back.
    let gate = Gate::new();
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::passed().held(&gate));
    let (here, before) = (scene.ana.clone(), all.clone());
    let mut later = all;
    later.name = Some("Acme Neuer".into());
    let updating = tokio::spawn(async move { update(&here, &before, &later).await });
    gate.reached().await;
    rotate_from_another_directory(&scene).await;
    gate.open();
    let done = updating.await.expect("it ends").expect("updated");
    assert!(
        done.warnings.contains(&Warning::TokenChangedElsewhere),
        "{:?}",
        done.warnings
    );
}

#[tokio::test]
async fn the_history_of_a_group_has_only_its_own_lines_of_this_profile() {
    let scene = Scene::new().await;
    rotate(&scene.ana).await.expect("rotated");
    let globex = id("globex");
    let create = wanted("Globex", &[], &json!({}));
    let done = scene.ana.create(&globex, &create).await;
    done.expect("created");
    let other = scene.world.operations(Side::Production);
    let done = other.rotate(&id(ACME), None, UnknownIdPolicy::Exists).await;
    done.expect("rotated");
    let lines = scene.ana.history(Some(globex.clone()), None).await;
    let lines = lines.expect("readable");
    let told: Vec<_> = lines
        .iter()
        .map(|line| (&line.value.user_group_id, line.value.operation))
        .collect();
    assert_eq!(told, [(&globex, Operation::Create)]);
    let all = scene.ana.history(None, None).await.expect("readable");
    let profile = &scene.ana.profile().name;
    assert!(all.len() > 1 && all.iter().all(|line| line.value.profile == *profile));
    let last = scene.ana.history(None, Some(1)).await.expect("readable");
    assert_eq!(last[..], all[..1]);
}

#[tokio::test]
async fn a_profile_that_may_not_create_may_read_known_groups() {
    let scene = Scene::with(|installation| {
        installation.with(|profile| {
            profile.guards = vec![Guard {
                operation: Guarded::Create,
                rule: Rule::Forbid,
                reason: "change freeze".into(),
            }];
        })
    })
    .await;
    for assurance in [UnknownIdPolicy::KnownOnly, UnknownIdPolicy::Exists] {
        let done = scene.ana.look_up(&id(ACME), assurance).await;
        assert_eq!(done.expect("it is known").ending, Ending::Found);
    }
    let sent = scene.proxy.count("GET");
    let refused = scene
        .ana
        .look_up(&id("globex"), UnknownIdPolicy::Exists)
        .await;
    assert!(
        matches!(refused, Err(Failure::Forbidden { .. })),
        "{refused:?}"
    );
    assert_eq!(scene.proxy.count("GET"), sent);
}

#[tokio::test]
async fn a_missing_api_key_is_reported_before_anything_begins() {
    let scene = Scene::new().await;
    assert!(scene.ana.ready().await.is_ok());
    let nowhere = scene.installation().with(|profile| {
        profile.api_key = KeySource::Env("NO_SUCH_VARIABLE_HERE".into());
    });
    let refused = nowhere.operations().ready().await;
    assert!(matches!(refused, Err(Failure::Key(_))), "{refused:?}");
    assert_eq!(scene.proxy.methods(), [""; 0]);
}

/// An installation that saw a token replaced takes it for an old one. For another group the same token is news.
#[tokio::test]
async fn an_old_token_of_another_group_is_not_a_stale_answer() {
    let scene = Scene::new().await;
    scene
        .world
        .seed(Side::Testing, "globex", "Globex", &[], &json!({}));
    let globex = scene
        .ana
        .look_up(&id("globex"), UnknownIdPolicy::Exists)
        .await;
    let other = exposed(&globex.expect("found")).to_owned();
    scene.proxy.next(
        "GET",
        ProxyFault::change(move |body| body["user_group"]["token"] = json!(other)),
    );
    let done = look_up(&scene.ana).await.expect("an answer");
    assert!(
        done.warnings.contains(&Warning::TokenChangedElsewhere),
        "{:?}",
        done.warnings
    );
    assert!(!done.warnings.contains(&Warning::StaleAnswer));
}

#[tokio::test]
async fn a_read_is_recorded_although_the_group_became_known_meanwhile() {
    let scene = Scene::new().await;
    let new = id("globex");
    let properties = json!({"tier": "gold"});
    let world = &scene.world;
    world.seed(Side::Testing, "globex", "Globex", &[], &properties);
    let gate = Gate::new();
    scene
        .proxy
        .next("GET", renamed("Globex Retail").behind(&gate));
    let (here, group) = (scene.ana.clone(), new.clone());
    let reading = tokio::spawn(async move { here.look_up(&group, UnknownIdPolicy::Exists).await });
    gate.reached().await;
    // The first read of an id can create it, so the second one waits for it, and then reads a known group.
    let (other, group) = (scene.world.operations(Side::Testing), new.clone());
    let other = tokio::spawn(async move { other.look_up(&group, UnknownIdPolicy::Exists).await });
    gate.open();
    let other = other.await.expect("it ends").expect("found");
    let done = reading.await.expect("it ends").expect("found");
    assert_eq!(exposed(&done), exposed(&other));
    let name = done.group.name.as_ref().map(|known| known.value.as_str());
    assert_eq!(name, Some("Globex Retail"));
    let known = scene.ana.show(&new).await.expect("readable");
    assert_eq!(known, Some(other.group), "the second read came later");
}
