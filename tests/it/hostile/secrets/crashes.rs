//! What a panic says. The shipped program has no way to ask for one, so the test binary is started again with the hook
//! that it has; the panics of the console are those of `pty::panics`.

use std::process::Command;

use super::{ALL, KEY, TOKEN, canary::Canary};

const WHERE: &str = "GROUPDESK_TEST_CRASH";
const PLACES: [&str; 6] = ["message", "value", "thread", "job", "error", "lines"];

/// Not a story of its own: what the started process does.
#[test]
fn crasher() {
    let Ok(place) = std::env::var(WHERE) else {
        return;
    };
    groupdesk::cli::process::panic_report::install_hook();
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
fn a_panic_says_where_and_repeats_no_secret() {
    let needles = Canary::of(&ALL);
    for place in PLACES {
        for backtrace in ["0", "full"] {
            let folder = tempfile::tempdir().expect("a folder");
            let output = Command::new(std::env::current_exe().expect("this binary"))
                .args([
                    "--exact",
                    "hostile::secrets::crashes::crasher",
                    "--nocapture",
                ])
                .env(WHERE, place)
                .env("RUST_BACKTRACE", backtrace)
                .env("COLORBT_SHOW_HIDDEN", "1")
                .env("LIVE_KEY", KEY)
                .current_dir(folder.path())
                .output()
                .expect("it runs");
            let said = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&said).into_owned();
            needles.must_not_be_in(place, &said);
            assert!(
                text.contains("groupdesk stopped by an error of its own: "),
                "{text}"
            );
            assert!(text.contains("crashes.rs:"), "{place}: where? {text}");
            assert!(text.contains("a cable came loose"), "{place}: what? {text}");
            let left = std::fs::read_dir(folder.path()).expect("readable").count();
            assert_eq!(left, 0, "{place}: a crash report was written");
        }
    }
}
