//! API keys and tokens appear only where they were asked for: not in output, arguments or files.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{
    guards::{group, knowing_acme},
    program::{Home, files},
};
use crate::support::{assertions::assert_has, bare::args, faults::Fault};

#[tokio::test]
async fn a_secret_on_the_command_line_is_refused_and_not_repeated() {
    let home = Home::new();
    for arguments in [
        &["rotate", "acme", "--token", "canary"][..],
        &["get", "acme", "--token=canary"],
        &["--api-key", "canary", "list"],
        &["list", "--api-key=canary", "--json"],
    ] {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert_has(&ran.err, "do not pass secrets as arguments");
        assert!(
            !ran.err.contains("canary") && !ran.out.contains("canary"),
            "{ran:?}"
        );
    }
}

#[tokio::test]
async fn a_token_is_printed_only_on_request() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let revealed = home.run(&["get", "acme-eu", "--reveal"]).await;
    let token = revealed.out.trim_end();
    assert_eq!(
        token.len(),
        64,
        "alone on standard output: {}",
        revealed.out
    );
    assert_eq!(
        home.json(0, &["get", "acme-eu", "--reveal"]).await["token"],
        *token
    );
    assert!(
        home.json(0, &["get", "acme-eu"])
            .await
            .get("token")
            .is_none()
    );
    assert!(!revealed.err.contains(token));

    let file = home.path("acme.token");
    let name = file.display().to_string();
    let rotated = home
        .run(&["rotate", "acme-eu", "--yes", "--token-out", &name])
        .await;
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    let new = std::fs::read_to_string(&file).expect("written");
    let mode = std::fs::metadata(&file)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!((new.trim_end().len(), mode & 0o777), (64, 0o600));
    assert_ne!(new.trim_end(), token);
    assert!(!rotated.out.contains(new.trim_end()) && !rotated.err.contains(new.trim_end()));

    let before = home.json(0, &["history"]).await;
    let again = home
        .run(&["rotate", "acme-eu", "--yes", "--token-out", &name])
        .await;
    assert_eq!(
        again.code, 2,
        "a file that exists is refused: {}",
        again.err
    );
    assert_eq!(std::fs::read_to_string(&file).expect("there"), new);
    assert_eq!(home.json(0, &["history"]).await, before, "nothing was sent");
}

#[tokio::test]
async fn an_empty_token_file_is_removed() {
    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    let file = home.path("acme.token");
    let ran = home
        .run(&[
            "rotate",
            "acme",
            "--yes",
            "--token-out",
            &file.display().to_string(),
        ])
        .await;
    assert_eq!(ran.code, 7, "{}", ran.err);
    assert!(!file.exists());
}

#[tokio::test]
async fn keys_and_tokens_are_in_no_output_argument_or_file() {
    let mut home = Home::new();
    let key = home.key(&args("--environment live --tag Customer")).await;
    let (serving, url) = home.serve().await;
    home.connect(&url, &key);
    let mut said = String::new();
    let mut secrets = vec![key];
    for command in [
        &["create", "acme", "--name", "Acme", "--yes"][..],
        &["get", "acme", "--json"],
        &["update", "acme", "--name", "Acme 2", "--yes"],
        &["rotate", "acme", "--yes", "--json"],
        &["rotate", "acme", "--yes", "--include-recent"],
        &["history", "--json"],
        &["list"],
    ] {
        let ran = home.run(command).await;
        assert_eq!(ran.code, 0, "{command:?}: {}", ran.err);
        said += &(ran.out + &ran.err);
        let revealed = home.json(0, &["get", "acme", "--reveal"]).await;
        secrets.push(revealed["token"].as_str().expect("a token").to_owned());
    }
    secrets.dedup();
    assert_eq!(
        secrets.len(),
        4,
        "the key, the first token and two rotations"
    );
    let process = format!("/proc/{}/cmdline", serving.pid().as_raw_nonzero());
    said += &String::from_utf8_lossy(&std::fs::read(process).expect("its arguments"));
    for secret in &secrets {
        assert!(!said.contains(secret.as_str()));
    }
    let files = files(home.folder.path());
    assert!(
        files.iter().any(|file| file.ends_with("directory.db")),
        "{files:?}"
    );
    let mut in_the_service = false;
    for file in files {
        let bytes = std::fs::read(&file).expect("readable");
        let holds = |secret: &String| {
            bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes())
        };
        if file
            .parent()
            .is_some_and(|folder| folder.ends_with("service"))
        {
            assert!(
                !holds(&secrets[0]),
                "the service keeps only a hash of the key"
            );
            in_the_service |= secrets[1..].iter().any(holds);
        } else {
            assert!(!secrets.iter().any(holds), "{}", file.display());
        }
    }
    assert!(
        in_the_service,
        "the scan can find a token where there is one"
    );
}

/// What sending refuses is not shown before either.
#[tokio::test]
async fn a_preview_repeats_no_known_token() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let revealed = home.run(&["get", "acme-eu", "--reveal"]).await;
    let token = revealed.out.trim_end();
    let row = format!("{{\"user_group_id\": \"acme-eu\", \"name\": \"{token}\"}}\n");
    home.write("rows.jsonl", &row);
    home.write("properties.json", &format!("{{\"key\": \"{token}\"}}"));
    let editor = home.path("editor");
    std::fs::write(
        &editor,
        format!("#!/bin/sh\necho '{}' > \"$1\"\n", row.trim()),
    )
    .expect("written");
    std::fs::set_permissions(&editor, PermissionsExt::from_mode(0o700)).expect("set");
    home.set("EDITOR", editor.display().to_string());
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
        let ran = home.run(&args(line)).await;
        assert_eq!(ran.code, 2, "{line}: {}{}", ran.out, ran.err);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(!said.contains(token), "{line}: {said}");
        assert!(
            line.starts_with("edit") || said.contains("nothing was sent"),
            "{line}: {said}"
        );
    }
}
