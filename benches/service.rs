//! How many rotations per second the service answers over HTTP, to 16 callers: on a file, and on a PostgreSQL database
//! with one and with two processes; compared with a server that stores nothing, and with pgbench running the same
//! statements. The shipped binary on loopback. `GROUPDESK_BENCH_STORAGE=postgres://USER@HOST/DATABASE cargo bench
//! --bench service`, without the variable only on a file; `GROUPDESK_BENCH_SECONDS` for each. A schema named `bench` in
//! the database is dropped and created again.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use axum::{Json, Router, routing::any};
use futures_util::future::join_all;
use serde_json::{Value, json};

const CALLERS: usize = 16;

/// A rotation as the service sends it to a database server: the lookup of the key, then the change, with the stamp of
/// the commit.
const STATEMENTS: &str = "\
\\set new :n + 1
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT e.id, e.tag, k.read_only, k.last_used_at, k.id, k.hash FROM bench.keys k JOIN bench.environments e ON e.id = k.environment WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > 0);
ROLLBACK;
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
INSERT INTO bench.writes (stamp) VALUES (gen_random_uuid());
SELECT e.id, e.tag, k.read_only, k.last_used_at FROM bench.keys k JOIN bench.environments e ON e.id = k.environment WHERE k.id = 1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > 0) FOR SHARE OF k;
UPDATE bench.groups SET token = 'pgbench-' || :client_id || '-' || :new, updated_at = 1 WHERE environment = 1 AND token = 'pgbench-' || :client_id || '-' || :n RETURNING team_id, user_group_id, token, name, properties;
INSERT INTO bench.retired_tokens (hash, environment, team_id, retired_at) SELECT sha256(('pgbench-' || :client_id || '-' || :n)::bytea), environment, team_id, 1 FROM bench.groups WHERE environment = 1 AND token = 'pgbench-' || :client_id || '-' || :new;
COMMIT;
\\set n :new
";

fn main() {
    let installed = rustls::crypto::ring::default_provider().install_default();
    installed.expect("the first");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    let seconds =
        variable("GROUPDESK_BENCH_SECONDS").map_or(10, |text| text.parse().expect("a number"));
    let time = Duration::from_secs(seconds);
    let folder = tempfile::tempdir().expect("a folder");
    println!("{CALLERS} callers, {seconds} s each; rotations a second");
    let nothing = nothing().await;
    println!(
        "{:<34} {:>8.0}",
        "no storage",
        rate(std::slice::from_ref(&nothing), "none", time).await
    );
    let database = folder.path().join("service.db").display().to_string();
    let file = ["--database", &database];
    let key = groupdesk(
        folder.path(),
        &[
            &["serve", "keys", "create", "--environment", "bench"],
            &file[..],
        ]
        .concat(),
    );
    let service = Service::start(folder.path(), &file);
    println!(
        "{:<34} {:>8.0}",
        "a file",
        rate(std::slice::from_ref(&service.url), &key, time).await
    );
    drop(service);
    let Some(url) = variable("GROUPDESK_BENCH_STORAGE") else {
        println!("no PostgreSQL: GROUPDESK_BENCH_STORAGE names none");
        return;
    };
    let storage = ["--storage", &url, "--storage-schema", "bench"];
    psql(&url, "DROP SCHEMA IF EXISTS bench CASCADE");
    groupdesk(folder.path(), &[&["serve", "init"], &storage[..]].concat());
    let key = groupdesk(
        folder.path(),
        &[
            &["serve", "keys", "create", "--environment", "bench"],
            &storage[..],
        ]
        .concat(),
    );
    let floor = pgbench(folder.path(), &url, seconds);
    println!("{:<34} {floor:>8.0}", "pgbench, the same statements");
    for processes in 1..=2 {
        let services: Vec<_> = (0..processes)
            .map(|_| Service::start(folder.path(), &storage))
            .collect();
        let urls: Vec<_> = services.iter().map(|service| service.url.clone()).collect();
        let ours = rate(&urls, &key, time).await;
        let what = format!("PostgreSQL, processes: {processes}");
        println!("{what:<34} {ours:>8.0}   {:.2} of pgbench", ours / floor);
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupdesk"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::null());
    command
}

/// Runs it and returns its output.
fn groupdesk(home: &Path, arguments: &[&str]) -> String {
    let output = command(home, arguments).output().expect("it runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .expect("UTF-8")
        .trim()
        .to_owned()
}

struct Service {
    child: Child,
    url: String,
}

impl Service {
    fn start(home: &Path, storage: &[&str]) -> Self {
        let serve = [&["serve", "--listen", "127.0.0.1:0"], storage].concat();
        let mut child = command(home, &serve)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
        said.read_line(&mut line).expect("a line");
        let url = line
            .trim()
            .strip_prefix("listening on ")
            .expect("an address")
            .to_owned();
        Self { child, url }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The address of a server that reads and writes JSON, and stores nothing.
async fn nothing() -> String {
    let answer = async |Json(asked): Json<Value>| {
        let token = asked["current_token"].as_str().unwrap_or("0").to_owned();
        Json(
            json!({"success": 1, "user_group": {"team_id": 1, "name": "a name", "token": token, "provided_id": "an id"}}),
        )
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = format!(
        "http://{}/api/user",
        listener.local_addr().expect("an address")
    );
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(any(answer))).await });
    url
}

/// Each caller rotates a group of its own, again and again. Returns rotations per second.
async fn rate(urls: &[String], key: &str, time: Duration) -> f64 {
    let http = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client");
    let done = AtomicUsize::new(0);
    let begun = Instant::now();
    let callers = (0..CALLERS).map(async |at| {
        let ask = async |method: reqwest::Method, body: Value| -> String {
            let request = http
                .request(method, &urls[at % urls.len()])
                .json_body(&body);
            let answer = request
                .header("authorization", format!("Token {key}"))
                .send()
                .await
                .expect("an answer");
            let text = answer.text().await.expect("an answer");
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            let token = answer["user_group"]["token"].as_str();
            token.unwrap_or_else(|| panic!("{text}")).to_owned()
        };
        let mut token = ask(
            reqwest::Method::GET,
            json!({"user_group_id": format!("caller-{at}")}),
        )
        .await;
        while begun.elapsed() < time {
            token = ask(reqwest::Method::POST, json!({"current_token": token})).await;
            done.fetch_add(1, Ordering::Relaxed);
        }
    });
    join_all(callers).await;
    done.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}

/// A request with a JSON body.
trait JsonBody {
    fn json_body(self, body: &Value) -> Self;
}

impl JsonBody for reqwest::RequestBuilder {
    fn json_body(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }
}

/// A program of PostgreSQL, in the folder that `pg_config` prints.
fn program(name: &str) -> Command {
    let told = Command::new("pg_config")
        .arg("--bindir")
        .output()
        .expect("pg_config");
    let folder = String::from_utf8(told.stdout).expect("UTF-8");
    Command::new(Path::new(folder.trim()).join(name))
}

fn psql(url: &str, text: &str) {
    let done = program("psql")
        .args(["-q", "-c", text, url])
        .stderr(Stdio::null())
        .status();
    assert!(done.expect("psql runs").success());
}

/// Transactions per second.
fn pgbench(folder: &Path, url: &str, seconds: u64) -> f64 {
    psql(
        url,
        &format!(
            "INSERT INTO bench.groups (environment, user_group_id, name, mapping, properties, token, created_at, updated_at) \
         SELECT 1, 'pgbench-' || n, 'a name', '{{}}', '{{}}', 'pgbench-' || n || '-0', 1, 1 FROM generate_series(0, {}) n",
            CALLERS - 1
        ),
    );
    let script = folder.join("rotate.sql");
    std::fs::write(&script, STATEMENTS).expect("written");
    let clients = CALLERS.to_string();
    let output = program("pgbench")
        .args([
            "-n",
            "-M",
            "prepared",
            "-D",
            "n=0",
            "-j",
            "2",
            "-c",
            &clients,
            "-T",
            &seconds.to_string(),
            "-f",
        ])
        .arg(&script)
        .arg(url)
        .output()
        .expect("pgbench runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let tps = text.lines().find_map(|line| line.strip_prefix("tps = "));
    let tps = tps
        .and_then(|rest| rest.split(' ').next())
        .and_then(|number| number.parse().ok());
    tps.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}
