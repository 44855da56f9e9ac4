//! The server of a team's directory stops answering in the middle of a command, as when packets are dropped: the command
//! ends within one patience, however many requests it makes, and with 8 if no change was sent.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use futures_util::future::join_all;

use super::{Home, by_socket, by_socket_in, machine, postgres, service};
use crate::support::{bare::args, cutter::Cutter};

const SCHEMA: &str = "silent";
/// What a command waits for all that it needs, and what it may take besides on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
const REST: Duration = Duration::from_secs(5);
/// How many messages reach the server.
const PASSED: [usize; 4] = [2, 6, 12, 20];
const COMMANDS: [&str; 6] = [
    "list",
    "attention --all",
    "rotations check",
    "get GROUP",
    "update GROUP --name Two --yes",
    "rotate GROUP --yes",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_ends_within_one_patience_whenever_the_server_stops_answering() {
    let Some(server) = postgres::server() else {
        return;
    };
    let (_serving, url, key) = service(&Home::new()).await;
    let ana = machine(&url, &key, &by_socket(server, "desk", SCHEMA));
    assert_eq!(ana.run(&["directory", "init"]).await.code, 0);
    let mut cases = Vec::new();
    for command in COMMANDS {
        for passed in PASSED {
            let group = format!("group-{}", cases.len());
            let command = command.replace("GROUP", &group);
            let mut before = None;
            if command.contains(&group) {
                let create = ["create", &group, "--name", "Acme", "--yes"];
                before = Some(ana.json(0, &create).await["fingerprint"].clone());
            }
            cases.push((command, passed, group, before));
        }
    }
    let told = args("profile behaviour live --sole-writer yes");
    assert_eq!(ana.run(&told).await.code, 0);
    let cases = cases.into_iter().map(|(command, passed, group, before)| {
        let (key, url, ana) = (&key, &url, &ana);
        async move {
            let cutter = Cutter::new(server.folder());
            cutter.plan.cut_after.store(passed, Ordering::SeqCst);
            let directory = by_socket_in(cutter.folder.path(), "desk", SCHEMA);
            let home = machine(url, key, &directory);
            let begun = Instant::now();
            let ran = home.run(&args(&command)).await;
            let took = begun.elapsed();
            let what = format!(
                "{command} after {passed}: {} in {took:?}: {}",
                ran.code, ran.err
            );
            assert!(took < PATIENCE + REST, "{what}");
            assert!([0, 7, 8].contains(&ran.code), "{what}");
            if let Some(before) = before.filter(|_| ran.code == 8) {
                let now = ana.json(0, &["get", &group]).await;
                assert_eq!(now["name"], "Acme", "{what}");
                assert_eq!(now["fingerprint"], before, "{what}");
            }
        }
    });
    join_all(cases).await;
}
