//! Several processes on one PostgreSQL database: the rules are the same whichever process is asked, and what was
//! answered stays, also when a process is killed or connections break.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use rustix::process::Signal;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::callers::{HOUR, assert_begin_and_end_now};
use crate::{
    cli::program::{Background, DEADLINE, Home, has},
    support::{
        assertions::assert_lacks,
        postgres::{self, Server},
        service::{Caller, Reply},
    },
};

/// A schema of its own, set up for a role that can do nothing else.
struct Shared {
    home: Home,
    server: &'static Server,
    schema: String,
    role: String,
    url: String,
}

impl Shared {
    /// `None` when PostgreSQL is not installed.
    async fn new() -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let server = postgres::server()?;
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let (schema, role) = (format!("service{number}"), format!("server{number}"));
        server.execute("public", &format!("CREATE ROLE {role} LOGIN"));
        let folder = server.folder().display().to_string().replace('/', "%2F");
        let shared = Self {
            home: Home::new(),
            server,
            url: format!("postgres://{role}@{folder}/postgres"),
            schema,
            role,
        };
        let admin = format!("postgres://desk@{folder}/postgres");
        let init = format!(
            "serve init --storage {admin} --storage-schema {} --role {}",
            shared.schema, shared.role
        );
        let home = &shared.home;
        home.exits(0, &init).await.shows("may serve from it");
        let again = home.exits(0, &format!("{init} --json")).await;
        has!(again.json(), {"is_new": false});
        let without = init.split(" --role").next().expect("a command");
        let again = home.exits(2, without).await;
        again
            .says("nothing was changed")
            .says("use --role as its owner");
        Some(shared)
    }

    /// The line of a command of `serve` on this storage.
    fn with(&self, command: &str) -> String {
        let (url, schema) = (&self.url, &self.schema);
        format!("serve {command} --storage {url} --storage-schema {schema}")
    }

    async fn key(&self, more: &str) -> SecretString {
        let create = self.with(&format!("keys create {more}"));
        let ran = self.home.exits(0, &create).await;
        SecretString::from(ran.out.trim().to_owned())
    }

    /// Starts another process; returns its address as well.
    async fn process(&self) -> (Background, String) {
        let listen = self.with("--listen 127.0.0.1:0");
        let mut serving = Background::start(self.home.command(&listen));
        let url = serving.address().await;
        (serving, url)
    }
}

fn token(answer: &Value) -> String {
    let token = answer["user_group"]["token"].as_str();
    token.expect("a token").to_owned()
}

const CROWD: usize = 64;

/// The rules on this storage: `service::shared`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_keep_the_rules_together() {
    let Some(shared) = Shared::new().await else {
        return;
    };
    let key = shared.key("--environment live").await;
    let other = shared.key("--environment trial").await;
    let (_one, first) = shared.process().await;
    let (_two, second) = shared.process().await;
    let callers = [&first, &second].map(|url| Caller::new(url, &key));
    for round in 0..3 {
        let body = json!({"user_group_id": format!("group {round}")});
        let got = join_all((0..CROWD).map(|at| callers[at % 2].get(&body))).await;
        let got: Vec<Value> = got.iter().map(Reply::ok).collect();
        let made = got.iter().filter(|got| got["new_user_group"] == true);
        assert_eq!(made.count(), 1, "one of them created it");
        let old = token(&got[0]);
        assert!(got.iter().all(|got| token(got) == old));

        let rotated = join_all((0..CROWD).map(|at| callers[at % 2].rotate(&old))).await;
        let (won, lost): (Vec<_>, Vec<_>) = rotated.iter().partition(|reply| reply.status == 200);
        assert_eq!(won.len(), 1, "one of them rotated it");
        for lost in lost {
            assert_eq!(lost.refused(), (409, "token_retired".into()));
        }
        let new = token(&won[0].ok());
        let found = join_all(callers.iter().map(|caller| caller.get(&body))).await;
        assert!(found.iter().all(|found| token(&found.ok()) == new));
    }
    // Environments without tags may not share an id, whichever process is asked.
    let untagged = [Caller::new(&first, &key), Caller::new(&second, &other)];
    let body = json!({"user_group_id": "shared"});
    let got = join_all((0..8).map(|at| untagged[at % 2].get(&body))).await;
    let refused: Vec<_> = got.iter().filter(|reply| reply.status != 200).collect();
    assert_eq!(refused.len(), 4);
    for refused in refused {
        assert_eq!(refused.refused(), (409, "environment_tag_required".into()));
    }
    // A revocation takes effect with the next request to either process.
    shared.home.exits(0, &shared.with("keys revoke 1")).await;
    for caller in &callers {
        let refused = caller.get(&json!({"user_group_id": "group 0"})).await;
        assert_eq!(refused.refused(), (401, "unauthorized".into()));
    }
    let listed = shared.home.json(0, &shared.with("keys list")).await;
    assert!(listed[0]["last_used_at"].is_string() && listed[0]["revoked_at"].is_string());
}

#[tokio::test]
async fn keys_end_by_the_clock_of_the_server() {
    let Some(mut shared) = Shared::new().await else {
        return;
    };
    let first = shared.key("--environment live --expires 1h").await;
    shared.home.clock().forward(2 * HOUR);
    shared.key("--environment live --expires 1h").await;
    let (_serving, url) = shared.process().await;
    Caller::new(&url, &first).token_of("acme").await;
    let listed = shared.home.json(0, &shared.with("keys list")).await;
    assert_begin_and_end_now(listed.as_array().expect("an array"));
}

#[tokio::test]
async fn the_role_of_the_service_sees_no_directory_and_creates_no_tables() {
    let Some(shared) = Shared::new().await else {
        return;
    };
    let role = &shared.role;
    let directory = format!("of_{role}");
    shared.server.set_up(&directory);
    let schema = &shared.schema;
    let may = |sql: String| shared.server.execute(schema, &format!("SELECT {sql}"));
    for (schema, right) in [(&directory, "USAGE"), (schema, "CREATE")] {
        let has = may(format!(
            "has_schema_privilege('{role}', '{schema}', '{right}')"
        ));
        assert_eq!(has, "f", "{schema} {right}");
    }
    for (table, right, wanted) in [
        ("groups", "UPDATE", "t"),
        ("groups", "DELETE", "f"),
        ("retired_tokens", "UPDATE", "f"),
        ("retired_tokens", "DELETE", "f"),
        ("keys", "DELETE", "f"),
        ("schema_versions", "INSERT", "f"),
    ] {
        let has = may(format!(
            "has_table_privilege('{role}', '{table}', '{right}')"
        ));
        assert_eq!(has, wanted, "{table} {right}");
    }
}

/// Rotates without end. A caller knows the current token of its group, or two candidates after a lost answer.
async fn rotate_without_end(
    callers: &[Caller],
    id: String,
    stop: &AtomicBool,
    done: &AtomicUsize,
) -> Vec<String> {
    let body = json!({"user_group_id": id});
    let mut dead = Vec::new();
    let mut current = None;
    // Asks the other process after each rotation, and when one does not answer.
    let mut turn = 0;
    // A request whose answer was lost may still be done, once, after the read that follows it.
    let mut is_lost = false;
    while !stop.load(Ordering::SeqCst) {
        let caller = &callers[turn % callers.len()];
        let request = match &current {
            None => caller.request(reqwest::Method::GET, body.to_string()),
            Some(token) => {
                let body = json!({ "current_token": token }).to_string();
                caller.request(reqwest::Method::POST, body)
            }
        };
        // A process that is gone breaks its connections: then only a get decides.
        let Ok(answer) = request.send().await else {
            (current, turn, is_lost) = (None, turn + 1, true);
            continue;
        };
        let (status, not_done) = (
            answer.status(),
            answer.headers().contains_key("groupdesk-not-done"),
        );
        let Ok(text) = answer.text().await else {
            (current, turn, is_lost) = (None, turn + 1, true);
            continue;
        };
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        match status.as_u16() {
            200 => {
                let new = token(&answer);
                if let Some(old) = current.replace(new.clone()) {
                    dead.push(old);
                    // The token was read after the lost request, and is still current: that one is over.
                    (turn, is_lost) = (turn + 1, false);
                    done.fetch_add(1, Ordering::SeqCst);
                }
                assert!(!dead.contains(&new), "a retired token came back");
            }
            // Nothing was done: the token is still current, and is sent again.
            503 if not_done => {}
            // It may have been done, also after the next read.
            500 => (current, is_lost) = (None, true),
            409 if is_lost && text.contains("token_retired") => (current, is_lost) = (None, false),
            other => panic!("{other}: {text}"),
        }
    }
    dead
}

/// Lets callers rotate during `trouble`, and then checks that everything answered is true.
async fn rotate_during(
    shared: &Shared,
    trouble: impl AsyncFnOnce(&[(Background, String)], &AtomicUsize),
) {
    let key = shared.key("--environment live").await;
    let processes = [shared.process().await, shared.process().await];
    let callers: Vec<Caller> = processes
        .iter()
        .map(|(_, url)| Caller::new(url, &key))
        .collect();
    let (stop, done) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let rotating: Vec<_> = (0..6)
        .map(|number| {
            let (callers, stop, done) = (callers.clone(), Arc::clone(&stop), Arc::clone(&done));
            tokio::spawn(async move {
                rotate_without_end(&callers, format!("g{number}"), &stop, &done).await
            })
        })
        .collect();
    trouble(&processes, &done).await;
    stop.store(true, Ordering::SeqCst);
    let (_last, url) = shared.process().await;
    let last = Caller::new(&url, &key);
    for (number, rotating) in rotating.into_iter().enumerate() {
        let dead = tokio::time::timeout(DEADLINE, rotating).await;
        let dead = dead.expect("in time").expect("no panic");
        let found = last.token_of(&format!("g{number}")).await;
        assert!(!dead.contains(&found), "an answered rotation was undone");
        // A token that was replaced once is known as such to every process.
        for token in dead.iter().rev().take(5) {
            assert_eq!(
                last.rotate(token).await.refused(),
                (409, "token_retired".into())
            );
        }
    }
}

/// Waits for this many more answered rotations.
async fn wait_for_more(done: &AtomicUsize, count: usize) {
    let wanted = done.load(Ordering::SeqCst) + count;
    let waiting = async {
        while done.load(Ordering::SeqCst) < wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, waiting)
        .await
        .expect("it goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answered_writes_survive_broken_connections() {
    let Some(shared) = Shared::new().await else {
        return;
    };
    rotate_during(&shared, async |_, done| {
        for _ in 0..10 {
            wait_for_more(done, 15).await;
            let end = format!(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '{}'",
                shared.role
            );
            let server = shared.server;
            let ended = tokio::task::spawn_blocking(move || server.execute("public", &end));
            assert_ne!(ended.await.expect("psql"), "0", "there are lines");
        }
        wait_for_more(done, 15).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answered_writes_survive_a_killed_process() {
    let Some(shared) = Shared::new().await else {
        return;
    };
    rotate_during(&shared, async |processes, done| {
        wait_for_more(done, 60).await;
        processes[0].0.signal(Signal::KILL);
        wait_for_more(done, 60).await;
    })
    .await;
}

#[tokio::test]
async fn an_unusable_storage_says_what_to_do() {
    let home = Home::new();
    let serve = "serve --listen 127.0.0.1:0 --storage";
    let socket = "--storage postgres://a@/x?host=/tmp";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, &format!("{serve} mysql://db/x"), "postgres://USER@HOST/DATABASE"),
        (2, &format!("{serve} postgres://a@db/x?sslmode=disable"), "verify-full"),
        (2, &format!("{serve} postgres://a@/x?host=/tmp --database x.db"), "--database"),
        (2, "serve --listen 127.0.0.1:0 --storage-ca-file ca.pem", "--storage"),
        (2, &format!("{serve} postgres://a@db/x --storage-schema 'A b'"), "lower-case"),
        (2, &format!("{serve} postgres://a@db/x --storage-ca-file no.pem"), "--storage-ca-file"),
        (2, &format!("serve backup copy.db {socket}"), "pg_dump"),
        (2, &format!("serve check {socket}"), "pg_dump"),
        (2, "serve init", "a database file needs no init"),
    ]).await;
    let ran = home
        .exits(2, &format!("{serve} postgres://a:canary@db/x"))
        .await;
    ran.hides("canary").says("--storage-password-file");
    let Some(server) = postgres::server() else {
        return;
    };
    let folder = server.folder().display().to_string().replace('/', "%2F");
    let url = format!("postgres://desk@{folder}/postgres");
    let init = format!("serve init --storage {url} --storage-schema nobodys --role");
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, &format!("serve --storage {url} --storage-schema nowhere"), "serve init"),
        (2, &format!("{init} no_such_role"), "CREATE ROLE"),
    ]).await;
    // A role that only serves cannot let others in, and none is let into what is no service.
    server.execute(
        "public",
        "CREATE ROLE late_one LOGIN; CREATE ROLE late_two LOGIN; CREATE SCHEMA not_a_service",
    );
    let lets = |user: &str, schema: &str, role: &str| {
        let url = url.replace("desk@", &format!("{user}@"));
        format!("serve init --storage {url} --storage-schema {schema} --role {role}")
    };
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (0, &lets("desk", "lets_in", "late_one"), "set up "),
        (0, &lets("desk", "lets_in", "late_two"), "already set up: "),
        (2, &lets("late_one", "lets_in", "late_two"), "nothing was changed"),
        (2, &lets("desk", "not_a_service", "late_one"), "already has this schema"),
    ]).await;
    let may = "SELECT has_table_privilege('late_two', 'lets_in.groups', 'INSERT')";
    assert_eq!(server.execute("public", may), "t");
    let ran = home.exits(2, &format!("{init} public")).await;
    assert_lacks(&ran.says("every user").err, "CREATE ROLE");
    // Nothing was done by half.
    let there = "SELECT count(*) FROM pg_namespace WHERE nspname = 'nobodys'";
    assert_eq!(server.execute("public", there), "0");
}
