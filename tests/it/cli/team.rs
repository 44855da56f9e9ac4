//! Two people on two machines with one shared directory on PostgreSQL, with the shipped binary.

use std::path::Path;

use serde_json::{Value, json};

use super::program::{Background, Home};
use crate::support::{
    assertions::assert_has,
    bare::args,
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
    let profile = std::fs::read_to_string(home.path("config.toml")).expect("written");
    home.write("config.toml", &format!("{profile}\n{directory}"));
    home
}

/// The configuration without the lines that say where API keys are.
fn without_api_key(config: &str) -> String {
    let lines = config.lines().filter(|line| !line.starts_with("api_key"));
    lines.collect::<Vec<_>>().join("\n") + "\n"
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
    let database = home.database();
    let key = home
        .key(&args("--environment production --tag Customer"))
        .await;
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database", &database];
    let mut serving = Background::start(home.command(&serve));
    let line = serving.line().await;
    let url = line
        .strip_prefix("listening on ")
        .and_then(|url| url.strip_suffix("/api/user"));
    let url = url.expect("an address").to_owned();
    (serving, url, key)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_share_a_directory_from_setup_to_a_rotation() {
    let Some(server) = postgres::server() else {
        return;
    };
    let schema = "shared_by_two";
    server.execute("public", "CREATE ROLE ben LOGIN; CREATE ROLE cleo LOGIN");
    let home = Home::new();
    let (_serving, url, key) = service(&home).await;
    let ana = machine(&url, &key, &by_socket(server, "desk", schema));
    let ben = machine(&url, &key, &by_socket(server, "ben", schema));
    let profiles = std::fs::read_to_string(ben.path("config.toml")).expect("written");
    ben.write(
        "config.toml",
        &profiles.replace("[profiles.live]", "[profiles.mine]"),
    );

    let early = ana.run(&["list"]).await;
    assert_eq!(early.code, 8, "{}", early.err);
    assert_has(&early.err, "groupdesk directory init");
    assert_eq!(ana.run(&["directory", "init"]).await.code, 0);
    let again = ana.run(&["directory", "init"]).await;
    assert!(
        again.err.contains("already has this schema"),
        "{}",
        again.err
    );

    let refused = ben.run(&["list"]).await;
    assert_eq!(refused.code, 8, "{}", refused.err);
    assert_has(&refused.err, "groupdesk directory grant");
    assert_eq!(
        ana.run(&["directory", "grant", "ben", "operator"])
            .await
            .code,
        0
    );
    let nobody = ana.run(&["directory", "grant", "bne", "operator"]).await;
    assert_has(&nobody.err, "CREATE ROLE bne LOGIN");

    // A role that may only work is warned by the server at most.
    for change in [
        &["revoke", "ben"][..],
        &["grant", "cleo", "operator"],
        &["revoke", "public"],
    ] {
        let refused = ben.run(&[&["directory"][..], change].concat()).await;
        assert_eq!(refused.code, 8, "{change:?}: {}", refused.out);
    }
    let create = ["create", "acme", "--name", "Acme", "--map", "7=1", "--yes"];
    let created = ana.run(&create).await;
    assert_eq!(created.code, 0, "{}", created.err);
    let seen = ben.json(0, &["list"]).await;
    assert_eq!(seen[0]["user_group_id"], json!("acme"));
    let rotated = ben.run(&args("rotate acme --yes --reason leaked")).await;
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    let history = ana.json(0, &["history", "acme"]).await;
    let text = history.to_string();
    assert!(text.contains("rotat") && text.contains("leaked"), "{text}");
    assert_common_place_names(&ana, &ben).await;
    for (home, who) in [(&ana, "desk"), (&ben, "ben")] {
        let status = home.json(0, &["directory", "status"]).await;
        assert_eq!(status["kind"], json!("team"));
        assert_eq!(status["user"], json!(who));
        assert_eq!(status["open_rotations"], json!([]));
        assert!(!home.path(".local/share/groupdesk/directory.db").exists());
        let report = home.run(&["doctor", "--json"]).await;
        let report: Value = serde_json::from_str(&report.out).expect("JSON");
        let findings = report["findings"].as_array().expect("findings").iter();
        let wrong: Vec<_> = findings
            .filter(|finding| finding["area"] == "directory" && finding["severity"] == "problem")
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    // Each sees what the other does.
    let follow = ["history", "--follow", "--limit", "1", "-o", "jsonl"];
    let mut following = Background::start(ana.command(&follow));
    following.line().await;
    let mut watching = Background::start(ana.command(&["list", "--watch", "-o", "jsonl"]));
    watching.line().await;
    let renamed = ben.run(&[
        "update",
        "acme",
        "--name",
        "Acme 2",
        "--yes",
        "--replace-mapping",
    ]);
    let renamed = renamed.await;
    assert_eq!(renamed.code, 0, "{}", renamed.err);
    let line = following.line().await;
    assert!(line.contains("Acme 2") && line.contains("\"ben"), "{line}");
    // The read before the update may be listed by itself.
    while !watching.line().await.contains("Acme 2") {}
    // The history cannot be changed, whoever tries.
    let psql = format!("SET ROLE ben; SET search_path = {schema}");
    for text in [
        "DELETE FROM history",
        "UPDATE fingerprint_key SET key = key",
        "DROP TABLE history",
    ] {
        server.execute(
            "public",
            &format!("{psql}; DO $$ BEGIN {text}; RAISE 'it was done'; EXCEPTION WHEN OTHERS THEN IF SQLERRM = 'it was done' THEN RAISE; END IF; END $$"),
        );
    }
    let backup = ana.run(&["directory", "backup", "copy.db"]).await;
    assert!(
        backup.code == 2 && backup.err.contains("pg_dump"),
        "{}",
        backup.err
    );
    assert_eq!(ana.run(&["directory", "revoke", "ben"]).await.code, 0);
    assert_eq!(ben.run(&["list"]).await.code, 8);
}

/// Two people have their own names for a place. The output also has the common name that all of them know.
async fn assert_common_place_names(ana: &Home, ben: &Home) {
    let renamed = ana.run(&["environment", "rename", "live", "europe"]).await;
    assert_eq!(renamed.code, 0, "{}", renamed.err);
    for (home, profile) in [(ana, "live"), (ben, "mine")] {
        for command in [
            &["list"][..],
            &["show", "acme"],
            &["show", "acme", "acme"],
            &["get", "acme"],
            &["history"],
            &["history", "--by-operation"],
            &["rotations"],
        ] {
            let printed = home.json(0, command).await;
            let first = printed.get(0).unwrap_or(&printed);
            assert_eq!(
                first["environment"],
                json!("europe"),
                "{profile} {command:?}: {printed}"
            );
        }
        for form in ["csv", "jsonl"] {
            let lines = home.run(&["history", "-o", form]).await;
            assert_eq!(lines.code, 0, "{}", lines.err);
            let (place, count) = ("europe", lines.out.matches("europe").count());
            let wanted = lines.out.lines().count() - usize::from(form == "csv");
            assert_eq!(count, wanted, "{place}: {}", lines.out);
        }
    }
    let history = ana.json(0, &["history"]).await;
    let profiles: Vec<_> = history
        .as_array()
        .expect("lines")
        .iter()
        .map(|line| &line["profile"])
        .collect();
    assert!(
        profiles.contains(&&json!("live")) && profiles.contains(&&json!("mine")),
        "{history}"
    );
    let back = ana.run(&["environment", "rename", "europe", "live"]).await;
    assert_eq!(back.code, 0, "{}", back.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_directory_is_copied_into_that_of_a_team() {
    let Some(server) = postgres::server() else {
        return;
    };
    let home = Home::new();
    let (_serving, url, key) = service(&home).await;
    let at = by_socket(server, "desk", "moved_in");
    let ana = machine(&url, &key, &at);
    let file = ana.path("alone.db").display().to_string();
    let alone = |arguments: &[&'static str]| [&["--directory", "alone.db"][..], arguments].concat();
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        &["create", "acme", "--name", "Acme \u{1F980}", "--map", "7=1", "--yes"][..],
        &["create", "globex", "--property", "tier=\"gold\"", "--yes"],
        &["rotate", "acme", "--yes", "--reason", "leaked"],
        &["note", "acme", "the one with the crab"],
        &["label", "globex", "--add", "vip"],
    ];
    for command in table {
        let ran = ana.run(&alone(command)).await;
        assert_eq!(ran.code, 0, "{command:?}: {}", ran.err);
    }
    assert_eq!(ana.run(&["directory", "init"]).await.code, 0);
    // A rotation that was sent an hour ago, and killed then.
    let raw = rusqlite::Connection::open(ana.path("alone.db")).expect("a connection");
    let killed = "UPDATE rotations SET state = 'sent', boot_clock = NULL, \
        started_at = started_at - 3600000000, sent_at = sent_at - 3600000000";
    assert_eq!(raw.execute(killed, []).expect("SQL"), 1);
    drop(raw);
    let refused = ana.run(&["directory", "copy", &file]).await;
    assert_eq!(refused.code, 3, "{}", refused.err);
    let told = format!("1 change in {file} may be in progress; nothing was copied");
    assert_has(&refused.err, &told);
    assert_has(
        &refused.err,
        &format!("groupdesk --directory {file} rotations check"),
    );
    let settled = ana.run(&alone(&["rotations", "check"])).await;
    assert_eq!(settled.code, 0, "{}", settled.err);
    let copied = ana.json(0, &["directory", "copy", &file]).await;
    assert_eq!(copied["rows"]["user_groups"], json!(2), "{copied}");
    for told in [
        &["list"][..],
        &["show", "acme"],
        &["history"],
        &["rotations"],
        &["batches", "list"],
        &["note", "acme"],
        &["environment", "list"],
    ] {
        let before = ana.json(0, &alone(told)).await;
        assert_eq!(ana.json(0, told).await, before, "{told:?}");
    }
    // New rows get new numbers.
    let rotated = ana.run(&["rotate", "acme", "--yes"]).await;
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    let rotations = ana.json(0, &["rotations"]).await;
    assert_eq!(rotations.as_array().expect("rotations").len(), 2);
    // More rows than are copied in one step.
    let many: Vec<_> = (0..700).map(|number| format!("many-{number}\n")).collect();
    ana.write("many.csv", &format!("user_group_id\n{}", many.concat()));
    let imported = ana.run(&["import", "many.csv", "--yes"]).await;
    assert_eq!(imported.code, 0, "{}", imported.err);
    let listed = ana.json(0, &["list"]).await;
    assert_eq!(listed.as_array().expect("groups").len(), 702);
    let exported = ana.run(&["export"]).await;
    assert_eq!(
        (exported.code, exported.out.matches("many-").count()),
        (0, 700)
    );
    let again = ana.run(&["directory", "copy", &file]).await;
    assert!(
        again.code == 8 && again.err.contains("is not empty"),
        "{}",
        again.err
    );
    let url = at.lines().find_map(|line| line.strip_prefix("url = \""));
    let url = url
        .and_then(|url| url.strip_suffix('"'))
        .expect("an address");
    let back = ana.json(0, &["directory", "copy", url, "back.db"]).await;
    assert_eq!(back["rows"]["user_groups"], json!(702), "{back}");
    let there = ana.run(&["directory", "copy", url, "back.db"]).await;
    assert!(
        there.code == 2 && there.err.contains("already exists"),
        "{}",
        there.err
    );
    let told = [
        &["list"][..],
        &["history"],
        &["rotations"],
        &["label", "globex"],
        &["environment", "list"],
    ];
    for told in told {
        let here = ana.json(0, told).await;
        let in_file = [&["--directory", "back.db"][..], told].concat();
        assert_eq!(ana.json(0, &in_file).await, here, "{told:?}");
    }
    // After the move all of it is in the new directory, and the old one is refused here.
    let moved = ana.json(0, &["directory", "move", url, "moved.db"]).await;
    assert_eq!(moved["rows"], back["rows"]);
    let status = ana.json(0, &["directory", "status"]).await;
    assert!(
        status["moved_to"]
            .as_str()
            .is_some_and(|to| to.ends_with("moved.db")),
        "{status}"
    );
    let late = ana.run(&["note", "acme", "too late"]).await;
    assert!(
        late.code == 8 && late.err.contains("moved.db"),
        "{} {}",
        late.code,
        late.err
    );
    let listed = ana.run(&["list"]).await;
    assert_eq!(listed.code, 0, "it can be read");
    assert_has(&listed.err, "the directory was moved to");
    let report = ana.run(&["doctor"]).await;
    assert!(report.out.contains("it was moved to"), "{}", report.out);
    assert_eq!(report.code, 8, "{}", report.out);
    let noted = ana
        .run(&["--directory", "moved.db", "note", "acme", "in time"])
        .await;
    assert_eq!(noted.code, 0, "{}", noted.err);
    let elsewhere = by_socket(server, "desk", "moved_again");
    let other = machine(&url_of(&ana), &key, &elsewhere);
    assert_eq!(other.run(&["directory", "init"]).await.code, 0);
    let file = ana.path("moved.db").display().to_string();
    let moved = other.run(&["directory", "move", &file]).await;
    assert_eq!(moved.code, 0, "{}", moved.err);
    let refused = ana.run(&["--directory", "moved.db", "list"]).await;
    assert!(
        refused.code == 2 && refused.err.contains("moved_again"),
        "{} {}",
        refused.code,
        refused.err
    );
    let noted = other.json(0, &["note", "acme"]).await;
    assert!(noted.to_string().contains("in time"), "{noted}");
    let missing = ana.run(&["directory", "copy", "nothing.db"]).await;
    assert!(
        missing.code == 2 && missing.err.contains("does not exist"),
        "{}",
        missing.err
    );
}

/// The address of the service that this machine uses.
fn url_of(home: &Home) -> String {
    let file = std::fs::read_to_string(home.path("config.toml")).expect("written");
    let line = file
        .lines()
        .find_map(|line| line.strip_prefix("base_url = \""));
    line.and_then(|url| url.strip_suffix('"'))
        .expect("an address")
        .to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_lists_without_keys_and_the_fingerprint_key_can_be_stored_elsewhere() {
    let Some(server) = postgres::server() else {
        return;
    };
    let schema = "looked_at";
    server.execute("public", "CREATE ROLE vera LOGIN; CREATE ROLE olaf LOGIN");
    let home = Home::new();
    let (_serving, url, key) = service(&home).await;
    let outside = "fingerprint_key = { env = \"DESK_KEY\" }\n";
    let secret = "0f".repeat(32);
    let person = |who: &str, secret: Option<&str>| {
        let at = by_socket(server, who, schema);
        let mut home = machine(
            &url,
            &key,
            &match secret {
                Some(_) => format!("{at}{outside}"),
                None => at,
            },
        );
        if let Some(secret) = secret {
            home.set("DESK_KEY", secret);
        }
        home
    };
    let ana = person("desk", Some(&secret));
    assert_eq!(ana.run(&["directory", "init"]).await.code, 0);
    for (who, role) in [("vera", "viewer"), ("olaf", "operator")] {
        let granted = ana.json(0, &["directory", "grant", who, role]).await;
        assert_eq!(granted["role"], json!(role));
    }
    let create = ["create", "acme", "--name", "Acme", "--map", "7=1", "--yes"];
    let created = ana.run(&create).await;
    assert_eq!(created.code, 0, "{}", created.err);
    let count = "SELECT count(*) FROM fingerprint_key";
    assert_eq!(server.execute(schema, count), "0");
    let dump = server.dump(schema);
    assert!(!dump.contains(&secret), "the key is in the database");

    let olaf = person("olaf", Some(&secret));
    let rotated = olaf.run(&args("rotate acme --yes --reason leaked")).await;
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    let audited = olaf.json(0, &args("audit acme --by olaf --since 1h")).await;
    assert!(
        audited.as_array().is_some_and(|lines| lines.len() >= 3),
        "{audited}"
    );
    let history = olaf.json(0, &["history", "acme"]).await;
    let by = history[0]["by"].as_str().expect("who");
    assert!(by == "olaf" || by.starts_with("olaf@"), "{by}");
    for (wrong, words) in [
        (Some("0e".repeat(32)), "another fingerprint key"),
        (Some("short".into()), "64 hexadecimal"),
        (None, "fingerprint_key"),
    ] {
        let refused = person("olaf", wrong.as_deref()).run(&["list"]).await;
        assert!(
            refused.code == 8 && refused.err.contains(words),
            "{} {}",
            refused.code,
            refused.err
        );
        assert!(
            wrong.is_none_or(|wrong| !refused.err.contains(&wrong)),
            "{}",
            refused.err
        );
    }

    // A viewer needs neither key, nor a place where one would be.
    let vera = person("vera", None);
    let config = std::fs::read_to_string(vera.path("config.toml")).expect("written");
    vera.write("config.toml", &without_api_key(&config));
    let seen = vera.json(0, &["list"]).await;
    assert_eq!(seen[0]["user_group_id"], json!("acme"));
    assert_eq!(vera.run(&["history", "acme"]).await.code, 0);
    let doctor = vera.run(&["doctor"]).await;
    assert!(
        doctor.out.contains("a viewer of the directory needs none"),
        "{}",
        doctor.out
    );
    for change in [
        &create[..],
        &["rotate", "acme", "--yes"],
        &["note", "acme", "x"],
        &["get", "acme"],
        &["get", "acme", "--dry-run"],
    ] {
        let refused = vera.run(change).await;
        assert!(
            refused.code == 8 && refused.err.contains("operator"),
            "{change:?}: {} {}",
            refused.code,
            refused.err
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_and_ids_are_listed_in_natural_order_in_a_file_and_on_a_server() {
    let nobody = "http://127.0.0.1:9";
    let mut homes = vec![machine(nobody, "key", "")];
    if let Some(server) = postgres::server() {
        let home = machine(nobody, "key", &by_socket(server, "desk", "in_order"));
        assert_eq!(home.run(&["directory", "init"]).await.code, 0);
        homes.push(home);
    }
    for home in homes {
        let rows = "user_group_id,name\ng114,Acme 114\ng12,acme 12\ng2,ACME 2\nG3,\ng10,Zoo\n";
        let file = home.write("groups.csv", rows);
        let imported = home.run(&["import", &file]).await;
        assert_eq!(imported.code, 0, "{}", imported.err);
        let by_id = ["G3", "g2", "g10", "g12", "g114"];
        let by_name = ["g2", "g12", "g114", "G3", "g10"];
        for (order, expected) in [
            ("list", &by_id[..]),
            ("list --sort id", &by_id),
            ("list --sort name", &by_name),
            ("list --sort name --limit 2", &by_name[..2]),
            ("list --sort id --filter g1", &by_id[2..]),
            ("list --sort name --filter acme", &by_name[..3]),
        ] {
            for reverse in [false, true] {
                let mut expected: Vec<_> = expected.to_vec();
                let mut arguments = args(order);
                if reverse {
                    arguments.push("--reverse");
                    expected.reverse();
                    if order.contains("limit") {
                        expected = vec![by_name[4], by_name[3]];
                    }
                }
                let listed = home.json(0, &arguments).await;
                let ids = listed.as_array().expect("a list").iter();
                let ids: Vec<_> = ids
                    .filter_map(|group| group["user_group_id"].as_str())
                    .collect();
                assert_eq!(ids, expected, "{arguments:?}");
            }
        }
    }
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
        let printed = arno.run(&["directory", "init", "--print"]).await;
        assert_eq!(printed.code, 0, "{}", printed.err);
        server.execute_as(who, "public", &printed.out);
        let status = arno.json(0, &["directory", "status"]).await;
        assert_eq!(status["role"], json!("admin"), "{status}");
        let granted = arno.run(&["directory", "grant", "bruno", "viewer"]).await;
        assert_eq!(granted.code, 0, "{}", granted.err);
        let is_member = format!(
            "SELECT count(*) FROM pg_auth_members WHERE member = '{who}'::regrole AND roleid::regrole::text LIKE '{schema}%'"
        );
        assert_eq!(server.execute("public", &is_member), "0", "{who}");
    }
}
