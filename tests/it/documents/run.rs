//! Runs one block of a page with bash.

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Stdio, id},
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::support::{
    clock,
    pty::{Program, Session},
};

pub(super) const DEADLINE: Duration = Duration::from_mins(1);
/// Where the services of the pages listen.
const ADDRESS: &str = "127.0.0.1:8474";
/// Line 2 of the console once the only group of such a service is listed.
pub(super) const LISTED: &str = "1 group";

/// Put before a block: it ends with the first failing line, and what it started ends with it.
const BEFORE: &str = r#"set -euo pipefail
ends() {
    local wanted=$1 code=0
    shift
    "$@" || code=$?
    [ "$code" -eq "$wanted" ] || { echo "ended with $code, not $wanted: $*" >&2; exit 90; }
}
answers() {
    for _ in {1..600}; do
        if (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; then return 0; fi
        sleep 0.1
    done
    echo "nobody answers at $1:$2" >&2
    exit 91
}
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
"#;

/// A home in which `groupdesk` is the shipped binary.
pub(super) fn home() -> TempDir {
    let home = crate::support::folder::temporary();
    fs::create_dir(home.path().join("bin")).expect("a folder");
    let program = env!("CARGO_BIN_EXE_groupdesk");
    symlink(program, home.path().join("bin/groupdesk")).expect("a link");
    home
}

fn variables(home: &Path) -> Vec<(String, String)> {
    let path = std::env::var("PATH").unwrap_or_default();
    let home = home.display();
    [
        ("HOME", home.to_string()),
        ("TMPDIR", home.to_string()),
        ("PATH", format!("{home}/bin:{path}")),
        ("USER", "ana".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The block as a script. Its service listens on a loopback address that no other test uses.
fn script(block: &str) -> String {
    static USED: AtomicU8 = AtomicU8::new(1);
    let [_, _, high, low] = id().to_be_bytes();
    let host = format!("127.{}.{high}.{low}", USED.fetch_add(1, Ordering::Relaxed));
    let mut script = BEFORE.to_owned();
    for line in block.lines() {
        if let Some((command, words)) = line.split_once("# ends with ") {
            let digits = words.find(|c: char| !c.is_ascii_digit());
            let code = &words[..digits.unwrap_or(words.len())];
            assert!(!code.is_empty(), "no exit code: {line}");
            let _ = writeln!(script, "ends {code} {command}");
        } else {
            script += line;
            script.push('\n');
        }
        if line.contains(ADDRESS) && line.contains('&') {
            let (_, port) = ADDRESS.split_once(':').expect("host and port");
            let _ = writeln!(script, "answers {host} {port}");
        }
    }
    let (_, port) = ADDRESS.split_once(':').expect("host and port");
    script.replace(ADDRESS, &format!("{host}:{port}"))
}

/// Starts a demo in this home. Returns the variables by which other programs find it.
async fn demo(home: &Path) -> (Child, Vec<(String, String)>) {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_groupdesk"))
        .args(["demo", "--hold"])
        .env_clear()
        .envs(clock::outer())
        .envs(variables(home))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(demo.stdout.take().expect("piped")).lines();
    let mut exported = Vec::new();
    for _ in 0..2 {
        let line = tokio::time::timeout(DEADLINE, lines.next_line()).await;
        let line = line.expect("in time").expect("readable").expect("a line");
        let (name, value) = line
            .strip_prefix("export ")
            .and_then(|rest| rest.split_once('='))
            .expect("a variable");
        exported.push((name.to_owned(), value.trim_matches('\'').to_owned()));
    }
    (demo, exported)
}

/// Whether a block starts a service of its own, and so needs no demo.
fn serves(block: &str) -> bool {
    block.contains("groupdesk serve ")
}

/// Runs a block without a terminal. Returns its output when it did not end with 0.
pub(super) async fn without_a_terminal(block: &str) -> Result<(), String> {
    let home = home();
    let mut variables = variables(home.path());
    let mut running = None;
    if !serves(block) {
        let (demo, exported) = demo(home.path()).await;
        variables.extend(exported);
        running = Some(demo);
    }
    let ended = as_typed(block, home.path(), variables).await;
    drop(running);
    ended
}

/// Runs a block in a home as it is, without a demo.
pub(super) async fn in_home(block: &str, home: &Path, who: &str) -> Result<(), String> {
    let mut variables = variables(home);
    variables.push(("USER".into(), who.into()));
    as_typed(block, home, variables).await
}

async fn as_typed(
    block: &str,
    home: &Path,
    variables: Vec<(String, String)>,
) -> Result<(), String> {
    let child = Command::new("bash")
        .args(["-c", &script(block)])
        .env_clear()
        .envs(clock::outer())
        .envs(variables)
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("bash is there");
    let group = Pid::from_raw(child.id().expect("it runs") as i32).expect("a number");
    let ended = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
    let Ok(ended) = ended else {
        let _ = kill_process_group(group, Signal::KILL);
        return Err("it does not end".to_owned());
    };
    let ended = ended.expect("it ran");
    if ended.status.success() {
        return Ok(());
    }
    let said = [ended.stdout, ended.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Err(format!("{}\n{said}", ended.status))
}

/// Runs a block that ends in the console, and quits once the group of its service is listed.
pub(super) fn in_a_terminal(block: &str) -> Result<(), String> {
    assert!(serves(block), "only of a service of its own");
    let home = home();
    let mut program = Program::new("/bin/bash", &["-c", &script(block)]).cwd(home.path());
    for (name, value) in variables(home.path()) {
        program = program.env(&name, value);
    }
    let mut session = program.size(24, 100).start();
    let listed = session.wait_for(LISTED, DEADLINE);
    if !listed.contains("acme-eu") {
        return Err(listed);
    }
    session.send("q");
    let ended = session.exit_status(DEADLINE);
    if ended.success() {
        return Ok(());
    }
    Err(format!("{ended}\n{}", session.screen()))
}

/// Runs a block and then these commands, in one home and on one terminal.
pub(super) fn in_a_home(block: &str, commands: &str) -> (TempDir, Session) {
    let home = home();
    let text = format!("{}{commands}", script(block));
    let variables = variables(home.path());
    let session = on_a_terminal(home.path(), &text, &variables);
    (home, session)
}

/// The same in a demo.
pub(super) async fn in_the_demo(commands: &str) -> (TempDir, Child, Session) {
    let home = home();
    let (demo, exported) = demo(home.path()).await;
    let mut variables = variables(home.path());
    variables.extend(exported);
    let runtime = home.path().display().to_string();
    variables.push(("XDG_RUNTIME_DIR".into(), runtime));
    let session = on_a_terminal(home.path(), &format!("{BEFORE}{commands}"), &variables);
    (home, demo, session)
}

fn on_a_terminal(home: &Path, script: &str, variables: &[(String, String)]) -> Session {
    let program = Program::new("/bin/bash", &["-c", script]).cwd(home);
    let program = variables
        .iter()
        .fold(program, |program, (name, value)| program.env(name, value));
    program.size(60, 120).start()
}
