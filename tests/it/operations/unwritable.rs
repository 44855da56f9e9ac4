//! A directory that cannot be written: before the intent nothing is sent, after the answer no token is shown.

use std::{fs, path::PathBuf};

use groupdesk::{
    domain::{
        history::{Ending, Operation},
        rotation::State,
    },
    operations::{Failure, Warning},
};
use rusqlite::Connection;

use super::{Scene, exposed, look_up, rotate, rotate_up_to_answer};
use crate::support::{
    postgres,
    proxy::{ProxyFault, Then},
};

/// Makes one kind of write fail, as a full disk would; `None` allows it again.
pub(super) fn fail_writes(scene: &Scene, write: Option<&str>) {
    if let Some(team) = scene.world.team() {
        let trigger = write.map_or_else(String::new, |write| {
            format!(
                "CREATE TRIGGER forbidden BEFORE INSERT ON {write} FOR EACH ROW EXECUTE FUNCTION refused()"
            )
        });
        let script = format!("DROP TRIGGER IF EXISTS forbidden ON history; {trigger}");
        let server = postgres::server().expect("a server");
        server.execute(team.schema(), &script);
        return;
    }
    let file = scene.world.directory_file();
    let raw = Connection::open(file).expect("a second connection");
    let trigger = write.map_or_else(String::new, |write| {
        format!("CREATE TRIGGER forbidden BEFORE INSERT ON {write} BEGIN SELECT RAISE(ABORT, 'no'); END;")
    });
    let script = format!("DROP TRIGGER IF EXISTS forbidden; {trigger}");
    raw.execute_batch(&script).expect("SQL");
}

/// Moves the file of the directory away; dropping it moves the file back.
struct Away {
    file: PathBuf,
}

impl Away {
    fn take(scene: &Scene) -> Self {
        let file = scene.world.directory_file();
        fs::rename(&file, file.with_extension("away")).expect("moved");
        Self { file }
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        fs::rename(self.file.with_extension("away"), &self.file).expect("moved back");
    }
}

#[tokio::test]
async fn an_intent_that_cannot_be_recorded_sends_nothing() {
    let sending = "rotation_events WHEN NEW.event = 'sending'";
    for (write, expected) in [("rotations", vec![]), (sending, vec![State::Intended])] {
        let scene = Scene::new().await;
        let old = scene.token();
        fail_writes(&scene, Some(write));
        let failure = rotate(&scene.ana).await.expect_err("not written");
        assert!(matches!(failure, Failure::NothingSent(_)), "{failure:?}");
        assert!(
            failure.to_string().contains("nothing was sent"),
            "{failure}"
        );
        assert_eq!(scene.proxy.methods(), ["GET"], "{write}");
        assert_eq!(scene.token(), old);
        fail_writes(&scene, None);
        assert_eq!(scene.states().await, expected, "{write}");
        scene.check().await;
    }
}

#[tokio::test]
async fn a_directory_that_is_gone_before_the_preflight_sends_nothing() {
    let scene = Scene::new().await;
    let away = Away::take(&scene);
    let failure = rotate(&scene.ana).await.expect_err("gone");
    assert!(matches!(failure, Failure::NotKept(_)), "{failure:?}");
    assert_eq!(scene.proxy.count("POST"), 0);
    drop(away);
    assert_eq!(scene.states().await, []);
    assert_eq!(
        rotate(&scene.ana).await.expect("rotated").ending,
        Ending::Rotated
    );
}

#[tokio::test]
async fn a_good_answer_that_cannot_be_recorded_shows_no_token() {
    for gone in [true, false] {
        let scene = Scene::new().await;
        let (gate, rotating) = rotate_up_to_answer(&scene).await;
        let away = gone.then(|| Away::take(&scene));
        if !gone {
            fail_writes(&scene, Some("rotation_events"));
        }
        gate.open();
        let failure = rotating.await.expect("it ends").expect_err("not written");
        let said = failure.to_string();
        assert!(
            matches!(
                failure,
                Failure::Unknown {
                    operation: "rotation",
                    ..
                }
            ),
            "{said}"
        );
        assert!(said.contains("could not be recorded"), "{said}");
        assert!(!said.contains("whether"), "it is known: {said}");
        assert!(!said.contains("try again"), "it was sent: {said}");
        let new = scene.token();
        assert!(!said.contains(&new), "{said}");
        drop(away);
        fail_writes(&scene, None);

        // Nothing is lost: the journal has the rotation as sent, and the service has the token.
        assert_eq!(scene.states().await, [State::Sent]);
        assert_eq!(scene.history().await, []);
        let found = look_up(&scene.ana).await.expect("found");
        assert_eq!(exposed(&found), new);
        assert_eq!(
            scene.states().await,
            [State::Sent],
            "too early to call it dead"
        );
        let later = jiff::Timestamp::now() + std::time::Duration::from_mins(2);
        let later = scene.installation().at(later).operations();
        let found = look_up(&later).await.expect("found");
        let settled = Warning::RotationSettled {
            ending: Ending::Recovered,
        };
        assert_eq!(found.warnings, [settled]);
        assert_eq!(scene.states().await, [State::Recovered]);
        assert_eq!(scene.proxy.count("POST"), 1);
        scene.check().await;
    }
}

#[tokio::test]
async fn an_unclear_answer_that_cannot_be_recorded_stays_sent() {
    for then in [Then::Drop, Then::Pass] {
        let scene = Scene::new().await;
        fail_writes(
            &scene,
            Some("rotation_events WHEN NEW.event <> 'sending' AND NEW.event <> 'intended'"),
        );
        scene.proxy.next("POST", ProxyFault::applied(then));
        let failure = rotate(&scene.ana).await.expect_err("not written");
        assert!(matches!(failure, Failure::Unknown { .. }), "{failure:?}");
        assert_eq!(scene.proxy.methods(), ["GET", "POST"]);
        fail_writes(&scene, None);
        assert_eq!(scene.states().await, [State::Sent]);
        scene.check().await;
    }
}

#[tokio::test]
async fn a_settlement_that_cannot_be_recorded_settles_nothing() {
    let scene = Scene::new().await;
    scene.proxy.next("POST", ProxyFault::applied(Then::Drop));
    fail_writes(&scene, Some("rotation_events WHEN NEW.state = 'recovered'"));
    let failure = rotate(&scene.ana).await.expect_err("not written");
    assert!(matches!(failure, Failure::Unknown { .. }), "{failure:?}");
    assert_eq!(scene.states().await, [State::Unknown]);
    let known = scene
        .ana
        .show(&crate::support::world::id(super::ACME))
        .await;
    let known = known.expect("readable").and_then(|group| group.fingerprint);
    let row = &scene.journal().await[0];
    assert_eq!(
        known.map(|known| known.value),
        Some(row.rotation.previous),
        "all or nothing"
    );
    fail_writes(&scene, None);
    assert_eq!(
        scene.history().await,
        [(Operation::Rotate, Ending::Unknown)]
    );
    let found = look_up(&scene.ana).await.expect("found");
    assert_eq!(exposed(&found), scene.token());
    assert_eq!(scene.states().await, [State::Recovered]);
    scene.check().await;
}
