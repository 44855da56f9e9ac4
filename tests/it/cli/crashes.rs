//! What is printed on a panic and on an unexpected error: in the test binary, started again with the program's panic
//! hook, and in the program, at a place that only test builds have. For the console see `pty::panics`.

use std::process::Command;

use crate::support::{
    assertions::assert_has,
    bare::{GROUPDESK, bare},
    canary::{ALL, Canary, KEY, TOKEN},
};

const WHERE: &str = "GROUPDESK_TEST_CRASH";
const PLACES: [&str; 6] = ["message", "value", "thread", "job", "error", "lines"];

/// Not a test of its own: what the started process does.
#[test]
fn crasher() {
    let Ok(place) = std::env::var(WHERE) else {
        return;
    };
    groupdesk::cli::process::panic_report::install();
    let bad = || Err::<(), _>(format!("no such thing as {KEY} or {TOKEN}"));
    match place.as_str() {
        "message" => panic!("a cable came loose near {KEY}, {TOKEN}"),
        "value" => bad().expect("a cable came loose"),
        "thread" => {
            let thread = std::thread::Builder::new().name("a thread".into());
            let ended = thread.spawn(move || bad().expect("a cable came loose"));
            assert!(ended.expect("started").join().is_err());
        }
        "job" => {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let job = async move { bad().expect("a cable came loose") };
            assert!(runtime.block_on(runtime.spawn(job)).is_err());
        }
        "error" => {
            let report = color_eyre::eyre::eyre!("a cable came loose");
            panic!("{report}: {TOKEN}");
        }
        "lines" => panic!("a cable came loose\n{KEY}\n\n{TOKEN}\u{1b}]0;{KEY}\u{7}"),
        other => unreachable!("{other}"),
    }
}

#[test]
fn a_panic_names_its_location_and_repeats_no_secret() {
    let canary = Canary::of(&ALL);
    // Backtraces are the same from every place.
    for (place, backtrace) in PLACES.into_iter().zip(["0", "full"].into_iter().cycle()) {
        let folder = crate::support::folder::temporary();
        let output = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "cli::crashes::crasher", "--nocapture"])
            .env(WHERE, place)
            .env("RUST_BACKTRACE", backtrace)
            .env("COLORBT_SHOW_HIDDEN", "1")
            .env("LIVE_KEY", KEY)
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let said = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&said).into_owned();
        canary.assert_not_in(place, &said);
        for words in [
            "groupdesk crashed (internal error): ",
            "crashes.rs:",
            "a cable came loose",
        ] {
            assert_has(&text, words);
        }
        let left = std::fs::read_dir(folder.path()).expect("readable").count();
        assert_eq!(left, 0, "{place}: a crash report was written");
    }
}

#[tokio::test]
async fn a_panicking_command_says_what_was_sent_and_repeats_no_secret() {
    let canary = Canary::of(&ALL);
    for (how, code) in [("panic", 101), ("error", 2)] {
        for arguments in [&["list"][..], &["profile", "show", "--json", KEY]] {
            let folder = crate::support::folder::temporary();
            let message =
                format!("no cable to https://ana:hunter2@x.example/{TOKEN}?a={KEY} {KEY} {TOKEN}");
            let output = bare(GROUPDESK, folder.path())
                .args(arguments)
                .env("TERM", "xterm-256color")
                .env("RUST_BACKTRACE", "full")
                .env("GROUPDESK_TEST_BREAK", format!("{how} start {message}"))
                .output()
                .await
                .expect("it runs");
            assert_eq!(output.status.code(), Some(code), "{how}");
            let said = [output.stdout.as_slice(), &output.stderr].concat();
            canary.assert_not_in(how, &said);
            let text = String::from_utf8_lossy(&said);
            assert!(
                !text.contains("hunter2") && !text.contains('\x1b'),
                "{text}"
            );
            let command = if arguments == ["list"] {
                "\n   groupdesk list\n"
            } else {
                "\n   groupdesk profile show\n"
            };
            for words in [
                "no cable to …",
                "What was being done:",
                command,
                "\nNothing was sent.\n",
            ] {
                assert!(text.contains(words), "{how}: no {words:?} in {text}");
            }
            let is_told =
                text.contains("{\"outcome\":null,\"error\":\"cannot start: no cable to …");
            let wants_json = how == "error" && arguments.len() > 1;
            assert_eq!(is_told, wants_json, "{text}");
        }
    }
}
