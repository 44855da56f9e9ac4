//! A team's directory that refuses to record what a command wants recorded: the exit code says whether a change was sent.

use super::{Background, Home, by_socket, machine, postgres, service};
use crate::support::{
    bare::args,
    proxy::{FaultyProxy, Gate, ProxyFault},
};

const SCHEMA: &str = "unrecorded";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exit_code_is_that_of_a_sent_change_only_if_one_was_sent() {
    let Some(server) = postgres::server() else {
        return;
    };
    let (_serving, url, key) = service(&Home::new()).await;
    let ana = machine(&url, &key, &by_socket(server, "desk", SCHEMA));
    let text = ana.path("rows.jsonl");
    ana.write(
        "rows.jsonl",
        "{\"user_group_id\": \"acme\", \"name\": \"Acme\"}\n",
    );
    let text = text.display().to_string();
    ana.exits(0, "directory init").await;
    for id in ["acme", "begun", "ended"] {
        let create = format!("create {id} --name Acme --map 7=1 --yes");
        ana.exits(0, &create).await;
    }
    ana.exits(0, "profile behaviour live --sole-writer yes")
        .await;
    let service_token = ana.json(0, "get acme").await["fingerprint"].clone();

    let sent = "rotation_events WHEN (NEW.event = 'sending')";
    let answered = "rotation_events WHEN (NEW.event NOT IN ('intended', 'sending'))";
    let claims = "mutations";
    let reads = "user_groups";
    let kept: &[(&str, &str, &[&str])] = &[
        // The read before a change, and a plain one; what the change begins with.
        (
            "UPDATE",
            reads,
            &[
                "get acme",
                "rotate acme --yes",
                "update acme --name Two --yes",
                "get --refresh-all --yes",
            ],
        ),
        (
            "INSERT",
            claims,
            &[
                "update acme --name Two --yes",
                "create other --yes",
                "get other --exists",
            ],
        ),
        ("INSERT", "rotations", &["rotate acme --yes"]),
        ("INSERT", sent, &["rotate begun --yes"]),
    ];
    for (write, table, commands) in kept {
        forbid(server, write, table);
        for command in *commands {
            ana.exits(8, &args(command)).await.says("sent");
        }
        allow(server);
    }
    ana.exits(0, &format!("apply {text} --dry-run")).await;
    let now = ana.json(0, "get acme").await;
    assert_eq!(now["fingerprint"], service_token, "nothing was rotated");
    assert_eq!(now["name"], "Acme", "nothing was updated");

    // The answer to a change that was sent, also to a get that created.
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("INSERT", "history", &["create third --name T --yes", "get fourth --exists"][..]),
        ("UPDATE", reads, &["update acme --name Two --yes"]),
        ("INSERT", answered, &["rotate ended --yes"]),
    ];
    for (write, table, commands) in table {
        forbid(server, write, table);
        if table == reads {
            // The read before it can be recorded.
            only_from(server, "NEW.name = 'Two'");
        }
        for command in commands {
            ana.exits(7, &args(command)).await;
        }
        allow(server);
    }
}

/// Nobody watches it: it says what it keeps and what to do, and records it when the access is given back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_access_was_withdrawn_says_what_it_keeps_until_that_is_recorded() {
    const WHO: &str = "shut_out_rita";
    let Some(server) = postgres::server() else {
        return;
    };
    server.set_up("shut_out");
    server.let_in(WHO, "shut_out", &["operator"]);
    let (_serving, url, key) = service(&Home::new()).await;
    let address = url.trim_start_matches("http://");
    let proxy = FaultyProxy::before(address.parse().expect("an address")).await;
    let rita = machine(&proxy.base_url(), &key, &by_socket(server, WHO, "shut_out"));
    for id in ["east", "west"] {
        rita.exits(0, &format!("create {id} --yes")).await;
    }
    let end = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '{WHO}'"
    );
    for (takes, gives, why) in [
        (
            "REVOKE shut_out_operator FROM shut_out_rita",
            "GRANT shut_out_operator TO shut_out_rita",
            "groupdesk directory",
        ),
        (
            "ALTER ROLE shut_out_rita NOLOGIN",
            "ALTER ROLE shut_out_rita LOGIN",
            "NOLOGIN",
        ),
    ] {
        let gate = Gate::new();
        proxy.next("POST", ProxyFault::passed().behind(&gate));
        let command = "rotate --filter e --yes --include-recent --concurrency 1 --quiet";
        let mut run = Background::start(rita.command(command));
        gate.reached().await;
        server.execute("public", takes);
        server.execute("public", &end);
        gate.open();
        let said = run.says("not recorded yet").await + &run.says("afterwards").await;
        assert!(said.contains("1 response of the service is"), "{said}");
        assert!(said.contains(why), "{said}");
        server.execute("public", gives);
        assert_eq!(run.code().await, Some(0));
    }
}

fn forbid(server: &postgres::Server, write: &str, table: &str) {
    let (table, when) = table.split_once(" WHEN ").unwrap_or((table, "(TRUE)"));
    server.execute(
        SCHEMA,
        &format!(
            "CREATE TRIGGER forbidden BEFORE {write} ON {table} FOR EACH ROW WHEN {when} EXECUTE FUNCTION refused()"
        ),
    );
}

fn only_from(server: &postgres::Server, when: &str) {
    server.execute(
        SCHEMA,
        &format!(
            "DROP TRIGGER forbidden ON user_groups; CREATE TRIGGER forbidden BEFORE UPDATE ON user_groups FOR EACH ROW \
             WHEN ({when}) EXECUTE FUNCTION refused()"
        ),
    );
}

fn allow(server: &postgres::Server) {
    let tables = [
        "user_groups",
        "mutations",
        "rotations",
        "rotation_events",
        "history",
    ];
    for table in tables {
        server.execute(
            SCHEMA,
            &format!("DROP TRIGGER IF EXISTS forbidden ON {table}"),
        );
    }
}
