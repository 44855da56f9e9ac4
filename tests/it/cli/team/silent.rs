//! The server of a team's directory stops answering in the middle of a command, as when packets are dropped: the command
//! ends within one patience, however many requests it makes, and with 8 if no change was sent.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use groupdesk::domain::proposal::{COMMANDS as COMMANDS_OF_ALL, Uses};
use tokio::net::UnixListener;

use super::{Home, by_socket, by_socket_in, machine, postgres, service};
use crate::support::{
    bare::args,
    cutter::Cutter,
    proxy::{FaultyProxy, ProxyFault, Then},
};

const SCHEMA: &str = "silent";
/// What a command waits for all that it needs once nothing passes, and what it may take besides on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
const REST: Duration = Duration::from_secs(5);
/// How many messages reach the server.
const PASSED: [usize; 3] = [2, 8, 16];
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
    ana.exits(0, "directory init").await;
    let mut cases = Vec::new();
    for command in COMMANDS {
        for passed in PASSED {
            let group = format!("group-{}", cases.len());
            let command = command.replace("GROUP", &group);
            let mut before = None;
            if command.contains(&group) {
                let create = format!("create {group} --name Acme --yes");
                before = Some(ana.json(0, &create).await["fingerprint"].clone());
            }
            cases.push((command, passed, group, before));
        }
    }
    let told = args("profile behaviour live --sole-writer yes");
    ana.exits(0, &told).await;
    let cases = cases.into_iter().map(|(command, passed, group, before)| {
        let (key, url, ana) = (&key, &url, &ana);
        async move {
            let cutter = Cutter::new(server.folder());
            cutter.plan.cut_after.store(passed, Ordering::SeqCst);
            let directory = by_socket_in(cutter.folder.path(), "desk", SCHEMA);
            let home = machine(url, key, &directory);
            let ran = home.run(&args(&command)).await;
            let took = cutter.plan.silent_for();
            let what = format!(
                "{command} after {passed}: {} in {took:?}: {}",
                ran.code, ran.err
            );
            assert!(took < PATIENCE + REST, "{what}");
            assert!([0, 7, 8].contains(&ran.code), "{what}");
            if let Some(before) = before.filter(|_| ran.code == 8) {
                let now = ana.json(0, &format!("get {group}")).await;
                assert_eq!(now["name"], "Acme", "{what}");
                assert_eq!(now["fingerprint"], before, "{what}");
            }
        }
    });
    join_all(cases).await;
}

/// Changes whose result is unknown: `rotations check` reads the group of each.
const OPEN: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_reads_many_groups_does_not_wait_for_each() {
    let Some(server) = postgres::server() else {
        return;
    };
    let (_serving, url, key) = service(&Home::new()).await;
    let address = url.trim_start_matches("http://");
    let proxy = FaultyProxy::before(address.parse().expect("an address")).await;
    let url = proxy.base_url();
    let ana = machine(&url, &key, &by_socket(server, "desk", "many_open"));
    ana.exits(0, "directory init").await;
    let told = args("profile facts live --sole-writer yes");
    ana.exits(0, &told).await;
    let ids: Vec<_> = (0..OPEN).map(|at| format!("group-{at}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let of_all = |command: &[&'static str], options: &[&'static str]| {
        let words = [command, &ids, options].concat();
        words.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for id in &ids {
        ana.exits(0, &format!("create {id} --map 1=1 --property a=0 --yes"))
            .await;
    }
    for _ in 0..OPEN {
        proxy.next("PUT", ProxyFault::swallowed(Then::Drop));
    }
    let update = of_all(
        &["update"],
        &["--property", "a=1", "--yes", "--stop-after", "0"],
    );
    let update: Vec<_> = update.iter().map(String::as_str).collect();
    ana.exits(7, &update).await;
    let checks = [16, 24, 32, 48, 64].map(|passed| {
        let (url, key) = (&url, &key);
        async move {
            let cutter = Cutter::new(server.folder());
            cutter.plan.cut_after.store(passed, Ordering::SeqCst);
            let directory = by_socket_in(cutter.folder.path(), "desk", "many_open");
            let home = machine(url, key, &directory);
            let ran = home.run("rotations check").await;
            let took = cutter.plan.silent_for();
            let what = format!("after {passed}: {} in {took:?}: {}", ran.code, ran.err);
            assert!(took < PATIENCE + REST, "{what}");
            ran.code
        }
    });
    let ended = join_all(checks).await;
    assert!(ended.contains(&8), "{ended:?}");
}

/// One line for each command that uses the directory, and all that it takes to get there.
const USING: [&str; 40] = [
    "apply groups.jsonl --yes",
    "attention",
    "attention --all",
    "audit",
    "batches",
    "batches show 1",
    "batches resume 1 --yes",
    "batches retry 1 --yes",
    "batches reverse 1 --yes",
    "batches check 1",
    "copy acme --to live --yes",
    "create acme --yes",
    "diff groups.jsonl",
    "directory init",
    "directory members",
    "directory migrate",
    "directory status",
    "doctor",
    "edit acme --yes",
    "environment list",
    "environment show live",
    "export --file out.jsonl",
    "favourite acme",
    "get acme",
    "get acme --exists",
    "get --refresh-all",
    "history",
    "import groups.jsonl --yes",
    "label acme x",
    "list",
    "note acme text",
    "profile bind live --new-environment",
    "profile facts live",
    "rotate acme --yes",
    "rotate acme globex --yes",
    "rotations",
    "rotations check",
    "show acme",
    "update acme --name x --yes",
    "whose",
];

/// Attempts to connect, with their pauses, that one patience is enough for. Counted instead of time: on a busy machine they
/// are fewer, and a second patience would be as many again.
const ATTEMPTS: usize = 20;

/// A socket that closes every connection at once; counts them.
fn gone(folder: &Path) -> Arc<AtomicUsize> {
    let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).expect("a socket");
    let attempts = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&attempts);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    attempts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_ends_with_8_when_the_server_is_gone() {
    let mut commands: BTreeSet<_> = USING
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    // A configuration can be judged without a directory; `profile` is there by two of its own.
    commands.insert("config");
    let all = COMMANDS_OF_ALL.iter();
    let all = all.filter(|(uses, _)| *uses != Uses::Nothing);
    let all: BTreeSet<_> = all.flat_map(|(_, words)| words.split(' ')).collect();
    assert_eq!(commands, all);
    let ran = USING.map(|line| {
        async move {
            let nowhere = crate::support::folder::temporary();
            let attempts = gone(nowhere.path());
            let directory = by_socket_in(nowhere.path(), "desk", SCHEMA);
            let home = machine("http://127.0.0.1:9", "key", &directory);
            home.write(
                "groups.jsonl",
                "{\"user_group_id\":\"acme\",\"name\":\"Acme\"}\n",
            );
            // Only `whose` reads it.
            let ran = home.run_with(&args(line), "x").await;
            let attempts = attempts.load(Ordering::SeqCst);
            (ran.code != 8 || !(1..=ATTEMPTS).contains(&attempts))
                .then(|| format!("{line}: {} after {attempts}: {}", ran.code, ran.err))
        }
    });
    let wrong: Vec<_> = join_all(ran).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
