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
use crate::support::{assertions::assert_has, wait::eventually};

/// Long enough for any command here that ends by itself, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

fn environment() -> Environment {
    let path = std::env::var("PATH").expect("there is a PATH");
    [
        ("PATH", path.as_str()),
        ("EU_KEY", CANARY),
        ("EMPTY", ""),
        ("SPACED", "Token canary-5up3r53cr3t"),
    ]
    .into_iter()
    .collect()
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

fn env(name: &str) -> KeySource {
    KeySource::Env(name.into())
}

fn shell(script: &str) -> KeySource {
    KeySource::Command(["sh", "-c", script].map(str::to_owned).into())
}

fn key_file(home: &Home, text: &str, mode: u32) -> PathBuf {
    let file = home.write("eu.key", text);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
    file
}

async fn key_in(path: &Path) -> Result<String, String> {
    key_of(KeySource::File(path.to_owned())).await
}

#[tokio::test]
async fn a_variable_holds_a_key() {
    assert_eq!(key_of(env("EU_KEY")).await.as_deref(), Ok(CANARY));
    for (name, words) in [
        ("ABSENT", "ABSENT: it is not set"),
        ("EMPTY", "it is not set"),
        ("SPACED", "without the word Token"),
    ] {
        let text = key_of(env(name)).await.expect_err("no key");
        assert!(text.contains(words), "{text}");
    }
}

#[tokio::test]
async fn a_private_file_holds_a_key_on_its_first_line() {
    let home = Home::new();
    let file = key_file(&home, &format!("  {CANARY}\r\nnotes\n"), 0o600);
    assert_eq!(key_in(&file).await.as_deref(), Ok(CANARY));
    let file = key_file(&home, CANARY, 0o400);
    assert_eq!(key_in(&file).await.as_deref(), Ok(CANARY));
}

#[tokio::test]
async fn a_file_that_others_can_read_is_refused() {
    let home = Home::new();
    for mode in [0o640, 0o604, 0o620, 0o644] {
        let file = key_file(&home, CANARY, mode);
        let text = key_in(&file).await.expect_err("refused");
        assert_has(&text, "chmod 600");
        assert_has(&text, &format!("{mode:04o}"));
    }
}

#[tokio::test]
async fn a_file_that_holds_no_key_is_refused() {
    let home = Home::new();
    let long = "x".repeat(5000);
    let huge = "x".repeat(70_000);
    for (text, words) in [
        ("", "it is empty"),
        ("\ncanary-5up3r53cr3t", "it is empty"),
        (
            "canary-5up3r53cr3t é",
            "a character that is not valid in a key",
        ),
        ("Token canary-5up3r53cr3t", "without the word Token"),
        (long.as_str(), "larger than 4 KiB"),
        (huge.as_str(), "larger than 64 KiB"),
    ] {
        let error = key_in(&key_file(&home, text, 0o600))
            .await
            .expect_err("refused");
        assert!(error.contains(words) && error.contains("eu.key"), "{error}");
    }
    let text = key_in(home.folder.path()).await.expect_err("refused");
    assert!(text.contains("not a regular file"), "{text}");
    let text = key_in(Path::new("/nowhere/eu.key"))
        .await
        .expect_err("refused");
    assert!(text.contains("cannot be read: No such file"), "{text}");
}

#[tokio::test]
async fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let home = Home::new();
    let pipe = home.folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .args(["-m", "600"])
        .arg(&pipe)
        .status();
    assert!(made.expect("mkfifo runs").success());
    assert!(
        key_in(&pipe)
            .await
            .expect_err("refused")
            .contains("not a regular file")
    );
}

#[tokio::test]
async fn a_file_is_found_beside_the_configuration_and_at_home() {
    for (written, place) in [
        ("eu.key", ".config/groupdesk/eu.key"),
        ("~/eu.key", "eu.key"),
        ("/eu.key", "/eu.key"),
    ] {
        let home = Home::with_file(&format!(
            "[profiles.eu]\nbase_url = \"https://a.example\"\napi_key.file = \"{written}\""
        ));
        let settings = home.load().expect("good");
        assert_eq!(
            settings.profiles[0].api_key,
            KeySource::File(home.folder.path().join(place))
        );
    }
}

#[tokio::test]
async fn a_command_prints_the_key_first() {
    assert_eq!(
        key_of(shell("echo $EU_KEY; echo login: ana"))
            .await
            .as_deref(),
        Ok(CANARY)
    );
    let quiet = "if read -r line; then echo unexpected; else echo nothing-to-read; fi";
    assert_eq!(key_of(shell(quiet)).await.as_deref(), Ok("nothing-to-read"));
}

#[tokio::test]
async fn a_command_runs_without_a_shell_and_with_our_environment_only() {
    let echo = KeySource::Command(["echo", "$EU_KEY;`id`"].map(str::to_owned).into());
    assert_eq!(key_of(echo).await.as_deref(), Ok("$EU_KEY;`id`"));
    assert_eq!(
        key_of(shell("echo \"home=$HOME\"")).await.as_deref(),
        Ok("home=")
    );
}

#[tokio::test]
async fn a_failed_command_gives_its_code_and_last_words_without_the_key() {
    let text = key_of(shell(
        "echo $EU_KEY; echo first >&2; echo \"denied: $EU_KEY\" >&2; exit 3",
    ))
    .await
    .expect_err("failed");
    assert!(
        text.contains("command sh") && text.contains("exit status: 3: denied: …"),
        "{text}"
    );
    let text = key_of(shell(
        "printf 'a\\033[2Jb 9f86d081884c7d659a2f' >&2; exit 1",
    ))
    .await
    .expect_err("failed");
    assert!(text.ends_with("a\\u{1b}[2Jb …"), "{text}");
    let text = key_of(shell("kill -9 $$")).await.expect_err("failed");
    assert_has(&text, "SIGKILL");
    assert_has(&text, "printed nothing");
}

#[tokio::test]
async fn a_command_that_gives_no_key_is_refused() {
    for (script, words) in [
        ("true", "it is empty"),
        ("printf 'a\\tb'", "a character that is not valid in a key"),
        ("head -c 70000 /dev/zero", "larger than 64 KiB"),
    ] {
        let text = key_of(shell(script)).await.expect_err("refused");
        assert!(text.contains(words), "{text}");
    }
    let absent = KeySource::Command(vec!["/nowhere/pass".into(), CANARY.into()]);
    let text = key_of(absent).await.expect_err("refused");
    assert_has(&text, "/nowhere/pass");
    assert_has(&text, "cannot be started");
}

#[tokio::test]
async fn a_full_stderr_does_not_block_a_command() {
    let script = "head -c 300000 /dev/zero >&2; echo $EU_KEY";
    assert_eq!(key_of(shell(script)).await.as_deref(), Ok(CANARY));
}

/// A script that starts a process, writes its process id to a file and continues with `then`.
fn starter(note: &Path, then: &str) -> KeySource {
    let note = note.display();
    shell(&format!(
        "sleep 1000 & echo $! > {note}.new; mv {note}.new {note}; {then}"
    ))
}

fn noted_pid(note: &Path) -> Option<Pid> {
    let text = std::fs::read_to_string(note).ok()?;
    Pid::from_raw(text.trim().parse().expect("a number"))
}

/// Whether the process runs; a zombie not collected yet does not.
fn is_running(pid: Pid) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('Z'))
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
async fn a_command_that_hangs_is_stopped() {
    let error = shell("sleep 1000; echo $EU_KEY")
        .read_within(&environment(), Duration::from_millis(50))
        .await
        .expect_err("stopped");
    assert!(
        error.to_string().contains("did not end within 50 ms"),
        "{error}"
    );
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
