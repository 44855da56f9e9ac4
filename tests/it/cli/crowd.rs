//! `groupdesk serve` with thousands of idle connections: requests are still answered, and memory stays bounded.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpStream;

use super::program::{Background, Home};
use crate::support::{
    bare::{GROUPDESK, bare_after},
    long,
    memory::memory_of,
    service::{Caller, plain_client},
};

/// How much the memory of the process may grow, in KiB.
const MORE: usize = 96 * 1024;

/// Half of the time after which the service closes an idle connection anyway.
const PATIENCE: Duration = Duration::from_mins(1);

/// The service, with a limit of open files set by the shell.
async fn serve(home: &Home, limit: &str) -> (Background, String) {
    let database = home.database();
    let mut command = bare_after(limit, GROUPDESK, home.folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", &database]);
    let mut serving = Background::start(command);
    let line = serving.line().await;
    let url = line.strip_prefix("listening on ").expect("an address");
    (serving, url.to_owned())
}

fn resident(serving: &Background) -> usize {
    memory_of(serving.pid(), "VmRSS").expect("it runs")
}

/// How many connections this process can hold besides everything else. Raises the soft limit to the hard one.
fn available_connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum;
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).expect("it may be raised");
    let most = current.map_or(usize::MAX, |most| most as usize);
    wanted.min(most.saturating_sub(1_000))
}

/// Sends requests, each on a new connection, which the service must first accept.
async fn assert_served(url: &str, key: &str, count: usize) {
    for number in 0..count {
        let caller = Caller {
            http: plain_client(),
            url: url.to_owned(),
            authorization: format!("Token {key}"),
        };
        let body = json!({"user_group_id": format!("group {number}")});
        let reply = tokio::time::timeout(PATIENCE, caller.get(&body)).await;
        reply.expect("an answer in time").ok();
    }
}

/// Opens `count` idle connections while requests are sent all along.
async fn serve_a_crowd(limit: &str, count: usize) {
    let home = Home::new();
    let key = home.key(&["--environment", "live"]).await;
    let (serving, url) = serve(&home, limit).await;
    assert_served(&url, &key, 1).await;
    let before = resident(&serving);
    let address = url.trim_start_matches("http://").split('/').next();
    let address = address.expect("an address");
    let mut idle = Vec::new();
    while idle.len() < count {
        let stream = tokio::time::timeout(Duration::from_mins(1), TcpStream::connect(address));
        idle.push(stream.await.expect("in time").expect("it listens"));
        if idle.len() % (count / 8) == 0 {
            assert_served(&url, &key, 1).await;
        }
    }
    assert_served(&url, &key, 10).await;
    let after = resident(&serving);
    assert!(after < before + MORE, "from {before} KiB to {after} KiB");
    println!("{count} idle connections: {before} KiB, then {after} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_idle_connections_do_not_block_requests() {
    let wanted = if long::all() { 10_000 } else { 2_000 };
    serve_a_crowd(":", available_connections(wanted)).await;
}

/// Fewer descriptors than the service has connections, and no way to get more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_with_few_files_still_answers() {
    serve_a_crowd("ulimit -n 200", available_connections(400)).await;
}
