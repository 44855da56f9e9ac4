//! A reachable server that cannot do the work: a pooler before it, no connection left, no room on its disk. Each is one
//! sentence with what to do, and says truly whether something was sent.

use futures_util::future::join_all;
use secrecy::SecretString;
use serde_json::json;

use super::{Home, by_socket, machine, postgres, service};
use crate::support::{
    assertions::{assert_has, in_one_line},
    pooler::Pooler,
    service::Caller,
};

/// Runs a command that fails with one line; returns the line.
async fn refused(home: &Home, code: i32, arguments: &[&str]) -> String {
    let ran = home.run(arguments).await;
    assert_eq!(ran.code, code, "{}", ran.err);
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
    assert_eq!(direct.run(&["directory", "init"]).await.code, 0);
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
        let doctor = home.run(&["doctor"]).await;
        assert!(doctor.out.contains("connection pooler"), "{}", doctor.out);
        assert_eq!(doctor.code, 8, "{}", doctor.out);
    }
}

#[tokio::test]
async fn a_refused_connection_says_who_can_help() {
    let Some(server) = postgres::server() else {
        return;
    };
    let schema = "crowded";
    server.execute("public", "CREATE ROLE lee LOGIN");
    let desk = machine(
        "http://127.0.0.1:9",
        "key",
        &by_socket(server, "desk", schema),
    );
    assert_eq!(desk.run(&["directory", "init"]).await.code, 0);
    server.let_in("lee", schema, &["operator"]);
    server.execute("public", "ALTER ROLE lee CONNECTION LIMIT 0");
    let lee = machine(
        "http://127.0.0.1:9",
        "key",
        &by_socket(server, "lee", schema),
    );
    let said = refused(&lee, 8, &["list"]).await;
    assert_has(&said, "does not accept more connections");
    assert_has(&said, "max_connections");
    server.execute("public", "ALTER ROLE lee CONNECTION LIMIT -1");
    assert_eq!(lee.run(&["list"]).await.code, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_refused_and_nothing_is_sent() {
    let Some(server) = postgres::own() else {
        return;
    };
    let home = Home::new();
    let (_serving, url, key) = service(&home).await;
    let desk = machine(&url, &key, &by_socket(&server, "desk", "standing_by"));
    for prepared in [
        &["directory", "init"][..],
        &["create", "acme", "--name", "Acme", "--yes"],
    ] {
        let ran = desk.run(prepared).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    tokio::task::block_in_place(|| {
        server.stop();
        server.follow_nobody();
        server.start();
    });
    let asked = [
        &["list"][..],
        &["directory", "status"],
        &["rotate", "acme", "--yes"],
    ];
    // At once, because each waits for a failover.
    let (said, report) = tokio::join!(
        join_all(asked.map(|asked| refused(&desk, 8, asked))),
        desk.run(&["doctor"]),
    );
    for said in said {
        let expected =
            "is a standby or read only; nothing was recorded: use the address of the primary";
        assert_has(&said, expected);
    }
    assert_has(&in_one_line(&report.out), "is a standby or read only");
    tokio::task::block_in_place(|| server.promote());
    let history = desk.json(0, &["history"]).await;
    assert_eq!(history.as_array().map(Vec::len), Some(1), "{history}");
    let ran = desk.run(&["get", "acme"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// Until the trigger is dropped again, writes to the table fail as on a full disk.
const FULL: &str = "\
CREATE FUNCTION no_room() RETURNS TRIGGER LANGUAGE plpgsql AS \
 $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_nothing_is_sent_and_open_rotations_are_settled_later() {
    let Some(server) = postgres::server() else {
        return;
    };
    let schema = "on_a_full_disk";
    let home = Home::new();
    let (_serving, url, key) = service(&home).await;
    let caller = Caller::new(&url, &SecretString::from(key.clone()));
    let desk = machine(&url, &key, &by_socket(server, "desk", schema));
    assert_eq!(desk.run(&["directory", "init"]).await.code, 0);
    assert_eq!(
        desk.run(&["create", "acme", "--name", "Acme", "--yes"])
            .await
            .code,
        0
    );
    let token = async || {
        let got = caller.get(&json!({"user_group_id": "acme"})).await;
        got.json()["user_group"]["token"]
            .as_str()
            .expect("a token")
            .to_owned()
    };
    let before = token().await;
    server.execute(schema, FULL);

    // The intent cannot be written: nothing is sent.
    let fill = |at: &str, when: &str| {
        let text = format!(
            "CREATE TRIGGER no_room BEFORE {at} ON rotations FOR EACH ROW {when} EXECUTE FUNCTION no_room()"
        );
        server.execute(schema, &text);
    };
    let empty = || server.execute(schema, "DROP TRIGGER no_room ON rotations");
    fill("INSERT", "");
    let said = refused(&desk, 8, &["rotate", "acme", "--yes"]).await;
    assert!(said.contains("no space left on its disk"), "{said}");
    assert_eq!(token().await, before, "nothing was sent");
    empty();

    // The answer cannot be recorded: the token is not shown, and the journal says that the rotation was sent.
    fill("UPDATE OF state", "WHEN (OLD.state = 'sent')");
    let said = refused(&desk, 7, &["rotate", "acme", "--yes", "--reveal"]).await;
    assert!(said.contains("no space left on its disk"), "{said}");
    let after = token().await;
    assert_ne!(after, before, "it was sent");
    empty();
    let early = desk.run(&["rotations", "check"]).await;
    assert_eq!(early.code, 7, "it may still be under way: {}", early.err);
    server.execute(
        schema,
        "ALTER TABLE rotations DISABLE TRIGGER rotations_timed; \
         UPDATE rotations SET boot_clock = split_part(boot_clock, '@', 1)::bigint - 36000000000 || '@' || timeline()",
    );
    let settled = desk.run(&["rotations", "check"]).await;
    assert_eq!(settled.code, 0, "{}", settled.err);
    let rotations = desk.json(0, &["rotations"]).await;
    assert_eq!(rotations[0]["state"], "recovered", "{rotations}");
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
    for prepared in [
        &["directory", "init"][..],
        &["create", "acme", "--name", "Acme", "--yes"],
    ] {
        let ran = desk.run(prepared).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let config = std::fs::read_to_string(desk.path("config.toml")).expect("written");
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
    desk.json(0, &["list"]).await;
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
    let report = desk.run(&["doctor"]).await;
    assert_has(&in_one_line(&report.out), "was left behind");
    assert_eq!(report.code, 8, "{}", report.out);
    // Where both are named, the new primary is found.
    on(&format!("{folder},{folder}:{}", standby.port()));
    desk.json(0, &["list"]).await;
    let ran = desk.run(&["get", "acme"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Going back on purpose.
    on(&folder);
    std::fs::remove_file(desk.path(".local/share/groupdesk/timelines")).expect("it is there");
    desk.json(0, &["list"]).await;
}
