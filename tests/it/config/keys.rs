//! Sources of API keys, and that no error and no debug text contains one.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use groupdesk::config::{Environment, KeySource};
use rustix::process::{Pid, Signal, kill_process};
use secrecy::ExposeSecret;

use super::{CANARY, Home};
use crate::support::wait::eventually;

/// Long enough for any command here that ends by itself, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

fn environment() -> Environment {
    let path = std::env::var("PATH").expect("there is a PATH");
    let spaced = format!("Token {CANARY}");
    let all = [
        ("PATH", &*path),
        ("EU_KEY", CANARY),
        ("EMPTY", ""),
        ("SPACED", &spaced),
    ];
    all.into_iter().collect()
}

async fn key_of(source: KeySource) -> Result<String, String> {
    let debug = format!("{source:?} {source} {:?}", environment());
    assert!(!debug.contains(CANARY), "{debug}");
    match source.read_within(&environment(), PATIENCE).await {
        Ok(key) => {
            assert!(!format!("{key:?}").contains(CANARY));
            Ok(key.expose_secret().to_owned())
        }
        Err(error) => {
            let text = format!("{error} {error:?}");
            assert!(!text.contains(CANARY), "{text}");
            Err(error.to_string())
        }
    }
}

/// The source holds no key, and says so with all of the words between `|`.
async fn refused(source: KeySource, words: &str) {
    let text = key_of(source).await.expect_err(words);
    for words in words.split('|') {
        assert!(text.contains(words), "{words}: {text}");
    }
}

fn shell(script: &str) -> KeySource {
    KeySource::Command(["sh", "-c", script].map(str::to_owned).into())
}

fn key_file(home: &Home, text: &str, mode: u32) -> PathBuf {
    let file = home.write("eu.key", text);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
    file
}

fn of_file(path: impl Into<PathBuf>) -> KeySource {
    KeySource::File(path.into())
}

#[tokio::test]
async fn a_variable_holds_a_key() {
    let env = |name: &str| KeySource::Env(name.into());
    assert_eq!(key_of(env("EU_KEY")).await.as_deref(), Ok(CANARY));
    refused(env("ABSENT"), "ABSENT: it is not set").await;
    refused(env("EMPTY"), "it is not set").await;
    refused(env("SPACED"), "without a word such as Token or Bearer").await;
}

#[tokio::test]
async fn a_private_file_holds_a_key_on_its_first_line() {
    let home = Home::new();
    let text = format!("  {CANARY}\r\nnotes\n");
    for mode in [0o600, 0o400] {
        let file = key_file(&home, &text, mode);
        assert_eq!(key_of(of_file(&file)).await.as_deref(), Ok(CANARY));
        std::fs::remove_file(file).expect("removed");
    }
    for mode in [0o640, 0o604, 0o620, 0o644] {
        let file = key_file(&home, &text, mode);
        refused(of_file(file), &format!("chmod 600|{mode:04o}")).await;
    }
}

#[tokio::test]
async fn a_file_that_holds_no_key_is_refused_and_a_pipe_is_not_waited_for() {
    let home = Home::new();
    let (long, huge) = ("x".repeat(5000), "x".repeat(70_000));
    for (text, words) in [
        ("", "it is empty|eu.key"),
        (&format!("\n{CANARY}"), "it is empty|eu.key"),
        (&format!("{CANARY} é"), "not valid in a key|eu.key"),
        (
            &format!("Token {CANARY}"),
            "without a word such as Token or Bearer|eu.key",
        ),
        (&long, "larger than 4 KiB|eu.key"),
        (&huge, "larger than 64 KiB|eu.key"),
    ] {
        refused(of_file(key_file(&home, text, 0o600)), words).await;
    }
    let pipe = home.folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("a FIFO");
    for path in [home.folder.path(), &pipe] {
        refused(of_file(path), "not a regular file").await;
    }
    refused(of_file("/nowhere/eu.key"), "cannot be read: No such file").await;
}

#[test]
fn a_file_is_found_beside_the_configuration_and_at_home() {
    for (written, place) in [
        ("eu.key", ".config/groupdesk/eu.key"),
        ("~/eu.key", "eu.key"),
        ("/eu.key", "/eu.key"),
    ] {
        let text =
            super::profile_and("").replace("env = \"EU_KEY\"", &format!("file = \"{written}\""));
        let home = Home::with_file(&text);
        let settings = home.load().expect("good");
        let expected = of_file(home.folder.path().join(place));
        assert_eq!(settings.profiles[0].api_key, expected);
    }
}

#[tokio::test]
async fn a_command_prints_the_key_first_without_a_shell_and_with_our_environment_only() {
    let quiet = "if read -r line; then echo unexpected; else echo nothing-to-read; fi";
    for (source, key) in [
        (shell("echo $EU_KEY; echo login: ana"), CANARY),
        (shell(quiet), "nothing-to-read"),
        (shell("echo \"home=$HOME\""), "home="),
        // A full pipe blocks nothing.
        (shell("head -c 300000 /dev/zero >&2; echo $EU_KEY"), CANARY),
        (
            KeySource::Command(["echo", "$EU_KEY;`id`"].map(str::to_owned).into()),
            "$EU_KEY;`id`",
        ),
    ] {
        assert_eq!(key_of(source).await.as_deref(), Ok(key));
    }
}

#[tokio::test]
async fn a_command_that_fails_or_gives_no_key_is_refused_with_its_last_words_without_the_key() {
    let denied = "echo $EU_KEY; echo first >&2; echo \"denied: $EU_KEY\" >&2; exit 3";
    let hidden = "printf 'a\\033[2Jb 9f86d081884c7d659a2f' >&2; exit 1";
    for (script, words) in [
        (denied, "command sh|exit status: 3: denied: …"),
        (hidden, "a\\u{1b}[2Jb …"),
        ("kill -9 $$", "SIGKILL|printed nothing"),
        (
            "echo $EU_KEY; exit 3",
            "exit status: 3: what it printed is not used",
        ),
        ("true", "it is empty"),
        ("printf 'a\\tb'", "a character that is not valid in a key"),
        ("head -c 70000 /dev/zero", "larger than 64 KiB"),
    ] {
        refused(shell(script), words).await;
    }
    let absent = KeySource::Command(vec!["/nowhere/pass".into(), CANARY.into()]);
    refused(absent, "/nowhere/pass|cannot be started").await;
    let hangs = shell("sleep 1000; echo $EU_KEY");
    let key = hangs
        .read_within(&environment(), Duration::from_millis(50))
        .await;
    let error = key.expect_err("stopped").to_string();
    assert!(error.contains("did not end within 50 ms"), "{error}");
}

/// A script that starts a process, writes its process id to a file and continues with `then`.
fn starter(note: &Path, then: &str) -> KeySource {
    let note = note.display();
    let start = format!("sleep 1000 & echo $! > {note}.new; mv {note}.new {note}");
    shell(&format!("{start}; {then}"))
}

fn noted_pid(note: &Path) -> Option<Pid> {
    let text = std::fs::read_to_string(note).ok()?;
    Pid::from_raw(text.trim().parse().expect("a number"))
}

/// Whether the process runs; a zombie not collected yet does not.
fn is_running(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" Z"))
    })
}

#[tokio::test]
async fn a_process_left_running_does_not_delay_the_key() {
    let home = Home::new();
    let note = home.folder.path().join("pid");
    // The process left running keeps both pipes open for longer than anybody waits.
    let key = key_of(starter(&note, "echo $EU_KEY")).await;
    let left = noted_pid(&note).expect("it was started");
    let was_running = is_running(left);
    let _ = kill_process(left, Signal::KILL);
    assert_eq!(key.as_deref(), Ok(CANARY));
    assert!(was_running, "a service that a command starts may stay");
}

#[tokio::test]
async fn a_command_is_killed_when_nobody_waits_for_it() {
    let home = Home::new();
    let note = home.folder.path().join("pid");
    let source = starter(&note, "wait");
    let environment = environment();
    tokio::select! {
        key = source.read_within(&environment, PATIENCE) => panic!("it ended: {key:?}"),
        () = eventually("the start", || noted_pid(&note).is_some()) => {}
    }
    let started = noted_pid(&note).expect("it was started");
    eventually("the end of it", || !is_running(started)).await;
}
