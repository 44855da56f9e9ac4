//! A reachable server that cannot do the work: a pooler before it, or one that a failover left behind. Each is one sentence
//! with what to do.

use super::{Home, by_socket, machine, postgres, service};
use crate::support::{
    assertions::{assert_has, in_one_line},
    pooler::Pooler,
};

/// Runs a command that fails with one line; returns the line.
async fn refused(home: &Home, code: i32, arguments: &[&str]) -> String {
    let ran = home.exits(code, arguments).await;
    assert_eq!(ran.out, "");
    ran.err.lines().last().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_pooler_that_shares_sessions_is_refused_in_every_mode() {
    let Some(server) = postgres::server() else {
        return;
    };
    let schema = "behind_a_pooler";
    let direct = machine(
        "http://127.0.0.1:9",
        "key",
        &by_socket(server, "desk", schema),
    );
    direct.exits(0, "directory init").await;
    for ignored in ["extra_float_digits", "extra_float_digits,options"] {
        let Some(pooler) = Pooler::before(server, ignored) else {
            return;
        };
        let folder = pooler.folder().display().to_string().replace('/', "%2F");
        let directory = format!(
            "[directory]\nurl = \"postgres://desk@{folder}/postgres\"\nschema = \"{schema}\"\n"
        );
        let home = machine("http://127.0.0.1:9", "key", &directory);
        for command in [
            &["list"][..],
            &["directory", "status"],
            &["rotate", "acme", "--yes"],
        ] {
            let said = refused(&home, 8, command).await;
            assert!(
                said.contains("it is behind a connection pooler")
                    && said.contains("connect to the server itself"),
                "{ignored}, {command:?}: {said}"
            );
        }
        let doctor = home.run("doctor").await;
        doctor.shows("connection pooler");
        assert_eq!(doctor.code, 8, "{}", doctor.out);
    }
}

/// The old primary is back, alone: it believes that nothing has happened.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_a_failover_left_behind_is_refused() {
    let Some(server) = postgres::own() else {
        return;
    };
    let home = Home::new();
    let (_serving, url, key) = service(&home).await;
    let section = by_socket(&server, "desk", "left_behind");
    let desk = machine(&url, &key, &section);
    #[rustfmt::skip] // A table: one command a line.
    desk.each(&[
        (0, "directory init", ""),
        (0, "create acme --name Acme --yes", ""),
    ]).await;
    let config = desk.config();
    let (at, _) = section.split_once('@').expect("an address");
    let folder = server.folder().display().to_string().replace('/', "%2F");
    assert!(
        config.contains(&format!("{at}@{folder}/postgres")),
        "{config}"
    );
    let on = |hosts: &str| {
        let hosts = config.replace(&format!("@{folder}/"), &format!("@{hosts}/"));
        desk.write("config.toml", &hosts);
    };
    let standby = tokio::task::block_in_place(|| {
        let standby = server.standby();
        standby.promote();
        standby
    });
    on(&format!("{folder}:{}", standby.port()));
    desk.json(0, "list").await;
    on(&folder);
    for command in [
        &["list"][..],
        &["rotate", "acme", "--yes"],
        &["directory", "status"],
        &["history"],
    ] {
        let said = refused(&desk, 8, command).await;
        assert!(said.contains("was left behind by a failover"), "{said}");
    }
    let report = desk.run("doctor").await;
    assert_has(&in_one_line(&report.out), "was left behind");
    assert_eq!(report.code, 8, "{}", report.out);
    // Where both are named, the new primary is found.
    on(&format!("{folder},{folder}:{}", standby.port()));
    desk.json(0, "list").await;
    desk.exits(0, "get acme").await;
    // Going back on purpose.
    on(&folder);
    std::fs::remove_file(desk.path(".local/share/groupdesk/timelines")).expect("it is there");
    desk.json(0, "list").await;
}
