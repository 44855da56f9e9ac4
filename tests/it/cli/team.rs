//! Two people on two machines with one shared directory on PostgreSQL, with the shipped binary.

use std::path::Path;

use serde_json::json;

use super::program::{Background, Home, each, has};
use crate::support::{
    assertions::assert_lacks,
    postgres::{self, Server},
};

mod connections;
mod people;
mod silent;
mod unfit;
mod unrecorded;

/// A machine with a profile for the service, and the directory of the team.
fn machine(url: &str, key: &str, directory: &str) -> Home {
    let mut home = Home::new();
    home.configure(url, key);
    home.add_config(&format!("\n{directory}"));
    home
}

/// The URL of the server's socket for this user.
fn by_socket(server: &Server, who: &str, schema: &str) -> String {
    by_socket_in(server.folder(), who, schema)
}

fn by_socket_in(folder: &Path, who: &str, schema: &str) -> String {
    let folder = folder.display().to_string().replace('/', "%2F");
    format!("[directory]\nurl = \"postgres://{who}@{folder}/postgres\"\nschema = \"{schema}\"\n")
}

/// A service, its address and a key for it.
async fn service(home: &Home) -> (Background, String, String) {
    let key = home.key("--environment production --tag Customer").await;
    let (serving, url) = home.serve().await;
    (serving, url, key)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_share_a_directory_from_setup_to_a_rotation() {
    let Some(server) = postgres::server() else {
        return;
    };
    let schema = "shared_by_two";
    server.execute("public", "CREATE ROLE ben LOGIN; CREATE ROLE cleo LOGIN");
    let (_serving, url, key) = service(&Home::new()).await;
    let ana = machine(&url, &key, &by_socket(server, "desk", schema));
    let ben = machine(&url, &key, &by_socket(server, "ben", schema));
    let mine = ben.config().replace("[profiles.live]", "[profiles.mine]");
    ben.write("config.toml", &mine);

    ana.exits(8, "list").await.says("groupdesk directory init");
    ana.exits(0, "directory init").await;
    let again = ana.run("directory init").await;
    again.says("already has this schema");
    ben.exits(8, "list").await.says("groupdesk directory grant");
    ana.exits(0, "directory grant ben operator").await;
    let nobody = ana.run("directory grant bne operator").await;
    nobody.says("CREATE ROLE \"bne\" LOGIN");
    // A role that may only work is warned by the server at most.
    for change in ["revoke ben", "grant cleo operator", "revoke public"] {
        ben.exits(8, &format!("directory {change}")).await;
    }
    ana.exits(0, "create acme --name Acme --map 7=1 --yes")
        .await;
    let seen = ben.json(0, "list").await;
    assert_eq!(each(&seen, "user_group_id"), ["acme"]);
    ben.exits(0, "rotate acme --yes --reason leaked").await;
    ana.run("history acme --json").await.shows("leaked");
    assert_common_place_names(&ana, &ben).await;
    for (home, who) in [(&ana, "desk"), (&ben, "ben")] {
        let status = home.json(0, "directory status").await;
        has!(status, {"kind": "team", "user": who, "open_rotations": []});
        assert!(!home.path(".local/share/groupdesk/directory.db").exists());
        let report = home.run("doctor --json").await.json();
        let findings = report["findings"].as_array().expect("findings").iter();
        let mut of_directory = findings.filter(|finding| finding["area"] == "directory");
        let is_fine = of_directory.all(|finding| finding["severity"] != "problem");
        assert!(is_fine, "{report}");
    }
    // Each sees what the other does.
    let mut following = Background::start(ana.command("history --follow --limit 1 -o jsonl"));
    following.line().await;
    let mut watching = Background::start(ana.command("list --watch -o jsonl"));
    watching.line().await;
    ben.exits(0, "update acme --name 'Acme 2' --yes --replace-mapping")
        .await;
    let line = following.line().await;
    assert!(line.contains("Acme 2") && line.contains("\"ben"), "{line}");
    // The read before the update may be listed by itself.
    while !watching.line().await.contains("Acme 2") {}
    #[rustfmt::skip] // A table: one command a line.
    ana.each(&[
        (2, "directory backup copy.db", "pg_dump"),
        (0, "directory revoke ben", ""),
    ]).await;
    ben.exits(8, "list").await;
}

/// Two people have their own names for a place. The output also has the common name that all of them know.
async fn assert_common_place_names(ana: &Home, ben: &Home) {
    ana.exits(0, "environment rename live europe").await;
    for home in [ana, ben] {
        for command in [
            "list",
            "show acme",
            "show acme acme",
            "get acme",
            "history",
            "history --by-operation",
            "rotations",
        ] {
            let printed = home.json(0, command).await;
            let first = printed.get(0).unwrap_or(&printed);
            assert_eq!(first["environment"], "europe", "{command}: {printed}");
        }
        for (form, heads) in [("csv", 1), ("jsonl", 0)] {
            let lines = home.exits(0, &format!("history -o {form}")).await.out;
            let count = lines.matches("europe").count();
            assert_eq!(count, lines.lines().count() - heads, "{lines}");
        }
    }
    let history = ana.json(0, "history").await;
    let profiles = each(&history, "profile");
    let are_both = profiles.contains(&"live") && profiles.contains(&"mine");
    assert!(are_both, "{history}");
    ana.exits(0, "environment rename europe live").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_directory_is_copied_into_that_of_a_team() {
    let Some(server) = postgres::server() else {
        return;
    };
    let (_serving, url, key) = service(&Home::new()).await;
    let at = by_socket(server, "desk", "moved_in");
    let ana = machine(&url, &key, &at);
    let file = ana.at("alone.db");
    let alone = |line: &str| format!("--directory alone.db {line}");
    for line in [
        "create acme --name 'Acme \u{1F980}' --map 7=1 --yes",
        "create globex --property tier=\"gold\" --yes",
        "rotate acme --yes --reason leaked",
        "note acme 'the one with the crab'",
        "label globex --add vip",
    ] {
        ana.exits(0, &alone(line)).await;
    }
    ana.exits(0, "directory init").await;
    // A rotation that was sent an hour ago, and killed then; its token was handed off.
    let raw = rusqlite::Connection::open(ana.path("alone.db")).expect("a connection");
    let killed = "UPDATE rotations SET state = 'sent', boot_clock = NULL, \
        handoff = 'done', handoff_run = 1, handoff_by = 'li', handoff_limit = 1, handoff_at = 1, \
        started_at = started_at - 3600000000, sent_at = sent_at - 3600000000";
    assert_eq!(raw.execute(killed, []).expect("SQL"), 1);
    drop(raw);
    let copy = format!("directory copy {file}");
    let refused = ana.exits(3, &copy).await;
    refused.says(&format!(
        "1 change in {file} may be in progress; nothing was copied"
    ));
    refused.says(&format!("groupdesk --directory {file} rotations check"));
    ana.exits(0, &alone("rotations check")).await;
    // Finds nothing, and leaves an environment without anything.
    ana.exits(0, "rotations check").await;
    assert_eq!(
        server.execute("moved_in", "SELECT count(*) FROM places"),
        "1"
    );
    let copied = ana.json(0, &copy).await;
    assert_eq!(copied["rows"]["user_groups"], 2, "{copied}");
    let timed = "SELECT handoff || count(handoff_clock) FROM rotations GROUP BY handoff";
    let timed = server.execute("moved_in", timed);
    assert!(timed.ends_with("done0"), "not handed off just now: {timed}");
    for told in [
        "list",
        "show acme",
        "history",
        "rotations",
        "batches list",
        "note acme",
        "environment list",
    ] {
        let before = ana.json(0, &alone(told)).await;
        assert_eq!(ana.json(0, told).await, before, "{told}");
    }
    // New rows get new numbers.
    ana.exits(0, "rotate acme --yes").await;
    let rotations = ana.json(0, "rotations").await;
    assert_eq!(each(&rotations, "state").len(), 2);
    // More rows than are copied in one step.
    let many: Vec<_> = (0..700).map(|number| format!("many-{number}\n")).collect();
    ana.write("many.csv", &format!("user_group_id\n{}", many.concat()));
    ana.exits(0, "import many.csv --yes").await;
    let listed = ana.json(0, "list").await;
    assert_eq!(each(&listed, "user_group_id").len(), 702);
    let exported = ana.exits(0, "export").await;
    assert_eq!(exported.out.matches("many-").count(), 700);
    ana.exits(8, &copy).await.says(": 702 groups), and a file");
    let url = at.split('"').nth(1).expect("an address");
    let back = ana.json(0, &format!("directory copy {url} back.db")).await;
    assert_eq!(back["rows"]["user_groups"], 702, "{back}");
    ana.exits(2, &format!("directory copy {url} back.db"))
        .await
        .says("already exists");
    for told in [
        "list",
        "history",
        "rotations",
        "label globex",
        "environment list",
    ] {
        let here = ana.json(0, told).await;
        let in_file = format!("--directory back.db {told}");
        assert_eq!(ana.json(0, &in_file).await, here, "{told}");
    }
    // After the move all of it is in the new directory, and the old one is refused here.
    let moved = ana.json(0, &format!("directory move {url} moved.db")).await;
    assert_eq!(moved["rows"], back["rows"]);
    let status = ana.json(0, "directory status").await;
    assert!(
        status["moved_to"].to_string().ends_with("moved.db\""),
        "{status}"
    );
    #[rustfmt::skip] // A table: one command a line.
    ana.each(&[
        (8, "note acme 'too late'", "moved.db"),
        (0, "list", "the directory was moved to"),
        (0, "--directory moved.db note acme 'in time'", ""),
        (2, "directory copy nothing.db", "does not exist"),
    ]).await;
    let doctor = ana.exits(8, "doctor").await;
    doctor.shows("it was moved to the file ");
    doctor.shows("On that machine, use --directory ");
    // The configuration accepts an address only.
    doctor.hides("as url under [directory]");
    let elsewhere = by_socket(server, "desk", "moved_again");
    let service = ana.config();
    let service = service.split('"').nth(1).expect("an address");
    let other = machine(service, &key, &elsewhere);
    other.exits(0, "directory init").await;
    let file = ana.at("moved.db");
    other.exits(0, &format!("directory move {file}")).await;
    ana.exits(2, "--directory moved.db list")
        .await
        .says("moved_again");
    other.exits(0, "note acme").await.shows("in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_lists_without_keys_and_the_fingerprint_key_can_be_stored_elsewhere() {
    let Some(server) = postgres::server() else {
        return;
    };
    let schema = "looked_at";
    server.execute("public", "CREATE ROLE vera LOGIN; CREATE ROLE olaf LOGIN");
    let (_serving, url, key) = service(&Home::new()).await;
    let secret = "0f".repeat(32);
    let person = |who: &str, secret: Option<&str>| {
        let at = by_socket(server, who, schema);
        let mut home = machine(&url, &key, &at);
        if let Some(secret) = secret {
            home.add_config("fingerprint_key = { env = \"DESK_KEY\" }\n");
            home.set("DESK_KEY", secret);
        }
        home
    };
    let ana = person("desk", Some(&secret));
    ana.exits(0, "directory init").await;
    for (who, role) in [("vera", "viewer"), ("olaf", "operator")] {
        let granted = ana.json(0, &format!("directory grant {who} {role}")).await;
        assert_eq!(granted["role"], role);
    }
    let create = "create acme --name Acme --map 7=1 --yes";
    ana.exits(0, create).await;
    let count = "SELECT count(*) FROM fingerprint_key";
    assert_eq!(server.execute(schema, count), "0");
    let dump = server.dump(schema);
    assert!(!dump.contains(&secret), "the key is in the database");

    let olaf = person("olaf", Some(&secret));
    olaf.exits(0, "rotate acme --yes --reason leaked").await;
    let audited = olaf.json(0, "audit acme --by olaf --since 1h").await;
    assert!(each(&audited, "by").len() >= 3, "{audited}");
    let unknown = olaf.exits(3, "audit acmee").await;
    unknown.says("did you mean \"acme\"?");
    let history = olaf.json(0, "history acme").await;
    let by = history[0]["by"].as_str().expect("who");
    assert!(by == "olaf" || by.starts_with("olaf@"), "{by}");
    let another = "0e".repeat(32);
    for (wrong, words) in [
        (Some(&*another), "a different fingerprint key"),
        (Some("short"), "64 hexadecimal"),
        (None, "fingerprint_key"),
    ] {
        let refused = person("olaf", wrong).exits(8, "list").await;
        refused.says(words).hides(wrong.unwrap_or("0e0e"));
    }

    // A viewer needs neither key, nor a place where one would be.
    let vera = person("vera", None);
    let config = vera.config();
    let lines = config.lines().filter(|line| !line.starts_with("api_key"));
    vera.write("config.toml", &lines.collect::<Vec<_>>().join("\n"));
    let seen = vera.json(0, "list").await;
    assert_eq!(each(&seen, "user_group_id"), ["acme"]);
    vera.exits(0, "history acme").await;
    let doctor = vera.run("doctor").await;
    doctor.shows("a viewer of the directory needs none");
    // One that is configured all the same is not read.
    let without = vera.config();
    let ran = vera.path("ran").display().to_string();
    let command = format!("api_key = {{ command = [\"touch\", \"{ran}\"] }}");
    let config = without.replace("[profiles.live]", &format!("[profiles.live]\n{command}"));
    vera.write("config.toml", &config);
    vera.run("doctor").await.shows("not read: you are a viewer");
    for command in [
        "profile check live",
        "profile bind live --same-environment",
        "profile unbind live",
    ] {
        vera.exits(8, command).await.says("operator");
    }
    assert!(!vera.path("ran").exists());
    vera.write("config.toml", &without);
    for change in [
        create,
        "rotate acme --yes",
        "note acme x",
        "get acme",
        "get acme --dry-run",
    ] {
        vera.exits(8, change).await.says("operator");
    }
    // With a second environment at the address, her profile has to be named like one of them.
    server.execute(
        schema,
        "INSERT INTO places (name, made_at, made_by) VALUES ('second', 1, 'desk'); \
         INSERT INTO place_urls (place, url) SELECT p.number, u.url FROM places p, place_urls u WHERE p.name = 'second'",
    );
    let renamed = vera.config().replace("[profiles.live]", "[profiles.mine]");
    vera.write("config.toml", &renamed);
    let nothing = vera.exits(0, "list").await;
    nothing.says("rename the profile in the configuration file to live");
    assert_lacks(&nothing.err, "api_key");
}

/// The list of copied tables agrees with the tables of the schema.
#[test]
fn every_table_is_copied_or_belongs_to_the_server_alone() {
    let text = include_str!("../../../assets/migrations/directory/postgres/0020_begin.sql");
    let copy = include_str!("../../../src/directory/copy.rs");
    let tables = text
        .lines()
        .filter_map(|line| line.strip_prefix("CREATE TABLE "));
    for table in tables.map(|rest| rest.trim_end_matches(" (")) {
        let is_own = [
            "schema_versions",
            "fingerprint_key",
            "installation",
            "writes",
            "audit",
        ]
        .contains(&table);
        let is_copied = copy.contains(&format!("    \"{table}\",\n"));
        assert!(is_own != is_copied, "{table}");
    }
}

/// Whoever runs the database, with or without all rights there, gets none in the directory.
#[tokio::test]
async fn a_database_administrator_can_set_it_up_by_hand() {
    let Some(server) = postgres::server() else {
        return;
    };
    server.execute(
        "public",
        "CREATE ROLE dba LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO dba; \
         CREATE ROLE arno LOGIN; CREATE ROLE bruno LOGIN",
    );
    for who in ["postgres", "dba"] {
        let schema = format!("by_hand_of_{who}");
        let section = by_socket(server, "arno", &schema);
        let arno = machine("http://127.0.0.1:9", "key", &section);
        let printed = arno.exits(0, "directory init --print").await;
        server.execute_as(who, "public", &printed.out);
        let status = arno.json(0, "directory status").await;
        assert_eq!(status["role"], json!("admin"), "{status}");
        arno.exits(0, "directory grant bruno viewer").await;
        let is_member = format!(
            "SELECT count(*) FROM pg_auth_members WHERE member = '{who}'::regrole AND roleid::regrole::text LIKE '{schema}%'"
        );
        assert_eq!(server.execute("public", &is_member), "0", "{who}");
    }
}
