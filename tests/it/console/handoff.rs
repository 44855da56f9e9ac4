//! The hand-off in the console, with a real command: after a rotation, and at the next start when it was interrupted.

use groupdesk::config::HandOffCommand;

use super::prelude::*;
use crate::support::world::Installation;

fn hands_off(world: &World, folder: &Path) -> Operations {
    installation(world, folder).operations()
}

fn installation(world: &World, folder: &Path) -> Installation {
    let script =
        "cat > $0/in.new; mv $0/in.new $0/in; [ -e $0/works ] || { cat $0/in >&2; exit 3; }";
    let command = ["/bin/sh", "-c", script, &folder.display().to_string()];
    let handoff = HandOffCommand {
        command: command.map(str::to_owned).into(),
        timeout: Duration::from_secs(30),
    };
    world
        .installation(Side::Testing)
        .at(NOW)
        .with(|profile| profile.handoff = Some(handoff))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_token_is_handed_off_and_a_failure_is_repeated() {
    let world = a_world().await;
    let folder = crate::support::folder::temporary();
    let mut console = open_with(vec![hands_off(&world, folder.path())]).await;
    console
        .keys("tT")
        .await
        .shows("4  Hand the new token to /bin/sh");
    console.keys("y").await;
    let token = world.stored(Side::Testing, "acme-eu").token;
    console
        .shows("confirmation   confirmed")
        .shows("FAILED (exit 3)")
        .shows("h runs it again")
        .hides(&token);
    std::fs::write(folder.path().join("works"), "").expect("written");
    console.keys("h").await;
    console.shows_all(["done (exit 0)", "Delivered."]);
    let got = std::fs::read_to_string(folder.path().join("in")).expect("taken");
    assert!(got.contains(&token));
    assert_eq!(world.stored(Side::Testing, "acme-eu").token, token);
    console.keys("<esc>2").await;
    console.shows_all(["handed off", "not handed off"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_hand_off_of_a_batch_is_on_its_page_and_in_its_report() {
    let world = a_world().await;
    let folder = crate::support::folder::temporary();
    let mut console = open_with(vec![hands_off(&world, folder.path())]).await;
    console
        .keys("<space>j<space>Trotate 2 in testing<enter>")
        .await
        .shows_all(["2 NOT handed off", "x not handed off"]);
    // The journal tells the same.
    console.keys("<esc>5<enter>").await;
    console.shows_all(["2 NOT handed off", "the hand-off failed"]);
    let file = world.folder().join("report.json");
    write_to(&mut console, &file).await;
    let report = std::fs::read_to_string(&file).expect("written");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["not_handed_off"], 2);
    assert_eq!(report["groups"][0]["handoff"], "failed");
    assert_eq!(report["by"], "ana@bastion2");
    let service = format!("{}/api/user", world.base_url());
    assert_eq!(report["service"], service);
    for field in ["started_at", "written_at"] {
        assert_eq!(report[field], NOW.to_string(), "{field}: {report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hand_off_left_by_a_crash_is_reported_at_the_start() {
    let world = a_world().await;
    let folder = crate::support::folder::temporary();
    std::fs::write(folder.path().join("works"), "").expect("written");
    let operations = hands_off(&world, folder.path());
    // As after a kill between the rotation and the end of its hand-off: by another process.
    let another = match world.team() {
        Some(team) => Directory::open(&team),
        None => Directory::open(&world.directory_file()),
    };
    let another = another.expect("it opens");
    let killed = installation(&world, folder.path()).on(&another);
    killed
        .operations()
        .rotate(&id("acme-eu"), None, UnknownIdPolicy::KnownOnly)
        .await
        .expect("rotated");
    let mut console = open_with(vec![operations]).await;
    console.shows("Not handed off yet: the new token of acme-eu");
    console.keys("t").await.shows("WAITS");
    console.keys("h").await.shows("done (exit 0)");
    let got = std::fs::read_to_string(folder.path().join("in")).expect("taken");
    assert!(got.contains(&world.stored(Side::Testing, "acme-eu").token));
}
