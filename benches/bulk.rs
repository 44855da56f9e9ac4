//! How fast many tokens are rotated, with everything durable, beside bare loops: one that does nothing but the POSTs over
//! kept connections, one that sends the same three requests (get, POST over a fresh connection, get), one that sends them
//! with the same commits, and `xargs -P 8 curl`. The service is the shipped binary on loopback. `cargo bench --bench bulk`;
//! `GROUPDESK_BENCH_GROUPS`, and `GROUPDESK_BENCH_FOLDER` to put the directory elsewhere (on a disk without fsync, its
//! price is the difference).

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use groupdesk::{
    config::{Environment, KeySource, Profile},
    directory::Directory,
    domain::{batch::Plan, group::UserGroupId, token::Token},
    operations::{
        Clock, Operations, UnknownIdPolicy,
        batch::{BatchEvent, RunLimits},
    },
    service::{seed::SeedGroup, store::Store},
};
use jiff::Timestamp;
use rusqlite::Connection;
use secrecy::ExposeSecret;
use tokio::sync::oneshot;

/// Rotations at the same time.
const CONCURRENCIES: [usize; 3] = [1, 8, 64];
/// Reads before a measurement.
const READERS: usize = 64;

fn main() {
    let installed = rustls::crypto::ring::default_provider().install_default();
    installed.expect("the first");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    let groups =
        variable("GROUPDESK_BENCH_GROUPS").map_or(2000, |text| text.parse().expect("a number"));
    let elsewhere = variable("GROUPDESK_BENCH_FOLDER");
    let here = tempfile::tempdir().expect("a folder");
    let installation = match elsewhere {
        Some(folder) => tempfile::tempdir_in(folder).expect("a folder"),
        None => tempfile::tempdir().expect("a folder"),
    };
    let database = here.path().join("service/service.db");
    let ids: Vec<UserGroupId> = (0..groups)
        .map(|number| UserGroupId::parse(format!("group-{number:05}")).expect("an id"))
        .collect();
    let key = seed(&database, &ids);
    let (_service, url) = serve(&database);
    let operations = operations(&url, &key, installation.path());
    println!("{groups} groups; rotations per second, and the median of one in ms");
    println!(
        "{:>12} {:>16} {:>16} {:>7} {:>16} {:>7} {:>16} {:>7}",
        "concurrency",
        "groupdesk",
        "bare POSTs",
        "share",
        "same requests",
        "share",
        "and commits",
        "share"
    );
    let journal = Journal::open(&installation.path().join("bare.db"));
    for concurrency in CONCURRENCIES {
        let tokens = read(&operations, &ids).await;
        let (bare, bare_median) = bare(&url, &key, tokens, concurrency).await;
        read(&operations, &ids).await;
        let (ours, median) = bulk(&operations, &ids, concurrency).await;
        let (sent, sent_median) = same(&url, &key, &ids, concurrency, None).await;
        let (kept, kept_median) = same(&url, &key, &ids, concurrency, Some(&journal)).await;
        println!(
            "{concurrency:>12} {ours:>9.0} {median:>6.1} {bare:>9.0} {bare_median:>6.1} {:>6.0}% {sent:>9.0} {sent_median:>6.1} {:>6.0}% \
             {kept:>9.0} {kept_median:>6.1} {:>6.0}%",
            100.0 * ours / bare,
            100.0 * ours / sent,
            100.0 * ours / kept
        );
    }
    let tokens = read(&operations, &ids).await;
    match curl(&url, &key, &tokens, here.path()) {
        Some(rate) => println!("xargs -P 8 curl: {rate:.0}"),
        None => println!("xargs -P 8 curl: not measured, it did not run to its end"),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn seed(database: &Path, ids: &[UserGroupId]) -> String {
    let store = Store::open(database).expect("a store");
    let (_, key) = store
        .create_key("testing", Some("Testing"), false)
        .expect("a key");
    let groups = ids.iter().map(|id| SeedGroup {
        user_group_id: id.as_str().to_owned(),
        name: id.as_str().to_owned(),
        mapping: std::iter::empty::<(String, String)>().collect(),
        properties: serde_json::Map::new(),
    });
    store.seed("testing", groups.collect()).expect("seeded");
    key.expose_secret().to_owned()
}

/// Ends with the bench.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(database: &Path) -> (Serving, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_groupdesk"))
        .args(["serve", "--listen", "127.0.0.1:0", "--database"])
        .arg(database)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let stdout = child.stdout.take().expect("standard output");
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let url = line
        .trim()
        .strip_prefix("listening on ")
        .and_then(|url| url.strip_suffix("/api/user"))
        .expect("an address");
    (Serving(child), url.to_owned())
}

fn operations(url: &str, key: &str, folder: &Path) -> Operations {
    let profile = Profile {
        name: "testing".into(),
        base_url: url.into(),
        path: "/api/user".into(),
        api_key: KeySource::Env("KEY".into()),
        environment: None,
        production: false,
        read_only: false,
        timeout: Duration::from_secs(30),
        connect_timeout: Duration::from_secs(30),
        allow_plain_http: false,
        ca_file: None,
        proxy_from_environment: false,
        read_properties: false,
        from_variables: false,
        key_changes: false,
        handoff: None,
        max_token_age: None,
        max_bulk: usize::MAX,
        guards: Vec::new(),
    };
    let environment: Environment = [("KEY", key)].into_iter().collect();
    let directory = Directory::open(&folder.join("desk/directory.db")).expect("a directory");
    Operations::new(
        profile,
        environment,
        directory,
        "bench".into(),
        Clock::System,
    )
}

async fn read(operations: &Operations, ids: &[UserGroupId]) -> Vec<Token> {
    let reads = ids.iter().map(|id| async move {
        let done = operations.look_up(id, UnknownIdPolicy::Exists).await;
        done.expect("readable").token.expect("a token")
    });
    stream::iter(reads).buffered(READERS).collect().await
}

/// Rotations per second, and the median of one in milliseconds.
async fn bulk(operations: &Operations, ids: &[UserGroupId], concurrency: usize) -> (f64, f64) {
    let plan = Plan {
        ready: ids.to_vec(),
        at: Timestamp::now(),
        ..Plan::default()
    };
    let batch = operations.begin_batch(&plan, None).await.expect("durable");
    let pace = RunLimits {
        concurrency,
        ..RunLimits::default()
    };
    let begun = Instant::now();
    let run = operations.run_batch(batch, pace, None).await;
    let mut run = run.expect("it begins");
    let mut took = Vec::with_capacity(ids.len());
    let mut said = None;
    loop {
        match run.progress.recv().await.expect("news") {
            BatchEvent::Ended(ended) => {
                took.push(ended.took);
                said = said.or(ended.note);
            }
            BatchEvent::Finished(report) => {
                let counts = report.counts;
                assert_eq!(counts.confirmed, ids.len(), "{counts}: {said:?}");
                return result(took, begun);
            }
            _ => {}
        }
    }
}

async fn bare(url: &str, key: &str, tokens: Vec<Token>, concurrency: usize) -> (f64, f64) {
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .build()
        .expect("a client");
    let (client, url) = (&client, &format!("{url}/api/user"));
    let begun = Instant::now();
    let posts = tokens.into_iter().map(|token| async move {
        let begun = Instant::now();
        let answer = client
            .post(url)
            .header("authorization", format!("Token {key}"))
            .header("content-type", "application/json")
            .body(format!("{{\"current_token\":\"{}\"}}", token.expose()))
            .send()
            .await
            .expect("an answer");
        assert_eq!(answer.status(), 200);
        answer.bytes().await.expect("a whole answer");
        begun.elapsed()
    });
    let took: Vec<_> = stream::iter(posts)
        .buffer_unordered(concurrency)
        .collect()
        .await;
    result(took, begun)
}

/// A row for each step; those of one moment share a commit.
struct Journal(mpsc::Sender<(String, oneshot::Sender<()>)>);

impl Journal {
    fn open(path: &Path) -> Self {
        let mut connection = Connection::open(path).expect("a database");
        let made = connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
             CREATE TABLE step (number INTEGER PRIMARY KEY, told TEXT NOT NULL) STRICT",
        );
        made.expect("a table");
        let (sender, steps) = mpsc::channel::<(String, oneshot::Sender<()>)>();
        std::thread::spawn(move || {
            while let Ok(first) = steps.recv() {
                let steps: Vec<_> = std::iter::once(first).chain(steps.try_iter()).collect();
                let tx = connection.transaction().expect("begun");
                for (told, _) in &steps {
                    let mut add = tx
                        .prepare_cached("INSERT INTO step (told) VALUES ($1)")
                        .expect("prepared");
                    add.execute([told]).expect("added");
                }
                tx.commit().expect("durable");
                for (_, done) in steps {
                    done.send(()).expect("somebody waits");
                }
            }
        });
        Self(sender)
    }

    async fn commit(&self, told: &str) {
        let (done, is_done) = oneshot::channel();
        self.0.send((told.to_owned(), done)).expect("its thread");
        is_done.await.expect("durable");
    }
}

/// Get, rotate over a fresh connection, get: what a rotation sends, without everything that makes it safe. With a journal
/// as many commits at the same places: what the get told, the intent, the sending, the answer, and what was read back.
async fn same(
    url: &str,
    key: &str,
    ids: &[UserGroupId],
    concurrency: usize,
    journal: Option<&Journal>,
) -> (f64, f64) {
    let client = |idle| {
        reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .pool_max_idle_per_host(idle)
            .build()
            .expect("a client")
    };
    let (reads, writes, url) = (&client(usize::MAX), &client(0), &format!("{url}/api/user"));
    let send = |client: &reqwest::Client, method: reqwest::Method, body: String| {
        let request = client
            .request(method, url)
            .header("authorization", format!("Token {key}"))
            .header("content-type", "application/json")
            .body(body);
        async move {
            let answer = request.send().await.expect("an answer");
            assert_eq!(answer.status(), 200);
            let body = answer.bytes().await.expect("a whole answer");
            let answer: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            answer["user_group"]["token"].as_str().map(str::to_owned)
        }
    };
    let commit = |id: UserGroupId| async move {
        if let Some(journal) = journal {
            journal.commit(id.as_str()).await;
        }
    };
    let begun = Instant::now();
    let rotations = ids.iter().map(|id| async {
        let begun = Instant::now();
        let get = format!("{{\"user_group_id\":\"{}\"}}", id.as_str());
        let token = send(reads, reqwest::Method::GET, get.clone()).await;
        commit(id.clone()).await;
        let rotate = format!("{{\"current_token\":\"{}\"}}", token.expect("a token"));
        commit(id.clone()).await;
        commit(id.clone()).await;
        send(writes, reqwest::Method::POST, rotate).await;
        commit(id.clone()).await;
        send(reads, reqwest::Method::GET, get).await;
        commit(id.clone()).await;
        begun.elapsed()
    });
    let took: Vec<_> = stream::iter(rotations)
        .buffer_unordered(concurrency)
        .collect()
        .await;
    result(took, begun)
}

/// Rotations per second of one curl each, eight at a time; `None` where that cannot be run.
fn curl(url: &str, key: &str, tokens: &[Token], folder: &Path) -> Option<f64> {
    let bodies = folder.join("bodies");
    std::fs::create_dir(&bodies).expect("a folder");
    let mut names = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        let body = format!("{{\"current_token\":\"{}\"}}", token.expose());
        std::fs::write(bodies.join(number.to_string()), body).expect("written");
        writeln!(names, "{number}").expect("memory");
    }
    let headers = format!("authorization: Token {key}\ncontent-type: application/json\n");
    std::fs::write(folder.join("headers"), headers).expect("written");
    let begun = Instant::now();
    let mut xargs = Command::new("xargs")
        .args([
            "-P",
            "8",
            "-I",
            "{}",
            "curl",
            "--fail",
            "-s",
            "-o",
            "/dev/null",
        ])
        .args(["-H", "@../headers", "--data", "@{}"])
        .arg(format!("{url}/api/user"))
        .current_dir(&bodies)
        .stdin(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = xargs.stdin.take().expect("standard input");
    stdin.write_all(&names).ok()?;
    drop(stdin);
    let done = xargs.wait().ok()?.success();
    done.then(|| tokens.len() as f64 / begun.elapsed().as_secs_f64())
}

fn result(mut took: Vec<Duration>, begun: Instant) -> (f64, f64) {
    let all = begun.elapsed();
    took.sort();
    let median = took[took.len() / 2].as_secs_f64() * 1000.0;
    (took.len() as f64 / all.as_secs_f64(), median)
}
