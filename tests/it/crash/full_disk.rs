//! A full disk. From some point on, every write of the installation to a file fails (by a limit of the process, which
//! needs no privileges); sockets and pipes still work.

use super::*;

/// Runs an installation whose disk is full from this point on. Returns what it reports about the rotation, and about a
/// look-up once there is room.
async fn rotate(scene: &Scene<'_>, full: u8) -> Vec<String> {
    // Otherwise the first write over the limit would kill the process.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]);
    shell.arg(std::env::current_exe().expect("this binary"));
    let mut order = scene.order(Task::Rotate);
    order.full = Some(full);
    let mut installation = Process::start_as(shell, &order);
    let mut said = Vec::new();
    while let Some((what, words)) = installation.next_report().await {
        assert_ne!(what, "shown", "a token that is not durable");
        if what == "full" {
            installation.resume().await;
        } else {
            said.push(format!("{what} {words}"));
        }
    }
    assert!(!installation.is_killed().await);
    said
}

async fn look_up(scene: &Scene<'_>, seconds: Vec<u64>) {
    let mut installation = Process::start(&scene.order(Task::LookUp(seconds)));
    while let Some((what, words)) = installation.next_report().await {
        assert_eq!(what, "ended", "{words}");
    }
}

async fn states(scene: &Scene<'_>) -> Vec<State> {
    let directory = Directory::open(&scene.directory).expect("a directory");
    let rows = directory.rotations(RotationFilter::default()).await;
    let rows = rows.expect("readable");
    rows.iter().map(|row| row.rotation.state).collect()
}

#[tokio::test]
async fn a_disk_full_before_the_intent_or_the_sending_sends_nothing() {
    let stage = Stage::new().await;
    for (full, left) in [(1, vec![]), (2, vec![State::NotApplied])] {
        let scene = stage.scene().await;
        let said = rotate(&scene, full).await;
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("nothing was sent"), "{said:?}");
        assert_eq!(said[1], "ended found", "the disk has room again");
        assert_eq!(scene.proxy.count("POST"), 0);
        assert_eq!(scene.token(), scene.old);
        look_up(&scene, vec![60]).await;
        assert_eq!(states(&scene).await, left, "full at {full}");
    }
}

#[tokio::test]
async fn a_disk_full_after_the_answer_leaves_it_unknown_until_there_is_room() {
    let stage = Stage::new().await;
    for (fault, settled) in [
        (Fault::Good, State::Recovered),
        (Fault::ResetAfter, State::Recovered),
        (Fault::ServerError, State::NotApplied),
    ] {
        let scene = stage.scene().await;
        scene
            .proxy
            .next("POST", fault.proxy_fault(&scene.group, &scene.old));
        let said = rotate(&scene, 5).await;
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("failed UNKNOWN"), "{said:?}");
        assert!(said[0].contains("could not be recorded"), "{said:?}");
        assert!(!said[0].contains("try again"), "it was sent: {said:?}");
        assert_eq!(said[1], "ended found", "the disk has room again");
        assert_eq!(scene.proxy.count("POST"), 1);
        assert_eq!(scene.token() != scene.old, fault.is_applied());
        assert_eq!(file_with_secret(&scene.folder, &scene.secrets()), None);
        assert_eq!(states(&scene).await, [State::Sent]);
        look_up(&scene, vec![60, 70]).await;
        assert_eq!(states(&scene).await, [settled], "{fault:?}");
        assert_eq!(scene.proxy.count("POST"), 1);
    }
}
