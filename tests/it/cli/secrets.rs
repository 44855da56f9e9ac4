//! API keys and tokens appear only where they were asked for: not in output, arguments or files.

use serde_json::Value;

use super::{
    guards::{group, knowing_acme},
    program::{Home, mode},
    promote,
};
use crate::support::faults::Fault;

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
    let mut home = Home::new();
    let _held = home.start_demo().await;
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
    let mut home = Home::new();
    let _held = home.start_demo().await;
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

/// Only the directory tells that these are tokens: a UUID, base64, words with signs.
#[tokio::test]
async fn a_known_token_of_any_shape_is_no_argument() {
    let tokens = [
        "b94d27b9-934e-4e08-a52e-52d7da7dabfa",
        "c6m+9Jm79Nx70qTyyK9b2Z8meg7TGXIX3Su6FUNuXA==",
        "Blaue-Katze!343+Regen&Sturm$8b97b75092",
    ];
    let answers = tokens.map(|token| group(token, &Value::Null));
    let (home, _service) = knowing_acme(answers.into()).await;
    for _ in tokens {
        home.json(0, &["get", "acme"]).await;
    }
    for token in tokens {
        let export = format!("./{token}.jsonl");
        #[rustfmt::skip] // A table: one command per line.
        let table = [
            vec!["export", "--file", &export],
            vec!["export", "--file", token],
            vec!["profile", "add", token, "--base-url", "http://127.0.0.1:1", "--api-key-env", "K", "--no-check"],
            vec!["serve", "keys", "create", "--environment", token],
            vec!["rotate", "acme", "--reason", token, "--dry-run"],
            vec!["create", token, "--dry-run"],
            vec!["get", token],
            vec!["get", "acme", token],
            vec!["list", token],
        ];
        for command in table {
            let ran = home.run(&command).await;
            assert_eq!(ran.code, 2, "{command:?}: {}{}", ran.out, ran.err);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(!said.contains(token), "{command:?}: {said}");
        }
        let mut entries = std::fs::read_dir(home.folder.path()).expect("readable");
        assert!(entries.all(|entry| {
            !entry
                .expect("an entry")
                .path()
                .display()
                .to_string()
                .contains(token)
        }));
    }
}
