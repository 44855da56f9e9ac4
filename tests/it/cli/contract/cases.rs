//! The cases: every command, in worlds in which every field of its output occurs once.

use secrecy::SecretString;
use serde_json::{Value, json};

use super::{Contract, pin};
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

    let mut held = Background::start(home.command("demo --hold --json"));
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
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (0, "history [ID] --open", "history --open"),
        (0, "profile behaviour [NAME]", "profile behaviour"),
    ]).await;
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
    for more in ["--role dora", "--storage-schema contract_alone"] {
        let init = format!("serve init --storage {storage} {more}");
        c.case(&home, 0, "serve init", &init).await;
    }
    let config = format!(
        "[directory]\nurl = \"postgres://desk@{folder}/postgres\"\nschema = \"contract\"\n"
    );
    let config = home.write("config.toml", &config);
    home.set("GROUPDESK_CONFIG", config);
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (0, "directory status", "directory status --directory alone.db"),
        (0, "directory init [URL]", "directory init"),
        (0, "directory copy FROM [TO]", "directory copy alone.db"),
        (0, "directory status", "directory status"),
        (0, "directory move FROM [TO]", &format!("directory move {storage} back.db")),
        (0, "directory grant NAME ROLE", "directory grant dora operator"),
        (0, "directory members", "directory members"),
        (0, "directory revoke NAME", "directory revoke dora"),
        (0, "directory migrate", "directory migrate"),
        (0, "audit [ID]", "audit"),
    ]).await;
    // No change is open there.
    vec!["directory-status"]
}

const COLUMNS: &str = "+note,+labels,+favourite";
const FAILS: &str = "any command that fails";

async fn groups(c: &mut Contract, home: &Home) {
    c.case(home, 0, "list", "list").await;
    c.case(home, 0, "show ID", "show acme-eu").await;
    let got = c.case(home, 0, "get ID", "get acme-eu --reveal").await;
    let token = got[0]["token"].as_str().expect("a token");
    let whose = home.exits_with(0, "whose --json", token).await;
    c.take("whose", "whose", &whose.out);
    let create = "create new-1 --name New --map 40=213 --property tier=\"gold\"";
    let update = "update new-1 --unmap 40 --map 7=x";
    #[rustfmt::skip] // A table: one case per line.
    c.cases(home, &[
        (0, "create ID --dry-run", &format!("{create} --dry-run")),
        (0, "create ID --dry-run", &format!("{create} --dry-run --curl")),
        (0, "create ID", &format!("{create} --yes")),
        (0, "update ID --dry-run", &format!("{update} --dry-run")),
        (0, "update ID", &format!("{update} --yes")),
        (0, "show, of several groups", "show new-1 acme-eu"),
        (0, "get, of several groups", "get --concurrency 1 new-1 acme-eu"),
    ]).await;
    edits(c, home).await;
    #[rustfmt::skip] // A table: one case per line.
    c.cases(home, &[
        (0, "note ID", "note new-1 'call first'"),
        (0, "label ID", "label new-1 --add vip"),
        (0, "list", &format!("list --filter new-1 --columns {COLUMNS}")),
        (0, "attention", "attention --all"),
        (0, "history [ID]", "history new-1"),
        (0, "history [ID] --by-operation", "history --by-operation --operation rotate"),
        (0, "history diff NUMBER", "history diff new-1"),
        (0, "history restore NUMBER --dry-run", "history restore new-1 --replace-mapping --dry-run"),
        (0, "history restore NUMBER", "history restore new-1 --replace-mapping --yes"),
        (0, "favourite ID", "favourite new-1 --add"),
        (3, FAILS, "get acme-eux"),
        (2, FAILS, "lst"),
    ]).await;
}

/// A bulk edit: checked, applied, retried and reversed.
async fn edits(c: &mut Contract, home: &Home) {
    let from = home.write("edit.txt", "new-1\nnobody\n");
    let edit = format!("update --from {from} --map 7=y --reason moved");
    let dry = format!("{edit} --dry-run");
    c.case(home, 6, "update, of many groups --dry-run", &dry)
        .await;
    let yes = format!("{edit} --yes");
    let ran = c.case(home, 6, "update, of many groups", &yes).await;
    let batch = &ran[0]["batch"];
    #[rustfmt::skip] // A table: one case per line.
    c.cases(home, &[
        (0, "batches check BATCH", &format!("batches check {batch}")),
        (0, "batches reverse BATCH --dry-run", &format!("batches reverse {batch} --dry-run")),
        (0, "batches reverse BATCH", &format!("batches reverse {batch} --yes")),
        (0, "batches retry BATCH --dry-run", &format!("batches retry {batch} --dry-run")),
        (0, "batches retry BATCH", &format!("batches retry {batch} --yes")),
    ]).await;
}

async fn exchange(c: &mut Contract, home: &Home) {
    let rows = "user_group_id,name,mapping,properties\nacme-eu,Acme 2,,\nrow-1,Row 1,\"{\"\"40\"\":\"\"1\"\"}\",{}\n";
    let file = home.write("rows.csv", rows);
    let wrong = home.write("wrong.csv", "user_group_id,name\n,nobody\n");
    let wanted = r#"[{"user_group_id": "acme-eu", "name": "Acme 3"}]"#;
    let wanted = home.write("wanted.json", wanted);
    let of_wrong = "import FILE and apply PATH, where rows are wrong";
    let send = format!("import {file} --create --update --concurrency 1");
    #[rustfmt::skip] // A table: one case per line.
    c.cases(home, &[
        (0, "get --refresh-all --dry-run", "get --refresh-all --concurrency 1 --dry-run"),
        (0, "get ID --dry-run", "get acme-eu --dry-run"),
        (0, "get --refresh-all", "get --refresh-all --concurrency 1"),
        (0, "import FILE", &format!("import {file}")),
        (0, "import FILE --create --update --dry-run", &format!("{send} --dry-run")),
        (0, "import FILE --create --update", &format!("{send} --yes")),
        (2, of_wrong, &format!("import {wrong}")),
        (2, of_wrong, &format!("apply {wrong}")),
        (0, "apply PATH --dry-run", &format!("apply {wanted} --dry-run --prune-report")),
        (0, "apply PATH", &format!("apply {wanted} --yes")),
        (0, "export", "export"),
    ]).await;
    annotated(c, home).await;
    promoted(c).await;
}

/// Copying between two profiles, and with an editor.
async fn promoted(c: &mut Contract) {
    let (home, _serving) = two().await;
    let wanted = home.write("w.json", r#"[{"user_group_id": "acme", "name": "Other"}]"#);
    let copy = "-P testing copy acme --to live";
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (0, "copy ID --to PROFILE --dry-run", &format!("{copy} --dry-run")),
        (0, "copy ID --to PROFILE", &format!("{copy} --map 40=1 --yes")),
        (10, "diff ID --with PROFILE", "-P testing diff acme --with live"),
        (10, "diff FILE", &format!("-P testing diff {wanted}")),
        (0, "edit ID --dry-run", "-P testing edit acme --dry-run"),
        (0, "edit ID", "-P testing edit acme --yes"),
    ]).await;
}

async fn annotated(c: &mut Contract, home: &Home) {
    let rows = "user_group_id,note,labels,favourite\nrow-1,call first,vip,true\nnew-1,other,,\n";
    let rows = home.write("notes.csv", rows);
    let more = "user_group_id,note,labels\nrow-1,call Li,vip sso\nnew-1,other,\n";
    let more = home.write("more.csv", more);
    let odd = home.write("odd.csv", "user_group_id,name\nrow-11,#REF!\n");
    let dry = "import FILE --create --update --dry-run";
    #[rustfmt::skip] // A table: one case per line.
    c.cases(home, &[
        (0, "import FILE", &format!("import {rows} --dry-run")),
        (0, "import FILE", &format!("import {rows}")),
        (0, "export", &format!("export --columns {COLUMNS}")),
        (0, dry, &format!("import {more} --create --dry-run")),
        (0, dry, &format!("import {odd} --create --dry-run")),
        (0, "import FILE", &format!("import {odd} --dry-run")),
        (0, "apply PATH --dry-run", &format!("apply {more} --dry-run")),
        (0, "apply PATH", &format!("apply {more} --yes --concurrency 1")),
    ]).await;
}

async fn rotations(c: &mut Contract) {
    let (home, _serving) = scene("cat > $1/in; echo stored >&2").await;
    let rotate = "rotate acme --yes --reveal --reason leaked";
    c.case(&home, 0, "rotate ID --dry-run", "rotate acme --dry-run")
        .await;
    c.case(&home, 0, "rotate ID", rotate).await;
    set_script(&home, "echo full >&2; exit 3");
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (6, "rotate ID", "rotate acme --yes --include-recent"),
        (0, "rotations", "rotations"),
        (6, "rotations handoff [NUMBER]", "rotations handoff 2"),
    ]).await;
    let config = home.config();
    home.add_config(&config.replace("[profiles.live]", "[profiles.second]"));
    let elsewhere = "--profile second rotations handoff --failed";
    c.case(&home, 0, "rotations handoff [NUMBER]", elsewhere)
        .await;
    let without = config.lines().filter(|line| !line.starts_with("handoff"));
    home.write("config.toml", &without.collect::<Vec<_>>().join("\n"));
    c.case(
        &home,
        6,
        "rotations handoff [NUMBER]",
        "rotations handoff 2",
    )
    .await;
    home.write("config.toml", &config);
    // In place of a process of another machine that is handing it off.
    let raw = rusqlite::Connection::open(home.path(".local/share/groupdesk/directory.db"));
    let raw = raw.expect("a directory");
    let in_hand = "UPDATE rotations SET handoff = 'pending', handoff_note = NULL, process = NULL, handoff_run = NULL, boot_clock = NULL, \
                   sent_at = sent_at + 3600000000 WHERE id = 2";
    assert_eq!(raw.execute(in_hand, []), Ok(1));
    c.case(&home, 6, "rotations handoff [NUMBER]", "rotations handoff")
        .await;
    let failed = "UPDATE rotations SET handoff = 'failed', handoff_note = 'full', sent_at = sent_at - 3600000000 WHERE id = 2";
    assert_eq!(raw.execute(failed, []), Ok(1));
    set_script(&home, "cat > $1/in");
    home.exits(0, "create bulk-1 --yes").await;
    home.exits(0, "create bulk-2 --yes").await;
    let from = home.write("ids.txt", "bulk-1\nbulk-2\nnobody\n");
    let many = format!("rotate --from {from}");
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (6, "rotate, of many groups --dry-run", &format!("{many} --dry-run")),
        (6, "rotate, of many groups", &format!("{many} --yes --concurrency 1")),
        (0, "batches", "batches"),
        (0, "batches list", "batches list"),
        (0, "batches show BATCH", "batches show 1"),
        (0, "batches resume [BATCH]", "batches resume 1 --yes"),
    ]).await;

    // The answer is lost, and every read returns the old token.
    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (7, FAILS, "rotate acme --yes"),
        (7, "rotations check [NUMBER]", "rotations check"),
    ]).await;
    // Its request can no longer take effect.
    let raw = rusqlite::Connection::open(home.path(".local/share/groupdesk/directory.db"));
    let later = "UPDATE rotations SET boot_clock = NULL, sent_at = sent_at - 3600000000";
    assert_eq!(raw.expect("a directory").execute(later, []), Ok(1));
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (0, "rotations abandon NUMBER", "rotations abandon 1 --reason gone --yes"),
    ]).await;
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (7, FAILS, "create lost --name Two --yes"),
        (0, "get ID --dry-run", "get lost --exists --dry-run"),
    ]).await;
}

async fn profiles(c: &mut Contract) {
    let mut home = Home::new();
    let on = format!("--database {}", home.database());
    let make = format!("serve keys create --environment live --tag Customer {on}");
    let made = c.case(&home, 0, "serve keys create", &make).await;
    let key = made[0]["key"].as_str().expect("a key").to_owned();
    let second = "serve keys create --environment trial --read-only --expires 2126-01-31";
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (0, "serve keys create", &format!("{second} {on}")),
        (0, "serve keys revoke ID", &format!("serve keys revoke 2 {on}")),
        (0, "serve keys", &format!("serve keys {on}")),
        (0, "serve keys list", &format!("serve keys list {on}")),
    ]).await;

    let serve = format!("serve --listen 127.0.0.1:0 --json --metrics 127.0.0.1:0 {on}");
    let mut serving = Background::start(home.command(&serve));
    let serving_at = c.take("serve", "serve", &serving.line().await);
    let url = serving_at[0]["listening"].as_str().expect("a URL");
    let url = url.strip_suffix("/api/user").expect("the usual path");

    let (mut logging, at) = home.serve_with("--access-log --log-ids").await;
    let caller = Caller::new(&at, &SecretString::from(key.clone()));
    caller.token_of("acme").await;
    let log = "serve --access-log";
    c.take(log, log, &logging.line().await);
    drop(logging);
    let copy = home.at("service-copy.db");
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (0, "serve keys list", &format!("serve keys list {on}")),
        (0, "serve backup FILE", &format!("serve backup {copy} {on}")),
        (0, "serve check", &format!("serve check --database {copy}")),
    ]).await;

    let config = home.at("config.toml");
    home.set("GROUPDESK_CONFIG", config);
    home.set("LIVE_KEY", key);
    let add = format!("profile add eu --base-url {url} --api-key-env LIVE_KEY");
    c.case(&home, 0, "profile add NAME", &add).await;
    c.case(&home, 0, "profile check [NAME]", "profile check eu")
        .await;
    home.add_config(
        "handoff = { command = [\"/bin/true\"] }\n\
         guard = [{ operation = \"bulk\", max = 5, reason = \"slowly\" }]\n",
    );
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (0, "profile show [NAME]", "profile show eu"),
        (0, "profile list", "profile list"),
        (0, "doctor", "doctor"),
    ]).await;
    home.set("SECOND_KEY", "another-key");
    home.add_config(&format!(
        "\n[profiles.second]\nbase_url = \"{url}\"\napi_key = {{ env = \"SECOND_KEY\" }}\n"
    ));
    let bind = "profile bind second --new-environment";
    c.case(&home, 0, "profile bind NAME", bind).await;
    c.case(&home, 0, "profile unbind NAME", "profile unbind second")
        .await;
    home.json(0, "profile bind eu --new-environment").await;
    let raw = rusqlite::Connection::open(home.path(".local/share/groupdesk/directory.db"));
    let alarm = "INSERT INTO alarms (place, user_group_id, what, raised_at, raised_by) \
                 SELECT number, 'acme', 'the answer is tagged Customer', 0, 'ana' FROM places WHERE name = 'second'";
    raw.and_then(|raw| raw.execute(alarm, []))
        .expect("an alarm");
    #[rustfmt::skip] // A table: one case per line.
    c.cases(&home, &[
        (0, "directory backup FILE", "directory backup copy.db"),
        (0, "environment list", "environment list"),
        (0, "environment show NAME", "environment show second"),
        (0, "environment acknowledge NAME", "environment acknowledge second --reason seen --yes"),
        (0, "environment rename NAME TO", "environment rename second third"),
        (0, "environment merge NAME INTO", "environment merge third eu --yes"),
        (0, "profile rename NAME TO", "profile rename second later"),
        (0, "config path", "config path"),
    ]).await;
    c.case(&Home::new(), 0, "config path", "config path").await;
    c.case(&home, 0, "config validate", "config validate").await;
    crate::cli::promote::editor(&mut home, "echo '# mine' >> \"$1\"");
    c.case(&home, 0, "config edit", "config edit").await;
    c.case(&home, 0, "profile remove NAME", "profile remove eu --yes")
        .await;

    let entry = format!("groupdesk-json-test-{}", std::process::id());
    let text =
        format!("[profiles.ring]\nbase_url = \"{url}\"\napi_key = {{ keyring = \"{entry}\" }}\n");
    home.write("config.toml", &text);
    let ran = home
        .run_with("profile key ring --json", "a-key-of-no-service")
        .await;
    let shape = if ran.code == 0 {
        c.commands.insert("profile key NAME".into());
        home.exits(0, "profile key ring --forget").await;
        "profile-key"
    } else {
        assert_eq!(ran.code, 2, "{}", ran.err);
        "failure"
    };
    c.check("profile key", shape, &ran.json());
}

async fn itself(c: &mut Contract, home: &Home) {
    let folder = home.at("man1");
    #[rustfmt::skip] // A table: one case per line.
    c.cases(home, &[
        (0, "completions SHELL", "completions fish"),
        (0, "man", "man"),
        (0, "version", "version"),
        (0, "man DIR", &format!("man {folder}")),
        (0, "help [COMMAND]", "help rotations check"),
        (0, "help json [COMMAND]", "help json list"),
        (0, "help exit-codes", "help exit-codes"),
    ]).await;
    let one = home.json(0, "help json list").await;
    let list = json!([{"command": "list", "form": "array", "shapes": ["group"]}]);
    assert_eq!(one["commands"], list);
    let human = home.run("help json list").await;
    human.shows("list").shows("environment_tag");
}
