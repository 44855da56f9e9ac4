//! The shipped program: with every fault while it lives, and with every fault while it is killed with the request on
//! its way. Later times need a clock of the test's own, and are left to the other tests here.

use super::stage::team;
use super::*;

/// Exit codes of docs/reference/exit-codes.md.
const DONE: i32 = 0;
const NOT_APPLIED: i32 = 1;
const GUARDED: i32 = 3;
const UNKNOWN: i32 = 7;

/// The program with this installation; `handoff` is the hand-off command of the profile, if any.
pub(super) fn groupdesk(
    scene: &Scene<'_>,
    arguments: &[&str],
    timeout: Duration,
    handoff: &[String],
) -> tokio::process::Command {
    let config = scene.folder.with_extension("toml");
    let order = scene.order(super::child::Task::Rotate);
    let (url, key, seconds) = (order.base_url, order.key, timeout.as_secs());
    let handoff = match handoff {
        [] => String::new(),
        command => format!("handoff = {{ command = {command:?} }}\n"),
    };
    let directory = team(&scene.directory).map_or_else(String::new, |(url, schema)| {
        format!("[directory]\nurl = \"{url}\"\nschema = \"{schema}\"\n")
    });
    let text = format!(
        "default_profile = \"testing\"\n{directory}[profiles.testing]\nbase_url = \"{url}\"\n\
         api_key = {{ file = \"{}\" }}\nenvironment = \"Testing\"\ntimeout = \"{seconds}s\"\n{handoff}",
        key.display()
    );
    fs::write(&config, text).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupdesk"));
    command.env_clear().envs(clock::outer());
    command.env("HOME", &scene.folder);
    command.arg("--config").arg(config);
    if team(&scene.directory).is_none() {
        command.arg("--directory").arg(&scene.directory);
    }
    command.args(["--json", "--no-input"]).args(arguments);
    command.stdin(Stdio::null());
    let mut command = tokio::process::Command::from(command);
    command.kill_on_drop(true);
    command
}

async fn run(scene: &Scene<'_>, arguments: &[&str], timeout: Duration) -> Output {
    let output = groupdesk(scene, arguments, timeout, &[]).output().await;
    output.expect("it runs")
}

/// The state of the only rotation, if there is one; it began with the first token.
async fn state(scene: &Scene<'_>) -> Option<State> {
    let directory = Directory::open(&scene.directory).expect("a directory");
    let rows = directory.rotations(RotationFilter::default()).await;
    let rows = rows.expect("readable");
    assert!(rows.len() <= 1, "{rows:?}");
    let row = rows.first()?;
    let old = directory.fingerprinter().of(&Token::new(scene.old.clone()));
    assert_eq!(row.rotation.previous, old);
    Some(row.rotation.state)
}

/// The exit code, by what the program can know at once.
fn code(fault: Fault) -> i32 {
    match fault {
        // The program cannot know yet that the success was invented.
        Fault::Invented => DONE,
        // Nor this: only the horizon tells.
        Fault::ArrivesLate => UNKNOWN,
        // The service stated it.
        Fault::SuccessZero | Fault::Refused | Fault::TooMany | Fault::TokenUnchanged => NOT_APPLIED,
        _ => match fault.ends() {
            Ends::Confirmed | Ends::Recovered => DONE,
            Ends::NotApplied | Ends::Conflict => UNKNOWN,
        },
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_any_answer_the_program_sends_once_and_its_exit_code_is_true() {
    let stage = Stage::new().await;
    let (hanging, others): (Vec<_>, Vec<_>) = Fault::ALL.iter().partition(|fault| fault.hangs());
    let answered = async {
        for fault in others {
            play_fault(&stage, fault).await;
        }
    };
    // The late ones wait for the time limit; the others need not wait for them.
    let late = hanging.into_iter().map(|fault| play_fault(&stage, fault));
    tokio::join!(join_all(late), answered);
}

async fn play_fault(stage: &Stage, fault: Fault) {
    let scene = stage.scene().await;
    let gate = Gate::new();
    let mut at_proxy = fault.proxy_fault(&scene.group, &scene.old);
    if fault == Fault::ArrivesLate {
        at_proxy = at_proxy.held(&gate);
    }
    scene.proxy.next("POST", at_proxy);
    // Also the time limit of the read before it.
    let seconds = if fault.hangs() { 10 } else { 20 };
    let group = scene.group.as_str();
    let rotate = ["rotate", group, "--exists", "--yes", "--reason", "leaked"];
    let output = run(&scene, &rotate, Duration::from_secs(seconds)).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code(fault)), "{fault:?}: {said}");
    let secrets = scene.secrets();
    assert!(
        !secrets.iter().any(|secret| said.contains(secret)),
        "{said}"
    );
    assert_eq!(file_with_secret(&scene.folder, &secrets), None, "{fault:?}");
    let open = state(&scene).await.is_some_and(State::is_open);
    assert_eq!(
        open,
        code(fault) == UNKNOWN && fault != Fault::OtherGroup || fault == Fault::Invented,
        "{fault:?}: {said}"
    );
    // An immediate second try never repeats the request.
    if open {
        let again = run(&scene, &rotate, Duration::from_secs(20)).await;
        let code = again.status.code();
        assert!(
            matches!(code, Some(NOT_APPLIED | GUARDED)),
            "{fault:?}: {again:?}"
        );
    }
    assert_eq!(scene.proxy.count("POST"), 1, "{fault:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_killed_with_its_request_on_the_way_knows_that_it_was_sent() {
    let stage = Stage::new().await;
    for fault in Fault::ALL.iter().copied() {
        let scene = stage.scene().await;
        let (held, applied) = (Gate::new(), Gate::new());
        let mut at_proxy = fault.proxy_fault(&scene.group, &scene.old).held(&held);
        if fault.is_applied() {
            at_proxy = at_proxy.behind(&applied);
        }
        scene.proxy.next("POST", at_proxy);
        let group = scene.group.as_str();
        let rotate = ["rotate", group, "--exists", "--yes"];
        let patience = Duration::from_secs(20);
        let mut program = groupdesk(&scene, &rotate, patience, &[]);
        program.stdout(Stdio::null()).stderr(Stdio::null());
        let mut program = program.spawn().expect("it runs");
        held.reached().await;
        program.kill().await.expect("it can be killed");
        held.open();
        if fault.is_applied() {
            applied.reached().await;
            applied.open();
        }
        assert_eq!(
            file_with_secret(&scene.folder, &scene.secrets()),
            None,
            "{fault:?}"
        );
        assert_eq!(state(&scene).await, Some(State::Sent), "{fault:?}");
        let read = run(&scene, &["get", group], patience).await;
        assert_eq!(read.status.code(), Some(DONE), "{fault:?}: {read:?}");
        assert_eq!(scene.token() != scene.old, fault.is_applied());
        if !fault.is_applied() {
            let again = run(&scene, &rotate, patience).await;
            assert_eq!(again.status.code(), Some(GUARDED), "{fault:?}: {again:?}");
            assert_eq!(scene.proxy.count("POST"), 1, "{fault:?}");
        }
        assert_eq!(state(&scene).await, Some(State::Sent), "within the horizon");
    }
}
