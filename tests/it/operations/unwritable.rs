//! A directory that cannot be written: before the intent nothing is sent, after the answer no token is shown.

use super::*;

/// Makes one kind of write fail, as a full disk would; `None` allows it again.
pub(super) fn fail_writes(scene: &Scene, write: Option<&str>) {
    let (on, refuses) = match scene.world.team() {
        Some(_) => (" ON history", "FOR EACH ROW EXECUTE FUNCTION refused()"),
        None => ("", "BEGIN SELECT RAISE(ABORT, 'no'); END"),
    };
    let trigger = write.map_or_else(String::new, |write| {
        format!("CREATE TRIGGER forbidden BEFORE INSERT ON {write} {refuses};")
    });
    execute(
        scene,
        &format!("DROP TRIGGER IF EXISTS forbidden{on}; {trigger}"),
    );
}

/// Executes SQL that groupdesk itself never would.
pub(super) fn execute(scene: &Scene, script: &str) {
    if let Some(team) = scene.world.team() {
        let server = postgres::server().expect("a server");
        server.execute(team.schema(), script);
        return;
    }
    let file = scene.world.directory_file();
    let raw = Connection::open(file).expect("a second connection");
    raw.execute_batch(script).expect("SQL");
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
async fn a_directory_that_is_gone_before_the_preflight_sends_nothing() {
    let scene = Scene::new().await;
    let away = Away::take(&scene);
    let failure = rotate(&scene.ana).await.expect_err("gone");
    assert_is!(failure, Failure::NotKept(_));
    assert_eq!(scene.proxy.count("POST"), 0);
    drop(away);
    assert_eq!(scene.states().await, []);
    assert_eq!(
        rotate(&scene.ana).await.expect("rotated").ending,
        Ending::Rotated
    );
}

#[tokio::test]
async fn a_settlement_that_cannot_be_recorded_settles_nothing() {
    let scene = Scene::new().await;
    let old = scene.current();
    scene.proxy.next("POST", unanswered());
    fail_writes(&scene, Some("rotation_events WHEN NEW.state = 'recovered'"));
    super::assert_unknown(&rotate(&scene.ana).await);
    assert_eq!(scene.states().await, [State::Unknown]);
    let known = scene.known().await.fingerprint.map(|known| known.value);
    assert_eq!(known, Some(old), "all or nothing");
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

/// A note is never sent, so that nothing was sent says nothing of it.
#[tokio::test]
async fn of_a_note_that_cannot_be_written_it_is_said_that_it_was_not_saved() {
    let scene = Scene::new().await;
    fail_writes(&scene, Some("annotations"));
    let note = AnnotationChange {
        note: Some("call first".into()),
        ..AnnotationChange::default()
    };
    let refused = scene.ana.annotate(vec![id(ACME)], note).await;
    let refused = refused.expect_err("not written");
    assert_is!(refused, Failure::NotSaved { .. });
    let text = refused.to_string();
    assert!(text.starts_with("the note was not saved: "), "{text}");
    assert!(!text.contains("nothing was sent"), "{text}");
}
