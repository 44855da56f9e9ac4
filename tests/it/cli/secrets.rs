//! API keys and tokens appear only where they were asked for: not in output, arguments or files.

use serde_json::Value;

use super::{
    guards::{group, knowing_acme},
    program::{Home, mode},
    promote,
};
use crate::support::{
    faults::{Fault, Faults},
    world::files_below,
};

#[tokio::test]
async fn a_secret_on_the_command_line_is_refused_and_not_repeated() {
    let home = Home::new();
    for line in [
        "rotate acme --token canary",
        "rotate acme --current-token=canary",
        "rotate --token-stdin=canary",
        "get acme --token=canary",
        "whose --token canary",
        "--api-key canary list",
        "list --api-key=canary --json",
    ] {
        let ran = home.exits(2, line).await;
        ran.hides("canary").says("do not pass secrets as arguments");
        let is_key = line.contains("api-key");
        assert!(is_key || ran.err.contains("groupdesk whose"), "{ran:?}");
    }
}

#[tokio::test]
async fn a_token_is_printed_only_on_request() {
    let (home, _held) = Home::in_demo().await;
    let revealed = home.run("get acme-eu --reveal").await;
    let token = revealed.out.trim_end();
    assert_eq!(token.len(), 64, "alone on standard output: {revealed:?}");
    assert!(!revealed.err.contains(token));
    let json = home.json(0, "get acme-eu --reveal").await;
    assert_eq!(json["token"], *token);
    assert!(home.json(0, "get acme-eu").await.get("token").is_none());

    let rotate = "rotate acme-eu --yes --token-out acme.token";
    let rotated = home.exits(0, rotate).await;
    let file = home.path("acme.token");
    let new = std::fs::read_to_string(&file).expect("written");
    assert_eq!((new.trim_end().len(), mode(&file)), (64, 0o600));
    assert_ne!(new.trim_end(), token);
    rotated.hides(new.trim_end());
    let before = home.json(0, "history").await;
    // A file that exists is refused.
    home.exits(2, rotate).await;
    assert_eq!(std::fs::read_to_string(&file).expect("there"), new);
    assert_eq!(home.json(0, "history").await, before, "nothing was sent");
}

#[tokio::test]
async fn an_empty_token_file_is_removed() {
    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    home.exits(7, "rotate acme --yes --token-out acme.token")
        .await;
    assert!(!home.path("acme.token").exists());
}

/// What sending refuses is not shown before either.
#[tokio::test]
async fn a_preview_repeats_no_known_token() {
    let (mut home, _held) = Home::in_demo().await;
    let revealed = home.run("get acme-eu --reveal").await;
    let token = revealed.out.trim_end();
    let row = format!("{{\"user_group_id\": \"acme-eu\", \"name\": \"{token}\"}}");
    home.write("rows.jsonl", &row);
    home.write("properties.json", &format!("{{\"key\": \"{token}\"}}"));
    promote::editor(&mut home, &format!("echo '{row}' > \"$1\""));
    for line in [
        "apply rows.jsonl --dry-run",
        "apply rows.jsonl --yes",
        "import rows.jsonl --dry-run",
        "import rows.jsonl --update --yes",
        "diff rows.jsonl",
        "update acme-eu --apply rows.jsonl --dry-run",
        "update acme-eu --properties properties.json --dry-run",
        "create new-group --properties properties.json --dry-run",
        "edit acme-eu --dry-run",
    ] {
        let ran = home.exits(2, line).await;
        let is_said = line.starts_with("edit") || ran.all().contains("nothing was sent");
        ran.hides(token);
        assert!(is_said, "{ran:?}");
    }
}

/// As an ID it would be listed, sent and kept for good.
#[tokio::test]
async fn a_known_token_among_the_ids_of_a_file_is_refused_and_not_repeated() {
    let (home, _held) = Home::in_demo().await;
    let revealed = home.run("get acme-eu --reveal").await;
    let token = revealed.out.trim_end();
    home.write(
        "f.csv",
        &format!("user_group_id,name\nnew-1,A\n{token},B\n"),
    );
    home.write("ids.txt", &format!("acme-eu\n{token}\n"));
    let row = format!("{{\"user_group_id\": \"{token}\"}}");
    home.write("ids.jsonl", &row);
    home.write("twice.jsonl", &format!("{row}\n{row}\n"));
    let of_row = "ID of row 2: this is a token or an API key that groupdesk knows";
    #[rustfmt::skip] // A table: one command a line.
    let table = [
        ("import f.csv", of_row),
        ("import f.csv --dry-run", of_row),
        ("import f.csv --create --yes", of_row),
        ("apply f.csv --dry-run", of_row),
        ("apply f.csv --yes --json", of_row),
        ("diff f.csv", of_row),
        ("import twice.jsonl", "the ID \"…\" is already in row 1"),
        ("rotate --from ids.txt --dry-run", "ids.txt, line 2: this is a token"),
        ("update --from ids.txt --property a=1 --yes", "ids.txt, line 2: this is a token"),
        ("get --from ids.txt", "ids.txt, line 2: this is a token"),
        ("show --from ids.jsonl", "ids.jsonl, line 1: this is a token"),
    ];
    for (line, words) in table {
        home.exits(2, line).await.says(words).hides(token);
    }
    let listed = home.exits(0, "list --json").await;
    assert!(!listed.out.contains("new-1"), "nothing was kept");
    listed.hides(token);
}

/// Of a token that may be known elsewhere, a part can be anything but a person's own words.
#[tokio::test]
async fn a_part_of_a_token_in_a_note_of_a_file_is_refused_and_an_export_is_taken_again() {
    let (home, _held) = Home::in_demo().await;
    let revealed = home.run("get acme-eu --reveal").await;
    let part = &revealed.out.trim_end()[1..];
    // No word that ends like a hexadecimal number: it could be the digit that is missing.
    home.write(
        "note.csv",
        &format!("user_group_id,note\nacme-eu,saw {part}\n"),
    );
    home.write(
        "labels.csv",
        "user_group_id,labels\nacme-eu,3b0c44298fc1c149afbf4c8996fb92\n",
    );
    for file in ["note.csv", "labels.csv"] {
        for line in ["import", "apply --yes", "diff"] {
            let ran = home.exits(2, &format!("{line} {file}")).await;
            ran.says("of \"acme-eu\": this looks like a token");
            ran.hides(part).hides("3b0c44298fc1c149");
        }
    }
    // An ID of the same file is no part of a token.
    let id = "3b0c44298fc1c149afbf4c8996fb9242";
    let rows = format!("user_group_id,note\nnew-2,see {id}\n{id},\n");
    home.write("export.csv", &rows);
    home.exits(0, "import export.csv").await;
}

/// MongoDB, a UUID without dashes, git: typed they may be parts of a token; the refusal says how they are sent.
#[tokio::test]
async fn a_typed_value_that_may_be_a_part_of_a_token_names_the_way_out_which_works() {
    let (home, _held) = Home::in_demo().await;
    for digits in [24, 32, 40] {
        let value = &"507f1f77bcf86cd799439011".repeat(2)[..digits];
        let typed = [
            format!("update acme-eu --map 7={value} --yes"),
            format!("update acme-eu --property sha=\"{value}\" --yes"),
            format!("update acme-eu --name {value} --yes"),
            format!("create new-{digits} --map 7={value} --yes"),
        ];
        for line in typed {
            let ran = home.exits(2, &line).await;
            ran.says("If it is something else, pass it in a file: groupdesk apply FILE");
            ran.hides(value);
        }
        let name = format!("new-{digits}");
        let groups = [("acme-eu", "mapping"), (&name, "name")];
        let group = |(id, field): (&str, &str)| {
            let text = match field {
                "name" => format!("\"{value}\""),
                _ => format!("{{\"7\":\"{value}\"}}"),
            };
            format!("{{\"user_group_id\":\"{id}\",\"{field}\":{text}}}\n")
        };
        home.write("groups.jsonl", &groups.map(group).concat());
        home.exits(0, "apply groups.jsonl --yes").await;
        crate::support::assertions::assert_has(&home.exits(0, "show acme-eu").await.out, value);
        let bulk = format!("update acme-eu globex --map 7=1 --if-value {value} --dry-run");
        let ran = home.exits(2, &bulk).await;
        ran.says("select the groups with --filter map:SCHEMA=SOURCE");
        let filter = format!("update --filter map:7={value} --map 7=1 --dry-run");
        home.exits(0, &filter).await;
    }
}

/// A cut token of which the directory has only the fingerprint: more hex digits in a row than an ID has. One rule for what
/// is typed and for files; what the group has already can be sent again, and so can whole hashes.
#[tokio::test]
async fn a_cut_token_is_refused_in_every_field_that_is_sent() {
    let (home, _held) = Home::in_demo().await;
    let cut = "0f3a9c".repeat(8);
    home.write("mapping.json", &format!("{{\"7\": \"{cut}\"}}"));
    home.write(
        "group.jsonl",
        &format!("{{\"user_group_id\":\"acme-eu\",\"properties\":{{\"a\":[\"x {cut}\"]}}}}\n"),
    );
    home.write("new.csv", &format!("user_group_id,name\nnew-1,{cut}\n"));
    home.write("part.csv", &format!("user_group_id,map:7\nacme-eu,{cut}\n"));
    #[rustfmt::skip] // A table: one command a line.
    let table = [
        ("update acme-eu --mapping mapping.json --replace-mapping --yes", "mapping: this looks like a token"),
        ("update acme-eu --apply group.jsonl --yes", "properties: this looks like a token"),
        ("create new-2 --mapping mapping.json --yes", "mapping: this looks like a token"),
        ("import group.jsonl", "properties of \"acme-eu\": this looks like a token"),
        ("import new.csv --create --yes", "name of \"new-1\": this looks like a token"),
        ("apply new.csv --yes", "name of \"new-1\": this looks like a token"),
        ("import part.csv --update --yes", "mapping of \"acme-eu\": this looks like a token"),
    ];
    for (line, words) in table {
        home.exits(2, line).await.says(words).hides(&cut);
    }
    let hash = "0f3a9c21".repeat(8);
    home.write("hash.csv", &format!("user_group_id,name\nnew-3,{hash}\n"));
    home.exits(0, "import hash.csv").await;
}

/// Only the directory tells that these are tokens: a UUID, base64, words with signs, words.
const TOKENS: [&str; 4] = [
    "b94d27b9-934e-4e08-a52e-52d7da7dabfa",
    "c6m+9Jm79Nx70qTyyK9b2Z8meg7TGXIX3Su6FUNuXA==",
    "Blaue-Katze!343+Regen&Sturm$8b97b75092",
    "plum-harbor-quilt-ember-42",
];

/// Knows [`TOKENS`].
async fn knowing_tokens() -> (Home, Faults) {
    let answers = TOKENS.map(|token| group(token, &Value::Null));
    let (home, service) = knowing_acme(answers.into()).await;
    for _ in TOKENS {
        home.json(0, &["get", "acme"]).await;
    }
    (home, service)
}

#[track_caller]
fn assert_nowhere(home: &Home, token: &str) {
    for file in files_below(home.folder.path()).expect("readable") {
        let text = std::fs::read(&file).unwrap_or_default();
        let is_there = String::from_utf8_lossy(&text).contains(token);
        let is_name = file.display().to_string().contains(token);
        assert!(!is_there && !is_name, "{token} is in {}", file.display());
    }
}

/// Neither a profile nor a configuration that can be read is needed to tell a token.
#[tokio::test]
async fn a_known_token_is_no_argument_without_a_profile_or_a_configuration() {
    let (home, _service) = knowing_tokens().await;
    let second =
        "[profiles.second]\nbase_url = \"http://127.0.0.1:1\"\napi_key = { env = \"K\" }\n";
    for lines in [second, "= =\n"] {
        home.add_config(lines);
        #[rustfmt::skip] // A table: one command per line.
        let table = [
            "profile rename second TOKEN",
            "serve keys create --environment live --name TOKEN",
            "serve keys create --environment TOKEN",
            "man TOKEN",
            "--directory TOKEN list",
        ];
        for (command, token) in table.into_iter().zip(TOKENS.into_iter().cycle()) {
            let ran = home.exits(2, &command.replace("TOKEN", token)).await;
            ran.says("this is a token").hides(token);
            assert_nowhere(&home, token);
        }
        // Words that are none are taken.
        let create = "serve keys create --environment live --name reports-of-europe-42";
        home.exits(0, create).await;
    }
}

/// What names a place, an operator or a profile is kept, shown in the history or the name of a file.
#[tokio::test]
async fn a_known_token_is_kept_by_no_variable_and_no_setting() {
    let (home, _service) = knowing_tokens().await;
    for token in [TOKENS[0], TOKENS[3]] {
        let directory = format!("GROUPDESK_DIRECTORY='{}.db' groupdesk list", home.at(token));
        for line in [
            directory.as_str(),
            "GROUPDESK_PROFILE=TOKEN groupdesk list",
            "GROUPDESK_CONFIG=./TOKEN groupdesk list",
            "USER=TOKEN groupdesk note acme moved",
            "USER= LOGNAME=TOKEN groupdesk label acme --add moved",
            "GROUPDESK_BASE_URL=http://127.0.0.1:1/TOKEN GROUPDESK_API_KEY=k groupdesk get acme --exists",
        ] {
            let ran = home.run_line(&line.replace("TOKEN", token)).await;
            // What binds the profile, to keep something, ends with 4.
            assert!(matches!(ran.code, 2 | 4), "{line}: {ran:?}");
            ran.says("a token").hides(token);
            assert_nowhere(&home, token);
        }
        // The parser's message comes before the command.
        for line in ["TOKEN", "list --sort TOKEN", "list --sort=TOKEN"] {
            let ran = home.exits(2, &line.replace("TOKEN", token)).await;
            ran.says("\"…\"").hides(token);
        }
    }
    let ran = home.exits(2, "list --sort reports-of-europe-42").await;
    ran.says("reports-of-europe-42");
}

/// Without a home folder no directory could tell, and `serve` needs none.
#[tokio::test]
async fn a_name_like_a_token_is_taken_where_no_directory_is_named() {
    let mut home = Home::new();
    let database = home.at("Service-2026-Q4-eu1.db");
    let create = format!(
        "unset HOME; groupdesk serve keys create --environment live --name Reports-2026-Q4-eu1 --database '{database}'"
    );
    assert_eq!(home.run_line(&create).await.code, 0);
    let man = "unset HOME; groupdesk man Service-2026-Q4-eu1";
    home.run_line(man).await.hides("home folder");

    home.connect("http://127.0.0.1:9", "key");
    home.add_config("= =\n");
    let serve = "serve --listen 192.0.2.1:0 --insecure-http --database Other-2026-Q4-eu1.db";
    let ran = home.run(serve).await;
    ran.says("this machine does not have that address");
    let kept = "serve keys create --environment live --name Reports-2026-Q4-eu1 --database s.db";
    home.exits(2, kept).await.says("config.toml");
}

/// As every argument: `cli::input::secrets`.
#[tokio::test]
async fn a_known_token_of_any_shape_is_no_argument() {
    let (home, _service) = knowing_tokens().await;
    let table = [
        "export --file ./TOKEN.jsonl",
        "profile add TOKEN --base-url http://127.0.0.1:1 --api-key-env K --no-check",
        "rotate acme --reason TOKEN --dry-run",
        "create TOKEN --dry-run",
        "get TOKEN",
        "get acme TOKEN",
        "list TOKEN",
        "export --file TOKEN",
        "directory backup TOKEN.db",
        "edit TOKEN",
        "man TOKEN",
        "edit TOKEN",
    ];
    for (command, token) in table.into_iter().zip(TOKENS.into_iter().cycle()) {
        home.exits(2, &command.replace("TOKEN", token))
            .await
            .hides(token);
        assert_nowhere(&home, token);
    }
}

/// What stands in an ID, a file or an editor is sent as well as what stands in an option.
#[tokio::test]
async fn a_part_of_the_key_in_use_is_refused_wherever_it_comes_from() {
    const KEY: &str = "7d1a93c04be85f62a0c7d9b3e1486f25c93ab07d5e1f8264b0c9a7e3d2f41586";
    // A group that was there before the key.
    const KNOWN: &str = KEY.split_at(24).0;
    let known = group("token-0", &serde_json::json!({ "provided_id": KNOWN }));
    let (mut home, service) =
        knowing_acme(vec![known.clone(), known, group("token-0", &Value::Null)]).await;
    home.exits(0, &format!("get {KNOWN} --exists")).await;
    home.connect(&service.base_url(), KEY);
    home.exits(0, &format!("get {KNOWN}")).await;
    let sent = service.requests().len();
    let (part, most) = (&KEY[20..40], &KEY[..63]);
    home.write("rows.csv", &format!("user_group_id,name\nx-{part},A\n"));
    home.write("name.csv", &format!("user_group_id,name\nnew,{part}\n"));
    home.write(
        "one.json",
        &format!("{{\"user_group_id\": \"new\", \"name\": \"{part}\"}}"),
    );
    home.write("p.json", &format!("{{\"key\": [\"{part}\"]}}"));
    home.write("m.json", &format!("{{\"40\": \"{part}\"}}"));
    for line in [
        &format!("create {part} --yes")[..],
        &format!("create x-{part} --yes"),
        &format!("create {most} --yes"),
        &format!("get {part} --exists --yes"),
        // Of a token that only the directory may know.
        &format!("create {} --yes", &TOKEN[..63]),
        &format!("create x-{} --dry-run", &TOKEN[..41]),
        "create new --properties p.json --yes",
        "create new --mapping m.json --yes",
        "create new --apply one.json --yes",
        "import rows.csv --create --yes",
        "import rows.csv",
        "apply name.csv --yes",
    ] {
        let ran = home.exits(2, line).await;
        ran.hides(part).hides(most).hides(&TOKEN[..41]);
    }
    assert_eq!(service.requests().len(), sent, "nothing was sent");
    let read_first = home.exits(2, "update acme --mapping m.json --yes").await;
    read_first.hides(part).says("mapping: this is a token");
    assert_eq!(service.requests().len(), sent + 1, "only read");
    // A key that only a command returns is compared when it is needed.
    let of_command = home.config().replace(
        "{ env = \"LIVE_KEY\" }",
        &format!("{{ command = [\"echo\", \"{KEY}\"] }}"),
    );
    home.write("config.toml", &of_command);
    let ran = home.exits(2, &format!("create x-{part} --yes")).await;
    ran.hides(part);
    assert_eq!(service.requests().len(), sent + 1, "only read");
    home.connect(&service.base_url(), KEY);
    for file in ["rows.csv", "name.csv", "one.json", "p.json", "m.json"] {
        std::fs::remove_file(home.path(file)).expect("removed");
    }
    assert_nowhere(&home, part);
    home.exits(0, &format!("create {} --dry-run", &TOKEN[..26]))
        .await
        .says("26 hex digits in a row");
}

/// As the name of a new file it would be printed and kept.
#[tokio::test]
async fn a_token_in_the_name_of_a_directory_is_refused_from_a_variable_too() {
    let mut home = Home::new();
    let file = home.path(&format!("{TOKEN}.db"));
    home.set("GROUPDESK_DIRECTORY", file.display().to_string());
    let ran = home.exits(2, "list").await;
    ran.hides(TOKEN)
        .says("GROUPDESK_DIRECTORY: this looks like a token");
    assert!(!file.exists());
}

const TOKEN: &str = "3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8551";
