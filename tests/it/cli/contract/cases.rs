//! The cases: every command, in worlds in which every field of its output occurs once.

use secrecy::SecretString;
use serde_json::{Value, json};

use super::{Contract, pin};
use crate::support::{assertions::assert_has, bare::args};
use crate::{
    cli::{
        guards::{group, knowing_acme},
        handoff::{scene, set_script},
        program::{Background, Home},
        promote::two,
    },
    support::{faults::Fault, postgres, service::Caller},
};

#[tokio::test]
async fn every_command_prints_the_json_that_is_described() {
    let mut home = Home::new();
    let mut contract = Contract::of(&home).await;
    let c = &mut contract;

    let mut held = Background::start(home.command(&["demo", "--hold", "--json"]));
    let demo = c.take("demo --hold", "demo --hold", &held.line().await);
    for (name, key) in [
        ("GROUPDESK_CONFIG", "config"),
        ("GROUPDESK_DIRECTORY", "directory"),
    ] {
        home.set(name, demo[0][key].as_str().expect("a path"));
    }
    groups(c, &home).await;
    pin("json_groups", c);
    exchange(c, &home).await;
    pin("json_exchange", c);
    rotations(c).await;
    pin("json_rotations", c);
    profiles(c).await;
    pin("json_profiles", c);
    itself(c, &home).await;
    pin("json_itself", c);
    let open = ["history", "--open"];
    c.case(&home, 0, "history [ID] --open", &open).await;
    let facts = ["profile", "behaviour"];
    c.case(&home, 0, "profile behaviour [NAME]", &facts).await;
    let mut left_out = team(c).await;
    // The kernel of a container often has no keyring.
    left_out.extend(if c.commands.contains("profile key NAME") {
        // No change is open in these worlds.
        &["change"][..]
    } else {
        &["profile key NAME", "profile-key", "change"]
    });
    c.assert_complete(&left_out);
}

/// What exists only on PostgreSQL. Returns the shapes that cannot be met.
async fn team(c: &mut Contract) -> Vec<&'static str> {
    let Some(server) = postgres::server() else {
        return vec![
            "directory init [URL]",
            "directory copy FROM [TO]",
            "directory move FROM [TO]",
            "serve init",
            "service-set-up",
            "directory status",
            "directory migrate",
            "audit [ID]",
            "directory-migrated",
            "audited",
            "directory members",
            "directory grant NAME ROLE",
            "directory revoke NAME",
            "directory-set-up",
            "directory-copied",
            "directory-status",
            "directory-right",
        ];
    };
    server.execute("public", "CREATE ROLE dora LOGIN");
    let mut home = Home::new();
    let folder = server.folder().display().to_string().replace('/', "%2F");
    let storage = format!("postgres://desk@{folder}/postgres");
    for more in [
        &["--role", "dora"][..],
        &["--storage-schema", "contract_alone"],
    ] {
        let init = [&["serve", "init", "--storage", &storage][..], more].concat();
        c.case(&home, 0, "serve init", &init).await;
    }
    let config = format!(
        "[directory]\nurl = \"postgres://desk@{folder}/postgres\"\nschema = \"contract\"\n"
    );
    let config = home.write("config.toml", &config);
    home.set("GROUPDESK_CONFIG", config);
    let file = ["directory", "status", "--directory", "alone.db"];
    c.case(&home, 0, "directory status", &file).await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("directory init [URL]", &["directory", "init"][..]),
        ("directory copy FROM [TO]", &["directory", "copy", "alone.db"]),
        ("directory status", &["directory", "status"]),
        ("directory move FROM [TO]", &["directory", "move", &storage, "back.db"]),
        ("directory grant NAME ROLE", &["directory", "grant", "dora", "operator"]),
        ("directory members", &["directory", "members"]),
        ("directory revoke NAME", &["directory", "revoke", "dora"]),
        ("directory migrate", &["directory", "migrate"]),
        ("audit [ID]", &["audit"]),
    ];
    for (typed, arguments) in table {
        c.case(&home, 0, typed, arguments).await;
    }
    // No change is open there.
    vec!["directory-status"]
}

async fn groups(c: &mut Contract, home: &Home) {
    c.case(home, 0, "list", &["list"]).await;
    c.case(home, 0, "show ID", &["show", "acme-eu"]).await;
    let got = c
        .case(home, 0, "get ID", &["get", "acme-eu", "--reveal"])
        .await;
    let token = got[0]["token"].as_str().expect("a token").to_owned();
    c.case_with(home, 0, "whose", &["whose"], &token).await;
    let change = args("--name New --map 40=213 --property tier=\"gold\"");
    let create = [&["create", "new-1"][..], &change].concat();
    let dry = [&create[..], &["--dry-run"]].concat();
    c.case(home, 0, "create ID --dry-run", &dry).await;
    let curl = [&dry[..], &["--curl"]].concat();
    c.case(home, 0, "create ID --dry-run", &curl).await;
    let yes = [&create[..], &["--yes"]].concat();
    c.case(home, 0, "create ID", &yes).await;
    let update = ["update", "new-1", "--unmap", "40", "--map", "7=x"];
    let dry = [&update[..], &["--dry-run"]].concat();
    c.case(home, 0, "update ID --dry-run", &dry).await;
    let yes = [&update[..], &["--yes"]].concat();
    c.case(home, 0, "update ID", &yes).await;
    let two = ["new-1", "acme-eu"];
    let show = [&["show"][..], &two].concat();
    c.case(home, 0, "show, of several groups", &show).await;
    let get = [&["get", "--concurrency", "1"][..], &two].concat();
    c.case(home, 0, "get, of several groups", &get).await;
    edits(c, home).await;
    let note = ["note", "new-1", "call first"];
    c.case(home, 0, "note ID", &note).await;
    let label = ["label", "new-1", "--add", "vip"];
    c.case(home, 0, "label ID", &label).await;
    let columns = "+note,+labels,+favourite";
    let listed = ["list", "--filter", "new-1", "--columns", columns];
    c.case(home, 0, "list", &listed).await;
    c.case(home, 0, "attention", &["attention", "--all"]).await;
    c.case(home, 0, "history [ID]", &["history", "new-1"]).await;
    let operations = ["history", "--by-operation", "--operation", "rotate"];
    c.case(home, 0, "history [ID] --by-operation", &operations)
        .await;
    let diff = ["history", "diff", "new-1"];
    c.case(home, 0, "history diff NUMBER", &diff).await;
    for (more, command) in [
        ("--dry-run", "history restore NUMBER --dry-run"),
        ("--yes", "history restore NUMBER"),
    ] {
        let restore = ["history", "restore", "new-1", "--replace-mapping", more];
        c.case(home, 0, command, &restore).await;
    }
    let mark = ["favourite", "new-1", "--add"];
    c.case(home, 0, "favourite ID", &mark).await;
    c.case(home, 3, "any command that fails", &["get", "acme-eux"])
        .await;
    c.case(home, 2, "any command that fails", &["lst"]).await;
}

/// A bulk edit: checked, applied, retried and reversed.
async fn edits(c: &mut Contract, home: &Home) {
    let from = home.write("edit.txt", "new-1\nnobody\n");
    let edit = [
        "update", "--from", &from, "--map", "7=y", "--reason", "moved",
    ];
    let dry = [&edit[..], &["--dry-run"]].concat();
    c.case(home, 6, "update, of many groups --dry-run", &dry)
        .await;
    let yes = [&edit[..], &["--yes"]].concat();
    let ran = c.case(home, 6, "update, of many groups", &yes).await;
    let batch = ran[0]["batch"].to_string();
    let check = ["batches", "check", &batch];
    c.case(home, 0, "batches check BATCH", &check).await;
    for (word, command, code) in [
        ("reverse", "batches reverse BATCH", 0),
        ("retry", "batches retry BATCH", 0),
    ] {
        let again = ["batches", word, &batch, "--dry-run"];
        c.case(home, code, &format!("{command} --dry-run"), &again)
            .await;
        let again = ["batches", word, &batch, "--yes"];
        c.case(home, code, command, &again).await;
    }
}

async fn exchange(c: &mut Contract, home: &Home) {
    let all = ["get", "--refresh-all", "--concurrency", "1"];
    let dry = [&all[..], &["--dry-run"]].concat();
    c.case(home, 0, "get --refresh-all --dry-run", &dry).await;
    c.case(home, 0, "get --refresh-all", &all).await;
    let rows = "user_group_id,name,mapping,properties\nacme-eu,Acme 2,,\nrow-1,Row 1,\"{\"\"40\"\":\"\"1\"\"}\",{}\n";
    let file = home.write("rows.csv", rows);
    let wrong = home.write("wrong.csv", "user_group_id,name\n,nobody\n");
    c.case(home, 0, "import FILE", &["import", &file]).await;
    let send = [
        "import",
        &file,
        "--create",
        "--update",
        "--concurrency",
        "1",
    ];
    let dry = [&send[..], &["--dry-run"]].concat();
    c.case(home, 0, "import FILE --create --update --dry-run", &dry)
        .await;
    let yes = [&send[..], &["--yes"]].concat();
    c.case(home, 0, "import FILE --create --update", &yes).await;
    let command = "import FILE and apply PATH, where rows are wrong";
    c.case(home, 2, command, &["import", &wrong]).await;
    c.case(home, 2, command, &["apply", &wrong]).await;
    let wanted = home.write(
        "wanted.json",
        r#"[{"user_group_id": "acme-eu", "name": "Acme 3"}]"#,
    );
    let dry = ["apply", &wanted, "--dry-run", "--prune-report"];
    c.case(home, 0, "apply PATH --dry-run", &dry).await;
    c.case(home, 0, "apply PATH", &["apply", &wanted, "--yes"])
        .await;
    c.case(home, 0, "export", &["export"]).await;
    annotated(c, home).await;
    promoted(c).await;
}

/// Copying between two profiles, and with an editor.
async fn promoted(c: &mut Contract) {
    let (home, _serving) = two().await;
    let copy = ["-P", "testing", "copy", "acme", "--to", "live"];
    let dry = [&copy[..], &["--dry-run"]].concat();
    c.case(&home, 0, "copy ID --to PROFILE --dry-run", &dry)
        .await;
    let yes = [&copy[..], &["--map", "40=1", "--yes"]].concat();
    c.case(&home, 0, "copy ID --to PROFILE", &yes).await;
    let diff = ["-P", "testing", "diff", "acme", "--with", "live"];
    c.case(&home, 10, "diff ID --with PROFILE", &diff).await;
    let wanted = home.write("w.json", r#"[{"user_group_id": "acme", "name": "Other"}]"#);
    let diff = ["-P", "testing", "diff", &wanted];
    c.case(&home, 10, "diff FILE", &diff).await;
    for (more, command) in [("--dry-run", "edit ID --dry-run"), ("--yes", "edit ID")] {
        let edit = ["-P", "testing", "edit", "acme", more];
        c.case(&home, 0, command, &edit).await;
    }
}

async fn annotated(c: &mut Contract, home: &Home) {
    let columns = "+note,+labels,+favourite";
    let rows = home.write(
        "notes.csv",
        "user_group_id,note,labels,favourite\nrow-1,call first,vip,true\nnew-1,other,,\n",
    );
    for more in [&["--dry-run"][..], &[]] {
        c.case(home, 0, "import FILE", &[&["import", &rows], more].concat())
            .await;
    }
    let chosen = ["export", "--columns", columns];
    c.case(home, 0, "export", &chosen).await;
    let more = home.write(
        "more.csv",
        "user_group_id,note,labels\nrow-1,call Li,vip sso\nnew-1,other,\n",
    );
    let create = ["import", &more, "--create", "--dry-run"];
    let command = "import FILE --create --update --dry-run";
    c.case(home, 0, command, &create).await;
    let odd = home.write("odd.csv", "user_group_id,name\nrow-11,#REF!\n");
    let create = ["import", &odd, "--create", "--dry-run"];
    c.case(home, 0, command, &create).await;
    let dry = ["import", &odd, "--dry-run"];
    c.case(home, 0, "import FILE", &dry).await;
    let dry = ["apply", &more, "--dry-run"];
    c.case(home, 0, "apply PATH --dry-run", &dry).await;
    let yes = ["apply", &more, "--yes", "--concurrency", "1"];
    c.case(home, 0, "apply PATH", &yes).await;
}

async fn rotations(c: &mut Contract) {
    let (home, _serving) = scene("cat > $1/in; echo stored >&2").await;
    let dry = ["rotate", "acme", "--dry-run"];
    c.case(&home, 0, "rotate ID --dry-run", &dry).await;
    let rotate = ["rotate", "acme", "--yes", "--reveal", "--reason", "leaked"];
    c.case(&home, 0, "rotate ID", &rotate).await;
    set_script(&home, "echo full >&2; exit 3");
    let again = ["rotate", "acme", "--yes", "--include-recent"];
    c.case(&home, 6, "rotate ID", &again).await;
    c.case(&home, 0, "rotations", &["rotations"]).await;
    for number in ["2", "99"] {
        let again = ["rotations", "handoff", number];
        c.case(&home, 6, "rotations handoff [ID]", &again).await;
    }
    let config = std::fs::read_to_string(home.path("config.toml")).expect("there");
    let second = config.replace("[profiles.live]", "[profiles.second]");
    home.write("config.toml", &format!("{config}{second}"));
    let elsewhere = ["--profile", "second", "rotations", "handoff", "--failed"];
    c.case(&home, 0, "rotations handoff [ID]", &elsewhere).await;
    home.write("config.toml", &config);
    set_script(&home, "cat > $1/in");
    for id in ["bulk-1", "bulk-2"] {
        home.json(0, &["create", id, "--yes"]).await;
    }
    let from = home.write("ids.txt", "bulk-1\nbulk-2\nnobody\n");
    let many = ["rotate", "--from", &from];
    let dry = [&many[..], &["--dry-run"]].concat();
    c.case(&home, 6, "rotate, of many groups --dry-run", &dry)
        .await;
    let yes = [&many[..], &["--yes", "--concurrency", "1"]].concat();
    c.case(&home, 6, "rotate, of many groups", &yes).await;
    c.case(&home, 0, "batches", &["batches"]).await;
    c.case(&home, 0, "batches list", &["batches", "list"]).await;
    c.case(&home, 0, "batches show BATCH", &["batches", "show", "1"])
        .await;
    let resume = ["batches", "resume", "1", "--yes"];
    c.case(&home, 0, "batches resume [BATCH]", &resume).await;

    // The answer is lost, and every read returns the old token.
    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    let unknown = ["rotate", "acme", "--yes"];
    c.case(&home, 7, "any command that fails", &unknown).await;
    let settle = ["rotations", "check"];
    c.case(&home, 7, "rotations check [ID]", &settle).await;
    let abandon = ["rotations", "abandon", "1", "--reason", "gone", "--yes"];
    c.case(&home, 0, "rotations abandon ID", &abandon).await;
}

async fn profiles(c: &mut Contract) {
    let mut home = Home::new();
    let database = home.database();
    let keys = ["serve", "keys"];
    let on = ["--database", &database];
    let make = [
        &keys[..],
        &["create", "--environment", "live", "--tag", "Customer"],
        &on,
    ]
    .concat();
    let made = c.case(&home, 0, "serve keys create", &make).await;
    let key = made[0]["key"].as_str().expect("a key").to_owned();
    let second = args("create --environment trial --read-only --expires 2126-01-31");
    c.case(
        &home,
        0,
        "serve keys create",
        &[&keys[..], &second, &on].concat(),
    )
    .await;
    let revoke = [&keys[..], &["revoke", "2"], &on].concat();
    c.case(&home, 0, "serve keys revoke ID", &revoke).await;
    for (command, list) in [("serve keys", &[][..]), ("serve keys list", &["list"])] {
        let list = [&keys[..], list, &on].concat();
        c.case(&home, 0, command, &list).await;
    }

    let serve = [
        &["serve", "--listen", "127.0.0.1:0", "--json"][..],
        &["--metrics", "127.0.0.1:0"],
        &on,
    ]
    .concat();
    let mut serving = Background::start(home.command(&serve));
    let serving_at = c.take("serve", "serve", &serving.line().await);
    let url = serving_at[0]["listening"].as_str().expect("a URL");
    let url = url
        .strip_suffix("/api/user")
        .expect("the usual path")
        .to_owned();

    let (mut logging, at) = home.serve_with(&["--access-log", "--log-ids"]).await;
    let caller = Caller::new(&at, &SecretString::from(key.clone()));
    caller.token_of("acme").await;
    c.take(
        "serve --access-log",
        "serve --access-log",
        &logging.line().await,
    );
    drop(logging);
    let used = [&keys[..], &["list"], &on].concat();
    c.case(&home, 0, "serve keys list", &used).await;
    let copy = home.path("service-copy.db").display().to_string();
    let backup = [&["serve", "backup", &copy][..], &on].concat();
    c.case(&home, 0, "serve backup FILE", &backup).await;
    let check = ["serve", "check", "--database", &copy];
    c.case(&home, 0, "serve check", &check).await;

    home.set(
        "GROUPDESK_CONFIG",
        home.path("added.toml").display().to_string(),
    );
    home.set("LIVE_KEY", key);
    let add = [
        "profile",
        "add",
        "eu",
        "--base-url",
        &url,
        "--api-key-env",
        "LIVE_KEY",
    ];
    c.case(&home, 0, "profile add NAME", &add).await;
    let check = ["profile", "check", "eu"];
    c.case(&home, 0, "profile check [NAME]", &check).await;
    let config = std::fs::read_to_string(home.path("added.toml")).expect("written");
    home.write(
        "added.toml",
        &format!(
            "{config}handoff = {{ command = [\"/bin/true\"] }}\n\
             guard = [{{ operation = \"bulk\", max = 5, reason = \"slowly\" }}]\n"
        ),
    );
    c.case(&home, 0, "profile show [NAME]", &["profile", "show", "eu"])
        .await;
    c.case(&home, 0, "profile list", &["profile", "list"]).await;
    c.case(&home, 0, "doctor", &["doctor"]).await;
    home.set("SECOND_KEY", "another-key");
    let with_second = std::fs::read_to_string(home.path("added.toml")).expect("written");
    home.write(
        "added.toml",
        &format!(
            "{with_second}\n[profiles.second]\nbase_url = \"{url}\"\napi_key = {{ env = \"SECOND_KEY\" }}\n"
        ),
    );
    let bind = ["profile", "bind", "second", "--new-environment"];
    c.case(&home, 0, "profile bind NAME", &bind).await;
    let unbind = ["profile", "unbind", "second"];
    c.case(&home, 0, "profile unbind NAME", &unbind).await;
    home.json(0, &["profile", "bind", "eu", "--new-environment"])
        .await;
    let raw = rusqlite::Connection::open(home.path(".local/share/groupdesk/directory.db"));
    let alarm = "INSERT INTO alarms (place, user_group_id, what, raised_at, raised_by) \
                 SELECT number, 'acme', 'the answer is tagged Customer', 0, 'ana' FROM places WHERE name = 'second'";
    raw.and_then(|raw| raw.execute(alarm, []))
        .expect("an alarm");
    let copy = ["directory", "backup", "copy.db"];
    c.case(&home, 0, "directory backup FILE", &copy).await;
    c.case(&home, 0, "environment list", &["environment", "list"])
        .await;
    c.case(
        &home,
        0,
        "environment show NAME",
        &["environment", "show", "second"],
    )
    .await;
    let looked = args("environment acknowledge second --reason seen --yes");
    c.case(&home, 0, "environment acknowledge NAME", &looked)
        .await;
    let rename = ["environment", "rename", "second", "third"];
    c.case(&home, 0, "environment rename NAME TO", &rename)
        .await;
    let merge = ["environment", "merge", "third", "eu", "--yes"];
    c.case(&home, 0, "environment merge NAME INTO", &merge)
        .await;
    let rename = ["profile", "rename", "second", "later"];
    c.case(&home, 0, "profile rename NAME TO", &rename).await;
    c.case(&home, 0, "config path", &["config", "path"]).await;
    let usual = Home::new();
    c.case(&usual, 0, "config path", &["config", "path"]).await;
    c.case(&home, 0, "config validate", &["config", "validate"])
        .await;
    home.set("EDITOR", "/bin/true");
    crate::cli::promote::editor(&mut home, "echo '# mine' >> \"$1\"");
    c.case(&home, 0, "config edit", &["config", "edit"]).await;
    let remove = ["profile", "remove", "eu", "--yes"];
    c.case(&home, 0, "profile remove NAME", &remove).await;

    let entry = format!("groupdesk-json-test-{}", std::process::id());
    let text =
        format!("[profiles.ring]\nbase_url = \"{url}\"\napi_key = {{ keyring = \"{entry}\" }}\n");
    home.write("added.toml", &text);
    let store = ["profile", "key", "ring"];
    let ran = home
        .run_with(&[&store[..], &["--json"]].concat(), "a-key-of-no-service")
        .await;
    if ran.code == 0 {
        c.check(
            "profile key",
            "profile-key",
            &super::parsed("profile key", &ran.out),
        );
        c.commands.insert("profile key NAME".into());
        home.json(0, &[&store[..], &["--forget"]].concat()).await;
    } else {
        assert_eq!(ran.code, 2, "{}", ran.err);
        c.check(
            "profile key",
            "failure",
            &super::parsed("profile key", &ran.out),
        );
    }
}

async fn itself(c: &mut Contract, home: &Home) {
    c.case(home, 0, "completions SHELL", &["completions", "fish"])
        .await;
    c.case(home, 0, "man", &["man"]).await;
    c.case(home, 0, "version", &["version"]).await;
    let folder = home.path("man1").display().to_string();
    c.case(home, 0, "man DIR", &["man", &folder]).await;
    c.case(home, 0, "help [COMMAND]", &["help", "rotations", "check"])
        .await;
    c.case(home, 0, "help json [COMMAND]", &["help", "json", "list"])
        .await;
    c.case(home, 0, "help exit-codes", &["help", "exit-codes"])
        .await;
    let one = home.json(0, &["help", "json", "list"]).await;
    assert_eq!(
        one["commands"],
        json!([{"command": "list", "form": "array", "shapes": ["group"]}])
    );
    let human = home.run(&["help", "json", "list"]).await;
    assert_has(&human.out, "list");
    assert_has(&human.out, "environment_tag");
}
