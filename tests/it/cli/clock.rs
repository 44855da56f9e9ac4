//! The test clock: present with the feature `failpoints`, and only with it.

use std::{env, fs, path::Path, process::Command, time::Duration};

use groupdesk::{domain::change::DesiredFields, operations::TEST_CLOCK};
use jiff::Timestamp;

use super::program::Home;
use crate::support::{
    clock::TestClock,
    world::{Side, World, id},
};

const DAY: Duration = Duration::from_hours(24);

#[tokio::test(flavor = "multi_thread")]
async fn the_program_reads_the_offset_from_its_file_each_time() {
    let world = World::new().await;
    let operations = world.operations(Side::Testing);
    let created = operations
        .create(&id("acme-eu"), &DesiredFields::default())
        .await;
    created.expect("created");
    let mut home = Home::new();
    let clock = TestClock::new(home.folder.path());
    let config = world.config_file().display().to_string();
    let directory = world.directory_file().display().to_string();
    let (name, file) = clock.variable();
    for (name, value) in [
        ("GROUPDESK_CONFIG", config),
        ("GROUPDESK_DIRECTORY", directory),
        (name, file),
    ] {
        home.set(name, value);
    }
    home.exits(0, "rotate acme-eu --yes").await;
    for age in ["60d", "460d"] {
        clock.forward(if age == "60d" { 60 * DAY } else { 400 * DAY });
        for arguments in [&["list"][..], &["rotations"]] {
            let ran = home.run(arguments).await;
            ran.shows(age);
        }
    }
    home.json(0, "get acme-eu").await;
    let shown = home.json(0, "show acme-eu").await;
    let seen = shown["last_seen"].as_str().expect("a time");
    let seen: Timestamp = seen.parse().expect("RFC 3339");
    let ahead = Duration::try_from(seen.duration_since(Timestamp::now())).expect("ahead");
    assert!(ahead > 459 * DAY && ahead <= 460 * DAY, "{ahead:?}");
}

/// Compiles the clock's source alone, with and without the feature, and runs both.
#[test]
fn without_failpoints_there_is_no_test_clock() {
    let folder = crate::support::folder::temporary();
    let clock = TestClock::new(folder.path());
    clock.forward(DAY);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/platform/test_clock.rs");
    let text = format!(
        "#![allow(dead_code)]\n#[path = {source:?}]\nmod ahead;\n\
         fn main() {{ print!(\"{{}}\", ahead::ahead().as_secs()) }}\n"
    );
    let main = folder.path().join("main.rs");
    fs::write(&main, text).expect("written");
    for (more, seconds) in [
        (&[][..], "0"),
        (&["--cfg", "feature=\"failpoints\""], "86400"),
    ] {
        let program = folder.path().join(seconds);
        let compiled = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
            .args(["--edition", "2024", "-o"])
            .args([&program, &main])
            .args(more)
            // `rustc` hangs under `faketime`.
            .env_remove("LD_PRELOAD")
            .output()
            .expect("rustc is there");
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{said}");
        let (name, file) = clock.variable();
        let ran = Command::new(&program).env(name, file).output();
        let out = ran.expect("it starts").stdout;
        assert_eq!(String::from_utf8(out).expect("UTF-8"), seconds, "{more:?}");
        let bytes = fs::read(&program).expect("readable");
        let is_named = bytes
            .windows(name.len())
            .any(|part| part == name.as_bytes());
        assert_eq!(is_named, seconds != "0", "{TEST_CLOCK} in the program");
    }
}
