//! `groupdesk serve` among thousands of connections that do nothing: whoever asks is answered, and memory stays bounded.

use std::{fs, time::Duration};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpStream;

use super::program::{Background, Home};
use crate::support::{
    bare::{GROUPDESK, bare_after},
    long,
    service::{Caller, plain_client},
};

/// What the process may take more than at the start, in KiB.
const MORE: u64 = 96 * 1024;

/// Half of the time after which the service lets go of an idle connection anyway.
const PATIENCE: Duration = Duration::from_secs(30);

/// The service, with as many files as the shell lets it open.
async fn serve(home: &Home, limit: &str) -> (Background, String) {
    let database = home.database();
    let mut command = bare_after(limit, GROUPDESK, home.folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", &database]);
    let mut serving = Background::start(command);
    let line = serving.line().await;
    let url = line.strip_prefix("listening on ").expect("an address");
    (serving, url.to_owned())
}

fn resident(serving: &Background) -> u64 {
    let status = format!("/proc/{}/status", serving.pid().as_raw_nonzero());
    let status = fs::read_to_string(status).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.expect("a number").parse().expect("a number")
}

/// How many connections this process can hold beside all else; the soft limit is raised to the hard one.
fn room(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum;
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).expect("it may be raised");
    let most = current.map_or(usize::MAX, |most| most as usize);
    wanted.min(most.saturating_sub(1_000))
}

/// Each on a connection of its own, which must first be let in.
async fn are_served(url: &str, key: &str, count: usize) {
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

/// Idle connections are opened until there are `count`; all along somebody asks.
async fn crowded(limit: &str, count: usize) {
    let home = Home::new();
    let key = home.key(&["--environment", "live"]).await;
    let (serving, url) = serve(&home, limit).await;
    are_served(&url, &key, 1).await;
    let before = resident(&serving);
    let address = url.trim_start_matches("http://").split('/').next();
    let address = address.expect("an address");
    let mut idle = Vec::new();
    while idle.len() < count {
        let stream = tokio::time::timeout(Duration::from_mins(1), TcpStream::connect(address));
        idle.push(stream.await.expect("in time").expect("it listens"));
        if idle.len() % (count / 8) == 0 {
            are_served(&url, &key, 1).await;
        }
    }
    are_served(&url, &key, 10).await;
    let after = resident(&serving);
    assert!(after < before + MORE, "from {before} KiB to {after} KiB");
    println!("{count} idle connections: {before} KiB, then {after} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_idle_connections_keep_nobody_out() {
    let wanted = if long::all() { 10_000 } else { 2_000 };
    crowded(":", room(wanted)).await;
}

/// Fewer descriptors than the service would have connections, and no way to get more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_with_few_files_still_answers() {
    crowded("ulimit -n 200", room(400)).await;
}
